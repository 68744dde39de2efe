"""The store in one SQLite file, for one person and any number of processes.

One connection behind one lock: SQLite lets only one writer work at a time, and a read takes 40 µs.
Writers begin with BEGIN IMMEDIATE, so that two processes do not find out at the end that they were
doing the same thing. `base` says what the methods promise.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from typing_extensions import override

from deepdiver.core.budget import EXACT, ZERO
from deepdiver.core.identity import canonical
from deepdiver.core.record import FINISHED, Run, RunStatus
from deepdiver.errors import (
    DamagedStoreError,
    RunBusyError,
    StoreAccessError,
    UnknownNameError,
)
from deepdiver.store import schema
from deepdiver.store.base import (
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
    Store,
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
from deepdiver.store.faults import (
    damaged,
    from_os,
    lost_text,
    primary_code,
    quote_name,
    translated,
    unknown_run,
)

FILE_NAME = "deepdiver.db"
BUSY_SECONDS = 30.0
"""How long a writer waits for other processes. A transaction takes milliseconds, so after this time
another process hangs."""
CLOCK_SKEW = 60.0
"""A bucket last filled further in the future than this was filled before the clock was set back."""
SLOT_POLL = 0.05
"""Seconds after which to ask again for a slot: nobody knows when a call ends. A refusal writes
nothing and takes 35 µs."""
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

_OPENING = threading.Lock()


@dataclass(frozen=True)
class SqliteStore(Store):
    """A `Store` in one SQLite file."""

    database: Database
    """The file."""


def open_sqlite(home: Path, *, timeout: float = BUSY_SECONDS) -> SqliteStore:
    """Open the database of a home, and make both if they are missing.

    Args:
        home: The folder; made for the user alone.
        timeout: Seconds to wait while another process writes.

    Raises:
        StoreError: One of its kinds; the message says what to do.
    """
    file = home / FILE_NAME
    # One at a time: closing any descriptor of a file drops all locks that this process holds on it
    # (POSIX), so the descriptor that makes the file must be closed before another thread lets
    # SQLite open it.
    with _OPENING:
        _make_private(file)
        with translated(file, timeout):
            db = sqlite3.connect(
                file, timeout=timeout, isolation_level=None, check_same_thread=False
            )
            try:
                # Before anything is changed: the file may belong to another program.
                schema.check(db, file)
                _use_wal(db, file, timeout)
                schema.migrate(db, file)
                db.execute("PRAGMA foreign_keys = ON")
                # macOS only: without it, FULL does not reach the disk there.
                db.execute("PRAGMA fullfsync = ON")
            except BaseException:
                db.close()
                raise
    return _store(Database(db, file, timeout))


def open_memory() -> SqliteStore:
    """Open a store in memory, which only this process sees and which ends with it."""
    file = Path(":memory:")
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    schema.migrate(db, file)
    db.execute("PRAGMA foreign_keys = ON")
    return _store(Database(db, file, 0.0))


def _store(database: Database) -> SqliteStore:
    return SqliteStore(
        runs=SqliteRuns(database),
        leases=SqliteLeases(database),
        journal=SqliteJournal(database),
        records=SqliteRecords(database),
        texts=SqliteTexts(database),
        cache=SqliteCache(database),
        limits=SqliteLimits(database),
        close=database.close,
        database=database,
    )


class Database:
    """One connection to one file, for one thread at a time."""

    def __init__(self, db: sqlite3.Connection, file: Path, timeout: float) -> None:
        """Take over an open, migrated connection; use `open_sqlite`."""
        self.file = file
        self.connection = db
        self._timeout = timeout
        self._lock = threading.Lock()
        # An agent keeps its store for as long as it lives, and nobody closes it.
        weakref.finalize(self, db.close)

    def close(self) -> None:
        """Close the connection."""
        with self._lock, translated(self.file, self._timeout):
            self.connection.close()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for reading."""
        with self._lock, translated(self.file, self._timeout):
            yield self.connection

    @contextmanager
    def write(
        self, run: str | None = None, *, durable: bool = True
    ) -> Iterator[sqlite3.Connection]:
        """Give the connection for one transaction.

        A durable transaction is on disk when it ends (FULL). That takes one fsync: measured 0.15 ms
        on a quiet disk and 4 ms on a busy one, while the rest takes 0.06 ms. Other transactions are
        safe from a killed process at once, and from a power cut when the next durable one ends. So
        journalling a call takes two fsyncs: 0.5 ms, or 8 ms on a busy disk.

        Args:
            run: A run that must exist.
            durable: Whether to wait for the disk.

        Raises:
            UnknownNameError: If the run does not exist.
        """
        with self._lock, translated(self.file, self._timeout):
            db = self.connection
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            try:
                db.execute("BEGIN IMMEDIATE")
                if run is not None and not _exists(db, run):
                    raise _unknown(db, run)
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query."""
        with self.read() as db:
            return db.execute(query, values).fetchall()

    def read_packed(self, query: str, *values: object) -> str | None:
        """Return the packed value that a query finds, if it finds one."""
        return next((unpack(row[0], self.file) for row in self.rows(query, *values)), None)


class _Part:
    """A part of the store over the one database."""

    def __init__(self, database: Database) -> None:
        self._database = database


class SqliteRuns(_Part, Runs):
    """Runs in SQLite."""

    @override
    def create(self, run: Run) -> None:
        values = run.model_dump(mode="json")
        status = values.pop("status")
        row = (run.id, run.created, status, pack(canonical(values)))
        with self._database.write() as db:
            added = db.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", row
            ).rowcount
            if not added:
                raise ValueError(f"there is a run {run.id} already")

    @override
    def get(self, run: str) -> Run:
        start = make_storable(run)
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id, status, json FROM runs WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) "
                "ORDER BY id LIMIT ?2",
                (start, CANDIDATES + 1),
            ).fetchall()
            if not rows:
                raise _unknown(db, run)
        if len(rows) == 1 or rows[0][0] == start:
            return self._run(*rows[0])
        more = ", …" if len(rows) > CANDIDATES else ""
        named = ", ".join(row[0] for row in rows[:CANDIDATES]) + more
        raise UnknownNameError(
            f"run {quote_name(run)} is ambiguous: it may be {named}; give more of the id"
        )

    @override
    def list_all(self) -> list[Run]:
        query = "SELECT id, status, json FROM runs ORDER BY created DESC, rowid DESC"
        return [self._run(*row) for row in self._database.rows(query)]

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
    def set_status(self, run: str, status: RunStatus) -> None:
        with self._database.write(run) as db:
            db.execute("UPDATE runs SET status = ? WHERE id = ?", (status.value, run))

    @override
    def delete(self, run: str, now: float) -> None:
        with self._database.write(run) as db:
            _refuse_if_held(db, run, "", now)
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
    "SELECT records.run, records.json FROM runs CROSS JOIN records ON records.run = runs.id "  # noqa: S608 no input
    f"AND records.id >= ? AND records.id < ? WHERE {_BEFORE}"
)
_LAST = "\U0010ffff"


class SqliteLeases(_Part, Leases):
    """Leases in SQLite. They are worthless after a power cut, so they do not wait for the disk."""

    @override
    def take(self, run: str, owner: str, now: float, seconds: float) -> None:
        with self._database.write(run, durable=False) as db:
            _refuse_if_held(db, run, owner, now)
            lease = (run, owner, now + seconds)
            db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", lease)
            db.execute("DELETE FROM stop_requests WHERE run = ?", (run,))

    @override
    def renew(self, run: str, owner: str, now: float, seconds: float) -> bool:
        query = "UPDATE leases SET until = ? WHERE run = ? AND owner = ?"
        with self._database.write(durable=False) as db:
            return db.execute(query, (now + seconds, run, owner)).rowcount == 1

    @override
    def holder(self, run: str) -> str:
        rows = self._database.rows("SELECT owner FROM leases WHERE run = ?", run)
        return str(rows[0][0]) if rows else ""

    @override
    def drop(self, run: str, owner: str) -> None:
        with self._database.write(durable=False) as db:
            db.execute("DELETE FROM leases WHERE run = ? AND owner = ?", (run, owner))

    @override
    def ask_to_stop(self, run: str) -> None:
        with self._database.write(run, durable=False) as db:
            db.execute("INSERT OR IGNORE INTO stop_requests VALUES (?)", (run,))

    @override
    def asked_to_stop(self, run: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM stop_requests WHERE run = ?", run))


class SqliteJournal(_Part, Journal):
    """The journal in SQLite."""

    @override
    def get(self, run: str, key: str) -> JournalRow | None:
        rows = self._database.rows(_CALLS + " AND key = ?", run, key)
        return next((self._call(row) for row in rows), None)

    @override
    def rows(self, run: str) -> list[JournalRow]:
        return [self._call(row) for row in self._database.rows(_CALLS + " ORDER BY number", run)]

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
        values = (run, key, kind, provider, make_storable(what), pack(request), str(worst), now)
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
        self._advance(run, key, CallState.FAILED, now, error=make_storable(error), cost=cost)

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
            db.execute(
                "UPDATE journal SET state = ?, reply = ?, error = ?, cost = ?, sends = sends + ?, "
                "last = ? WHERE run = ? AND key = ?",
                (state.value, reply, error, spent, state is CallState.SENT, now, run, key),
            )

    def _call(self, row: tuple[Any, ...]) -> JournalRow:
        run, key, state, kind, provider, what, request, reply, error, worst, cost, *counts = row
        file = self._database.file
        asked = unpack(request, file)
        answer = None if reply is None else unpack(reply, file)
        try:
            state, worst, cost = CallState(state), Decimal(worst), Decimal(cost)
        except (ValueError, ArithmeticError) as fault:
            raise damaged(file, f"call {key} of run {run} cannot be read") from fault
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
    "SET uncertain = uncertain + (state = 'sent'), state = 'reserved', kind = excluded.kind, "
    "provider = excluded.provider, what = excluded.what, request = excluded.request, "
    "worst = excluded.worst, last = excluded.last, error = NULL WHERE state <> 'settled'"
)


class SqliteRecords(_Part, Records):
    """Ledger, events and report in SQLite."""

    @override
    def add(self, run: str, records: Iterable[tuple[str, str, str]]) -> None:
        rows = [(run, id_, kind, encode(text)) for kind, id_, text in records]
        with self._database.write(run) as db:
            # Bytes compare as characters do, so SQL chooses as the ledger does.
            db.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (run, id) DO UPDATE "
                "SET kind = excluded.kind, json = excluded.json WHERE excluded.json < json",
                rows,
            )

    @override
    def ledger(self, run: str) -> list[tuple[str, str, str]]:
        query = "SELECT kind, id, json FROM records WHERE run = ? ORDER BY id"
        file = self._database.file
        rows = self._database.rows(query, run)
        return [(kind, id_, decode(data, file)) for kind, id_, data in rows]

    @override
    def add_events(self, run: str, events: Iterable[str]) -> None:
        # Not durable: events tell the story, and the record does not depend on them.
        packed = [pack(event) for event in events]
        query = "SELECT coalesce(max(number), 0) FROM events WHERE run = ?"
        with self._database.write(run, durable=False) as db:
            last: int = db.execute(query, (run,)).fetchone()[0]
            db.executemany(
                "INSERT INTO events VALUES (?, ?, ?)",
                [(run, number, data) for number, data in enumerate(packed, last + 1)],
            )

    @override
    def events(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        query = "SELECT number, json FROM events WHERE run = ? AND number > ? ORDER BY number"
        rows = self._database.rows(query, run, after)
        return [(number, unpack(data, self._database.file)) for number, data in rows]

    @override
    def save_report(self, run: str, report: str) -> None:
        data = pack(report)
        with self._database.write(run) as db:
            db.execute("INSERT OR REPLACE INTO reports VALUES (?, ?)", (run, data))

    @override
    def report(self, run: str) -> str | None:
        return self._database.read_packed("SELECT json FROM reports WHERE run = ?", run)


class SqliteTexts(_Part, Texts):
    """Texts in SQLite, compressed."""

    @override
    def put(self, run: str, text: str) -> str:
        hash_, data = pack_text(text)
        with self._database.write(run) as db:
            db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)", (hash_, data, len(text)))
            db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (run, hash_))
        return hash_

    @override
    def hold(self, run: str, digest: str) -> bool:
        with self._database.write(run) as db:
            if db.execute("SELECT 1 FROM blobs WHERE hash = ?", (digest,)).fetchone() is None:
                return False
            db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (run, digest))
        return True

    @override
    def get(self, digest: str) -> str:
        file = self._database.file
        rows = self._database.rows("SELECT bytes FROM blobs WHERE hash = ?", digest)
        if not rows:
            raise lost_text(file, digest, "is missing", self._runs_of(digest))
        try:
            return unpack_text(digest, rows[0][0], file)
        except DamagedStoreError as error:
            raise lost_text(file, digest, "is damaged", self._runs_of(digest)) from error

    def _runs_of(self, digest: str) -> list[str]:
        query = "SELECT run FROM blob_refs WHERE hash = ? ORDER BY run"
        return [str(row[0]) for row in self._database.rows(query, digest)]


class SqliteCache(_Part, Cache):
    """The shared cache in SQLite."""

    @override
    def get(self, key: str, now: float) -> str | None:
        query = "SELECT value FROM cache WHERE key = ? AND expires > ?"
        return self._database.read_packed(query, key, now)

    @override
    def put(self, key: str, value: str, expires: float) -> None:
        data = pack(value)
        with self._database.write(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", (key, data, expires))

    @override
    def claim(self, key: str, owner: str, now: float, until: float) -> bool:
        # Deletes a few expired rows too: a claim comes before every put, and knows what time it is.
        with self._database.write(durable=False) as db:
            for statement in _PRUNE:
                db.execute(statement, (now, PRUNED))
            claimed = db.execute(
                "INSERT INTO cache_claims VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE "
                "SET owner = excluded.owner, until = excluded.until "
                "WHERE owner = ?2 OR until <= ?4",
                (key, owner, until, now),
            )
            return claimed.rowcount == 1

    @override
    def release(self, key: str, owner: str) -> None:
        with self._database.write(durable=False) as db:
            db.execute("DELETE FROM cache_claims WHERE key = ? AND owner = ?", (key, owner))


_PRUNE = (
    "DELETE FROM cache WHERE key IN "
    "(SELECT key FROM cache WHERE expires <= ? ORDER BY expires LIMIT ?)",
    "DELETE FROM cache_claims WHERE key IN "
    "(SELECT key FROM cache_claims WHERE until <= ? ORDER BY until LIMIT ?)",
)


class SqliteLimits(_Part, Limits):
    """The shared limits in SQLite."""

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
        with self._database.write(durable=False) as db:
            bucket = db.execute(
                "SELECT coalesce(tokens, ?), coalesce(updated, ?), paused_until FROM buckets "
                "WHERE provider = ?",
                (capacity, now, provider),
            ).fetchone()
            tokens, updated, paused = bucket or (capacity, now, now)
            if updated > now + CLOCK_SKEW:
                updated = now
                db.execute("UPDATE buckets SET updated = ? WHERE provider = ?", (now, provider))
            # Processes may come out of order by fractions of a second: time is never counted twice.
            tokens = min(capacity, tokens + max(0.0, now - updated) * rate / per)
            due = (1.0 - tokens) * per / rate
            # An owner that asks again keeps its one slot.
            taken, free_at = db.execute(
                "SELECT count(*), min(until) FROM slots "
                "WHERE provider = ? AND owner <> ? AND until > ?",
                (provider, owner, now),
            ).fetchone()
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
            db.execute("DELETE FROM slots WHERE provider = ? AND until <= ?", (provider, now))
            db.execute("INSERT OR REPLACE INTO slots VALUES (?, ?, ?)", (provider, owner, until))
            return LimitGrant(granted=True)

    @override
    def give(self, provider: str, owner: str) -> None:
        with self._database.write(durable=False) as db:
            db.execute("DELETE FROM slots WHERE provider = ? AND owner = ?", (provider, owner))

    @override
    def pause(self, provider: str, until: float) -> None:
        # The longest pause that was asked for counts.
        with self._database.write(durable=False) as db:
            db.execute(
                "INSERT INTO buckets (provider, paused_until) VALUES (?, ?) "
                "ON CONFLICT (provider) DO UPDATE "
                "SET paused_until = max(paused_until, excluded.paused_until)",
                (provider, until),
            )


def _exists(db: sqlite3.Connection, run: str) -> bool:
    return db.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone() is not None


def _unknown(db: sqlite3.Connection, run: str) -> UnknownNameError:
    """Return the error for an unknown run, with the nearest of the newest ids."""
    newest = "SELECT id FROM runs ORDER BY created DESC LIMIT 1000"
    return unknown_run(run, [row[0] for row in db.execute(newest)])


def _refuse_if_held(db: sqlite3.Connection, run: str, owner: str, now: float) -> None:
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


def _make_private(file: Path) -> None:
    """Make the home and the file if they are missing, for the user alone.

    SQLite gives the same mode to -wal and -shm.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if not file.is_file():
                raise
        if stat.S_IMODE(file.stat().st_mode) != 0o600:
            file.chmod(0o600)
    except (OSError, ValueError) as error:
        # ValueError: a path with a NUL in it.
        raise from_os(error, file) from error


def _use_wal(db: sqlite3.Connection, file: Path, timeout: float) -> None:
    """Switch to the write-ahead log.

    SQLite does not wait if two processes switch a new file at the same time, so this does.
    """
    give_up = time.monotonic() + timeout
    while True:
        try:
            mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.02)
    if mode != "wal":
        raise StoreAccessError(
            f"{file} is on a disk that cannot share memory between processes: choose another --home"
        )
