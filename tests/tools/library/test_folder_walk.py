"""Finding files in folders: nothing is lost, each is found once, and no link leads out."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools import plain_file
from deepdiver.tools.library import folder_walk
from deepdiver.tools.library.files import load_file
from deepdiver.tools.library.folder_walk import (
    DEEPEST,
    LONGEST_PATH,
    OUTSIDE,
    SAME_NAME,
    TOO_DEEP,
    TOO_LONG,
    FolderWalk,
    check_root,
    find_files,
    fingerprint_of,
)
from deepdiver.tools.library.interface import UnreadFile
from deepdiver.tools.plain_file import NOT_PLAIN, REPLACED, FilePlace
from tests.patience import in_proportion
from tests.tools.library.harbour import put
from tests.unprivileged import folder_for_all, unprivileged


def urls(roots: list[Path]) -> list[str]:
    return [file.url for file in find_files(roots)[0]]


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
    left = sorted(folder_walk.RUN_FILES)
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
    assert {item.reason for item in unread} == {folder_walk.NO_EVIDENCE}


def test_a_home_among_the_documents_does_not_hide_them(tmp_path: Path) -> None:
    for name in ("deepdiver.db", "runs/1/report.md", "notes.md"):
        put(tmp_path / name)
    assert [file.path.name for file in find_files([tmp_path])[0]] == ["notes.md"]


@pytest.mark.parametrize("name", sorted(folder_walk.RUN_FILES))
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


# -- links


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of documents beside something private."""
    put(tmp_path / "private" / "secret.md", "A secret.")
    put(tmp_path / "docs" / "a.md", "A text.")
    return tmp_path / "docs"


