"""A web on this machine.

Names of the public web lead to one local server, and every connection is written down.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpcore

from deepdiver.gateway import Gateway
from deepdiver.tools.fetch import Guard, Page, fetch
from tests.tools.conftest import Desk

PUBLIC = "93.184.215.14"
"""What a name that nobody has set leads to: an address of the public web, which the wire takes to
this machine."""
WIDE = {"fetch": {"rate": 1e6, "concurrent": 1_000}}
"""A limit that is none: politeness is tested where it is the matter."""

Says = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes | str = b"", status: str = "200 OK", mime: str = "text/html", **headers: str
) -> bytes:
    """Make a well-formed answer.

    Underscores in header names stand for dashes, and an empty header is left out.
    """
    raw = body.encode() if isinstance(body, str) else body
    head = {"Content-Type": mime, "Content-Length": str(len(raw)), "Connection": "close"}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [
        f"HTTP/1.1 {status}",
        *(f"{name}: {value}" for name, value in head.items() if value),
        "",
        "",
    ]
    return "\r\n".join(lines).encode() + raw


def redirect(to: str, code: int = 302) -> bytes:
    """Send somewhere else."""
    return answer(status=f"{code} Elsewhere", Location=to)


def html(text: str, title: str = "A page", head: str = "") -> str:
    """Make a page with a text."""
    paragraphs = "".join(f"<p>{part}</p>" for part in text.split("\n"))
    return (
        '<!doctype html><html lang="en"><head><meta '
        f'charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body><article><h1>{title}</h1>{paragraphs}</article></body></html>"
    )


STORY = (
    "The cooperative dairy of Holm was founded in 1911 by forty farmers of the valley. It makes a "
    "hard cheese that is "
    "kept for two years in a cellar under the old church.\nIn 2019 the members voted to sell the "
    "cellar to the town, "
    "and the cheese has been kept in a new building by the river since then.\nThe director, Anna "
    "Berg, says that the "
    "new building is warmer by two degrees, and that the taste has changed a little. Sales rose by "
    "12 per cent in 2024."
)
GOOD = answer(html(STORY, "The dairy of Holm"))
PACKED = gzip.compress(html(STORY, "The dairy of Holm").encode())


class Wire(httpcore.AnyIOBackend):
    """Takes every connection to the local server, and keeps the address that was meant."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.meant: list[str] = []

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **kwargs: Any
    ) -> httpcore.AsyncNetworkStream:
        self.meant.append(host)
        return await super().connect_tcp("127.0.0.1", self.port, *args, **kwargs)


@dataclass(slots=True)
class Web:
    """Hosts, their pages, and what was asked of them."""

    wire: Wire
    pages: dict[str, Says] = field(default_factory=dict)
    """What stands where: by host and path, by path, and robots.txt is absent unless set."""
    names: dict[str, list[list[str]]] = field(default_factory=dict)
    """What a name leads to: one list of addresses after the other, and the last for ever."""
    heard: list[str] = field(default_factory=list)
    """Requests, whole."""
    looked_up: list[str] = field(default_factory=list)

    @property
    def asked(self) -> list[str]:
        """What was asked for, host and path."""
        return [f"{_header(text, 'host')}{text.split(' ')[1]}" for text in self.heard]

    async def resolve(self, host: str, port: int) -> list[str]:
        """Look a name up."""
        self.looked_up.append(host)
        if host.endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        turns = self.names.get(host)
        if not turns:
            return [PUBLIC]
        return turns.pop(0) if len(turns) > 1 else turns[0]

    def guard(self, *allowed: str) -> Guard:
        """Make a guard over this web."""
        return Guard(allowed, resolve=self.resolve, wire=self.wire)

    async def fetch(self, url: str, gateway: Gateway, *allowed: str) -> Page:
        """Read a page of this web."""
        return await fetch(url, gateway, guard=self.guard(*allowed))

    def says(self, text: str) -> Says:
        """Return what is said to a request."""
        path, host = text.split(" ")[1], _header(text, "host")
        found = self.pages.get(host + path, self.pages.get(path))
        if found is None:
            missing = path.startswith("/robots.txt")
            found = (
                answer(status="404 Not Found")
                if missing
                else self.pages.get("*", answer(status="404 Not Found"))
            )
        return found


def _header(text: str, name: str) -> str:
    for line in text.split("\r\n")[1:]:
        if line.lower().startswith(f"{name}: "):
            return line.split(": ", 1)[1]
    return ""


def gateway(desk: Desk, **settings: Any) -> Gateway:
    """Open a door without a polite gap."""
    return desk.gateway(**{"limits": WIDE, **settings})


@asynccontextmanager
async def serving() -> AsyncIterator[Web]:
    """Run a web."""
    callers: set[asyncio.Task[None]] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        callers.add(task)
        await asyncio.wait([task])
        callers.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: the other side may hang up at any time
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            text = (await reader.readuntil(b"\r\n\r\n")).decode()
            web.heard.append(text)
            says = web.says(text)
            if isinstance(says, bytes):
                writer.write(says)
                await writer.drain()
            else:
                await says(writer)

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    web = Web(Wire(server.sockets[0].getsockname()[1]))
    try:
        yield web
    finally:
        server.close()
        while callers:
            for task in callers:
                task.cancel()
            await asyncio.sleep(0.005)
        await server.wait_closed()
