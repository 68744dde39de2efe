"""Reading documents: what cannot be read is listed with its reason, and of what can be nothing is lost."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.errors import UsageError
from deepdiver.tools.library import documents
from deepdiver.tools.library.documents import Document, Unread, front_matter, read_all, read_one, stamp


def put(path: Path, text: str | bytes = "Some words.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def reason(path: Path) -> str:
    got = read_one(path, path.name)
    assert isinstance(got, Unread)
    assert got.url == path.name
    return got.reason


def document(path: Path) -> Document:
    got = read_one(path, path.as_posix())
    assert isinstance(got, Document)
    return got


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pdf", b"%PDF-1.7", ".pdf is not a format that can be read yet"),
        ("Makefile", b"all:", "a file without suffix is not a format that can be read yet"),
        ("latin.txt", "Vantsk\xe4r".encode("latin-1"), "it is not UTF-8 text"),
        ("utf16.txt", "Vantskär".encode("utf-16"), "it is not UTF-8 text"),
        ("binary.txt", b"PK\x03\x04\x00\x00", "it is not text"),
        ("empty.md", b"", "it is empty"),
        ("blank.md", b" \n\t\n", "it is empty"),
        ("bom.md", b"\xef\xbb\xbf", "it is empty"),
        ("only-front.md", b"---\ntitle: Nothing else\n---\n", "it is empty"),
        ("only-front-open.md", b"---\ntitle: Nothing else\n---", "it is empty"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    assert reason(put(tmp_path / name, content)) == why


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LARGEST", 1_000)
    assert reason(put(tmp_path / "large.txt", "x" * 1_001)) == "1,001 bytes are more than 1,000"
    assert document(put(tmp_path / "just.txt", "x" * 1_000)).text == "x" * 1_000


def test_a_link_to_nothing_and_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "absent.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    put(tmp_path / "real.md")
    (tmp_path / "linked.md").symlink_to(tmp_path / "real.md")
    read, unread = read_all((tmp_path,))
    assert [Path(item.url).name for item in read] == ["linked.md", "real.md"]
    assert {Path(item.url).name: item.reason for item in unread} == {
        "gone.md": os.strerror(errno.ENOENT),
        "loop.md": os.strerror(errno.ELOOP),
    }


def test_a_pipe_and_a_socket_keep_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe.txt")
    with socket.socket(socket.AF_UNIX) as held:
        held.bind("socket.md")
        read, unread = read_all((Path(),))
    assert read == []
    assert unread == [Unread("pipe.txt", "it is not a plain file"), Unread("socket.md", "it is not a plain file")]


def test_a_folder_named_like_a_document_is_a_folder(tmp_path: Path) -> None:
    put(tmp_path / "x.md" / "inside.txt")
    read, unread = read_all((tmp_path,))
    assert [item.url for item in read] == [(tmp_path / "x.md" / "inside.txt").as_posix()]
    assert unread == []
    assert reason(tmp_path / "x.md") == "it is not a plain file"


def test_folders_linked_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path / "a" / "one.md")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    read, unread = read_all((tmp_path,))
    assert [Path(item.url).name for item in read] == ["one.md"]
    assert [Path(item.url).name for item in unread] == ["up", "b"]
    assert {item.reason for item in unread} == {"a link to a folder is not followed; give the folder itself with --in"}
    read, _ = read_all((tmp_path / "b",))  # given itself, a link is followed
    assert [item.url for item in read] == [(tmp_path / "b" / "one.md").as_posix()]


def test_a_folder_that_may_not_be_opened_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "open.md")
    put(tmp_path / "closed" / "secret.md")
    listed = os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)  # root may open anything, so its refusal is played
    read, unread = read_all((tmp_path,))
    assert [Path(item.url).name for item in read] == ["open.md"]
    assert unread == [Unread((tmp_path / "closed").as_posix(), "the folder cannot be opened: Permission denied")]
    with pytest.raises(UsageError, match="closed cannot be read: Permission denied"):
        read_all((tmp_path / "closed",))


def test_a_file_that_may_not_be_opened_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    put(tmp_path / "closed.md")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert reason(tmp_path / "closed.md") == "Permission denied"


@pytest.mark.parametrize("name", ["absent", "file.md/below", "nul\0byte"])
def test_a_path_that_is_not_there(tmp_path: Path, name: str) -> None:
    put(tmp_path / "file.md")
    for look in (read_all, stamp):
        with pytest.raises(UsageError, match=r"does not exist\. Give a folder or file") as caught:
            look((tmp_path / name,))
        assert caught.value.exit_code == 2


def test_a_path_that_leads_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UsageError, match="loop cannot be read: Too many levels"):
        read_all((tmp_path / "loop",))


def test_no_paths_and_an_empty_folder(tmp_path: Path) -> None:
    assert read_all(()) == ([], [])
    assert read_all((tmp_path,)) == ([], [])


def test_hidden_files_and_folders_are_left_alone(tmp_path: Path) -> None:
    for name in (".hidden.md", ".git/config.txt", "a/.cache/b.md", "a/seen.md"):
        put(tmp_path / ".here" / name)
    read, unread = read_all((tmp_path / ".here",))  # hidden itself, but given by name
    assert [Path(item.url).name for item in read] == ["seen.md"]
    assert unread == []


def test_files_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/b/c.md", "a.md", "B.md"):
        put(tmp_path / name)
    read, _ = read_all((tmp_path,))
    urls = [Path(item.url) for item in read]
    assert urls == sorted(urls)
    assert len(urls) == 5
    assert read_all((tmp_path,))[0] == read


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    one, two = put(tmp_path / "a" / "one.md"), put(tmp_path / "two.txt")
    read, _ = read_all((tmp_path, tmp_path / "a", one))
    assert [item.url for item in read] == [one.as_posix(), two.as_posix()]


def test_a_single_file_by_any_of_its_suffixes(tmp_path: Path) -> None:
    for name in ("a.MD", "b.markdown", "c.Text", "d.txt"):
        read, unread = read_all((put(tmp_path / name),))
        assert ([item.title for item in read], unread) == ([Path(name).stem], [])
    assert read_all((put(tmp_path / "e.docx"),))[1] == [
        Unread((tmp_path / "e.docx").as_posix(), ".docx is not a format that can be read yet")
    ]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_whatever_the_editor(tmp_path: Path, line_end: str, mark: str) -> None:
    lines = ["---", "title: Nine hurt", "kind: newspaper", "---", "First.", "", "Second."]
    got = document(put(tmp_path / "a.md", mark + line_end.join(lines)))
    assert got.meta == {"title": "Nine hurt", "kind": "newspaper"}
    assert got.title == "Nine hurt"
    assert got.text == "First.\n\nSecond."


@pytest.mark.parametrize(
    ("text", "meta", "body"),
    [
        ("---\n---\nBody", {}, "Body"),
        ("---  \ntitle: A\n--- \n\n\nBody", {"title": "A"}, "Body"),
        (
            "---\ntitle: A\n\n# a comment\ntags:\n  - x\n- y\nAuthor: B\n---\nBody",
            {"title": "A", "tags": "", "author": "B"},
            "Body",
        ),
        ('---\ntitle: "A: B"\n---\nBody', {"title": "A: B"}, "Body"),
        ("---\ntitle: 'Tis the season\n---\nBody", {"title": "'Tis the season"}, "Body"),
        ('---\ntitle: The "Great" "Fire"\n---\nBody', {"title": 'The "Great" "Fire"'}, "Body"),
        ('---\ntitle: "\n---\nBody', {"title": '"'}, "Body"),
        ("---\nurl: https://example.org/a\n---\nBody", {"url": "https://example.org/a"}, "Body"),
        ("---\ntitle: A\n---", {"title": "A"}, ""),
    ],
)
def test_front_matter(text: str, meta: dict[str, str], body: str) -> None:
    assert front_matter(text) == (meta, body)


@pytest.mark.parametrize(
    "text",
    [
        "Body without any.",
        "---\ntitle: the end is missing\nBody",
        "---\nProse between two rules across the page.\n---\nMore prose.",
        "---\n- a list\n- between rules\n---\nMore prose.",
        "---\ntitle: A\nthen prose that is no field\n---\nBody",
        "----\ntitle: A\n----\nBody",
        " ---\ntitle: A\n---\nBody",
        "\n---\ntitle: A\n---\nBody",
        "---\nhttps://example.org\n---\nBody",
    ],
)
def test_what_is_no_front_matter_stays_in_the_text(text: str) -> None:
    assert front_matter(text) == ({}, text)


@given(st.text(alphabet="-\n: abc#\"'\t", max_size=60))
def test_nothing_of_a_text_is_lost(text: str) -> None:
    meta, body = front_matter(text)
    assert text.endswith(body)
    head = text.removesuffix(body) if body else text
    for key, value in meta.items():
        assert key in head.lower()
        assert value in head
    if not meta and head.strip("-\n \t"):
        assert all(line.strip() == "" for line in head.splitlines()[1:-1])


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("port-log.txt", "No heading here.", "port log"),
        ("a.md", "Intro.\n\n## The first heading \n\n# A later one", "The first heading"),
        ("a.md", "---\ntitle: From the front\n---\n# From the text", "From the front"),
        ("a.md", "---\ntitle:\n---\n# From the text", "From the text"),
        ("a.md", "#no heading without a space", "a"),
        ("a.md", "####### seven are none", "a"),
    ],
)
def test_the_title(tmp_path: Path, name: str, text: str, title: str) -> None:
    assert document(put(tmp_path / name, text)).title == title


def test_hostile_files_are_read_in_linear_time(tmp_path: Path) -> None:
    for number, text in enumerate(
        ("---\n" + "a: b\n" * 300_000, "---\na:" + " " * 1_000_000 + "x\n---\nBody", "# " * 400_000)
    ):
        got = read_one(put(tmp_path / f"{number}.md", text), "x")
        assert isinstance(got, Document)


def test_the_sample_library_is_read_whole() -> None:
    read, unread = read_all((sample.LIBRARY,))
    assert unread == []
    assert len(read) >= 40
    for item in read:
        assert item.url.startswith("sample:")
        path = sample.LIBRARY / item.url.removeprefix("sample:")
        assert path.read_text(encoding="utf-8").endswith(item.text)
        assert {"title", "publisher", "kind", "published", "url"} <= item.meta.keys()
        assert item.title == item.meta["title"]
        assert not item.text.startswith("---")


def test_a_stamp_changes_with_every_change(tmp_path: Path) -> None:
    stamps = [stamp((tmp_path,))]

    def changed() -> bool:
        stamps.append(stamp((tmp_path,)))
        return stamps[-1] not in stamps[:-1]

    path = put(tmp_path / "a.md", "one")
    assert changed()
    put(path, "three")
    assert changed()
    put(path, "seven")  # as long as before
    os.utime(path, ns=(1, 1))
    assert changed()
    (tmp_path / "gone.md").symlink_to(tmp_path / "absent.md")
    assert changed()
    path.unlink()
    assert changed()
    assert stamp((tmp_path,)) == stamps[-1]
