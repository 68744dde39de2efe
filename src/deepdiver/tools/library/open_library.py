"""Opening a library: the main one, or the one of a set of --in paths.

A ranking depends on all documents of a library, so each set of paths has a library of its own.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from deepdiver import sample
from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError
from deepdiver.tools.library.interface import Library

MAIN = "main"
"""The name of the library that `deepdiver library add` fills."""


def folder_of(home: Path, paths: Sequence[Path]) -> Path:
    """Return the folder of the library of some paths, or of the main one if there are none."""
    if not paths:
        return home / "library" / MAIN
    if tuple(paths) == (sample.LIBRARY,):
        return home / "library" / "sample"
    listed = "\0".join(sorted({path.absolute().as_posix() for path in paths}))
    name = hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return home / "library" / name


def open_library(settings: Settings, paths: Sequence[Path] = ()) -> Library:
    """Open the library of some paths, or the main one if there are none.

    It is in a PostgreSQL database if the settings name one, otherwise in a folder.

    Raises:
        StoreError: If it cannot be opened.
        UsageError: If the address of the database is malformed, or its package is not installed.
    """
    if settings.database is not None:
        from deepdiver.tools.library.postgres.library import PostgresLibrary

        return PostgresLibrary(settings.database, folder_of(settings.home, paths).name)
    from deepdiver.tools.library.local.library import LocalLibrary

    return LocalLibrary(folder_of(settings.home, paths))


def has_documents(settings: Settings) -> bool:
    """Whether the main library has any document. Nothing is created."""
    if settings.database is not None:
        from deepdiver.tools.library.postgres.library import has_any_document

        try:
            return has_any_document(settings.database, MAIN)
        except DeepdiverError:
            return True  # opening it will report what is wrong with it
    file = folder_of(settings.home, ()) / "catalogue.sqlite"
    if not file.is_file():
        return False
    try:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)
        ) as db:
            return db.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        return True  # opening it will report what is wrong with it
