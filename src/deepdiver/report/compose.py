"""Makes a report of audited sentences, and numbers its citations in the order of the text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.belief import SUPPORTED_AT, confidence, untested_confidence
from deepdiver.core.corroboration import count_agreeing, count_copies
from deepdiver.core.ledger import Ledger
from deepdiver.core.record import (
    Assessment,
    Citation,
    CutSentence,
    Finding,
    HypothesisStatus,
    Quote,
    Report,
    RunStatus,
    Section,
    Sentence,
    Source,
)


class CitationNumbering:
    """Numbers each cited quote."""

    def __init__(self, ledger: Ledger, hypotheses: Sequence[Assessment] = ()) -> None:
        """Start without citations.

        Args:
            ledger: Everything that was found.
            hypotheses: Where they stand, which shows which sources agree.
        """
        self._ledger = ledger
        one_story, self._copies = count_copies(ledger)
        self._agreeing = count_agreeing(hypotheses, ledger, one_story)
        self._numbers: dict[tuple[str, int, int], int] = {}
        self.citations: list[Citation] = []

    def cite(self, sentence: Sentence) -> Sentence:
        """Return the sentence with the numbers of its citations."""
        numbers: dict[int, None] = {}
        for key in sentence.findings:
            finding = self._ledger.get(Finding, key)
            for quote in finding.quotes:
                spot = (quote.source, quote.passage.start, quote.passage.end)
                if spot not in self._numbers:
                    source = self._ledger.get(Source, quote.source)
                    self._numbers[spot] = len(self.citations) + 1
                    self.citations.append(self._citation(finding, quote, source))
                numbers[self._numbers[spot]] = None
        return sentence.model_copy(update={"citations": tuple(numbers)})

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
            where=source.where(quote.passage.start),
        )


@dataclass(frozen=True, slots=True)
class WeighedAnswer:
    """Belief in an answer without hypotheses, which is weighed by its sources."""

    sentences: tuple[float, ...]
    """Belief in each sentence of fact of the answer."""
    coverage: float
    """The part of the question that is answered, 0..1."""


def compose(
    question: str,
    answer: Sequence[Sentence],
    sections: Sequence[Section],
    hypotheses: Sequence[Assessment],
    ledger: Ledger,
    *,
    limits: Iterable[str],
    cut: Iterable[CutSentence] = (),
    made_by: str,
    weighed: WeighedAnswer | None = None,
    unfounded: Collection[str] = (),
) -> Report:
    """Return the report. Its status follows from what is left after the audit.

    Args:
        question: What was asked.
        answer: The lead.
        sections: The body.
        hypotheses: Where they stand; an answer is accepted if one of them is.
        ledger: The findings and sources.
        limits: What the reader must know.
        cut: The sentences that the audit cut.
        made_by: Strategy and reasoner, in words.
        weighed: For a strategy without hypotheses: an answer is accepted if it covers the question
            and its sentences are, together, as well believed as an accepted hypothesis is.
        unfounded: Ids of hypotheses on which neither status nor confidence may rest.
    """
    numbering = CitationNumbering(ledger, hypotheses)
    lead = tuple(numbering.cite(sentence) for sentence in answer)
    body = tuple(
        Section(
            heading=section.heading,
            sentences=tuple(numbering.cite(sentence) for sentence in section.sentences),
        )
        for section in sections
        if section.sentences
    )
    cited = any(sentence.citations for sentence in lead)
    counting = [item for item in hypotheses if item.hypothesis.id not in unfounded]
    sure, accepted = _belief_in_answer(counting) if weighed is None else _belief_in(weighed)
    if cited and accepted:
        status = RunStatus.ANSWERED
    elif numbering.citations:
        status = RunStatus.PARTIAL
    else:
        status = RunStatus.NO_EVIDENCE
    return Report(
        question=question,
        status=status,
        answer=lead,
        confidence=round(sure, 4) if cited else 0.0,
        sections=body,
        hypotheses=tuple(hypotheses),
        citations=tuple(numbering.citations),
        limits=tuple(dict.fromkeys(limits)),
        cut=tuple(cut),
        made_by=made_by,
    )


def _belief_in_answer(hypotheses: Sequence[Assessment]) -> tuple[float, bool]:
    """Return how far an answer is believed by its hypotheses, and whether one is accepted."""
    accepted = [a.posterior for a in hypotheses if a.status is HypothesisStatus.SUPPORTED]
    unsettled = {HypothesisStatus.UNDECIDED, HypothesisStatus.OPEN}
    undecided = [a.posterior for a in hypotheses if a.status in unsettled]
    return confidence(accepted, undecided), bool(accepted)


def _belief_in(weighed: WeighedAnswer) -> tuple[float, bool]:
    """Return how far an answer without hypotheses is believed, and whether it is accepted."""
    sure = untested_confidence(weighed.sentences, weighed.coverage)
    return sure, sure >= SUPPORTED_AT and weighed.coverage == 1.0
