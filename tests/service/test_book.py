"""The file of the service: made once, private, and refused if it is somebody else's."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.errors import DamagedStoreError, NewerSchemaError
from deepdiver.service.book import FILE_NAME, open_book


def test_the_book_is_for_its_owner_alone_and_opens_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for _ in range(2):
        with closing(open_book(home)) as book:
            tables = {row[0] for row in book.rows("SELECT name FROM sqlite_master")}
            assert {"users", "sessions", "log"} <= tables
    assert stat.S_IMODE((home / FILE_NAME).stat().st_mode) == 0o600


def test_the_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        other.execute("CREATE TABLE theirs (a)")
    with pytest.raises(DamagedStoreError, match="not a deepdiver database"):
        open_book(tmp_path)


def test_a_book_of_a_newer_deepdiver_is_not_touched(tmp_path: Path) -> None:
    with closing(open_book(tmp_path)) as book, book.write() as db:
        db.execute("PRAGMA user_version = 999")
    with pytest.raises(NewerSchemaError, match="newer deepdiver"):
        open_book(tmp_path)
