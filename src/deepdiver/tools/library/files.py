"""The files that a library is made of: finding them, telling whether they changed, reading them.

A file that cannot be read is listed with the reason, never skipped silently; hidden files are the
exception.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deepdiver import sample
from deepdiver.core.record import Mark
from deepdiver.errors import UnreadableError, UsageError
from deepdiver.tools.document import Document
from deepdiver.tools.extract import FORMATS, Extractor
from deepdiver.tools.extract.workers.limits import LARGEST_FILE
from deepdiver.tools.hit import whole
from deepdiver.tools.library.interface import UnreadFile

READ_HERE = frozenset({"markdown", "text"})
"""Formats that this process reads itself: there is no parser in them that a hostile file could
bring down."""
LARGEST_READ_HERE = 2_000_000
"""Bytes of such a file; a larger one is read by a child, under its limits."""
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)
"""Suffixes that files usually have which can be read. Some without any can be, too: what counts is
what is in them."""
DATABASE, HOME_FOLDERS = "deepdiver.db", frozenset({"runs", "library", "evals"})
"""What a home holds: the database, and the folders beside it."""
RUN_FILES = frozenset({"report.md", "report.html", "report.json", "reasoning.log", "sources.jsonl"})
"""What a run leaves in its folder; all of it together is no accident."""
NO_EVIDENCE = "what deepdiver itself wrote there is no evidence"
SAMPLE_PREFIX = "sample:"
"""How the urls of the bundled library begin."""


@dataclass(frozen=True, slots=True, order=True)
class FileStamp:
    """What changes whenever a file does."""

    mtime: int
    """When its content was written, as the file says, in nanoseconds; anyone may set it."""
    size: int
    """Its length in bytes."""
    ctime: int
    """When the system last changed anything of it, in nanoseconds; nobody can set it."""


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """A file that was found."""

    path: Path
    """Where it is."""
    url: str
    """What it is called."""
    stamp: FileStamp
    """Whether it changed."""


def find_files(roots: Sequence[Path]) -> tuple[list[LibraryFile], list[UnreadFile]]:
    """Return every file under some roots, each once, in the order of the roots and then of their names.

    Returns:
        The files, and what cannot even be looked at.

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
    """Return what changes whenever a file under the roots does: a hash of names, times and sizes.

    Asked for before every search of documents given with --in, so it must be quick: 5,000 files
    take 50 ms.

    Raises:
        UsageError: As `find`.
    """
    seen = hashlib.blake2b()
    for path in (path for root in roots for path in sorted(_list_files(root)[0])):
        try:
            status = os.stat(path)
        except OSError:  # gone, or a link to nothing: `find` will say so
            told = "gone"
        else:
            told = f"{status.st_mtime_ns} {status.st_size} {status.st_ctime_ns}"
        seen.update(os.fsencode(path) + f"\0{told}\0".encode())
    return seen.hexdigest()


def _list_files(root: Path) -> tuple[list[str], list[UnreadFile]]:
    """Return the files under a root, and the folders that are not entered."""
    try:
        mode = root.stat().st_mode
    except (
        FileNotFoundError,
        NotADirectoryError,
        ValueError,
    ):  # ValueError: a name that no file can have
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
        closed += [UnreadFile(url_of(root, Path(at)), NO_EVIDENCE)] if own else []
        folders[:] = [
            folder for folder in folders if not folder.startswith(".") and folder not in own
        ]
        files += [
            os.path.join(at, file) for file in names if not file.startswith(".") and file not in own
        ]
        links = [path for folder in folders if (path := Path(at, folder)).is_symlink()]
        told = "a link to a folder is not followed; give the folder itself"
        closed += [UnreadFile(url_of(root, link), told) for link in links]
    return files, sorted(closed, key=lambda item: item.url)


def _written_by_deepdiver(folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return what deepdiver itself put into a folder.

    Its database and what lies beside it, or a run's files.

    A report that cites an earlier one would have its own word for a second source.
    """
    own = [folder for folder in folders if folder in HOME_FOLDERS] if DATABASE in names else []
    own += [name for name in names if name.startswith(DATABASE)]
    return [*own, *RUN_FILES] if set(names) >= RUN_FILES else own


def _unreadable_root(root: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{root} cannot be read: {error.strerror}. Give a folder or file that you may read."
    )


def url_of(root: Path, path: Path) -> str:
    """Return what a file under a root is called: its path, or sample:PATH.

    A name that is no text is made one.
    """
    if root == sample.LIBRARY:
        return (
            SAMPLE_PREFIX if path == root else f"{SAMPLE_PREFIX}{path.relative_to(root).as_posix()}"
        )
    return whole(path.as_posix())


def lies_within(url: str, place: str) -> bool:
    """Whether a document is a place itself or lies below it.

    Places are urls of files and folders.
    """
    return url == place or url.startswith(
        place if place.endswith(("/", SAMPLE_PREFIX)) else f"{place}/"
    )


def load_file(file: LibraryFile) -> bytes:
    """Return a file's bytes.

    Raises:
        UnreadableError: If they cannot be had; the text says why.
    """
    if file.stamp.size > LARGEST_FILE:
        raise UnreadableError(f"{file.stamp.size:,} bytes are more than {LARGEST_FILE:,}")
    try:
        return file.path.read_bytes()
    except OSError as error:
        raise UnreadableError(str(error.strerror)) from None


def document_of(data: bytes, name: str, extractor: Extractor) -> Document:
    """Return the text of a file and what it says of itself.

    Raises:
        UnreadableError: If it gives no text; the text says why.
    """
    from deepdiver.tools.extract import read_document

    if (
        read_document.detect_format(data, "", name, "") in READ_HERE
        and len(data) <= LARGEST_READ_HERE
        and _is_utf8(data)
    ):
        draft = read_document.read_document(data, name=name)
        told = draft.metadata()
        marks = tuple(
            Mark(start=start, kind=kind, label=label) for start, kind, label in told.pop("marks")
        )
        return Document(text=draft.text, marks=marks, **told)
    return extractor.extract(data, name=name)


def _is_utf8(data: bytes) -> bool:
    """Whether no guess at an encoding is needed, which can take long."""
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def title_from_name(name: str) -> str:
    """Return the title that a file gets from its name, where it has none of its own."""
    return whole(Path(name).stem.replace("-", " "))
