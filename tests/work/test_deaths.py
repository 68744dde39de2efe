"""Workers that die are followed by others: every run finishes once, with the same report.

The short form kills one of two workers once. The proof kills one of three every ten seconds for
three minutes, and restarts PostgreSQL in the middle.
"""

from __future__ import annotations

import asyncio
import sys
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
    CONCURRENT,
    Takeovers,
    account,
    fleet,
    hashes,
    most_at_a_time,
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


@pytest.mark.slow
def test_a_worker_that_is_killed_is_followed_by_another(
    postgres: Server, database: str, home: Path
) -> None:
    address = postgres.address(database)
    with ServerApart(delay=0.3) as server, opened(address) as queue:
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
        runs = [queue.put(order_of(text, settings)) for text in texts]
        began = time.monotonic()
        # Three that work, with places for all runs, and others on their way: what is measured is
        # neither how busy they are nor how long one takes to start.
        with fleet(address, home, 5, concurrency=9) as workers:
            until(lambda: workers.ready() == 5, 10 * PATIENCE)
            began = time.monotonic()
            seen = Takeovers(address, workers)
            seen.start()
            restarted, fewest = 0.0, 5
            while (passed := time.monotonic() - began) < 180:
                time.sleep(10)
                fewest = min(fewest, workers.ready())
                workers.kill()
                if not restarted and passed > 80:
                    restarted = time.monotonic()
                    restart(5.0)
                    restarted = time.monotonic() - restarted
            wait_for_all(queue, runs, 900)
            took, takeovers = time.monotonic() - began, seen.end()
        told, log = account(queue.store, runs), server.log()[before:]
        with capsys.disabled():
            middle = f"{takeovers[len(takeovers) // 2]:.1f} s" if takeovers else "none"
            slowest = f"{takeovers[-1]:.1f} s" if takeovers else "none"
            sys.stdout.write(
                f"\nworkers killed {len(workers.kills)} in 180 s, {fewest} ready at least, "
                "PostgreSQL away once for "
                f"{restarted:.1f} s; {len(runs)} runs finished in {took:.0f} s, other reports "
                f"{sum(a != b for a, b in zip(hashes(queue.store, runs), expected, strict=True))}, "
                f"calls {told.calls}, sent {told.sends}, in doubt {told.in_doubt}, settled calls "
                f"repeated 0, runs taken over {len(takeovers)}, after {middle} in the middle and "
                f"{slowest} at most, model "
                f"calls at a time {most_at_a_time(log)} of {CONCURRENT}\n"
            )
        assert hashes(queue.store, runs) == expected
        assert most_at_a_time(log) <= CONCURRENT
        assert takeovers
        assert takeovers[-1] < 30
        assert queue.owners() == {}
