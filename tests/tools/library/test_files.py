"""The files of a library.

What cannot be read is listed with its reason, and of what can be nothing is lost.
"""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from deepdiver import sample
from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools.document import Document
from deepdiver.tools.extract import Extractor
from deepdiver.tools.extract.workers.limits import LARGEST_FILE
from deepdiver.tools.extract.workers.pool import shared_extractor
from deepdiver.tools.library import files
from deepdiver.tools.library.files import (
    FileStamp,
    LibraryFile,
    document_of,
    find_files,
    fingerprint_of,
    lies_within,
    load_file,
    title_from_name,
    url_of,
)
from deepdiver.tools.library.interface import UnreadFile
from tests.tools.library.harbour import put
from tests.tools.library.reading import read_all


class Nobody(Extractor):
    """Must not be asked."""

    def extract(self, data: bytes, *, mime: str = "", name: str = "", url: str = "") -> Document:
        raise AssertionError(f"{name} was given to a child")


@pytest.fixture
def extractor() -> Extractor:
    return shared_extractor()


def urls(roots: list[Path]) -> list[str]:
    return [file.url for file in find_files(roots)[0]]


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
    file = LibraryFile(tmp_path / "absent.txt", "absent.txt", FileStamp(0, LARGEST_FILE + 1, 0))
    with pytest.raises(UnreadableError, match=r"50,000,001 bytes are more than 50,000,000"):
        load_file(file)


def test_a_file_that_went_between_finding_and_reading(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=os.strerror(errno.ENOENT)):
        load_file(LibraryFile(tmp_path / "gone.md", "gone.md", FileStamp(0, 1, 0)))


def test_a_link_to_nothing_and_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "absent.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    put(tmp_path / "real.md")
    (tmp_path / "linked.md").symlink_to(tmp_path / "real.md")
    files, unread = find_files([tmp_path])
    assert [file.path.name for file in files] == ["linked.md", "real.md"]
    assert {Path(item.url).name: item.reason for item in unread} == {
        "gone.md": os.strerror(errno.ENOENT),
        "loop.md": os.strerror(errno.ELOOP),
    }


def test_a_pipe_and_a_socket_keep_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe.txt")
    with socket.socket(socket.AF_UNIX) as held:
        held.bind("socket.md")
        files, unread = find_files([Path()])
    assert files == []
    assert unread == [
        UnreadFile("pipe.txt", "it is not a plain file"),
        UnreadFile("socket.md", "it is not a plain file"),
    ]


def test_a_folder_named_like_a_document_is_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "x.md" / "inside.txt")
    assert urls([tmp_path]) == [(tmp_path / "x.md" / "inside.txt").as_posix()]


def test_folders_linked_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path / "a" / "one.md")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    files, unread = find_files([tmp_path])
    assert [file.path.name for file in files] == ["one.md"]
    assert [Path(item.url).name for item in unread] == ["up", "b"]
    assert {item.reason for item in unread} == {
        "a link to a folder is not followed; give the folder itself"
    }
    # Given itself, a link is followed.
    assert urls([tmp_path / "b"]) == [(tmp_path / "b" / "one.md").as_posix()]


def test_a_folder_that_may_not_be_opened_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "open.md")
    put(tmp_path / "closed" / "secret.md")
    listed = os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)  # root may open anything, so its refusal is played
    files, unread = find_files([tmp_path])
    assert [file.path.name for file in files] == ["open.md"]
    assert unread == [
        UnreadFile(
            (tmp_path / "closed").as_posix(), "the folder cannot be opened: Permission denied"
        )
    ]
    with pytest.raises(UsageError, match="closed cannot be read: Permission denied"):
        find_files([tmp_path / "closed"])


def test_a_file_that_may_not_be_opened_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    (file,) = find_files([put(tmp_path / "closed.md")])[0]
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UnreadableError, match="Permission denied"):
        load_file(file)


