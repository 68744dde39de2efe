"""The book of the service: its users, who is signed in, what they may spend, and a log.

It is a database file of its own in the home, `service.db`, so that a home without a service has
none of it. Whose a run is, the queue knows.
"""

from __future__ import annotations

from pathlib import Path

from deepdiver.store.schema import Migration
from deepdiver.store.sqlite import SqliteDatabase, open_database

FILE_NAME = "service.db"

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
)


def open_book(home: Path) -> SqliteDatabase:
    """Open the book of a home, and make it if it is missing.

    Raises:
        StoreError: One of its kinds; the message says what to do.
    """
    return open_database(home / FILE_NAME, MIGRATIONS)
