"""A server in a process of its own that answers as badly as it can: one way for every path.

Run as `python -m tests.tools.fetch.hostile`: it prints its port, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import cache

import brotli  # type: ignore[import-untyped]
import zstandard

from tests.tools.fetch.rig import STORY, answer, html

OK = b"HTTP/1.1 200 OK\r\n"
MB = 1_000_000
PAGE = html(STORY, "The dairy of Holm").encode()

Says = Callable[[], AsyncIterator[bytes]]


def once(make: Callable[[], bytes]) -> Says:
    """Say something, in pieces, and hang up."""

    async def says() -> AsyncIterator[bytes]:
        whole = make()
        for start in range(0, len(whole), 100_000):
            yield whole[start : start + 100_000]

    return says


def forever(head: bytes, piece: bytes, pause: float = 0.0) -> Says:
    """Say something, and then something else without end."""

    async def says() -> AsyncIterator[bytes]:
        yield head
        while True:
            yield piece
            await asyncio.sleep(pause)

    return says


def silent(head: bytes) -> Says:
    """Begin, and say no more."""

    async def says() -> AsyncIterator[bytes]:
        yield head
        await asyncio.sleep(3_600)

    return says


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=5)),
    "zstd": zstandard.compress,
}


@cache
def bomb(coding: str, size: int = 60) -> bytes:
    """Return so many megabytes of nothing, packed."""
    return PACK[coding](b"\x00" * (size * MB))


@cache
def outside(coding: str, outer: str) -> bytes:
    """Return a bomb, packed once more."""
    return PACK[outer](bomb(coding))


def packed(coding: str, body: bytes, header: str | None = None, mime: str = "text/html") -> bytes:
    return answer(body, mime=mime, Content_Encoding=header or coding)


def bombs() -> dict[str, Says]:
    """Bombs of every kind, alone and nested, as pages, as files and without a type."""
    table: dict[str, Says] = {}
    for coding in PACK:
        for mime in ("text/html", "text/plain", "application/pdf", ""):
            table[f"bomb {coding} {mime or 'untyped'}"] = once(
                lambda c=coding, m=mime: packed(c, bomb(c), mime=m)  # type: ignore[misc]
            )
        for outer in PACK:
            made = f"{coding}, {outer}"
            table[f"nested {coding} in {outer}"] = once(
                lambda c=coding, o=outer, h=made: packed(c, outside(c, o), h)  # type: ignore[misc]
            )
        table[f"bomb {coding} chunked"] = once(lambda c=coding: _chunked(bomb(c), c))  # type: ignore[misc]
        table[f"truncated {coding}"] = once(lambda c=coding: packed(c, PACK[c](PAGE)[:-20]))  # type: ignore[misc]
        table[f"garbage as {coding}"] = once(
            lambda c=coding: packed(c, random.Random(1).randbytes(5_000))  # type: ignore[misc]  # noqa: S311
        )
        table[f"flipped {coding}"] = once(lambda c=coding: packed(c, _flipped(PACK[c](PAGE))))  # type: ignore[misc]
        table[f"endless {coding} garbage"] = forever(
            OK + f"Content-Encoding: {coding}\r\n\r\n".encode(), b"\x1f\x8b\x08" * 9_000
        )
        table[f"plain called {coding}"] = once(lambda c=coding: packed(c, PAGE))  # type: ignore[misc]
    table["bomb of members"] = once(lambda: packed("gzip", gzip.compress(b"\x00" * MB) * 3_000))
    table["bomb of empty members"] = once(lambda: packed("gzip", gzip.compress(b"") * 300_000))
    table["bomb of frames"] = once(lambda: packed("zstd", zstandard.compress(b"\x00" * MB) * 3_000))
    table["bomb of skippable frames"] = once(
        lambda: packed("zstd", b"\x50\x2a\x4d\x18\x00\x00\x00\x00" * 800_000)
    )
    table["three layers"] = once(lambda: packed("gzip", PAGE, "gzip, gzip, gzip"))
    table["a hundred layers"] = once(lambda: packed("gzip", PAGE, ", ".join(["gzip"] * 100)))
    table["unknown coding"] = once(lambda: packed("rot13", PAGE))
    table["image bomb"] = once(lambda: packed("gzip", bomb("gzip"), mime="image/svg+xml"))
    return table


def _chunked(body: bytes, coding: str) -> bytes:
    head = OK + f"Content-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return (
        head
        + b"".join(
            b"%x\r\n%s\r\n" % (len(body[n : n + 500]), body[n : n + 500])
            for n in range(0, len(body), 500)
        )
        + b"0\r\n\r\n"
    )


def _flipped(data: bytes) -> bytes:
    return data[:200] + bytes(byte ^ 0x55 for byte in data[200:210]) + data[210:]


def slow() -> dict[str, Says]:
    """Answers that do not come, or drop by drop."""
    chunk = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    return {
        "silence": silent(b""),
        "silence after the status": silent(OK),
        "silence after the head": silent(OK + b"Content-Length: 500\r\n\r\n"),
        "silence in the body": silent(OK + b"Content-Length: 5000\r\n\r\n" + PAGE[:300]),
        "drip of the status": forever(b"", b"H", 0.2),
        "drip of headers": forever(OK, b"X-Drop: 1\r\n", 0.2),
        "drip of one header": forever(OK + b"X-Long: ", b"y", 0.1),
        "drip of the body": forever(OK + b"\r\n", b"x", 0.1),
        "drip of chunks": forever(chunk, b"1\r\nx\r\n", 0.1),
        "drip of a chunk's size": forever(chunk, b"0", 0.2),
        "drip of a chunk's extension": forever(chunk + b"5;", b"x", 0.2),
        "drip of gzip": forever(
            OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE)[:20], b"\x00", 0.2
        ),
        "drip with a length": forever(OK + b"Content-Length: 900000\r\n\r\n", b"<p>x</p>", 0.05),
        "drip of trailers": forever(chunk + b"0\r\n", b"X: y\r\n", 0.2),
        "hundred and no more": forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.05),
    }


def floods() -> dict[str, Says]:
    """Answers without end."""
    chunk = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    many = b"".join(b"X-%d: y\r\n" % n for n in range(2_000))
    return {
        "flood of headers": once(lambda: OK + many + b"\r\n" + PAGE),
        "endless headers": forever(OK, b"X-More: yes\r\n" * 500),
        "endless header": forever(OK + b"X-Long: ", b"y" * 50_000),
        "endless status": forever(b"HTTP/1.1 200 ", b"O" * 50_000),
        "endless nothing": forever(b"", b"\r\n" * 10_000),
        "endless body": forever(OK + b"Content-Type: text/html\r\n\r\n", b"<p>more</p>" * 5_000),
        "endless zeros": forever(OK + b"\r\n", b"\x00" * 60_000),
        "endless chunks": forever(chunk, b"2710\r\n" + b"z" * 10_000 + b"\r\n"),
        "endless crumbs": forever(chunk, b"1\r\nx\r\n" * 2_000),
        "endless chunk": forever(chunk + b"ffffffff\r\n", b"y" * 60_000),
        "endless extension": forever(chunk + b"5;", b"x" * 50_000),
        "endless trailers": forever(chunk + b"0\r\n", b"X: y\r\n" * 1_000),
        "endless hundreds": forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 500),
        "endless hints": forever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" * 500),
        "flood of cookies": once(lambda: OK + b"Set-Cookie: a=b\r\n" * 900 + b"\r\n" + PAGE),
        "cookie of 90 kB": once(
            lambda: OK + b"Set-Cookie: " + b"c" * 90_000 + b"\r\nContent-Length: 0\r\n\r\n"
        ),
        "folded header": once(lambda: OK + b"X: y\r\n" + b" folded\r\n" * 5_000 + b"\r\n"),
        "eleven megabytes": once(lambda: answer(b"<p>word word word</p>" * 550_000)),
        "eleven megabytes, untold": once(lambda: OK + b"\r\n" + b"<p>word word word</p>" * 550_000),
        "a length of terabytes": silent(OK + b"Content-Length: 9999999999999\r\n\r\n"),
    }


def broken() -> dict[str, Says]:
    """Answers that are none."""
    chunk = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    noise = random.Random(7).randbytes(3_000)  # noqa: S311
    texts = {
        "nothing": b"",
        "half a status": b"HTTP/1.1 2",
        "no http": b"SSH-2.0-OpenSSH_9.9\r\n",
        "noise": noise,
        "noise behind a head": OK + b"\r\n" + noise,
        "a status of letters": b"HTTP/1.1 abc OK\r\n\r\n",
        "status 0": b"HTTP/1.1 000 Zero\r\n\r\n",
        "status 99": b"HTTP/1.1 99 Low\r\n\r\n",
        "status 199": b"HTTP/1.1 199 What\r\n\r\n",
        "status 101": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n" + noise,
        "status 226": answer(PAGE, "226 IM Used"),
        "status 299": answer(PAGE, "299 Odd"),
        "status 399": answer(PAGE, "399 Odd"),
        "status 499": answer(PAGE, "499 Odd"),
        "status 799": answer(PAGE, "799 Odd"),
        "status 1000": b"HTTP/1.1 1000 Much\r\n\r\n",
        "http 0.9": PAGE,
        "http 3.7": b"HTTP/3.7 200 OK\r\n\r\n" + PAGE,
        "too long a length": OK + b"Content-Length: 5000\r\n\r\n" + PAGE,
        "too short a length": OK + b"Content-Type: text/html\r\nContent-Length: 60\r\n\r\n" + PAGE,
        "two lengths": OK + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + PAGE,
        "a length below zero": OK + b"Content-Length: -1\r\n\r\n" + PAGE,
        "a length in words": OK + b"Content-Length: many\r\n\r\n" + PAGE,
        "length and chunks": OK
        + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "chunks of nonsense": chunk + b"zz\r\nabc\r\n",
        "a chunk below zero": chunk + b"-5\r\nabc\r\n",
        "a chunk that lies": chunk + b"3\r\nabcdef\r\n0\r\n\r\n",
        "a chunk that breaks off": chunk + b"ff\r\nabc",
        "a chunk of 2^64": chunk + b"ffffffffffffffff\r\nabc\r\n",
        "a chunk of 100 digits": chunk + b"f" * 100 + b"\r\nabc\r\n",
        "unknown transfer": OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "a header without a name": OK + b": x\r\n\r\n",
        "a header with a zero": OK + b"X: a\x00b\r\n\r\n" + PAGE,
        "a header with a bare line end": OK + b"X: a\rY: b\r\n\r\n" + PAGE,
        "headers of bytes": OK + b"X: " + bytes(range(128, 256)) + b"\r\n\r\n" + PAGE,
        "no content": b"HTTP/1.1 204 No Content\r\nContent-Length: 500\r\n\r\n" + PAGE,
        "unasked 304": b"HTTP/1.1 304 Not Modified\r\n\r\n",
        "redirect to nowhere": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
        "redirect to bytes": b"HTTP/1.1 302 Found\r\nLocation: \xff\xfe\xfd\r\nContent-Length: "
        b"0\r\n\r\n",
        "redirect to much": b"HTTP/1.1 302 Found\r\nLocation: /"
        + b"a" * 60_000
        + b"\r\nContent-Length: 0\r\n\r\n",
        "redirect to itself": b"HTTP/1.1 302 Found\r\nLocation: ?\r\nContent-Length: 0\r\n\r\n",
        "wrong charset": answer(
            "Ærø er en ø. ".encode("utf-16") * 40, mime="text/html; charset=utf-8"
        ),
        "unknown charset": answer(PAGE, mime="text/html; charset=klingon"),
        "charset of a million": answer(PAGE, mime="text/html; charset=" + "x" * 50_000),
        "utf-7": answer(
            "+ADw-script+AD4-alert(1)+ADw-/script+AD4-", mime="text/html; charset=utf-7"
        ),
        "utf-32 that is none": answer(noise, mime="text/html; charset=utf-32"),
        "no type": answer(PAGE, mime=""),
        "nonsense type": answer(PAGE, mime="///;;;==="),
        "a picture called a page": answer(b"\x89PNG\r\n\x1a\n" + noise),
        "a page called a pdf": answer(PAGE, mime="application/pdf"),
        "noise called a pdf": answer(noise, mime="application/pdf"),
        "noise called a word file": answer(
            noise, mime="application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        ),
        "zeros": answer(b"\x00" * MB),
        "surrogates": answer("\ud800\udfff".encode("utf-8", "surrogatepass") * 100),
        "deep html": answer(b"<div>" * 300_000),
        "unclosed comment": answer(b"<p>begin</p><!--" + b"- " * 400_000),
        "one long attribute": answer(b"<p title='" + b"x" * 3 * MB),
        "a million entities": answer(b"&amp;" * MB),
        "many tags of many kinds": answer(b"".join(b"<x%d>" % n for n in range(100_000))),
        "a table without end": answer(b"<table>" + b"<tr><td>" * 200_000),
    }
    return {name: once(lambda text=text: text) for name, text in texts.items()}  # type: ignore[misc]


def table() -> dict[str, Says]:
    """Return every way of being hostile, by name."""
    return {**bombs(), **slow(), **floods(), **broken()}


TABLE = table()
WAYS = sorted(TABLE)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
        way = path.strip("/").partition("?")[0]
        if way == "robots.txt":
            writer.write(answer(status="404 Not Found"))
        elif way == "good":
            writer.write(answer(PAGE))
        elif not way.isdecimal() and not way.startswith("loop"):
            writer.write(answer(status="404 Not Found"))
        elif way.startswith("loop"):
            writer.write(answer(status="302 Found", Location=f"/loop{int(way[4:] or 0) + 1}"))
        else:
            async for piece in TABLE[WAYS[int(way)]]():
                writer.write(piece)
                await writer.drain()
        await writer.drain()
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def main() -> None:
    for coding in PACK:  # before anybody waits for it
        for outer in PACK:
            outside(coding, outer)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
