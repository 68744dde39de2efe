"""The files that a library is made of: their names, their states, and reading them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deepdiver import sample
from deepdiver.errors import UnreadableError
from deepdiver.tools import daemon_threads
from deepdiver.tools.document import Document
from deepdiver.tools.extract import Extractor, read_document
from deepdiver.tools.extract.document_draft import assemble_document
from deepdiver.tools.extract.workers.limits import LARGEST_FILE
from deepdiver.tools.hit import whole
from deepdiver.tools.plain_file import FilePlace, read_plain

READ_HERE = frozenset({"code", "markdown", "rst", "text"})
"""Formats that this process reads itself, since a hostile file cannot bring their readers down."""
LARGEST_READ_HERE = 2_000_000
"""Bytes of such a file. A larger one is read by a worker, under its limits."""
READ_SECONDS = 10.0
"""Seconds that reading a file may take, and one more for every READ_RATE bytes."""
READ_RATE = 500_000
"""Bytes a second of the slowest disk that counts as one that answers."""
SAMPLE_PREFIX = "sample:"
"""The beginning of the URLs of the sample library."""


@dataclass(frozen=True, slots=True, order=True)
class FileStamp:
    """The state of a file: another one whenever the file changes."""

    mtime: int
    """When its content was modified, in nanoseconds. Anyone can set this."""
    size: int
    """Its length in bytes."""
    ctime: int
    """When the system last changed anything about it, in nanoseconds. Nobody can set this."""

    @classmethod
    def of(cls, status: os.stat_result) -> FileStamp:
        """Return the stamp of a file with this status."""
        return cls(status.st_mtime_ns, status.st_size, status.st_ctime_ns)


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """A file found under a root."""

    path: Path
    """Its path, as the user would write it."""
    url: str
    """Its URL in the library; see `url_of`."""
    stamp: FileStamp
    """Its state when it was found."""
    place: FilePlace
    """Where it really is, if `path` is a link or leads through one."""


def url_of(root: Path, path: Path) -> str:
    """Return the URL of a file under a root: its path, or `sample:PATH`.

    Bytes of a name that are not text are replaced.
    """
    if root == sample.LIBRARY:
        return SAMPLE_PREFIX + ("" if path == root else path.relative_to(root).as_posix())
    return whole(path.as_posix())


def lies_within(url: str, place: str) -> bool:
    """Whether a URL is a place itself or lies below it.

    Places are the URLs of files and folders.
    """
    return url == place or url.startswith(
        place if place.endswith(("/", SAMPLE_PREFIX)) else f"{place}/"
    )


def name_within(url: str, folders: Iterable[Path]) -> str:
    """Return the URL of a file relative to the first of some folders that it lies in.

    Whoever may only read these folders has no need to know where on the machine they are. A URL
    that lies in none of them is returned as it is.
    """
    for folder in folders:
        place = f"{whole(folder.as_posix()).rstrip('/')}/"
        if url.startswith(place):
            return url.removeprefix(place)
    return url


def lies_within_any(url: str, places: Iterable[str]) -> bool:
    """Whether a URL is one of some places or lies below one."""
    return any(lies_within(url, place) for place in places)


def load_file(file: LibraryFile) -> bytes:
    """Return the bytes of a file.

    Raises:
        UnreadableError: If it is too large, cannot be read or takes too long; the message says why.
    """
    if file.stamp.size > LARGEST_FILE:
        raise UnreadableError(f"{file.stamp.size:,} bytes are more than {LARGEST_FILE:,}")
    seconds = READ_SECONDS + file.stamp.size / READ_RATE
    reading = daemon_threads.start(lambda: read_plain(file.place, LARGEST_FILE), "read a file")
    try:
        return reading.result(seconds)
    except TimeoutError:  # the thread is left to the disk
        raise UnreadableError(f"the disk took more than {seconds:.0f} seconds to read it") from None


def document_of(data: bytes, name: str, extractor: Extractor) -> Document:
    """Return the text and metadata of a file.

    Raises:
        UnreadableError: If it has no text that can be read; the message says why.
    """
    harmless = read_document.detect_format(data, "", name, "") in READ_HERE
    if harmless and len(data) <= LARGEST_READ_HERE and _is_utf8(data):
        draft = read_document.read_document(data, name=name)
        return assemble_document(draft.text, draft.metadata())
    return extractor.extract(data, name=name)


def _is_utf8(data: bytes) -> bool:
    """Whether the encoding need not be guessed, which can take long."""
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def title_from_name(name: str) -> str:
    """Return the title made from the name of a file that has no title of its own."""
    return whole(Path(name).stem.replace("-", " "))
