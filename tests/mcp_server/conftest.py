"""A state over the sample library, a feed, and a search service that never answers.

Runs over it end when stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.core.settings import Settings, load
from deepdiver.mcp_server import server
from deepdiver.mcp_server.state import ServerState, open_state
from deepdiver.tools.osint import registry
from deepdiver.tools.osint.feed import Feed
from tests.mcp_server.tides import FEED, KEY


@pytest.fixture(autouse=True)
def one_feed(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Feed[Any]]:
    """Have one feed in this process, whichever are installed."""
    held: dict[str, Feed[Any]] = {FEED.name: FEED}
    for module in (registry, server):
        monkeypatch.setattr(module, "feeds", lambda: held)
    return held


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(
        {
            "home": tmp_path / "store",
            "documents": (sample.LIBRARY,),
            "search": ["library"],
            "keys": {"tides": KEY},
            "retries": 0,
        }
    )


@pytest.fixture
async def state(settings: Settings) -> AsyncIterator[ServerState]:
    async with open_state(settings) as state:
        yield state


@pytest.fixture
async def silent() -> AsyncIterator[str]:
    """The address of a server that takes requests and never answers."""
    callers: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        callers.add(task)
        with suppress(ConnectionError, asyncio.CancelledError):
            while await reader.read(65_536):
                pass
        writer.close()
        callers.discard(task)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    listening.close()
    for task in callers:
        task.cancel()
    await asyncio.sleep(0.01)


@pytest.fixture
def endless(settings: Settings, silent: str) -> Settings:
    """Settings of a run that goes on until it is stopped."""
    slow = {
        "documents": (),
        "search": ["searxng"],
        "urls": {"searxng": silent},
        "deadlines": {"search": 600.0},
    }
    return load({**settings.model_dump(), **slow})
