"""The transport to a server over streamable HTTP.

Requests go to one address only, redirects are not followed, and answers have a limited length.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import httpx2

from deepdiver.core.settings import McpServer
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.monitor import LARGEST, AnswerStream, Monitor

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

CONNECT = 15.0
"""Seconds for connecting. The deadline of the call limits the rest."""
GOODBYE = 1.0
"""Seconds for closing a session: a silent server must not hold up the end of a run."""
KEPT_HEADERS = frozenset({"content-type", "mcp-session-id"})
"""The headers of an answer that are kept. Without Location there is no redirect to follow."""


@asynccontextmanager
async def http_transport(server: McpServer, monitor: Monitor) -> AsyncIterator[TransportStreams]:
    """Connect to a server at its address.

    Raises:
        CallError: If the address cannot be used.
    """
    from mcp.client.streamable_http import streamable_http_client

    try:
        address = httpx2.URL(server.url)
    except (httpx2.InvalidURL, ValueError):
        address = httpx2.URL("")
    if address.scheme not in {"http", "https"} or not address.host:
        raise CallError(
            f"MCP server {monitor.server} has no usable address: correct its url in the settings "
            "file",
            CallFault.REQUEST,
        )
    headers = {"Accept-Encoding": "identity"}
    if server.key:
        headers["Authorization"] = f"Bearer {server.key.get_secret_value()}"
    transport = OneAddressTransport(address, monitor, httpx2.AsyncHTTPTransport(trust_env=False))
    timeout = httpx2.Timeout(None, connect=CONNECT)
    async with (
        httpx2.AsyncClient(
            transport=transport, headers=headers, timeout=timeout, trust_env=False
        ) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=LARGEST) as (
            read,
            write,
        ),
    ):
        yield AnswerStream(read, monitor), write


class OneAddressTransport(httpx2.AsyncBaseTransport):
    """Sends requests to one address only."""

    def __init__(
        self, address: httpx2.URL, monitor: Monitor, inner: httpx2.AsyncBaseTransport
    ) -> None:
        """Wrap a transport."""
        self._address, self._monitor, self._inner = address, monitor, inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request if it is for the address, and limit the length of its answer."""
        if request.url != self._address:
            raise httpx2.UnsupportedProtocol(
                "an MCP server is asked only at its own address", request=request
            )
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx2.Response(405)  # it would only bring messages that nobody asked for
        if request.method == "DELETE":
            request.extensions["timeout"] = dict.fromkeys(
                ("connect", "read", "write", "pool"), GOODBYE
            )
        try:
            response = await self._inner.handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            self._monitor.fail("could not be reached", CallFault.UNREACHED)
            raise
        except httpx2.HTTPError as error:
            self._monitor.fail(f"was lost: {type(error).__name__}", CallFault.NETWORK)
            raise
        self._monitor.status = response.status_code if response.status_code >= 300 else 0
        if response.headers.get("content-encoding", "identity") != "identity":
            self._monitor.fail("packed its answer, which nobody asked for", CallFault.MALFORMED)
            await response.aclose()
            raise httpx2.DecodingError("packed", request=request)
        kept = {name: value for name, value in response.headers.items() if name in KEPT_HEADERS}
        body = BoundedBody(cast("httpx2.AsyncByteStream", response.stream), self._monitor)
        return httpx2.Response(response.status_code, headers=kept, stream=body)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class BoundedBody(httpx2.AsyncByteStream):
    """The body of an answer, up to the limit of one message."""

    def __init__(self, inner: httpx2.AsyncByteStream, monitor: Monitor) -> None:
        """Wrap a body."""
        self._inner, self._monitor = inner, monitor

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        try:
            async for piece in self._inner:
                length += len(piece)
                if length > LARGEST:
                    self._monitor.fail_too_long()
                    raise httpx2.ReadError("too long")
                yield piece
        except httpx2.HTTPError as error:
            self._monitor.fail(f"was lost: {type(error).__name__}", CallFault.NETWORK)
            raise

    async def aclose(self) -> None:
        """Close it."""
        await self._inner.aclose()
