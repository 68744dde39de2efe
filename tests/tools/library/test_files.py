"""The files of a library.

What cannot be read is listed with its reason, and of what can be nothing is lost.
"""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.errors import UnreadableError
from deepdiver.tools.document import Document
from deepdiver.tools.extract import Extractor
from deepdiver.tools.extract.workers.limits import LARGEST_FILE
from deepdiver.tools.extract.workers.pool import shared_extractor
from deepdiver.tools.library import files
from deepdiver.tools.library.files import (
    FileStamp,
    LibraryFile,
    document_of,
    lies_within,
    load_file,
    name_within,
    title_from_name,
    url_of,
)
from deepdiver.tools.library.folder_walk import find_files
from deepdiver.tools.plain_file import FilePlace
from tests.tools.library.harbour import put
from tests.tools.library.reading import read_all


class Nobody(Extractor):
    """Must not be asked."""

    def extract(
        self, data: bytes, *, mime: str = "", name: str = "", url: str = "", links: bool = False
    ) -> Document:
        raise AssertionError(f"{name} was given to a child")


@pytest.fixture
def extractor() -> Extractor:
    return shared_extractor()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(20), "an image"),
        ("binary.txt", b"PK\x03\x04\x00\x00", "a zip archive"),
        ("empty.md", b"", "it is empty"),
        ("blank.md", b" \n\t\n", "it is empty"),
        ("bom.md", b"\xef\xbb\xbf", "it is empty"),
        ("only-front.md", b"---\ntitle: Nothing else\n---\n", "it is empty"),
        ("broken.docx", b"PK\x03\x04 word/document.xml", "."),
    ],
)
def test_a_file_that_cannot_be_read(
    tmp_path: Path, extractor: Extractor, name: str, content: bytes, why: str
) -> None:
    (file,) = find_files([put(tmp_path / name, content)])[0]
    with pytest.raises(UnreadableError, match=why):
        document_of(load_file(file), file.path.name, extractor)


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "absent.txt"
    place = FilePlace(str(tmp_path), str(path))
    file = LibraryFile(path, "absent.txt", FileStamp(0, LARGEST_FILE + 1, 0), place)
    with pytest.raises(UnreadableError, match=r"50,000,001 bytes are more than 50,000,000"):
        load_file(file)


def test_a_file_that_went_between_finding_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "gone.md"
    file = LibraryFile(path, "gone.md", FileStamp(0, 1, 0), FilePlace(str(tmp_path), str(path)))
    with pytest.raises(UnreadableError, match=os.strerror(errno.ENOENT)):
        load_file(file)


def test_a_disk_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file,) = find_files([put(tmp_path / "a.md")])[0]
    answers = threading.Event()

    def wait(place: FilePlace, most: int) -> bytes:
        answers.wait()
        return b""

    monkeypatch.setattr(files, "read_plain", wait)
    monkeypatch.setattr(files, "READ_SECONDS", 0.01)
    with pytest.raises(UnreadableError, match="the disk took more than 0 seconds to read it"):
        load_file(file)
    answers.set()


def test_a_large_file_has_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "READ_SECONDS", 0.0)
    monkeypatch.setattr(files, "READ_RATE", 0.01)
    (file,) = find_files([put(tmp_path / "a.md", "x" * 100)])[0]
    assert load_file(file) == b"x" * 100


def test_plain_text_is_read_here_and_the_rest_by_a_child(extractor: Extractor) -> None:
    nobody = Nobody(1)
    for name in ("a.md", "b.txt", "README"):
        got = document_of(
            b"---\ntitle: A title\nkind: newspaper\n---\nSome words.\n\n# And more", name, nobody
        )
        assert (got.title, got.text, got.publisher_kind) == (
            "A title",
            "Some words.\n\n# And more",
            "newspaper",
        )
        assert [(mark.kind, mark.label, mark.start) for mark in got.marks] == [
            ("heading", "And more", 13)
        ]
    for data in (
        b"<html><body><p>Some words of a page.</p></body></html>",
        "Vantsk\xe4r".encode("latin-1"),
    ):
        with pytest.raises(AssertionError, match="was given to a child"):
            document_of(data, "page.html" if b"<" in data else "latin.txt", nobody)
        assert (
            "words"
            in (text := document_of(data, "x.html" if b"<" in data else "x.txt", extractor).text)
            or "Vantsk" in text
        )


def test_a_large_text_is_read_by_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_READ_HERE", 100)
    with pytest.raises(AssertionError, match="was given to a child"):
        document_of(b"word " * 30, "a.txt", Nobody(1))


def test_here_and_in_a_child_a_text_reads_the_same(extractor: Extractor) -> None:
    data = "---\ntitle: Über\nauthor: A\npublished: 2026-02\n---\r\n# One\r\n\r\nTwo.\r\n".encode()
    assert document_of(data, "a.md", extractor) == extractor.extract(data, name="a.md")


def test_hostile_texts_are_read_in_linear_time() -> None:
    for text in (
        "---\n" + "a: b\n" * 300_000,
        "---\na:" + " " * 1_000_000 + "x\n---\nBody",
        "# " * 400_000,
    ):
        assert document_of(text.encode(), "x.md", Nobody(1)).text


def test_the_sample_library_is_read_whole() -> None:
    got = read_all((sample.LIBRARY,))
    assert len(got) >= 40
    for url, item in got.items():
        assert url.startswith("sample:")
        assert (
            (sample.LIBRARY / url.removeprefix("sample:"))
            .read_text(encoding="utf-8")
            .endswith(item.text)
        )
        assert item.title
        assert item.publisher
        assert item.published
        assert not item.text.startswith("---")


@pytest.mark.parametrize(
    ("url", "place", "inside"),
    [
        ("/a/b.md", "/a", True),
        ("/a/b.md", "/a/b.md", True),
        ("/a/b.md", "/a/b", False),
        ("/ab/c.md", "/a", False),
        ("/a", "/a/b", False),
        ("/a/b.md", "/", True),
        ("sample:lake/a.md", "sample:", True),
        ("sample:lake/a.md", "sample:lake", True),
        ("sample:lakes/a.md", "sample:lake", False),
        ("/sample:/a", "sample:", False),
    ],
)
def test_what_lies_where(url: str, place: str, inside: bool) -> None:
    assert lies_within(url, place) is inside


def test_what_files_are_called(tmp_path: Path) -> None:
    assert url_of(tmp_path, tmp_path / "a.md") == (tmp_path / "a.md").as_posix()
    assert url_of(sample.LIBRARY, sample.LIBRARY / "lake" / "a.md") == "sample:lake/a.md"
    assert url_of(sample.LIBRARY, sample.LIBRARY) == "sample:"
    assert title_from_name("port-log.txt") == "port log"


@pytest.mark.parametrize(
    ("url", "folders", "name"),
    [
        ("/srv/files/ada/a.md", ["/srv/files/ada"], "a.md"),
        ("/srv/files/ada/deep/a.md", ["/none", "/srv/files/ada/"], "deep/a.md"),
        ("/srv/files/adam/a.md", ["/srv/files/ada"], "/srv/files/adam/a.md"),
        ("/srv/files/ada", ["/srv/files/ada"], "/srv/files/ada"),
        ("sample:lake/a.md", ["/srv"], "sample:lake/a.md"),
        ("/srv/a.md", [], "/srv/a.md"),
    ],
)
def test_a_file_is_named_relative_to_the_folder_it_must_lie_in(
    url: str, folders: list[str], name: str
) -> None:
    assert name_within(url, map(Path, folders)) == name
