"""Faults of the database file, each as one line that names the file and says what to do."""

from __future__ import annotations

import difflib
import errno
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deepdiver.errors import (
    DamagedStoreError,
    LostTextError,
    StoreAccessError,
    StoreError,
    StoreFullError,
    UnknownNameError,
)

SPARE = 1 << 16
"""A disk with fewer free bytes counts as full: SQLite's shared memory alone takes half of them."""


@contextmanager
def translated(file: Path, timeout: float) -> Iterator[None]:
    """Turn SQLite's errors into store errors.

    Args:
        file: The database.
        timeout: How long SQLite waits for a lock, for the message.

    Raises:
        StoreError: One of its kinds.
    """
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        # A mistake of the caller, such as using a store after it was closed.
        raise
    except sqlite3.Error as error:
        raise _translate(error, file, timeout) from error
    except UnicodeDecodeError as error:
        # Python could not even decode SQLite's message, which quotes the damage.
        raise damaged(file, "a text is not UTF-8") from error


def primary_code(error: sqlite3.Error) -> int | None:
    """Return SQLite's primary error code; None if the Python module found the fault."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def from_os(error: OSError | ValueError, file: Path) -> StoreError:
    """Return the error for a file that the system refuses; a path with a NUL gives a ValueError."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(file)
    return no_access(file, (isinstance(error, OSError) and error.strerror) or str(error))


def damaged(file: Path, what: str) -> DamagedStoreError:
    """Return the error for something saved that cannot be read."""
    return DamagedStoreError(
        f"{file} is damaged ({what}): restore it from a copy, or move it away to start again"
    )


def lost_text(file: Path, text: str, what: str, runs: Sequence[str]) -> LostTextError:
    """Return the error for the text of a source that cannot be read any more.

    Args:
        file: The database.
        text: The hash of the text.
        what: What is wrong with it: "is missing" or "is damaged".
        runs: The runs that saved it.
    """
    more = f" and {len(runs) - 1} others" if len(runs) > 1 else ""
    of = f" of run {runs[0]}{more}" if runs else ""
    return LostTextError(
        f"the saved text {text[:12]}{of} {what} in {file}: restore it from a copy, or ask "
        "the question again in a new run, which reads its sources anew",
        text,
    )


def full(file: Path) -> StoreFullError:
    """Return the error for a full disk."""
    return StoreFullError(
        f"{file} cannot grow, the disk is full: free some space, then resume; nothing saved is lost"
    )


def no_access(file: Path, why: str) -> StoreAccessError:
    """Return the error for a file that cannot be opened or written."""
    return StoreAccessError(
        f"{file} cannot be opened for writing ({why}): allow it, or choose another --home"
    )


def unknown_run(run: str, known: Sequence[str]) -> UnknownNameError:
    """Return the error for an unknown run, with the nearest known id."""
    close = difflib.get_close_matches(run[:100], known, 1, 0.5)
    hint = f"did you mean {close[0]}? " if close else ""
    return UnknownNameError(f"unknown run {quote_name(run)}; {hint}`deepdiver runs` lists them")


def quote_name(name: str) -> str:
    """Return a name in quotes for a message, short and valid as UTF-8."""
    short = name if len(name) <= 100 else name[:100] + "…"
    return repr(short.encode("utf-8", "replace").decode("utf-8"))


def _translate(error: sqlite3.Error, file: Path, timeout: float) -> StoreError:
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return full(file)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if _disk_is_full(file):
            # SQLite says FULL of its log and its database, not of its shared memory.
            return full(file)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return no_access(file, _line(error))
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(file, _line(error))
        case sqlite3.SQLITE_ERROR | sqlite3.SQLITE_CONSTRAINT:
            # A table, a column or a row is missing.
            return damaged(file, _line(error))
        case None:
            # The Python module itself: a text is not UTF-8.
            return damaged(file, "a text is not UTF-8")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(
                f"{file} was locked by another process for {timeout:g} s: end it, or try again "
                "later"
            )
    return StoreError(
        f"{file} could not be read or written ({_line(error)}): check the disk, then resume"
    )


def _line(error: sqlite3.Error) -> str:
    """Return SQLite's message as one printable line: it may quote what is damaged."""
    return "".join(char if char.isprintable() else "?" for char in str(error))[:100]


def _disk_is_full(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free < SPARE
    except OSError:
        # The folder itself is gone.
        return False
