"""The orders as rows of the store, in the SQL that SQLite and PostgreSQL share.

Which order is taken next, and what becomes of one whose worker has died, is the business of
`local` and `postgres`.
"""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from typing_extensions import override

from deepdiver.core.record import FINISHED, Run, RunStatus
from deepdiver.errors import UsageError
from deepdiver.run.begin import queued_run
from deepdiver.store import Store
from deepdiver.store.sql import Database, Session, insert_run
from deepdiver.work.order import OF_THE_RUN, Order
from deepdiver.work.queue import Load, Queue, Waiting

ALONE = "orders"
"""Orders are entered one at a time, because each turn depends on those before it."""
PUT, TAKEN, ENDED = "waiting", "taken", "ended"
"""The states of an order."""
RESTING = frozenset({RunStatus.STOPPED, RunStatus.FAILED, RunStatus.WAITING})
"""The states of a run that can be put back."""
FRESH_START = "stop = CASE again WHEN 1 THEN 0 ELSE stop END, again = 0"
"""Whoever takes an order that was put back meanwhile does what was asked for, and forgets that it
was to be stopped before."""


class OrderRows(Queue, ABC):
    """A queue in the tables of a store."""

    def __init__(self, store: Store, database: Database) -> None:
        """Use the queue of a store that is open in a database."""
        self._store, self.database = store, database

    @property
    @override
    def store(self) -> Store:
        return self._store

    @override
    def put(self, order: Order) -> str:
        settings = order.settings()
        run = queued_run(order.question, settings, order.deepens, order.context, order.run)
        with self.database.write(alone=ALONE) as db:
            known = _known(db, order.owner, order.key) if order.key is not None else ""
            if not known:
                self._put(db, order, run)
        return self._same(known, run.question) if known else run.id

    def _put(self, db: Session, order: Order, run: Run) -> None:
        insert_run(db, run)
        own = {name: order.options[name] for name in OF_THE_RUN if name in order.options}
        now, turn = self.now(db), _turn(db, order.owner, order.priority)
        due = max(now, order.not_before or now)
        db.execute(
            "INSERT INTO orders (run, owner, key, priority, turn, options, state, put, due) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(run.id, order.owner, order.key, order.priority, turn),
                *(json.dumps(own), PUT, now, due),
            ),
        )
        self._enter(db, run.id, order.priority, turn, due if due > now else None)

    @override
    def put_again(self, run: str) -> None:
        held = self._store.runs.get(run)
        if held.status in FINISHED:
            raise UsageError(f"run {held.id} is finished: ask again, or deepen its report")
        with self.database.write(held.id, alone=ALONE) as db:
            query = "SELECT state, stop FROM orders WHERE run = ?"
            state, stop = db.execute(query, (held.id,)).fetchone() or (None, 0)
            if state not in (PUT, TAKEN):
                self._put_back(db, held.id)
            elif state == TAKEN and status_of(db, held.id) in RESTING:
                # Its worker has yet to end the order, which is put back then.
                db.execute("UPDATE orders SET again = 1 WHERE run = ?", (held.id,))
                set_status(db, held.id, RunStatus.QUEUED)
            elif state == TAKEN and stop:
                db.execute("UPDATE orders SET again = 1 WHERE run = ?", (held.id,))

    def _put_back(self, db: Session, run: str) -> None:
        """Have a run that no worker has any more wait, behind the other orders of its owner."""
        query = "SELECT owner, priority FROM orders WHERE run = ?"
        owner, priority = db.execute(query, (run,)).fetchone() or ("", 0)
        now, turn = self.now(db), _turn(db, owner, priority)
        db.execute(
            "INSERT INTO orders (run, owner, priority, turn, options, state, put, due) "
            "VALUES (?1, ?2, ?3, ?4, '{}', ?5, ?6, ?6) ON CONFLICT (run) DO UPDATE "
            "SET turn = ?4, state = ?5, put = ?6, due = ?6, attempts = 0, stop = 0, again = 0, "
            "taken = NULL, ended = NULL",
            (run, owner, priority, turn, PUT, now),
        )
        set_status(db, run, RunStatus.QUEUED)
        self._enter(db, run, priority, turn, None)

    def end(self, db: Session, run: str, worker: str) -> bool:
        """End an order that a worker has, or have it wait again if somebody has asked for that.

        The transaction is one that enters orders. Returns whether the worker had it.
        """
        row = db.execute(
            "UPDATE orders SET state = ?, ended = ? WHERE run = ? AND worker = ? AND state = ? "
            "RETURNING again",
            (ENDED, self.now(db), run, worker, TAKEN),
        ).fetchone()
        if row is None:
            return False
        (again,), status = row, status_of(db, run)
        if again and status not in FINISHED:
            self._put_back(db, run)
        elif status is RunStatus.QUEUED:  # it was put back, and cancelled after all
            set_status(db, run, RunStatus.STOPPED)
        return True

    @override
    def cancel(self, run: str) -> bool:
        held = self._store.runs.get(run)
        with self.database.write(held.id) as db:
            found = self._withdraw(db, held.id)
            ended = db.execute(
                "UPDATE orders SET state = ?, ended = ? WHERE run = ? AND state = ?",
                (ENDED, self.now(db), held.id, PUT if found else ""),
            ).rowcount
            if ended:
                set_status(db, held.id, RunStatus.STOPPED)
            else:
                stop = "UPDATE orders SET stop = 1, again = 0 WHERE run = ? AND state = ?"
                db.execute(stop, (held.id, TAKEN))
        return bool(ended)

    @override
    def waiting(self, owner: str | None = None) -> list[Waiting]:
        query = (
            "SELECT run, owner, priority, put, due FROM orders WHERE state = ? "
            "ORDER BY priority DESC, turn, put, run"
        )
        rows = self.database.rows(query, PUT)
        found = [
            Waiting(run, who, priority, place, put, due)
            for place, (run, who, priority, put, due) in enumerate(rows, 1)
        ]
        return [item for item in found if owner in (None, item.owner)]

    @override
    def owners(self) -> dict[str, Load]:
        query = (
            "SELECT owner, sum(CASE state WHEN ?1 THEN 1 ELSE 0 END), "
            "sum(CASE state WHEN ?2 THEN 1 ELSE 0 END) FROM orders "
            "WHERE state IN (?1, ?2) GROUP BY owner ORDER BY owner"
        )
        rows = self.database.rows(query, PUT, TAKEN)
        return {owner: Load(int(waiting), int(running)) for owner, waiting, running in rows}

    @override
    def owner_of(self, run: str) -> str | None:
        rows = self.database.rows("SELECT owner FROM orders WHERE run = ?", run)
        return str(rows[0][0]) if rows else None

    @override
    def owners_of(self, runs: Sequence[str]) -> dict[str, str]:
        if not runs:
            return {}
        places = ", ".join("?" for _ in runs)
        query = f"SELECT run, owner FROM orders WHERE run IN ({places})"  # noqa: S608
        return dict(self.database.rows(query, *runs))

    @override
    def find(self, owner: str, key: str) -> str | None:
        query = "SELECT run FROM orders WHERE owner = ? AND key = ?"
        rows = self.database.rows(query, owner, key)
        return str(rows[0][0]) if rows else None

    def _same(self, run: str, question: str) -> str:
        if self._store.runs.get(run).question != question:
            raise UsageError(
                f"the key of this order was used for another question, in run {run}: choose another"
            )
        return run

    def now(self, db: Session) -> float:
        """Return the time by the clock that counts."""
        now = time.time()
        return now + self.database.clock_ahead(db, now)

    @abstractmethod
    def _enter(
        self, db: Session, run: str, priority: int, turn: int, not_before: float | None
    ) -> None:
        """Have workers find an order that was put, in the same transaction."""

    @abstractmethod
    def _withdraw(self, db: Session, run: str) -> bool:
        """Have no worker find an order, in the same transaction; False if one has found it."""


