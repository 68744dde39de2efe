"""The seven parts of a store in SQL, written once for SQLite and PostgreSQL.

The statements are those that both understand, with parameters as SQLite spells them; what differs
is in `Database`. `base` says what the methods promise.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from typing_extensions import override

from deepdiver.core.budget import EXACT, ZERO
from deepdiver.core.identity import canonical
from deepdiver.core.record import FINISHED, Run, RunStatus
from deepdiver.errors import DamagedStoreError, RunBusyError, UnknownNameError
from deepdiver.store.base import (
    EVERY_RUN,
    Cache,
    CallState,
    Journal,
    JournalRow,
    Leases,
    LimitGrant,
    Limits,
    PastRun,
    Records,
    Runs,
    Texts,
)
from deepdiver.store.blobs import (
    decode,
    encode,
    make_storable,
    pack,
    pack_text,
    unpack,
    unpack_text,
)
from deepdiver.store.faults import damaged, lost_text, quote_name, unknown_run

CLOCK_SKEW = 60.0
"""A bucket last filled further in the future than this was filled before the clock was set back."""
SLOT_POLL = 0.05
"""Seconds after which to ask again for a slot: nobody knows when a call ends. A refusal writes
nothing and takes 35 µs in SQLite."""
SHORTEST_WAIT = 0.001
"""Asking sooner would be a waste."""
CLOCK_GRAIN = 1e-6
"""Seconds since 1970 as a float are exact to 0.2 µs, so a token due within this time counts as
there. It is owed, not given."""
PRUNED = 20
"""Expired rows of the cache deleted at each claim: more than a claim can add, so they do not pile
up."""
CANDIDATES = 3
"""How many runs to name when the beginning of an id fits several."""


class Found(Protocol):
    """What a statement found or changed."""

    @property
    def rowcount(self) -> int:
        """How many rows it found or changed."""

    def fetchone(self) -> Any:
        """Return the next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Session(Protocol):
    """A connection within a transaction."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Found:
        """Run a statement."""

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run a statement for each row of values."""


class Database(ABC):
    """A database that holds the tables of a store. Threads may share one."""

    file: Path
    """Its name in messages."""
    lock_texts = ""
    """A statement after which no other transaction saves a text, or refers to one, before this one
    ends; empty if no other transaction writes anyway."""
    skip_locked = ""
    """Ends a query whose rows are about to be deleted, so that it passes over those that another
    transaction has locked."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Session]:
        """Give a session for reading, which sees one moment."""

    @abstractmethod
    def write(
        self, run: str | None = None, *, durable: bool = True, alone: str = ""
    ) -> AbstractContextManager[Session]:
        """Give a session for one transaction.

        Args:
            run: A run that must exist. No two transactions write to the same run at once.
            durable: Whether to wait for the disk.
            alone: What no other transaction that names it may do at the same time.

        Raises:
            UnknownNameError: If the run does not exist.
        """

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query."""
        with self.read() as db:
            return db.execute(query, values).fetchall()

    def read_packed(self, query: str, *values: object) -> str | None:
        """Return the packed value that a query finds, if it finds one."""
        return next((unpack(row[0], self.file) for row in self.rows(query, *values)), None)

    def clock_ahead(self, db: Session, now: float) -> float:
        """Return by how many seconds the clock that counts is ahead of the caller's."""
        return 0.0

    def write_text(self, text: str) -> str | bytes:
        """Return a text of any characters as it is stored."""
        return text

    def read_text(self, stored: Any) -> str:
        """Return the text that `write_text` stored."""
        return str(stored)


