"""The queue of one machine, in its SQLite store, for any number of processes.

A worker holds the orders that it has taken by a lease on each, which it renews: one that dies is
followed by another.
"""

from __future__ import annotations

import json
from contextlib import suppress

from typing_extensions import override

from deepdiver.core.record import RunStatus
from deepdiver.errors import UnknownNameError
from deepdiver.run.lease import LEASE_SECONDS
from deepdiver.store.sql import Session
from deepdiver.store.sqlite import SqliteStore
from deepdiver.work.queue import Taken, Worker
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


class LocalQueue(OrderRows):
    """A queue in a SQLite store."""

    def __init__(self, store: SqliteStore) -> None:
        """Use the queue of a store."""
        super().__init__(store, store.database)

    @override
    def hire(self, name: str) -> Worker:
        return _LocalWorker(self, name)

    @override
    def _enter(
        self, db: Session, run: str, priority: int, turn: int, not_before: float | None
    ) -> None:
        """Do nothing: the row is all there is."""

    @override
    def _withdraw(self, db: Session, run: str) -> bool:
        return True  # the row is all there is


_COLUMNS = "run, owner, options, attempts + 1, due, taken"
_LOST = f"SELECT {_COLUMNS} FROM orders WHERE state = ? AND until <= ? ORDER BY until LIMIT 1"  # noqa: S608 no input
_NEXT = (
    f"SELECT {_COLUMNS} FROM orders WHERE state = ? AND due <= ? "  # noqa: S608 no input
    "ORDER BY priority DESC, turn, put, run LIMIT 1"
)


class _LocalWorker(Worker):
    def __init__(self, queue: LocalQueue, name: str) -> None:
        self._queue, self._database, self._name = queue, queue.database, name

    @override
    def take(self) -> Taken | None:
        with self._database.write() as db:
            now = self._queue.now(db)
            found = (
                db.execute(_LOST, (TAKEN, now)).fetchone()
                or db.execute(_NEXT, (PUT, now)).fetchone()
            )
            if found is None:
                return None
            run, owner, options, attempts, due, before = found
            db.execute(
                "UPDATE orders SET state = ?, worker = ?, attempts = ?, until = ?, "  # noqa: S608 no input
                f"taken = coalesce(taken, ?), {FRESH_START} WHERE run = ?",
                (TAKEN, self._name, attempts, now + LEASE_SECONDS, now, run),
            )
            waited = (before or now) - due
            return Taken(run, owner, json.loads(options), attempts, max(0.0, waited))

    @override
    def beat(self) -> list[str]:
        with self._database.write(durable=False) as db:
            until = self._queue.now(db) + LEASE_SECONDS
            db.execute(
                "UPDATE orders SET until = ? WHERE state = ? AND worker = ?",
                (until, TAKEN, self._name),
            )
            return runs_to_stop(db, self._name)

    @override
    def to_stop(self) -> list[str]:
        return read_runs_to_stop(self._database, self._name)

    @override
    def finish(self, run: str) -> None:
        with suppress(UnknownNameError), self._database.write(run, alone=ALONE) as db:
            self._queue.end(db, run, self._name)

    @override
    def give_back(self, run: str, seconds: float = 0.0) -> None:
        with suppress(UnknownNameError), self._database.write(run) as db:
            given = db.execute(
                f"UPDATE orders SET state = ?, due = ?, {FRESH_START} "  # noqa: S608 no input
                "WHERE run = ? AND worker = ? AND state = ?",
                (PUT, self._queue.now(db) + seconds, run, self._name, TAKEN),
            ).rowcount
            if given:
                set_status(db, run, RunStatus.QUEUED)

    @override
    def leave(self) -> None:
        with self._database.write() as db:
            db.execute(
                "UPDATE orders SET until = ? WHERE state = ? AND worker = ?",
                (self._queue.now(db), TAKEN, self._name),
            )
