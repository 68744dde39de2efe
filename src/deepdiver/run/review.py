"""Asking about a run that is over, and checking its report again.

From its record alone, and without changing it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deepdiver.core.record import Finding, Quote, Report, Run, Sentence, SentenceKind
from deepdiver.core.settings import Settings, from_public
from deepdiver.core.text import STOPWORDS, words
from deepdiver.errors import UsageError
from deepdiver.reason.choose import choose_reasoner
from deepdiver.report.audit import faults, stands
from deepdiver.run.begin import check_question
from deepdiver.run.detached import detached_gateway, ignore_event
from deepdiver.run.record import load_ledger
from deepdiver.store import Store
from deepdiver.store.views import read_only
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.write_report import write_report

MOST_FINDINGS = 40
"""Findings that are looked at for one question: as many as a task shows. Those that share most with
it go first."""


@dataclass(frozen=True, slots=True)
class RecordAnswer:
    """What a run's record says to a question."""

    run: Run
    """The run."""
    sentences: tuple[Sentence, ...]
    """The answer, each sentence of fact with its citations; none where the record does not hold it.
    """
    report: Report
    """The sentences' citations and how far they are believed, in the form of a report."""
    unmet: tuple[str, ...]
    """Words of the question that stand in none of the quotes: what is said may be about something
    else."""


async def ask_about(run_id: str, question: str, settings: Settings, store: Store) -> RecordAnswer:
    """Answer a question from what a run has found, with the reasoner that the run had.

    Nothing is searched.

    Args:
        run_id: The run, finished or not.
        question: What to find out.
        settings: This machine's; which model thinks is taken from the run.
        store: Where the run is.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If the question is empty or too long.
        GatewayError: If a model is needed and cannot be asked.
    """
    question = check_question(question)
    run = store.runs.get(run_id)
    mine = from_public(run.settings, settings)
    ledger = load_ledger(store, run.id)
    async with detached_gateway(mine, store=store) as gateway:
        reasoner = choose_reasoner(mine, gateway, ignore_event)
        try:
            deps = Deps(
                run=run,
                settings=mine,
                store=read_only(store),
                gateway=gateway,
                reasoner=reasoner,
                providers=(),
                emit=ignore_event,
                ledger=ledger,
            )
            findings = _find_nearest(question, ledger.of(Finding))
            report = await write_report(deps, question, (), None, findings, (), ())
        finally:
            if close := getattr(reasoner, "close", None):
                await close()
    cited = any(sentence.citations for sentence in report.answer)
    sentences = report.answer if cited else ()
    return RecordAnswer(run, sentences, report, _list_unmet(question, sentences, report))


def _find_nearest(question: str, findings: dict[str, Finding]) -> list[str]:
    """Return the findings that share most words with the question.

    Of equals those that come first by their id.
    """
    asked = _telling_words(question)

    def shared(finding: Finding) -> int:
        return len(
            asked
            & _telling_words(
                " ".join([finding.statement, *(quote.text for quote in finding.quotes)])
            )
        )

    return sorted(findings, key=lambda key: -shared(findings[key]))[:MOST_FINDINGS]


def _telling_words(text: str) -> set[str]:
    return {word for word in words(text) if word not in STOPWORDS}


def _list_unmet(question: str, sentences: tuple[Sentence, ...], report: Report) -> tuple[str, ...]:
    numbers = {number for sentence in sentences for number in sentence.citations}
    said = _telling_words(
        " ".join(item.quote for item in report.citations if item.number in numbers)
    )
    asked = dict.fromkeys(word for word in words(question) if word not in STOPWORDS)
    return tuple(word for word in asked if word not in said) if sentences else ()


@dataclass(frozen=True, slots=True)
class ReportCheck:
    """What came of checking a report again."""

    run: Run
    """The run."""
    report: Report
    """Its report."""
    sentences: int
    """Sentences of fact and calculations that were checked."""
    faults: tuple[str, ...]
    """What is wrong, a line each; none: every quote stands in its saved source and carries its
    sentence's values."""


def check_again(run_id: str, store: Store) -> ReportCheck:
    """Check a report against the saved sources once more, as the audit did before it was written.

    Code checks what code can: quotes stand at their offsets, numbers, dates and names occur in
    them, sums come out.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it has no report.
    """
    run = store.runs.get(run_id)
    text = store.records.report(run.id)
    if text is None:
        raise UsageError(f"run {run.id} is {run.status.value} and has no report yet")
    report = Report.model_validate_json(text)
    said = [
        *report.answer,
        *(sentence for section in report.sections for sentence in section.sentences),
    ]
    facts = [sentence for sentence in said if sentence.kind is not SentenceKind.FRAME]
    found = [*_check_citations(report, store), *_check_sentences(run, report, facts, store)]
    return ReportCheck(run, report, len(facts), tuple(found))


def _check_citations(report: Report, store: Store) -> Iterator[str]:
    for item in report.citations:
        if not stands(
            Quote(source=item.source, passage=item.passage, text=item.quote), store.texts.get
        ):
            yield f"[{item.number}] the quote {item.quote[:60]!r} does not stand in its source"


def _check_sentences(
    run: Run, report: Report, facts: list[Sentence], store: Store
) -> Iterator[str]:
    ledger = load_ledger(store, run.id)
    numbers = {item.number for item in report.citations}
    as_of = str(run.settings.get("as_of") or run.created[:10])
    for sentence in facts:
        findings = [ledger.get(Finding, key) for key in sentence.findings if key in ledger]
        wrong = faults(sentence, findings, store.texts.get, as_of)
        if not set(sentence.citations) <= numbers or not sentence.citations:
            wrong = [*wrong, "its citation is not in the list"]
        yield from (f"{sentence.text[:120]!r}: {fault}" for fault in wrong)