def set_status(db: Session, run: str, status: RunStatus) -> None:
    """Save the status of a run within a transaction."""
    db.execute("UPDATE runs SET status = ? WHERE id = ?", (status.value, run))


def status_of(db: Session, run: str) -> RunStatus:
    """Return the status of a run within a transaction."""
    return RunStatus(db.execute("SELECT status FROM runs WHERE id = ?", (run,)).fetchone()[0])


def runs_to_stop(db: Session, worker: str) -> list[str]:
    """Return the runs that a worker has taken and that were cancelled since."""
    return [str(row[0]) for row in db.execute(_TO_STOP, (worker, TAKEN)).fetchall()]


def read_runs_to_stop(database: Database, worker: str) -> list[str]:
    """Return the same from outside of a transaction."""
    return [str(row[0]) for row in database.rows(_TO_STOP, worker, TAKEN)]


_TO_STOP = "SELECT run FROM orders WHERE worker = ? AND state = ? AND stop = 1"


def _known(db: Session, owner: str, key: str) -> str:
    query = "SELECT run FROM orders WHERE owner = ? AND key = ?"
    found = db.execute(query, (owner, key)).fetchone()
    return str(found[0]) if found else ""


def _turn(db: Session, owner: str, priority: int) -> int:
    """Return the turn of an owner's next order."""
    last = db.execute(
        "SELECT max(turn) FROM orders WHERE owner = ? AND state IN (?, ?) AND priority = ?",
        (owner, PUT, TAKEN, priority),
    ).fetchone()[0]
    served = db.execute(
        "SELECT max(turn) FROM orders WHERE state = ? AND priority = ?", (TAKEN, priority)
    ).fetchone()[0]
    first = db.execute(
        "SELECT min(turn) FROM orders WHERE state = ? AND priority = ?", (PUT, priority)
    ).fetchone()[0]
    return 1 + max(last or 0, served or 0, (first or 1) - 1)
