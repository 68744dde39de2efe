"""Small files of the home beside the database: what belongs to this machine and not to a run.

A file is complete or as it was before, whenever a process is killed, and only its owner can read
it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from deepdiver.store.faults import damaged, from_os


def read_home_file(path: Path) -> str | None:
    """Return the text of a file; None if there is none.

    Raises:
        StoreAccessError: If it cannot be read.
        DamagedStoreError: If it is not a text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise damaged(path, "it is not UTF-8") from error
    except (OSError, ValueError) as error:
        raise from_os(error, path) from error


def write_home_file(path: Path, text: str) -> None:
    """Write a file; it is on disk when this returns.

    Raises:
        StoreFullError: If the disk is full.
        StoreAccessError: If it cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Only its owner may read and write a temporary file.
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:60]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except (OSError, ValueError) as error:
        raise from_os(error, path) from error
