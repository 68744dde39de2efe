"""What can go wrong with the database file, each as one line that names the file and says what to do."""

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
    StoreAccessError,
    StoreError,
    StoreFullError,
    UnknownNameError,
)

SPARE = 1 << 16
"""A disk with less free space than this, in bytes, counts as full: SQLite's shared memory alone
takes half of it."""


@contextmanager
def translated(file: Path, timeout: float) -> Iterator[None]:
    """Turn SQLite's errors into ours.

    Args:
        file: The database.
        timeout: How long SQLite waits for a lock, for the message.

    Raises:
        StoreError: One of its kinds.
    """
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
        raise  # A fault of the caller's, such as a store used after it was closed.
    except sqlite3.Error as error:
        raise _translate(error, file, timeout) from error
    except (
        UnicodeDecodeError
    ) as error:  # The module could not even read SQLite's message, which quotes the damage.
        raise damaged(file, "a text is not UTF-8") from error


def primary_code(error: sqlite3.Error) -> int | None:
    """Return SQLite's own code without its extension; None if the Python module found the fault."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def from_os(error: OSError | ValueError, file: Path) -> StoreError:
    """Return what to raise when the system refuses the file.

    ValueError is its answer to a path with a NUL in it.
    """
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(file)
    return no_access(file, (isinstance(error, OSError) and error.strerror) or str(error))


def damaged(file: Path, what: str) -> DamagedStoreError:
    """Return what to raise when something saved cannot be read."""
    return DamagedStoreError(
        f"{file} is damaged ({what}): restore it from a copy, or move it away to begin anew"
    )


def full(file: Path) -> StoreFullError:
    """Return what to raise when the disk is full."""
    return StoreFullError(
        f"{file} cannot grow, the disk is full: free some space, then resume; nothing saved is lost"
    )


def no_access(file: Path, why: str) -> StoreAccessError:
    """Return what to raise when the file cannot be opened or written."""
    return StoreAccessError(
        f"{file} cannot be opened for writing ({why}): allow it, or choose another --home"
    )


def unknown_run(run: str, known: Sequence[str]) -> UnknownNameError:
    """Return what to raise when a run is not there; the nearest of the known ones is named."""
    close = difflib.get_close_matches(run[:100], known, 1, 0.5)
    hint = f"did you mean {close[0]}? " if close else ""
    return UnknownNameError(f"unknown run {quote_name(run)}; {hint}`deepdiver runs` lists them")


def quote_name(name: str) -> str:
    """Return a name as it may stand in a line of text: short, and such that UTF-8 can hold it."""
    short = name if len(name) <= 100 else name[:100] + "…"
    return repr(short.encode("utf-8", "replace").decode("utf-8"))


def _translate(error: sqlite3.Error, file: Path, timeout: float) -> StoreError:
    match primary_code(error):
        case sqlite3.SQLITE_FULL:
            return full(file)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR if _disk_is_full(file):
            return full(
                file
            )  # SQLite says FULL of its log and its database, not of its shared memory.
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return no_access(file, _line(error))
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(file, _line(error))
        case (
            sqlite3.SQLITE_ERROR | sqlite3.SQLITE_CONSTRAINT
        ):  # A table, a column or a row that must be there is not.
            return damaged(file, _line(error))
        case None:  # The module's own: a text that is not UTF-8.
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
    """Return a message as it may stand in a line: it may quote what is damaged."""
    return "".join(char if char.isprintable() else "?" for char in str(error))[:100]


def _disk_is_full(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free < SPARE
    except OSError:
        return False  # The folder itself is gone: not for want of space.
