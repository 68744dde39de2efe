"""A place among a provider's calls: rate and concurrency, shared by all processes of one store."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway.threads import in_thread
from deepdiver.store import Store

LONGEST_WAIT = 1.0
"""Seconds between two looks: a place that another process gives back is taken within this time."""
SHORTEST_WAIT = 0.005
LONGEST_REST = 3_600.0
"""The most that a provider can ask of us: a header with a slip in it must not shut it out for a
year."""


class Limits:
    """The limits of one store, as the settings have them."""

    def __init__(self, store: Store, settings: Settings, clock: Callable[[], float]):
        """Bind the store's counters to the settings."""
        self._store, self._settings, self._clock = store, settings, clock
        # Weak, so that a line ends with its last: a lock is bound to its event loop, and a run may
        # go on in another.
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

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
            CallError: If there will be none in time: the provider rests for longer than that, or
                for `seconds`.
        """
        owner = owner or uuid.uuid4().hex
        line = self._lines.setdefault(provider, asyncio.Lock())
        try:
            async with line:  # One asks and the others stand in line: first come, first served.
                await self._take(provider, owner, seconds, ends, usual)
            yield
        finally:
            await in_thread(
                self._store.limit_give, provider, owner
            )  # comes to its end if we are cancelled meanwhile

    async def _take(
        self, provider: str, owner: str, seconds: float, ends: float, usual: Limit | None
    ) -> None:
        limit = self._settings.limit(provider, usual)
        while True:
            now, wait = self._clock(), 0.0
            if now < ends:
                grant = await in_thread(
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
                    return
                wait = grant.wait
            if wait > seconds or now + wait >= ends:
                told = (
                    f"{provider} has no place for a call in time (the next in {wait:.1f} s); it "
                    "was not sent"
                )
                raise CallError(told, CallFault.RATE)
            await asyncio.sleep(min(max(wait, SHORTEST_WAIT), LONGEST_WAIT))

    async def pause(self, provider: str, seconds: float) -> None:
        """Let nobody call a provider for some time, because it asked for rest."""
        await in_thread(
            self._store.limit_pause, provider, self._clock() + min(seconds, LONGEST_REST)
        )
