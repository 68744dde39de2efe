from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import wait
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from deepdiver import tasks
from deepdiver.core.events import PersonAsked, PhaseStarted, RunEnded, RunStarted
from deepdiver.core.record import RunStatus, Source
from deepdiver.errors import (
    CallError,
    CallFault,
    LostTextError,
    RunBusyError,
    StoppedError,
    StoreFullError,
)
from deepdiver.gateway import Mode
from deepdiver.run import lease
from deepdiver.run.assemble import OwnParts
from deepdiver.run.begin import new_run
from deepdiver.run.record import load_ledger
from deepdiver.run.session import Recorder, Session
from deepdiver.store.sqlite import FILE_NAME
from deepdiver.strategies.table import TABLE
from deepdiver.tools.registry import Choice
from tests.patience import PATIENCE
from tests.servers.brain import made_search, popper_brain
from tests.servers.scripted import ScriptedServer
from tests.strategies.rig import CorpusProvider, Rig, ScriptedReasoner, refuse


async def test_a_run_that_is_asked_to_stop_stops_and_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.05)
    rig = Rig(tmp_path)

    async def slow(task: Any) -> Any:
        rig.store.leases.ask_to_stop(rig.run.id)
        await asyncio.sleep(PATIENCE)

    class Slow(ScriptedReasoner):
        async def perform(self, task: tasks.Task[Any]) -> Any:
            return await (
                slow(task) if isinstance(task, tasks.Decompose) else super().perform(task)
            )

    quick, rig.reasoner = rig.reasoner, Slow()
    outcome = await rig.work()
    assert isinstance(outcome.error, StoppedError)
    assert "asked to stop" in str(outcome.error)
    assert rig.store.runs.get(rig.run.id).status is RunStatus.STOPPED
    rig.reasoner = quick
    assert (await rig.work()).run.status is RunStatus.ANSWERED


async def test_a_run_that_another_process_took_over_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "HEARTBEAT_SECONDS", 0.05)
    rig = Rig(tmp_path)
    other = f"elsewhere:{os.getpid()}:abc"

    class Slow(ScriptedReasoner):
        async def perform(self, task: tasks.Task[Any]) -> Any:
            if not isinstance(task, tasks.Decompose):
                return await super().perform(task)
            # We were silent for long enough, and somebody else resumes the run.
            later = time.time() + lease.LEASE_SECONDS + 1
            rig.store.leases.take(rig.run.id, other, later, 3_600)
            return await asyncio.sleep(PATIENCE)

    rig.reasoner = Slow()
    outcome = await rig.work()
    assert isinstance(outcome.error, RunBusyError)
    assert f"was taken over by {other}" in str(outcome.error)
    assert "asked to stop" not in str(outcome.error)
    assert outcome.report is None
    # What is on record is what the other process has written.
    assert outcome.run.status is rig.store.runs.get(rig.run.id).status is RunStatus.RUNNING
    assert rig.of(RunEnded)
    assert "run_ended" not in str(rig.store.records.events(rig.run.id))
    assert rig.store.leases.holder(rig.run.id) == other


async def test_a_run_that_is_interrupted_after_its_heart_failed_was_not_asked_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thinking = asyncio.Event()

    async def fail(self: lease.Lease) -> lease.LeaseEnd:
        raise OSError("a mistake of ours")

    class Stuck(ScriptedReasoner):
        async def perform(self, task: tasks.Task[Any]) -> Any:
            thinking.set()
            await asyncio.sleep(PATIENCE)

    monkeypatch.setattr(lease.Lease, "keep", fail)
    rig = Rig(tmp_path)
    rig.reasoner = Stuck()
    work = asyncio.ensure_future(rig.work())
    await thinking.wait()
    work.cancel()
    assert str((await work).error) == f"run {rig.run.id} stopped: interrupted"


def lose_texts(rig: Rig, statement: str) -> None:
    """Change or delete the saved texts, as somebody with a tool for databases could."""
    with closing(sqlite3.connect(rig.settings.home / FILE_NAME)) as db, db:
        db.execute(statement)


