"""Workers that die are followed by others: every run finishes once, with the same report.

The short form kills one of two workers once. The proof kills one of three every ten seconds for
three minutes, and restarts PostgreSQL in the middle.
"""

from __future__ import annotations

import asyncio
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.core.settings import Settings
from deepdiver.store.sqlite import open_sqlite
from deepdiver.work import Crew, Queue, open_queue, order_of
from tests.patience import PATIENCE
from tests.postgres_server import NoServerError, Server, restartable
from tests.processes import until
from tests.servers.apart import ServerApart
from tests.work.fleet import (
    BUDGET,
    CONCURRENT,
    MODEL,
    RATE,
    Takeovers,
    account,
    fleet,
    granted,
    hashes,
    model_calls,
    most_at_a_time,
    most_spent,
    most_within,
    note_grants,
    opened,
    question,
    settings_for,
    wait_for_all,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


def alone(home: Path, settings: Settings, questions: list[str]) -> list[str]:
    """Return the hashes of the reports that one machine makes, which nobody disturbs."""

    async def work(queue: Queue, runs: list[str]) -> None:
        async with Crew(queue, settings, concurrency=6):
            await asyncio.to_thread(wait_for_all, queue, runs, 10 * PATIENCE)

    with closing(open_sqlite(home / "alone")) as store:
        queue = open_queue(store)
        runs = [queue.put(order_of(text, settings)) for text in questions]
        asyncio.run(work(queue, runs))
        return hashes(store, runs)


@pytest.mark.waits
@pytest.mark.slow
def test_a_worker_that_is_killed_is_followed_by_another(
    postgres: Server, database: str, home: Path
) -> None:
    address = postgres.address(database)
    with ServerApart(delay=0.3) as server, opened(address) as queue:
        note_grants(address)
        settings = settings_for(home, server.url)
        texts = [question(0), question(1)]
        runs = [queue.put(order_of(text, settings)) for text in texts]
        with fleet(address, home, 1, concurrency=2) as workers:
            rows = queue.store.journal.rows
            until(lambda: all(len(rows(run)) > 2 for run in runs))
            workers.kill()
            wait_for_all(queue, runs, 10 * PATIENCE)
        assert account(queue.store, runs).calls > 20  # and sees that none was sent twice
        assert hashes(queue.store, runs) == alone(home, settings, texts)
        assert queue.owners() == {}
        assert most_at_a_time(server.log()) <= CONCURRENT
        assert most_within(granted(address, MODEL), 5) <= RATE * 5 + RATE


@pytest.fixture
def scene() -> Iterator[tuple[ServerApart, Server, Callable[[float], None]]]:
    try:
        with restartable() as (postgres, restart), ServerApart(delay=2.0) as server:
            yield server, postgres, restart
    except NoServerError as error:
        pytest.skip(str(error))


@pytest.mark.proof
def test_three_workers_one_of_which_is_killed_every_ten_seconds(
    scene: tuple[ServerApart, Server, Callable[[float], None]],
    home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server, postgres, restart = scene
    address = postgres.address(postgres.new_database())
    settings = settings_for(home, server.url)
    texts = [question(number) for number in range(18)]
    expected = alone(home, settings, texts)
    before = len(server.log())
    with opened(address) as queue:
        note_grants(address)
        runs = [queue.put(order_of(text, settings)) for text in texts]
        # Two that are left have places for all runs, and the next one is there at once: what is
        # measured is neither how busy they are nor how long one takes to start.
        with fleet(address, home, 3, concurrency=9, forked=True) as workers:
            until(lambda: workers.ready() == 3, 10 * PATIENCE)
            began, away, fewest = time.monotonic(), 0.0, 3
            takeovers = Takeovers(address)
            while (passed := time.monotonic() - began) < 180:
                time.sleep(max(0.0, 10 * (1 + len(workers.kills)) - passed))
                fewest = min(fewest, workers.ready())
                held = takeovers.held_by(workers.processes[0].pid)
                takeovers.note(held, workers.kill())
                if not away and passed > 80:
                    left = time.monotonic()
                    restart(5.0)
                    away = time.monotonic() - left
            wait_for_all(queue, runs, 900)
            took = time.monotonic() - began
            told, log = account(queue.store, runs), server.log()[before:]
            waits, made = takeovers.seconds(queue.store), hashes(queue.store, runs)
            allowed, met = granted(address, MODEL), [call["started"] for call in model_calls(log)]
            with capsys.disabled():
                middle = f"{waits[len(waits) // 2]:.1f} s" if waits else "none"
                slowest = f"{waits[-1]:.1f} s" if waits else "none"
                sys.stdout.write(
                    f"\nworkers killed {len(workers.kills)} in 180 s, {fewest} ready at least, "
                    f"PostgreSQL away once for {away:.1f} s; {len(runs)} runs finished in "
                    f"{took:.0f} s, "
                    f"other reports {sum(a != b for a, b in zip(made, expected, strict=True))}, "
                    f"calls {told.calls}, sent {told.sends}, in doubt {told.in_doubt}, settled "
                    f"calls repeated 0, runs taken over {len(waits)}, first step after {middle} in "
                    f"the middle and {slowest} at most, model calls at a time "
                    f"{most_at_a_time(log)} of {CONCURRENT}, allowed in 30 s "
                    f"{most_within(allowed, 30)} of {RATE * 30 + RATE} (the server met "
                    f"{most_within(sorted(met), 30)}), "
                    f"most spent on a run {most_spent(queue.store, runs):.4f} of {BUDGET}\n"
                )
        assert made == expected
        assert most_at_a_time(log) <= CONCURRENT
        # When a call that was allowed meets the server is up to the machine.
        assert most_within(allowed, 30) <= RATE * 30 + RATE
        assert len(met) <= len(allowed)
        assert most_spent(queue.store, runs) <= BUDGET
        assert waits
        assert waits[-1] < 30
        assert queue.owners() == {}


@pytest.mark.proof
def test_workers_outlive_a_server_that_is_restarted_again_and_again(
    scene: tuple[ServerApart, Server, Callable[[float], None]],
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At thirty moments, with workers that are busy, that idle, that start and that are drained."""
    server, postgres, restart = scene
    chance = random.Random(2026)  # noqa: S311
    (idle := tmp_path / "idle").mkdir()
    addresses = [postgres.address(postgres.new_database()) for _ in range(2)]
    settings = settings_for(home, server.url)
    ends: list[tuple[int, str]] = []
    with opened(addresses[0]) as queue, opened(addresses[1]):
        for number in range(100):
            queue.put(order_of(question(number), settings))
        with (
            fleet(addresses[0], home, 2, concurrency=3, forked=True) as busy,
            fleet(addresses[1], idle, 2, concurrency=3, forked=True) as resting,
        ):
            for _ in range(30):
                until(lambda: busy.ready() == resting.ready() == 2, 10 * PATIENCE)
                time.sleep(chance.uniform(0.0, 3.0))
                away = threading.Thread(target=restart, args=(chance.choice((0.0, 0.5, 1.5, 3.0)),))
                away.start()
                time.sleep(chance.uniform(0.0, 3.0))
                ends += [busy.relieve(), resting.relieve()]
                away.join()
            until(lambda: busy.ready() == resting.ready() == 2, 10 * PATIENCE)
            left = queue.owners()[""]
            for waiting in queue.waiting():
                queue.cancel(waiting.run)
    bad = [end for end in ends if end[0] != 0]
    with capsys.disabled():
        sys.stdout.write(
            f"\nPostgreSQL restarted 30 times, workers drained meanwhile {len(ends)}, ended with "
            f"another code than 0: {len(bad)}; of 100 runs {100 - left.waiting - left.running} "
            "ended\n"
        )
    assert bad == []
