"""The crew: runs side by side, errors of one, orders that come back, and draining."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import Event
from deepdiver.core.record import FINISHED, RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import (
    NoEvidenceError,
    RunBusyError,
    StoppedError,
    StoreError,
    UnknownNameError,
)
from deepdiver.gateway.gateway import REST_SECONDS
from deepdiver.run import Outcome
from deepdiver.run.session import Leave
from deepdiver.sample import LIBRARY
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from deepdiver.work import Crew, Load, Queue, open_queue
from deepdiver.work import crew as module
from deepdiver.work.order import Order, order_of
from tests.patience import PATIENCE

Work = Callable[..., Awaitable[Outcome]]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(tmp_path / "here")) as store:
        yield store


@pytest.fixture
def local(here: SqliteStore) -> Queue:
    return open_queue(here)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "here"})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.02)
    monkeypatch.setattr(module, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(module, "HELD_SECONDS", 0.0)


async def until(happens: Callable[[], object]) -> None:
    ends = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < ends, "it did not happen"
        await asyncio.sleep(0.01)


def scripted(monkeypatch: pytest.MonkeyPatch, work: Work) -> None:
    """Have runs do something else than research."""
    monkeypatch.setattr(module, "resume", work)


def ended(store: Any, run: str, status: RunStatus, error: Any = None) -> Outcome:
    store.runs.set_status(run, status)
    return Outcome(store.runs.get(run), None, Decimal(0), (), error)


def put(queue: Queue, count: int = 1, **fields: Any) -> list[str]:
    return [queue.put(Order(question=f"Who {number}?", **fields)) for number in range(count)]


async def test_a_run_is_researched_to_its_report(
    local: Queue, settings: Settings, own_home: Path
) -> None:
    mine = settings.model_copy(update={"documents": (LIBRARY,), "search": ("library",)})
    run = local.put(order_of("Who runs Svedjan Ost AB?", mine, not_before=0.0))
    heard: list[tuple[str, str]] = []

    def hear(of: str, event: Event) -> None:
        heard.append((of, event.type))

    async with Crew(local, settings, on_event=hear) as crew:
        await until(lambda: local.owners() == {})
    done = local.store.runs.get(run)
    assert done.status in FINISHED
    assert crew.counts == {"taken": 1, "taken_over": 0, "ended": 1, f"ended_{done.status}": 1}
    assert done.queued == ""
    assert done.settings["search"] == ["library"]
    assert local.store.records.report(run)
    assert (settings.home / "runs" / run / "report.md").is_file()
    assert heard[0] == (run, "run_started")
    assert heard[-1] == (run, "run_ended")
    (started, *_), *_ = [local.store.records.events(run)]
    assert '"resumed":false' in started[1]


async def test_so_many_runs_as_allowed_go_on_at_a_time_each_in_its_thread(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, seen = threading.Event(), {}
    runs = put(local, 5)

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        seen[run] = threading.current_thread().name
        await asyncio.to_thread(go.wait, PATIENCE)
        return ended(more["store"], run, RunStatus.ANSWERED)

    scripted(monkeypatch, work)
    async with Crew(local, settings, concurrency=3) as crew:
        await until(lambda: len(seen) == 3)
        await asyncio.sleep(0.1)
        assert crew.running == tuple(runs[:3]), "taken in the order of the queue"
        assert set(seen) == set(runs[:3]), "threads may begin in any order"
        assert set(seen.values()) == {"run"}
        assert local.owners() == {"": Load(2, 3)}
        go.set()
        await until(lambda: local.owners() == {})
    assert set(seen) == set(runs)
    assert crew.counts["ended"] == 5
    assert len(crew.waited) == 5


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NoEvidenceError("there is nothing to search"), "there is nothing to search"),
        (RuntimeError("a bug"), "internal error"),
    ],
    ids=["an error of the run", "a bug"],
)
async def test_the_error_of_a_run_is_on_its_record_and_the_others_go_on(
    local: Queue,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    said: str,
) -> None:
    bad, good = put(local, 2)

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        if run == bad:
            raise error
        return ended(more["store"], run, RunStatus.PARTIAL)

    scripted(monkeypatch, work)
    with caplog.at_level(logging.ERROR):
        async with Crew(local, settings, concurrency=1) as crew:
            await until(lambda: local.owners() == {})
    assert local.store.runs.get(bad).status is RunStatus.FAILED
    assert local.store.runs.get(good).status is RunStatus.PARTIAL
    (last,) = local.store.records.events(bad)
    assert said in last[1]
    assert crew.counts["ended_failed"] == crew.counts["ended_partial"] == 1
    assert ("a bug" in caplog.text) == isinstance(error, RuntimeError)


@pytest.mark.parametrize("told", ["raised", "in the outcome"])
@pytest.mark.parametrize(
    "error", [RunBusyError("held", holder="x"), StoreError("the server is away")], ids=str
)
async def test_a_run_that_another_process_holds_is_tried_again(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    (run,), tries = put(local), []

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        tries.append(run)
        if len(tries) < 3:
            if told == "raised":
                raise error
            return ended(more["store"], run, RunStatus.RUNNING, error)
        return ended(more["store"], run, RunStatus.ANSWERED)

    scripted(monkeypatch, work)
    async with Crew(local, settings) as crew:
        await until(lambda: local.owners() == {})
    assert tries == [run] * 3
    assert crew.counts["given_back"] == 2
    assert crew.counts["taken_over"] == 2
    assert local.store.runs.get(run).status is RunStatus.ANSWERED


@pytest.mark.parametrize(("died", "back"), [(True, 0), (False, 2)], ids=["died", "another holds"])
async def test_a_run_whose_worker_has_died_keeps_its_place_until_its_lease_is_over(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch, died: bool, back: int
) -> None:
    put(local, 2)
    if died:
        lost = local.hire("dead")
        assert lost.take() is not None
        lost.leave()
    else:
        monkeypatch.setattr(module, "MOST_ATTEMPTS", 1_000)
    tries: list[str] = []

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        tries.append(run)
        if len(tries) < 3:
            raise RunBusyError("held", holder="x")
        return ended(more["store"], run, RunStatus.ANSWERED)

    scripted(monkeypatch, work)
    monkeypatch.setattr(module, "HELD_SECONDS", PATIENCE if died else 0.0)
    async with Crew(local, settings, concurrency=1) as crew:
        await until(lambda: local.owners() == {})
    assert crew.counts["given_back"] == back
    assert (len(set(tries[:3])) == 1) is died  # where it is held, the other one comes first


async def test_a_run_that_waits_for_its_lease_goes_back_when_the_crew_is_drained(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,), tries = put(local), []
    lost = local.hire("dead")
    lost.take()
    lost.leave()

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        tries.append(run)
        raise RunBusyError("held", holder="x")

    scripted(monkeypatch, work)
    monkeypatch.setattr(module, "HELD_SECONDS", 10 * PATIENCE)
    async with Crew(local, settings) as crew:
        await until(lambda: len(tries) > 1)
    assert crew.counts["given_back"] == 1
    assert [item.run for item in local.waiting()] == [run]


async def test_a_run_that_ends_every_worker_fails_some_day(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = put(local)
    worker = local.hire("dead")
    for _ in range(module.MOST_ATTEMPTS):
        assert worker.take() is not None
        worker.leave()
    async with Crew(local, settings):
        await until(lambda: local.owners() == {})
    assert local.store.runs.get(run).status is RunStatus.FAILED
    (last,) = local.store.records.events(run)
    assert "20 workers have taken it, and none ended it" in last[1]


async def test_a_run_that_was_deleted_in_the_meantime_is_over(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(local)

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        more["store"].runs.delete(run, time.time())
        raise UnknownNameError(run)

    scripted(monkeypatch, work)
    async with Crew(local, settings) as crew:
        await until(lambda: crew.counts["ended"])
    assert local.store.runs.list_all() == []


async def test_the_settings_are_the_workers_with_the_budget_of_the_order(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(local, options={"budget": "0.25", "hold_uncertain": True})
    seen: list[Settings] = []

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        seen.append(mine)
        return ended(more["store"], run, RunStatus.ANSWERED)

    scripted(monkeypatch, work)
    async with Crew(local, settings):
        await until(lambda: local.owners() == {})
    (mine,) = seen
    assert mine.budget == Decimal("0.25")
    assert mine.hold_uncertain
    assert mine.home == settings.home


async def test_a_drained_crew_takes_no_order_and_gives_back_what_it_has(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, begun = put(local, 3), []

    async def work(run: str, mine: Settings, leave: asyncio.Event, **more: Any) -> Outcome:
        begun.append(run)
        await leave.wait()
        error = StoppedError("interrupted")
        return ended(more["store"], run, RunStatus.STOPPED, error)

    scripted(monkeypatch, work)
    async with Crew(local, settings, concurrency=2) as crew:
        await until(lambda: len(begun) == 2)
        assert crew.running == tuple(runs[:2])
        await asyncio.gather(crew.drain(), crew.drain())
        assert crew.draining
    assert crew.running == ()
    assert set(begun) == set(runs[:2])
    assert crew.counts["given_back"] == 2
    assert {item.run for item in local.waiting()} == set(runs)
    assert {run.status for run in local.store.runs.list_all()} == {RunStatus.QUEUED}


async def test_a_run_that_ends_while_the_crew_is_drained_has_ended(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,), begun = put(local), []

    async def work(run: str, mine: Settings, leave: asyncio.Event, **more: Any) -> Outcome:
        begun.append(run)
        await leave.wait()
        return ended(more["store"], run, RunStatus.ANSWERED)

    scripted(monkeypatch, work)
    async with Crew(local, settings):
        await until(lambda: begun)
    assert local.owners() == {}
    assert local.store.runs.get(run).status is RunStatus.ANSWERED


async def test_a_cancelled_order_is_stopped_and_does_not_come_back(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,), begun = put(local), []

    async def work(run: str, mine: Settings, leave: asyncio.Event, **more: Any) -> Outcome:
        begun.append(run)
        await leave.wait()
        return ended(more["store"], run, RunStatus.STOPPED, StoppedError("asked to"))

    scripted(monkeypatch, work)
    async with Crew(local, settings) as crew:
        await until(lambda: begun)
        assert not local.cancel(run)
        await until(lambda: local.owners() == {})
        assert crew.counts["ended_stopped"] == 1
    assert local.store.runs.get(run).status is RunStatus.STOPPED


async def test_a_run_that_its_own_process_cancels_stops_before_the_next_look(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GLANCE_SECONDS", 2 * PATIENCE)
    (run,), patience = put(local), list[float]()

    async def work(run: str, mine: Settings, leave: Leave, **more: Any) -> Outcome:
        patience.append(leave.patience)
        await leave.wait()
        patience.append(leave.patience)
        return ended(more["store"], run, RunStatus.STOPPED, StoppedError("asked to"))

    scripted(monkeypatch, work)
    async with Crew(local, settings) as crew:
        crew.stop(run)
        await until(lambda: patience)
        crew.stop("another")
        assert len(patience) == 1, "neither is in hand"
        local.cancel(run)
        await asyncio.to_thread(crew.stop, run)
        await until(lambda: local.owners() == {})
        crew.stop(run)
    assert patience == [REST_SECONDS, module.CANCEL_SECONDS]
    assert local.store.runs.get(run).status is RunStatus.STOPPED
    assert local.waiting() == []


async def test_a_run_that_a_person_stopped_does_not_come_back(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,) = put(local)

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        return ended(more["store"], run, RunStatus.STOPPED, StoppedError("it was asked to stop"))

    scripted(monkeypatch, work)
    async with Crew(local, settings):
        await until(lambda: local.owners() == {})
    assert local.store.runs.get(run).status is RunStatus.STOPPED
    assert local.waiting() == []


async def test_a_queue_that_does_not_answer_is_asked_again(
    local: Queue,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (run,) = put(local)
    worker = local.hire("w")
    failures = [StoreError("away"), StoreError("still away")]
    beats = [StoreError("no pulse")]
    take, beat = worker.take, worker.beat

    def sometimes(errors: list[StoreError], act: Callable[[], Any]) -> Callable[[], Any]:
        def do() -> Any:
            if errors:
                raise errors.pop()
            return act()

        return do

    monkeypatch.setattr(worker, "take", sometimes(failures, take))
    monkeypatch.setattr(worker, "beat", sometimes(beats, beat))
    monkeypatch.setattr(local, "hire", lambda name: worker)

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        return ended(more["store"], run, RunStatus.ANSWERED)

    scripted(monkeypatch, work)
    async with Crew(local, settings) as crew:
        began = crew.heard
        await until(lambda: local.owners() == {} and crew.heard > began)
    assert (failures, beats) == ([], [])
    assert "no order can be taken: still away" in caplog.text
    assert "the queue does not answer: no pulse" in caplog.text
    assert local.store.runs.get(run).status is RunStatus.ANSWERED


async def test_a_bug_of_the_queue_does_not_end_the_crew(
    local: Queue,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (run,), bugs = put(local), [RuntimeError("a bug")]
    worker = local.hire("w")
    take = worker.take

    def sometimes() -> Any:
        if bugs:
            raise bugs.pop()
        return take()

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        return ended(more["store"], run, RunStatus.ANSWERED)

    monkeypatch.setattr(worker, "take", sometimes)
    monkeypatch.setattr(local, "hire", lambda name: worker)
    scripted(monkeypatch, work)
    async with Crew(local, settings):
        await until(lambda: local.owners() == {})
    assert local.store.runs.get(run).status is RunStatus.ANSWERED
    assert "because of a bug in deepdiver" in caplog.text


async def test_the_heart_beats_on_when_a_run_ends_at_the_moment_it_is_cancelled(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue may name a run that the crew has let go since."""
    worker = local.hire("w")
    beats: list[float] = []

    def beat() -> list[str]:
        beats.append(time.monotonic())
        return ["a run that has just ended"]

    class Leaving(dict[str, Any]):
        """Knows a run when it is asked, and not any more when it is to give it."""

        def __contains__(self, name: object) -> bool:
            return True

    monkeypatch.setattr(worker, "beat", beat)
    monkeypatch.setattr(local, "hire", lambda name: worker)
    async with Crew(local, settings) as crew:
        crew._runs = Leaving()
        await until(lambda: len(beats) > 2)


