"""The store in a PostgreSQL database, for many machines.

Each method is one transaction on a connection of a pool. Writers of one run wait for each other at
the run's row, and writers of a provider's limits at an advisory lock; nothing else waits. Leases,
limits and claims go by the clock of the server, whatever those of the machines say. What is read
and written is in `sql`.

A server that is restarted, or cannot be reached for a while, is waited for, and the method is
repeated. Where a connection is lost at the very end of a transaction, the server is asked what
became of it, so that nothing is written twice.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from pydantic import SecretStr
from typing_extensions import override

from deepdiver.errors import StoreUnreachableError
from deepdiver.store.base import Store
from deepdiver.store.blobs import decode, encode
from deepdiver.store.connections import MOST, SERVER_NAME, Connections, load_driver
from deepdiver.store.migrate import check_version, migrate, schema_version
from deepdiver.store.sql import (
    Database,
    Found,
    Session,
    SqlCache,
    SqlJournal,
    SqlLeases,
    SqlLimits,
    SqlRecords,
    SqlRuns,
    SqlTexts,
    run_not_found,
)

if TYPE_CHECKING:
    from deepdiver.store.connections import Connection

SCHEMA = "deepdiver"
"""The schema of the tables."""
LOCK = 0x44445652
"""The first half of our advisory locks ("DDVR"). The second half is 0 for the schema, or the hash
of a provider."""
HOLD = 0x44445653
"""The first half of the advisory locks on names."""
PATIENCE = 120.0
"""Seconds to wait for a server that was there and is not: a restart takes a few, a failover a
minute."""
PAUSE = 0.25
"""Seconds between two attempts to reach it."""

# As in SQLite (`schema`), with its `rowid` spelt out. Text is compared byte by byte, as there, and
# what may have any character is bytea, because PostgreSQL's text has no NUL. What comes compressed
# is not compressed again (EXTERNAL).
TABLES = """
CREATE TABLE runs (
    id text COLLATE "C" PRIMARY KEY,
    created text COLLATE "C" NOT NULL,
    status text NOT NULL,
    json bytea NOT NULL,
    rowid bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX runs_created ON runs (created, rowid);
CREATE TABLE reports (
    run text COLLATE "C" PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    json bytea NOT NULL
);
CREATE TABLE leases (
    run text COLLATE "C" PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    owner text COLLATE "C" NOT NULL,
    until double precision NOT NULL
);
CREATE TABLE stop_requests (
    run text COLLATE "C" PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE journal (
    run text COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    number int NOT NULL,
    state text NOT NULL,
    kind text NOT NULL,
    provider text NOT NULL,
    what bytea NOT NULL,
    request bytea NOT NULL,
    reply bytea,
    error bytea,
    worst text NOT NULL,
    cost text NOT NULL DEFAULT '0',
    sends int NOT NULL DEFAULT 0,
    uncertain int NOT NULL DEFAULT 0,
    first double precision NOT NULL,
    last double precision NOT NULL,
    PRIMARY KEY (run, key),
    UNIQUE (run, number)
);
CREATE TABLE records (
    run text COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    json bytea NOT NULL,
    PRIMARY KEY (run, id)
);
CREATE TABLE events (
    run text COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number int NOT NULL,
    json bytea NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE blobs (
    hash text COLLATE "C" PRIMARY KEY,
    bytes bytea NOT NULL,
    chars int NOT NULL
);
CREATE TABLE blob_refs (
    run text COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    hash text COLLATE "C" NOT NULL REFERENCES blobs (hash) ON DELETE CASCADE,
    PRIMARY KEY (run, hash)
);
CREATE INDEX blob_refs_hash ON blob_refs (hash);
CREATE TABLE cache (
    key text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL,
    expires double precision NOT NULL
);
CREATE INDEX cache_expires ON cache (expires);
CREATE TABLE cache_claims (
    key text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    until double precision NOT NULL
);
CREATE INDEX cache_claims_until ON cache_claims (until);
CREATE TABLE buckets (
    provider text COLLATE "C" PRIMARY KEY,
    tokens double precision,
    updated double precision,
    paused_until double precision NOT NULL DEFAULT 0
);
CREATE TABLE slots (
    provider text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    until double precision NOT NULL,
    PRIMARY KEY (provider, owner)
);
ALTER TABLE runs ALTER json SET STORAGE EXTERNAL;
ALTER TABLE reports ALTER json SET STORAGE EXTERNAL;
ALTER TABLE journal ALTER request SET STORAGE EXTERNAL, ALTER reply SET STORAGE EXTERNAL;
ALTER TABLE events ALTER json SET STORAGE EXTERNAL;
ALTER TABLE blobs ALTER bytes SET STORAGE EXTERNAL;
ALTER TABLE cache ALTER value SET STORAGE EXTERNAL;
"""
ORDERS = """
CREATE TABLE orders (
    run text COLLATE "C" PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    owner text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    priority int NOT NULL,
    turn int NOT NULL,
    options text NOT NULL,
    state text NOT NULL,
    worker text COLLATE "C" NOT NULL DEFAULT '',
    attempts int NOT NULL DEFAULT 0,
    stop int NOT NULL DEFAULT 0,
    put double precision NOT NULL,
    due double precision NOT NULL,
    taken double precision,
    until double precision,
    ended double precision,
    UNIQUE (owner, key)
);
CREATE INDEX orders_next ON orders (state, priority DESC, turn, put);
CREATE INDEX orders_owner ON orders (owner, state);
"""
NOTES = """
CREATE TABLE notes (name text COLLATE "C" PRIMARY KEY, text bytea NOT NULL);
"""
MARKS = """
CREATE TABLE marks (
    client text COLLATE "C" PRIMARY KEY,
    mark text COLLATE "C" NOT NULL,
    made timestamptz NOT NULL DEFAULT now()
);
"""
"""The mark of the last transaction of each connection; see `PostgresDatabase._is_committed`."""
AGAIN = "ALTER TABLE orders ADD COLUMN again int NOT NULL DEFAULT 0;"
MIGRATIONS = (TABLES, ORDERS, NOTES, MARKS, AGAIN)
"""The statements that lead from each version of the tables to the next."""

_MARK = (
    "INSERT INTO marks (client, mark) VALUES ({}, {}) "
    "ON CONFLICT (client) DO UPDATE SET mark = excluded.mark, made = excluded.made"
)
_STATUS = (
    "SELECT CASE WHEN %(number)s::xid8 < pg_snapshot_xmax(pg_current_snapshot()) "
    "THEN pg_xact_status(%(number)s::xid8) END"
)
"""None for a number that the server, after a crash, has yet to give again."""
_FORGET_MARKS = "DELETE FROM marks WHERE made < now() - interval '1 day'"
"""Nobody asks any more what became of a transaction of yesterday."""

_TIME = "SELECT extract(epoch FROM clock_timestamp())::double precision"
_WITHOUT_WAITING = "SET LOCAL synchronous_commit TO off"
_NUMBER = "SELECT pg_current_xact_id()::text"

T = TypeVar("T")


@dataclass(frozen=True)
class PostgresStore(Store):
    """A `Store` in a PostgreSQL database."""

    database: PostgresDatabase
    """The database."""


def open_postgres(address: SecretStr, *, server_clock: bool = True) -> PostgresStore:
    """Open the store at an address, and make its tables if they are missing.

    Args:
        address: The address of the database, postgresql://…
        server_clock: Whether leases, limits and claims go by the clock of the server; a test gives
            the time itself.

    Raises:
        SettingsError: If the address is malformed.
        StoreError: If it cannot be opened; the message says what to do, never the address.
        UsageError: If the package for PostgreSQL is not installed.
    """
    database = PostgresDatabase(
        Connections(address, SCHEMA, prepare=True, most=MOST), server_clock=server_clock
    )
    try:
        database.migrate()
    except BaseException:
        database.close()
        raise
    return PostgresStore(
        runs=patient(SqlRuns)(database),
        leases=patient(SqlLeases)(database),
        journal=patient(SqlJournal)(database),
        records=patient(SqlRecords)(database),
        texts=patient(SqlTexts)(database),
        cache=patient(SqlCache)(database),
        limits=patient(SqlLimits)(database),
        close=database.close,
        database=database,
    )


def describe_runs(address: SecretStr) -> str:
    """Describe the store at an address in one line. Nothing is created.

    Raises:
        DeepdiverError: If it cannot be used; the message says what to do.
    """
    with closing(Connections(address, SCHEMA)) as connections, connections.use() as db:
        if not schema_version(db, SCHEMA):
            return "in PostgreSQL, which has no runs yet; the first run creates their tables"
        check_version(db, SCHEMA, MIGRATIONS)
        runs, size = db.execute(
            "SELECT (SELECT count(*) FROM runs), (SELECT sum(pg_total_relation_size(oid)) "
            "FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace)",
            (SCHEMA,),
        ).fetchall()[0]
        return f"in PostgreSQL, {float(size) / 1e6:.1f} MB, runs: {runs:,}"


class PostgresDatabase(Database):
    """The tables in a PostgreSQL database."""

    file = Path(SERVER_NAME)
    lock_texts = "LOCK TABLE blobs, blob_refs IN SHARE ROW EXCLUSIVE MODE"
    skip_locked = " FOR UPDATE SKIP LOCKED"

    def __init__(self, connections: Connections, *, server_clock: bool = True) -> None:
        """Use connections; see `open_postgres`."""
        self._connections, self._server_clock = connections, server_clock
        self._clients: WeakKeyDictionary[Connection, str] = WeakKeyDictionary()
        # Threads that want the same turn wait for it here. Those of fifty runs that waited at the
        # server for that of a provider had eight of ten connections, for which all others waited.
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def migrate(
        self, schema: str = SCHEMA, migrations: Sequence[str] = MIGRATIONS, lock: int = LOCK
    ) -> None:
        """Make the tables of a schema, or migrate them; by default those of the store.

        Raises:
            NewerSchemaError: If a newer deepdiver made them.
        """
        with self._connections.use() as db:
            if schema == SCHEMA:
                migrate(db, schema, migrations, lock)
                return
            db.execute(f"SET search_path TO {schema}, {SCHEMA}, public")
            try:
                migrate(db, schema, migrations, lock)
            finally:
                db.close()  # its search path is another one

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    @override
    @contextmanager
    def read(self) -> Iterator[Session]:
        with self._connections.reading() as db:
            yield _Session(db)

    @override
    def rows(self, query: str, *values: object) -> list[Any]:
        with self._connections.use() as db:  # one statement sees one moment
            return _Session(db).execute(query, values).fetchall()

    @override
    @contextmanager
    def write(
        self, run: str | None = None, *, durable: bool = True, alone: str = ""
    ) -> Iterator[Session]:
        # A crash of the server may lose what it was not told to wait for. Unlike a power cut with
        # SQLite, it leaves the process that goes on with a run, so all of a run must be there.
        wait = durable or run is not None
        with self._turns[alone] if alone else nullcontext(), self._connections.use() as db:
            session = _Session(db)
            try:
                number = _begin(session, run, wait=wait, alone=alone)
                yield session
                self._commit(db, number)
            except BaseException:
                if not db.closed:
                    db.execute("ROLLBACK")
                raise

    def _commit(self, db: Connection, number: str) -> None:
        """End a transaction; if the connection is lost meanwhile, find out what became of it."""
        if not number:
            db.execute("COMMIT")
            return
        forget = "" if db in self._clients else f"{_FORGET_MARKS}; "
        mark = (self._clients.setdefault(db, uuid4().hex), uuid4().hex)
        marking = _MARK.format(*(_literal(db, part) for part in mark))
        try:
            db.execute(f"{forget}{marking}; COMMIT")
        except load_driver().OperationalError:
            if not self._is_committed(number, mark):
                raise

    def _is_committed(self, number: str, mark: tuple[str, str]) -> bool:
        """Return whether a transaction was committed, once it has ended.

        Its mark tells. Its number does not: after a crash the server gives the numbers again that
        had not reached its log, and then it is another transaction that was committed.
        """
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                with self._connections.use(beyond=True) as db:
                    rows = db.execute(_STATUS, {"number": number}).fetchall()
                    if rows != [("in progress",)]:
                        found = "SELECT 1 FROM marks WHERE client = %s AND mark = %s"
                        return bool(db.execute(found, mark).fetchall())
            except StoreUnreachableError:
                if time.monotonic() > ends:
                    raise
            time.sleep(PAUSE)

    @contextmanager
    def locked(self, name: str) -> Iterator[bool]:
        """Try to lock a name as long as the block lasts; gives whether it is locked.

        The server releases it when this process dies.
        """
        with self._connections.use(beyond=True) as db:  # for as long as a round takes
            mine = (HOLD, name)
            rows = db.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", mine).fetchall()
            try:
                yield rows == [(True,)]
            finally:
                # Closing it releases the lock as well, and works if the server was restarted.
                db.close()

    @override
    def clock_ahead(self, db: Session, now: float) -> float:
        if not self._server_clock:
            return 0.0
        # Read before the wait for a lock: a lease or place may seem held for that much longer, and
        # no token comes too early.
        assert isinstance(db, _Session)  # noqa: S101 for the type checker
        return db.began - now

    @override
    def write_text(self, text: str) -> str | bytes:
        return encode(text)

    @override
    def read_text(self, stored: Any) -> str:
        return decode(stored, self.file)


class _Session:
    """A `Session` on a connection of psycopg."""

    began: float
    """The time of the server when the transaction began."""

    def __init__(self, db: Connection) -> None:
        self.connection = db
        self._cursor = load_driver().RawCursor(db)

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Found:
        found: Found = self._cursor.execute(_numbered(query), _clean(values), binary=True)
        return found

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> None:
        self._cursor.executemany(_numbered(query), [_clean(row) for row in rows])


@functools.lru_cache(maxsize=256)
def _numbered(query: str) -> bytes:
    """Return a statement with its parameters as PostgreSQL numbers them: ?, ?2 → $1, $2."""
    places = itertools.count(1)
    return re.sub(r"\?(\d*)", lambda mark: f"${mark[1] or next(places)}", query).encode()


def _clean(values: Sequence[Any]) -> list[Any]:
    """Return values without NUL, which no text here has: it would be refused and finds nothing."""
    return [value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in values]


def _begin(session: _Session, run: str | None, *, wait: bool, alone: str) -> str:
    """Begin a transaction in one round trip, and return its number.

    It is empty where it does not matter if the transaction is repeated. A thread that has asked the
    server waits for its turn among those that compute: beside fifty runs 10 ms for each round trip.
    """
    db = session.connection
    steps = ["BEGIN", *(() if wait else (_WITHOUT_WAITING,)), _TIME]
    if run is not None:  # it is locked
        steps.append(f"{_NUMBER} FROM runs WHERE id = {_literal(db, run)} FOR NO KEY UPDATE")
    elif wait:
        steps.append(_NUMBER)
    if alone:
        steps.append(f"SELECT pg_advisory_xact_lock({LOCK}, hashtext({_literal(db, alone)}))")
    begun = db.execute("; ".join(steps))
    for _ in range(steps.index(_TIME)):
        begun.nextset()
    session.began = begun.fetchall()[0][0]
    if not wait:
        return ""
    begun.nextset()
    found = begun.fetchone()
    if found is None:
        raise run_not_found(session, str(run))
    return str(found[0])


def _literal(db: Connection, text: str) -> str:
    """Return a text as it stands in a statement on a connection, which knows how to quote it."""
    quoted: str = load_driver().sql.quote(text.replace("\0", "\ufffd"), db)
    return quoted


def patient(part: type[T]) -> type[T]:
    """Return a part of the store whose methods wait for a server that is away for a while."""
    methods = {
        name: _repeated(method)
        for name, method in inspect.getmembers(part, inspect.isfunction)
        if not name.startswith("_")
    }
    return type(part.__name__.replace("Sql", "Postgres"), (part,), methods)


def _repeated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def repeat(*given: Any, **named: Any) -> Any:
        given = tuple(list(one) if isinstance(one, Iterator) else one for one in given)
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                return method(*given, **named)
            except StoreUnreachableError:
                if time.monotonic() > ends:
                    raise
                time.sleep(PAUSE)

    return repeat