DAMAGED = "UPDATE blobs SET bytes = x'00'"
SWAPPED = "UPDATE blobs SET bytes = (SELECT min(bytes) FROM blobs)"


@pytest.mark.parametrize(
    ("mode", "statement", "what"),
    [
        (Mode.REPLAY, "DELETE FROM blobs", "is missing"),
        (Mode.REPLAY, DAMAGED, "is damaged"),
        (Mode.REPLAY, SWAPPED, "is damaged"),
        (Mode.LIVE, DAMAGED, "is damaged"),
    ],
    ids=["deleted", "damaged", "swapped", "damaged and resumed"],
)
async def test_a_text_that_is_lost_is_said_to_be(
    tmp_path: Path, mode: Mode, statement: str, what: str
) -> None:
    rig = Rig(tmp_path)
    assert (await rig.work()).error is None
    lose_texts(rig, statement)
    outcome = await rig.work(mode=mode)
    error = outcome.error
    assert isinstance(error, LostTextError)
    (source,) = [source for source in load_sources(rig) if source.snapshot == error.text]
    line = str(error)
    assert line.startswith(f"{source.title} ({source.url}) cannot be read again: ")
    assert f"the saved text {error.text[:12]} of run {rig.run.id} {what} in " in line
    assert "restore it from a copy, or ask the question again in a new run" in line


def load_sources(rig: Rig) -> list[Source]:
    return list(load_ledger(rig.store, rig.run.id).of(Source).values())


async def test_a_cancelled_run_is_saved_as_stopped(tmp_path: Path) -> None:
    rig, thinking = Rig(tmp_path), asyncio.Event()

    class Stuck(ScriptedReasoner):
        async def perform(self, task: tasks.Task[Any]) -> Any:
            thinking.set()
            await asyncio.sleep(PATIENCE)

    rig.reasoner = Stuck()
    work = asyncio.ensure_future(rig.work())
    await thinking.wait()
    work.cancel()
    outcome = await work
    assert isinstance(outcome.error, StoppedError)
    assert rig.store.runs.get(rig.run.id).status is RunStatus.STOPPED


async def test_a_run_that_needs_a_person_waits_and_goes_on_with_the_answer(tmp_path: Path) -> None:
    rig = Rig(tmp_path, approve=True)
    waiting = await rig.work()
    assert waiting.run.status is RunStatus.WAITING
    assert waiting.error is None
    told = rig.of(PersonAsked)
    assert [event.question["ask"] for event in told] == ["approve_plan"]
    asked: list[dict[str, Any]] = []

    async def accept(shown: dict[str, Any]) -> dict[str, Any]:
        asked.append(shown)
        return {"action": "accept"}

    assert (await rig.work(ask=accept)).run.status is RunStatus.ANSWERED
    assert asked == [told[0].question]
    assert len(rig.of(PersonAsked)) == 2, "when it began to wait, and when somebody was there"