def found(*roots: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of all files and the reasons of those not read, by paths below a root."""
    files, unread = find_files(roots)

    def name(url: str) -> str:
        return str(Path(url).relative_to(roots[0].parent))

    return (
        {name(file.url): load_file(file).decode() for file in files},
        {name(item.url): item.reason for item in unread},
    )


def test_a_link_out_of_the_folder_is_not_followed(docs: Path) -> None:
    private = docs.parent / "private"
    (docs / "file.md").symlink_to(private / "secret.md")
    (docs / "folder").symlink_to(private)
    (docs / "up").symlink_to("..")
    (docs / "relative.md").symlink_to("../private/secret.md")
    (docs / "link-to-link.md").symlink_to("file.md")
    (docs / "system.txt").symlink_to("/etc/passwd")
    (docs / "sub").mkdir()
    (docs / "sub" / "through.md").symlink_to("../folder/secret.md")
    read, unread = found(docs)
    assert read == {"docs/a.md": "A text."}
    links = ("file.md", "folder", "link-to-link.md", "relative.md", "sub/through.md")
    assert unread == {f"docs/{name}": OUTSIDE for name in (*links, "system.txt", "up")}
    assert str(private) not in OUTSIDE, "a client of a server is not told where it leads"


def test_a_folder_with_the_same_beginning_is_outside(docs: Path) -> None:
    put(docs.with_name("docs-private") / "secret.md")
    (docs / "link.md").symlink_to(docs.with_name("docs-private") / "secret.md")
    assert found(docs)[1] == {"docs/link.md": OUTSIDE}


def test_a_link_that_stays_within_leads_to_nothing_new(docs: Path) -> None:
    put(docs / "sub" / "b.md", "B.")
    (docs / "file.md").symlink_to("a.md")
    (docs / "folder").symlink_to("sub")
    (docs / "sub" / "up").symlink_to(docs)
    (docs / "self").symlink_to(".")
    assert found(docs) == ({"docs/a.md": "A text.", "docs/sub/b.md": "B."}, {})


def test_a_link_between_two_folders_that_were_given(docs: Path) -> None:
    private = docs.parent / "private"
    (docs / "file.md").symlink_to(private / "secret.md")
    (docs / "folder").symlink_to(private)
    expected = {"docs/a.md": "A text.", "private/secret.md": "A secret."}
    assert found(docs, private) == (expected, {})
    assert found(docs, private / "secret.md")[0] == expected
    assert found(docs, private / "secret.md")[1] == {"docs/folder": OUTSIDE}


def test_what_is_hidden_is_read_under_the_name_of_a_link_to_it(docs: Path) -> None:
    put(docs / ".git" / "annex" / "1.md", "One.")
    put(docs / ".git" / "annex" / "2.md", "Two.")
    (docs / "one.md").symlink_to(".git/annex/1.md")
    (docs / "one-again.md").symlink_to(".git/annex/1.md")
    (docs / "z-folder").symlink_to(".git/annex")
    expected = {"a.md": "A text.", "one-again.md": "One.", "z-folder/2.md": "Two."}
    assert found(docs) == ({f"docs/{name}": text for name, text in expected.items()}, {})


def test_a_link_to_what_deepdiver_wrote_is_no_evidence_either(docs: Path) -> None:
    put(docs / "home" / "deepdiver.db")
    put(docs / "home" / "runs" / "1" / "report.md", "An answer.")
    (docs / "report.md").symlink_to("home/runs/1/report.md")
    (docs / "runs").symlink_to("home/runs")
    assert found(docs) == ({"docs/a.md": "A text."}, {"docs/home": folder_walk.NO_EVIDENCE})


def test_a_link_that_the_user_gives_is_followed(docs: Path) -> None:
    (docs / "link.md").symlink_to(docs.parent / "private" / "secret.md")
    (docs.parent / "folder").symlink_to(docs)
    assert found(docs / "link.md") == ({"link.md": "A secret."}, {})
    assert found(docs.parent / "folder") == (
        {"folder/a.md": "A text."},
        {"folder/link.md": OUTSIDE},
    )
    assert find_files([docs, docs.parent / "folder"])[0] == find_files([docs])[0], "read once"


def test_links_to_nothing_and_in_a_circle(docs: Path) -> None:
    (docs / "gone.md").symlink_to("absent.md")
    (docs / "loop.md").symlink_to("loop.md")
    (docs / "one").symlink_to("other")
    (docs / "other").symlink_to("one")
    read, unread = found(docs)
    assert read == {"docs/a.md": "A text."}
    assert unread == {
        "docs/gone.md": os.strerror(errno.ENOENT),
        "docs/loop.md": os.strerror(errno.ELOOP),
        "docs/one": os.strerror(errno.ELOOP),
        "docs/other": os.strerror(errno.ELOOP),
    }


def test_a_file_that_became_a_link_after_it_was_found(docs: Path) -> None:
    (file,) = find_files([docs])[0]
    file.path.unlink()
    file.path.symlink_to(docs.parent / "private" / "secret.md")
    with pytest.raises(UnreadableError, match=f"^{REPLACED}$"):
        load_file(file)


@pytest.mark.parametrize("by_descriptor", [True, False])
def test_a_folder_that_became_a_link_while_it_was_found(
    docs: Path, monkeypatch: pytest.MonkeyPatch, by_descriptor: bool
) -> None:
    put(docs / "sub" / "b.md")
    real = plain_file.opened_folder

    def opened(place: FilePlace) -> AbstractContextManager[int | str]:
        if place.path.endswith("sub"):
            (docs / "sub").rename(docs / ".away")
            (docs / "sub").symlink_to(docs.parent / "private")
        return real(place)

    monkeypatch.setattr(folder_walk, "opened_folder", opened)
    monkeypatch.setattr(plain_file, "_BY_DESCRIPTOR", by_descriptor)
    assert found(docs) == (
        {"docs/a.md": "A text."},
        {"docs/sub": f"the folder cannot be opened: {REPLACED}"},
    )


@pytest.mark.parametrize("by_descriptor", [True, False])
@pytest.mark.parametrize("name", ["sub", "sub/b.md"])
def test_documents_that_must_lie_within_a_folder(
    docs: Path, monkeypatch: pytest.MonkeyPatch, name: str, by_descriptor: bool
) -> None:
    monkeypatch.setattr(plain_file, "_BY_DESCRIPTOR", by_descriptor)
    put(docs / "sub" / "b.md", "B.")
    (docs / "sub" / "link.md").symlink_to(docs / "a.md")
    root, private = docs / name, docs.parent / "private"
    files, unread = find_files([root], within=[private, docs])
    assert [load_file(file) for file in files] == [b"B."]
    assert [item.reason for item in unread] == [OUTSIDE] * (name == "sub")
    with pytest.raises(UsageError, match="does not lie within the folders of the server"):
        find_files([root], within=[private])
    assert fingerprint_of([root], [docs]) == fingerprint_of([root])
    # A link takes the place of the documents: before they are looked for, and after.
    (docs / "sub").rename(docs / "away")
    (docs / "sub").symlink_to(private)
    put(private / "b.md", "A secret.")
    with pytest.raises(UsageError, match="does not lie within the folders of the server"):
        find_files([root], within=[docs])
    (file,) = files
    with pytest.raises(UnreadableError, match=REPLACED):
        load_file(file)


def test_a_folder_that_became_a_link_after_it_was_resolved(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(docs / "sub" / "b.md", "B.")
    walk = FolderWalk([docs / "sub"], [docs])
    (docs / "sub").rename(docs / "away")
    (docs / "sub").symlink_to(docs.parent / "private")
    assert list(walk) == []
    assert [item.reason for item in walk.unread] == [NOT_PLAIN]
    (docs / "away" / "deep").mkdir()
    walk = FolderWalk([docs / "away" / "deep"], [docs])
    (docs / "away").rename(docs / "sub.old")
    (docs.parent / "private" / "deep").mkdir()
    (docs / "away").symlink_to(docs.parent / "private")
    with pytest.raises(UsageError, match=f"cannot be read: {REPLACED}"):
        list(walk)


PLACES = st.sampled_from(["docs", "docs/sub", "docs/sub/deep", "docs/.hidden", "private", "."])
NAMES = st.sampled_from(["a.md", "b.md", "c", "d"])


@given(st.lists(st.tuples(PLACES, NAMES, PLACES, NAMES), max_size=8))
def test_whatever_the_links_only_files_of_the_folder_are_found_and_each_once(
    tmp_path_factory: pytest.TempPathFactory, links: list[tuple[str, str, str, str]]
) -> None:
    base = tmp_path_factory.mktemp("links")
    for folder in ("docs", "docs/sub/deep", "docs/.hidden", "private"):
        put(base / folder / "text.md", folder)
    for at, name, to, target in links:
        if not os.path.lexists(base / at / name):
            (base / at / name).symlink_to(base / to / target if target == "c" else base / to)
    files, _ = find_files([base / "docs"])
    texts = [load_file(file).decode() for file in files]
    assert len(texts) == len(set(texts))
    assert {"docs", "docs/sub/deep"} <= set(texts) <= {"docs", "docs/sub/deep", "docs/.hidden"}


# -- what cannot be looked at


@pytest.fixture
def shared() -> Iterator[Path]:
    with folder_for_all() as folder:
        yield folder


def test_a_folder_that_may_not_be_opened_is_listed(shared: Path) -> None:
    put(shared / "open.md")
    put(shared / "closed" / "secret.md")
    (shared / "closed").chmod(0)
    with unprivileged():
        files, unread = find_files([shared])
        with pytest.raises(UsageError, match="closed cannot be read: Permission denied"):
            find_files([shared / "closed"])
        with pytest.raises(UsageError, match="closed cannot be read: Permission denied"):
            check_root(shared / "closed")
        with pytest.raises(UsageError, match=r"secret\.md cannot be read: Permission denied"):
            find_files([shared / "closed" / "secret.md"])
    assert [file.path.name for file in files] == ["open.md"]
    assert unread == [
        UnreadFile((shared / "closed").as_posix(), "the folder cannot be opened: Permission denied")
    ]


def test_a_folder_whose_entries_may_not_be_looked_at_is_listed_with_them(shared: Path) -> None:
    put(shared / "listed" / "a.md")
    put(shared / "open.md")
    (shared / "listed").chmod(0o444)
    with unprivileged():
        files, unread = find_files([shared])
        assert fingerprint_of([shared])
    assert [file.path.name for file in files] == ["open.md"]
    assert unread == [
        UnreadFile((shared / "listed" / "a.md").as_posix(), os.strerror(errno.EACCES))
    ]


def test_a_file_that_may_not_be_opened_is_told(shared: Path) -> None:
    put(shared / "closed.md").chmod(0)
    with unprivileged():
        (file,) = find_files([shared])[0]
        with pytest.raises(UnreadableError, match="Permission denied"):
            load_file(file)


@contextmanager
def nested(folder: Path, name: str, levels: int) -> Iterator[None]:
    """Make folders in folders, however long the path becomes, with a file in the last one."""
    folder.mkdir()
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("deep.md", os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=at))
    try:
        yield
    finally:  # nobody else can delete so many levels
        os.unlink("deep.md", dir_fd=at)
        os.close(at)
        for _ in range(levels - 1):
            (folder / name / name).rename(folder / "next")
            (folder / name).rmdir()
            (folder / "next").rename(folder / name)


@pytest.mark.parametrize(
    ("name", "levels", "reason"),
    [("x" * 250, 20, TOO_LONG), ("d", 3_000, TOO_DEEP), ("d", DEEPEST + 1, TOO_DEEP)],
    ids=["long names", "many folders", "one folder too many"],
)
@pytest.mark.parametrize("by_descriptor", [True, False])
def test_a_path_that_is_too_long_is_listed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    by_descriptor: bool,
    name: str,
    levels: int,
    reason: str,
) -> None:
    monkeypatch.setattr(plain_file, "_BY_DESCRIPTOR", by_descriptor)
    with nested(tmp_path / "docs", name, levels), in_proportion():
        put(tmp_path / "docs" / "a.md")
        files, unread = find_files([tmp_path / "docs"])
        assert fingerprint_of([tmp_path / "docs"])
    assert [file.path.name for file in files] == ["a.md"]
    (long,) = unread
    assert long.reason == reason
    assert long.url.startswith((tmp_path / "docs" / name[:10]).as_posix())
    assert len(long.url) <= folder_walk.SHOWN_PATH + 1


def test_the_deepest_folder_is_read(tmp_path: Path) -> None:
    with nested(tmp_path / "docs", "d", DEEPEST):
        files, unread = find_files([tmp_path / "docs"])
        assert [load_file(file) for file in files] == [b""]
    assert unread == []


def test_a_path_is_read_up_to_the_longest(tmp_path: Path) -> None:
    left = LONGEST_PATH - len(os.fsencode(tmp_path))
    parts = ["d" * 99] * (left // 100 - 1)
    folder = tmp_path.joinpath(*parts)
    rest = LONGEST_PATH - len(os.fsencode(folder)) - 1
    put(folder / ("ä" * (rest // 2) + "f" * (rest % 2)))
    put(folder / ("g" * (rest + 1)))
    files, unread = find_files([tmp_path])
    assert [load_file(file) for file in files] == [b"Some words."]
    assert [item.reason for item in unread] == [TOO_LONG]


@pytest.mark.parametrize("name", ["x" * 300, "/".join(["x" * 200] * 30)])
def test_a_root_that_is_too_long(tmp_path: Path, name: str) -> None:
    for look in (find_files, fingerprint_of):
        with pytest.raises(UsageError, match="cannot be read: File name too long"):
            look([tmp_path / name])


def test_a_root_that_is_longer_than_what_is_read(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["d" * 99] * (LONGEST_PATH // 100 + 1))
    folder.mkdir(parents=True)
    with pytest.raises(UsageError, match=TOO_LONG):
        find_files([folder])


def test_a_root_whose_name_is_not_text(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        put(root / "a.md")
    except OSError:
        pytest.skip("this disk takes no such names")
    with pytest.raises(UsageError, match=r"udce9' is not text: rename it, or give the folder"):
        find_files([root])
    assert urls([tmp_path]) == [f"{tmp_path.as_posix()}/caf?/a.md"]


def test_names_that_are_alike_once_they_are_text(tmp_path: Path) -> None:
    try:
        for byte in (b"\xe8", b"\xe9"):
            put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf" + byte + b".md")))
    except OSError:
        pytest.skip("this disk takes no such names")
    files, unread = find_files([tmp_path])
    assert [file.url for file in files] == [f"{tmp_path.as_posix()}/caf?.md"]
    assert unread == [UnreadFile(f"{tmp_path.as_posix()}/caf?.md", SAME_NAME)]


def test_a_root_can_be_checked(tmp_path: Path) -> None:
    check_root(tmp_path)
    check_root(put(tmp_path / "a.md"))
    with pytest.raises(UsageError, match="does not exist"):
        check_root(tmp_path / "gone")


def test_a_folder_that_goes_while_it_is_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "a.md")
    put(tmp_path / "sub" / "b.md")
    real = plain_file.opened_folder

    def opened(place: FilePlace) -> AbstractContextManager[int | str]:
        if place.path.endswith("sub"):
            (tmp_path / "sub" / "b.md").unlink()
            (tmp_path / "sub").rmdir()
        return real(place)

    monkeypatch.setattr(folder_walk, "opened_folder", opened)
    files, unread = find_files([tmp_path])
    assert [file.path.name for file in files] == ["a.md"]
    assert [item.reason for item in unread] == [
        "the folder cannot be opened: No such file or directory"
    ]
