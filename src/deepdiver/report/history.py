"""What a run did round by round: how belief moved, and what each phase cost.

A report says where the hypotheses stand in the end. How they came there is in the events of the
run, and what was paid is in its journal. This is the little of both that its figures need, so that
a file for others can show them without the journal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from deepdiver.core.record import Probability, Record
from deepdiver.store import CallState, JournalRow


class Belief(Record):
    """The belief in a hypothesis after a round."""

    hypothesis: str
    """Id of the hypothesis."""
    round: int
    """The round; 0: before any test."""
    belief: Probability
    """The belief."""


class PhaseCost(Record):
    """What a phase of a run cost."""

    phase: str
    """The phase."""
    calls: int
    """Calls that were answered, by a model or another service."""
    tokens: int
    """Tokens that models read and wrote."""
    usd: str
    """The cost in US dollars, as far as prices are known."""


class History(Record):
    """The rounds and phases of a run."""

    beliefs: tuple[Belief, ...] = ()
    """Each hypothesis after each round in which it was tested, in the order of the run."""
    costs: tuple[PhaseCost, ...] = ()
    """The phases that asked somebody, in the order of the run."""


def read_history(rows: Iterable[JournalRow], events: Iterable[str]) -> History:
    """Return the history of a run from its journal and its events.

    A run that was resumed has told some things twice: of a belief the last telling counts, and a
    call belongs to the phase that it was answered in first.
    """
    phase, round_ = "start", 0
    beliefs: dict[tuple[str, int], Belief] = {}
    phases: dict[str, str] = {}
    for event in map(json.loads, events):
        kind = event.get("type")
        if kind == "phase_started":
            phase, round_ = event["phase"], int(event.get("iteration", round_))
        elif kind in ("hypothesis_proposed", "hypothesis_tested"):
            told = _belief(event, round_)
            beliefs[told.hypothesis, told.round] = told
        elif kind == "call_ended":
            phases.setdefault(event["call"], phase)
    return History(beliefs=tuple(beliefs.values()), costs=tuple(_costs(rows, phases)))


def _belief(event: dict[str, Any], round_: int) -> Belief:
    if event["type"] == "hypothesis_proposed":
        return Belief(
            hypothesis=event["hypothesis"], round=max(round_ - 1, 0), belief=event["prior"]
        )
    return Belief(hypothesis=event["hypothesis"], round=round_, belief=event["posterior"])


def _costs(rows: Iterable[JournalRow], phases: dict[str, str]) -> Iterable[PhaseCost]:
    answered = {row.key: row for row in rows if row.state is CallState.SETTLED}
    for phase in dict.fromkeys(phases.values()):
        own = [row for key, row in answered.items() if phases.get(key) == phase]
        if own:
            usd = sum((row.cost for row in own), Decimal(0))
            yield PhaseCost(
                phase=phase,
                calls=len(own),
                tokens=sum(map(_tokens, own)),
                usd=f"{usd.normalize():f}",
            )


def _tokens(row: JournalRow) -> int:
    usage = json.loads(row.reply or "{}").get("usage") or {}
    return int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
