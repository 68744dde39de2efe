"""The tables of the SQLite store, as numbered migrations from an empty file to the present.

A released migration is never edited: a change to the tables is a new migration at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from deepdiver.errors import DamagedStoreError, NewerSchemaError

APPLICATION_ID = 0x44445652
"""The application id in the header of every deepdiver database ("DDVR"), to tell it from the files
of other programs."""

Migration = tuple[int, Sequence[str]]
"""A version, and the statements that lead to it from the version before."""

# Texts are BLOBs: compressed (see blobs), or plain UTF-8 if SQL compares them. Money is TEXT,
# because REAL would round a Decimal.
MIGRATIONS: tuple[Migration, ...] = (
    (
        1,
        (
            "CREATE TABLE runs (id TEXT PRIMARY KEY, created TEXT NOT NULL, status TEXT NOT NULL, "
            "json BLOB NOT NULL)",
            "CREATE INDEX runs_created ON runs (created)",
            """CREATE TABLE reports (
                run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
                json BLOB NOT NULL
            )""",
            """CREATE TABLE leases (
                run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
                owner TEXT NOT NULL,
                until REAL NOT NULL
            )""",
            "CREATE TABLE stop_requests (run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE "
            "CASCADE)",
            """CREATE TABLE journal (
                run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
                key TEXT NOT NULL,
                number INTEGER NOT NULL,
                state TEXT NOT NULL,
                kind TEXT NOT NULL,
                provider TEXT NOT NULL,
                what TEXT NOT NULL,
                request BLOB NOT NULL,
                reply BLOB,
                error TEXT,
                worst TEXT NOT NULL,
                cost TEXT NOT NULL DEFAULT '0',
                sends INTEGER NOT NULL DEFAULT 0,
                uncertain INTEGER NOT NULL DEFAULT 0,
                first REAL NOT NULL,
                last REAL NOT NULL,
                PRIMARY KEY (run, key),
                UNIQUE (run, number)
            )""",
            """CREATE TABLE records (
                run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
                id TEXT NOT NULL,
                kind TEXT NOT NULL,
                json BLOB NOT NULL,
                PRIMARY KEY (run, id)
            )""",
            """CREATE TABLE events (
                run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
                number INTEGER NOT NULL,
                json BLOB NOT NULL,
                PRIMARY KEY (run, number)
            )""",
            "CREATE TABLE blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL, chars INTEGER NOT "
            "NULL)",
            """CREATE TABLE blob_refs (
                run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
                hash TEXT NOT NULL REFERENCES blobs (hash) ON DELETE CASCADE,
                PRIMARY KEY (run, hash)
            ) WITHOUT ROWID""",
            "CREATE INDEX blob_refs_hash ON blob_refs (hash)",
            "CREATE TABLE cache (key TEXT PRIMARY KEY, value BLOB NOT NULL, expires REAL NOT NULL)",
            "CREATE INDEX cache_expires ON cache (expires)",
            "CREATE TABLE cache_claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT "
            "NULL)",
            "CREATE INDEX cache_claims_until ON cache_claims (until)",
            """CREATE TABLE buckets (
                provider TEXT PRIMARY KEY,
                tokens REAL,
                updated REAL,
                paused_until REAL NOT NULL DEFAULT 0
            )""",
            """CREATE TABLE slots (
                provider TEXT NOT NULL,
                owner TEXT NOT NULL,
                until REAL NOT NULL,
                PRIMARY KEY (provider, owner)
            ) WITHOUT ROWID""",
        ),
    ),
    (
        2,
        (
            """CREATE TABLE orders (
                run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
                owner TEXT NOT NULL,
                key TEXT,
                priority INTEGER NOT NULL,
                turn INTEGER NOT NULL,
                options TEXT NOT NULL,
                state TEXT NOT NULL,
                worker TEXT NOT NULL DEFAULT '',
                attempts INTEGER NOT NULL DEFAULT 0,
                stop INTEGER NOT NULL DEFAULT 0,
                put REAL NOT NULL,
                due REAL NOT NULL,
                taken REAL,
                until REAL,
                ended REAL,
                UNIQUE (owner, key)
            )""",
            "CREATE INDEX orders_next ON orders (state, priority DESC, turn, put)",
            "CREATE INDEX orders_owner ON orders (owner, state)",
        ),
    ),
    (3, ("ALTER TABLE orders ADD COLUMN again INTEGER NOT NULL DEFAULT 0",)),
)


def check(db: sqlite3.Connection, file: Path, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Return the version of a database, 0 for an empty one.

    Reads only: a file that is not ours is left as it is.

    Raises:
        DamagedStoreError: If another program wrote the file.
        NewerSchemaError: If a newer deepdiver wrote it.
    """
    # One statement reads one moment: another process may be making the tables just now.
    application, version, tables = db.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    if application != APPLICATION_ID and (application, version, tables) != (0, 0, 0):
        raise DamagedStoreError(
            f"{file} is not a deepdiver database: move it away, or choose another --home"
        )
    newest = migrations[-1][0]
    if version > newest:
        raise NewerSchemaError(
            f"{file} was written by a newer deepdiver (schema {version}, this one knows {newest}): "
            "upgrade deepdiver, or choose another --home"
        )
    return int(version)


def migrate(
    db: sqlite3.Connection, file: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring a database up to the newest version, with all pending migrations in one transaction.

    Raises:
        DamagedStoreError: If another program wrote the file.
        NewerSchemaError: If a newer deepdiver wrote it.
    """
    if check(db, file, migrations) == migrations[-1][0]:
        return
    try:
        db.execute("BEGIN EXCLUSIVE")
        # Again, now that no other process can change it.
        version = check(db, file, migrations)
        for target, statements in migrations:
            if target > version:
                for statement in statements:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {target}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
