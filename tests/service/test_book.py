"""The file of the service: made once, private, and refused if it is somebody else's."""

from __future__ import annotations

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.errors import (
    DamagedStoreError,
    NewerSchemaError,
    SettingsError,
    StoreUnreachableError,
)
from deepdiver.service.accounts import Account, Accounts
from deepdiver.service.audit_log import AuditLog
from deepdiver.service.book import FILE_NAME, open_book, part_of
from deepdiver.service.shares import Shares
from tests.postgres_server import Server


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


# In PostgreSQL


@pytest.fixture
def address(postgres: Server, database: str) -> SecretStr:
    return SecretStr(postgres.address(database))


def test_an_address_that_is_none_is_refused_without_being_repeated(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="not an address that can be read") as told:
        open_book(tmp_path, SecretStr("mysql://ada:hunter22@db/x"))
    assert "hunter22" not in str(told.value)


def test_with_a_database_the_home_has_no_book(tmp_path: Path, address: SecretStr) -> None:
    with closing(open_book(tmp_path, address)) as book:
        token = Accounts(book).add("ada")
    with closing(open_book(tmp_path / "of another machine", address)) as book:
        assert Accounts(book).by_token(token) == Account("ada")
    assert not (tmp_path / FILE_NAME).exists()


def test_several_services_make_the_tables_at_once(tmp_path: Path, address: SecretStr) -> None:
    def use(number: int) -> int:
        with closing(open_book(tmp_path, address)) as book:
            AuditLog(book).add("ada", "signin", str(number))
            return number

    with ThreadPoolExecutor(6) as many:
        assert list(many.map(use, range(6))) == list(range(6))
    with closing(open_book(tmp_path, address)) as book:
        assert len(AuditLog(book).lines()) == 6
        assert AuditLog(book).check() == 0


def test_a_newer_book_in_a_database_is_not_touched(
    tmp_path: Path, postgres: Server, database: str, address: SecretStr
) -> None:
    with closing(open_book(tmp_path, address)):
        pass
    postgres.execute("INSERT INTO deepdiver_service.version VALUES (999)", database)
    with pytest.raises(NewerSchemaError, match="newer deepdiver"):
        open_book(tmp_path, address)


def test_who_is_signed_in_waits_for_a_server_that_is_away(
    tmp_path: Path, address: SecretStr, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_book(tmp_path, address)) as book:
        accounts = part_of(book, Accounts)(book)
        token, answers = accounts.add("ada"), book.rows
        lost = iter([True, True, False])

        def rows(query: str, *values: object) -> list[object]:
            if next(lost, False):
                raise StoreUnreachableError("away")
            return answers(query, *values)

        monkeypatch.setattr(book, "rows", rows)
        assert accounts.by_token(token) == Account("ada")
        assert part_of(book, Shares)(book).since("r1") == ""
