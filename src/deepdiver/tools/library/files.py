"""The files that a library is made of: finding them, noticing changes, reading them.

A file that cannot be read is listed with the reason. Only hidden files are skipped silently.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepdiver import sample
from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools.document import Document
from deepdiver.tools.extract import FORMATS, Extractor, read_document
from deepdiver.tools.extract.document_draft import assemble_document
from deepdiver.tools.extract.workers.limits import LARGEST_FILE
from deepdiver.tools.hit import whole
from deepdiver.tools.library.interface import UnreadFile

READ_HERE = frozenset({"markdown", "text"})
"""Formats that this process reads itself, since a hostile file cannot bring their readers down."""
LARGEST_READ_HERE = 2_000_000
"""Bytes of such a file. A larger one is read by a worker, under its limits."""
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)
"""The usual suffixes of files that can be read. Files without one may be readable too: the content
decides."""
DATABASE, HOME_FOLDERS = "deepdiver.db", frozenset({"runs", "library", "evals"})
"""The contents of a home: the database, and the folders beside it."""
RUN_FILES = frozenset({"report.md", "report.html", "report.json", "reasoning.log", "sources.jsonl"})
"""The files that a run writes to its folder. A folder with all of them is the folder of a run."""
NO_EVIDENCE = "what deepdiver itself wrote there is no evidence"
LINKED_FOLDER = "a link to a folder is not followed; give the folder itself"
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


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """A file found under a root."""

    path: Path
    """Where it is."""
    url: str
    """Its URL in the library; see `url_of`."""
    stamp: FileStamp
    """Its state."""


def find_files(roots: Sequence[Path]) -> tuple[list[LibraryFile], list[UnreadFile]]:
    """Find every file under some roots.

    Returns:
        The files, each once, in the order of the roots and then of their names; and the files and
        folders that cannot be accessed.

    Raises:
        UsageError: If a root does not exist or cannot be opened.
    """
    files: dict[str, LibraryFile] = {}
    unread: list[UnreadFile] = []
    for root in roots:
        listed, closed = _list_files(root)
        unread += closed
        for path in sorted(map(Path, listed)):
            url = url_of(root, path)
            if url in files:
                continue
            try:
                status = path.stat()
            except OSError as error:
                unread.append(UnreadFile(url, str(error.strerror)))
                continue
            if stat.S_ISREG(status.st_mode):
                files[url] = LibraryFile(
                    path, url, FileStamp(status.st_mtime_ns, status.st_size, status.st_ctime_ns)
                )
            else:  # a pipe would keep its reader waiting
                unread.append(UnreadFile(url, "it is not a plain file"))
    return list(files.values()), unread


def fingerprint_of(roots: Sequence[Path]) -> str:
    """Return a hash of the names, times and sizes of all files under some roots.

    It is computed before every search of documents given with --in, so it must be quick: 5,000
    files take 50 ms.

    Raises:
        UsageError: As `find`.
    """
    seen = hashlib.blake2b()
    for path in (path for root in roots for path in sorted(_list_files(root)[0])):
        try:
            status = os.stat(path)
        except OSError:  # gone, or a broken link: `find_files` will report it
            state = "gone"
        else:
            state = f"{status.st_mtime_ns} {status.st_size} {status.st_ctime_ns}"
        seen.update(os.fsencode(path) + f"\0{state}\0".encode())
    return seen.hexdigest()


def _list_files(root: Path) -> tuple[list[str], list[UnreadFile]]:
    """Return the files under a root, and the folders that cannot be entered."""
    try:
        mode = root.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # ValueError: a name that no file can have
        raise UsageError(f"{root} does not exist. Give a folder or file of documents.") from None
    except OSError as error:
        raise _unreadable_root(root, error) from None
    return _walk(root) if stat.S_ISDIR(mode) else ([str(root)], [])


def _walk(root: Path) -> tuple[list[str], list[UnreadFile]]:
    files: list[str] = []
    closed: list[UnreadFile] = []

    def refused(error: OSError) -> None:
        folder = Path(error.filename)
        if folder == root:
            raise _unreadable_root(root, error) from None
        closed.append(
            UnreadFile(url_of(root, folder), f"the folder cannot be opened: {error.strerror}")
        )

    for at, folders, names in os.walk(root, onerror=refused):
        own = _written_by_deepdiver(folders, names)
        if own:
            closed.append(UnreadFile(url_of(root, Path(at)), NO_EVIDENCE))
        folders[:] = _visible(folders, own)
        files += [os.path.join(at, name) for name in _visible(names, own)]
        links = [path for folder in folders if (path := Path(at, folder)).is_symlink()]
        closed += [UnreadFile(url_of(root, link), LINKED_FOLDER) for link in links]
    return files, sorted(closed, key=lambda item: item.url)


def _visible(names: Iterable[str], own: Collection[str]) -> list[str]:
    return [name for name in names if not name.startswith(".") and name not in own]


def _written_by_deepdiver(folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names in a folder that deepdiver itself wrote: its home, or the files of a run.

    If a report could cite an earlier one, it would count its own word as a second source.
    """
    own = [folder for folder in folders if folder in HOME_FOLDERS] if DATABASE in names else []
    own += [name for name in names if name.startswith(DATABASE)]
    return [*own, *RUN_FILES] if set(names) >= RUN_FILES else own


def _unreadable_root(root: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{root} cannot be read: {error.strerror}. Give a folder or file that you may read."
    )


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


def lies_within_any(url: str, places: Iterable[str]) -> bool:
    """Whether a URL is one of some places or lies below one."""
    return any(lies_within(url, place) for place in places)


def load_file(file: LibraryFile) -> bytes:
    """Return the bytes of a file.

    Raises:
        UnreadableError: If it is too large or cannot be read; the message says why.
    """
    if file.stamp.size > LARGEST_FILE:
        raise UnreadableError(f"{file.stamp.size:,} bytes are more than {LARGEST_FILE:,}")
    try:
        return file.path.read_bytes()
    except OSError as error:
        raise UnreadableError(str(error.strerror)) from None


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
