"""A server that is reached over streamable HTTP.

One address and no other, no redirect, answers of bounded length.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import httpx2

from deepdiver.core.settings import McpServer
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.trouble import LARGEST, Sieve, Trouble

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CONNECT = 15.0
"""Seconds for a connection to come about. For the rest there is the deadline of the call."""
GOODBYE = 1.0
"""Seconds for taking leave: a server that does not even answer this must not hold up the end of a
run."""
KEPT_HEADERS = frozenset({"content-type", "mcp-session-id"})
"""Of an answer's headers those that matter. Without Location there is no redirect to follow."""


@asynccontextmanager
async def remote(server: McpServer, trouble: Trouble) -> AsyncIterator[TransportStreams]:
    """Speak with a server at its address.

    Raises:
        CallError: If there can be none.
    """
    from mcp.client.streamable_http import streamable_http_client

    try:
        address = httpx2.URL(server.url)
    except (httpx2.InvalidURL, ValueError):
        address = httpx2.URL("")
    if address.scheme not in {"http", "https"} or not address.host:
        told = (
            f"MCP server {trouble.server} has no usable address: correct its url in the settings "
            "file"
        )
        raise CallError(told, CallFault.REQUEST)
    headers = {"Accept-Encoding": "identity"}
    if server.key:
        headers["Authorization"] = f"Bearer {server.key.get_secret_value()}"
    fence = Fence(address, trouble, httpx2.AsyncHTTPTransport(trust_env=False))
    waits = httpx2.Timeout(None, connect=CONNECT)
    async with (
        httpx2.AsyncClient(
            transport=fence, headers=headers, timeout=waits, trust_env=False
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LARGEST) as (
            read,
            write,
        ),
    ):
        yield Sieve(read, trouble), write


class Fence(httpx2.AsyncBaseTransport):
    """Lets through what belongs to one address."""

    def __init__(
        self, address: httpx2.URL, trouble: Trouble, inner: httpx2.AsyncBaseTransport
    ) -> None:
        """Put a fence around a transport."""
        self._address, self._trouble, self._inner = address, trouble, inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request on, if it goes where it may, and bound what comes back."""
        if request.url != self._address:
            raise httpx2.UnsupportedProtocol(
                "an MCP server is asked at its own address alone", request=request
            )
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405)  # it would only bring what nobody asked for
        if request.method == "DELETE":
            request.extensions["timeout"] = dict.fromkeys(
                ("connect", "read", "write", "pool"), GOODBYE
            )
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            self._trouble.tell("could not be reached", CallFault.UNREACHED)
            raise
        except httpx2.HTTPError as error:
            self._trouble.tell(f"was lost: {type(error).__name__}", CallFault.NETWORK)
            raise
        self._trouble.status = response.status_code if response.status_code >= 300 else 0
        if response.headers.get("content-encoding", "identity") != "identity":
            self._trouble.tell("packed its answer, which nobody asked for", CallFault.MALFORMED)
            await response.aclose()
            raise httpx2.DecodingError("packed", request=request)
        kept = {name: value for name, value in response.headers.items() if name in KEPT_HEADERS}
        body = Bounded(cast("httpx2.AsyncByteStream", response.stream), self._trouble)
        return httpx2.Response(response.status_code, headers=kept, stream=body)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to what a message may hold."""

    def __init__(self, inner: httpx2.AsyncByteStream, trouble: Trouble) -> None:
        """Wrap a body."""
        self._inner, self._trouble = inner, trouble

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        try:
            async for piece in self._inner:
                length += len(piece)
                if length > LARGEST:
                    self._trouble.too_long()
                    raise httpx2.ReadError("too long")
                yield piece
        except httpx2.HTTPError as error:
            self._trouble.tell(f"was lost: {type(error).__name__}", CallFault.NETWORK)
            raise

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()
