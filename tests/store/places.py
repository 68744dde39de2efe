"""Where the tests of the store keep one: in a file of SQLite, or in a database of PostgreSQL.

A place can be sent to another process, which opens the same store.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import psycopg
from pydantic import SecretStr

from deepdiver.store.postgres import SCHEMA, PostgresStore, open_postgres
from deepdiver.store.sqlite import SqliteStore, open_sqlite

AnyStore = SqliteStore | PostgresStore

KINDS = ("sqlite", "postgres")


class Place(Protocol):
    """Where a store is kept."""

    @property
    def folder(self) -> Path:
        """A folder for whatever else the processes of a test share."""

    def open(self) -> AnyStore:
        """Open the store."""

    def fresh(self) -> Place:
        """Return an empty place like this one."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement of SQL beside the store."""

    def tables_of_runs(self) -> list[str]:
        """Return the tables with a column `run`."""

    def die_at_commit(self, store: AnyStore, die: Any) -> None:
        """Have the next transaction die just before it is committed."""


@dataclass(frozen=True)
class SqlitePlace:
    """A file of SQLite in a folder."""

    folder: Path

    def open(self) -> SqliteStore:
        return open_sqlite(self.folder / "deepdiver")

    def fresh(self) -> SqlitePlace:
        return replace(self, folder=Path(tempfile.mkdtemp(dir=self.folder)))

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with closing(self.open()) as store:
            return store.database.connection.execute(statement, values).fetchall()

    def tables_of_runs(self) -> list[str]:
        found = self.execute(
            "SELECT t.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c "
            "WHERE t.type = 'table' AND c.name = 'run'"
        )
        return [name for (name,) in found]

    def die_at_commit(self, store: AnyStore, die: Any) -> None:
        def on_statement(statement: str) -> None:
            if statement == "COMMIT":
                die()

        assert isinstance(store, SqliteStore)
        store.database.connection.set_trace_callback(on_statement)


@dataclass(frozen=True)
class PostgresPlace:
    """A database of PostgreSQL; the tests of a process use it one after the other."""

    folder: Path
    address: str

    def open(self) -> PostgresStore:
        return open_postgres(SecretStr(self.address), server_clock=False)

    def fresh(self) -> PostgresPlace:
        self.open().close()
        for table in ("runs", "blobs", "cache", "cache_claims", "buckets", "slots"):
            self.execute(f"DELETE FROM {table}")  # noqa: S608
        return self

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with psycopg.connect(self.address, options=f"-csearch_path={SCHEMA}") as db:
            found = db.execute(statement.replace("?", "%s"), values or None)
            return found.fetchall() if found.description else []

    def tables_of_runs(self) -> list[str]:
        found = self.execute(
            "SELECT table_name FROM information_schema.columns "
            "WHERE table_schema = ? AND column_name = 'run'",
            (SCHEMA,),
        )
        return [name for (name,) in found]

    def die_at_commit(self, store: AnyStore, die: Any) -> None:
        assert isinstance(store, PostgresStore)
        store.database._commit = lambda db, number: die()  # type: ignore[method-assign]
