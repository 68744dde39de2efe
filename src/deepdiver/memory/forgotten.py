"""What is not to be remembered: runs, findings and verdicts, by their ids.

The record of a run is not changed by it: its report can still be shown, checked and replayed. What
is forgotten is neither found by a search of the memory nor offered to another run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from deepdiver.errors import DamagedStoreError
from deepdiver.store.home_file import read_home_file, write_home_file

FILE = "forgotten.json"
"""The name of the list in the home."""


def load_forgotten(home: Path) -> frozenset[str]:
    """Return the ids that are forgotten.

    Raises:
        DamagedStoreError: If the list cannot be read: then nothing may be remembered.
    """
    text = read_home_file(home / FILE)
    if text is None:
        return frozenset()
    try:
        held = json.loads(text)["forgotten"]
        if not all(isinstance(one, str) for one in held):
            raise TypeError
        return frozenset(held)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DamagedStoreError(
            f"{home / FILE} is damaged: move it away, and forget again what is to be forgotten"
        ) from None


def save_forgotten(home: Path, forgotten: Iterable[str]) -> None:
    """Save the ids that are forgotten.

    Raises:
        StoreError: If they cannot be saved.
    """
    text = json.dumps({"forgotten": sorted(forgotten)}, indent=1)
    write_home_file(home / FILE, text + "\n")
