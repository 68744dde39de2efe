"""The history of a run: belief by round and cost by phase, from its events and its journal."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from deepdiver.report.history import Belief, History, PhaseCost, read_history
from deepdiver.store import CallState
from tests.report.exports.making import ROWS


def told(kind: str, **more: Any) -> str:
    return json.dumps({"type": kind, "at": "2026-11-15T09:00:00+00:00", **more})


PLAN = told("phase_started", phase="plan", iteration=1)
TEST = told("phase_started", phase="test", iteration=1)
AGAIN = told("phase_started", phase="test", iteration=2)


def proposed(key: str = "h_1", prior: float = 0.5) -> str:
    return told("hypothesis_proposed", hypothesis=key, prior=prior)


def judged(posterior: float) -> str:
    return told("hypothesis_tested", hypothesis="h_1", posterior=posterior)


def ended(call: str) -> str:
    return told("call_ended", call=call)


def test_a_run_without_events_has_no_history() -> None:
    assert read_history((), ()) == History()
    assert read_history(ROWS, ()) == History()


def test_a_line_that_is_not_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        read_history((), ("{",))


def test_calls_that_failed_are_not_counted() -> None:
    assert read_history(ROWS, (PLAN, ended("k2"))).costs == ()


def test_belief_is_kept_for_each_round() -> None:
    events = (PLAN, proposed(), TEST, judged(0.7), AGAIN, proposed("h_2", 0.3), judged(0.9))
    assert read_history((), events).beliefs == (
        Belief(hypothesis="h_1", round=0, belief=0.5),
        Belief(hypothesis="h_1", round=1, belief=0.7),
        Belief(hypothesis="h_2", round=1, belief=0.3),
        Belief(hypothesis="h_1", round=2, belief=0.9),
    )


def test_of_a_resumed_run_the_last_belief_of_a_round_counts() -> None:
    once = (PLAN, proposed(), TEST, judged(0.6))
    assert read_history((), (*once, TEST, judged(0.8))).beliefs[-1].belief == 0.8
    assert read_history((), (*once, *once)) == read_history((), once)


def test_a_call_belongs_to_the_phase_that_it_was_answered_in_first() -> None:
    paid = replace(
        ROWS[0],
        key="k3",
        cost=Decimal("0.0250"),
        reply='{"usage": {"input_tokens": 900, "output_tokens": 100}}',
    )
    events = (PLAN, ended("k1"), TEST, ended("k1"), ended("k3"), ended("gone"))
    assert read_history((*ROWS, paid), events).costs == (
        PhaseCost(phase="plan", calls=1, tokens=0, usd="0.01"),
        PhaseCost(phase="test", calls=1, tokens=1000, usd="0.025"),
    )


def test_every_dollar_of_an_answered_call_is_in_some_phase() -> None:
    rows = [replace(ROWS[0], key=f"k{n}", cost=Decimal(n) / 1000) for n in range(9)]
    events = [PLAN, *(ended(f"k{n}") for n in range(4)), TEST, *(ended(f"k{n}") for n in range(9))]
    costs = read_history(rows, events).costs
    assert sum(Decimal(item.usd) for item in costs) == sum(row.cost for row in rows)
    assert sum(item.calls for item in costs) == sum(r.state is CallState.SETTLED for r in rows)
