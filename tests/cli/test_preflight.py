"""What is checked before a run starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli.preflight import check_documents, check_out, language_note
from deepdiver.core.settings import load
from deepdiver.errors import (
    NoEvidenceError,
    UsageError,
)
from deepdiver.sample import LIBRARY

# What is checked before


@pytest.mark.parametrize("name", ["gone", "gone/further", "file.txt/below"])
def test_documents_that_are_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(UsageError, match="does not exist: give a file or folder"):
        check_documents([tmp_path / name])


def test_documents_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def access(path: Path, mode: int) -> bool:
        asked.append(mode)
        return False

    monkeypatch.setattr("deepdiver.cli.preflight.os.access", access)
    (tmp_path / "a.md").write_text("x")
    for path in (tmp_path, tmp_path / "a.md"):
        with pytest.raises(UsageError, match=r"no permission to read .+: change its permissions"):
            check_documents([path])
    assert asked == [os.R_OK | os.X_OK, os.R_OK]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_really_may_not_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        with pytest.raises(UsageError, match=r"no permission to read .+: change its permissions"):
            check_documents([tmp_path])
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_without_documents_is_nothing_to_search(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"x")
    for path in (tmp_path, tmp_path / "picture.png"):
        with pytest.raises(
            NoEvidenceError, match=r"no readable document in .+ \(readable are \.atom, \.csv, "
        ):
            check_documents([path])


def test_a_folder_without_any_file_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "empty" / "further").mkdir(parents=True)
    with pytest.raises(
        NoEvidenceError, match=r"^there are no files in \S+/empty; give another --in$"
    ):
        check_documents([tmp_path / "empty"])


def test_files_that_are_no_documents_are_counted_and_their_kinds_named(tmp_path: Path) -> None:
    for name in ("1.png", "2.png", "3.PNG", "1.jpg", "2.jpg", "1.gif", "1.mp4"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(
        NoEvidenceError,
        match=r": all 7 files are \.png, \.jpg, \.gif, … \(readable are .+\); give another --in$",
    ):
        check_documents([tmp_path])
    with pytest.raises(
        NoEvidenceError, match=r": it is \.gif \(readable are .+\); give another --in$"
    ):
        check_documents([tmp_path / "1.gif"])


@pytest.mark.parametrize(
    "flags",
    [
        {"documents": []},
        {"model": "openai:gpt-5-mini"},
        {"search": ["tavily"]},
    ],
    ids=str,
)
def test_no_word_about_the_language_where_it_is_no_matter(
    tmp_path: Path, flags: dict[str, Any]
) -> None:
    (tmp_path / "a.md").write_text("Der Hafen von Lund wurde im Jahr 1904 von der Stadt eröffnet.")
    settings = load(
        {"home": tmp_path / "elsewhere", "documents": [tmp_path], **flags},
        environ={},
        folder=tmp_path,
    )
    assert language_note("When was the harbour of Lund opened?", settings) == ""
    assert not (tmp_path / "elsewhere").exists(), "no library is opened for it"


def test_documents_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "deep" / "down" / "A.MD").write_text("x")
    check_documents([tmp_path, tmp_path / "deep" / "down" / "A.MD", LIBRARY])
    check_documents([])
    (tmp_path / "pictures").mkdir()
    check_documents([tmp_path / "pictures", LIBRARY])  # the report will say what could not be read


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for folder in (file, file / "below", Path("/proc/nowhere")):
        with pytest.raises(UsageError, match=r"cannot write to .+ \(.+\): give another --out"):
            check_out(folder)


def test_a_folder_that_can_be_written_to_is_made(tmp_path: Path) -> None:
    check_out(None)
    check_out(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
