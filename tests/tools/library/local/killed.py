"""Processes that fill a library and kill themselves at the Nth step that changes the disk.

python killed.py FOLDER DOCUMENTS STEP...

The library of a step is FOLDER/killed-STEP. The steps at which a process was killed are printed;
the others came too late for that. Each process is a fork of one that has everything imported, which
costs no start-up.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepdiver.encoders import row_file
from deepdiver.tools.library import refresh
from deepdiver.tools.library.local import catalogue, word_index
from deepdiver.tools.library.local.library import LocalLibrary

left = 0
refresh.BATCH = 2


def step() -> None:
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)


def stepped(owner: Any, name: str, *, after: bool = True) -> None:
    """Let a step be before, and perhaps behind, what a method does."""
    real: Callable[..., Any] = getattr(owner, name)

    def made(*args: Any, **more: Any) -> Any:
        step()
        found = real(*args, **more)
        if after:
            step()
        return found

    setattr(owner, name, made)


for act in (
    "put",
    "touch",
    "move",
    "drop",
    "miss",
    "settle",
    "indexed",
    "keep",
    "renumber",
    "unindex",
):
    stepped(catalogue.SqliteCatalogue, act)
stepped(word_index.WordIndexWriter, "add", after=False)
stepped(word_index.WordIndexWriter, "drop", after=False)
stepped(word_index.WordIndex, "reload")
stepped(row_file.RowFile, "_write")


def fill(folder: Path, docs: Path) -> None:
    library = LocalLibrary(folder)
    library.refresh([docs])
    library.embed()
    library.close()


def killed_at(at: int) -> bool:
    """Fill the library of a step in a process of its own; returns whether it was killed."""
    global left
    child = os.fork()
    if child == 0:
        left = at
        fill(Path(sys.argv[1]) / f"killed-{at}", Path(sys.argv[2]))
        sys.stderr.flush()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, -signal.SIGKILL):
        sys.exit(f"step {at} ended with {status}")
    return status != 0


print(*(at for at in map(int, sys.argv[3:]) if killed_at(at)))  # noqa: T201 - the answer
