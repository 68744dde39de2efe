"""What the processes that the tests start do with a gateway."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import closing
from decimal import Decimal
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from deepdiver.core.settings import Settings
from deepdiver.gateway import Gateway, Reply, Request, gateway
from deepdiver.store.sqlite import open_sqlite
from tests.patience import PATIENCE

BARRIER: Barrier | None = None
SHARED = Request("search", "p", "asking", {"q": "shared"}, Decimal("0.02"))


def meet_at(barrier: Barrier) -> None:
    """Remember where the processes of a pool wait for each other."""
    global BARRIER
    BARRIER = barrier


def ask_together(job: tuple[Path, str, float]) -> str:
    """Ask the same at the same moment as others; the service writes down that it was asked.

    Return where from.
    """
    home, run, seconds = job
    told: list[Any] = []

    async def do() -> Reply:
        with (home / "asked").open("a") as file:
            file.write(f"{run}\n")
        await asyncio.sleep(seconds)
        return Reply({"by": run}, Decimal("0.01"))

    with closing(open_sqlite(home)) as store:
        door = Gateway(store, run, Settings(), told.append)
        assert BARRIER is not None
        BARRIER.wait(PATIENCE)
        reply = asyncio.run(door.call(SHARED, do))
    assert (home / "asked").read_text().split() == [reply.value["by"]]
    origin: str = told[-1].origin
    return origin


def call_many(
    job: tuple[Path, str, int, dict[str, float]],
) -> tuple[list[tuple[float, float]], list[float]]:
    """Make calls side by side under a limit.

    Return when each began and ended, and the time for which each place was granted.
    """
    home, run, number, limit = job
    times: list[tuple[float, float]] = []
    granted: list[float] = []

    async def do() -> Reply:
        began = time.time()
        await asyncio.sleep(0.03)
        times.append((began, time.time()))
        return Reply(None)

    def limit_take(provider: str, owner: str, now: float, *args: Any, **kwargs: Any) -> Any:
        grant = take(provider, owner, now, *args, **kwargs)
        if grant.granted:
            granted.append(now)
        return grant

    async def all_of_them(door: Gateway) -> None:
        requests = [Request("model", "p", "asking", {"run": run, "q": n}) for n in range(number)]
        await asyncio.gather(*(door.call(request, do) for request in requests))

    with closing(open_sqlite(home)) as store:
        take = store.limits.take
        store.limits.take = limit_take  # type: ignore[method-assign]
        settings = Settings.model_validate({"limits": {"p": limit}})
        door = Gateway(store, run, settings, lambda event: None)
        assert BARRIER is not None
        BARRIER.wait(PATIENCE)
        asyncio.run(all_of_them(door))
    return times, granted


def die_in_flight(home: Path, claim_seconds: float, concurrent: int) -> None:
    """Die at the moment of the call, holding a claim, a place and a reservation."""
    gateway.CLAIM_SECONDS = claim_seconds

    async def do() -> Reply:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("dead by now")

    store = open_sqlite(home)
    settings = Settings.model_validate(
        {
            "limits": {"p": {"concurrent": concurrent}},
            "deadlines": {"search": 3_600},
            "budget": "1",
        }
    )
    asyncio.run(Gateway(store, "r1", settings, lambda event: None).call(SHARED, do))
