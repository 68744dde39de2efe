"""One at a time.

A lock that other processes see, and that the system lets go of when its holder dies.

It is SQLite's own lock on an empty database, which holds on every system that deepdiver runs on.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deepdiver.errors import StoreError
from deepdiver.store.faults import primary_code, translated

PAUSE = 0.2
"""Seconds between two tries; short, so that Ctrl-C is heard."""


@contextmanager
def hold_lock(file: Path, seconds: float) -> Iterator[None]:
    """Hold a lock.

    Args:
        file: The lock; made where there is none.
        seconds: How long to wait for another holder.

    Raises:
        StoreError: If somebody else holds it for longer, or the file cannot be made.
    """
    with _locked(file, seconds) as taken:
        if not taken:
            raise StoreError(
                f"{file.parent} is being changed by another process: try again when it is done"
            )
        yield


@contextmanager
def try_lock(file: Path) -> Iterator[bool]:
    """Hold a lock if nobody else does; gives whether that is so."""
    with _locked(file, 0.0) as taken:
        yield taken


@contextmanager
def _locked(file: Path, seconds: float) -> Iterator[bool]:
    ends = time.monotonic() + seconds
    with translated(file, seconds):
        db = sqlite3.connect(
            file, timeout=min(PAUSE, seconds), isolation_level=None, check_same_thread=False
        )
        try:
            while not (taken := _try_once(db)) and time.monotonic() < ends:
                pass  # SQLite has waited
        except BaseException:
            db.close()
            raise
    try:
        yield taken
    finally:
        db.close()


def _try_once(db: sqlite3.Connection) -> bool:
    try:
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if primary_code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    return True
