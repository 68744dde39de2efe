"""Where runs are saved: small protocols, and SQLite or PostgreSQL behind them."""

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
    """Open the store that the settings name: a PostgreSQL database, or the home's SQLite file.

    Raises:
        SettingsError: If the address of the database is malformed.
        StoreError: If it cannot be used; the message says what to do.
        UsageError: If the package for PostgreSQL is not installed.
    """
    if settings.database is not None:
        from deepdiver.store.postgres import open_postgres

        return open_postgres(settings.database)
    return open_sqlite(settings.home)
