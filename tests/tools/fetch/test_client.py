"""One GET against a real socket: what is sent, what is taken, and how each failure is told."""

from __future__ import annotations

import asyncio
import gzip
import random
from contextlib import suppress

import pytest

import deepdiver
from deepdiver.errors import CallError, CallFault, UnreadableError
from deepdiver.tools.fetch import client
from deepdiver.tools.fetch.client import MOST, MOST_HEADERS, HttpAnswer, get, user_agent
from tests.patience import PATIENCE
from tests.tools.fetch.rig import GOOD, Web, answer, redirect

URL = "http://holm.example/x?y=1"


async def got(web: Web, url: str = URL, **asked: object) -> HttpAnswer:
    watch = web.guard()
    return await get(watch.check_url(url), watch, **asked)  # type: ignore[arg-type]


async def failure(web: Web, url: str = URL) -> CallError:
    with pytest.raises(CallError) as caught:
        await got(web, url)
    assert "holm.example" in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def drip(piece: bytes, pause: float, head: bytes = b"") -> object:
    async def says(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return says


async def test_what_is_sent(web: Web) -> None:
    web.pages["*"] = GOOD
    await got(
        web,
        "http://holm.example:8080/a b?c=ä",
        contact="me@x.example",
        headers={"If-None-Match": '"1"'},
    )
    lines = web.heard[0].split("\r\n")
    assert lines[0] == "GET /a%20b?c=%C3%A4 HTTP/1.1"
    sent = dict(line.split(": ", 1) for line in lines[1:] if line)
    assert sent["Host"] == "holm.example:8080"
    assert sent["User-Agent"].startswith("deepdiver/")
    assert "me@x.example" in sent["User-Agent"]
    assert sent["Accept-Encoding"] == "gzip, deflate, br, zstd"
    assert sent["If-None-Match"] == '"1"'
    assert not {"Cookie", "Referer", "Authorization"} & set(sent)


def test_the_agent_is_honest_and_plain() -> None:
    assert (
        user_agent() == f"deepdiver/{deepdiver.__version__} (research agent, reads for one person)"
    )
    hostile = user_agent("me@x\r\nX-Evil: 1; (ü)" + "a" * 500)
    assert hostile.isprintable()
    assert hostile.isascii()
    assert "\n" not in hostile
    assert len(hostile) < 200


def test_without_an_installation_the_version_is_not_made_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "DISTRIBUTION", "no-such-distribution")
    client._version.cache_clear()
    assert user_agent().startswith("deepdiver/0 (")
    client._version.cache_clear()


async def test_what_is_taken(web: Web) -> None:
    web.pages["*"] = answer("text", mime="text/HTML; charset=UTF-8", X_One="1", x_two="2")
    reply = await got(web)
    assert (reply.status, reply.body, reply.mime, reply.location) == (200, b"text", "text/html", "")
    assert reply.headers["x-one"] == "1"


async def test_headers_that_come_twice(web: Web) -> None:
    web.pages["*"] = (
        b"HTTP/1.1 200 OK\r\nX: a\r\nx: b\r\nLocation: /1\r\nLocation: /2\r\nContent-Length: "
        b"0\r\n\r\n"
    )
    reply = await got(web)
    assert reply.headers["x"] == "a, b"
    assert reply.location == ""  # it is no redirect


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_answer(web: Web, code: int) -> None:
    web.pages["*"] = redirect("/elsewhere", code)
    reply = await got(web)
    assert (reply.status, reply.location) == (code, "/elsewhere")
    assert len(web.heard) == 1


@pytest.mark.parametrize(
    ("raw", "read"), [("/straße".encode(), "/straße"), ("/stra\xdfe".encode("latin-1"), "/straße")]
)
async def test_a_location_in_other_letters(web: Web, raw: bytes, read: str) -> None:
    web.pages["*"] = b"HTTP/1.1 302 Found\r\nLocation: " + raw + b"\r\nContent-Length: 0\r\n\r\n"
    assert (await got(web)).location == read


async def test_of_two_locations_the_first_counts(web: Web) -> None:
    web.pages["*"] = (
        b"HTTP/1.1 302 Found\r\nLocation: /1\r\nLocation: /2\r\nContent-Length: 0\r\n\r\n"
    )
    assert (await got(web)).location == "/1"


async def test_a_large_body_is_refused_before_it_comes(web: Web) -> None:
    web.pages["*"] = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
    with pytest.raises(UnreadableError, match=r"larger than 10,000,000 bytes"):
        await got(web)


async def test_a_large_body_that_does_not_say_so(web: Web) -> None:
    web.pages["*"] = drip(b"x" * 100_000, 0, b"HTTP/1.1 200 OK\r\n\r\n")  # type: ignore[assignment]
    with pytest.raises(UnreadableError, match=r"larger than 10,000,000 bytes"):
        await got(web)


async def test_ten_megabytes_pass(web: Web) -> None:
    body = random.Random(1).randbytes(MOST)  # noqa: S311
    web.pages["*"] = answer(body, mime="application/pdf")
    assert (await got(web)).body == body


