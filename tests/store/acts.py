"""What the tests of the store, and the processes that they start, do to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from multiprocessing.synchronize import Barrier

import pytest

from deepdiver.core.record import Run, RunStatus
from deepdiver.errors import RunBusyError
from tests.patience import PATIENCE
from tests.store.places import AnyStore, Place

NOW = 1_800_000_000.0
"""A time. Nothing in the store reads the clock, so any will do."""
BARRIER: Barrier | None = None


def make_run(
    id_: str = "r1",
    created: str = "2027-01-15T08:00:00+00:00",
    status: RunStatus = RunStatus.RUNNING,
) -> Run:
    """Make a run as the runner would."""
    return Run(
        id=id_,
        question="Who runs Svedjan Ost AB?",
        strategy="popper",
        settings={"max_iterations": 3, "search": ["library"], "limits": {"library": {"rate": 5.0}}},
        created=created,
        version="0.1.0",
        status=status,
    )


def reserve(
    store: AnyStore, key: str = "k", run: str = "r1", now: float = NOW, worst: str = "0.02"
) -> None:
    """Reserve a call of a search."""
    store.journal.reserve(
        run,
        key,
        kind="search",
        provider="library",
        what="who runs it",
        request='{"q":"who"}',
        worst=Decimal(worst),
        now=now,
    )


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    """Return the message of an error, which is one line."""
    line = str(error.value)
    assert line.isprintable(), f"not one line: {line!r}"
    return line


# In other processes. Each function takes one argument, as Pool.map gives it.


def meet_at(barrier: Barrier) -> None:
    """Remember where the processes of a pool wait for each other."""
    global BARRIER
    BARRIER = barrier


def _together() -> None:
    assert BARRIER is not None
    BARRIER.wait(PATIENCE)


def open_and_close(homes: Sequence[Place]) -> int:
    """Open each home at the same moment as others; return how many runs they hold."""
    count = 0
    for place in homes:
        _together()
        store = place.open()
        count += len(store.runs.list_all())
        store.close()
    return count


def hold_in_turn(job: tuple[Place, str, int]) -> int:
    """Take a run's lease a number of times.

    Return how often someone else was inside at the same time.
    """
    place, owner, times = job
    store = place.open()
    inside = place.folder / "inside"
    clashes = 0
    _together()
    for _ in range(times):
        _until(lambda: _leased(store, owner))
        try:
            inside.touch(exist_ok=False)
            time.sleep(0.002)
            inside.unlink()
        except FileExistsError:
            clashes += 1
        store.leases.drop("r1", owner)
    store.close()
    return clashes


def _leased(store: AnyStore, owner: str) -> bool:
    try:
        store.leases.take("r1", owner, time.time(), 3_600)
    except RunBusyError:
        return False
    return True


def claim_all(job: tuple[Place, str, int]) -> list[int]:
    """Claim a number of answers; return which were won."""
    place, owner, keys = job
    store = place.open()
    _together()
    won = [key for key in range(keys) if store.cache.claim(f"key{key}", owner, NOW, NOW + 60)]
    store.close()
    return won


def call_in_turn(job: tuple[Place, str, int, float, int]) -> list[tuple[float, float, float]]:
    """Make calls under a limit.

    Return for each the time it was granted for, and when it began and ended.
    """
    place, owner, times, rate, concurrent = job
    store = place.open()
    calls: list[tuple[float, float, float]] = []
    _together()
    for number in range(times):
        while True:
            now = time.time()
            name = f"{owner}:{number}"
            grant = store.limits.take(
                "web", name, now, now + 3_600, rate=rate, per=1.0, concurrent=concurrent
            )
            if grant.granted:
                break
            time.sleep(grant.wait)
        began = time.time()
        time.sleep(0.01)
        calls.append((now, began, time.time()))
        store.limits.give("web", name)
    store.close()
    return calls


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def die_after(place: Place, step: str) -> None:
    """Do one thing and die at the very moment at which it returned."""
    store = place.open()
    steps: dict[str, Callable[[], object]] = {
        "reserved": lambda: reserve(store),
        "sent": lambda: store.journal.mark_sent("r1", "k", NOW + 1),
        "settled": lambda: store.journal.settle(
            "r1", "k", '{"answer":42}', Decimal("0.01"), NOW + 2
        ),
        "declined": lambda: store.journal.mark_declined("r1", "k", NOW + 2),
        "failed": lambda: store.journal.fail("r1", "k", "HTTP 500", Decimal(0), NOW + 2),
        "text": lambda: store.texts.put("r1", "a page"),
        "records": lambda: store.records.add(
            "r1", [("finding", f"f{n}", "{}") for n in range(100)]
        ),
    }
    steps[step]()
    os.kill(os.getpid(), signal.SIGKILL)


def die_before_commit(place: Place) -> None:
    """Begin to add records, and die with all of them written and the transaction still open."""
    store = place.open()

    place.die_at_commit(store, lambda: os.kill(os.getpid(), signal.SIGKILL))
    store.records.add("r1", [("finding", f"f{n}", "{}") for n in range(100)])
