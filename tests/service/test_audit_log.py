"""The log: nothing in it can be changed through the database, nor unseen around it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.errors import StoreError
from deepdiver.service.audit_log import LONGEST, AuditLog
from deepdiver.service.book import FILE_NAME, open_book
from deepdiver.store.sqlite import SqliteDatabase


@pytest.fixture
def book(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(open_book(tmp_path)) as opened:
        yield opened


def filled(book: SqliteDatabase) -> AuditLog:
    log = AuditLog(book)
    log.add("ada", "run.create", "r1")
    log.add("bob", "run.create", "r2")
    log.add("ada", "run.delete", "r1")
    return log


@pytest.mark.parametrize(
    "statement", ["UPDATE log SET what = 'r9'", "DELETE FROM log WHERE number = 1"]
)
def test_the_database_refuses_to_change_a_line(book: SqliteDatabase, statement: str) -> None:
    log = filled(book)
    with pytest.raises((StoreError, sqlite3.Error)), book.write() as db:
        db.execute(statement)
    assert [line.what for line in log.lines()] == ["r1", "r2", "r1"]
    assert log.check() == 0


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE log SET what = 'r9' WHERE number = 2", 2),
        ("UPDATE log SET user = 'eve' WHERE number = 1", 1),
        ("DELETE FROM log WHERE number = 2", 3),
    ],
)
def test_whoever_goes_around_the_database_breaks_the_chain(
    book: SqliteDatabase, tmp_path: Path, statement: str, found: int
) -> None:
    log = filled(book)
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        for trigger in ("log_is_not_changed", "log_is_not_deleted"):
            other.execute(f"DROP TRIGGER {trigger}")
        other.execute(statement)
        other.commit()
    assert log.check() == found


def test_lines_are_the_newest_first_of_one_user_or_all(book: SqliteDatabase) -> None:
    log = filled(book)
    assert [line.user for line in log.lines()] == ["ada", "bob", "ada"]
    assert [line.action for line in log.lines("ada")] == ["run.delete", "run.create"]
    assert [line.number for line in log.lines(most=1)] == [3]


def test_a_line_is_one_line_and_not_longer_than_it_may_be(book: SqliteDatabase) -> None:
    log = AuditLog(book)
    log.add("ada", "library.add", "a\nb" + "x" * 1_000)
    (line,) = log.lines()
    assert line.what.startswith("a bx")
    assert len(line.what) == LONGEST
    assert log.check() == 0
