"""Questions about a run, and a second check of its report, from its unchanged record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deepdiver.core.record import Finding, Quote, Report, Run, Sentence, SentenceKind
from deepdiver.core.settings import Settings, from_public
from deepdiver.core.text import STOPWORDS, words
from deepdiver.errors import LostTextError, UsageError
from deepdiver.reason.choose import choose_reasoner
from deepdiver.report.audit import find_faults, quote_stands
from deepdiver.run.begin import check_question
from deepdiver.run.detached import detached_gateway, ignore_event
from deepdiver.run.record import load_ledger
from deepdiver.store import Store
from deepdiver.store.views import read_only
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.write_report import write_report

MOST_FINDINGS = 40
"""Findings that are used for one question, as many as a task shows: those that share the most words
with it."""


@dataclass(frozen=True, slots=True)
class RecordAnswer:
    """The answer of a run's record to a question."""

    run: Run
    """The run."""
    sentences: tuple[Sentence, ...]
    """The sentences, those of fact with citations; none if the record does not hold the answer."""
    report: Report
    """The same as a report, with the citations and the confidence."""
    unmet: tuple[str, ...]
    """Words of the question that no quote holds: the answer may be about something else."""


async def ask_about(run_id: str, question: str, settings: Settings, store: Store) -> RecordAnswer:
    """Answer a question from a run's findings, with the run's reasoner and without a search.

    Args:
        run_id: The run, finished or not.
        question: What to find out.
        settings: The settings of this machine; the model is the run's.
        store: The store of the run.

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
    """Return the findings that share the most words with a question; of equals, the first by id."""
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
    """The result of a second check of a report."""

    run: Run
    """The run."""
    report: Report
    """Its report."""
    sentences: int
    """The number of facts and calculations that were checked."""
    faults: tuple[str, ...]
    """A line for each fault. None if every quote is in its saved source and holds the values of its
    sentence."""


def check_again(run_id: str, store: Store) -> ReportCheck:
    """Check a report against the saved sources again, as the audit did before it was written.

    Code checks that quotes are at their offsets, that they hold the numbers, dates and names, and
    that calculations are right.

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
        quote = Quote(source=item.source, passage=item.passage, text=item.quote)
        try:
            if not quote_stands(quote, store.texts.get):
                yield f"[{item.number}] the quote {item.quote[:60]!r} does not stand in its source"
        except LostTextError as error:
            yield f"[{item.number}] {item.title} ({item.url}): {error}"


def _check_sentences(
    run: Run, report: Report, facts: list[Sentence], store: Store
) -> Iterator[str]:
    ledger = load_ledger(store, run.id)
    numbers = {item.number for item in report.citations}
    as_of = str(run.settings.get("as_of") or run.created[:10])
    for sentence in facts:
        findings = [ledger.get(Finding, key) for key in sentence.findings if key in ledger]
        try:
            wrong = find_faults(sentence, findings, store.texts.get, as_of)
        except LostTextError:
            wrong = ["it cannot be checked, because the saved text of a source is lost"]
        if not set(sentence.citations) <= numbers or not sentence.citations:
            wrong = [*wrong, "its citation is not in the list"]
        yield from (f"{sentence.text[:120]!r}: {fault}" for fault in wrong)
