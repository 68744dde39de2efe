"""Makes a report of audited sentences, and numbers its citations in the order of the text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deepdiver.core.belief import SUPPORTED_AT, answer_confidence, confidence
from deepdiver.core.corroboration import count_agreeing, count_copies
from deepdiver.core.entries import term_above
from deepdiver.core.headings import headings_above, marked_headings
from deepdiver.core.ledger import Ledger
from deepdiver.core.outcomes import WORKED, Research, settle_outcome
from deepdiver.core.record import (
    UNPRINTED,
    Assessment,
    Block,
    Citation,
    CutSentence,
    Derivation,
    Finding,
    HypothesisStatus,
    Quote,
    Report,
    Section,
    Sentence,
    Source,
)
from deepdiver.core.retraction import as_believed
from deepdiver.core.text import words
from deepdiver.report import kinds
from deepdiver.report.sources import split_rows, unite

JUDGED = frozenset({HypothesisStatus.UNDECIDED, HypothesisStatus.REFUTED})
"""Where a hypothesis stands that was tested and not accepted."""


Headings = Callable[[Quote], Sequence[str]]


def _no_headings(quote: Quote) -> Sequence[str]:
    return ()


class CitationNumbering:
    """Numbers each cited quote."""

    def __init__(
        self,
        ledger: Ledger,
        hypotheses: Sequence[Assessment] = (),
        headings: Headings = _no_headings,
    ) -> None:
        """Start without citations.

        Args:
            ledger: Everything that was found.
            hypotheses: Where they stand, which shows which sources agree.
            headings: Returns the headings above a quote.
        """
        self._ledger, self._headings = ledger, headings
        one_story, self._copies = count_copies(ledger)
        self._agreeing = count_agreeing(hypotheses, ledger, one_story)
        self._numbers: dict[tuple[str, int, int], int] = {}
        self.citations: list[Citation] = []

    def cite(self, sentence: Sentence) -> Sentence:
        """Return the sentence with the numbers of its citations, and where they are printed."""
        numbers = self._numbers_of(sentence.findings)
        placed = dict.fromkeys(
            (number, place)
            for key, place in zip(sentence.findings, sentence.places, strict=False)
            for number in self._numbers_of([key])
        )
        printed = {number for number, place in placed if place != UNPRINTED}
        kept = [it for it in placed if it[1] != UNPRINTED or it[0] not in printed]
        cited = {"citations": tuple(n for n, _ in kept), "places": tuple(at for _, at in kept)}
        return sentence.model_copy(update=cited if kept else {"citations": numbers, "places": ()})

    def cite_derivation(self, made: Derivation) -> Derivation:
        """Return the calculation with the numbers of its citations."""
        return made.model_copy(update={"citations": self._numbers_of(made.findings)})

    def _numbers_of(self, findings: Iterable[str]) -> tuple[int, ...]:
        numbers: dict[int, None] = {}
        for key in findings:
            finding = self._ledger.get(Finding, key)
            for quote in itertools.chain.from_iterable(map(split_rows, finding.quotes)):
                spot = (quote.source, quote.passage.start, quote.passage.end)
                if spot not in self._numbers:
                    source = as_believed(self._ledger, self._ledger.get(Source, quote.source))
                    self._numbers[spot] = len(self.citations) + 1
                    self.citations.append(self._citation(finding, quote, source))
                numbers[self._numbers[spot]] = None
        return tuple(numbers)

    def _citation(self, finding: Finding, quote: Quote, source: Source) -> Citation:
        others = self._agreeing.get(source.id, 0)
        agree = (
            [f"{others} other independent source{'s agree' if others > 1 else ' agrees'}"]
            if others
            else []
        )
        return Citation(
            number=len(self.citations) + 1,
            source=source.id,
            finding=finding.id,
            title=source.title,
            url=source.url,
            quote=quote.text,
            passage=quote.passage,
            credibility=source.credibility.score,
            reasons=(*source.credibility.reasons, *agree),
            copies=self._copies[source.id],
            where=place_of(quote, source, self._headings(quote)),
            # Of a message, the time of day stands with the passage, where two of a day differ.
            credit=", ".join(
                filter(None, (source.author, source.publisher, source.published.partition("T")[0]))
            ),
        )


def headings_over(text: str, source: Source, quote: Quote, *, entries: bool = True) -> list[str]:
    """Return the headings under which a quote stands, unless it has them in it.

    The last is the term of the entry of a manual that it is in.

    Args:
        text: The saved text of its source.
        source: Its source.
        quote: The quote.
        entries: Whether the terms of entries are told.
    """
    above = headings_above(text, quote.passage.start, marked_headings(source.marks))
    told = [item.span.of(text).strip("# \n") for item in above]
    told += [term_above(text, quote.passage.start)] if entries else []
    return [heading for heading in told if heading and heading not in quote.text]


def place_of(quote: Quote, source: Source, headings: Sequence[str]) -> str:
    """Return the page, sheet or message of a quote, and the heading that it stands under.

    "The default is 30" says only there of what.
    """
    where = source.where(quote.passage.start)
    if where.startswith(("message", "sheet")):
        return where
    told = set(words(f"{source.title} {quote.text}"))
    above = [" ".join(head.split()) for head in headings][-1:]
    return " › ".join([where, *(head for head in above if {*words(head)} - told)]).strip()


@dataclass(frozen=True, slots=True)
class WeighedAnswer:
    """Belief in the sentences of an answer."""

    sentences: tuple[float, ...]
    """Belief in each sentence of fact of the answer."""
    coverage: float
    """The part of the question that is answered, 0..1."""
    settled: tuple[float, ...] = ()
    """The same without the contradictions that the report tells and decides: whether it answers the
    question hangs on these, since texts that differ are no gap of it. Empty: there are none."""


def compose(
    question: str,
    answer: Sequence[Sentence],
    sections: Sequence[Section],
    hypotheses: Sequence[Assessment],
    ledger: Ledger,
    *,
    title: str = "",
    language: str = "",
    points: Iterable[int] = (),
    prose: Iterable[int] = (),
    derivations: Iterable[Derivation] = (),
    limits: Iterable[str],
    cut: Iterable[CutSentence] = (),
    made_by: str,
    weighed: WeighedAnswer | None = None,
    unfounded: Collection[str] = (),
    research: Research = WORKED,
    note: str = "",
    headings: Headings = _no_headings,
) -> Report:
    """Return the report. Its status follows from what is left after the audit.

    Args:
        question: What was asked.
        answer: The lead.
        sections: The body.
        hypotheses: Where they stand; an answer is accepted if one of them is.
        ledger: The findings and sources.
        title: The answer in a line.
        language: The code of the language that it is written in; empty: English, or not known.
        points: How many sentences each point of the lead has; none: it is one paragraph.
        prose: Which of them are paragraphs beside a list of the others.
        derivations: The calculations.
        limits: What the reader must know.
        cut: The sentences that the audit cut.
        made_by: Strategy and reasoner, in words.
        weighed: The sentences of the answer, which say how far it is believed. Without hypotheses,
            it is accepted if it covers the question and its sentences are, together, as well
            believed as an accepted hypothesis is. None: the hypotheses say both.
        unfounded: Ids of hypotheses on which neither status nor confidence may rest.
        research: What the run could do, which decides how a report without an answer ends.
        note: What the reader must know before anything else.
        headings: Returns the headings above a quote.
    """
    numbering = CitationNumbering(ledger, hypotheses, headings)
    lead = tuple(numbering.cite(sentence) for sentence in answer)
    body = tuple(
        section.model_copy(
            update={
                "sentences": tuple(map(numbering.cite, section.sentences)),
                "blocks": tuple(_cited(block, numbering) for block in section.blocks),
            }
        )
        for section in _filled(sections)
    )
    derived = tuple(map(numbering.cite_derivation, derivations))
    cited = any(sentence.citations for sentence in lead)
    counting = [item for item in hypotheses if item.hypothesis.id not in unfounded]
    sure, accepted = _belief_in_answer(counting)
    if weighed is not None:
        sure = answer_confidence(weighed.sentences, weighed.coverage)
        held = answer_confidence(weighed.settled or weighed.sentences, weighed.coverage)
        accepted = accepted or (not hypotheses and held >= SUPPORTED_AT and weighed.coverage == 1.0)
    research = replace(research, found=research.found or bool(numbering.citations))
    sides = sum(
        bool(item.supporting) + bool(item.refuting) for item in counting if item.status in JUDGED
    )
    # Evidence for a single hypothesis that does not answer the question leaves nothing to decide.
    judged = sides > research.open
    made = Report(
        question=question,
        title=title,
        note=note,
        language=language,
        status=settle_outcome(research, answer=cited, accepted=accepted, judged=judged),
        answer=lead,
        confidence=round(sure, 4) if cited else 0.0,
        points=tuple(points),
        prose=tuple(prose),
        sections=body,
        derivations=derived,
        hypotheses=tuple(hypotheses),
        citations=tuple(numbering.citations),
        limits=tuple(dict.fromkeys(limits)),
        cut=tuple(cut),
        made_by=made_by,
    )
    if any(kinds.absences(made)):
        texts = {source.snapshot for source in ledger.of(Source).values()}
        made = made.model_copy(update={"searched": len(texts)})
    labelled = _labelled(made, _citing(lead, body, derived))
    return made.model_copy(update={"citations": labelled})


def _filled(sections: Sequence[Section]) -> Iterator[Section]:
    """Yield the sections that have sentences, and those whose parts have some."""
    for number, section in enumerate(sections):
        parts = itertools.takewhile(lambda part: part.level == 3, sections[number + 1 :])
        own = section.level == 2 and any(part.sentences or part.blocks for part in parts)
        if section.sentences or section.blocks or own:
            yield section


def _citing(
    lead: Iterable[Sentence], body: Iterable[Section], derived: Iterable[Derivation]
) -> Mapping[int, frozenset[int]]:
    """Return what cites each citation: its sentences, cells and calculations, by their places."""
    written = itertools.chain(lead, *(section.all_sentences() for section in body))
    told = [*(item.citations for item in written), *(item.citations for item in derived)]
    citing: dict[int, set[int]] = {}
    for place, numbers in enumerate(told):
        for number in numbers:
            citing.setdefault(number, set()).add(place)
    return {number: frozenset(places) for number, places in citing.items()}


def _labelled(report: Report, citing: Mapping[int, frozenset[int]]) -> tuple[Citation, ...]:
    """Return citations with their labels: plain numbers, in the order in which they are read.

    So the text begins with [1], and no number is left out that a reader would look for. Spans that
    overlap have one number, and so have rows of a table that are only cited together; see
    `report.sources`. Passages that the text does not cite come last.
    """
    passages = [*_passages(report.citations, citing)]
    # What is printed once in a paragraph depends on what has one and the same number.
    united = _with_labels(report.citations, passages)
    read = [*kinds.as_read(report.model_copy(update={"citations": united}))]
    first = {number: at for at, number in reversed([*enumerate(read)])}
    # Stable: what the text does not cite stays in the order of the record.
    passages.sort(key=lambda held: min(first.get(number, len(read)) for number in held))
    return _with_labels(report.citations, passages)


def _with_labels(
    citations: Iterable[Citation], passages: Iterable[Sequence[int]]
) -> tuple[Citation, ...]:
    labels = {number: str(at) for at, held in enumerate(passages, 1) for number in held}
    return tuple(item.model_copy(update={"label": labels[item.number]}) for item in citations)


def _passages(
    citations: Iterable[Citation], citing: Mapping[int, frozenset[int]]
) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of the citations that have one label, source by source."""
    by_source: dict[str, list[Citation]] = {}
    for item in citations:
        by_source.setdefault(item.source, []).append(item)
    for own in by_source.values():
        alike = [citing[item.number] if "|" in item.quote else None for item in own]
        for passage in unite([item.passage for item in own], alike):
            yield tuple(own[at].number for at in passage)


def _cited(block: Block, numbering: CitationNumbering) -> Block:
    rows = tuple(tuple(map(numbering.cite, row)) for row in block.rows)
    return block.model_copy(update={"rows": rows})


def _belief_in_answer(hypotheses: Sequence[Assessment]) -> tuple[float, bool]:
    """Return how far an answer is believed by its hypotheses, and whether one is accepted."""
    accepted = [a.posterior for a in hypotheses if a.status is HypothesisStatus.SUPPORTED]
    unsettled = {HypothesisStatus.UNDECIDED, HypothesisStatus.OPEN}
    undecided = [a.posterior for a in hypotheses if a.status in unsettled]
    return confidence(accepted, undecided), bool(accepted)
