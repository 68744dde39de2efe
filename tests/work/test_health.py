"""How a worker is, over HTTP."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from deepdiver.core.settings import Settings
from deepdiver.errors import StoreError, UsageError
from deepdiver.run.lease import LEASE_SECONDS
from deepdiver.store.sqlite import open_memory
from deepdiver.work import Crew, Queue, open_queue
from deepdiver.work.health import SILENCE_SECONDS, is_healthy, is_ready, metrics, serving
from deepdiver.work.order import Order
from tests.patience import PATIENCE

LINE = re.compile(r'deepdiver_[a-z_]+(\{[a-z]+="[^"]*"\})? [-0-9.e+]+')


@pytest.fixture
def local() -> Iterator[Queue]:
    with closing(open_memory()) as store:
        yield open_queue(store)


@pytest.fixture
async def crew(local: Queue) -> Crew:
    made = Crew(local, Settings(), concurrency=3)
    made.heard = time.monotonic()
    return made


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def test_a_place_that_is_taken_is_named(crew: Crew, local: Queue) -> None:
    with (
        serving(crew, local, "127.0.0.1", 0) as port,
        pytest.raises(UsageError, match=f"cannot listen at 127.0.0.1:{port} "),
        serving(crew, local, "127.0.0.1", port),
    ):
        raise AssertionError("two listen at one place")


async def test_it_answers_what_a_supervisor_asks(crew: Crew, local: Queue) -> None:
    with serving(crew, local, "127.0.0.1", 0) as port:
        assert get(port, "/healthz") == (200, "ok\n")
        assert get(port, "/readyz?verbose") == (200, "ok\n")
        assert get(port, "/metrics")[0] == 200
        assert get(port, "/")[0] == 404
        await crew.drain()
        assert get(port, "/readyz") == (503, "no\n")
        assert get(port, "/healthz") == (200, "ok\n")
    with pytest.raises(OSError, match="refused"):
        get(port, "/healthz")


async def test_a_worker_that_does_not_hear_from_its_queue_is_neither(crew: Crew) -> None:
    assert is_ready(crew)
    crew.heard = time.monotonic() - LEASE_SECONDS - 1
    assert not is_ready(crew)
    assert is_healthy(crew)
    crew.heard = time.monotonic() - SILENCE_SECONDS - 1
    assert not is_healthy(crew)


async def test_metrics_are_what_prometheus_reads(crew: Crew, local: Queue) -> None:
    for owner in ("ann", "ann", "bob"):
        local.put(Order(question="Who are they?", owner=owner))
    local.hire("w").take()
    crew.counts.update(taken=7, taken_over=2, ended=4, ended_answered=3, ended_failed=1)
    crew.waited = [float(number) for number in range(100)]
    told = metrics(crew, local)
    lines = told.splitlines()
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line), line
    for line in (
        "deepdiver_worker_slots 3",
        "deepdiver_worker_runs 0",
        "deepdiver_worker_draining 0",
        "deepdiver_orders_taken_total 7",
        "deepdiver_orders_taken_over_total 2",
        "deepdiver_orders_given_back_total 0",
        'deepdiver_runs_ended_total{status="answered"} 3',
        'deepdiver_runs_ended_total{status="failed"} 1',
        'deepdiver_order_wait_seconds{quantile="0.5"} 50',
        'deepdiver_order_wait_seconds{quantile="0.95"} 95',
        "deepdiver_queue_waiting 2",
        "deepdiver_queue_running 1",
        "deepdiver_queue_owners 2",
    ):
        assert line in lines, line
    named = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(named) == len(set(named))
    assert not any(word in told for word in ("ann", "bob", "Who"))


async def test_what_is_known_is_told_while_the_queue_is_away(
    crew: Crew, local: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise StoreError("away")

    monkeypatch.setattr(local, "owners", refuse)
    told = metrics(crew, local)
    assert "deepdiver_worker_slots 3" in told
    assert "deepdiver_queue_waiting" not in told
