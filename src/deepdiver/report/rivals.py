"""Rival answers beside each other.

What each says, how far it is believed, and which sources stand for and against.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deepdiver.core.record import HypothesisStatus, Report

LONGEST = 60
"""Characters of an answer that still compares at a glance; longer ones are sentences, and stand in
the list below."""
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
    """Citations that stand for it."""
    refuting: tuple[int, ...]
    """Citations that stand against it."""


def rival_answers(report: Report) -> list[RivalAnswer]:
    """Return the short answers that were put forward, the likeliest first.

    None where fewer than two differ.

    Where several were accepted they answer different parts of the question, and do not compare.
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


def citation_marks(numbers: Iterable[int]) -> str:
    """Return citation marks as they stand behind a sentence."""
    return "".join(f"[{number}]" for number in numbers)
