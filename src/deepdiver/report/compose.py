"""From audited sentences to a report.

Citations are numbered by code, in the order in which they are met.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """Gives each cited quote its number."""

    def __init__(self, ledger: Ledger, hypotheses: Sequence[Assessment] = ()) -> None:
        """Number what the ledger holds.

        Args:
            ledger: Everything found.
            hypotheses: As they stand: they tell which sources agree.
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
    """An answer that no hypothesis carries, weighed by its sources."""

    sentences: tuple[float, ...]
    """Belief in each sentence of fact of the lead."""
    coverage: float
    """Which part of the question is answered, 0..1."""


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
) -> Report:
    """Put a report together; its status follows from what is left after the audit.

    Args:
        question: What was asked.
        answer: The lead.
        sections: The body.
        hypotheses: As they stand: an answer is accepted if one of them is.
        ledger: Where findings and sources are.
        limits: What the reader must know.
        cut: What the audit cut.
        made_by: Strategy and reasoner, in words.
        weighed: For a strategy without hypotheses: an answer is accepted if it covers the question
            and its sentences are, together, as well believed as an accepted hypothesis is.
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
    accepted = [a.posterior for a in hypotheses if a.status is HypothesisStatus.SUPPORTED]
    undecided = [
        a.posterior
        for a in hypotheses
        if a.status in {HypothesisStatus.UNDECIDED, HypothesisStatus.OPEN}
    ]
    sure = confidence(accepted, undecided)
    if weighed is not None:
        sure = untested_confidence(weighed.sentences, weighed.coverage)
        accepted = [sure] if sure >= SUPPORTED_AT and weighed.coverage == 1.0 else []
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
