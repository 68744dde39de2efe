"""Migrations in PostgreSQL: whole or not at all, once, on a live system, and never backwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.errors import NewerSchemaError
from deepdiver.store.connections import Connections
from deepdiver.store.migrate import check_version, has_column, migrate, schema_version
from tests.postgres_server import Server

if TYPE_CHECKING:
    from deepdiver.store.connections import Connection

LOCK = 77
STEPS = (
    "CREATE TABLE things (name text PRIMARY KEY)",
    "ALTER TABLE things ADD COLUMN size int NOT NULL DEFAULT 7",
)


@pytest.fixture
def connections(server: Server, database: str) -> Iterator[Connections]:
    made = Connections(SecretStr(server.address(database)), "things_of_ours")
    yield made
    made.close()


@pytest.fixture
def db(connections: Connections) -> Iterator[Connection]:
    with connections.use() as lent:
        yield lent


def make(db: Connection, steps: Sequence[str] = STEPS) -> None:
    migrate(db, "things_of_ours", steps, LOCK)


def test_tables_of_a_newer_deepdiver_are_refused_and_left_alone(db: Connection) -> None:
    make(db)
    with pytest.raises(NewerSchemaError, match=r"version 2, this one knows 1.*upgrade this one"):
        make(db, STEPS[:1])
    with pytest.raises(NewerSchemaError):
        check_version(db, "things_of_ours", STEPS[:1])
    assert schema_version(db, "things_of_ours") == 2


def test_a_migration_that_fails_leaves_those_before_it(db: Connection) -> None:
    broken = (*STEPS, "CREATE TABLE half (n int); SELECT 1 / 0")
    with pytest.raises(psycopg.errors.DivisionByZero):
        make(db, broken)
    assert schema_version(db, "things_of_ours") == 2
    assert not has_column(db, "things_of_ours", "half", "n")
    make(db, (*STEPS, "CREATE TABLE half (n int)"))
    assert has_column(db, "things_of_ours", "half", "n")


def test_nothing_is_there_before_the_first(db: Connection) -> None:
    assert schema_version(db, "things_of_ours") == 0
    assert not has_column(db, "things_of_ours", "things", "name")
    check_version(db, "things_of_ours", STEPS)


def test_rows_and_those_who_work_meanwhile_are_kept(connections: Connections) -> None:
    """Another process writes until the migration begins, and after it has ended."""
    with connections.use() as one, connections.use() as other:
        make(one, STEPS[:1])
        one.execute("BEGIN")
        one.execute("INSERT INTO things VALUES ('begun before')")
        upgrade = threading.Thread(target=make, args=(other,))
        upgrade.start()
        one.execute("INSERT INTO things VALUES ('while it waits')")
        one.execute("COMMIT")
        upgrade.join()
        one.execute("INSERT INTO things VALUES ('after')")
        rows = one.execute("SELECT name, size FROM things ORDER BY name").fetchall()
    assert rows == [("after", 7), ("begun before", 7), ("while it waits", 7)]


def test_of_many_who_come_at_once_one_migrates(connections: Connections) -> None:
    failures: list[BaseException] = []
    ready = threading.Barrier(6)

    def open_() -> None:
        try:
            with connections.use() as db:
                ready.wait()
                make(db)
        except BaseException as error:  # noqa: BLE001 shown by the main thread
            failures.append(error)

    threads = [threading.Thread(target=open_) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with connections.use() as db:
        assert db.execute("SELECT number FROM version ORDER BY 1").fetchall() == [(1,), (2,)]


def test_a_column_that_was_dropped_is_not_there(db: Connection) -> None:
    make(db)
    assert has_column(db, "things_of_ours", "things", "size")
    db.execute("ALTER TABLE things DROP COLUMN size")
    assert not has_column(db, "things_of_ours", "things", "size")
