"""Migrations.

A file that is not ours is refused untouched, and a step that fails changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.errors import DamagedStoreError, NewerSchemaError
from deepdiver.store.schema import APPLICATION_ID, MIGRATIONS, Migration, check, migrate
from deepdiver.store.sqlite import open_sqlite

FILE = Path("somewhere/deepdiver.db")
ONE: Migration = (1, ("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"))
TWO: Migration = (2, ("ALTER TABLE a ADD COLUMN y", "UPDATE a SET y = x + 1"))
THREE: Migration = (3, ("CREATE TABLE b (z)", "INSERT INTO b SELECT y FROM a"))
BROKEN: Migration = (3, ("CREATE TABLE b (z)", "INSERT INTO nowhere VALUES (1)"))


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        yield connection


def dump(db: sqlite3.Connection) -> list[str]:
    return [
        *db.iterdump(),
        *(
            str(db.execute(f"PRAGMA {name}").fetchone())
            for name in ("user_version", "application_id")
        ),
    ]


def test_a_foreign_database_is_refused_and_not_changed(home: Path) -> None:
    home.mkdir()
    file = home / "deepdiver.db"
    with closing(sqlite3.connect(file)) as foreign:
        foreign.execute("CREATE TABLE bookmarks (url)")
        foreign.commit()
    before = file.read_bytes()
    with pytest.raises(
        DamagedStoreError, match="is not a deepdiver database: move it away"
    ) as error:
        open_sqlite(home)
    assert str(file) in str(error.value)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "mark",
    ["PRAGMA application_id = 1", "PRAGMA user_version = 1", "CREATE TABLE runs (id)"],
    ids=lambda mark: mark[:12],
)
def test_anything_in_a_file_without_our_mark_makes_it_foreign(
    db: sqlite3.Connection, mark: str
) -> None:
    db.execute(mark)
    with pytest.raises(DamagedStoreError, match="not a deepdiver database"):
        migrate(db, FILE)


def test_a_newer_schema_is_refused_and_not_changed(home: Path) -> None:
    open_sqlite(home).close()
    file = home / "deepdiver.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    with pytest.raises(
        NewerSchemaError, match="upgrade deepdiver, or choose another --home"
    ) as error:
        open_sqlite(home)
    assert str(file) in str(error.value)
    assert "schema 99" in str(error.value)
    assert str(error.value).isprintable()
    assert file.read_bytes() == before


def test_a_step_that_fails_leaves_the_old_version_whole(db: sqlite3.Connection) -> None:
    migrate(db, FILE, [ONE])
    before = dump(db)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, FILE, [ONE, TWO, BROKEN])
    assert dump(db) == before
    assert not db.in_transaction
    migrate(db, FILE, [ONE, TWO, THREE])  # And the repaired step goes through.
    assert db.execute("SELECT z FROM b").fetchall() == [(2,)]


def test_a_first_step_that_fails_leaves_the_file_empty(db: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError):
        migrate(db, FILE, [(1, ("CREATE TABLE a (x)", "nonsense"))])
    assert check(db, FILE) == 0


@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_every_version_reaches_the_newest(db: sqlite3.Connection, start: int) -> None:
    steps = [ONE, TWO, THREE]
    if start:
        migrate(db, FILE, steps[:start])
        assert check(db, FILE, steps) == start
    migrate(db, FILE, steps)
    assert check(db, FILE, steps) == 3
    assert db.execute("SELECT x, y, z FROM a, b").fetchall() == [(1, 2, 2)]


def test_migrating_again_does_nothing(db: sqlite3.Connection) -> None:
    migrate(db, FILE)
    seen: list[str] = []
    db.set_trace_callback(seen.append)
    migrate(db, FILE)
    assert seen
    assert all(
        statement.startswith("SELECT application_id")
        for statement in seen
        if not statement.startswith("--")
    )


def test_an_empty_file_becomes_a_store(home: Path) -> None:
    home.mkdir()
    (home / "deepdiver.db").touch()
    with closing(open_sqlite(home)) as store:
        assert store.runs.list_all() == []
    with closing(sqlite3.connect(home / "deepdiver.db")) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA user_version").fetchone() == (MIGRATIONS[-1][0],)


def test_the_mark_stands_where_the_file_format_says(home: Path) -> None:
    open_sqlite(home).close()
    assert (home / "deepdiver.db").read_bytes()[68:72] == b"DDVR"


def test_opening_again_keeps_everything(home: Path) -> None:
    open_sqlite(home).close()
    file = home / "deepdiver.db"
    before = file.read_bytes()
    open_sqlite(home).close()
    assert file.read_bytes() == before


def test_versions_count_up_from_one() -> None:
    assert [version for version, _ in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_every_table_of_a_run_goes_with_it(db: sqlite3.Connection) -> None:
    migrate(db, FILE)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    owned = {
        table
        for table in tables
        if any(
            column[1] == "run"
            for column in db.execute("SELECT * FROM pragma_table_info(?)", (table,))
        )
    }
    assert owned == {
        "reports",
        "leases",
        "stop_requests",
        "journal",
        "records",
        "events",
        "blob_refs",
        "orders",
    }
    for table in owned:
        keys = db.execute(
            'SELECT "table", on_delete FROM pragma_foreign_key_list(?)', (table,)
        ).fetchall()
        assert ("runs", "CASCADE") in keys, table
