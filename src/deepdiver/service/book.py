"""The book of the service: its users, who is signed in, what they may spend, what is shared, a log.

Where a database is given, the book is in a schema of its own there, and several services share it.
Otherwise it is a file of its own in the home, `service.db`, so that a home without a service has
none of it. Whose a run is, the queue knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr

from deepdiver.store.connections import Connections
from deepdiver.store.postgres import MARKS, PostgresDatabase, patient
from deepdiver.store.schema import Migration
from deepdiver.store.sqlite import SqliteDatabase, open_database

FILE_NAME = "service.db"
SCHEMA = "deepdiver_service"
"""The schema of the tables in PostgreSQL."""
LOCK = 0x44445655
"""The first half of the advisory lock for migrating them."""
MOST_CONNECTIONS = 4
"""Connections to PostgreSQL at a time: a request asks who sends it, which takes a millisecond."""
Book = SqliteDatabase | PostgresDatabase
T = TypeVar("T")

# Money is TEXT, because REAL would round a Decimal. Tokens are here as hashes alone.
MIGRATIONS: tuple[Migration, ...] = (
    (
        1,
        (
            """CREATE TABLE users (
                name TEXT PRIMARY KEY,
                token TEXT NOT NULL UNIQUE,
                runs INTEGER NOT NULL,
                money TEXT,
                bytes INTEGER NOT NULL,
                created TEXT NOT NULL
            )""",
            """CREATE TABLE sessions (
                token TEXT PRIMARY KEY,
                user TEXT NOT NULL,
                until REAL NOT NULL
            )""",
            """CREATE TABLE purses (
                run TEXT PRIMARY KEY,
                owner TEXT NOT NULL,
                reserved TEXT,
                spent TEXT
            )""",
            "CREATE INDEX purses_owner ON purses (owner)",
            """CREATE TABLE log (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                at TEXT NOT NULL,
                user TEXT NOT NULL,
                action TEXT NOT NULL,
                what TEXT NOT NULL,
                chain TEXT NOT NULL
            )""",
            "CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log "
            "BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
            "CREATE TRIGGER log_is_not_deleted BEFORE DELETE ON log "
            "BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END",
        ),
    ),
    (
        2,
        (
            """CREATE TABLE shares (
                run TEXT PRIMARY KEY,
                owner TEXT NOT NULL,
                token TEXT NOT NULL UNIQUE,
                created TEXT NOT NULL
            )""",
        ),
    ),
)

# As in SQLite. Text is compared byte by byte, as there.
TABLES = f"""
{MARKS}
CREATE TABLE users (
    name text COLLATE "C" PRIMARY KEY,
    token text COLLATE "C" NOT NULL UNIQUE,
    runs int NOT NULL,
    money text,
    bytes bigint NOT NULL,
    created text NOT NULL
);
CREATE TABLE sessions (
    token text COLLATE "C" PRIMARY KEY,
    "user" text COLLATE "C" NOT NULL,
    until double precision NOT NULL
);
CREATE TABLE purses (
    run text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    reserved text,
    spent text
);
CREATE INDEX purses_owner ON purses (owner);
CREATE TABLE log (
    number bigint PRIMARY KEY,
    at text NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    action text NOT NULL,
    what text NOT NULL,
    chain text NOT NULL
);
CREATE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION 'the log is append-only'; END$$;
CREATE TRIGGER log_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON log
    EXECUTE FUNCTION log_is_append_only();
CREATE TABLE shares (
    run text COLLATE "C" PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL UNIQUE,
    created text NOT NULL
);
"""
POSTGRES_MIGRATIONS = (TABLES,)


def open_book(home: Path, database: SecretStr | None = None) -> Book:
    """Open the book of a service, and make it if it is missing.

    Args:
        home: The home, where the book is a file unless there is a database.
        database: The address of the PostgreSQL database, if the settings have one.

    Raises:
        StoreError: One of its kinds; the message says what to do.
        SettingsError: If the address of the database is malformed.
    """
    if database is None:
        return open_database(home / FILE_NAME, MIGRATIONS)
    opened = PostgresDatabase(Connections(database, SCHEMA, prepare=True, most=MOST_CONNECTIONS))
    try:
        opened.migrate(SCHEMA, POSTGRES_MIGRATIONS, LOCK)
    except BaseException:
        opened.close()
        raise
    return opened


def part_of(book: Book, part: type[T]) -> type[T]:
    """Return a part of a book as a class whose methods wait for a server that is away a while."""
    return patient(part) if isinstance(book, PostgresDatabase) else part
