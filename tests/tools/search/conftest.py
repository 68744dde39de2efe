"""A service that says one thing after another, or one thing for each path."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from tests.tools.conftest import serving

pytest.register_assert_rewrite(
    "tests.tools.faults", "tests.tools.search.faults", "tests.tools.osint.faults"
)


def reply(body: bytes = b"{}", status: str = "200 OK", **headers: str) -> bytes:
    """Return a well-formed HTTP answer; underscores in header names stand for dashes."""
    head = {"Content-Length": str(len(body)), "Connection": "close"}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    return (
        "\r\n".join(
            [f"HTTP/1.1 {status}", *(f"{n}: {v}" for n, v in head.items()), "", ""]
        ).encode()
        + body
    )


@dataclass(slots=True)
class Service:
    """What a vendor's server says, and what it hears."""

    url: str
    always: bytes | Mapping[str, bytes] = b""
    """What it says when there is nothing to be said once: one answer, or one for each piece of a
    path or a body."""
    once: list[bytes] = field(default_factory=list)
    """What it says first, each to one request."""
    after: float = 0.0
    """Seconds until it says anything."""
    heard: list[str] = field(default_factory=list)
    """The requests, head and body."""
    times: list[float] = field(default_factory=list)
    """When they came, by the monotonic clock."""

    def answer(self, request: str) -> bytes:
        """Return what is said to a request."""
        if self.once:
            return self.once.pop(0)
        if isinstance(self.always, bytes):
            return self.always
        asked = request.split(" ", 2)[1] + request.partition("\r\n\r\n")[2]
        return next(
            (said for piece, said in self.always.items() if piece in asked),
            reply(b"{}", "404 Not Found"),
        )


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async def answer(request: str) -> bytes:
        made.heard.append(request)
        made.times.append(time.monotonic())
        await asyncio.sleep(made.after)
        return made.answer(request)

    async with serving(answer) as url:
        made = Service(url)
        made.always = reply()
        yield made


@pytest.fixture
def nobody() -> Iterator[str]:
    """Return an address at which surely nobody listens: its port is bound and never opened."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"
