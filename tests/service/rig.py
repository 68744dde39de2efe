"""A service for tests: in this process without a socket, or listening on a port of loopback."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.http_listener import AT_ONCE
from deepdiver.service.access import Access, check_access
from deepdiver.service.accounts import Accounts
from deepdiver.service.app import build
from deepdiver.service.book import open_book
from deepdiver.service.state import ServiceState
from tests.servers.brain import made_search, popper_brain, understand
from tests.servers.prompt import PromptServer
from tests.servers.scripted import Answer, ScriptedServer

QUESTION = "How old are the children of the parents who run Svedjan Ost AB?"
"""A question that the sample library answers."""
PATIENCE = 60.0
"""Seconds for anything that must happen at all."""
ACCESS = Access(frozenset({"127.0.0.1", "testserver"}))


def tokens_of(home: Path, *names: str, **limits: Any) -> dict[str, str]:
    """Add users to a home, and return their tokens."""
    with closing(open_book(home)) as book:
        return {name: Accounts(book).add(name, **limits) for name in names}


@dataclass
class Rig:
    """A service in this process."""

    app: FastAPI
    client: httpx.AsyncClient
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> ServiceState:
        state: ServiceState = self.app.state.service
        return state

    def of(self, name: str) -> dict[str, str]:
        """Return the headers of a user."""
        return {"authorization": f"Bearer {self.tokens[name]}"} if name in self.tokens else {}


@asynccontextmanager
async def service(
    home: Path, *users: str, concurrency: int = 0, settings: Settings | None = None, **limits: Any
) -> AsyncIterator[Rig]:
    """Open a service on a home."""
    made = (settings or Settings()).model_copy(update={"home": home})
    tokens = tokens_of(home, *users, **limits)
    with closing(open_book(home)) as book:
        accounts = Accounts(book)
        gated, app = build(made, ACCESS, accounts, concurrency=concurrency)
        over = httpx.ASGITransport(gated, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=over, base_url="http://127.0.0.1", timeout=60) as client,
        ):
            yield Rig(app, client, tokens)


class HeldModel:
    """A model that answers everything but the plan and its searches only when it is let go."""

    def __init__(self) -> None:
        self.go, self.asked = threading.Event(), threading.Event()
        self._brain = popper_brain(rounds=1)

    def __call__(self, body: dict[str, Any], number: int) -> Answer:
        if understand(body)[0] not in ("decompose", "write_queries"):
            self.asked.set()
            self.go.wait(PATIENCE)
        return self._brain(body, number)


@contextmanager
def held_model() -> Iterator[tuple[HeldModel, dict[str, Any]]]:
    """Start a model that can be held, and a search; gives it, and the settings that use both."""
    model = HeldModel()
    with ScriptedServer(model, made_search()) as outside:
        keys = {name: SecretStr("a-scripted-key") for name in ("openai", "tavily")}
        urls = {"openai": outside.openai, "tavily": outside.url}
        try:
            yield (
                model,
                {
                    "model": "openai:gpt-5-mini",
                    "search": ("tavily",),
                    "keys": keys,
                    "urls": urls,
                    "retries": 0,
                },
            )
        finally:
            model.go.set()


class Served:
    """A service that listens, in a thread."""

    def __init__(self, home: Path, port: int = 0, concurrency: int = 2, **changes: Any) -> None:
        self.settings = Settings().model_copy(update={"home": home, **changes})
        self._book = open_book(home)
        accounts = Accounts(self._book)
        access = check_access("127.0.0.1", [], guarded=accounts.any(), token=None)
        app, self.app = build(self.settings, access, accounts, concurrency=concurrency)
        config = uvicorn.Config(
            app,
            host="127.0.0.1",
            port=port,
            log_config=None,
            timeout_graceful_shutdown=1,
            ws="none",
        )
        self._socket = config.bind_socket()
        self._socket.setsockopt(*AT_ONCE)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = PromptServer(config)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        eventually(lambda: self._server.started)

    def _run(self) -> None:
        with self._socket:
            asyncio.run(self._server.serve(sockets=[self._socket]))

    def stop(self) -> None:
        """Stop it as a signal would: runs in progress are saved."""
        self._server.end()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        self._book.close()


@contextmanager
def served(home: Path, port: int = 0, concurrency: int = 2, **changes: Any) -> Iterator[Served]:
    """Serve a home until the block ends."""
    serving = Served(home, port, concurrency, **changes)
    try:
        yield serving
    finally:
        serving.stop()


def eventually(holds: Any, seconds: float = PATIENCE) -> Any:
    """Wait until something holds, and return it."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        with contextlib.suppress(httpx.TransportError):
            if found := holds():
                return found
        time.sleep(0.05)
    raise AssertionError("it never did")