async def test_what_a_person_said_is_never_asked_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path, approve=True)

    async def accept(shown: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept"}

    first = await rig.work(ask=accept)
    again = await rig.work(mode=Mode.REPLAY)
    assert first.report is not None
    assert again.report is not None
    assert again.report.hash == first.report.hash


async def test_a_replay_writes_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    await rig.work()
    before = (
        rig.store.records.events(rig.run.id),
        rig.store.records.ledger(rig.run.id),
        rig.store.journal.rows(rig.run.id),
    )
    rig.provider.queries.clear()
    await rig.work(mode=Mode.REPLAY)
    after = (
        rig.store.records.events(rig.run.id),
        rig.store.records.ledger(rig.run.id),
        rig.store.journal.rows(rig.run.id),
    )
    assert before == after
    assert rig.provider.queries == []


async def test_a_run_tells_its_beginning_and_its_end(tmp_path: Path) -> None:
    rig = Rig(tmp_path, budget="2.50")
    outcome = await rig.work()
    (started,), (ended,) = rig.of(RunStarted), rig.of(RunEnded)
    assert (started.ceiling, started.budget) == (Decimal(0), Decimal("2.50"))
    assert started.reasoner == "scripted reasoner"
    assert outcome.report is not None
    assert ended.report_hash == outcome.report.hash
    assert rig.events[0] == started
    assert rig.events[-1] == ended
    saved = [json.loads(text) for _, text in rig.store.records.events(rig.run.id)]
    assert [event["type"] for event in saved] == [event.type for event in rig.events]


@pytest.mark.parametrize("strategy", sorted(TABLE))
async def test_whoever_sees_that_a_run_has_ended_finds_its_last_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    """A reader who saw the status first would go without ever hearing how it ended."""
    rig = Rig(tmp_path, strategy=strategy)
    runs, seen = rig.store.runs, dict[RunStatus, bool]()
    set_status = runs.set_status

    def note(run: str, status: RunStatus, events: Sequence[str] = ()) -> None:
        set_status(run, status, events)
        told = [json.loads(text) for _, text in rig.store.records.events(run)]
        seen[status] = any(
            event["type"] == "run_ended" and event["status"] == status for event in told
        )

    monkeypatch.setattr(runs, "set_status", note)
    outcome = await rig.work()
    assert seen == {RunStatus.RUNNING: False, outcome.run.status: True}
    assert runs.get(rig.run.id).status is outcome.run.status


async def test_a_full_disk_at_the_end_does_not_hide_what_ended_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path)
    set_status = rig.store.runs.set_status

    def fail(run: str, status: RunStatus, events: Sequence[str] = ()) -> None:
        if events:
            raise StoreFullError("the disk is full")
        set_status(run, status)

    monkeypatch.setattr(rig.store.runs, "set_status", fail)
    outcome = await rig.work()
    assert isinstance(outcome.error, StoreFullError)
    assert outcome.report is not None
    saved = [text for _, text in rig.store.records.events(rig.run.id)]
    assert rig.store.runs.get(rig.run.id).status is RunStatus.RUNNING
    assert not any('"run_ended"' in text for text in saved), "neither was stored without the other"


async def test_the_beginning_says_what_is_left_out_and_what_has_no_price(tmp_path: Path) -> None:
    rig = Rig(tmp_path, prices={})
    choice = Choice((rig.provider,), left_out=("searxng: set SEARXNG_URL",))
    await rig.session(choice=choice).work(None, resumed=False)
    (started,) = rig.of(RunStarted)
    assert started.left_out == ("searxng: set SEARXNG_URL",)
    assert started.unpriced == ("corpus",)
    assert started.spent == 0


