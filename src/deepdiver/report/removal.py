"""Removing a run: its rows, the texts that no other run refers to, and the files that it left."""

from __future__ import annotations

import time
from contextlib import suppress

from deepdiver.core.settings import Settings
from deepdiver.store import Store

FILES = (
    "report.md",
    "evidence.md",
    "report.html",
    "report.json",
    "reasoning.log",
    "sources.jsonl",
)
"""The files that every run writes to its folder."""
PICTURES = ("timeline.svg", "map.svg", "matrix.svg")
"""The files that some runs write besides."""


def remove_run(run: str, settings: Settings, store: Store) -> None:
    """Delete a run and its files; a folder that holds files of the user's own stays with them.

    Args:
        run: The whole id of the run.
        settings: Those of the home.
        store: Where it is kept.

    Raises:
        UnknownNameError: If there is no such run.
        RunBusyError: While a process works on it.
    """
    store.runs.delete(run, time.time())
    folder = settings.home / "runs" / run
    for name in (*FILES, *PICTURES):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
