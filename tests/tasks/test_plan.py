"""Formulating the problem."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.record import RunStatus
from deepdiver.tasks.plan import Decompose, Decomposition, Problem
from deepdiver.tasks.task import schema
from deepdiver.tasks.views import Recalled

PROBLEM = Problem(question="Who runs Svedjan Ost AB?")
TASK = Decompose(question="Who runs it?", as_of="2026-11-15")
PAST = Recalled(id="P1", question="Who ran it?", date="2026-03-01", days=30, status=RunStatus.ANSWERED, answer="Karin")


def test_a_plan_of_nothing_is_no_plan() -> None:
    with pytest.raises(ValidationError, match="problems"):
        Decomposition(problems=())


def test_a_plan_has_at_most_seven_parts() -> None:
    assert len(Decomposition(problems=(PROBLEM,) * 7).problems) == 7
    with pytest.raises(ValidationError, match="problems"):
        Decomposition(problems=(PROBLEM,) * 8)


def test_a_part_may_need_earlier_ones() -> None:
    made = Decomposition.model_validate(
        {
            "problems": [
                {"question": "Who runs it?", "needs": []},
                {"question": "How old are their children?", "needs": ["Who runs it?"]},
            ],
            "sought": "an age",
        }
    )
    assert made.problems[1].needs == (made.problems[0].question,)


def test_the_answer_asks_for_parts_their_needs_and_what_is_sought() -> None:
    made = schema(Decompose.answer())
    assert made["required"] == ["problems", "sought"]
    assert made["$defs"]["Problem"]["required"] == ["question", "needs"]


def test_an_objection_is_shown_only_where_there_is_one() -> None:
    first = Decompose(question="Who?", as_of="2026-11-15")
    again = Decompose(question="Who?", as_of="2026-11-15", objection="Leave out the cheese.", guidance="Be brief.")
    assert "objection" not in first.prompt().user
    assert "<<<objection>>>\nLeave out the cheese.\n<<<end objection>>>" in again.prompt().user
    assert "<<<guidance>>>\nBe brief.\n<<<end guidance>>>" in again.prompt().user
    assert "<<<as_of>>>\n2026-11-15\n<<<end as_of>>>" in first.prompt().user
    assert Decompose.role == "smart"


def test_past_runs_are_shown_only_where_there_are_any_and_as_hints() -> None:
    assert "past" not in TASK.prompt().user
    shown = TASK.model_copy(update={"past": (PAST,)}).prompt()
    assert '"answer": "Karin"' in shown.user.split("<<<past>>>")[1].split("<<<end past>>>")[0]
    assert '"days": 30' in shown.user
    assert "`past`" in shown.system
    assert "no evidence" in shown.system
