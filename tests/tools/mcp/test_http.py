"""The transport over HTTP: one address, no redirect, nothing packed, nothing endless."""

from __future__ import annotations

import gzip
from typing import Any

import httpx2
import pytest

from deepdiver.core.settings import McpServer
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.http import BoundedBody, OneAddressTransport, http_transport
from deepdiver.tools.mcp.monitor import LARGEST, Monitor
from tests.tools.conftest import Line

URL = "http://127.0.0.1:1/mcp"


class Inner(httpx2.AsyncBaseTransport):
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self, answer: httpx2.Response | Exception) -> None:
        self.answer, self.asked = answer, list[httpx2.Request]()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def client_of(answer: httpx2.Response | Exception) -> tuple[httpx2.AsyncClient, Inner, Monitor]:
    inner, monitor = Inner(answer), Monitor("x")
    return (
        httpx2.AsyncClient(transport=OneAddressTransport(httpx2.URL(URL), monitor, inner)),
        inner,
        monitor,
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:2/mcp",
        "https://127.0.0.1:1/mcp",
        "http://localhost:1/mcp",
        "http://127.0.0.1:1/mcp/",
        "http://127.0.0.1:1/mcp?a=1",
        "http://example.org/mcp",
    ],
)
async def test_no_other_address_is_asked(url: str) -> None:
    client, inner, _ = client_of(httpx2.Response(200))
    with pytest.raises(httpx2.UnsupportedProtocol, match="only at its own address"):
        await client.post(url)
    assert inner.asked == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    client, inner, monitor = client_of(
        httpx2.Response(status, headers={"Location": URL, "X-Other": "x"})
    )
    reply = await client.post(URL, follow_redirects=True)
    assert (reply.status_code, dict(reply.headers)) == (status, {})
    assert (len(inner.asked), monitor.status) == (1, status)


async def test_unasked_messages_are_not_listened_to() -> None:
    client, inner, _ = client_of(httpx2.Response(200))
    assert (await client.get(URL)).status_code == 405
    assert inner.asked == []
    assert (
        await client.get(URL, headers={"Last-Event-ID": "7"})
    ).status_code == 200  # the rest of an answer is


async def test_a_packed_answer_is_refused() -> None:
    packed = httpx2.Response(
        200, headers={"Content-Encoding": "gzip"}, content=gzip.compress(b"0" * 10_000)
    )
    client, _, monitor = client_of(packed)
    with pytest.raises(httpx2.DecodingError):
        await client.post(URL)
    assert monitor.error is not None
    assert monitor.error.fault is CallFault.MALFORMED


@pytest.mark.parametrize(
    ("error", "told", "fault"),
    [
        (httpx2.ConnectError("no"), "could not be reached", CallFault.UNREACHED),
        (httpx2.ConnectTimeout("no"), "could not be reached", CallFault.UNREACHED),
        (httpx2.ReadError("no"), "was lost: ReadError", CallFault.NETWORK),
        (httpx2.RemoteProtocolError("no"), "was lost: RemoteProtocolError", CallFault.NETWORK),
    ],
)
async def test_a_lost_server_is_an_error(
    error: httpx2.HTTPError, told: str, fault: CallFault
) -> None:
    client, _, monitor = client_of(error)
    with pytest.raises(type(error)):
        await client.post(URL)
    assert monitor.error is not None
    assert (str(monitor.error), monitor.error.fault) == (f"MCP server x {told}", fault)


async def test_the_last_status_counts() -> None:
    client, inner, monitor = client_of(httpx2.Response(404))
    await client.post(URL)
    assert monitor.status == 404
    inner.answer = httpx2.Response(202)
    await client.post(URL)
    assert monitor.status == 0


async def test_closing_a_session_takes_no_time() -> None:
    client, inner, _ = client_of(httpx2.Response(204))
    await client.delete(URL)
    assert set(inner.asked[0].extensions["timeout"].values()) == {1.0}


class Body(httpx2.AsyncByteStream):
    def __init__(self, pieces: int, then: Exception | None = None) -> None:
        self.pieces, self.then, self.closed = pieces, then, False

    async def __aiter__(self) -> Any:
        for _ in range(self.pieces):
            yield b"x" * 1_000_000
        if self.then:
            raise self.then

    async def aclose(self) -> None:
        self.closed = True


async def test_a_body_up_to_the_limit_passes() -> None:
    monitor, body = Monitor("x"), Body(LARGEST // 1_000_000)
    bounded = BoundedBody(body, monitor)
    assert sum([len(piece) async for piece in bounded]) == LARGEST
    assert monitor.error is None
    await bounded.aclose()
    assert body.closed


async def test_a_body_beyond_the_limit_does_not_pass() -> None:
    monitor = Monitor("x")
    with pytest.raises(httpx2.ReadError):
        _ = [piece async for piece in BoundedBody(Body(1_000_000), monitor)]
    assert f"more than {LARGEST:,} bytes" in str(monitor.error)


async def test_a_body_that_breaks_off_is_an_error() -> None:
    monitor = Monitor("x")
    with pytest.raises(httpx2.ReadError):
        _ = [piece async for piece in BoundedBody(Body(1, httpx2.ReadError("broken")), monitor)]
    assert str(monitor.error) == "MCP server x was lost: ReadError"


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/mcp", "mcp.example.org", "http://", "//127.0.0.1/mcp"]
)
async def test_an_invalid_address_is_an_error(url: str) -> None:
    with pytest.raises(CallError, match="has no usable address: correct its url"):
        async with http_transport(McpServer(url=url), Monitor("x")):
            pass


async def test_the_key_goes_to_the_server_and_the_environment_says_nothing(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCRequest

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    line.answers(body=b'{"jsonrpc": "2.0", "id": 1, "result": {}}', Content_Type="application/json")
    server = McpServer(url=f"{line.url}/mcp", key="sk-holm-0123456789")  # type: ignore[arg-type]
    async with http_transport(server, Monitor("x")) as (read, write):
        await write.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list")))
        got = await read.receive()
    assert not isinstance(got, Exception)
    head = line.heard[0].lower()
    assert head.startswith("post /mcp http/1.1")
    assert "authorization: bearer sk-holm-0123456789" in head
    assert "accept-encoding: identity" in head
