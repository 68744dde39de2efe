"""Being somebody whom the system refuses something, also where the tests run as root."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65_534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Be nobody for a while, if this process is root's; otherwise stay who we are."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@contextmanager
def folder_for_all() -> Iterator[Path]:
    """Make a folder that everybody may enter, and delete it with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix="deepdiver-test-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for path in [path for path in folder.rglob("*") if path.is_dir()]:
            path.chmod(0o700)
        shutil.rmtree(folder)
