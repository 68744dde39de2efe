"""Answers yes-or-no questions: the statement in the question is tested both ways by the reader."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdiver.encoders.reader import Verdict, load_reader
from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.confirm import takes_side
from deepdiver.reason.embedded.language.form import AskedQuestion
from deepdiver.reason.embedded.language.units import units_in
from deepdiver.reason.embedded.rating import rate_findings, told_by
from deepdiver.tasks import ShownFinding

READ = 6
"""Findings that are judged, those that bear most on the question."""
SURE = 0.8
"""From this probability on, a finding takes a side."""
OPPOSITE = 0.5
"""The least probability of the other verdict on the opposite of the statement."""
CONFIRMED = 3
"""Sentences of the side taken that the close reader looks at, the clearest ones."""
LIKELY = 0.75
"""How likely an answer is right if all findings that take a side take the same."""


@dataclass(frozen=True, slots=True)
class Side:
    """The answer that findings give to a yes-or-no question."""

    answer: str
    """yes or no."""
    sentence: str
    """The sentence that gives it most clearly."""
    findings: tuple[int, ...]
    """The findings that give it, the clearest first."""
    likelihood: float
    """How likely it is right."""


def decide_yes_no(question: str, findings: Sequence[ShownFinding]) -> Side | None:
    """Return the side that the findings take; None if they take none, or both."""
    asked = understand(question)
    if not asked.proposition or not findings:
        return None
    judged = list(_judged(asked, findings))
    yes = [(v.supports, number, text) for v, number, text in judged if v.supports >= SURE]
    no = [(v.refutes, number, text) for v, number, text in judged if v.refutes >= SURE]
    if bool(yes) == bool(no):
        return None
    best = sorted(yes or no, key=lambda item: -item[0])
    told = [item for item in best if _holds_both_ways(item[2], asked.proposition, bool(yes))]
    told = [
        (share, number, text)
        for share, number, text in told[:CONFIRMED]
        if takes_side(told_by(findings[number].source, text), asked.proposition, affirms=bool(yes))
    ]
    if not told:
        return None
    numbers = tuple(dict.fromkeys(number for _, number, _ in told))
    return Side("yes" if yes else "no", told[0][2], numbers, LIKELY)


def _judged(
    asked: AskedQuestion, findings: Sequence[ShownFinding]
) -> Iterator[tuple[Verdict, int, str]]:
    """Yield the verdict of each sentence of the nearest findings."""
    scores = [item.score for item in rate_findings(asked.text, findings)]
    near = sorted(range(len(findings)), key=lambda number: (-scores[number], number))[:READ]
    for number in near:
        for unit in units_in(findings[number].quote):
            text = f"{findings[number].source}. {unit.text}"
            yield judge_statement(text, asked.proposition), number, unit.text


def _holds_both_ways(text: str, statement: str, affirmed: bool) -> bool:
    """Return whether a sentence that affirms a statement denies its opposite, or the other way."""
    verdict = judge_statement(text, f"It is not true that {statement[:1].lower()}{statement[1:]}")
    return (verdict.refutes if affirmed else verdict.supports) >= OPPOSITE


@functools.lru_cache(maxsize=4_096)
def judge_statement(text: str, statement: str) -> Verdict:
    """Return how a text bears on a statement."""
    return load_reader().verify([(text, statement)])[0]
