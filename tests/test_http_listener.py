"""Serving on a port: an address that is said once it answers, and errors in one line."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import Counter
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from deepdiver.errors import DeepdiverError
from deepdiver.http_listener import ACCEPTED, AT_ONCE, HEARD, listen
from tests.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def nobody(line: str) -> None:
    raise AssertionError(f"it listens: {line}")


async def answer(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"for {request.client.host if request.client else ''}")


APP = Starlette(routes=[Route("/here", answer)])


async def test_an_app_that_does_not_start_is_never_announced() -> None:
    async def connect() -> None:
        raise RuntimeError("no database")

    @contextlib.asynccontextmanager
    async def fail(_: Starlette) -> AsyncIterator[None]:
        await connect()
        yield

    with pytest.raises(DeepdiverError, match="could not start"):
        await listen(Starlette(lifespan=fail), "127.0.0.1", 0, nobody, "/")


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
async def test_the_address_that_it_says_answers(host: str, shown: str) -> None:
    if host == "::1" and not _has_loopback_of_version_6():
        pytest.skip("this machine has no IPv6")
    said: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(listen(APP, host, 0, said.put_nowait, "/here"))
    line = await said.get()
    assert line.startswith(f"listening on http://{shown}:")
    assert line.endswith("/here")
    async with httpx.AsyncClient() as client:
        forged = {"X-Forwarded-For": "203.0.113.9"}  # who asks is who connects
        reply = await client.get(line.split()[-1], headers=forged)
    assert reply.text == f"for {host}"
    assert "server" not in reply.headers
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def test_no_answer_waits_for_the_client_to_confirm_its_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_once: list[int] = []
    made = H11Protocol.connection_made

    def note(self: H11Protocol, transport: asyncio.Transport) -> None:
        connection = transport.get_extra_info("socket")
        at_once.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(self, transport)

    monkeypatch.setattr(H11Protocol, "connection_made", note)
    said: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(listen(APP, "127.0.0.1", 0, said.put_nowait, "/here"))
    async with httpx.AsyncClient() as client:
        assert (await client.get((await said.get()).split()[-1])).status_code == 200
    assert at_once == [1]
    assert AT_ONCE == (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def test_clients_that_come_together_are_let_in_a_few_at_a_time() -> None:
    turn, met = 0, Counter[int]()

    async def note(request: Request) -> PlainTextResponse:
        met[turn] += 1
        return await answer(request)

    said: asyncio.Queue[str] = asyncio.Queue()
    app = Starlette(routes=[Route("/here", note)])
    serving = asyncio.create_task(listen(app, "127.0.0.1", 0, said.put_nowait, "/here"))
    port = int((await said.get()).split(":")[-1].partition("/")[0])
    with contextlib.ExitStack() as stack:
        for _ in range(100):  # while the loop does nothing else: the system lets all of them wait
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            client.sendall(b"GET /here HTTP/1.1\r\nHost: here\r\n\r\n")
        async with asyncio.timeout(PATIENCE):
            while met.total() < 100:
                await asyncio.sleep(0)
                turn += 1
    assert max(met.values()) <= ACCEPTED
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def test_clients_that_send_together_are_heard_a_few_at_a_time() -> None:
    turn, met, bodies = 0, Counter[int](), set[bytes]()

    async def note(request: Request) -> PlainTextResponse:
        met[turn] += 1
        bodies.add(await request.body())
        return await answer(request)

    said: asyncio.Queue[str] = asyncio.Queue()
    app = Starlette(routes=[Route("/here", note, methods=["POST"])])
    serving = asyncio.create_task(listen(app, "127.0.0.1", 0, said.put_nowait, "/here"))
    port = int((await said.get()).split(":")[-1].partition("/")[0])
    large = b"a" * 1_000_000
    head = b"POST /here HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n"
    async with asyncio.timeout(PATIENCE):
        clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(60)]
        for number, (_, writer) in enumerate(clients):  # without a turn for the server
            writer.write(head % 5 + b"%05d" % number)
        (_, gone), (last, sending) = clients[0], clients[-1]
        gone.close()
        while met.total() < 59:
            await asyncio.sleep(0)
            turn += 1
        for reader, _ in clients[1:]:
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        await last.readuntil(b"for 127.0.0.1")
        sending.write(head % len(large) + large)
        assert (await last.readline()).startswith(b"HTTP/1.1 200"), "it is read in many pieces"
    assert max(met.values()) <= 2 * HEARD, "what happens between two turns of another task"
    assert bodies >= {b"%05d" % number for number in range(1, 60)} | {large}
    for _, writer in clients:
        writer.close()
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


def _has_loopback_of_version_6() -> bool:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False
