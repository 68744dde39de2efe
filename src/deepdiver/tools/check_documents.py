"""Checking, before a run, that there are documents to read where somebody says that there are."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deepdiver.errors import NoEvidenceError, UnreadableError, UsageError
from deepdiver.tools import daemon_threads
from deepdiver.tools.extract import FORMATS, format_of
from deepdiver.tools.library.files import READ_SECONDS
from deepdiver.tools.library.folder_walk import FolderWalk, Spot
from deepdiver.tools.plain_file import read_beginning

NAMED_KINDS = 3
"""Kinds of files that an error names where none can be read."""
SUFFIXES = frozenset(suffix for suffixes in FORMATS.values() for suffix in suffixes)
"""The usual suffixes of documents. Whether a file without one is a text, its content tells."""
BEGINNING = 8_192
"""Bytes at the beginning of a file that tell what it is."""
MOST_OPENED = 1_000
"""Files without such a suffix that are looked into, before it is left to the library."""


def check_documents(paths: Sequence[Path]) -> None:
    """Check that documents can be read.

    Raises:
        UsageError: If a path does not exist or permissions forbid reading it.
        NoEvidenceError: If there are paths, but no document below any of them.
    """
    for path in paths:
        _check_path(path)
    walk, found = FolderWalk(paths), Counter[str]()
    for spot, _ in walk:
        name = os.path.basename(spot.path)
        suffix = os.path.splitext(name)[1].lower()
        if suffix in SUFFIXES or found.total() >= MOST_OPENED or _is_document(spot, name):
            return
        found[suffix or name] += 1
    if walk.unread and (found or any(path.is_dir() for path in paths)):
        return  # opening the library will say which files cannot be read, and why
    if walk.unread:
        where = ", ".join(map(str, paths))
        raise NoEvidenceError(
            f"no readable document in {where}: {walk.unread[0].line}; give another --in"
        )
    if paths:
        raise NoEvidenceError(f"{_no_documents(paths, found)}; give another --in")


def _is_document(spot: Spot, name: str) -> bool:
    """Whether a file can be read by the look of its beginning, or only the library can tell."""
    reading = daemon_threads.start(
        lambda: read_beginning(spot.place(), BEGINNING), "look into a file"
    )
    try:
        start = reading.result(READ_SECONDS)
    except (UnreadableError, TimeoutError):  # the library will say why
        return True
    return bool(start.strip()) and bool(format_of("", name, start))


def _check_path(path: Path) -> None:
    try:
        folder = stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise UsageError(
            f"{path} does not exist: give a file or folder of documents with --in"
        ) from None
    except OSError as error:  # it is too long, leads in a circle, or may not be looked at
        raise UsageError(f"{path} cannot be read: {error.strerror}; give another --in") from None
    if not os.access(path, os.R_OK | (os.X_OK if folder else 0)):
        raise UsageError(
            f"no permission to read {path}: change its permissions, or give another --in"
        )


def _no_documents(paths: Sequence[Path], found: Counter[str]) -> str:
    """Say that there are no files, or which kinds of files cannot be read.

    Args:
        paths: Where documents were looked for.
        found: How many files there are, by their suffix.
    """
    where = ", ".join(map(str, paths))
    if not found:
        return f"there are no files in {where}"
    commonest = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:NAMED_KINDS]
    listed = ", ".join(kind for kind, _ in commonest)
    more = ", …" if len(found) > NAMED_KINDS else ""
    total = found.total()
    held = f"it is {listed}" if total == 1 else f"all {total:,} files are {listed}{more}"
    return f"no readable document in {where}: {held}"
