from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

from deepdiver.tools.reachability import reach, reach_all
from tests.patience import PATIENCE


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def closed() -> int:
    """A port at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://",
        "http://:80",
        "ftp://127.0.0.1",
        "http://127.0.0.1:none",
        "http://127.0.0.1:99999",
        "http://[::1",
    ],
)
async def test_an_invalid_address_is_reported(address: str) -> None:
    assert "is not an address" in await reach(address)


async def test_nobody_there(closed: int) -> None:
    assert (await reach(f"http://127.0.0.1:{closed}")).startswith(
        f"127.0.0.1:{closed} cannot be reached: "
    )


async def test_nobody_answers_in_time() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for client in waiting:  # fills the queue, so that the next one is left waiting
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        said = await asyncio.wait_for(reach(f"127.0.0.1:{port}", seconds=0.2), PATIENCE)
        for client in waiting:
            client.close()
    assert said == f"no answer from 127.0.0.1:{port} within 0.2 s"


@pytest.mark.parametrize(
    "form",
    ["http://127.0.0.1:{}", "https://127.0.0.1:{}/v1", "127.0.0.1:{}", "http://localhost:{}/"],
)
async def test_somebody_is_there(form: str, port: int) -> None:
    assert await reach(form.format(port)) == ""


async def test_all_at_once(port: int, closed: int) -> None:
    found = await reach_all({"here": f"127.0.0.1:{port}", "gone": f"127.0.0.1:{closed}"})
    assert list(found) == ["here", "gone"]
    assert found["here"] == ""
    assert "cannot be reached" in found["gone"]
    assert await reach_all({}) == {}
