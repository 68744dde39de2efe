"""Rival answers side by side: how far each is believed, and the sources for and against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deepdiver.core.record import HypothesisStatus, Report
from deepdiver.report.sources import short_marks

LONGEST = 60
"""Most characters of an answer that can be compared at a glance; longer answers are sentences, and
are in the list of hypotheses."""
COLUMN_NAMES = ("answer", "belief", "standing", "for", "against")


@dataclass(frozen=True, slots=True)
class RivalAnswer:
    """One answer."""

    answer: str
    """Its words."""
    belief: float
    """How far it is believed."""
    status: HypothesisStatus
    """Where it stands."""
    supporting: tuple[int, ...]
    """Numbers of the citations for it."""
    refuting: tuple[int, ...]
    """Numbers of the citations against it."""


def rival_answers(report: Report) -> list[RivalAnswer]:
    """Return the short answers that were proposed, the likeliest first.

    The list is empty if fewer than two differ, or if several were accepted: these answer different
    parts of the question, and are not rivals.
    """
    short = [
        item
        for item in report.hypotheses
        if 0 < len(item.hypothesis.answer) <= LONGEST
        and item.hypothesis.answer != item.hypothesis.statement
    ]
    accepted = sum(item.status is HypothesisStatus.SUPPORTED for item in short)
    if accepted > 1 or len({item.hypothesis.answer.casefold() for item in short}) < 2:
        return []
    numbers = {citation.finding: citation.number for citation in report.citations}

    def cited(findings: Iterable[str]) -> tuple[int, ...]:
        return tuple(sorted({numbers[key] for key in findings if key in numbers}))

    rows = [
        RivalAnswer(
            item.hypothesis.answer,
            item.posterior,
            item.status,
            cited(item.supporting),
            cited(item.refuting),
        )
        for item in short
    ]
    return sorted(rows, key=lambda row: -row.belief)


def citation_marks(report: Report, numbers: Iterable[int]) -> str:
    """Return citation marks as they are printed behind a sentence: [1, 4–6]."""
    known = {item.number: item for item in report.citations}
    cited = [known[number] for number in numbers if number in known]
    return f"[{', '.join(mark for mark, _ in short_marks(cited))}]" if cited else ""
