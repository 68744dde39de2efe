"""Where runs live: one interface, SQLite behind it."""

from deepdiver.store.base import CallState, JournalRow, LimitGrant, PastRun, Store
from deepdiver.store.sqlite import SqliteStore, open_store

__all__ = ["CallState", "JournalRow", "LimitGrant", "PastRun", "SqliteStore", "Store", "open_store"]
