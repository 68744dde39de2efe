"""Answering a run from elsewhere: it goes on with the answer, and nobody is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import PersonAsked, PlanProposed
from deepdiver.core.record import RunStatus
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.run.answers import ACTIONS, answer_person, open_question
from deepdiver.store import CallState
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
