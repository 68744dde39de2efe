"""A process that fills a library and ends itself, by SIGKILL, at the Nth step that changes anything on the disk.

python killed.py LIBRARY DOCUMENTS STEP
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepdiver.encoders import rows
from deepdiver.tools.library import catalogue, refreshing, words
from deepdiver.tools.library.local import LocalLibrary

left = int(sys.argv[3])
refreshing.BATCH = 2


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


for act in ("put", "touch", "move", "drop", "miss", "settle", "indexed", "keep", "renumber", "unindex"):
    stepped(catalogue.Catalogue, act)
stepped(words.Writer, "add", after=False)
stepped(words.Writer, "drop", after=False)
stepped(words.Words, "reload")
stepped(rows.RowFile, "_write")

library = LocalLibrary(Path(sys.argv[1]))
library.refresh([Path(sys.argv[2])])
library.embed()
library.close()
