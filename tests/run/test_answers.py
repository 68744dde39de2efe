"""Answering a run from elsewhere: it goes on with the answer, and nobody is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import PersonAsked, PlanProposed
from deepdiver.core.record import RunStatus
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.gateway import Mode
from deepdiver.run.answers import (
    ACTIONS,
    answer_person,
    answered_request,
    human_request,
    open_question,
)
from deepdiver.store import CallState
from deepdiver.strategies.table import TABLE
from tests.strategies.rig import Rig


async def waiting(tmp_path: Path) -> Rig:
    rig = Rig(tmp_path, approve=True)
    assert (await rig.work()).run.status is RunStatus.WAITING
    return rig


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    with pytest.raises(UnknownNameError):
        open_question("nobody-knows-it", rig.store)
    with pytest.raises(UnknownNameError):
        answer_person("nobody-knows-it", {"action": "accept"}, rig.store)


async def test_a_run_that_waits_for_nobody_takes_no_answer(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    assert (await rig.work()).run.status is RunStatus.ANSWERED
    assert open_question(rig.run.id, rig.store) is None
    with pytest.raises(UsageError, match="does not wait"):
        answer_person(rig.run.id, {"action": "accept"}, rig.store)


@pytest.mark.parametrize("reply", [{}, {"action": "add"}, {"action": "delete"}, {"plan": "yes"}])
async def test_what_is_no_answer_to_a_plan_is_not_entered(
    tmp_path: Path, reply: dict[str, Any]
) -> None:
    rig = await waiting(tmp_path)
    with pytest.raises(UsageError, match="accept, edit, reject"):
        answer_person(rig.run.id, reply, rig.store)
    assert not [row for row in rig.store.journal.rows(rig.run.id) if row.kind == "human"]


async def test_the_plan_that_a_run_waits_with_can_be_seen_and_accepted(tmp_path: Path) -> None:
    rig = await waiting(tmp_path)
    shown = open_question(rig.run.id, rig.store)
    assert shown is not None
    assert shown["ask"] in ACTIONS
    assert shown["problems"]
    answer_person(rig.run.id, {"action": "accept"}, rig.store)
    (row,) = (row for row in rig.store.journal.rows(rig.run.id) if row.kind == "human")
    assert row.state is CallState.SETTLED

    asked = len(rig.of(PersonAsked))
    assert (await rig.work()).run.status is RunStatus.ANSWERED
    assert len(rig.of(PersonAsked)) == asked, "nobody was asked again"


async def test_an_edited_plan_is_the_plan(tmp_path: Path) -> None:
    rig = await waiting(tmp_path)
    own = "Who runs Holm Works?"
    answer_person(rig.run.id, {"action": "edit", "problems": [own]}, rig.store)
    assert (await rig.work()).run.status is not RunStatus.WAITING
    asked = [row for row in rig.store.journal.rows(rig.run.id) if row.kind == "human"]
    assert own in str([row.reply for row in asked])


async def test_a_rejected_plan_comes_back_as_another_question(tmp_path: Path) -> None:
    rig = await waiting(tmp_path)
    answer_person(rig.run.id, {"action": "reject", "reason": "ask about its owners"}, rig.store)
    assert (await rig.work()).run.status is RunStatus.WAITING
    assert open_question(rig.run.id, rig.store) is not None
    assert rig.of(PlanProposed)
    answer_person(rig.run.id, {"action": "accept"}, rig.store)
    assert (await rig.work()).run.status is RunStatus.ANSWERED


# A run that an earlier version began


def earlier(rig: Rig, *left_out: str, **shown: Any) -> dict[str, Any]:
    """Have the question that a run waits with be that of an earlier version, without a number."""
    question = open_question(rig.run.id, rig.store)
    assert question is not None
    before = {name: own for name, own in question.items() if name not in left_out} | shown
    event = PersonAsked(question=before, number=None).model_dump_json()
    rig.store.records.add_events(rig.run.id, [event])
    return before


async def test_another_plan_than_the_one_that_was_answered_is_shown_and_taken(
    tmp_path: Path,
) -> None:
    """Before, the answer to it had the number of another question, and it was shown for ever."""
    rig = await waiting(tmp_path)
    earlier(rig, problems=["Who was it?"])
    answer_person(rig.run.id, {"action": "accept"}, rig.store)
    assert (await rig.work()).run.status is RunStatus.WAITING, "nobody has accepted this one"
    shown = open_question(rig.run.id, rig.store)
    assert shown is not None
    assert shown["problems"] != ["Who was it?"]
    answer_person(rig.run.id, {"action": "accept"}, rig.store)
    assert (await rig.work()).run.status is RunStatus.ANSWERED
    again = await rig.session(mode=Mode.REPLAY).work(None, resumed=True)
    assert again.report is not None
    assert again.report.model_dump_json() == rig.store.records.report(rig.run.id)


@pytest.mark.parametrize("strategy", sorted(TABLE))
async def test_who_has_answered_a_plan_of_an_earlier_version_is_not_asked_again(
    tmp_path: Path, strategy: str
) -> None:
    rig = Rig(tmp_path, approve=True, strategy=strategy)
    assert (await rig.work()).run.status is RunStatus.WAITING
    before = earlier(rig, "queries", "about", "needs", ceiling="$9.0000")
    assert before.keys() >= {"ask", "question", "problems"}
    own = "Who runs Holm Works?"
    answer_person(rig.run.id, {"action": "edit", "problems": [own]}, rig.store)
    (row,) = rig.store.journal.rows(rig.run.id, "human")
    outcome = await rig.work()
    plans = [event.problems for event in rig.of(PlanProposed)]
    if outcome.run.status is RunStatus.WAITING:  # with its answer, for the person to review
        assert (open_question(rig.run.id, rig.store) or {}).get("ask") == "review_answer"
    assert rig.store.journal.rows(rig.run.id, "human") == [row]
    assert plans
    assert own in str([item.what for item in rig.store.journal.rows(rig.run.id)]) + str(
        rig.reasoner.asked
    )


async def test_an_answer_is_for_the_question_with_its_number(tmp_path: Path) -> None:
    rig = await waiting(tmp_path)
    shown = open_question(rig.run.id, rig.store) or {}
    assert [event.number for event in rig.of(PersonAsked)] == [0]
    answer_person(rig.run.id, {"action": "reject", "reason": "look at its owners"}, rig.store)
    run, store = rig.run.id, rig.store
    assert answered_request(run, shown, 0, store) == (human_request(shown, 0), True)
    assert answered_request(run, shown, 1, store) == (human_request(shown, 1), False)
    other = {**shown, "problems": ["Who was it?"]}
    assert answered_request(run, other, 0, store) == (human_request(other, 0), False)
    assert answered_request(run, {}, 0, store) == (human_request({}, 0), False)
    assert (await rig.work()).run.status is RunStatus.WAITING
    assert [event.number for event in rig.of(PersonAsked)] == [0, 1]
