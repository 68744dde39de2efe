"""Bringing the tables of a schema in PostgreSQL up to date, while others use them.

Each migration is one transaction, under an advisory lock, so that of several processes that come
with a newer deepdiver one migrates and the others find it done. A released migration is never
edited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deepdiver.errors import NewerSchemaError
from deepdiver.store.connections import SERVER_NAME, transaction

if TYPE_CHECKING:
    from deepdiver.store.connections import Connection

_COLUMN = (
    "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_attribute a ON a.attrelid = c.oid WHERE n.nspname = %s AND relname = %s "
    "AND a.attname = %s AND NOT a.attisdropped"
)
"""Queries the system catalogue: to_regclass answers from the cache of this connection, which may
predate the tables that another process created."""


def migrate(db: Connection, schema: str, migrations: Sequence[str], lock: int) -> None:
    """Create the tables of a schema or migrate them. Several processes may try at once.

    Args:
        db: A connection whose search path begins with the schema.
        schema: The name of the schema.
        migrations: The statements that lead from each version to the next, from 0.
        lock: The first half of the schema's advisory locks; the second is 0.

    Raises:
        NewerSchemaError: If a newer deepdiver created them.
    """
    while schema_version(db, schema) < len(migrations):
        with transaction(db):
            db.execute("SELECT pg_advisory_xact_lock(%s, 0)", (lock,))
            # Again, now that no other process can change it.
            found = schema_version(db, schema)
            if found < len(migrations):
                _make(db, schema, found, migrations[found])
    check_version(db, schema, migrations)


def check_version(db: Connection, schema: str, migrations: Sequence[str]) -> None:
    """Check that the tables are not newer than this deepdiver.

    Raises:
        NewerSchemaError: If they are.
    """
    if (found := schema_version(db, schema)) > len(migrations):
        raise NewerSchemaError(
            f"the tables {schema} of {SERVER_NAME} were made by a newer deepdiver (version "
            f"{found}, this one knows {len(migrations)}): upgrade this one"
        )


def schema_version(db: Connection, schema: str) -> int:
    """Return the version of the tables; 0 if there are none."""
    if not has_column(db, schema, "version", "number"):
        return 0
    (found,) = db.execute(f"SELECT max(number) FROM {schema}.version").fetchone() or (None,)  # noqa: S608 a name of ours
    return int(found or 0)


def has_column(db: Connection, schema: str, table: str, column: str) -> bool:
    """Return whether a table has a column."""
    return bool(db.execute(_COLUMN, (schema, table, column)).fetchall())


def _make(db: Connection, schema: str, found: int, statements: str) -> None:
    if not found:
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        db.execute("CREATE TABLE version (number int PRIMARY KEY)")
    db.execute(statements)
    db.execute("INSERT INTO version VALUES (%s)", (found + 1,))
