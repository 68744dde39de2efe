"""Hostile answers, one after the other, over the whole way.

Gateway, guard, client, walls, extraction.

Each takes at most 10 seconds, the process grows by at most 50 MB, and the only thing that is ever
raised is a reason.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from deepdiver.errors import CallError, UnreadableError
from deepdiver.tools.fetch import fetch
from tests.patience import PATIENCE
from tests.tools.conftest import Desk
from tests.tools.fetch.hostile import WAYS
from tests.tools.fetch.rig import gateway

SECONDS = 10.0
GROWTH = 50_000_000
SAMPLE = (
    "bomb br text/html",
    "bomb gzip chunked",
    "bomb of frames",
    "bomb zstd untyped",
    "nested gzip in br",
    "three layers",
    "truncated gzip",
    "endless headers",
    "endless body",
    "endless crumbs",
    "flood of headers",
    "eleven megabytes",
    "too long a length",
    "a chunk of 2^64",
    "noise behind a head",
    "no type",
    "wrong charset",
    "redirect to much",
    "status 101",
    "deep html",
)
"""What every run of the tests tries: one of each kind that takes no time."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "tests.tools.fetch.hostile"]
    with subprocess.Popen(
        command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        assert server.stdin is not None
        server.stdin.close()
        server.terminate()


@dataclass(frozen=True, slots=True)
class Met:
    """How one of them ended."""

    way: str
    ended: str
    seconds: float


async def meet(way: str, port: int, desk: Desk, retries: int) -> Met:
    path = f"/{WAYS.index(way)}" if way in WAYS else f"/{way}"
    door = gateway(desk, allow_hosts=(f"127.0.0.1:{port}",), retries=retries, cache={"fetch": 0})
    began = time.monotonic()
    try:
        page = await fetch(f"http://127.0.0.1:{port}{path}", door)
        ended = f"read as {page.document.format}"
    except UnreadableError as error:
        ended = f"unreadable: {error}"
    except CallError as error:
        ended = f"failed ({error.fault}): {error}"
    return Met(way, ended, time.monotonic() - began)


async def growth(
    port: int, desk: Desk, ways: list[str], retries: int, at_once: int
) -> tuple[list[Met], int]:
    """Meet them all; return how each ended, and by how much this process was larger at most."""
    for _ in range(3):  # everything is loaded, and the children are there
        await meet("good", port, desk, 0)
    gc.collect()
    this = psutil.Process()
    before = peak = this.memory_info().rss
    places = asyncio.Semaphore(at_once)

    async def one(way: str) -> Met:
        async with places:
            return await meet(way, port, desk, retries)

    task = asyncio.gather(*(one(way) for way in ways))
    while not task.done():
        peak = max(peak, this.memory_info().rss)
        await asyncio.wait([task], timeout=0.02)
    return await task, peak - before


def check(met: list[Met], grown: int) -> None:
    slow = [one for one in met if one.seconds > PATIENCE]
    assert not slow, slow
    assert grown <= GROWTH, f"{grown / 1e6:.0f} MB"
    assert all(one.ended.isprintable() for one in met)


def test_there_are_enough_of_them() -> None:
    assert len(WAYS) >= 100
    assert set(SAMPLE) <= set(WAYS)


@pytest.mark.slow
async def test_a_sample(port: int, desk: Desk) -> None:
    met, grown = await growth(port, desk, [*SAMPLE, "loop"], retries=0, at_once=2)
    check(met, grown)
    ended = {one.way: one.ended for one in met}
    assert "expands more than 100 times" in ended["bomb br text/html"]
    assert "3 times over" in ended["three layers"]
    assert "breaks off" in ended["truncated gzip"]
    assert "headers do not end" in ended["endless headers"]
    assert "larger than" in ended["endless body"]
    assert "crumbs" in ended["endless crumbs"]
    assert "leads on more than 5 times" in ended["loop"]
    assert "network" in ended["too long a length"]
    assert ended["no type"] == "read as html"


@pytest.mark.proof
async def test_all_of_them(port: int, desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """With the settings as they are delivered, but for the gap between two calls.

    Failures are tried again.
    """
    met, grown = await growth(port, desk, [*WAYS, "loop"], retries=4, at_once=4)
    slowest = sorted(met, key=lambda one: -one.seconds)[:5]
    kinds = Counter(one.ended.split(":")[0] for one in met)
    with capsys.disabled():
        print(f"\n{len(met)} hostile answers, {grown / 1e6:.1f} MB grown at most; {dict(kinds)}")  # noqa: T201
        for one in slowest:
            print(f"  {one.seconds:5.2f} s  {one.way}: {one.ended}")  # noqa: T201
    check(met, grown)
    assert (await meet("good", port, desk, 0)).ended == "read as html"