class _Part:
    """A part of the store over the one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows = database.rows


_FIRST_PAGE = "SELECT id, status, json FROM runs ORDER BY created DESC, rowid DESC LIMIT ?"
_NEXT_PAGE = (
    # Of a run that was deleted meanwhile, only the second is known in which it was created. Those
    # of the same second come again then: else some of them would be on no page.
    "SELECT id, status, json FROM runs WHERE created < ?1 OR (created = ?1 AND rowid < "
    "coalesce((SELECT rowid FROM runs WHERE id = ?2), 9223372036854775807)) "
    "ORDER BY created DESC, rowid DESC LIMIT ?3"
)


class SqlRuns(_Part, Runs):
    """Runs in SQL."""

    @override
    def create(self, run: Run) -> None:
        with self._database.write() as db:
            insert_run(db, run)

    @override
    def begin(self, run: Run) -> bool:
        status, data = _row_of(run)
        begins = "UPDATE runs SET created = ?, status = ?, json = ? WHERE id = ? AND status = ?"
        values = (run.created, status, data, run.id, RunStatus.QUEUED.value)
        with self._database.write(run.id) as db:
            return db.execute(begins, values).rowcount == 1

    @override
    def get(self, run: str) -> Run:
        start = make_storable(run)
        query = "SELECT id, status, json FROM runs WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
        rows = self._rows(query, start, start + _LAST, CANDIDATES + 1)
        if not rows:
            with self._database.read() as db:
                raise run_not_found(db, run)
        if len(rows) == 1 or rows[0][0] == start:
            return self._run(*rows[0])
        more = ", …" if len(rows) > CANDIDATES else ""
        named = ", ".join(row[0] for row in rows[:CANDIDATES]) + more
        raise UnknownNameError(
            f"run {quote_name(run)} is ambiguous: it may be {named}; give more of the id"
        )

    @override
    def list_all(self, before: tuple[str, str] | None = None, most: int = EVERY_RUN) -> list[Run]:
        if before is None:
            rows = self._rows(_FIRST_PAGE, most)
        else:
            rows = self._rows(_NEXT_PAGE, *before, most)
        return [self._run(*row) for row in rows]

    @override
    def list_past(self, run: str, beginning: str) -> list[PastRun]:
        # Reading ten thousand runs with their reports would take many seconds. This reads one small
        # row for each run, and the few records that are asked for by the key of their table.
        file = self._database.file
        with self._database.read() as db:
            mine = db.execute("SELECT created, rowid FROM runs WHERE id = ?", (run,)).fetchone()
            if mine is None:
                return []
            rows = db.execute(_PAST_RUNS, mine).fetchall()
            records: defaultdict[str, list[str]] = defaultdict(list)
            for of, data in db.execute(_PAST_RECORDS, (beginning, beginning + _LAST, *mine)):
                records[of].append(decode(data, file))
        return [
            PastRun(id_, created, self._question(id_, data), tuple(records[id_]))
            for id_, created, data in rows
        ]

    @override
    def set_status(self, run: str, status: RunStatus, events: Sequence[str] = ()) -> None:
        packed = [pack(event) for event in events]
        with self._database.write(run) as db:
            if packed:
                _add_events(db, run, packed)
            db.execute("UPDATE runs SET status = ? WHERE id = ?", (status.value, run))

    @override
    def delete(self, run: str, now: float) -> None:
        with self._database.write(run) as db:
            _refuse_if_held(db, run, "", now + self._database.clock_ahead(db, now))
            if self._database.lock_texts:
                db.execute(self._database.lock_texts)
            db.execute(
                "DELETE FROM blobs WHERE hash IN (SELECT hash FROM blob_refs AS mine "
                "WHERE run = ? AND NOT EXISTS (SELECT 1 FROM blob_refs AS other "
                "WHERE other.hash = mine.hash AND other.run <> mine.run))",
                (run,),
            )
            # Everything else of the run is deleted by cascades.
            db.execute("DELETE FROM runs WHERE id = ?", (run,))

    def _run(self, id_: str, status: str, data: bytes) -> Run:
        text = unpack(data, self._database.file)
        try:
            return Run.model_validate({**json.loads(text), "status": status})
        except (ValueError, TypeError) as error:
            raise damaged(self._database.file, f"run {id_} cannot be read") from error

    def _question(self, id_: str, data: bytes) -> str:
        text = unpack(data, self._database.file)
        try:
            return str(json.loads(text)["question"])
        except (ValueError, TypeError, KeyError) as error:
            raise damaged(self._database.file, f"run {id_} cannot be read") from error


_STATES = ", ".join(f"'{state.value}'" for state in sorted(FINISHED))
_BEFORE = f"(runs.created, runs.rowid) < (?, ?) AND runs.status IN ({_STATES})"
_PAST_RUNS = (
    f"SELECT id, created, json FROM runs WHERE {_BEFORE} "  # noqa: S608 no input
    "ORDER BY created DESC, rowid DESC"
)
# CROSS: the runs first, then of each the few records of the range. The other way round all records
# would be walked.
_PAST_RECORDS = (
    "SELECT records.run, records.json FROM runs CROSS JOIN records WHERE records.run = runs.id "  # noqa: S608 no input
    f"AND records.id >= ? AND records.id < ? AND {_BEFORE}"
)
_LAST = "\U0010ffff"


class SqlLeases(_Part, Leases):
    """Leases in SQL. They are worthless after a power cut, so they do not wait for the disk."""

    @override
    def take(self, run: str, owner: str, now: float, seconds: float) -> None:
        with self._database.write(run, durable=False) as db:
            now += self._database.clock_ahead(db, now)
            _refuse_if_held(db, run, owner, now)
            db.execute(
                "INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (run) DO UPDATE "
                "SET owner = excluded.owner, until = excluded.until",
                (run, owner, now + seconds),
            )
            db.execute("DELETE FROM stop_requests WHERE run = ?", (run,))

    @override
    def renew(self, run: str, owner: str, now: float, seconds: float) -> bool:
        query = "UPDATE leases SET until = ? WHERE run = ? AND owner = ?"
        with self._database.write(durable=False) as db:
            until = now + self._database.clock_ahead(db, now) + seconds
            return db.execute(query, (until, run, owner)).rowcount == 1

    @override
    def holder(self, run: str) -> str:
        rows = self._rows("SELECT owner FROM leases WHERE run = ?", run)
        return str(rows[0][0]) if rows else ""

    @override
    def drop(self, run: str, owner: str) -> None:
        with self._database.write(durable=False) as db:
            db.execute("DELETE FROM leases WHERE run = ? AND owner = ?", (run, owner))

    @override
    def ask_to_stop(self, run: str) -> None:
        with self._database.write(run, durable=False) as db:
            db.execute("INSERT INTO stop_requests VALUES (?) ON CONFLICT DO NOTHING", (run,))

    @override
    def asked_to_stop(self, run: str) -> bool:
        return bool(self._rows("SELECT 1 FROM stop_requests WHERE run = ?", run))


class SqlJournal(_Part, Journal):
    """The journal in SQL."""

    @override
    def get(self, run: str, key: str) -> JournalRow | None:
        rows = self._rows(_CALLS + " AND key = ?", run, key)
        return next((self._call(row) for row in rows), None)

    @override
    def rows(self, run: str, kind: str = "") -> list[JournalRow]:
        query = _CALLS + (" AND kind = ?" if kind else "") + " ORDER BY number"
        return [self._call(row) for row in self._rows(query, run, *([kind] if kind else []))]

    @override
    def reserve(
        self,
        run: str,
        key: str,
        *,
        kind: str,
        provider: str,
        what: str,
        request: str,
        worst: Decimal,
        now: float,
    ) -> None:
        # Not durable: nothing went out yet, and `mark_sent` takes it along.
        about = self._database.write_text(make_storable(what))
        values = (run, key, kind, provider, about, pack(request), str(worst), now)
        with self._database.write(run, durable=False) as db:
            entered = db.execute(_RESERVE, values).rowcount
            if not entered:
                raise ValueError(f"call {key} of run {run} is settled: it cannot be reserved again")

    @override
    def mark_sent(self, run: str, key: str, now: float) -> None:
        self._advance(run, key, CallState.SENT, now)

    @override
    def mark_declined(self, run: str, key: str, now: float) -> None:
        # Not durable: if a power cut loses it, the call counts as uncertain, which is safe.
        self._advance(run, key, CallState.RESERVED, now, durable=False)

    @override
    def settle(self, run: str, key: str, reply: str, cost: Decimal, now: float) -> None:
        self._advance(run, key, CallState.SETTLED, now, reply=pack(reply), cost=cost)

    @override
    def fail(self, run: str, key: str, error: str, cost: Decimal, now: float) -> None:
        self._advance(run, key, CallState.FAILED, now, error=error, cost=cost)

    def _advance(
        self,
        run: str,
        key: str,
        state: CallState,
        now: float,
        *,
        reply: bytes | None = None,
        error: str | None = None,
        cost: Decimal = ZERO,
        durable: bool = True,
    ) -> None:
        """Move a call to its next state. What failed attempts cost stays in the sum."""
        with self._database.write(run, durable=durable) as db:
            row = db.execute(
                "SELECT state, cost FROM journal WHERE run = ? AND key = ?", (run, key)
            ).fetchone()
            if row is None or row[0] not in _FROM[state]:
                was = row[0] if row else "not known"
                raise ValueError(f"call {key} of run {run} is {was}: it cannot be {state}")
            spent = str(EXACT.add(Decimal(row[1]), cost))
            why = None if error is None else self._database.write_text(make_storable(error))
            sent = int(state is CallState.SENT)
            db.execute(
                "UPDATE journal SET state = ?, reply = ?, error = ?, cost = ?, sends = sends + ?, "
                "last = ? WHERE run = ? AND key = ?",
                (state.value, reply, why, spent, sent, now, run, key),
            )

    def _call(self, row: tuple[Any, ...]) -> JournalRow:
        run, key, state, kind, provider, what, request, reply, error, worst, cost, *counts = row
        file, read_text = self._database.file, self._database.read_text
        asked = unpack(request, file)
        answer = None if reply is None else unpack(reply, file)
        try:
            state, worst, cost = CallState(state), Decimal(worst), Decimal(cost)
        except (ValueError, ArithmeticError) as fault:
            raise damaged(file, f"call {key} of run {run} cannot be read") from fault
        what, error = read_text(what), None if error is None else read_text(error)
        return JournalRow(
            run, key, state, kind, provider, what, asked, answer, error, worst, cost, *counts
        )


_OPEN = frozenset({CallState.RESERVED, CallState.SENT})
_FROM = {
    CallState.RESERVED: frozenset({CallState.SENT}),
    CallState.SENT: _OPEN,
    CallState.SETTLED: _OPEN,
    CallState.FAILED: _OPEN,
}
"""From which states a call may come to each."""
_CALLS = (
    "SELECT run, key, state, kind, provider, what, request, reply, error, worst, cost, sends, "
    "uncertain, first, last, number FROM journal WHERE run = ?"
)
_RESERVE = (
    "INSERT INTO journal "
    "(run, key, kind, provider, what, request, worst, first, last, state, number) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 'reserved', "
    "(SELECT coalesce(max(number), 0) + 1 FROM journal WHERE run = ?1)) "
    "ON CONFLICT (run, key) DO UPDATE "
    "SET uncertain = journal.uncertain + CASE journal.state WHEN 'sent' THEN 1 ELSE 0 END, "
    "state = 'reserved', kind = excluded.kind, provider = excluded.provider, "
    "what = excluded.what, request = excluded.request, worst = excluded.worst, "
    "last = excluded.last, error = NULL WHERE journal.state <> 'settled'"
)


class SqlRecords(_Part, Records):
    """Ledger, events and report in SQL."""

    @override
    def add(self, run: str, records: Iterable[tuple[str, str, str]]) -> None:
        rows = [(run, id_, kind, encode(text)) for kind, id_, text in records]
        with self._database.write(run) as db:
            # Bytes compare as characters do, so SQL chooses as the ledger does.
            db.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (run, id) DO UPDATE "
                "SET kind = excluded.kind, json = excluded.json "
                "WHERE excluded.json < records.json",
                rows,
            )

    @override
    def ledger(self, run: str) -> list[tuple[str, str, str]]:
        query = "SELECT kind, id, json FROM records WHERE run = ? ORDER BY id"
        file = self._database.file
        rows = self._rows(query, run)
        return [(kind, id_, decode(data, file)) for kind, id_, data in rows]

    @override
    def add_events(self, run: str, events: Iterable[str]) -> None:
        # Not durable: events tell the story, and the record does not depend on them.
        packed = [pack(event) for event in events]
        with self._database.write(run, durable=False) as db:
            _add_events(db, run, packed)

    @override
    def events(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        query = "SELECT number, json FROM events WHERE run = ? AND number > ? ORDER BY number"
        rows = self._rows(query, run, after)
        return [(number, unpack(data, self._database.file)) for number, data in rows]

    @override
    def save_report(self, run: str, report: str) -> None:
        data = pack(report)
        with self._database.write(run) as db:
            db.execute(
                "INSERT INTO reports VALUES (?, ?) ON CONFLICT (run) DO UPDATE "
                "SET json = excluded.json",
                (run, data),
            )

    @override
    def report(self, run: str) -> str | None:
        return self._database.read_packed("SELECT json FROM reports WHERE run = ?", run)


def _add_events(db: Session, run: str, packed: Sequence[bytes]) -> None:
    """Add events behind those that a run has, within a transaction."""
    db.executemany(
        "INSERT INTO events SELECT ?1, coalesce(max(number), 0) + 1, ?2 FROM events WHERE run = ?1",
        [(run, data) for data in packed],
    )


class SqlTexts(_Part, Texts):
    """Texts in SQL, compressed."""

    @override
    def put(self, run: str, text: str) -> str:
        hash_, data = pack_text(text)
        with self._database.write(run) as db:
            db.execute(
                "INSERT INTO blobs VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
                (hash_, data, len(text)),
            )
            db.execute(
                "INSERT INTO blob_refs VALUES (?, ?) ON CONFLICT (run, hash) DO NOTHING",
                (run, hash_),
            )
        return hash_

    @override
    def hold(self, run: str, digest: str) -> bool:
        with self._database.write(run) as db:
            # One statement: between two, another process could delete the text.
            added = db.execute(
                "INSERT INTO blob_refs SELECT ?, hash FROM blobs WHERE hash = ? "
                "ON CONFLICT (run, hash) DO NOTHING",
                (run, digest),
            ).rowcount
            held = "SELECT 1 FROM blob_refs WHERE run = ? AND hash = ?"
            return bool(added) or db.execute(held, (run, digest)).fetchone() is not None

    @override
    def get(self, digest: str) -> str:
        file = self._database.file
        rows = self._rows("SELECT bytes FROM blobs WHERE hash = ?", digest)
        if not rows:
            raise lost_text(file, digest, "is missing", self._runs_of(digest))
        try:
            return unpack_text(digest, rows[0][0], file)
        except DamagedStoreError as error:
            raise lost_text(file, digest, "is damaged", self._runs_of(digest)) from error

    def _runs_of(self, digest: str) -> list[str]:
        query = "SELECT run FROM blob_refs WHERE hash = ? ORDER BY run"
        return [str(row[0]) for row in self._rows(query, digest)]


class SqlCache(_Part, Cache):
    """The shared cache in SQL."""

    @override
    def get(self, key: str, now: float) -> str | None:
        query = "SELECT value FROM cache WHERE key = ? AND expires > ?"
        return self._database.read_packed(query, key, now)

    @override
    def put(self, key: str, value: str, expires: float) -> None:
        data = pack(value)
        with self._database.write(durable=False) as db:
            db.execute(
                "INSERT INTO cache VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE "
                "SET value = excluded.value, expires = excluded.expires",
                (key, data, expires),
            )

    @override
    def claim(self, key: str, owner: str, now: float, until: float) -> bool:
        # Deletes a few expired rows too: a claim comes before every put, and knows what time it is.
        # It does so last: whoever holds rows must not wait for another row.
        with self._database.write(durable=False) as db:
            ahead = self._database.clock_ahead(db, now)
            claimed = db.execute(
                "INSERT INTO cache_claims VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE "
                "SET owner = excluded.owner, until = excluded.until "
                "WHERE cache_claims.owner = ?2 OR cache_claims.until <= ?4",
                (key, owner, until + ahead, now + ahead),
            ).rowcount
            for statement in _PRUNE:
                locked = statement.format(skip_locked=self._database.skip_locked)
                db.execute(locked, (now + ahead, PRUNED))
            return claimed == 1

    @override
    def release(self, key: str, owner: str) -> None:
        with self._database.write(durable=False) as db:
            db.execute("DELETE FROM cache_claims WHERE key = ? AND owner = ?", (key, owner))


# The rows are chosen once, in a step of their own. Within IN (...) PostgreSQL may choose again for
# every row it looks at, passing over those it has just deleted, and the limit would not hold.
_PRUNE = (
    "WITH old AS MATERIALIZED"
    " (SELECT key FROM cache WHERE expires <= ? ORDER BY expires LIMIT ?{skip_locked})"
    " DELETE FROM cache WHERE key IN (SELECT key FROM old)",
    "WITH old AS MATERIALIZED"
    " (SELECT key FROM cache_claims WHERE until <= ? ORDER BY until LIMIT ?{skip_locked})"
    " DELETE FROM cache_claims WHERE key IN (SELECT key FROM old)",
)


# One row, in one statement: others wait for their turn at the provider meanwhile.
_BUCKET = (
    "SELECT coalesce(max(tokens), ?1), coalesce(max(updated), ?2), coalesce(max(paused_until), ?2),"
    " (SELECT count(*) FROM slots WHERE provider = ?3 AND owner <> ?4 AND until > ?2),"
    " (SELECT min(until) FROM slots WHERE provider = ?3 AND owner <> ?4 AND until > ?2),"
    " (SELECT count(*) FROM slots WHERE provider = ?3 AND until <= ?2)"
    " FROM buckets WHERE provider = ?3"
)


class SqlLimits(_Part, Limits):
    """The shared limits in SQL."""

    @override
    def take(
        self,
        provider: str,
        owner: str,
        now: float,
        until: float,
        *,
        rate: float,
        per: float,
        concurrent: int,
    ) -> LimitGrant:
        capacity = max(1.0, rate)
        with self._database.write(durable=False, alone=provider) as db:
            ahead = self._database.clock_ahead(db, now)
            now, until = now + ahead, until + ahead
            # An owner that asks again keeps its one slot.
            tokens, updated, paused, taken, free_at, expired = db.execute(
                _BUCKET, (capacity, now, provider, owner)
            ).fetchone()
            if updated > now + CLOCK_SKEW:
                updated = now
                db.execute("UPDATE buckets SET updated = ? WHERE provider = ?", (now, provider))
            # Processes may come out of order by fractions of a second: time is never counted twice.
            tokens = min(capacity, tokens + max(0.0, now - updated) * rate / per)
            due = (1.0 - tokens) * per / rate
            wait = max(
                paused - now,
                due if due > CLOCK_GRAIN else 0.0,
                min(free_at - now, SLOT_POLL) if taken >= concurrent else 0.0,
            )
            if wait > 0:
                return LimitGrant(granted=False, wait=max(wait, SHORTEST_WAIT))
            db.execute(
                "INSERT INTO buckets (provider, tokens, updated) VALUES (?, ?, ?) "
                "ON CONFLICT (provider) DO UPDATE "
                "SET tokens = excluded.tokens, updated = excluded.updated",
                (provider, tokens - 1.0, max(updated, now)),
            )
            if expired:
                db.execute("DELETE FROM slots WHERE provider = ? AND until <= ?", (provider, now))
            db.execute(
                "INSERT INTO slots VALUES (?, ?, ?) ON CONFLICT (provider, owner) DO UPDATE "
                "SET until = excluded.until",
                (provider, owner, until),
            )
            return LimitGrant(granted=True)

    @override
    def give(self, provider: str, owner: str) -> None:
        with self._database.write(durable=False) as db:
            db.execute("DELETE FROM slots WHERE provider = ? AND owner = ?", (provider, owner))

    @override
    def pause(self, provider: str, now: float, until: float) -> None:
        # The longest pause that was asked for counts.
        with self._database.write(durable=False) as db:
            until += self._database.clock_ahead(db, now)
            db.execute(
                "INSERT INTO buckets (provider, paused_until) VALUES (?, ?) "
                "ON CONFLICT (provider) DO UPDATE "
                "SET paused_until = excluded.paused_until "
                "WHERE buckets.paused_until < excluded.paused_until",
                (provider, until),
            )


def insert_run(db: Session, run: Run) -> None:
    """Save a new run within a transaction; ValueError if its id is taken."""
    status, data = _row_of(run)
    added = db.execute(
        "INSERT INTO runs (id, created, status, json) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (id) DO NOTHING",
        (run.id, run.created, status, data),
    ).rowcount
    if not added:
        raise ValueError(f"there is a run {run.id} already")


def _row_of(run: Run) -> tuple[str, bytes]:
    """Return the status of a run, and everything else of it as it is stored."""
    values = run.model_dump(mode="json")
    status: str = values.pop("status")
    return status, pack(canonical(values))


def run_not_found(db: Session, run: str) -> UnknownNameError:
    """Return the error for an unknown run, with the nearest of the newest ids."""
    newest = "SELECT id FROM runs ORDER BY created DESC LIMIT 1000"
    return unknown_run(run, [row[0] for row in db.execute(newest)])


def _refuse_if_held(db: Session, run: str, owner: str, now: float) -> None:
    held = db.execute(
        "SELECT owner, until FROM leases WHERE run = ? AND owner <> ? AND until > ?",
        (run, owner, now),
    ).fetchone()
    if held is not None:
        until = datetime.fromtimestamp(held[1], UTC).isoformat(timespec="seconds")
        raise RunBusyError(
            f"run {run} is being worked on by {held[0]}, whose lease runs until {until}: wait, or "
            f"stop it with `deepdiver stop {run}`; if that process is dead, the run frees itself "
            f"in {held[1] - now:.0f} s",
            holder=str(held[0]),
        )
