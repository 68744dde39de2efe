"""Answers shared between runs.

An answer is fresh for a time, and one process fetches it while the others wait. It is shared only
with runs that would ask the same service at the same address.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import Settings
from deepdiver.gateway.clock import Clock
from deepdiver.gateway.journal import reply_from_json, reply_to_json, scrub_reply
from deepdiver.gateway.request import Reply, Request
from deepdiver.gateway.store_threads import in_thread, wait_until_done
from deepdiver.store import Store

POLL_SECONDS = 0.05
"""Seconds between two looks at an answer that another process is fetching."""


def shared_key(request: Request, settings: Settings) -> str:
    """Return the name of a call in the cache.

    Unlike its name in the journal of a run, it holds the address of the service: other runs may
    have another. Addresses are looked up here for all services that have one in the settings.
    """
    service, _, name = request.provider.partition(":")
    where: Any = normal_address(request.address or settings.urls.get(service, ""))
    if service == "mcp" and (server := settings.mcp.servers.get(name)):
        where = [list(server.command), normal_address(server.url)]
    return digest(canonical([request.key, where])) if where else request.key


def normal_address(address: str) -> str:
    """Return an address as it is compared.

    `HTTP://Example.org:80/v1/` and `example.org/v1` become `http://example.org/v1`. What is not an
    address stays as it is: it only costs that an answer is fetched twice.
    """
    if not address:
        return ""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return address
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != {"http": 80, "https": 443}.get(parts.scheme):
        host = f"{host}:{port}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))


class CacheEntry:
    """One answer in the cache: it is there, or the holder of the entry fetches it."""

    def __init__(self, cached: Reply | None) -> None:
        """Hold the cached answer, if there is one."""
        self.cached = cached
        self.fetched: Reply | None = None


class Cache:
    """The cache of one store."""

    def __init__(self, store: Store, clock: Clock, scrub: Callable[[str], str], run: str = ""):
        """Bind the store's cache to a clock, and to the run that takes answers over."""
        self._store, self._clock, self._scrub, self._run = store, clock, scrub, run

    @asynccontextmanager
    async def entry(
        self, request: Request, lifetime: float, patience: float, *, owner: str = "", key: str = ""
    ) -> AsyncIterator[CacheEntry]:
        """Give the cached answer, or the sole right to fetch it.

        A reply that the block stores in `fetched` is shared for `lifetime`.

        Args:
            request: The call.
            lifetime: Seconds for which an answer is fresh; 0 shares nothing.
            patience: Seconds after which another's claim counts as abandoned. A process that is
                alive renews its claim.
            owner: Who asks. A process that resumes the work of a killed one finds its claim by this
                name.
            key: The name of the answer; by default that of the request.
        """
        if lifetime <= 0 or request.fresh:
            yield CacheEntry(None)
            return
        key, owner = key or request.key, owner or uuid.uuid4().hex
        if (cached := await self.get(key)) is not None:
            yield CacheEntry(cached)
            return
        try:
            entry = CacheEntry(await self._claim(key, owner, patience))
            renewing = asyncio.create_task(self._renew_regularly(key, owner, patience))
            try:
                yield entry
            finally:
                renewing.cancel()
                await wait_until_done(renewing)  # else it could claim once more after the release
            if entry.fetched is not None:
                await self.put(key, entry.fetched, lifetime)
        finally:
            await in_thread(self._store.cache.release, key, owner)

    async def get(self, key: str) -> Reply | None:
        """Return the answer if it is fresh and its texts are still kept.

        The run then keeps these texts too.
        """
        text = await in_thread(self._store.cache.get, key, self._clock.time())
        if text is None:
            return None
        reply = reply_from_json(text)
        for hash_ in reply.texts:
            if not await in_thread(self._store.texts.hold, self._run, hash_):
                return None  # it was deleted with the run that fetched it
        return reply

    async def put(self, key: str, reply: Reply, lifetime: float) -> None:
        """Share an answer for some seconds."""
        text = reply_to_json(scrub_reply(reply, self._scrub))
        await in_thread(self._store.cache.put, key, text, self._clock.time() + lifetime)

    async def _claim(self, key: str, owner: str, patience: float) -> Reply | None:
        """Wait for the right to fetch (return None), or for the answer that another fetches."""
        while not await self._renew(key, owner, patience):
            await self._clock.sleep(POLL_SECONDS)
            if (fetched := await self.get(key)) is not None:
                return fetched
        return await self.get(key)  # another may have fetched it between our look and our claim

    async def _renew_regularly(self, key: str, owner: str, patience: float) -> None:
        """Renew a claim for as long as the call waits for its place and is made."""
        while True:
            await self._clock.sleep(patience / 3)
            await self._renew(key, owner, patience)

    async def _renew(self, key: str, owner: str, patience: float) -> bool:
        now = self._clock.time()
        return await in_thread(self._store.cache.claim, key, owner, now, now + patience)
