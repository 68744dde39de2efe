"""The store in one SQLite file, for one person and any number of processes.

One connection behind one lock: SQLite lets only one writer work at a time, and a read takes 40 µs.
Writers begin with BEGIN IMMEDIATE, so that two processes do not find out at the end that they were
doing the same thing. What is read and written is in `sql`.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from deepdiver.errors import StoreAccessError
from deepdiver.store import schema
from deepdiver.store.base import Store
from deepdiver.store.faults import from_os, primary_code, translated
from deepdiver.store.sql import (
    Database,
    SqlCache,
    SqlJournal,
    SqlLeases,
    SqlLimits,
    SqlRecords,
    SqlRuns,
    SqlTexts,
    run_not_found,
)

FILE_NAME = "deepdiver.db"
BUSY_SECONDS = 30.0
"""How long a writer waits for other processes. A transaction takes milliseconds, so after this time
another process hangs."""
_OPENING = threading.Lock()


@dataclass(frozen=True)
class SqliteStore(Store):
    """A `Store` in one SQLite file."""

    database: SqliteDatabase
    """The file."""


def open_sqlite(home: Path, *, timeout: float = BUSY_SECONDS) -> SqliteStore:
    """Open the database of a home, and make both if they are missing.

    Args:
        home: The folder; made for the user alone.
        timeout: Seconds to wait while another process writes.

    Raises:
        StoreError: One of its kinds; the message says what to do.
    """
    return _store(open_database(home / FILE_NAME, timeout=timeout))


def open_database(
    file: Path,
    migrations: Sequence[schema.Migration] = schema.MIGRATIONS,
    *,
    timeout: float = BUSY_SECONDS,
) -> SqliteDatabase:
    """Open a database file of ours, and make it with its folder if they are missing.

    Args:
        file: The file; made for the user alone.
        migrations: From an empty file to the tables that are wanted.
        timeout: Seconds to wait while another process writes.

    Raises:
        StoreError: One of its kinds; the message says what to do.
    """
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
                schema.check(db, file, migrations)
                _use_wal(db, file, timeout)
                schema.migrate(db, file, migrations)
                db.execute("PRAGMA foreign_keys = ON")
                # macOS only: without it, FULL does not reach the disk there.
                db.execute("PRAGMA fullfsync = ON")
            except BaseException:
                db.close()
                raise
    return SqliteDatabase(db, file, timeout)


def open_memory() -> SqliteStore:
    """Open a store in memory, which only this process sees and which ends with it."""
    file = Path(":memory:")
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    schema.migrate(db, file)
    db.execute("PRAGMA foreign_keys = ON")
    return _store(SqliteDatabase(db, file, 0.0))


def _store(database: SqliteDatabase) -> SqliteStore:
    return SqliteStore(
        runs=SqlRuns(database),
        leases=SqlLeases(database),
        journal=SqlJournal(database),
        records=SqlRecords(database),
        texts=SqlTexts(database),
        cache=SqlCache(database),
        limits=SqlLimits(database),
        close=database.close,
        database=database,
    )


class SqliteDatabase(Database):
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

    @override
    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for reading."""
        with self._lock, translated(self.file, self._timeout):
            yield self.connection

    @override
    @contextmanager
    def write(
        self, run: str | None = None, *, durable: bool = True, alone: str = ""
    ) -> Iterator[sqlite3.Connection]:
        """Give the connection for one transaction.

        A durable transaction is on disk when it ends (FULL). That takes one fsync: measured 0.15 ms
        on a quiet disk and 4 ms on a busy one, while the rest takes 0.06 ms. Other transactions are
        safe from a killed process at once, and from a power cut when the next durable one ends. So
        journalling a call takes two fsyncs: 0.5 ms, or 8 ms on a busy disk. All writers are alone.
        """
        with self._lock, translated(self.file, self._timeout):
            db = self.connection
            db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            try:
                db.execute("BEGIN IMMEDIATE")
                if run is not None and not _exists(db, run):
                    raise run_not_found(db, run)
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


def _exists(db: sqlite3.Connection, run: str) -> bool:
    return db.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone() is not None


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
