"""The log: nothing in it can be changed through the database, nor unseen around it."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from deepdiver.errors import StoreError
from deepdiver.service.audit_log import LONGEST, AuditLog
from deepdiver.service.book import Book
from deepdiver.store.postgres import PostgresDatabase


def filled(book: Book) -> AuditLog:
    log = AuditLog(book)
    log.add("ada", "run.create", "r1")
    log.add("bob", "run.create", "r2")
    log.add("ada", "run.delete", "r1")
    return log


@pytest.mark.parametrize(
    "statement",
    ["UPDATE log SET what = 'r9'", "DELETE FROM log WHERE number = 1", "TRUNCATE log"],
)
def test_the_database_refuses_to_change_a_line(book: Book, statement: str) -> None:
    log = filled(book)
    with pytest.raises((StoreError, sqlite3.Error)), book.write() as db:
        db.execute(statement)
    assert [line.what for line in log.lines()] == ["r1", "r2", "r1"]
    assert log.check() == 0


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE log SET what = 'r9' WHERE number = 2", 2),
        ("UPDATE log SET \"user\" = 'eve' WHERE number = 1", 1),
        ("DELETE FROM log WHERE number = 2", 3),
    ],
)
def test_whoever_goes_around_the_database_breaks_the_chain(
    book: Book, statement: str, found: int
) -> None:
    log = filled(book)
    with book.write() as db:
        if isinstance(book, PostgresDatabase):
            db.execute("DROP TRIGGER log_is_not_changed ON log")
        else:
            db.execute("DROP TRIGGER log_is_not_changed")
            db.execute("DROP TRIGGER log_is_not_deleted")
        db.execute(statement)
    assert log.check() == found


def test_lines_of_many_at_once_make_one_chain(book: Book) -> None:
    log = AuditLog(book)
    with ThreadPoolExecutor(8) as many:
        list(many.map(lambda number: log.add("ada", "run.create", f"r{number}"), range(40)))
    assert [line.number for line in log.lines()] == list(range(40, 0, -1))
    assert {line.what for line in log.lines()} == {f"r{number}" for number in range(40)}
    assert log.check() == 0


def test_lines_are_the_newest_first_of_one_user_or_all(book: Book) -> None:
    log = filled(book)
    assert [line.user for line in log.lines()] == ["ada", "bob", "ada"]
    assert [line.action for line in log.lines("ada")] == ["run.delete", "run.create"]
    assert [line.number for line in log.lines(most=1)] == [3]


def test_a_line_is_one_line_and_not_longer_than_it_may_be(book: Book) -> None:
    log = AuditLog(book)
    log.add("ada", "library.add", "a\nb" + "x" * 1_000)
    (line,) = log.lines()
    assert line.what.startswith("a bx")
    assert len(line.what) == LONGEST
    assert log.check() == 0
