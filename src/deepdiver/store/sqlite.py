"""The store in one SQLite file, for one person and any number of processes.

One connection behind one lock: SQLite lets one writer work at a time anyway, and a read takes 40
µs. Writers begin with BEGIN IMMEDIATE, so that two processes never find out at the end that they
were at the same thing.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from deepdiver.core.budget import EXACT, ZERO
from deepdiver.core.identity import canonical
from deepdiver.core.record import Run, RunStatus
from deepdiver.errors import RunBusyError, StoreAccessError, UnknownNameError
from deepdiver.store import schema
from deepdiver.store.base import CallState, JournalRow, LimitGrant, PastRun
from deepdiver.store.blobs import decode, encode, pack, pack_text, storable, unpack, unpack_text
from deepdiver.store.faults import damaged, from_os, primary_code, shown, translated, unknown_run
from deepdiver.store.past import read_past

FILE_NAME = "deepdiver.db"
BUSY_SECONDS = 30.0
"""How long a writer waits for other processes. A transaction takes milliseconds, so this means that
one hangs."""
CLOCK_SKEW = 60.0
"""A bucket last filled further in the future than this was filled before the clock was set back."""
SLOT_POLL = 0.05
"""When to ask again for a slot: nobody knows when a call ends. A refusal writes nothing and takes
35 µs."""
SHORTEST_WAIT = 0.001
"""Asking sooner is a waste."""
CLOCK_GRAIN = 1e-6
"""Seconds since 1970 as a float are exact to 0.2 µs: a token due within this is there. It is owed,
not given."""
PRUNED = 20
"""Expired rows of the cache thrown out at each claim: more than a claim can add, so they do not
pile up."""
CANDIDATES = 3
"""How many runs to name when the beginning of an id fits several."""

_OPENING = threading.Lock()
_OPEN_CALLS = (CallState.RESERVED, CallState.SENT)
_CALLS = (
    "SELECT run, key, state, kind, provider, what, request, reply, error, worst, cost, sends, "
    "uncertain, first, last, "
    "number FROM journal WHERE run = ?"
)
_PRUNE = (
    "DELETE FROM cache WHERE key IN (SELECT key FROM cache WHERE expires <= ? ORDER BY expires "
    "LIMIT ?)",
    "DELETE FROM cache_claims WHERE key IN (SELECT key FROM cache_claims WHERE until <= ? ORDER BY "
    "until LIMIT ?)",
)


def open_store(home: Path, *, timeout: float = BUSY_SECONDS) -> SqliteStore:
    """Open the database of a home, and make both if they are missing.

    Args:
        home: The folder; made for the user alone.
        timeout: Seconds to wait while another process writes.

    Raises:
        StoreError: One of its kinds; each says what to do.
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
                schema.check(
                    db, file
                )  # Before anything is changed: the file may be another program's.
                _use_wal(db, file, timeout)
                schema.migrate(db, file)
                db.execute("PRAGMA foreign_keys = ON")
                db.execute(
                    "PRAGMA fullfsync = ON"
                )  # macOS only: without it, FULL does not reach the disk there.
            except BaseException:
                db.close()
                raise
    return SqliteStore(db, file, timeout)


