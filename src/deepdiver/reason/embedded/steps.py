"""Tells questions that need several steps, which are followed from name to name by rules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deepdiver.reason.embedded.asked import is_open, understand
from deepdiver.reason.embedded.change_question import change_asked
from deepdiver.reason.embedded.clause import Kind
from deepdiver.reason.embedded.language.units import is_short, units_in
from deepdiver.reason.embedded.nested_question import innermost_question
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.tasks import ShownFinding

_THEN = re.compile(r"\b(?:was|were|had)\b", re.IGNORECASE)
"""Asks for an age on another day than today."""

A_DAY = 24 * 60
"""Minutes, within which the time of an event counts and not only its day."""


def has_steps(question: str) -> bool:
    """Return whether a question asks several things, or one after another that it contains.

    "Who chairs the firm that owns Lodby AB?" asks first which firm owns it. An age of today counts,
    since it is computed from a day of birth, and so does what happened minutes before another
    event, whose time is found first, and whether something increased, since counts tell that. An
    account of many documents is not reached by steps, whatever clauses its question has.
    """
    if change_asked(question) is not None:
        return True
    chains = analyse_question(question).chains
    if any(c.moment and c.moment.minutes < A_DAY for chain in chains for c in chain):
        return True
    if is_open(understand(question)):
        return False
    kinds = {clause.kind for chain in chains for clause in chain}
    if kinds & {Kind.ACCOUNT, Kind.YES_NO}:
        return False
    if len(chains) > 1 or len(chains[0]) > 1 or innermost_question(question) is not None:
        return True
    return kinds == {Kind.AGE} and not _THEN.search(question)


def by_sentence(findings: Iterable[ShownFinding]) -> tuple[ShownFinding, ...]:
    """Return findings whose passages are taken apart, since rules read one sentence at a time."""
    single: list[ShownFinding] = []
    for finding in findings:
        parts = [finding.quote] if is_short(finding.quote) else []
        parts = parts or [unit.span.of(finding.quote) for unit in units_in(finding.quote)]
        single += [
            finding
            if part == finding.quote
            else finding.model_copy(update={"statement": " ".join(part.split()), "quote": part})
            for part in parts
        ]
    return tuple(single)
