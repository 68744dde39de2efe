"""What a report without an answer says: what the run could not do, and the nearest passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deepdiver.core.outcomes import Research
from deepdiver.core.record import (
    Block,
    Finding,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.core.shown_text import one_line
from deepdiver.core.text import Span, sentences, terms
from deepdiver.errors import BudgetError
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.findings import make_finding
from deepdiver.tasks import CheckSupport, ExtractFindings, RepairSentences

HEADING = "The nearest passages"
PASSAGES = 5
"""Passages that are quoted."""
PASSAGE_CHARS = 400
"""Characters of a passage; the list of sources and the record have longer ones whole."""
BEARS = 0.5
"""The share of the question's telling words that a sentence must have to bear on it, if nobody has
found anything in its text."""
REASONS = 5
"""Reasons that are told; the limits of the report have all of them."""


def research_of(
    deps: Deps, findings: Sequence[str], disputed: Sequence[str], *, is_open: bool = False
) -> Research:
    """Return what a run could do and what it found, for the outcome.

    Args:
        deps: The run's dependencies.
        findings: Ids of the findings that the answer may use.
        disputed: Ids of those that it may not, because others contradict them.
        is_open: Whether every part of the question is open, by the word of the writer.
    """
    failed = _failed_for_good(deps)
    unaffordable = isinstance(failed.get(ExtractFindings.name()), BudgetError)
    read = bool(deps.ledger.of(Source)) or not deps.unread
    return Research(
        found=bool(findings or disputed),
        open=is_open,
        disputed=bool(disputed),
        searched=deps.searched and read and not unaffordable,
        failed=any(not isinstance(error, BudgetError) for error in failed.values()),
    )


def list_unmet(deps: Deps, problems: Sequence[str], findings: Sequence[str]) -> list[str]:
    """Return a line for each sub-problem of a plan that a person approved without any finding.

    Nobody else chose the words of the sub-problems, and a strategy that looks into something else
    than these has no finding about any of them.
    """
    about = {deps.ledger.get(Finding, key).about for key in findings}
    if not deps.approve or (about and not about & {*problems}):
        return []
    return [f"Nothing was found on: {problem}" for problem in problems if problem not in about]


def explain(deps: Deps, status: RunStatus) -> tuple[Sentence, ...]:
    """Return why a run could not search, or what its model failed at, as the lead of its report."""
    if status is RunStatus.COULD_NOT_SEARCH:
        tasks = tuple(f"{_named(name)} failed: " for name in deps.task_failures)
        others = (note for note in deps.notes if not note.startswith(tasks))
        afforded = (str(e) for e in deps.task_failures.values() if isinstance(e, BudgetError))
        reasons = [*sorted(others), *sorted(deps.unread), *sorted(afforded)]
    elif status is RunStatus.MODEL_FAILED:
        lasting = sorted(_failed_for_good(deps).items())
        reasons = [f"{_named(name)} failed: {error}" for name, error in lasting]
    else:
        return ()
    return tuple(
        Sentence(text=f"{reason.rstrip('.')}.", kind=SentenceKind.FRAME)
        for reason in reasons[:REASONS]
    )


def _failed_for_good(deps: Deps) -> dict[str, Exception]:
    """Return the tasks that failed every time, without those that an answer can do without."""
    done = {*deps.done, CheckSupport.name(), RepairSentences.name()}
    return {name: error for name, error in deps.task_failures.items() if name not in done}


def _named(task: str) -> str:
    return task.replace("_", " ")


def quote_nearest(deps: Deps, question: str, findings: Sequence[str]) -> list[Section]:
    """Return a section that quotes the passages nearest to the question; none: nothing bears on it.

    They are quotes of the findings; if there are none, sentences of the texts that were read, as
    far as they have enough of the question's words.
    """
    asked = set(terms(question))
    held = [deps.ledger.get(Finding, key) for key in dict.fromkeys(findings)]
    held = held or list(_nearest_sentences(deps, question, asked))
    held.sort(key=lambda item: -len(asked & set(terms(item.quotes[0].text))))
    quoted = {item.quotes[0].text: item for item in reversed(held)}  # of copies, the first
    rows = tuple(
        (Sentence(text=f"“{one_line(item.quotes[0].text, PASSAGE_CHARS)}”", findings=(item.id,)),)
        for item in [item for item in held if quoted[item.quotes[0].text] is item][:PASSAGES]
    )
    return [Section(heading=HEADING, blocks=(Block(kind="list", rows=rows),))] if rows else []


def _nearest_sentences(deps: Deps, question: str, asked: set[str]) -> Iterator[Finding]:
    """Yield findings for the sentences of all texts that have enough of the question's words."""
    found: list[tuple[float, Source, str, Span]] = []
    for source in sorted(deps.ledger.of(Source).values(), key=lambda source: source.id):
        text = deps.store.texts.get(source.snapshot)
        for span in sentences(text):
            share = len(asked & set(terms(span.of(text)))) / max(1, len(asked))
            if share >= BEARS:
                found.append((-share, source, text, span))
    found.sort(key=lambda item: (item[0], item[1].id, item[3]))
    for _, source, text, span in found[:PASSAGES]:
        made = make_finding(source, text, [span], one_line(span.of(text)), question)
        deps.add(made)
        yield made