class SqliteStore:
    """A `Store` in one SQLite file; see there for what the methods promise."""

    def __init__(self, db: sqlite3.Connection, file: Path, timeout: float) -> None:
        """Take over an open, migrated connection; use `open_store`."""
        self.file = file
        self._db = db
        self._timeout = timeout
        self._lock = threading.Lock()
        weakref.finalize(
            self, db.close
        )  # an agent keeps its store for as long as it lives, and nobody closes it

    def close(self) -> None:
        """Let go of the database."""
        with self._lock, translated(self.file, self._timeout):
            self._db.close()

    # Runs

    def create_run(self, run: Run) -> None:
        """Save a new run; ValueError if there is one of this id."""
        values = run.model_dump(mode="json")
        status = values.pop("status")
        row = (run.id, run.created, status, pack(canonical(values)))
        with self._write() as db:
            added = db.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", row
            ).rowcount
            if not added:
                raise ValueError(f"there is a run {run.id} already")

    def get_run(self, run: str) -> Run:
        """Return a run by its id or by an unambiguous beginning of it.

        UnknownNameError if there is none.
        """
        start = storable(run)
        with self._read() as db:
            rows = db.execute(
                "SELECT id, status, json FROM runs WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) "
                "ORDER BY id LIMIT ?2",
                (start, CANDIDATES + 1),
            ).fetchall()
            if not rows:
                raise _unknown(db, run)
        if len(rows) == 1 or rows[0][0] == start:
            return self._run(*rows[0])
        named = ", ".join(row[0] for row in rows[:CANDIDATES]) + (
            ", …" if len(rows) > CANDIDATES else ""
        )
        raise UnknownNameError(
            f"run {shown(run)} is ambiguous: it may be {named}; give more of the id"
        )

    def list_runs(self) -> list[Run]:
        """Return all runs, the newest first."""
        query = "SELECT id, status, json FROM runs ORDER BY created DESC, rowid DESC"
        return [self._run(*row) for row in self._rows(query)]

    def past_runs(self, run: str, beginning: str) -> list[PastRun]:
        """Return the finished runs that were begun before a run, the newest first; see `Store`."""
        with self._read() as db:
            return read_past(db, self.file, run, beginning)

    def set_status(self, run: str, status: RunStatus) -> None:
        """Save where a run stands."""
        with self._write(run) as db:
            db.execute("UPDATE runs SET status = ? WHERE id = ?", (status.value, run))

    def delete_run(self, run: str, now: float) -> None:
        """Forget a run and every text that no other run refers to.

        RunBusyError while a process works on it.
        """
        with self._write(run) as db:
            self._refuse_if_held(db, run, "", now)
            db.execute(
                "DELETE FROM blobs WHERE hash IN (SELECT hash FROM blob_refs AS mine WHERE run = ? "
                "AND NOT EXISTS "
                "(SELECT 1 FROM blob_refs AS other WHERE other.hash = mine.hash AND other.run <> "
                "mine.run))",
                (run,),
            )
            db.execute(
                "DELETE FROM runs WHERE id = ?", (run,)
            )  # Everything else of the run goes with it: cascades.

    def save_report(self, run: str, report: str) -> None:
        """Save a run's report, as JSON."""
        data = pack(report)
        with self._write(run) as db:
            db.execute("INSERT OR REPLACE INTO reports VALUES (?, ?)", (run, data))

    def get_report(self, run: str) -> str | None:
        """Return a run's report, if there is one."""
        return self._unpacked("SELECT json FROM reports WHERE run = ?", run)

    # Leases. Like all that is worthless after a power cut, they are not waited for until they are
    # on disk.

    def take_lease(self, run: str, owner: str, now: float, seconds: float) -> None:
        """Take a run for one process.

        RunBusyError names the holder while another's lease is alive.
        """
        with self._write(run, durable=False) as db:
            self._refuse_if_held(db, run, owner, now)
            db.execute(
                "INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (run, owner, now + seconds)
            )
            db.execute("DELETE FROM stop_requests WHERE run = ?", (run,))

    def renew_lease(self, run: str, owner: str, now: float, seconds: float) -> bool:
        """Say that the owner is alive; False if the lease was lost.

        One that ran out and nobody took is not lost.
        """
        with self._write(durable=False) as db:
            values = (now + seconds, run, owner)
            return (
                db.execute(
                    "UPDATE leases SET until = ? WHERE run = ? AND owner = ?", values
                ).rowcount
                == 1
            )

    def drop_lease(self, run: str, owner: str) -> None:
        """Let a run go."""
        with self._write(durable=False) as db:
            db.execute("DELETE FROM leases WHERE run = ? AND owner = ?", (run, owner))

    def ask_to_stop(self, run: str) -> None:
        """Leave word for the process that works on a run."""
        with self._write(run, durable=False) as db:
            db.execute("INSERT OR IGNORE INTO stop_requests VALUES (?)", (run,))

    def asked_to_stop(self, run: str) -> bool:
        """Whether someone asked; forgotten when a lease is taken."""
        with self._read() as db:
            return (
                db.execute("SELECT 1 FROM stop_requests WHERE run = ?", (run,)).fetchone()
                is not None
            )

    # Journal

    def journal_get(self, run: str, key: str) -> JournalRow | None:
        """Return a call, if it is known."""
        return next(
            (self._journal_row(row) for row in self._rows(_CALLS + " AND key = ?", run, key)), None
        )

    def journal_list(self, run: str) -> list[JournalRow]:
        """Return all calls of a run in order."""
        return [self._journal_row(row) for row in self._rows(_CALLS + " ORDER BY number", run)]

    def journal_reserve(
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
        """Enter a call as reserved, or anew if it is not settled; see `Store`.

        Not waited for until it is on disk: nothing went out yet, and `journal_sent` takes it along.
        """
        values = (run, key, kind, provider, storable(what), pack(request), str(worst), now)
        with self._write(run, durable=False) as db:
            entered = db.execute(
                "INSERT INTO journal (run, key, kind, provider, what, request, worst, first, last, "
                "state, number) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 'reserved', "
                "(SELECT coalesce(max(number), 0) + 1 FROM journal WHERE run = ?1)) "
                "ON CONFLICT (run, key) DO UPDATE SET uncertain = uncertain + (state = 'sent'), "
                "state = 'reserved', "
                "kind = excluded.kind, provider = excluded.provider, what = excluded.what, request "
                "= excluded.request, "
                "worst = excluded.worst, last = excluded.last, error = NULL WHERE state <> "
                "'settled'",
                values,
            ).rowcount
            if not entered:
                raise ValueError(f"call {key} of run {run} is settled: it cannot be reserved again")

    def journal_sent(self, run: str, key: str, now: float) -> None:
        """Mark a call as sent, on disk before this returns."""
        self._advance(run, key, CallState.SENT, now, None, None, ZERO)

    def journal_declined(self, run: str, key: str, now: float) -> None:
        """Take a sent call back to reserved.

        What a power cut forgets of it counts as uncertain, which is safe.
        """
        self._advance(run, key, CallState.RESERVED, now, None, None, ZERO)

    def journal_settled(self, run: str, key: str, reply: str, cost: Decimal, now: float) -> None:
        """Keep a call's answer, on disk before this returns."""
        self._advance(run, key, CallState.SETTLED, now, pack(reply), None, cost)

    def journal_failed(self, run: str, key: str, error: str, cost: Decimal, now: float) -> None:
        """Keep why a call failed."""
        self._advance(run, key, CallState.FAILED, now, None, storable(error), cost)

    # Records, events, texts

    def add_records(self, run: str, records: Iterable[tuple[str, str, str]]) -> None:
        """Add (kind, id, JSON) to a run's ledger.

        A known id is kept unless the new JSON reads first (see ledger).
        """
        rows = [(run, id_, kind, encode(text)) for kind, id_, text in records]
        with self._write(
            run
        ) as db:  # Bytes compare as characters do, so SQL chooses as the ledger does.
            db.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?) ON CONFLICT (run, id) DO UPDATE "
                "SET kind = excluded.kind, json = excluded.json WHERE excluded.json < json",
                rows,
            )

    def get_records(self, run: str) -> list[tuple[str, str, str]]:
        """Return a run's ledger, ordered by id."""
        query = "SELECT kind, id, json FROM records WHERE run = ? ORDER BY id"
        return [(kind, id_, decode(data, self.file)) for kind, id_, data in self._rows(query, run)]

    def add_events(self, run: str, events: Iterable[str]) -> None:
        """Append events, as JSON.

        They tell the story and are not the record: not waited for until on disk.
        """
        packed = [pack(event) for event in events]
        with self._write(run, durable=False) as db:
            last: int = db.execute(
                "SELECT coalesce(max(number), 0) FROM events WHERE run = ?", (run,)
            ).fetchone()[0]
            db.executemany(
                "INSERT INTO events VALUES (?, ?, ?)",
                [(run, n, data) for n, data in enumerate(packed, last + 1)],
            )

    def get_events(self, run: str, after: int = 0) -> list[tuple[int, str]]:
        """Return (number, JSON) of a run's events behind a number."""
        query = "SELECT number, json FROM events WHERE run = ? AND number > ? ORDER BY number"
        return [(number, unpack(data, self.file)) for number, data in self._rows(query, run, after)]

    def put_text(self, run: str, text: str) -> str:
        """Keep a text, compressed, once per store; return its hash."""
        hash_, data = pack_text(text)
        with self._write(run) as db:
            db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)", (hash_, data, len(text)))
            db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (run, hash_))
        return hash_

    def hold_text(self, run: str, digest: str) -> bool:
        """Have a run refer to a text that another saved; False if it is not kept any more."""
        with self._write(run) as db:
            if db.execute("SELECT 1 FROM blobs WHERE hash = ?", (digest,)).fetchone() is None:
                return False
            db.execute("INSERT OR IGNORE INTO blob_refs VALUES (?, ?)", (run, digest))
        return True

    def get_text(self, digest: str) -> str:
        """Return a text by its hash; KeyError if it is not kept."""
        with self._read() as db:
            row = db.execute("SELECT bytes FROM blobs WHERE hash = ?", (digest,)).fetchone()
        if row is None:
            raise KeyError(digest)
        return unpack_text(digest, row[0], self.file)

    # Shared between runs and processes

    def cache_get(self, key: str, now: float) -> str | None:
        """Return a cached answer that is still fresh."""
        return self._unpacked("SELECT value FROM cache WHERE key = ? AND expires > ?", key, now)

    def cache_put(self, key: str, value: str, expires: float) -> None:
        """Share an answer until a time."""
        data = pack(value)
        with self._write(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", (key, data, expires))

    def cache_claim(self, key: str, owner: str, now: float, until: float) -> bool:
        """Claim the right to fetch an answer; False while another holds a live claim.

        Also throws out a few expired rows: a claim comes before every put, and knows what time it
        is.
        """
        with self._write(durable=False) as db:
            for statement in _PRUNE:
                db.execute(statement, (now, PRUNED))
            claimed = db.execute(
                "INSERT INTO cache_claims VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE "
                "SET owner = excluded.owner, until = excluded.until WHERE owner = ?2 OR until "
                "<= ?4",
                (key, owner, until, now),
            )
            return claimed.rowcount == 1

    def cache_release(self, key: str, owner: str) -> None:
        """Give a claim back."""
        with self._write(durable=False) as db:
            db.execute("DELETE FROM cache_claims WHERE key = ? AND owner = ?", (key, owner))

    def limit_take(
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
        """Ask for a place among a provider's calls; see `Store`.

        An owner that asks again keeps its one slot.
        """
        capacity = max(1.0, rate)
        with self._write(durable=False) as db:
            bucket = db.execute(
                "SELECT coalesce(tokens, ?), coalesce(updated, ?), paused_until FROM buckets WHERE "
                "provider = ?",
                (capacity, now, provider),
            ).fetchone()
            tokens, updated, paused = bucket or (capacity, now, now)
            if updated > now + CLOCK_SKEW:
                updated = now
                db.execute("UPDATE buckets SET updated = ? WHERE provider = ?", (now, provider))
            # Processes come in the wrong order by fractions of a second: time that was counted is
            # not counted again.
            tokens = min(capacity, tokens + max(0.0, now - updated) * rate / per)
            due = (1.0 - tokens) * per / rate
            taken = db.execute(
                "SELECT count(*), min(until) FROM slots WHERE provider = ? AND owner <> ? AND "
                "until > ?",
                (provider, owner, now),
            ).fetchone()
            waits = (
                paused - now,
                due if due > CLOCK_GRAIN else 0.0,
                min(taken[1] - now, SLOT_POLL) if taken[0] >= concurrent else 0.0,
            )
            if max(waits) > 0:
                return LimitGrant(granted=False, wait=max(*waits, SHORTEST_WAIT))
            db.execute(
                "INSERT INTO buckets (provider, tokens, updated) VALUES (?, ?, ?) ON CONFLICT "
                "(provider) DO UPDATE "
                "SET tokens = excluded.tokens, updated = excluded.updated",
                (provider, tokens - 1.0, max(updated, now)),
            )
            db.execute("DELETE FROM slots WHERE provider = ? AND until <= ?", (provider, now))
            db.execute("INSERT OR REPLACE INTO slots VALUES (?, ?, ?)", (provider, owner, until))
            return LimitGrant(granted=True)

    def limit_give(self, provider: str, owner: str) -> None:
        """Give a place back."""
        with self._write(durable=False) as db:
            db.execute("DELETE FROM slots WHERE provider = ? AND owner = ?", (provider, owner))

    def limit_pause(self, provider: str, until: float) -> None:
        """Let nobody call a provider before a time: it asked for rest.

        The longest rest asked for counts.
        """
        with self._write(durable=False) as db:
            db.execute(
                "INSERT INTO buckets (provider, paused_until) VALUES (?, ?) ON CONFLICT (provider) "
                "DO UPDATE "
                "SET paused_until = max(paused_until, excluded.paused_until)",
                (provider, until),
            )

    # Beneath

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._lock, translated(self.file, self._timeout):
            yield self._db

    @contextmanager
    def _write(
        self, run: str | None = None, *, durable: bool = True
    ) -> Iterator[sqlite3.Connection]:
        """One transaction; with a run, one that must be there.

        A durable one is on disk when it ends (FULL). That costs one fsync: measured 0.15 ms on a
        quiet disk and 4 ms on a busy one, where the rest takes 0.06 ms. The others are safe from a
        killed process at once, and from a power cut when the next durable one ends. So a call is
        journalled with two fsyncs: 0.5 ms, or 8 ms on a busy disk.
        """
        with self._lock, translated(self.file, self._timeout):
            db = self._db
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            try:
                db.execute("BEGIN IMMEDIATE")
                if (
                    run is not None
                    and db.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone() is None
                ):
                    raise _unknown(db, run)
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _advance(
        self,
        run: str,
        key: str,
        state: CallState,
        now: float,
        reply: bytes | None,
        error: str | None,
        cost: Decimal,
    ) -> None:
        """Move a reserved or sent call on, or a sent one back.

        What failed attempts cost stays in the sum.
        """
        back = state is CallState.RESERVED
        with self._write(run, durable=not back) as db:
            row = db.execute(
                "SELECT state, cost FROM journal WHERE run = ? AND key = ?", (run, key)
            ).fetchone()
            if row is None or row[0] not in (_OPEN_CALLS[1:] if back else _OPEN_CALLS):
                raise ValueError(
                    f"call {key} of run {run} is {row[0] if row else 'not known'}: it cannot be "
                    f"{state}"
                )
            spent = str(EXACT.add(Decimal(row[1]), cost))
            db.execute(
                "UPDATE journal SET state = ?, reply = ?, error = ?, cost = ?, sends = sends + ?, "
                "last = ? "
                "WHERE run = ? AND key = ?",
                (state.value, reply, error, spent, state is CallState.SENT, now, run, key),
            )

    def _refuse_if_held(self, db: sqlite3.Connection, run: str, owner: str, now: float) -> None:
        held = db.execute(
            "SELECT owner, until FROM leases WHERE run = ? AND owner <> ? AND until > ?",
            (run, owner, now),
        ).fetchone()
        if held is not None:
            until = datetime.fromtimestamp(held[1], UTC).isoformat(timespec="seconds")
            raise RunBusyError(
                f"run {run} is being worked on by {held[0]}, whose lease runs until {until}: wait, "
                "or stop it with "
                f"`deepdiver stop {run}`; if that process is dead, the run frees itself in "
                f"{held[1] - now:.0f} s",
                holder=str(held[0]),
            )

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._read() as db:
            return db.execute(query, values).fetchall()

    def _unpacked(self, query: str, *values: object) -> str | None:
        return next((unpack(row[0], self.file) for row in self._rows(query, *values)), None)

    def _run(self, id_: str, status: str, data: bytes) -> Run:
        text = unpack(data, self.file)
        try:
            return Run.model_validate({**json.loads(text), "status": status})
        except (ValueError, TypeError) as error:
            raise damaged(self.file, f"run {id_} cannot be read") from error

    def _journal_row(self, row: tuple[Any, ...]) -> JournalRow:
        run, key, state, kind, provider, what, request, reply, error, worst, cost, *counts = row
        asked = unpack(request, self.file)
        answer = None if reply is None else unpack(reply, self.file)
        try:
            state, worst, cost = CallState(state), Decimal(worst), Decimal(cost)
        except (ValueError, ArithmeticError) as fault:
            raise damaged(self.file, f"call {key} of run {run} cannot be read") from fault
        return JournalRow(
            run, key, state, kind, provider, what, asked, answer, error, worst, cost, *counts
        )


def _make_private(file: Path) -> None:
    """Make the home and the file if they are missing, for the user alone.

    SQLite gives -wal and -shm the same mode.
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
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it.
        raise from_os(error, file) from error


def _use_wal(db: sqlite3.Connection, file: Path, timeout: float) -> None:
    """Switch to the write-ahead log.

    SQLite does not wait when two processes switch a new file at once: we do.
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


def _unknown(db: sqlite3.Connection, run: str) -> UnknownNameError:
    """Say that a run is not there, with the nearest of the newest ones."""
    return unknown_run(
        run, [row[0] for row in db.execute("SELECT id FROM runs ORDER BY created DESC LIMIT 1000")]
    )
