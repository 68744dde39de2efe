"""Every fault of the file becomes one line that names it and says what to do."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

import pytest

from deepdiver.errors import DamagedStoreError, StoreAccessError, StoreError, StoreFullError
from deepdiver.store import faults
from deepdiver.store.faults import from_os, primary_code, translated


def fault(
    code: int | None,
    message: str = "something",
    kind: type[sqlite3.Error] = sqlite3.OperationalError,
) -> sqlite3.Error:
    error = kind(message)
    if code is not None:
        error.sqlite_errorcode = code
    return error


def translate(error: Exception, file: Path) -> str:
    with pytest.raises(StoreError) as caught, translated(file, 30.0):
        raise error
    assert caught.value.__cause__ is error
    line = str(caught.value)
    assert line.startswith(str(file))
    assert line.isprintable()
    assert ": " in line.removeprefix(str(file))
    return f"{type(caught.value).__name__}: {line}"


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        (sqlite3.SQLITE_FULL, StoreFullError, "free some space, then resume"),
        (sqlite3.SQLITE_CANTOPEN, StoreAccessError, "choose another --home"),
        (sqlite3.SQLITE_READONLY, StoreAccessError, "choose another --home"),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreAccessError, "choose another --home"),
        (sqlite3.SQLITE_PERM, StoreAccessError, "choose another --home"),
        (sqlite3.SQLITE_CORRUPT, DamagedStoreError, "restore it from a copy"),
        (sqlite3.SQLITE_NOTADB, DamagedStoreError, "restore it from a copy"),
        (sqlite3.SQLITE_ERROR, DamagedStoreError, "restore it from a copy"),
        (sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY, DamagedStoreError, "restore it from a copy"),
        (None, DamagedStoreError, "restore it from a copy"),
        (
            sqlite3.SQLITE_BUSY,
            StoreError,
            "was locked by another process for 30 s: end it, or try again",
        ),
        (
            sqlite3.SQLITE_BUSY_RECOVERY,
            StoreError,
            "was locked by another process for 30 s: end it, or try again",
        ),
        (
            sqlite3.SQLITE_LOCKED,
            StoreError,
            "was locked by another process for 30 s: end it, or try again",
        ),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreError, "check the disk, then resume"),
        (sqlite3.SQLITE_NOMEM, StoreError, "check the disk, then resume"),
    ],
)
def test_each_code_has_its_kind_and_its_advice(
    tmp_path: Path, code: int | None, kind: type[StoreError], advice: str
) -> None:
    line = translate(fault(code), tmp_path / "deepdiver.db")
    assert line.startswith(f"{kind.__name__}: ")
    assert advice in line


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_CANTOPEN]
)
def test_an_unexplained_failure_on_a_full_disk_is_the_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(faults, "SPARE", float("inf"))  # Now every disk is full.
    assert translate(fault(code), tmp_path / "deepdiver.db").startswith("StoreFullError: ")


def test_a_folder_that_is_gone_is_not_a_full_disk(tmp_path: Path) -> None:
    line = translate(fault(sqlite3.SQLITE_CANTOPEN), tmp_path / "gone" / "deepdiver.db")
    assert line.startswith("StoreAccessError: ")


@pytest.mark.parametrize("message", ['near "\x1b[2J\n": syntax error', "x" * 10_000, "\ud800"])
def test_a_message_that_quotes_the_damage_stays_one_short_line(
    tmp_path: Path, message: str
) -> None:
    line = translate(
        fault(sqlite3.SQLITE_CORRUPT, message, sqlite3.DatabaseError), tmp_path / "deepdiver.db"
    )
    assert len(line) < 350 + len(str(tmp_path))


def test_a_message_that_cannot_even_be_read_is_damage(tmp_path: Path) -> None:
    line = translate(
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), tmp_path / "deepdiver.db"
    )
    assert line.startswith("DamagedStoreError: ")


@pytest.mark.parametrize(
    "error",
    [
        sqlite3.ProgrammingError("closed"),
        sqlite3.InterfaceError("misuse"),
        ValueError("ours"),
        KeyError("k"),
    ],
)
def test_what_is_not_the_files_fault_passes_through(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)) as caught, translated(tmp_path / "deepdiver.db", 30.0):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("error", "kind", "why"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), StoreFullError, "disk is full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), StoreFullError, "disk is full"),
        (
            PermissionError(errno.EACCES, "Permission denied"),
            StoreAccessError,
            "(Permission denied)",
        ),
        (
            NotADirectoryError(errno.ENOTDIR, "Not a directory"),
            StoreAccessError,
            "(Not a directory)",
        ),
        (OSError("without a number"), StoreAccessError, "(without a number)"),
        (ValueError("embedded null byte"), StoreAccessError, "(embedded null byte)"),
    ],
)
def test_each_refusal_of_the_system_has_its_kind(
    error: OSError | ValueError, kind: type[StoreError], why: str
) -> None:
    result = from_os(error, Path("somewhere/deepdiver.db"))
    assert type(result) is kind
    assert why in str(result)
    assert str(result).startswith("somewhere/deepdiver.db ")


def test_the_code_of_a_real_error_is_found() -> None:
    db = sqlite3.connect(":memory:")
    with pytest.raises(sqlite3.IntegrityError) as caught:
        db.execute("SELECT * FROM (SELECT 1)").connection.executescript(
            "CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1), (1)"
        )
    db.close()
    assert caught.value.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT
    assert primary_code(caught.value) == sqlite3.SQLITE_CONSTRAINT
    assert primary_code(sqlite3.Error("of the module")) is None


def test_a_run_that_is_not_there_is_named_with_the_nearest_that_is() -> None:
    assert "did you mean 20261115-cheese-1?" in str(
        faults.unknown_run("20261115-chese-1", ["x", "20261115-cheese-1"])
    )
    assert "did you mean" not in str(faults.unknown_run("nothing like it", ["20261115-cheese-1"]))
    assert "`deepdiver runs` lists them" in str(faults.unknown_run("", []))


@pytest.mark.parametrize("name", ["a\nb", "half \ud800", "long " * 1_000, ""])
def test_any_name_can_stand_in_a_line(name: str) -> None:
    line = faults.quote_name(name)
    assert line.isprintable()
    assert len(line) < 120
    assert line.encode("utf-8")
