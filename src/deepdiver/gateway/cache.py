"""Answers shared between runs.

Fresh for a time, and fetched by one process while the others wait.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from deepdiver.gateway.journal import reply_from_json, reply_to_json, scrubbed
from deepdiver.gateway.request import Reply, Request
from deepdiver.gateway.threads import in_thread, to_its_end
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

    def __init__(
        self, store: Store, clock: Callable[[], float], scrub: Callable[[str], str], run: str = ""
    ):
        """Bind the store's cache to a clock, and to the run that takes answers over."""
        self._store, self._clock, self._scrub, self._run = store, clock, scrub, run

    @asynccontextmanager
    async def slot(
        self, request: Request, lifetime: float, patience: float, *, owner: str = ""
    ) -> AsyncIterator[Slot]:
        """Give what is cached, or the sole right to fetch it.

        What is put into `brought` is shared for `lifetime`.

        Args:
            request: The call.
            lifetime: Seconds for which an answer is fresh; 0: nothing is shared.
            patience: Seconds after which another's claim counts as abandoned: the living renew
                theirs.
            owner: Who asks; by the same name a process that takes up the work of a killed one finds
                its claim.
        """
        if lifetime <= 0 or request.fresh:
            yield Slot(None)
            return
        key, owner = request.key, owner or uuid.uuid4().hex
        if (known := await self.get(key)) is not None:
            yield Slot(known)
            return
        try:
            slot = Slot(await self._claim(key, owner, patience))
            keeping = asyncio.create_task(self._keep(key, owner, patience))
            try:
                yield slot
            finally:
                keeping.cancel()
                await to_its_end(keeping)  # else it could claim once more after the release
            if slot.brought is not None:
                await self.put(key, slot.brought, lifetime)
        finally:
            await in_thread(self._store.cache.release, key, owner)

    async def get(self, key: str) -> Reply | None:
        """Return what is fresh, if the texts that it refers to are still kept.

        The run then keeps them too.
        """
        text = await in_thread(self._store.cache.get, key, self._clock())
        reply = None if text is None else reply_from_json(text)
        for held in reply.texts if reply else ():
            if not await in_thread(self._store.texts.hold, self._run, held):
                return None  # it went with the run that brought it
        return reply

    async def put(self, key: str, reply: Reply, lifetime: float) -> None:
        """Share an answer for some seconds."""
        text = reply_to_json(scrubbed(reply, self._scrub))
        await in_thread(self._store.cache.put, key, text, self._clock() + lifetime)

    async def _claim(self, key: str, owner: str, patience: float) -> Reply | None:
        """Wait for the right to fetch, None, or for what another brings."""
        while not await self._renew(key, owner, patience):
            await asyncio.sleep(POLL)
            if (brought := await self.get(key)) is not None:
                return brought
        return await self.get(key)  # between our look and our claim another may have brought it

    async def _keep(self, key: str, owner: str, patience: float) -> None:
        """Renew a claim for as long as the call waits for its place and is made."""
        while True:
            await asyncio.sleep(patience / 3)
            await self._renew(key, owner, patience)

    async def _renew(self, key: str, owner: str, patience: float) -> bool:
        now = self._clock()
        return await in_thread(self._store.cache.claim, key, owner, now, now + patience)