@pytest.mark.parametrize("name", ["absent", "file.md/below", "nul\0byte"])
def test_a_path_that_is_not_there(tmp_path: Path, name: str) -> None:
    put(tmp_path / "file.md")
    for look in (find_files, fingerprint_of):
        with pytest.raises(UsageError, match=r"does not exist\. Give a folder or file") as caught:
            look([tmp_path / name])
        assert caught.value.exit_code == 2


def test_a_path_that_leads_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UsageError, match="loop cannot be read: Too many levels"):
        find_files([tmp_path / "loop"])


def test_no_paths_and_an_empty_folder(tmp_path: Path) -> None:
    assert find_files([]) == ([], [])
    assert find_files([tmp_path]) == ([], [])


def test_hidden_files_and_folders_are_left_alone(tmp_path: Path) -> None:
    for name in (".hidden.md", ".git/config.txt", "a/.cache/b.md", "a/seen.md"):
        put(tmp_path / ".here" / name)
    files, unread = find_files([tmp_path / ".here"])  # hidden itself, but given by name
    assert [file.path.name for file in files] == ["seen.md"]
    assert unread == []


def test_what_deepdiver_itself_wrote_is_no_evidence_and_said_to_be_none(tmp_path: Path) -> None:
    left = sorted(files.RUN_FILES)
    for name in (
        "notes.md",
        "home/deepdiver.db",
        "home/deepdiver.db-wal",
        "home/runs/1/a.md",
        "home/mine.md",
    ):
        put(tmp_path / name)
    for name in (*left, "besides.md"):
        put(tmp_path / "out" / name)
    found, unread = find_files([tmp_path])
    assert [file.path.name for file in found] == ["mine.md", "notes.md", "besides.md"]
    assert [item.url for item in unread] == [
        (tmp_path / name).as_posix() for name in ("home", "out")
    ]
    assert {item.reason for item in unread} == {files.NO_EVIDENCE}


def test_a_home_among_the_documents_does_not_hide_them(tmp_path: Path) -> None:
    for name in ("deepdiver.db", "runs/1/report.md", "notes.md"):
        put(tmp_path / name)
    assert [file.path.name for file in find_files([tmp_path])[0]] == ["notes.md"]


@pytest.mark.parametrize("name", sorted(files.RUN_FILES))
def test_files_that_only_share_a_name_with_a_runs_are_read(tmp_path: Path, name: str) -> None:
    put(tmp_path / name)
    put(tmp_path / "runs" / "a.md")
    found, unread = find_files([tmp_path])
    assert ({file.path.name for file in found}, unread) == ({name, "a.md"}, [])


def test_files_come_in_the_order_of_their_names_and_each_once(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/b/c.md", "a.md", "B.md"):
        put(tmp_path / name)
    found = [Path(url) for url in urls([tmp_path])]
    assert found == sorted(found)
    assert len(found) == 5
    assert urls([tmp_path, tmp_path / "a", tmp_path / "a.md"]) == urls([tmp_path])


def test_a_name_that_is_no_text_is_made_one(tmp_path: Path) -> None:
    try:
        put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/Vantsk\xe4r.md")))
    except OSError:
        pytest.skip("this disk takes no such names")
    (file,) = find_files([tmp_path])[0]
    assert file.url == f"{tmp_path.as_posix()}/Vantsk?r.md"
    assert load_file(file) == b"Some words."


def test_plain_text_is_read_here_and_the_rest_by_a_child(extractor: Extractor) -> None:
    nobody = Nobody(1)
    for name in ("a.md", "b.txt", "c.rst", "Makefile"):
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


def test_a_stamp_changes_with_every_change(tmp_path: Path) -> None:
    stamps = [fingerprint_of([tmp_path])]

    def changed() -> bool:
        stamps.append(fingerprint_of([tmp_path]))
        return stamps[-1] not in stamps[:-1]

    path = put(tmp_path / "a.md", "one")
    assert changed()
    put(path, "three")
    assert changed()
    before = path.stat()
    put(path, "seven")  # as long as before, …
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # … and said to be as old
    assert changed()
    path.rename(tmp_path / "b.md")
    assert changed()
    (tmp_path / "b.md").unlink()
    assert not changed()  # as in the beginning
    assert stamps[-1] == stamps[0]
