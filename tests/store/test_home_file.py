"""Small files of the home: what cannot be read or written first, then that none is ever half."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import DamagedStoreError, StoreAccessError, StoreFullError
from deepdiver.store.home_file import read_home_file, write_home_file


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "place"
    made.mkdir()
    return made


def test_there_is_none(place: Path) -> None:
    assert read_home_file(place / "nothing.json") is None


def test_it_is_no_text(place: Path) -> None:
    (place / "a.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DamagedStoreError, match=r"a\.json.*UTF-8"):
        read_home_file(place / "a.json")


def test_it_is_a_folder(place: Path) -> None:
    (place / "a.json").mkdir()
    with pytest.raises(StoreAccessError, match=r"a\.json"):
        read_home_file(place / "a.json")
    with pytest.raises(StoreAccessError, match=r"a\.json"):
        write_home_file(place / "a.json", "text")
    assert [path.name for path in place.iterdir()] == ["a.json"]


def test_its_folder_is_a_file(place: Path) -> None:
    (place / "home").write_text("no folder", encoding="utf-8")
    with pytest.raises(StoreAccessError):
        write_home_file(place / "home" / "a.json", "text")


@pytest.mark.parametrize(
    ("code", "kind"),
    [(errno.ENOSPC, StoreFullError), (errno.EIO, StoreAccessError)],
    ids=["full", "broken"],
)
def test_a_failing_disk_leaves_what_was_there(
    place: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    file = place / "a.json"
    write_home_file(file, "before")

    def fail(descriptor: int) -> NoReturn:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind, match=r"a\.json"):
        write_home_file(file, "after")
    assert read_home_file(file) == "before"
    assert [path.name for path in place.iterdir()] == ["a.json"]


def test_whoever_is_killed_before_the_end_leaves_what_was_there(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place / "a.json"
    write_home_file(file, "before")

    def die(old: object, new: object) -> NoReturn:
        raise SystemExit

    monkeypatch.setattr(os, "replace", die)
    with pytest.raises(SystemExit):
        write_home_file(file, "after")
    assert read_home_file(file) == "before"


def test_only_its_owner_can_read_it(place: Path) -> None:
    file = place / "new" / "a.json"
    write_home_file(file, "text")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@given(st.text())
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "same.json"
    write_home_file(file, text)
    # Python reads every kind of line end as one.
    assert read_home_file(file) == text.replace("\r\n", "\n").replace("\r", "\n")
