"""A place among a provider's calls: rate and concurrency, shared by all processes of one store."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from deepdiver.core.settings import Settings
from deepdiver.store import Store

LONGEST_WAIT = 1.0
"""Seconds between two looks: a place that another process gives back is taken within this time."""


class Limits:
    """The limits of one store, as the settings have them."""

    def __init__(self, store: Store, settings: Settings, clock: Callable[[], float]):
        """Bind the store's counters to the settings."""
        self._store, self._settings, self._clock = store, settings, clock

    @asynccontextmanager
    async def place(self, provider: str, seconds: float) -> AsyncIterator[None]:
        """Wait for a place and hold it; a place held past `seconds` is taken for lost and given to others."""
        owner, limit = uuid.uuid4().hex, self._settings.limit(provider)
        while True:
            now = self._clock()
            grant = await asyncio.to_thread(
                self._store.limit_take,
                provider,
                owner,
                now,
                now + seconds,
                rate=limit.rate,
                per=limit.per,
                concurrent=limit.concurrent,
            )
            if grant.granted:
                break
            await asyncio.sleep(min(max(grant.wait, 0.005), LONGEST_WAIT))
        try:
            yield
        finally:
            # Not awaited in a thread: a cancelled run must give its place back before it goes.
            self._store.limit_give(provider, owner)

    async def pause(self, provider: str, seconds: float) -> None:
        """Let nobody call a provider for some time, because it asked for rest."""
        await asyncio.to_thread(self._store.limit_pause, provider, self._clock() + seconds)
