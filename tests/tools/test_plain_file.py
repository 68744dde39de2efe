"""Opening and reading a file of the user's: no link is followed, and nothing makes us wait."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools import plain_file
from deepdiver.tools.plain_file import (
    NOT_PLAIN,
    PIECE,
    REPLACED,
    FilePlace,
    open_plain,
    open_stream,
    opened_folder,
    read_beginning,
    read_plain,
    reason_of,
)

PROC = Path("/proc/self")
needs_proc = pytest.mark.skipif(not PROC.exists(), reason="there are no files of the kernel here")


@pytest.fixture(params=[True, False], ids=["by descriptors", "by paths"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open files as on systems that have descriptors of folders, and as on Windows."""
    monkeypatch.setattr(plain_file, "_BY_DESCRIPTOR", request.param)


@pytest.fixture(autouse=True)
def _nothing_stays_open() -> Iterator[None]:
    before = sorted(os.listdir("/proc/self/fd")) if PROC.exists() else []
    yield
    assert before == (sorted(os.listdir("/proc/self/fd")) if PROC.exists() else [])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file in a folder in a folder, beside something private."""
    base = tmp_path.resolve()
    (base / "docs" / "sub").mkdir(parents=True)
    (base / "docs" / "sub" / "a.md").write_text("A text.")
    (base / "private").mkdir()
    (base / "private" / "a.md").write_text("A secret.")
    return base / "docs" / "sub" / "a.md"


def place_of(file: Path) -> FilePlace:
    return FilePlace(str(file.parents[1]), str(file))


def test_the_names_that_lead_to_a_file() -> None:
    assert FilePlace("/docs", "/docs/sub/a.md").names() == ["sub", "a.md"]
    assert FilePlace("/docs/a.md", "/docs/a.md").names() == []
    assert FilePlace("/", "/docs/a.md").names() == ["docs", "a.md"]


@pytest.mark.usefixtures("_either_way")
def test_a_file_is_read(file: Path) -> None:
    assert read_plain(place_of(file), 7) == b"A text."
    assert read_plain(FilePlace(str(file), str(file)), 7) == b"A text."


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("swapped", ["a.md", "sub", "both"])
def test_what_became_a_link_is_not_followed(file: Path, swapped: str) -> None:
    found, private = place_of(file), file.parents[2] / "private"
    if swapped != "sub":
        file.unlink()
        file.symlink_to(private / "a.md")
    if swapped != "a.md":
        file.parent.rename(file.parents[1] / "away")
        file.parent.symlink_to(private)
    with pytest.raises(UnreadableError, match=f"^{REPLACED}$"):
        read_plain(found, 100)


@pytest.mark.usefixtures("_either_way")
def test_a_root_that_became_a_link_is_not_followed(file: Path) -> None:
    found = FilePlace(str(file), str(file))
    file.unlink()
    file.symlink_to(file.parents[2] / "private" / "a.md")
    with pytest.raises(UnreadableError, match=f"^{REPLACED}$"):
        read_plain(found, 100)


@pytest.mark.usefixtures("_either_way")
def test_a_link_that_stays_within_is_not_followed_either(file: Path) -> None:
    (file.parent / "b.md").symlink_to(file)  # the caller resolves links, and opens what is there
    with pytest.raises(UnreadableError, match=f"^{REPLACED}$"):
        read_plain(place_of(file.parent / "b.md"), 100)


@pytest.mark.usefixtures("_either_way")
def test_a_folder_is_listed_and_what_became_a_link_is_not(file: Path) -> None:
    found = FilePlace(str(file.parents[1]), str(file.parent))
    with opened_folder(found) as opened:
        assert os.listdir(opened) == ["a.md"]
    file.parent.rename(file.parents[1] / "away")
    file.parent.symlink_to(file.parents[2] / "private")
    with pytest.raises(OSError, match=r"\[Errno") as caught, opened_folder(found):
        pass
    assert reason_of(caught.value) == REPLACED


@pytest.mark.usefixtures("_either_way")
def test_a_pipe_that_took_the_place_of_a_file_keeps_nobody_waiting(file: Path) -> None:
    found = place_of(file)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UnreadableError, match=f"^{NOT_PLAIN}$"):
        read_plain(found, 100)  # nobody writes to it: opening it would wait for ever


@pytest.mark.parametrize("name", ["folder", "pipe", "socket", "device"])
def test_only_a_plain_file_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkdir("folder")
    os.mkfifo("pipe")
    Path("device").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as held:
        held.bind("socket")
        with pytest.raises(OSError, match=r"\[Errno") as caught:
            open_plain(name, links=True)
    # The system itself does not open a socket.
    assert caught.value.errno in (errno.EINVAL, errno.ENXIO, errno.EOPNOTSUPP)


@needs_proc
def test_a_file_that_never_ends_is_read_up_to_the_limit() -> None:
    path = Path("/proc/self/pagemap").resolve()  # a plain file: 0 bytes, says the system
    assert path.stat().st_size == 0
    with pytest.raises(UnreadableError, match=r"^it has more than 3,000,000 bytes$"):
        read_plain(FilePlace(str(path.parent), str(path)), 3_000_000)


@needs_proc
def test_a_file_that_the_system_does_not_let_us_read_says_so() -> None:
    path = Path("/proc/self/mem").resolve()
    with pytest.raises(UnreadableError, match=os.strerror(errno.EIO)):
        read_plain(FilePlace(str(path.parent), str(path)), 100)


HOLDER = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDWR)
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError:
    print("refused", flush=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="leases on files are of Linux")
def test_a_file_that_another_program_holds_is_not_waited_for(file: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:  # at its end it closes the pipe, and waits
        assert holder.stdout is not None
        said = holder.stdout.readline()
        if said != "held\n":
            holder.communicate("")
            pytest.skip("there are no leases on this disk")
        with pytest.raises(UnreadableError, match="waiting for another program"):
            read_plain(place_of(file), 100)
        holder.communicate("")


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 7])
def test_all_of_a_file_is_read_and_not_a_byte_beyond_the_limit(file: Path, size: int) -> None:
    data = os.urandom(size)
    file.write_bytes(data)
    assert read_plain(place_of(file), size) == data
    assert read_plain(place_of(file), size + 1) == data
    if size:
        with pytest.raises(UnreadableError, match="it has more than"):
            read_plain(place_of(file), size - 1)


def test_a_file_that_shrinks_while_it_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(b"x" * (3 * PIECE))
    real = os.read

    def read(opened: int, size: int) -> bytes:
        piece = real(opened, size)
        os.truncate(file, 10)
        return piece

    monkeypatch.setattr(os, "read", read)
    assert read_plain(place_of(file), 3 * PIECE) == b"x" * PIECE


def test_a_sparse_file_takes_no_more_than_the_limit(file: Path) -> None:
    os.truncate(file, 2**40)
    with pytest.raises(UnreadableError, match="it has more than 5,000 bytes"):
        read_plain(place_of(file), 5_000)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone.md", os.strerror(errno.ENOENT)),
        ("gone/a.md", os.strerror(errno.ENOENT)),
        ("a\0b.md", "no file can have this name"),
        ("x" * 300, os.strerror(errno.ENAMETOOLONG)),
        ("a.md/b.md", REPLACED),
    ],
)
def test_what_cannot_be_opened_says_why(file: Path, name: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=f"^{why}$"):
        read_plain(FilePlace(str(file.parent), f"{file.parent}/{name}"), 100)


def test_a_file_that_the_user_named_may_be_a_link(file: Path) -> None:
    (file.parent / "named").symlink_to(file)
    with open_stream(file.parent / "named") as stream:
        assert stream.read() == b"A text."
    os.mkfifo(file.parent / "pipe")
    with pytest.raises(OSError, match=NOT_PLAIN):
        open_stream(file.parent / "pipe")


@pytest.mark.usefixtures("_either_way")
def test_the_beginning_of_a_file(file: Path) -> None:
    place = FilePlace(str(file.parent.parent), str(file))
    assert read_beginning(place, 3) == b"A t"
    assert read_beginning(place, 100) == b"A text."
    file.unlink()
    with pytest.raises(UnreadableError, match=os.strerror(errno.ENOENT)):
        read_beginning(place, 3)
    file.symlink_to(file.parent.parent.parent / "private" / "a.md")
    with pytest.raises(UnreadableError, match=REPLACED):
        read_beginning(place, 3)
