"""A catalogue and its files.

What is new, changed, moved, gone or unreadable is told, and read no more than once.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools.document import Document
from deepdiver.tools.extract import Extractor
from deepdiver.tools.library import files, folder_walk, refresh
from deepdiver.tools.library.files import LibraryFile, load_file
from deepdiver.tools.library.folder_walk import OUTSIDE
from deepdiver.tools.library.interface import Progress, RefreshSummary, UnreadFile
from deepdiver.tools.library.local.catalogue import SqliteCatalogue
from deepdiver.tools.library.refresh import ABSENT, refresh_catalogue
from deepdiver.tools.plain_file import NOT_PLAIN
from tests.patience import PATIENCE
from tests.tools.library.harbour import put


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[SqliteCatalogue]:
    with closing(SqliteCatalogue(tmp_path / "library" / "catalogue.sqlite")) as made:
        yield made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in ("a.md", "b.txt", "sub/c.md"):
        put(tmp_path / "docs" / name, f"The text of {name}.")
    return tmp_path / "docs"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read, in its order."""
    names: list[str] = []
    real = files.document_of

    def noted(data: bytes, name: str, extractor: Extractor) -> Document:
        names.append(name)
        return real(data, name, extractor)

    monkeypatch.setattr(refresh, "document_of", noted)
    return names


def again(catalogue: SqliteCatalogue, *roots: Path, anew: bool = False) -> RefreshSummary:
    return refresh_catalogue(catalogue, roots, lambda _: None, anew)


def names(found: tuple[str, ...]) -> list[str]:
    return [Path(url).name for url in found]


def numbers(catalogue: SqliteCatalogue) -> dict[str, int]:
    first = {}
    for entry in catalogue.entries():
        held = catalogue.stored(entry.id)
        assert held is not None
        first[Path(entry.url).name] = held.first
    return first


def test_a_path_that_was_never_there_is_refused_and_nothing_is_kept(
    catalogue: SqliteCatalogue, docs: Path
) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        again(catalogue, docs, docs / "absent")
    assert catalogue.entries() == []
    assert catalogue.roots() == []


def test_what_cannot_be_read_is_listed_and_not_tried_again_until_it_changes(
    catalogue: SqliteCatalogue, docs: Path, read: list[str]
) -> None:
    empty = put(docs / "empty.md", " ")
    put(docs / "picture.png", b"\x89PNG\r\n\x1a\n")
    found = again(catalogue, docs)
    assert [(Path(item.url).name, item.reason) for item in found.unread] == [
        ("empty.md", "it is empty"),
        ("picture.png", "it is an image"),
    ]
    assert names(found.added) == ["a.md", "b.txt", "c.md"]
    read.clear()
    later = again(catalogue, docs)
    assert later.unread == found.unread
    assert later.same
    assert read == []
    again(catalogue, docs, anew=True)
    assert sorted(read) == ["empty.md", "picture.png"]
    put(empty, "Not any more.")
    (docs / "picture.png").unlink()
    better = again(catalogue, docs)
    assert (names(better.added), better.unread) == (["empty.md"], ())
    assert catalogue.missed() == {}


