"""Calls outside of any run: a feed asked for by itself, a question about a run that is over.

They go through a gateway like all others, so that limits are obeyed, answers are shared and no
secret passes. What they journal is kept in memory: there is no run to resume or to replay, so
nothing shows up in `deepdiver runs`, and nothing is left behind, however the process ends. Cache
and limits are those of the home, shared with every run and process.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from deepdiver import __version__
from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway
from deepdiver.store import SqliteStore, Store, open_store, schema

SHARED = ("cache_", "limit_")
"""How those methods of a store begin that are for all runs and processes of a home."""


def _unheard(event: Event) -> None:
    """Drop an event: nobody listens."""


@contextlib.asynccontextmanager
async def loose(
    settings: Settings, *, store: Store | None = None, emit: Callable[[Event], None] = _unheard
) -> AsyncIterator[Gateway]:
    """Open a gateway for calls that belong to no run.

    Use one for each errand, for within it nothing is asked twice.

    Args:
        settings: As for a run. The budget is that of the errand.
        store: The home's store, where it is open already.
        emit: Receives the events.

    Raises:
        StoreError: If the database of the home cannot be used.
    """
    with contextlib.ExitStack() as held:
        shared = store or held.enter_context(contextlib.closing(open_store(settings.home)))
        own = held.enter_context(contextlib.closing(_in_memory()))
        now = datetime.now(UTC).isoformat(timespec="seconds")
        # A name of its own: places and claims are held by it, in all processes of the home.
        run = Run(
            id=f"loose-{secrets.token_hex(8)}",
            question="",
            strategy="popper",
            settings={},
            created=now,
            version=__version__,
        )
        own.create_run(run)
        yield Gateway(cast("Store", _Beside(own, shared)), run.id, settings, emit)


def _in_memory() -> SqliteStore:
    file = Path(":memory:")
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    schema.migrate(db, file)
    db.execute("PRAGMA foreign_keys = ON")
    return SqliteStore(db, file, 0.0)


class _Beside:
    """A store of one's own, beside the cache and the limits of another."""

    def __init__(self, own: Store, shared: Store) -> None:
        self._own, self._shared = own, shared

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shared if name.startswith(SHARED) else self._own, name)

    def hold_text(self, run: str, digest: str) -> bool:
        """Take over a text that the other keeps: a shared answer may refer to one."""
        if self._own.hold_text(run, digest):
            return True
        try:
            text = self._shared.get_text(digest)
        except KeyError:
            return False
        self._own.put_text(run, text)
        return True
