"""Opening and reading a file of the user's: never through a link, never waiting, never endlessly.

A folder of documents may hold anything, and may change while it is read. So what counts is not what
a path looked like when it was found, but what was opened: no name on the way may be a link by then,
and only a plain file is read, in pieces, up to a limit.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from deepdiver.errors import UnreadableError

NOT_PLAIN = "it is not a plain file"
REPLACED = "a link took its place, or that of a folder above it, after it was found"
PIECE = 1 << 20
"""Bytes that are read at a time."""
_READING = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for somebody who writes to it
    | getattr(os, "O_NOCTTY", 0)  # a terminal would become ours
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = _READING | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
_LINK_MET = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})
"""How systems say that a name which must not be a link is one."""
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether files can be opened and folders listed by descriptors, so that nothing can be replaced
between two steps. Windows cannot."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where a file or folder really is."""

    base: str
    """A path without links: the folder that the user gave, or the file itself."""
    path: str
    """The path of the file, which is the base or lies below it. No name of it below the base may be
    a link when it is opened."""

    def names(self) -> list[str]:
        """Return the names that lead from the base to the file; none for the base itself."""
        rest = self.path[len(self.base) :].strip(os.sep)
        return rest.split(os.sep) if rest else []


def open_plain(path: str | Path, *, folder: int | None = None, links: bool = False) -> int:
    """Open a plain file for reading, and return its descriptor.

    Args:
        path: Its path; relative to `folder` if that is given.
        folder: The descriptor of a folder.
        links: Whether the path may be a link.

    Raises:
        OSError: If it cannot be opened, would make us wait, or is not a plain file.
    """
    opened = os.open(path, _READING | (0 if links else _NO_LINK), dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, NOT_PLAIN)
    except BaseException:
        os.close(opened)
        raise
    return opened


def open_stream(path: Path) -> BufferedReader:
    """Open a plain file that the user named, which may be a link, as a stream of bytes.

    Raises:
        OSError: As `open_plain`.
    """
    return os.fdopen(open_plain(path, links=True), "rb")


def read_plain(place: FilePlace, most: int) -> bytes:
    """Return the bytes of a file.

    The size that the system gives is not believed: it is 0 for files that never end.

    Args:
        place: The file.
        most: The most bytes that it may have.

    Raises:
        UnreadableError: If it is larger or cannot be read; the message says why.
    """
    try:
        with _opened_file(place) as opened:
            pieces, size = list[bytes](), 0
            while piece := os.read(opened, PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise UnreadableError(f"it has more than {most:,} bytes")
            return b"".join(pieces)
    except (OSError, ValueError) as error:
        raise UnreadableError(reason_of(error)) from None


def read_beginning(place: FilePlace, most: int) -> bytes:
    """Return the first bytes of a file, `most` at the most.

    Raises:
        UnreadableError: If it cannot be read; the message says why.
    """
    try:
        with _opened_file(place) as opened:
            return os.read(opened, most)
    except (OSError, ValueError) as error:
        raise UnreadableError(reason_of(error)) from None


@contextlib.contextmanager
def opened_folder(place: FilePlace) -> Iterator[int | str]:
    """Open a folder, and give what `os.scandir` lists it by.

    Raises:
        OSError: If it cannot be opened, or a link took its place.
    """
    if not _BY_DESCRIPTOR:
        _refuse_links(place.path)
        yield place.path
        return
    with _descent(place.base, place.names()) as opened:
        yield opened


@contextlib.contextmanager
def _opened_file(place: FilePlace) -> Iterator[int]:
    *folders, name = place.names() or [""]
    if name and _BY_DESCRIPTOR:
        with _descent(place.base, folders) as folder:
            opened = open_plain(name, folder=folder)
    else:
        opened = open_plain(place.path)
    try:
        if not _BY_DESCRIPTOR:
            _refuse_links(place.path)
            if not os.path.samestat(os.fstat(opened), os.stat(place.path)):
                raise OSError(errno.ELOOP, REPLACED)
        yield opened
    finally:
        os.close(opened)


@contextlib.contextmanager
def _descent(base: str, folders: Sequence[str]) -> Iterator[int]:
    """Give the descriptor of a folder, opened name by name, so that no link is followed."""
    opened = os.open(base, _FOLDER)
    try:
        for name in folders:
            inner = os.open(name, _FOLDER, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


def _refuse_links(path: str) -> None:
    if os.path.realpath(path) != path:
        raise OSError(errno.ELOOP, REPLACED)


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file or folder cannot be opened or read, for a person.

    A name that no file can have, such as one with a NUL, gives a ValueError.
    """
    if not isinstance(error, OSError):
        return "no file can have this name"
    if isinstance(error, BlockingIOError):
        return "reading it would mean waiting for another program"
    return REPLACED if error.errno in _LINK_MET else str(error.strerror or error)
