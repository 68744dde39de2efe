"""Judging how findings bear on a hypothesis."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from deepdiver.core.record import Stance
from deepdiver.tasks.judge import Judge, Judgement, Judgements, Rival
from deepdiver.tasks.record_views import ShownFinding
from deepdiver.tasks.task import schema

SHOWN = ShownFinding(
    id="F1", statement="Karin runs it.", quote="Karin Berg runs it.", source="Register"
)
KARIN = Rival(id="H1", hypothesis="Karin runs it.", findings=("F1",))
TASK = Judge(question="Who?", as_of="2026-11-15", rivals=(KARIN,), findings=(SHOWN,))


@pytest.mark.parametrize("strength", [-0.1, 1.1, 5, "strong", None])
def test_a_strength_lies_between_0_and_1(strength: Any) -> None:
    with pytest.raises(ValidationError, match="strength"):
        Judgement.model_validate({"finding": "F1", "stance": "supports", "strength": strength})


@pytest.mark.parametrize("stance", ["proves", "SUPPORTS", "", None])
def test_a_stance_is_one_of_three(stance: Any) -> None:
    with pytest.raises(ValidationError, match="stance"):
        Judgement.model_validate({"finding": "F1", "stance": stance, "strength": 0.5})


@pytest.mark.parametrize("stance", Stance)
def test_each_stance_can_be_taken(stance: Stance) -> None:
    made = Judgement.model_validate({"finding": "F1", "stance": stance.value, "strength": 1})
    assert (made.stance, made.strength) == (stance, 1.0)


def test_the_judge_is_asked_for_stance_and_strength_and_never_for_a_probability() -> None:
    part = schema(Judgements)["$defs"]["Judgement"]
    assert part["required"] == ["finding", "hypothesis", "stance", "strength", "reason"]
    assert not {"prior", "posterior", "probability", "confidence"} & set(part["properties"])


def test_the_judge_does_not_see_how_the_hypothesis_stands() -> None:
    # Who knows the belief so far judges towards it.
    shown = Judge.model_fields.keys() | Rival.model_fields.keys()
    assert not {"prior", "posterior", "standing", "status"} & shown
    assert Judge.role == "smart"
    assert Judge.answer() is Judgements


def test_what_would_support_and_refute_is_shown_where_known() -> None:
    assert "refutes_if" not in TASK.prompt().user
    rival = KARIN.model_copy(update={"refutes_if": "Another is named."})
    shown = TASK.model_copy(update={"rivals": (rival,)}).prompt().user
    assert '"refutes_if": "Another is named."' in shown
    assert '"quote": "Karin Berg runs it."' in shown


def test_what_may_bear_on_a_hypothesis_is_not_told_to_a_model() -> None:
    _, _, after = TASK.prompt().user.partition("<<<rivals>>>")
    assert '"hypothesis": "Karin runs it."' in after
    assert "F1" not in after


def test_findings_come_first_as_the_part_that_other_prompts_share() -> None:
    assert TASK.prompt().user.startswith("<<<findings>>>")
