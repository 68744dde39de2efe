"""Where runs are saved: small protocols, and SQLite behind them."""

from deepdiver.core.settings import Settings
from deepdiver.store.base import (
    Cache,
    CallState,
    Journal,
    JournalRow,
    Leases,
    LimitGrant,
    Limits,
    PastRun,
    Records,
    Runs,
    Store,
    Texts,
)
from deepdiver.store.sqlite import open_sqlite

__all__ = [
    "Cache",
    "CallState",
    "Journal",
    "JournalRow",
    "Leases",
    "LimitGrant",
    "Limits",
    "PastRun",
    "Records",
    "Runs",
    "Store",
    "Texts",
    "open_store",
]


def open_store(settings: Settings) -> Store:
    """Open the store that the settings name: the SQLite file of the home folder.

    Raises:
        StoreError: If it cannot be used; the message says what to do.
    """
    return open_sqlite(settings.home)
