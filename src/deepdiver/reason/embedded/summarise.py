"""Sums up findings: their sentences, those that answer a part of the question first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from deepdiver.reason.embedded.chain import follow_chain
from deepdiver.reason.embedded.hypothesise import read_finding
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reading import Reading, read_sentence
from deepdiver.reason.embedded.stance import likeness, opposed
from deepdiver.reason.embedded.steps_report import SAME
from deepdiver.tasks import ShownFinding, SummaryLine


class Statement(NamedTuple):
    """What findings say."""

    text: str
    """The sentence."""
    findings: tuple[str, ...]
    """Labels of the findings that say it."""
    confirms: str = ""
    """Label of the line that says it already."""


def summarise(
    asked: Sequence[str],
    summary: Sequence[SummaryLine],
    findings: Sequence[ShownFinding],
    limit: int,
) -> list[Statement]:
    """Return the findings' own sentences; one that confirms a line takes that line's words.

    Args:
        asked: The question and its parts.
        summary: The lines so far.
        findings: What was found.
        limit: The most statements.
    """
    readings = [read_finding(finding) for finding in findings]
    lines = [(line.id, line.text, read_sentence(line.text)) for line in summary]
    answering = _answering(asked, [*(reading for _, _, reading in lines), *readings], len(lines))
    order = sorted(
        range(len(readings)),
        key=lambda n: (n not in answering, readings[n].hearsay, -findings[n].credibility, n),
    )
    statements: list[Statement] = []
    told: list[Reading] = []
    for n in order:
        finding, reading = findings[n], readings[n]
        known = next((line for line in lines if _same(line[2], reading)), None)
        if known is not None:
            statements.append(Statement(known[1], (finding.id,), known[0]))
        elif not any(_same(other, reading) for other in told):
            told.append(reading)
            statements.append(Statement(finding.statement, _saying_it(n, findings, readings)))
    return statements[: max(0, limit)]


def _saying_it(
    n: int, findings: Sequence[ShownFinding], readings: Sequence[Reading]
) -> tuple[str, ...]:
    """Return the labels of a finding and of the others that say the same."""
    others = [
        findings[m].id for m in range(len(findings)) if m != n and _same(readings[n], readings[m])
    ]
    return tuple(dict.fromkeys((findings[n].id, *others)))


def _same(one: Reading, other: Reading) -> bool:
    """Return whether two sentences say the same.

    They have the same words, or similar ones without a different number, date or denial.
    """
    if one.text == other.text:
        return True
    if likeness(one, other) < SAME or one.negated != other.negated or opposed(one, other):
        return False
    return _figures(one) == _figures(other) and {n.text for n in one.names} == {
        n.text for n in other.names
    }


def _figures(reading: Reading) -> set[str]:
    quantities = {f"{quantity.value.normalize():f}" for quantity in reading.quantities}
    return (
        quantities
        | {day.iso() for day, _, _ in reading.days}
        | {time for time, _, _ in reading.times}
    )


def _answering(asked: Sequence[str], readings: Sequence[Reading], known: int) -> set[int]:
    """Return which of the new findings answer a part of the question."""
    chains = [chain for text in asked for chain in analyse_question(text).chains]
    steps = [step for chain in chains for step in follow_chain(chain, readings)]
    return {
        item.sentence - known
        for step in steps
        for item in step.candidates
        if item.sentence >= known
    }
