"""Questions about a run, and a second check of its report, from its unchanged record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from deepdiver.core.ledger import Ledger
from deepdiver.core.names import names
from deepdiver.core.record import (
    UNCITED,
    Citation,
    Finding,
    Quote,
    Report,
    Run,
    Sentence,
    SentenceKind,
    Source,
)
from deepdiver.core.settings import Settings, from_public
from deepdiver.core.text import STOPWORDS, words
from deepdiver.errors import LostTextError, UsageError
from deepdiver.reason.choose import choose_reasoner
from deepdiver.report.audit import (
    Context,
    bare_words,
    credit_of,
    find_faults,
    find_present,
    quote_stands,
)
from deepdiver.report.compose import headings_over, place_of
from deepdiver.report.kinds import STATED
from deepdiver.run.begin import check_question
from deepdiver.run.detached import detached_gateway, ignore_event
from deepdiver.run.record import load_ledger
from deepdiver.store import Store
from deepdiver.store.views import read_only
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.derive import Derivations
from deepdiver.strategies.shared.second_opinion import WORD_FOR_WORD, stands_whole
from deepdiver.strategies.shared.write_report import write_report

MOST_FINDINGS = 40
"""Findings that are used for one question, as many as a task shows: those that share the most words
with it."""


CITED = frozenset(SentenceKind) - UNCITED - {SentenceKind.ABSENCE}
"""The kinds of sentences that cite something."""


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
    """Return the findings that share the most words with a question; of equals, the first by id.

    None if the question says nothing, or if no finding has a word of the names that it asks about.
    """
    asked = _telling_words(question)
    named = _telling_words(" ".join(names(question)))
    told = {
        key: _telling_words(" ".join([item.statement, *(quote.text for quote in item.quotes)]))
        for key, item in findings.items()
    }
    if not asked or (named and all(named.isdisjoint(said) for said in told.values())):
        return []
    return sorted(told, key=lambda key: -len(asked & told[key]))[:MOST_FINDINGS]


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
    placed, ledger = list(_place_sentences(report)), load_ledger(store, run.id)
    found = [
        *_check_citations(report, ledger, store),
        *_check_sentences(run, report, placed, ledger, store),
    ]
    checked = sum(sentence.kind not in UNCITED for sentence, _ in placed)
    return ReportCheck(run, report, checked, tuple(found))


def _place_sentences(report: Report) -> Iterator[tuple[Sentence, str]]:
    """Yield each sentence and cell with what stands near it and may carry its names and values."""
    yield from _in_turn(report.answer, "")
    for section in report.sections:
        yield from _in_turn(section.sentences, section.heading)
        for block in section.blocks:
            for row in block.rows:
                if block.kind == "table":
                    first = row[0].text
                    yield from (
                        (cell, f"{section.heading}\n{name}\n{first}")
                        for cell, name in zip(row, block.header, strict=False)
                    )
                else:
                    yield from _in_turn(row, section.heading)


def _in_turn(sentences: Iterable[Sentence], heading: str) -> Iterator[tuple[Sentence, str]]:
    before = ""
    for sentence in sentences:
        yield sentence, f"{heading}\n{before}"
        before = sentence.text


def _check_citations(report: Report, ledger: Ledger, store: Store) -> Iterator[str]:
    for item in report.citations:
        quote = Quote(source=item.source, passage=item.passage, text=item.quote)
        if wrong := _not_of_its_source(item, quote, ledger, store):
            yield f"[{item.number}] {wrong}"
        try:
            if not quote_stands(quote, store.texts.get):
                yield f"[{item.number}] the quote {item.quote[:60]!r} does not stand in its source"
        except LostTextError as error:
            yield f"[{item.number}] {item.title} ({item.url}): {error}"


def _not_of_its_source(item: Citation, quote: Quote, ledger: Ledger, store: Store) -> str:
    """Return what a citation says otherwise than the source on record; empty: nothing."""
    if item.source not in ledger:
        return f"its source {item.source} is not on record"
    source = ledger.get(Source, item.source)
    told = {
        "text": (item.passage.snapshot, source.snapshot),
        "address": (item.url, source.url),
        "title": (item.title, source.title),
    }
    wrong = next((name for name, (cited, held) in told.items() if cited != held), "")
    wrong = wrong or ("place" if item.where not in _places_of(quote, source, store) else "")
    return f"its {wrong} is not that of the source on record" if wrong else ""


def _check_sentences(
    run: Run,
    report: Report,
    placed: Iterable[tuple[Sentence, str]],
    ledger: Ledger,
    store: Store,
) -> Iterator[str]:
    numbers = {item.number: item for item in report.citations}
    as_of = str(run.settings.get("as_of") or run.created[:10])
    placed = list(placed)
    judged = any(sentence.kind is SentenceKind.JUDGEMENT for sentence, _ in placed)
    # Only a judgement may name what stands in a text that it does not cite; 6 MB take 3 s.
    read = _words_read(ledger, store) if judged else frozenset()
    derived = Derivations(asked=run.question, read=read)
    for made in report.derivations:
        if not derived.add(ledger, made, as_of, supposes=bool(made.supposed)):
            yield f"the calculation {derived.refused[made.name]}"
    for sentence, nearby in placed:
        if sentence.kind is SentenceKind.FRAME:
            continue
        wrong = _find_wrong(run, sentence, nearby, derived, ledger, store, as_of)
        if sentence.kind in STATED and (own := derived.supposed(sentence.derived)):
            wrong.append(f"it states what rests on {own[0]}, which is supposed")
        wrong += _find_misled(sentence, numbers, _quotes_of(sentence, ledger))
        yield from (f"{sentence.text[:120]!r}: {fault}" for fault in wrong)


def _find_misled(
    sentence: Sentence, numbers: Mapping[int, Citation], quotes: Sequence[Quote]
) -> Iterator[str]:
    """Yield what is wrong with the way from a sentence to its quotes."""
    listed = set(sentence.citations) <= set(numbers)
    if listed and (other := _not_its_own(sentence, numbers, quotes)):
        yield f"it cites [{other.mark}], which is not of its findings"
    if _no_longer_whole(sentence, quotes):
        yield "it is on record as word for word its quote, and is not"
    if not listed or (sentence.kind in CITED and not sentence.citations):
        yield "its citation is not in the list"


def _quotes_of(sentence: Sentence, ledger: Ledger) -> list[Quote]:
    found = [ledger.get(Finding, key) for key in sentence.findings if key in ledger]
    return [quote for finding in found for quote in finding.quotes]


def _no_longer_whole(sentence: Sentence, quotes: Iterable[Quote]) -> bool:
    """Whether a sentence was once word for word in a quote, by its opinion, and is not any more.

    Only the rule for such sentences gives this opinion: the reader is never as sure.
    """
    return sentence.second_opinion == WORD_FOR_WORD and not any(
        stands_whole(sentence.text, quote.text) for quote in quotes
    )


def _not_its_own(
    sentence: Sentence, numbers: Mapping[int, Citation], quotes: Sequence[Quote]
) -> Citation | None:
    """Return a citation of a sentence that points at no quote of its findings."""
    return next(
        (
            item
            for item in (numbers[number] for number in sentence.citations)
            if not any(_holds(quote, item) for quote in quotes)
        ),
        None,
    )


def _holds(quote: Quote, item: Citation) -> bool:
    return (
        quote.source == item.source
        and quote.passage.start <= item.passage.start
        and item.passage.end <= quote.passage.end
    )


def _find_wrong(
    run: Run,
    sentence: Sentence,
    nearby: str,
    derived: Derivations,
    ledger: Ledger,
    store: Store,
    as_of: str,
) -> list[str]:
    findings = [ledger.get(Finding, key) for key in sentence.findings if key in ledger]
    quotes = _quotes_of(sentence, ledger)
    context = Context(
        credits="\n".join(credit_of(ledger.get(Source, q.source), q) for q in quotes),
        nearby=nearby,
        question=run.question,
        figures=derived.figures_of(sentence.derived),
        values=derived.values_of(sentence.derived),
        read=derived.read,
    )
    try:
        return find_faults(sentence, findings, store.texts.get, as_of, context) or find_present(
            sentence, ledger.of(Source).values(), store.texts.get
        )
    except LostTextError:
        return ["it cannot be checked, because the saved text of a source is lost"]


def _words_read(ledger: Ledger, store: Store) -> frozenset[str]:
    """Return the words of all sources whose texts are not lost."""
    found: set[str] = set()
    for source in ledger.of(Source).values():
        found |= bare_words(f"{source.title}\n{source.author}")
        with suppress(LostTextError):
            found |= bare_words(store.texts.get(source.snapshot))
    return frozenset(found)


def _places_of(quote: Quote, source: Source, store: Store) -> list[str]:
    """Return how a report may tell where a quote stands; older ones tell no entry or heading."""
    plain = place_of(quote, source, ())
    try:
        text = store.texts.get(quote.passage.snapshot)
    except LostTextError:  # which is a fault of its own
        return [plain]
    told = (headings_over(text, source, quote, entries=entries) for entries in (True, False))
    return [plain, *(place_of(quote, source, headings) for headings in told)]
