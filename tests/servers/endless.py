"""A server whose answers never end, and which counts what it could send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

PIECE = 65_536
IN_BUFFERS = 24_000_000
"""Bytes that the system and a client may hold besides what was read."""


@dataclass(slots=True)
class Endless:
    """The server, and what it has sent."""

    url: str = ""
    sent: int = 0
    """Bytes of bodies that the other side has taken, or the system for it."""
    asked: int = 0
    """Requests."""


@asynccontextmanager
async def endless(
    first: bytes, again: bytes = b" ", *headers: str, status: str = "200 OK"
) -> AsyncIterator[Endless]:
    """Serve a body that begins in one way and goes on in another for ever.

    Args:
        first: How each body begins.
        again: What follows, over and over.
        headers: Further headers.
        status: The status of each answer.
    """
    made = Endless()
    head = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close", *headers]
    piece = again * (PIECE // len(again))

    callers: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.asked += 1
        callers.add(asyncio.current_task())
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write("\r\n".join([*head, "", ""]).encode())
            data = first
            while True:
                writer.write(data)
                await writer.drain()
                made.sent += len(data)
                data = piece
        except (ConnectionError, asyncio.CancelledError):
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()
        finally:  # a second cancellation may come while it waits
            callers.discard(asyncio.current_task())

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield made
        while callers:  # one that never noticed that the other side is gone
            for task in callers:
                if task is not None:
                    task.cancel()
            await asyncio.sleep(0.01)
