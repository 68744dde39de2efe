"""The queue of many machines, on PostgreSQL, by procrastinate.

Procrastinate has the jobs: which one is next, which worker has it, who of them is alive. A job is
the id of a run; whatever else is known of an order is in its row (`rows`). Both change in one
transaction, so its statements are run on our connections. Priority and turn of an order are the
priority of its job.
"""

from __future__ import annotations

import functools
import json
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import override

from deepdiver.core.record import RunStatus
from deepdiver.errors import UnknownNameError, UsageError
from deepdiver.run.lease import HEARTBEAT_SECONDS, LEASE_SECONDS
from deepdiver.store.postgres import SCHEMA, PostgresStore, patient
from deepdiver.store.sql import Session
from deepdiver.work.queue import Queue, Taken, Worker
from deepdiver.work.rows import (
    ALONE,
    FRESH_START,
    PUT,
    TAKEN,
    OrderRows,
    read_runs_to_stop,
    runs_to_stop,
    set_status,
)

if TYPE_CHECKING:
    from procrastinate.jobs import Job
    from procrastinate.manager import JobManager

QUEUE_SCHEMA = "deepdiver_queue"
"""The schema of procrastinate's tables."""
LOCK = 0x44445651
"""The first half of the advisory lock for migrating them."""
JOBS = "runs"
"""The name of the queue in procrastinate."""
TURNS = 2**22
"""Turns within a priority: more than orders can wait. Priorities from -100 to 100 times this many
fit the 32 bits of procrastinate's."""
FIRST = 2**31 - 1
"""The priority of a job whose worker has died."""
NO_JOB = 0
"""The number of no job: procrastinate counts from 1."""
AT_ONCE = datetime.fromtimestamp(0, UTC)
"""A time that is past by every clock."""
OUTAGE_SECONDS = LEASE_SECONDS - 2 * HEARTBEAT_SECONDS
"""If the server was away for longer, workers that are alive may seem to have died."""
GRACE_SECONDS = 3 * HEARTBEAT_SECONDS
"""Then they are given the time to say that they are."""
FORGET_SECONDS = 3_600.0
"""A worker that has been silent for this long is taken off the list."""

T = TypeVar("T")


def open_postgres_queue(store: PostgresStore) -> Queue:
    """Return the queue of a store, and make its tables if they are missing.

    Raises:
        StoreError: If they cannot be made.
        UsageError: If procrastinate is not installed.
    """
    _load()
    store.database.migrate(QUEUE_SCHEMA, _migrations(), LOCK)
    return patient(PostgresQueue)(store)


class PostgresQueue(OrderRows):
    """A queue in a PostgreSQL store; see `open_postgres_queue`."""

    def __init__(self, store: PostgresStore) -> None:
        """Use the queue of a store, whose tables are there."""
        super().__init__(store, store.database)

    @override
    def hire(self, name: str) -> Worker:
        with self.database.write(durable=False) as db:
            number = _done(_jobs(db).register_worker())
        return patient(_PostgresWorker)(self, name, number)

    @override
    def _enter(
        self, db: Session, run: str, priority: int, turn: int, not_before: float | None
    ) -> None:
        from procrastinate.jobs import Job

        job = Job(
            queue=JOBS,
            priority=_priority(priority, turn),
            lock=None,
            queueing_lock=run,
            task_name="research",
            task_kwargs={"run": run},
            scheduled_at=None if not_before is None else datetime.fromtimestamp(not_before, UTC),
        )
        _done(_jobs(db).defer_job_async(job))

    @override
    def _withdraw(self, db: Session, run: str) -> bool:
        jobs = _jobs(db)
        waiting = _done(jobs.list_jobs_async(queue=JOBS, queueing_lock=run, status="todo"))
        return any(
            _done(jobs.cancel_job_by_id_async(job.id, delete_job=True))
            for job in waiting
            if job.id is not None
        )


_GIVEN = (
    f"UPDATE orders SET state = ?, due = ?, {FRESH_START} "  # noqa: S608 no input
    "WHERE run = ? AND worker = ? AND state = ? RETURNING priority, turn"
)