async def test_a_resumed_run_begins_with_what_was_spent(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    call = {"kind": "search", "provider": "corpus", "what": "q", "request": "{}"}
    rig.store.journal.reserve(rig.run.id, "k", **call, worst=Decimal("0.30"), now=1.0)
    rig.store.journal.mark_sent(rig.run.id, "k", 2.0)
    rig.store.journal.settle(rig.run.id, "k", "[]", Decimal("0.12"), 3.0)
    await rig.session().work(None, resumed=True)
    (started,) = rig.of(RunStarted)
    assert (started.resumed, started.spent) == (True, Decimal("0.12"))


async def test_a_budget_that_is_spent_ends_in_a_report_that_says_why(tmp_path: Path) -> None:
    rig = Rig(tmp_path, prices={"corpus": {"call": "0.01"}}, budget="0.02")
    provider = rig.provider
    search = provider.search

    async def priced(query: str, limit: int, gateway: Any) -> Any:
        from deepdiver.gateway import Reply, Request

        async def do() -> Reply:
            return Reply([], Decimal("0.01"))

        paid = Request("search", "corpus", f"pay {query}", {"pay": query}, worst=Decimal("0.01"))
        await gateway.call(paid, do)
        return await search(query, limit, gateway)

    provider.search = priced  # type: ignore[method-assign]
    outcome = await rig.work()
    assert outcome.cost <= Decimal("0.02")
    assert outcome.report is not None
    assert any("budget" in line for line in outcome.report.limits)


def test_events_reach_the_store_in_their_order(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    told: list[Any] = []
    recorder = Recorder(rig.store, rig.run.id, told.append)
    for number in range(129):
        recorder(RunEnded(run=str(number), status=RunStatus.FAILED, cost=Decimal(0)))
    last = RunEnded(run="129", status=RunStatus.FAILED, cost=Decimal(0))
    recorder.end(last, RunStatus.FAILED)
    assert [event.run for event in told] == [str(number) for number in range(130)]
    assert all(event.at for event in told)
    saved = [json.loads(text)["run"] for _, text in rig.store.records.events(rig.run.id)]
    assert saved == [str(number) for number in range(130)]


class Gate:
    """Records of a store that take events when the test wants, or refuse them."""

    def __init__(self, records: Any, errors: Sequence[Exception] = ()) -> None:
        self._records, self._errors = records, iter(errors)
        self.asked, self.open = threading.Event(), threading.Event()
        self.batches: list[int] = []

    def add_events(self, run: str, events: Sequence[str]) -> None:
        self.asked.set()
        assert self.open.wait(PATIENCE)
        if (error := next(self._errors, None)) is not None:
            raise error
        self.batches.append(len(events))
        self._records.add_events(run, events)


def phases(*names: str) -> list[PhaseStarted]:
    return [PhaseStarted(phase=name, iteration=1) for name in names]


def saved_phases(rig: Rig) -> list[str]:
    events = [json.loads(text) for _, text in rig.store.records.events(rig.run.id)]
    return [event.get("phase", event["type"]) for event in events]


def test_a_run_does_not_wait_until_its_events_are_stored(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    gate = Gate(rig.store.records)
    recorder = Recorder(replace(rig.store, records=cast("Any", gate)), rig.run.id, None)
    for event in phases("a", "b", "c"):
        recorder(event)
        assert gate.asked.wait(PATIENCE)
    assert saved_phases(rig) == []
    gate.open.set()
    recorder.flush()
    assert saved_phases(rig) == ["a", "b", "c"]
    assert gate.batches == [1, 2], "what came meanwhile is stored together"
    recorder.flush()
    assert gate.batches == [1, 2], "there is nothing left"


def test_a_question_is_stored_before_anybody_is_told_of_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    told: list[list[str]] = []
    recorder = Recorder(rig.store, rig.run.id, lambda _: told.append(saved_phases(rig)))
    recorder(PersonAsked(question={"ask": "review_answer"}, number=0))
    assert told == [["person_asked"]]


def test_the_last_event_comes_after_those_that_are_being_stored(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    gate = Gate(rig.store.records)
    recorder = Recorder(replace(rig.store, records=cast("Any", gate)), rig.run.id, None)
    recorder(phases("a")[0])
    assert gate.asked.wait(PATIENCE)
    last = RunEnded(run=rig.run.id, status=RunStatus.STOPPED, cost=Decimal(0))
    ending = threading.Thread(target=recorder.end, args=(last, RunStatus.STOPPED))
    ending.start()
    ending.join(0.1)
    assert rig.store.runs.get(rig.run.id).status is not RunStatus.STOPPED
    gate.open.set()
    ending.join(PATIENCE)
    assert saved_phases(rig) == ["a", "run_ended"]
    assert rig.store.runs.get(rig.run.id).status is RunStatus.STOPPED


def test_events_that_could_not_be_stored_are_told_of_and_stored_later(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    gate = Gate(rig.store.records, [StoreFullError("no room"), StoreFullError("nor now")])
    gate.open.set()
    recorder = Recorder(replace(rig.store, records=cast("Any", gate)), rig.run.id, None)
    a, b, c = phases("a", "b", "c")
    recorder(a)
    assert recorder._writing is not None
    wait([recorder._writing])
    with pytest.raises(StoreFullError, match="no room"):
        recorder(b)
    with pytest.raises(StoreFullError, match="nor now"):
        recorder.flush()
    with pytest.raises(StoreFullError, match="nor now"):  # nobody knows who has heard of it
        recorder(c)
    last = RunEnded(run=rig.run.id, status=RunStatus.FAILED, cost=Decimal(0))
    recorder.end(last, RunStatus.FAILED)
    assert saved_phases(rig) == ["a", "b", "c", "run_ended"]


def test_who_has_left_a_run_stores_no_more_of_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    gate = Gate(rig.store.records)
    recorder = Recorder(replace(rig.store, records=cast("Any", gate)), rig.run.id, None)
    a, b = phases("a", "b")
    recorder(a)
    assert gate.asked.wait(PATIENCE)
    recorder(b)
    recorder.leave()
    gate.open.set()
    recorder.flush()
    recorder.end(RunEnded(run="", status=RunStatus.STOPPED, cost=Decimal(0)), RunStatus.STOPPED)
    assert saved_phases(rig) == ["a"]


async def test_many_runs_in_one_process_do_not_mix(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    runs = [new_run(f"Who owns Holm Works {n}?", rig.settings, rig.store) for n in range(10)]

    async def one(run: Any) -> Any:
        session = Session(
            run,
            rig.settings,
            rig.store,
            own=OwnParts(reasoner=ScriptedReasoner(), providers=[rig.provider]),
        )
        return await session.work(None, resumed=False)

    outcomes = await asyncio.gather(*(one(run) for run in runs))
    assert [outcome.report.question for outcome in outcomes] == [run.question for run in runs]
    assert {outcome.run.status for outcome in outcomes} == {RunStatus.ANSWERED}


async def test_a_model_that_is_not_there_ends_the_run_and_a_resume_asks_it_anew(
    tmp_path: Path,
) -> None:
    prices: dict[str, Any] = {"corpus": {}, "openai:made": {}}
    rig = Rig(
        tmp_path, model="openai:made", prices=prices, urls={"openai": "http://127.0.0.1:9/v1"}
    )
    first = await Session(
        rig.run, rig.settings, rig.store, own=OwnParts(providers=[rig.provider])
    ).work(None, resumed=False)
    assert isinstance(first.error, CallError)
    assert first.error.fault is CallFault.UNREACHED
    assert rig.store.runs.get(rig.run.id).status is RunStatus.FAILED
    with ScriptedServer(popper_brain(), made_search()) as server:
        mine = rig.settings.model_copy(update={"urls": {"openai": server.openai}})
        again = await Session(
            rig.run, mine, rig.store, own=OwnParts(providers=[rig.provider])
        ).work(None, resumed=True)
    assert again.error is None
    assert again.report is not None


async def test_an_outcome_says_how_it_ended_and_what_could_not_be_done(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    unsearched = await Rig(tmp_path / "a", provider=provider).work()
    assert unsearched.headline == "Could not search"
    assert any(line.startswith("corpus could not search") for line in unsearched.limits)
    answered = await Rig(tmp_path / "b").work()
    assert answered.report is not None
    assert (answered.headline, answered.limits) == ("Answered", answered.report.limits)
    refused = await Rig(tmp_path / "c", ScriptedReasoner(decompose=refuse)).work()
    assert (refused.headline, refused.limits) == ("", ("the key was refused",))
    assert refused.error is not None
    assert refused.error.exit_code == 2


async def test_a_run_that_is_to_leave_waits_for_what_it_has_sent_and_can_go_on(
    tmp_path: Path,
) -> None:
    rig, leave = Rig(tmp_path), asyncio.Event()

    class Slow(CorpusProvider):
        async def search(self, query: str, limit: int, gateway: Any) -> Any:
            leave.set()
            return await super().search(query, limit, gateway)

    session = rig.session(choice=Choice((Slow(),)))
    outcome = await session.work(None, resumed=False, leave=leave)
    assert str(outcome.error) == f"run {rig.run.id} stopped: interrupted"
    assert rig.store.runs.get(rig.run.id).status is RunStatus.STOPPED
    assert outcome.uncertain == ()
    assert (await rig.work()).run.status is RunStatus.ANSWERED
