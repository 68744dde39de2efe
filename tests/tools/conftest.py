"""The desk of a run: a real store and gateways over it; and a server that says given bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Mode
from deepdiver.gateway.clock import MACHINE_CLOCK, Clock
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.patience import PATIENCE


@dataclass(slots=True)
class Desk:
    """One run, and what is heard of it."""

    store: SqliteStore
    run: str
    events: list[Event] = field(default_factory=list)
    clock: Clock = MACHINE_CLOCK

    def gateway(self, mode: Mode = Mode.LIVE, **settings: Any) -> Gateway:
        """Open a door; failed calls are not repeated unless the test asks for it.

        Nor do they end before their time, because a machine that runs ten other things needs more
        than the 30 s of a search to open a library.
        """
        return Gateway(
            self.store,
            self.run,
            Settings(**{"retries": 0, "deadlines": {"search": PATIENCE}, **settings}),
            self.events.append,
            mode=mode,
            clock=self.clock,
        )

    def another(self) -> Desk:
        """Begin another run over the same store."""
        name = f"{self.run}-{len(self.store.runs.list_all())}"
        self.store.runs.create(self.store.runs.get(self.run).model_copy(update={"id": name}))
        return Desk(self.store, name, clock=self.clock)

    def everything(self) -> str:
        """Return all that was kept or told: journal rows and events."""
        rows = [repr(row) for row in self.store.journal.rows(self.run)]
        return "\n".join([*rows, *(event.model_dump_json() for event in self.events)])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(open_sqlite(tmp_path / "desk")) as store:
        run = Run(
            id="20261115-desk-0000",
            question="Who owns Holm Works?",
            strategy="popper",
            settings={},
            created="2026-11-15T09:00:00+00:00",
            version="0.1.0",
        )
        store.runs.create(run)
        yield Desk(store, run.id)


@dataclass(slots=True)
class Line:
    """A server at the other end of a line: says the same to everyone and keeps what it heard."""

    url: str
    says: bytes = b""
    after: float = 0.0
    """Seconds until it says anything."""
    heard: list[str] = field(default_factory=list)

    def answers(self, status: str = "200 OK", body: bytes = b"{}", **headers: str) -> None:
        """Have it say a well-formed HTTP answer; underscores in header names stand for dashes."""
        head = {"Content-Length": str(len(body)), "Connection": "close"}
        head |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [
            f"HTTP/1.1 {status}",
            *(f"{name}: {value}" for name, value in head.items()),
            "",
            "",
        ]
        self.says = "\r\n".join(lines).encode() + body


@asynccontextmanager
async def serving(answer: Callable[[str], Awaitable[bytes]]) -> AsyncIterator[str]:
    """Give the address of a server that answers each request, head and body, and hangs up."""
    callers: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            rows = head.decode().lower().split("\r\n")
            size = next((int(row[15:]) for row in rows if row.startswith("content-length:")), 0)
            writer.write(await answer((head + await reader.readexactly(size)).decode()))
            await writer.drain()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        callers.add(task)
        await asyncio.wait([task])
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        callers.discard(task)

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        while callers:
            for task in callers:
                task.cancel()
            await asyncio.sleep(0.01)


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    async def answer(request: str) -> bytes:
        made.heard.append(request)
        await asyncio.sleep(made.after)
        return made.says

    async with serving(answer) as url:
        made = Line(url)
        made.answers()
        yield made
