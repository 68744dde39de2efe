"""What is heard from a server besides answers.

Counted, bounded, and kept from whoever waits for an answer.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any

import anyio

from deepdiver.errors import CallError, CallFault

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream
    from mcp.shared.message import SessionMessage

LARGEST = 8_000_000
"""Bytes of one message. A result of 1 MB is up to 6 MB where every character is escaped, and may
hold pictures besides, which are left out."""
UNASKED = 10_000
"""Messages that a server may send in the time of one call. A call brings one answer; honest servers
say some hundred times how far they are."""


class Trouble:
    """Why a connection is over; the first reason counts."""

    def __init__(self, server: str) -> None:
        """Begin without any."""
        self.server = server
        self.error: CallError | None = None
        """The reason, if it is over."""
        self.over = asyncio.Event()
        self.status = 0
        """The HTTP status of the last answer, if it was no success."""
        self.said = b""
        """The end of what a program wrote to its stderr: for its owner, who asks what is wrong with
        it."""
        self._heard = 0

    def tell(self, what: str, fault: CallFault) -> None:
        """Say why it is over."""
        self.error = self.error or CallError(f"MCP server {self.server} {what}", fault)
        self.over.set()

    def too_long(self) -> None:
        """Say that a message is too long."""
        self.tell(f"sent more than {LARGEST:,} bytes in one message", CallFault.MALFORMED)

    def begin(self) -> None:
        """Count anew: a call begins."""
        self._heard = self.status = 0

    def hear(self) -> bool:
        """Count a message; returns whether it may be looked at."""
        self._heard += 1
        if self._heard > UNASKED:
            self.tell(
                f"sent more than {UNASKED:,} messages that nobody asked for", CallFault.MALFORMED
            )
        return self.error is None


class Sieve:
    """A read stream that lets answers pass, and requests, which are refused further up.

    Nothing else matters to us.

    Notifications are dropped, also that a server's tools have changed: a run goes on with those it
    began with.
    """

    def __init__(self, inner: ReadStream[SessionMessage | Exception], trouble: Trouble) -> None:
        """Wrap a stream."""
        self._inner, self._trouble = inner, trouble

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message that matters; the stream ends with the trouble that it finds."""
        from mcp.types import JSONRPCNotification

        while self._trouble.hear():
            item = await self._inner.receive()
            if not isinstance(item, Exception) and not isinstance(
                item.message, JSONRPCNotification
            ):
                return item
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> Sieve:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Sieve:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        await self.aclose()
