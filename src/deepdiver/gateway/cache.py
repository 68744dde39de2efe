"""Answers shared between runs: fresh for a time, and fetched by one process while the others wait."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from deepdiver.gateway.journal import reply_from_json, reply_to_json, scrubbed
from deepdiver.gateway.request import Reply, Request
from deepdiver.gateway.threads import in_thread
from deepdiver.store import Store

POLL = 0.05
"""Seconds between two looks at an answer that another is fetching."""


class Slot:
    """One answer in the cache: there, or for us to bring."""

    def __init__(self, reply: Reply | None) -> None:
        """Hold what is there."""
        self.reply = reply
        self.brought: Reply | None = None


class Cache:
    """The cache of one store."""

    def __init__(self, store: Store, clock: Callable[[], float], scrub: Callable[[str], str]):
        """Bind the store's cache to a clock."""
        self._store, self._clock, self._scrub = store, clock, scrub

    @asynccontextmanager
    async def slot(self, request: Request, lifetime: float, patience: float) -> AsyncIterator[Slot]:
        """Give what is cached, or the sole right to fetch it; what is put into `brought` is shared for `lifetime`.

        Args:
            request: The call.
            lifetime: Seconds for which an answer is fresh; 0: nothing is shared.
            patience: Seconds after which another's claim counts as abandoned, unless it was renewed.
        """
        if lifetime <= 0 or request.fresh:
            yield Slot(None)
            return
        owner, key = uuid.uuid4().hex, request.key
        try:
            slot = Slot(await self._get_or_claim(key, owner, patience))
            if slot.reply is not None:
                yield slot
                return
            keeping = asyncio.create_task(self._keep(key, owner, patience))
            try:
                yield slot
            finally:
                keeping.cancel()
            if slot.brought is not None:
                text = reply_to_json(scrubbed(slot.brought, self._scrub))
                await in_thread(self._store.cache_put, key, text, self._clock() + lifetime)
        finally:
            self._store.cache_release(key, owner)

    async def _get_or_claim(self, key: str, owner: str, patience: float) -> Reply | None:
        """Return what is cached, or None when the claim is ours."""
        ours = False
        while True:
            now = self._clock()
            if (text := await in_thread(self._store.cache_get, key, now)) is not None:
                return reply_from_json(text)
            if ours:
                return None
            # Looked at once more when it is ours: between the look and the claim another may have brought it.
            ours = await in_thread(self._store.cache_claim, key, owner, now, now + patience)
            if not ours:
                await asyncio.sleep(POLL)

    async def _keep(self, key: str, owner: str, patience: float) -> None:
        """Renew a claim for as long as the call waits for its place and is made."""
        while True:
            await asyncio.sleep(patience / 3)
            now = self._clock()
            await in_thread(self._store.cache_claim, key, owner, now, now + patience)