async def test_a_body_may_be_cut(web: Web) -> None:
    web.pages["*"] = drip(b"0123456789", 0, b"HTTP/1.1 200 OK\r\n\r\n")  # type: ignore[assignment]
    assert (await got(web, most=25, cut=True)).body == b"0123456789012345678901234"
    web.pages["*"] = answer(gzip.compress(b"z" * 10_000), Content_Encoding="gzip")
    assert (await got(web, most=25, cut=True)).body == b"z" * 25


async def test_of_a_refusal_the_beginning_is_read(web: Web) -> None:
    web.pages["*"] = drip(b"no " * 1_000, 0, b"HTTP/1.1 403 Forbidden\r\n\r\n")  # type: ignore[assignment]
    reply = await got(web)
    assert (reply.status, len(reply.body)) == (403, client.MOST_OF_AN_ERROR)


@pytest.mark.parametrize("mime", ["image/png", "VIDEO/mp4", "audio/ogg; x=y", "font/woff2"])
async def test_what_has_no_text_is_not_downloaded(web: Web, mime: str) -> None:
    """Whoever waited for its body would find it too slow."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n".encode()
    web.pages["*"] = drip(b"x", 3_600, head)  # type: ignore[assignment]
    with pytest.raises(UnreadableError, match="is no text"):
        await got(web)


async def test_too_many_headers(web: Web) -> None:
    head = b"".join(b"X-%d: 1\r\n" % n for n in range(MOST_HEADERS + 1))
    web.pages["*"] = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n"
    with pytest.raises(UnreadableError, match="201 headers"):
        await got(web)


async def test_headers_without_end(web: Web) -> None:
    web.pages["*"] = drip(b"X-More: " + b"y" * 1_000 + b"\r\n", 0, b"HTTP/1.1 200 OK\r\n")  # type: ignore[assignment]
    with pytest.raises(UnreadableError, match="headers do not end"):
        await got(web)


async def test_crumbs(web: Web) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    web.pages["*"] = drip(b"1\r\nx\r\n" * 1_000, 0, head)  # type: ignore[assignment]
    with pytest.raises(UnreadableError, match="crumbs"):
        await got(web)


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
    ids=["status", "headers", "body"],
)
async def test_whoever_drips_is_left(
    web: Web, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.5)
    web.pages["*"] = drip(b"x", 0.05, head)  # type: ignore[assignment]
    error = await asyncio.wait_for(failure(web), PATIENCE)
    assert (error.fault, error.retryable) == (CallFault.REQUEST, False)
    assert "too slow" in str(error)


async def test_whoever_is_slow_and_steady_is_waited_for(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes longer than PATIENCE, but each piece buys it more time than it needs."""
    monkeypatch.setattr(client, "PATIENCE", 2.0)
    monkeypatch.setattr(client, "SLOWEST", 500)

    async def says(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500000\r\n\r\n")
        for pause in (0.0, 1.2, 1.2, *[0.0] * 7):
            await asyncio.sleep(pause)
            writer.write(b"x" * 50_000)
            await writer.drain()

    web.pages["*"] = says
    assert len((await got(web)).body) == 500_000


@pytest.mark.parametrize(
    ("says", "fault"),
    [
        (b"", CallFault.NETWORK),
        (b"HTTP/1.1 200", CallFault.NETWORK),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", CallFault.NETWORK),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", CallFault.NETWORK),
        (b"this is no HTTP\r\n\r\n", CallFault.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n", CallFault.MALFORMED),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
            CallFault.MALFORMED,
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabcde", CallFault.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", CallFault.MALFORMED),
        (b"HTTP/1.1 abc OK\r\n\r\n", CallFault.MALFORMED),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            CallFault.MALFORMED,
        ),
    ],
)
async def test_broken_answers(web: Web, says: bytes, fault: CallFault) -> None:
    web.pages["*"] = says
    assert (await failure(web)).fault is fault


async def test_nobody_listens(web: Web) -> None:
    web.wire.port = 1
    error = await failure(web)
    assert error.fault is CallFault.UNREACHED


async def test_a_server_without_tls(web: Web) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
        web.wire.port = server.sockets[0].getsockname()[1]
        error = await failure(web, "https://holm.example/")
    assert error.fault is CallFault.UNREACHED
    assert "secure" in str(error)


async def test_damaged_and_unknown_packing(web: Web) -> None:
    web.pages |= {
        "/a": answer(b"not gzip", Content_Encoding="gzip"),
        "/b": answer(b"x", Content_Encoding="what"),
        "/c": answer(b"x", Content_Encoding="gzip, br, zstd"),
        "/d": answer(gzip.compress(b"abc" * 100)[:-9], Content_Encoding="gzip"),
    }
    for path, told in (
        ("a", "damaged"),
        ("b", "nobody asked"),
        ("c", "3 times"),
        ("d", "breaks off"),
    ):
        with pytest.raises(UnreadableError, match=told):
            await got(web, f"http://holm.example/{path}")


async def test_no_connection_is_left_open(web: Web) -> None:
    closed = asyncio.Event()

    async def says(writer: asyncio.StreamWriter) -> None:
        writer.write(answer("x", Connection="keep-alive"))
        with suppress(ConnectionError):
            while True:  # until the other side is gone
                await writer.drain()
                await asyncio.sleep(0.01)
                writer.write(b"more than was asked for")
        closed.set()

    web.pages["*"] = says
    await got(web)
    async with asyncio.timeout(PATIENCE):
        await closed.wait()
