"""Watched runs that a worker attends to."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import load
from deepdiver.errors import DeepdiverError, StoppedError, StoreError, UsageError
from deepdiver.run.update_run import FRESH, UpdatePlan
from deepdiver.run.watch import Attempt, Watcher
from deepdiver.run.watch_list import Watch, timestamp
from deepdiver.store.sqlite import open_sqlite
from deepdiver.work import Order, Queue, open_queue
from deepdiver.work import rounds as module
from deepdiver.work.rounds import attend_due, attending, order_runs
from tests.patience import PATIENCE

LONG_AGO = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Watcher]:
    with closing(open_sqlite(tmp_path)) as store:
        yield Watcher(store, load({"home": tmp_path}), lambda watch, news, again: None)


def watched(watcher: Watcher, run: str, asked: str = LONG_AGO) -> Watch:
    made = Watch(run=run, question="Which?", every=60, base=run, asked=asked)
    watcher.watches.put(made)
    return made


def scripted(monkeypatch: pytest.MonkeyPatch, *outcomes: Any) -> list[str]:
    """Have rounds come to something, one after the other."""
    left, seen = list(outcomes), list[str]()

    async def attend(self: Watcher, watch: Watch) -> Attempt:
        seen.append(watch.run)
        outcome = left.pop(0) if left else {}
        if isinstance(outcome, Exception):
            raise outcome
        return Attempt(watch, **outcome)

    monkeypatch.setattr(Watcher, "attend", attend)
    return seen


async def test_the_trouble_of_one_watch_does_not_concern_the_others(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for run in ("r1", "r2", "r3", "r4", "r5"):
        watched(watcher, run)
    seen = scripted(
        monkeypatch,
        StoppedError("run r1 is not watched any more"),
        UsageError("r2 cannot be asked"),
        {"error": UsageError("r3 failed")},
        {"busy": True},
    )
    with caplog.at_level(logging.INFO):
        assert await attend_due(watcher) == 2
    assert seen == ["r1", "r2", "r3", "r4", "r5"]
    for told in ("r1 is not watched any more", "r2 cannot be asked", "r3 failed"):
        assert told in caplog.text


# -- the run of a round


@pytest.fixture
def queue(watcher: Watcher) -> Queue:
    return open_queue(watcher.store)


@pytest.fixture
def plan(watcher: Watcher) -> UpdatePlan:
    return UpdatePlan("r1", "Which?", watcher.settings.model_copy(update={"cache": FRESH}))


WATCH = Watch(run="r1", question="Which?", every=60, base="r1", asked=LONG_AGO)


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.STOPPED, RunStatus.WAITING])
async def test_a_run_that_came_to_nothing_is_trouble_and_is_put_back_when_it_is_time(
    queue: Queue, plan: UpdatePlan, status: RunStatus
) -> None:
    make, worker = order_runs(queue), queue.hire("w")
    assert await make(WATCH, plan, "new") is None
    assert worker.take() is not None
    queue.store.runs.set_status("new", status)
    worker.finish("new")
    with pytest.raises(DeepdiverError, match=f"run new is {status.value}"):
        await make(WATCH, plan, "new")
    assert queue.waiting() == []
    again = WATCH.model_copy(update={"trouble": "it failed", "retry": LONG_AGO})
    assert await make(again, plan, "new") is None
    assert [item.run for item in queue.waiting()] == ["new"]


async def test_the_run_of_a_round_is_an_order_of_the_owner_put_once(
    queue: Queue, plan: UpdatePlan
) -> None:
    make = order_runs(queue)
    queue.put(Order(question="Which?", owner="ann", run="r1"))
    for _ in range(3):
        assert await make(WATCH, plan, "new") is None
    assert [(item.run, item.owner) for item in queue.waiting()] == [("r1", "ann"), ("new", "ann")]
    run = queue.store.runs.get("new")
    assert run.question == "Which?"
    assert run.settings["cache"] == FRESH.model_dump(mode="json", exclude_defaults=True)


async def test_the_round_gets_the_run_when_it_has_ended(queue: Queue, plan: UpdatePlan) -> None:
    make, worker = order_runs(queue), queue.hire("w")
    await make(WATCH, plan, "new")
    worker.take()
    queue.store.runs.set_status("new", RunStatus.RUNNING)
    assert await make(WATCH, plan, "new") is None
    queue.store.runs.set_status("new", RunStatus.NO_EVIDENCE)
    outcome = await make(WATCH, plan, "new")
    assert outcome is not None
    assert (outcome.run.id, outcome.run.status) == ("new", RunStatus.NO_EVIDENCE)


async def test_only_what_is_due_is_attended_to(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched(watcher, "later", timestamp(datetime.now(UTC).timestamp()))
    watched(watcher, "now")
    seen = scripted(monkeypatch)
    assert await attend_due(watcher) == 1
    assert seen == ["now"]


def test_a_worker_looks_again_and_again_also_after_a_failure(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks, enough = [StoreError("the list is away"), None, None], threading.Event()

    async def look(_: Watcher) -> int:
        if not looks:
            enough.set()
        elif (error := looks.pop(0)) is not None:
            raise error
        return 0

    monkeypatch.setattr(module, "attend_due", look)
    with attending(watcher, 0.01):
        assert enough.wait(PATIENCE)
    assert "the watches cannot be read: the list is away" in caplog.text
    assert not any(thread.name == "watches" for thread in threading.enumerate())


def test_a_round_is_left_when_the_worker_ends(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, left = threading.Event(), threading.Event()

    async def endless(_: Watcher) -> int:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            left.set()
        return 0

    monkeypatch.setattr(module, "attend_due", endless)
    with attending(watcher):
        assert begun.wait(PATIENCE)
        assert not left.is_set()
    assert left.is_set()
