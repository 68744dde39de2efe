"""What is not to be remembered: runs, findings and verdicts, by their ids.

The record of a run is not changed by it: its report can still be shown, checked and replayed. What
is forgotten is neither found by a search of the memory nor offered to another run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from deepdiver.errors import DamagedStoreError
from deepdiver.store import Store
from deepdiver.store.notes import no_lock, notes_of

FILE = "forgotten.json"
"""The name of the list in the home."""


def load_forgotten(home: Path, store: Store | None = None) -> frozenset[str]:
    """Return the ids that are forgotten: in a home, or in the database that machines share.

    Raises:
        DamagedStoreError: If the list cannot be read: then nothing may be remembered.
    """
    notes = notes_of(store, home, no_lock)
    text = notes.get(FILE)
    if text is None:
        return frozenset()
    try:
        held = json.loads(text)["forgotten"]
        if not all(isinstance(one, str) for one in held):
            raise TypeError
        return frozenset(held)
    except (ValueError, TypeError, KeyError, RecursionError):
        where = notes.place(FILE)
        raise DamagedStoreError(
            f"{where} is damaged: move it away, and forget again what is to be forgotten"
        ) from None


def save_forgotten(home: Path, forgotten: Iterable[str], store: Store | None = None) -> None:
    """Save the ids that are forgotten.

    Raises:
        StoreError: If they cannot be saved.
    """
    text = json.dumps({"forgotten": sorted(forgotten)}, indent=1)
    notes_of(store, home, no_lock).put(FILE, text + "\n")
