"""Measures the CPU time of a call through the gateway if the service takes no time at all.

LangGraph and the gateway together may take 15 ms of CPU time for a step. A step makes one model
call, or a few searches side by side. The CPU time is that of the whole process, including the
store's threads. The same is measured with the store in PostgreSQL, which is not held to it: there,
each step of the store is a few round trips to a server, whose CPU time is told beside it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import psutil
from pydantic import SecretStr

sys.path.insert(0, str(Path(__file__).parents[1]))

from deepdiver.core.events import Event
from deepdiver.core.record import Run
from deepdiver.core.settings import Limit, Settings
from deepdiver.gateway import CallKind, Gateway, Reply, Request
from deepdiver.store import Store
from deepdiver.store.postgres import open_postgres
from deepdiver.store.sqlite import open_sqlite
from tests.postgres_server import NoServerError, running

CALLS = 500
SIDE_BY_SIDE = 8
MOST_MS = 5.0
"""A third of a step's allowance; the rest is for LangGraph and the strategy."""
# kind, characters asked, characters answered
CASES: tuple[tuple[str, CallKind, int, int], ...] = (
    ("model call", "model", 8_000, 2_000),
    ("long model call", "model", 100_000, 8_000),
    ("search, shared cache", "search", 100, 20_000),
)


async def do_calls(door: Gateway, kind: CallKind, asked: int, answered: int) -> None:
    """Make the calls, a few side by side as a strategy does."""

    async def do() -> Reply:
        return Reply(
            {"text": "a" * answered}, Decimal("0.001"), {"input_tokens": 9, "output_tokens": 9}
        )

    async def one_after_another(lane: int) -> None:
        for number in range(lane, CALLS, SIDE_BY_SIDE):
            payload = {"case": f"{kind} {asked} {number}", "text": "q" * asked}
            await door.call(Request(kind, "bench", "measuring", payload, Decimal("0.002")), do)

    await asyncio.gather(*(one_after_another(lane) for lane in range(SIDE_BY_SIDE)))


def children_seconds() -> float:
    """Return the CPU seconds of the processes below this one: of PostgreSQL, if it runs."""
    return sum(
        sum(child.cpu_times()[:2])
        for child in psutil.Process().children(recursive=True)
        if child.is_running()
    )


def measure(store: Store, name: str, kind: CallKind, asked: int, answered: int) -> float:
    """Return the milliseconds of CPU that one call takes."""
    store.runs.create(
        Run(
            id=name.replace(" ", "-"),
            question=name,
            strategy="popper",
            settings={},
            created="2026-11-01T00:00:00+00:00",
            version="bench",
        )
    )
    settings = Settings(budget=Decimal(1_000), limits={"bench": Limit(rate=1e6, concurrent=1_000)})
    events: list[Event] = []
    door = Gateway(store, name.replace(" ", "-"), settings, events.append)
    wall, cpu, server = time.perf_counter(), time.process_time(), children_seconds()
    asyncio.run(do_calls(door, kind, asked, answered))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    server = children_seconds() - server
    assert len(events) == 2 * CALLS
    assert door.budget.spent == CALLS * Decimal("0.001")
    print(
        f"{name:22} {cpu / CALLS * 1e3:6.2f} ms CPU a call, {wall / CALLS * 1e3:6.2f} ms wall, "
        f"{CALLS} calls" + (f", {server / CALLS * 1e3:.2f} ms CPU of the server" if server else "")
    )
    return cpu / CALLS * 1e3


def main() -> int:
    """Measure each case; return 1 if one takes more than the gateway's share."""
    with tempfile.TemporaryDirectory() as folder, closing(open_sqlite(Path(folder))) as store:
        worst = max(measure(store, *case) for case in CASES)
    print(f"at most {worst:.2f} ms; the gateway's share of a step is {MOST_MS:g} ms")
    print("in PostgreSQL:")
    try:
        with running() as server, closing(open_postgres(SecretStr(server.address()))) as store:
            for case in CASES:
                measure(store, *case)
    except NoServerError as error:
        print(f"not measured: {error}")
    return int(worst > MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
