"""Deciding whether another round is worth it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from deepdiver.core.record import HypothesisStatus
from deepdiver.tasks.decide import Decide, Decision
from deepdiver.tasks.record_views import HypothesisStanding
from deepdiver.tasks.task import load_prompt, schema

STANDING = HypothesisStanding(
    id="H1", statement="Karin runs it.", posterior=0.7, status=HypothesisStatus.SUPPORTED, trials=1
)
TASK = Decide(
    question="Who?",
    problems=("Who?",),
    standing=(STANDING,),
    findings=4,
    new_findings=0,
    iteration=1,
    max_iterations=3,
)


@pytest.mark.parametrize("decision", ["stop", "CONTINUE", "", None, True])
def test_there_are_two_ways_to_go_on(decision: Any) -> None:
    with pytest.raises(ValidationError, match="decision"):
        Decision.model_validate({"decision": decision, "reason": "so"})


def test_a_reason_is_asked_for_but_a_decision_without_one_counts() -> None:
    assert "reason" in schema(Decision)["required"]
    assert Decision.model_validate({"decision": "finish"}).reason == ""


@pytest.mark.parametrize("decision", ["continue", "finish"])
def test_gaps_are_welcome_and_not_required(decision: str) -> None:
    made = Decision.model_validate({"decision": decision, "reason": "so"})
    assert (made.decision, made.gaps) == (decision, ())
    assert Decision.model_validate({**made.model_dump(), "gaps": ["Since when?"]}).gaps == (
        "Since when?",
    )


def test_the_model_sees_what_the_last_round_brought() -> None:
    shown = TASK.prompt().user
    for name, value in (
        ("findings", 4),
        ("new_findings", 0),
        ("iteration", 1),
        ("max_iterations", 3),
    ):
        assert f"<<<{name}>>>\n{value}\n<<<end {name}>>>" in shown
    assert '"posterior": 0.7' in shown
    assert "limits" not in shown
    assert (
        "a page was down" in TASK.model_copy(update={"limits": ("a page was down",)}).prompt().user
    )


def test_no_threshold_decides() -> None:
    # The seed asks for the model's decision: a number to reach would decide in its place.
    assert "no threshold" in load_prompt("decide")[1]
    assert not any("threshold" in name for name in Decide.model_fields)
    assert schema(Decision)["properties"]["decision"]["enum"] == ["continue", "finish"]
    assert Decide.role == "smart"


def test_of_the_hypotheses_the_model_sees_the_claims_and_where_they_stand() -> None:
    full = STANDING.model_copy(
        update={
            "answer": "Karin Dal",
            "refutes_if": "a register names another",
            "supporting": ("F1",),
            "refuting": ("F2",),
        }
    )
    task = TASK.model_copy(update={"standing": (full,)})
    shown = task.prompt().user
    for told in ("Karin runs it.", '"status": "supported"', '"trials": 1'):
        assert told in shown
    for told in ("Karin Dal", "a register names another", "F1", "F2"):
        assert told not in shown
    assert task.standing[0].refutes_if, "whoever is no model sees all of it"
