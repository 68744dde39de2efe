"""Watching a connection to a server: why it ended, and limits on what the server may send."""

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
"""Bytes of one message. A result of 1 MB has up to 6 MB if every character is escaped, and it may
hold pictures too, which are left out."""
UNASKED = 10_000
"""Messages that a server may send during one call. A call has one answer; honest servers report
their progress some hundred times."""


class Monitor:
    """Watches one connection, and knows why it is over; the first reason counts."""

    def __init__(self, server: str) -> None:
        """Begin to watch."""
        self.server = server
        self.error: CallError | None = None
        """The reason, if it is over."""
        self.over = asyncio.Event()
        self.status = 0
        """The HTTP status of the last answer, if it was not a success; otherwise 0."""
        self.stderr = b""
        """The end of what a program wrote to its stderr, for its owner to see what is wrong."""
        self._messages = 0

    def fail(self, what: str, fault: CallFault) -> None:
        """End the connection for a reason."""
        self.error = self.error or CallError(f"MCP server {self.server} {what}", fault)
        self.over.set()

    def fail_too_long(self) -> None:
        """End the connection because a message is too long."""
        self.fail(f"sent more than {LARGEST:,} bytes in one message", CallFault.MALFORMED)

    def begin_call(self) -> None:
        """Begin to count the messages of a call."""
        self._messages = self.status = 0

    def count_message(self) -> bool:
        """Count a message; return whether it may be read."""
        self._messages += 1
        if self._messages > UNASKED:
            self.fail(
                f"sent more than {UNASKED:,} messages that nobody asked for", CallFault.MALFORMED
            )
        return self.error is None


class AnswerStream:
    """A read stream of answers and of requests, which are refused further up.

    It drops notifications, also the one that a server's tools have changed: a run goes on with
    those that it began with.
    """

    def __init__(self, inner: ReadStream[SessionMessage | Exception], monitor: Monitor) -> None:
        """Wrap a stream."""
        self._inner, self._monitor = inner, monitor

    async def receive(self) -> SessionMessage | Exception:
        """Return the next answer or request; the stream ends with the connection."""
        from mcp.types import JSONRPCNotification

        while self._monitor.count_message():
            item = await self._inner.receive()
            if isinstance(item, Exception) or isinstance(item.message, JSONRPCNotification):
                continue
            return item
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def __aiter__(self) -> AnswerStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> AnswerStream:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        await self.aclose()
