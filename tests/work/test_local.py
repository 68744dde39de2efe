"""The queue of one machine: a worker that dies is followed by another."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.run.lease import LEASE_SECONDS
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from deepdiver.work import Queue, open_queue
from deepdiver.work import rows as module
from deepdiver.work.order import Order
from tests.patience import PATIENCE


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(module, "time", made)
    return made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(tmp_path / "here")) as store:
        yield store


@pytest.fixture
def local(here: SqliteStore) -> Queue:
    return open_queue(here)


def test_a_worker_that_is_silent_loses_its_orders(local: Queue, clock: Time) -> None:
    run = local.put(Order(question="Who?"))
    first, second = local.hire("one"), local.hire("two")
    assert first.take() is not None
    clock.now += LEASE_SECONDS - 1
    assert second.take() is None
    clock.now += 2
    taken = second.take()
    assert taken is not None
    assert (taken.run, taken.attempts, taken.waited) == (run, 2, 0.0)
    first.give_back(run)  # it comes too late
    first.finish(run)
    assert local.owners()[""].running == 1


def test_a_worker_that_beats_keeps_its_orders_however_long_they_take(
    local: Queue, clock: Time
) -> None:
    local.put(Order(question="Who?"))
    first, second = local.hire("one"), local.hire("two")
    first.take()
    for _ in range(20):
        clock.now += LEASE_SECONDS - 1
        first.beat()
        assert second.take() is None


def test_a_lost_order_comes_before_those_that_wait(local: Queue, clock: Time) -> None:
    lost = local.put(Order(question="Who?"))
    local.hire("dead").take()
    local.put(Order(question="What?", priority=100))
    clock.now += LEASE_SECONDS + 1
    taken = local.hire("w").take()
    assert taken is not None
    assert taken.run == lost


def test_how_long_an_order_waited_counts_from_when_it_was_due(local: Queue, clock: Time) -> None:
    local.put(Order(question="Who?", not_before=clock.now + 100))
    clock.now += 107
    taken = local.hire("w").take()
    assert taken is not None
    assert taken.waited == pytest.approx(7.0)


def _take_and_die(home: Path) -> None:
    with closing(open_sqlite(home)) as store:
        taken = open_queue(store).hire("child").take()
        assert taken is not None
        os.kill(os.getpid(), signal.SIGKILL)


def test_an_order_that_a_killed_process_had_is_not_lost(
    local: Queue, here: SqliteStore, clock: Time
) -> None:
    run = local.put(Order(question="Who?"))
    child = multiprocessing.get_context("fork").Process(
        target=_take_and_die, args=(here.database.file.parent,)
    )
    child.start()
    child.join(PATIENCE)
    assert child.exitcode == -signal.SIGKILL
    worker = local.hire("w")
    assert worker.take() is None
    clock.now += LEASE_SECONDS + 1
    taken = worker.take()
    assert taken is not None
    assert (taken.run, taken.attempts) == (run, 2)
