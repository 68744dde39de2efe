"""A lock between processes, which the system releases when its holder dies.

It is SQLite's own lock on an empty database, which works on every system that deepdiver runs on.
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
"""Seconds between two attempts; short, so that Ctrl-C takes effect."""


@contextmanager
def hold_lock(file: Path, seconds: float) -> Iterator[None]:
    """Hold a lock.

    Args:
        file: The file of the lock; created if it does not exist.
        seconds: How long to wait for another holder.

    Raises:
        StoreError: If another process holds it for longer, or the file cannot be created.
    """
    with _locked(file, seconds) as taken:
        if not taken:
            raise StoreError(
                f"{file.parent} is being changed by another process: try again when it is done"
            )
        yield


@contextmanager
def try_lock(file: Path) -> Iterator[bool]:
    """Hold a lock if nobody else does; yields whether it is held."""
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
