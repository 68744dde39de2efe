"""A server that ends when it is told to.

uvicorn looks only every tenth of a second whether it should end, and then waits for another: 0.18 s
for each of the hundreds of servers that the tests start.
"""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from typing_extensions import override

LOOKS = 0.002
"""Seconds between two looks at whether the last answers are sent."""


class PromptServer(uvicorn.Server):
    """The server; run it in a thread, and `end` it from another."""

    def __init__(self, config: uvicorn.Config) -> None:
        """Prepare it; `run` or `serve` starts it."""
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()

    def end(self) -> None:
        """Have it end, which the end of its thread tells."""
        self.should_exit = True
        if self._loop:
            self._loop.call_soon_threadsafe(self._over.set)

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    @override
    async def main_loop(self) -> None:
        await self._over.wait()

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for bound in sockets or ():
            bound.close()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                # They do not say when they end.
                while state.connections or state.tasks:  # noqa: ASYNC110
                    await asyncio.sleep(LOOKS)
        except TimeoutError:
            for task in state.tasks:
                task.cancel()
        await self.lifespan.shutdown()
