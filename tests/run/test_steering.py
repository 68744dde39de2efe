"""Steering a run under way: it is heeded once, and the same again in a resume and a replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deepdiver.core.events import Event, PhaseStarted, Steered
from deepdiver.core.record import Finding, RunStatus, Source
from deepdiver.core.steering import Steering, SteeringKind
from deepdiver.errors import StoppedError, UnknownNameError, UsageError
from deepdiver.gateway import Mode
from deepdiver.run import Outcome, Session
from deepdiver.run.assemble import OwnParts
from deepdiver.run.egress import make_receipt
from deepdiver.run.steering import LONGEST, MOST, Ear, said_to, steer, steps_before
from deepdiver.store import CallState
from deepdiver.strategies.table import TABLE
from deepdiver.tasks import DecideAction
from tests.strategies.rig import Rig

STAFF = "How many people does Holm Works employ?"
LOOK = Steering(kind=SteeringKind.LOOK, text=STAFF)
IGNORE = Steering(kind=SteeringKind.IGNORE, text="doc:gazette")
NODES = {
    "popper": "generate_hypothesis",
    "iterative": "summarize",
    "orchestrated": "execute_search",
    "navigator": "analyzer_node",
    "overwatch": "gather_intelligence",
}
"""A node of each strategy in which it has begun to search, or is about to."""


async def work(
    rig: Rig, on_event: Callable[[Event], None], mode: Mode = Mode.LIVE, *, resumed: bool = False
) -> Outcome:
    """Work on a run, and tell of each event before anything else happens."""

    def take(event: Event) -> None:
        rig.events.append(event)
        on_event(event)

    own = OwnParts(reasoner=rig.reasoner, providers=[rig.provider])
    session = Session(rig.run, rig.settings, rig.store, on_event=take, mode=mode, own=own)
    return await session.work(None, resumed=resumed)


def saying(rig: Rig, node: str, *said: Steering) -> Callable[[Event], None]:
    """Return what says something to a run when it enters a node for the first time."""
    left = list(said)

    def take(event: Event) -> None:
        if isinstance(event, PhaseStarted) and event.phase == node:
            while left:
                steer(rig.run.id, left.pop(0), rig.store)

    return take


def nothing(event: Event) -> None:
    """Say nothing."""


# What cannot be said


def test_a_run_that_is_not_there_hears_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    with pytest.raises(UnknownNameError):
        steer("nobody-knows-it", LOOK, rig.store)


async def test_a_finished_run_hears_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await rig.work()
    with pytest.raises(UsageError, match="is finished"):
        steer(rig.run.id, LOOK, rig.store)
    assert said_to(rig.run.id, rig.store) == []


@pytest.mark.parametrize(
    ("text", "why"), [("", "say what"), (" \n ", "say what"), ("x" * (LONGEST + 1), "1,001")]
)
def test_what_says_nothing_or_too_much_is_refused(tmp_path: Path, text: str, why: str) -> None:
    rig = Rig(tmp_path)
    with pytest.raises(UsageError, match=why):
        steer(rig.run.id, LOOK.model_copy(update={"text": text}), rig.store)


def test_there_is_an_end_to_what_can_be_said(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    for number in range(MOST):
        steer(rig.run.id, LOOK.model_copy(update={"text": f"look {number}"}), rig.store)
    with pytest.raises(UsageError, match=f"{MOST} things"):
        steer(rig.run.id, LOOK, rig.store)
    said = said_to(rig.run.id, rig.store)
    assert [item.steering.text for item in said] == [f"look {number}" for number in range(MOST)]
    assert not any(item.heeded for item in said)


# Every strategy


@pytest.mark.parametrize("strategy", TABLE)
async def test_what_a_person_wants_to_know_too_is_looked_at(tmp_path: Path, strategy: str) -> None:
    rig = Rig(tmp_path, strategy=strategy)
    outcome = await work(rig, saying(rig, NODES[strategy], LOOK))
    assert outcome.error is None
    assert [event.text for event in rig.of(Steered)] == [STAFF]
    if strategy == "navigator":  # its reasoner writes the queries, and is shown what is open
        decided = [task for task in rig.reasoner.asked if isinstance(task, DecideAction)]
        assert STAFF in decided[-1].problems
        assert any(STAFF in task.unanswered for task in decided)
    else:
        assert STAFF in rig.provider.queries
    assert [item.heeded for item in said_to(rig.run.id, rig.store)] == [True]
    again = await work(rig, nothing, Mode.REPLAY, resumed=True)
    assert outcome.report is not None
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


@pytest.mark.parametrize("strategy", TABLE)
async def test_a_source_that_a_person_rules_out_is_nowhere_in_the_report(
    tmp_path: Path, strategy: str
) -> None:
    plain = await work(Rig(tmp_path / "without", strategy=strategy), nothing)
    assert plain.report is not None
    cited = plain.report.citations[0]

    rig = Rig(tmp_path, strategy=strategy)
    unwanted = Steering(kind=SteeringKind.IGNORE, text=cited.url, title=cited.title)
    outcome = await work(rig, saying(rig, NODES[strategy], unwanted))
    assert outcome.error is None
    report = outcome.report
    assert report is not None
    assert cited.url not in {item.url for item in report.citations}
    assert f"left out, as you asked: {cited.title}" in report.limits
    again = await work(rig, nothing, Mode.REPLAY, resumed=True)
    assert again.report is not None
    assert again.report.hash == report.hash


# Belief


async def test_a_hypothesis_is_believed_without_what_is_ruled_out(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await work(rig, saying(rig, "decide", IGNORE))
    assert outcome.report is not None
    stand_on = [
        outcome.ledger.get(Source, outcome.ledger.get(Finding, key).quotes[0].source).url
        for item in outcome.report.hypotheses
        for key in (*item.supporting, *item.refuting)
    ]
    assert stand_on
    assert "doc:gazette" not in stand_on


# Killed, resumed, replayed


async def test_a_run_that_is_killed_after_it_heard_hears_the_same_at_the_same_step(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    said = saying(rig, "gather_information", LOOK)

    def until_decided(event: Event) -> None:
        said(event)
        if isinstance(event, PhaseStarted) and event.phase == "decide":
            raise StoppedError("killed")

    stopped = await work(rig, until_decided)
    assert stopped.run.status is RunStatus.FAILED
    (row,) = rig.store.journal.rows(rig.run.id, "steer")
    assert row.state is CallState.SETTLED
    asked, first = list(rig.provider.queries), row.reply
    rig.events.clear()
    outcome = await work(rig, nothing, resumed=True)
    assert outcome.error is None
    assert [event.text for event in rig.of(Steered)] == [STAFF]
    (row,) = rig.store.journal.rows(rig.run.id, "steer")
    assert row.reply == first
    assert rig.provider.queries[: len(asked)] == asked
    assert not set(rig.provider.queries[len(asked) :]) & set(asked), "nothing is bought twice"


async def test_what_is_said_to_a_stopped_run_waits_for_its_next_new_step(tmp_path: Path) -> None:
    rig = Rig(tmp_path)

    def until_verified(event: Event) -> None:
        if isinstance(event, PhaseStarted) and event.phase == "verify_hypothesis":
            raise StoppedError("killed")

    await work(rig, until_verified)
    reached, asked = len(rig.path), list(rig.provider.queries)
    steer(rig.run.id, LOOK, rig.store)
    outcome = await work(rig, nothing, resumed=True)
    assert outcome.error is None
    (row,) = rig.store.journal.rows(rig.run.id, "steer")
    assert json.loads(row.reply or "")["value"]["step"] == reached + 1
    assert not set(rig.provider.queries[len(asked) :]) & set(asked), "its path is the same"
    again = await work(rig, nothing, Mode.REPLAY, resumed=True)
    assert outcome.report is not None
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


async def test_what_came_too_late_stays_unheeded_also_in_a_replay(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await work(rig, nothing)
    rig.store.runs.set_status(rig.run.id, RunStatus.RUNNING)  # as in the moment before it ended
    steer(rig.run.id, LOOK, rig.store)
    rig.store.runs.set_status(rig.run.id, outcome.run.status)
    again = await work(rig, nothing, Mode.REPLAY, resumed=True)
    assert again.error is None
    assert not rig.of(Steered)
    assert not any(item.heeded for item in said_to(rig.run.id, rig.store))


def test_a_replay_puts_nothing_on_record(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    steer(rig.run.id, LOOK, rig.store)
    assert Ear(rig.run.id, rig.store, Mode.REPLAY)(1) == []
    assert [item.heeded for item in said_to(rig.run.id, rig.store)] == [False]
    assert list(Ear(rig.run.id, rig.store, Mode.LIVE)(1)) == [LOOK]
    assert [item.heeded for item in said_to(rig.run.id, rig.store)] == [True]
    assert list(Ear(rig.run.id, rig.store, Mode.LIVE)(2)) == []


@pytest.mark.parametrize(
    ("story", "steps"),
    [("", 0), ("s", 0), ("spp", 0), ("sppes", 2), ("spppespes", 3), ("spespppesp", 3)],
)
def test_how_far_earlier_processes_came(story: str, steps: int) -> None:
    kinds = {"s": "run_started", "p": "phase_started", "e": "run_ended"}
    events = [
        (number, json.dumps({"at": "", "type": kinds[letter]}, separators=(",", ":")))
        for number, letter in enumerate(story, 1)
    ]
    assert steps_before(events) == steps


async def test_what_is_said_leaves_this_machine_with_nobody(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await work(rig, saying(rig, "generate_hypothesis", IGNORE))
    receipt = make_receipt(rig.run, rig.store, rig.settings)
    assert "person" not in json.dumps(receipt.get("hosts", ""))
