"""A place among a provider's calls: rate and concurrency, shared by all processes of one store."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway.clock import Clock
from deepdiver.gateway.store_threads import in_thread
from deepdiver.store import Store

LONGEST_WAIT = 1.0
"""Seconds between two looks: a place that another process gives back is taken within this time."""
SHORTEST_WAIT = 0.005
LONGEST_PAUSE_OF_A_PROVIDER = 3_600.0
"""The longest pause that a provider can ask for, in seconds: a mistake in a header must not shut
the provider out for a year."""


class Limits:
    """The limits of one store, as the settings have them."""

    def __init__(self, store: Store, settings: Settings, clock: Clock):
        """Bind the store's counters to the settings."""
        self._store, self._settings, self._clock = store, settings, clock
        # Weak, so that a queue ends with its last member: a lock is bound to its event loop, and a
        # run may go on in another.
        self._queues: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def place(
        self,
        provider: str,
        seconds: float,
        *,
        owner: str = "",
        ends: float = math.inf,
        usual: Limit | None = None,
    ) -> AsyncIterator[None]:
        """Wait for a place and hold it.

        Args:
            provider: Who is to be called.
            seconds: A place held for longer is taken for lost and given to others.
            owner: Who asks; by the same name a process that takes up the work of a killed one finds
                its places.
            ends: When a place is of no use any more.
            usual: The provider's own limit, which holds unless the user has set one.

        Raises:
            CallError: If there will be no place in time, because the provider pauses until after
                `ends` or for longer than `seconds`.
        """
        owner = owner or uuid.uuid4().hex
        queue = self._queues.setdefault(provider, asyncio.Lock())
        try:
            async with queue:  # One asks and the others stand in line: first come, first served.
                await self._take(provider, owner, seconds, ends, usual)
            yield
        finally:
            # Finishes even if we are cancelled meanwhile.
            await in_thread(self._store.limits.give, provider, owner)

    async def _take(
        self, provider: str, owner: str, seconds: float, ends: float, usual: Limit | None
    ) -> None:
        limit = self._settings.limit(provider, usual)
        while True:
            now, wait = self._clock.time(), 0.0
            if now < ends:
                grant = await in_thread(
                    self._store.limits.take,
                    provider,
                    owner,
                    now,
                    now + seconds,
                    rate=limit.rate,
                    per=limit.per,
                    concurrent=limit.concurrent,
                )
                if grant.granted:
                    return
                wait = grant.wait
            if wait > seconds or now + wait >= ends:
                raise CallError(
                    f"{provider} has no place for a call in time (the next in {wait:.1f} s); it "
                    "was not sent",
                    CallFault.RATE,
                )
            await self._clock.sleep(min(max(wait, SHORTEST_WAIT), LONGEST_WAIT))

    async def pause(self, provider: str, seconds: float) -> None:
        """Let nobody call a provider for some time, because it asked for a pause."""
        now, most = self._clock.time(), LONGEST_PAUSE_OF_A_PROVIDER
        await in_thread(self._store.limits.pause, provider, now, now + min(seconds, most))