class _PostgresWorker(Worker):
    def __init__(self, queue: PostgresQueue, name: str, number: int) -> None:
        self._queue, self._database, self._name = queue, queue.database, name
        self._number = number
        self._held: dict[str, int] = {}
        """The jobs of the runs that it has taken."""
        self._lock = threading.Lock()
        """An order that one thread gives back can be taken by another at once: it has its job then,
        which the first must not forget."""
        self._beaten, self._looks_from = time.monotonic(), 0.0

    @override
    def take(self) -> Taken | None:
        while True:
            with self._lock, self._database.write() as db:
                job = _done(_jobs(db).fetch_job([JOBS], self._number))
                if job is None or job.id is None:
                    return None
                if taken := self._enter(db, str(job.task_kwargs["run"])):
                    self._held[taken.run] = job.id
                    return taken
                _end(db, job.id)  # its run was deleted

    def _enter(self, db: Session, run: str) -> Taken | None:
        now = self._queue.now(db)
        found = db.execute(
            "UPDATE orders SET state = ?, worker = ?, attempts = attempts + 1, "  # noqa: S608 no input
            f"taken = coalesce(taken, ?), {FRESH_START} WHERE run = ? AND state IN (?, ?) "
            "RETURNING owner, options, attempts, taken - due",
            (TAKEN, self._name, now, run, PUT, TAKEN),
        ).fetchone()
        if found is None:
            return None
        owner, options, attempts, waited = found
        return Taken(run, owner, json.loads(options), attempts, max(0.0, waited))

    @override
    def beat(self) -> list[str]:
        """See `Worker`; puts the jobs of workers that have died back, before all others.

        Not after an outage, until the others have had the time to say that they are alive.
        """
        with self._database.write(durable=False) as db:
            jobs, now = _jobs(db), time.monotonic()
            if now - self._beaten > FORGET_SECONDS:
                self._number = _done(jobs.register_worker())
            if now - self._beaten > OUTAGE_SECONDS:
                self._looks_from = now + GRACE_SECONDS
            _done(jobs.update_heartbeat(self._number))
            if now >= self._looks_from:
                silent = jobs.get_stalled_jobs(queue=JOBS, seconds_since_heartbeat=LEASE_SECONDS)
                _put_first(db, _done(silent))
                _done(jobs.prune_stalled_workers(FORGET_SECONDS))
            stop = runs_to_stop(db, self._name)
        self._beaten = now
        return stop

    @override
    def to_stop(self) -> list[str]:
        return read_runs_to_stop(self._database, self._name)

    @override
    def finish(self, run: str) -> None:
        def end(db: Session, job: int) -> None:
            if self._queue.end(db, run, self._name):
                _end(db, job)

        self._let_go(run, end, alone=ALONE)

    @override
    def give_back(self, run: str, seconds: float = 0.0) -> None:
        def give(db: Session, job: int) -> None:
            due = self._queue.now(db) + seconds
            row = db.execute(_GIVEN, (PUT, due, run, self._name, TAKEN)).fetchone()
            if row is not None:
                when = datetime.fromtimestamp(due, UTC)
                _done(_jobs(db).retry_job_by_id_async(job, when, priority=_priority(*row)))
                set_status(db, run, RunStatus.QUEUED)

        self._let_go(run, give)

    def _let_go(self, run: str, act: Callable[[Session, int], None], alone: str = "") -> None:
        """Do something with a run and its job, after which the job may be another worker's.

        The run is locked before its order, as everywhere, so that no two wait for each other.
        """
        with self._lock:
            job = self._held.get(run, NO_JOB)
            try:
                with self._database.write(run, alone=alone) as db:
                    act(db, job)
            except UnknownNameError:  # it was deleted, and its order with it
                with self._database.write() as db:
                    _end(db, job)
            self._held.pop(run, None)

    @override
    def leave(self) -> None:
        with self._database.write() as db:
            jobs = _jobs(db)
            _put_first(db, _done(jobs.list_jobs_async(worker_id=self._number, status="doing")))
            _done(jobs.unregister_worker(self._number))


def _end(db: Session, job: int) -> None:
    from procrastinate.jobs import Status

    if job != NO_JOB:
        _done(_jobs(db).finish_job_by_id_async(job, Status.SUCCEEDED, delete_job=True))


def _put_first(db: Session, jobs: Iterable[Job]) -> None:
    """Put jobs that nobody works on back, before all others."""
    for job in jobs:
        if job.id is not None:
            again = _jobs(db).retry_job_by_id_async(job.id, AT_ONCE, priority=FIRST)
            _done(again)


def _priority(priority: int, turn: int) -> int:
    """Return the priority of a job: that of its order first, then the lower turn."""
    return priority * TURNS - min(turn, TURNS - 1)


def _load() -> None:
    try:
        import procrastinate  # noqa: F401
    except ImportError:
        raise UsageError(
            "the queue of a PostgreSQL database needs procrastinate: pip install "
            "'deepdiver-research[postgres]'"
        ) from None


@functools.cache
def _migrations() -> tuple[str, ...]:
    """Return procrastinate's own migrations; it never edits one that is released."""
    folder = resources.files("procrastinate.sql") / "migrations"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple((folder / name).read_text(encoding="utf-8") for name in files)


def _jobs(db: Session) -> JobManager:
    """Return procrastinate's jobs as seen from within a transaction of ours."""
    from procrastinate.manager import JobManager

    connection = db.connection  # type: ignore[attr-defined]  # a session of PostgreSQL
    connection.execute(f"SET LOCAL search_path TO {SCHEMA}, {QUEUE_SCHEMA}, public")
    return JobManager(_connector(connection))


def _connector(connection: Any) -> Any:
    from procrastinate.connector import BaseConnector
    from psycopg.rows import dict_row
    from psycopg.types.json import Jsonb

    def plain(value: Any) -> Any:
        """Return a value as psycopg takes it: an object is JSON."""
        if isinstance(value, dict):
            return Jsonb(value)
        if isinstance(value, list):
            return [plain(item) for item in value]
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    class Connector(BaseConnector):
        """Runs procrastinate's statements in a transaction of ours. Nothing in it waits."""

        async def execute_query_async(self, query: Any, **arguments: Any) -> None:
            connection.execute(query, {name: plain(value) for name, value in arguments.items()})

        async def execute_query_all_async(self, query: Any, **arguments: Any) -> Any:
            values = {name: plain(value) for name, value in arguments.items()}
            with connection.cursor(row_factory=dict_row) as cursor:
                return cursor.execute(query, values).fetchall()

        async def execute_query_one_async(self, query: Any, **arguments: Any) -> Any:
            return (await self.execute_query_all_async(query, **arguments))[0]

    return Connector()


def _done(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine of procrastinate returns, over a connector that never waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    raise AssertionError("the connector waits for nothing")
