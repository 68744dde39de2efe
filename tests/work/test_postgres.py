"""The queue of many machines: by procrastinate, in the same transactions as the runs."""

from __future__ import annotations

import builtins
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.core.record import RunStatus
from deepdiver.errors import NewerSchemaError, StoreUnreachableError, UsageError
from deepdiver.run.lease import LEASE_SECONDS
from deepdiver.store.postgres import PostgresDatabase, PostgresStore, open_postgres
from deepdiver.work import Queue, open_queue
from deepdiver.work import postgres as module
from deepdiver.work.order import HIGHEST, LOWEST, Order
from deepdiver.work.postgres import QUEUE_SCHEMA, TURNS, _done, _migrations, _priority
from tests.patience import PATIENCE
from tests.postgres_server import Server


@pytest.fixture
def address(postgres: Server, database: str) -> str:
    return postgres.address(database)


@pytest.fixture
def far(address: str) -> Iterator[PostgresStore]:
    with closing(open_postgres(SecretStr(address))) as store:
        yield store


@pytest.fixture
def shared(far: PostgresStore) -> Queue:
    return open_queue(far)


class Later:
    """A clock that is ahead."""

    def __init__(self, seconds: float) -> None:
        self.now = time.monotonic() + seconds

    def monotonic(self) -> float:
        return self.now


def execute(address: str, statement: str) -> list[Any]:
    with psycopg.connect(address, options=f"-csearch_path=deepdiver,{QUEUE_SCHEMA}") as db:
        found = db.execute(statement)
        return found.fetchall() if found.description else []


def silence(address: str, seconds: float) -> None:
    """Have all workers been silent for some time."""
    ago = f"interval '{seconds} seconds'"
    execute(address, f"UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - {ago}")  # noqa: S608


def test_without_procrastinate_it_says_what_to_install(
    far: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any) -> Any:
        if name == "procrastinate":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UsageError, match="needs procrastinate: pip install"):
        open_queue(far)


def test_tables_of_a_newer_procrastinate_are_refused(shared: Queue, address: str) -> None:
    execute(address, f"INSERT INTO {QUEUE_SCHEMA}.version VALUES (999)")  # noqa: S608
    with closing(open_postgres(SecretStr(address))) as store, pytest.raises(NewerSchemaError):
        open_queue(store)