def test_a_file_that_cannot_be_read_is_tried_again_after_a_day(
    catalogue: SqliteCatalogue, docs: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(docs / "empty.md", " ")
    again(catalogue, docs)
    read.clear()
    monkeypatch.setattr(refresh, "RETRY", 0.0)
    assert len(again(catalogue, docs).unread) == 1
    assert read == ["empty.md"]


def test_a_document_that_can_be_read_no_more_is_removed_and_told(
    catalogue: SqliteCatalogue, docs: Path
) -> None:
    again(catalogue, docs)
    put(docs / "a.md", b"\x00\x01\x02")
    found = again(catalogue, docs)
    assert names(found.removed) == ["a.md"]
    assert [Path(item.url).name for item in found.unread] == ["a.md"]
    assert [Path(entry.url).name for entry in catalogue.entries()] == ["b.txt", "c.md"]


def test_one_reader_that_fails_costs_one_file(
    catalogue: SqliteCatalogue, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = files.document_of

    def fails(data: bytes, name: str, extractor: Extractor) -> Document:
        if name == "b.txt":
            raise UnreadableError("its parser died")
        return real(data, name, extractor)

    monkeypatch.setattr(refresh, "document_of", fails)
    found = again(catalogue, docs)
    assert names(found.added) == ["a.md", "c.md"]
    assert found.unread == (UnreadFile((docs / "b.txt").as_posix(), "its parser died"),)


def test_what_is_as_it_was_is_not_read_again(
    catalogue: SqliteCatalogue, docs: Path, read: list[str]
) -> None:
    found = again(catalogue, docs)
    assert names(found.added) == ["a.md", "b.txt", "c.md"]
    read.clear()
    assert again(catalogue, docs) == RefreshSummary()
    os.utime(docs / "a.md", ns=(5, 5))  # touched, and not changed
    assert again(catalogue, docs) == RefreshSummary()
    assert read == []
    assert catalogue.known()[(docs / "a.md").as_posix()].stamp.mtime == 5


def test_a_changed_file_is_another_document_of_the_same_name(
    catalogue: SqliteCatalogue, docs: Path
) -> None:
    again(catalogue, docs)
    before = numbers(catalogue)
    put(docs / "a.md", "Another text.")
    found = again(catalogue, docs)
    assert (names(found.changed), found.added, found.removed) == (["a.md"], (), ())
    after = numbers(catalogue)
    assert after["a.md"] > max(before.values())
    assert {name: after[name] for name in ("b.txt", "c.md")} == {
        name: before[name] for name in ("b.txt", "c.md")
    }


def test_a_moved_file_is_not_read_again(
    catalogue: SqliteCatalogue, docs: Path, read: list[str]
) -> None:
    again(catalogue, docs)
    read.clear()
    before = numbers(catalogue)
    (docs / "a.md").rename(docs / "sub" / "z-new.md")
    found = again(catalogue, docs)
    assert found.moved == (((docs / "a.md").as_posix(), (docs / "sub" / "z-new.md").as_posix()),)
    assert (found.added, found.removed) == ((), ())
    assert read == []
    assert numbers(catalogue)["z-new.md"] == before["a.md"]
    assert {Path(entry.url).name: entry.title for entry in catalogue.entries()}[
        "z-new.md"
    ] == "z new"


def test_files_that_change_places_are_told_apart(catalogue: SqliteCatalogue, docs: Path) -> None:
    again(catalogue, docs)
    (docs / "a.md").rename(docs / "x")
    (docs / "b.txt").rename(docs / "a.md")
    (docs / "x").rename(docs / "b.txt")
    found = again(catalogue, docs)
    assert names(found.changed) == ["a.md", "b.txt"]
    texts = {Path(entry.url).name: catalogue.text(entry.id) for entry in catalogue.entries()}
    assert texts["a.md"] == "The text of b.txt."


def test_a_copy_is_a_document_of_its_own(catalogue: SqliteCatalogue, docs: Path) -> None:
    again(catalogue, docs)
    shutil.copy(docs / "a.md", docs / "copy.md")
    assert names(again(catalogue, docs).added) == ["copy.md"]
    (docs / "a.md").rename(docs / "moved.md")
    shutil.copy(docs / "copy.md", docs / "third.md")
    found = again(catalogue, docs)
    assert len(found.moved) == 1
    assert len(found.added) == 1
    assert len(catalogue.entries()) == 5


def test_what_is_gone_is_removed(catalogue: SqliteCatalogue, docs: Path) -> None:
    again(catalogue, docs)
    shutil.rmtree(docs / "sub")
    (docs / "a.md").unlink()
    found = again(catalogue, docs)
    assert names(found.removed) == ["a.md", "c.md"]
    assert [Path(entry.url).name for entry in catalogue.entries()] == ["b.txt"]


def test_documents_of_other_roots_stay(
    catalogue: SqliteCatalogue, docs: Path, tmp_path: Path
) -> None:
    other = put(tmp_path / "other" / "d.md", "Another.")
    again(catalogue, docs)
    again(catalogue, other.parent)
    assert len(catalogue.entries()) == 4
    other.unlink()
    assert again(catalogue, docs) == RefreshSummary()
    assert names(again(catalogue, other.parent).removed) == ["d.md"]
    assert catalogue.roots() == sorted([docs, other.parent])


def test_a_known_folder_that_is_away_keeps_its_documents(
    catalogue: SqliteCatalogue, docs: Path
) -> None:
    again(catalogue, docs)
    docs.rename(docs.with_name("unplugged"))
    found = again(catalogue, docs)
    assert found.same
    assert found.unread == (UnreadFile(docs.as_posix(), ABSENT),)
    assert len(catalogue.entries()) == 3
    docs.with_name("unplugged").rename(docs)
    assert again(catalogue, docs) == RefreshSummary()
    assert catalogue.missed() == {}


def test_a_single_file_that_is_gone_is_gone(catalogue: SqliteCatalogue, docs: Path) -> None:
    again(catalogue, docs / "a.md")
    (docs / "a.md").unlink()
    assert names(again(catalogue, docs / "a.md").removed) == ["a.md"]


def test_what_the_user_left_out_stays_out(catalogue: SqliteCatalogue, docs: Path) -> None:
    catalogue.settle((), left_out=[(docs / "sub").as_posix()])
    assert names(again(catalogue, docs).added) == ["a.md", "b.txt"]
    assert names(again(catalogue, docs / "sub").added) == ["c.md"]  # named itself


def test_documents_are_entered_while_others_are_read(
    catalogue: SqliteCatalogue, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "BATCH", 1)
    entered: list[tuple[int, int]] = []

    def told(progress: Progress) -> None:
        entered.append((progress.done, len(catalogue.entries())))

    refresh_catalogue(catalogue, [docs], told, again=False)
    assert entered == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_documents_come_in_the_order_of_their_names_whoever_is_read_first(
    catalogue: SqliteCatalogue, docs: Path
) -> None:
    put(docs / "0.html", "<html><body><p>A page takes longer than a text.</p></body></html>")
    again(catalogue, docs)
    first = numbers(catalogue)
    assert sorted(first, key=lambda name: first[name]) == ["0.html", "a.md", "b.txt", "c.md"]


def test_a_text_of_marks_alone_is_a_document(catalogue: SqliteCatalogue, docs: Path) -> None:
    put(docs / "list.md", "- ")
    again(catalogue, docs)
    (entry,) = [entry for entry in catalogue.entries() if entry.url.endswith("list.md")]
    assert entry.passages == 1


def test_a_document_that_became_a_link_out_of_the_folder_is_removed(
    catalogue: SqliteCatalogue, docs: Path, tmp_path: Path
) -> None:
    again(catalogue, docs)
    secret = put(tmp_path / "private" / "secret.md", "The text of a.md.")  # as it was
    (docs / "a.md").unlink()
    (docs / "a.md").symlink_to(secret)
    found = again(catalogue, docs)
    assert names(found.removed) == ["a.md"]
    assert found.unread == (UnreadFile((docs / "a.md").as_posix(), OUTSIDE),)
    assert catalogue.missed().keys() == {(docs / "a.md").as_posix()}
    assert again(catalogue, docs, secret.parent).moved == ()
    assert len(catalogue.entries()) == 3


def test_a_file_that_became_a_pipe_after_it_was_found_costs_only_itself(
    catalogue: SqliteCatalogue, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = folder_walk.find_files

    def swapped(
        roots: Sequence[Path], within: Sequence[Path]
    ) -> tuple[list[LibraryFile], list[UnreadFile]]:
        found = real(roots, within)
        (docs / "a.md").unlink()
        os.mkfifo(docs / "a.md")
        return found

    monkeypatch.setattr(refresh, "find_files", swapped)
    found = again(catalogue, docs)
    assert names(found.added) == ["b.txt", "c.md"]
    assert found.unread == (UnreadFile((docs / "a.md").as_posix(), NOT_PLAIN),)


class _StopError(Exception):
    """Somebody wants the work to end."""


def test_who_waits_for_a_file_is_told_and_can_end_the_work(
    catalogue: SqliteCatalogue, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, asked = threading.Event(), list[str]()
    monkeypatch.setattr(refresh, "BEAT", 0.01)

    def load(file: LibraryFile) -> bytes:
        asked.append(file.path.name)
        if file.path.name == "b.txt":
            answers.wait(PATIENCE)
        return load_file(file)

    monkeypatch.setattr(refresh, "load_file", load)
    told: list[tuple[int, str]] = []

    def tell(progress: Progress) -> None:
        told.append((progress.done, Path(progress.what).name))
        if told.count((1, "b.txt")) == 3:
            raise _StopError

    with pytest.raises(_StopError):
        refresh_catalogue(catalogue, [docs], tell, again=False)
    assert not answers.is_set(), "nobody waited for it"
    assert told[-1] == (1, "b.txt")
    answers.set()


def test_a_file_that_grows_while_it_is_read_is_read_again(
    catalogue: SqliteCatalogue, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(file: LibraryFile) -> bytes:
        data = load_file(file)
        if file.path.name == "a.md":
            put(file.path, "It has grown by a sentence.")
        return data

    monkeypatch.setattr(refresh, "load_file", load)
    again(catalogue, docs)
    monkeypatch.undo()
    assert names(again(catalogue, docs).changed) == ["a.md"]