async def test_a_run_that_comes_back_at_once_is_in_hand_again(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread of the first time says that it has ended after the second has begun."""
    (run,), tries, go = put(local), [], threading.Event()

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        tries.append(run)
        if len(tries) == 1:
            result = ended(more["store"], run, RunStatus.STOPPED, StoppedError("asked to"))
            local.put_again(run)
            return result
        await asyncio.to_thread(go.wait, PATIENCE)
        return ended(more["store"], run, RunStatus.ANSWERED)

    end = module._RunInHand.end

    def late(self: Any) -> None:
        if len(tries) == 1:
            late_ones.append(self)
        else:
            end(self)

    late_ones: list[Any] = []
    monkeypatch.setattr(module._RunInHand, "end", late)
    scripted(monkeypatch, work)
    async with Crew(local, settings) as crew:
        await until(lambda: len(tries) == 2)
        end(late_ones[0])
        await asyncio.sleep(0.1)
        assert list(crew.running) == [run]
        assert local.owners() == {"": Load(0, 1)}
        go.set()
        await until(lambda: local.owners() == {})
    assert list(crew.running) == []
    assert local.store.runs.get(run).status is RunStatus.ANSWERED


async def test_counts_of_many_threads_add_up(local: Queue, settings: Settings) -> None:
    crew = Crew(local, settings)

    def count() -> None:
        for _ in range(2_000):
            crew._count(ended=1)

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert crew.counts["ended"] == 16_000


async def test_who_is_behind_a_run_is_asked(
    local: Queue, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run,), asked = put(local), []

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return {"say": shown["ask"]}

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        asked.append(await more["ask"]({"ask": run}))
        return ended(more["store"], run, RunStatus.WAITING)

    scripted(monkeypatch, work)
    async with Crew(local, settings, ask=lambda run: ask):
        await until(lambda: local.owners() == {})
    assert asked == [{"say": run}]
    assert local.store.runs.get(run).status is RunStatus.WAITING


async def test_a_run_that_does_not_stop_is_left_to_another_worker(
    local: Queue,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (run,), begun, over = put(local), [], threading.Event()

    async def work(run: str, mine: Settings, **more: Any) -> Outcome:
        begun.append(run)
        await asyncio.to_thread(over.wait, PATIENCE)  # deaf
        raise StoreError("too late")

    scripted(monkeypatch, work)
    monkeypatch.setattr(module, "REST_SECONDS", 0.05)
    monkeypatch.setattr(module, "SAVING_SECONDS", 0.05)
    async with Crew(local, settings) as crew:
        await until(lambda: begun)
        await crew.drain()
        assert crew.running == (run,)
        taken = local.hire("next").take()
        assert taken is not None
        assert (taken.run, taken.attempts) == (run, 2)
        over.set()
        await until(lambda: crew.running == ())
    assert "1 runs did not stop in time" in caplog.text
    assert local.owners() == {"": Load(0, 1)}  # the other has it
