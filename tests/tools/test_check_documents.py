"""What is checked before a run starts."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from deepdiver.errors import (
    NoEvidenceError,
    UsageError,
)
from deepdiver.sample import LIBRARY
from deepdiver.tools.check_documents import check_documents
from deepdiver.tools.plain_file import FilePlace
from tests.unprivileged import folder_for_all, unprivileged

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(20)

# What is checked before


@pytest.mark.parametrize("name", ["gone", "gone/further", "file.txt/below"])
def test_documents_that_are_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(UsageError, match="does not exist: give a file or folder"):
        check_documents([tmp_path / name])


@pytest.mark.parametrize("name", ["x" * 300, "/".join(["x" * 200] * 30), "loop"])
def test_documents_that_nobody_can_look_at(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=r" cannot be read: .+; give another --in"):
        check_documents([tmp_path / name])


def test_documents_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def access(path: Path, mode: int) -> bool:
        asked.append(mode)
        return False

    monkeypatch.setattr("deepdiver.tools.check_documents.os.access", access)
    (tmp_path / "a.md").write_text("x")
    for path in (tmp_path, tmp_path / "a.md"):
        with pytest.raises(UsageError, match=r"no permission to read .+: change its permissions"):
            check_documents([path])
    assert asked == [os.R_OK | os.X_OK, os.R_OK]


def test_a_folder_that_really_may_not_be_read() -> None:
    with folder_for_all() as folder:
        (folder / "closed" / "below").mkdir(parents=True)
        (folder / "closed").chmod(0)
        with unprivileged():
            # Which of the two depends on who the tests are.
            with pytest.raises(UsageError, match=r"no permission to read|Permission denied"):
                check_documents([folder / "closed"])
            with pytest.raises(UsageError, match="cannot be read: Permission denied"):
                check_documents([folder / "closed" / "below"])


def test_what_can_be_read_is_not_looked_for_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.md").write_text("x")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "picture.png").write_bytes(PICTURE)
    with pytest.raises(NoEvidenceError, match=r"it is \.png"):
        check_documents([tmp_path / "docs"])
    (tmp_path / "docs" / "link").symlink_to(tmp_path / "private")
    check_documents([tmp_path / "docs"])  # opening the library says why the link is not followed


def test_folders_in_folders_in_folders(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(400):
        folder = folder / "d"
        folder.mkdir()
    check_documents([tmp_path])


def test_a_folder_without_documents_is_nothing_to_search(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(PICTURE)
    (tmp_path / "empty").write_bytes(b"")
    for path in (tmp_path, tmp_path / "picture.png"):
        with pytest.raises(NoEvidenceError, match=r"no readable document in .+; give another --in"):
            check_documents([path])


@pytest.mark.parametrize("name", ["README", "notes.weird", "curl.1", "LICENSE"])
def test_a_text_is_a_document_whatever_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "picture.png").write_bytes(PICTURE)
    (tmp_path / name).write_text("The harbour froze on 3 March.")
    check_documents([tmp_path])


def test_in_a_large_folder_the_library_looks_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepdiver.tools.check_documents.MOST_OPENED", 2)
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(PICTURE)
    check_documents([tmp_path])


def test_a_disk_that_does_not_answer_is_left_to_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()

    def wait(place: FilePlace, most: int) -> bytes:
        answers.wait()
        return b""

    monkeypatch.setattr("deepdiver.tools.check_documents.read_beginning", wait)
    monkeypatch.setattr("deepdiver.tools.check_documents.READ_SECONDS", 0.01)
    (tmp_path / "picture.png").write_bytes(PICTURE)
    check_documents([tmp_path])
    answers.set()


def test_a_folder_without_any_file_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "empty" / "further").mkdir(parents=True)
    with pytest.raises(
        NoEvidenceError, match=r"^there are no files in \S+/empty; give another --in$"
    ):
        check_documents([tmp_path / "empty"])


def test_files_that_are_no_documents_are_counted_and_their_kinds_named(tmp_path: Path) -> None:
    for name in ("1.png", "2.png", "3.PNG", "1.jpg", "2.jpg", "1.gif", "1.mp4"):
        (tmp_path / name).write_bytes(PICTURE)
    with pytest.raises(
        NoEvidenceError, match=r": all 7 files are \.png, \.jpg, \.gif, …; give another --in$"
    ):
        check_documents([tmp_path])
    with pytest.raises(NoEvidenceError, match=r": it is \.gif; give another --in$"):
        check_documents([tmp_path / "1.gif"])


def test_documents_that_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "deep" / "down").mkdir(parents=True)
    (tmp_path / "deep" / "down" / "A.MD").write_text("x")
    check_documents([tmp_path, tmp_path / "deep" / "down" / "A.MD", LIBRARY])
    check_documents([])
    (tmp_path / "pictures").mkdir()
    check_documents([tmp_path / "pictures", LIBRARY])  # the report will say what could not be read