def side_by_side(address: str, *acts: Callable[[Queue], object]) -> list[BaseException]:
    """Do things at once, each in a thread with a store of its own; return their errors."""
    errors: list[BaseException] = []

    def do(act: Callable[[Queue], object]) -> None:
        try:
            with closing(open_postgres(SecretStr(address))) as store:
                act(open_queue(store))
        except BaseException as error:  # noqa: BLE001 returned
            errors.append(error)

    threads = [threading.Thread(target=do, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_many_may_make_the_tables_at_once(address: str) -> None:
    assert side_by_side(address, *[lambda queue: queue.put(Order(question="Who?"))] * 4) == []
    (made,) = execute(address, f"SELECT max(number) FROM {QUEUE_SCHEMA}.version")  # noqa: S608
    assert made == (len(_migrations()),)
    (jobs,) = execute(address, "SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'")
    assert jobs == (4,)


def test_the_run_and_its_job_are_there_together_or_not_at_all(
    shared: Queue, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any) -> None:
        raise psycopg.OperationalError("lost")

    monkeypatch.setattr(module.PostgresQueue, "_enter", refuse)
    monkeypatch.setattr("deepdiver.store.postgres.PATIENCE", 0.0)
    monkeypatch.setattr("deepdiver.store.postgres.PAUSE", 0.01)
    with pytest.raises(StoreUnreachableError):
        shared.put(Order(question="Who?"))
    assert execute(address, "SELECT * FROM runs") == []
    assert execute(address, "SELECT * FROM procrastinate_jobs") == []


def test_the_orders_of_a_worker_that_is_silent_are_taken_first(shared: Queue, address: str) -> None:
    lost = shared.put(Order(question="Who?"))
    dead = shared.hire("dead")
    assert dead.take() is not None
    shared.put(Order(question="What?", priority=HIGHEST))
    silence(address, LEASE_SECONDS - 10)
    worker = shared.hire("alive")
    worker.beat()
    taken = worker.take()
    assert taken is not None
    assert taken.run != lost
    silence(address, LEASE_SECONDS)
    worker.beat()
    taken = worker.take()
    assert taken is not None
    assert (taken.run, taken.attempts) == (lost, 2)
    dead.give_back(lost)  # it comes too late
    dead.finish(lost)
    assert worker.take() is None
    assert shared.owners()[""].running == 2


def test_after_an_outage_others_have_time_to_say_that_they_are_alive(
    shared: Queue, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.put(Order(question="Who?"))
    first, second = shared.hire("one"), shared.hire("two")
    assert first.take() is not None
    silence(address, 60)

    clock = Later(LEASE_SECONDS)
    monkeypatch.setattr(module, "time", clock)
    second.beat()  # the server is back, and this worker is the first
    assert second.take() is None
    first.beat()
    clock.now += module.GRACE_SECONDS
    second.beat()
    assert second.take() is None  # the other has said so
    silence(address, 60)
    second.beat()
    assert second.take() is not None


def test_a_worker_that_was_forgotten_is_entered_again(
    shared: Queue, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = shared.hire("w")
    silence(address, 2 * module.FORGET_SECONDS)
    shared.hire("other").beat()
    assert len(execute(address, "SELECT * FROM procrastinate_workers")) == 1

    monkeypatch.setattr(module, "time", Later(2 * module.FORGET_SECONDS))
    worker.beat()
    assert len(execute(address, "SELECT * FROM procrastinate_workers")) == 2
    run = shared.put(Order(question="Who?"))
    taken = worker.take()
    assert taken is not None
    assert taken.run == run


def test_what_has_ended_leaves_no_job_behind(shared: Queue, address: str) -> None:
    runs = [shared.put(Order(question="Who?")) for _ in range(3)]
    worker = shared.hire("w")
    for run in runs[:2]:
        worker.take()
        worker.finish(run)
    shared.cancel(runs[2])
    assert execute(address, "SELECT * FROM procrastinate_jobs") == []
    assert execute(address, "SELECT * FROM procrastinate_events") == []
    worker.leave()
    assert execute(address, "SELECT * FROM procrastinate_workers") == []


def jobs(address: str) -> list[Any]:
    return execute(address, "SELECT status FROM procrastinate_jobs")


@pytest.mark.parametrize("act", ["finish", "give_back"])
def test_an_order_that_comes_back_at_once_keeps_its_job(
    shared: Queue, address: str, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Another thread of the worker may take it as soon as the transaction has ended."""
    run, worker = shared.put(Order(question="Who?")), shared.hire("w")
    assert worker.take() is not None
    shared.store.runs.set_status(run, RunStatus.STOPPED)
    shared.put_again(run)
    committed, found = threading.Event(), list[Any]()
    commit = PostgresDatabase._commit

    def slow(self: PostgresDatabase, *given: Any) -> None:
        commit(self, *given)
        if threading.current_thread() is giving:
            committed.set()
            time.sleep(0.3)

    monkeypatch.setattr(PostgresDatabase, "_commit", slow)
    giving = threading.Thread(target=getattr(worker, act), args=(run,))
    giving.start()
    assert committed.wait(PATIENCE)
    found.append(worker.take())
    giving.join()
    assert found[0] is not None
    assert found[0].run == run
    worker.finish(run)
    assert jobs(address) == []


@pytest.mark.parametrize("act", ["finish", "give_back"])
def test_the_job_of_a_run_that_was_deleted_is_deleted(
    shared: Queue, address: str, act: str
) -> None:
    run, worker = shared.put(Order(question="Who?")), shared.hire("w")
    worker.take()
    shared.store.runs.delete(run, time.time())
    getattr(worker, act)(run)
    assert jobs(address) == []


def test_who_stops_resumes_and_ends_orders_at_once_does_not_wait_for_each_other(
    shared: Queue, address: str
) -> None:
    """All lock the run before its order, so the server never has to end one of them."""
    runs = [shared.put(Order(question="Who?")) for _ in range(4)]

    def steer(queue: Queue, act: str) -> None:
        for run in runs * 25:
            getattr(queue, act)(run)

    def work(queue: Queue, name: str) -> None:
        worker = queue.hire(name)
        for turn in range(60):
            if taken := worker.take():
                queue.store.runs.set_status(taken.run, RunStatus.STOPPED)
                (worker.finish if turn % 2 else worker.give_back)(taken.run)

    errors = side_by_side(
        address,
        lambda queue: work(queue, "one"),
        lambda queue: work(queue, "two"),
        lambda queue: steer(queue, "cancel"),
        lambda queue: steer(queue, "put_again"),
    )
    assert errors == []
    found = execute(
        address, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    )
    assert found == [(0,)]
    last = shared.hire("last")
    for run in runs:
        shared.put_again(run)
    taken = [last.take() for _ in range(5)]
    assert sorted(item.run for item in taken if item) == sorted(runs)


def test_no_two_workers_take_one_order(shared: Queue, address: str) -> None:
    runs = {shared.put(Order(question="Who?")) for _ in range(30)}
    found: list[str] = []

    def work(queue: Queue) -> None:
        worker = queue.hire("w")
        while taken := worker.take():
            found.append(taken.run)

    assert side_by_side(address, work, work, work, work) == []
    assert len(found) == 30
    assert set(found) == runs


def test_priorities_and_turns_fit_into_those_of_procrastinate() -> None:
    assert _priority(HIGHEST, 0) < module.FIRST
    assert _priority(LOWEST, TURNS) > -(2**31)
    assert _priority(1, TURNS * 5) > _priority(0, 1) > _priority(0, 2)


def test_a_connector_that_waited_would_be_noticed() -> None:
    import asyncio

    async def waits() -> None:
        await asyncio.sleep(0)

    coroutine = waits()
    with pytest.raises(AssertionError, match="waits for nothing"):
        _done(coroutine)
    coroutine.close()
