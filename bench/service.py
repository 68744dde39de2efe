"""Fifty runs in work, five hundred in the queue and a thousand listeners, behind one service.

    python bench/service.py [sqlite | postgres | workers] [SECONDS]

The service is a process of its own, over a scripted model that takes 1 to 3 seconds for an answer.
With `sqlite` and `postgres` it works on the runs itself; with `workers` five worker processes of
ten runs each do, on PostgreSQL. Measured are how late its event loop is (each 10 ms) and how much
it has computed meanwhile, which other programs on the machine do not change; its memory; how long
an order and a page take; how long a run takes to stop; and what each of a thousand listeners of one
run gets. Reports are searched for the words of other runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
from pydantic import SecretStr

sys.path.insert(0, str(Path(__file__).parents[1]))

from deepdiver.core.settings import Limit, Settings
from deepdiver.http_listener import listen
from deepdiver.service.access import check_access
from deepdiver.service.app import build
from deepdiver.service.book import open_book
from deepdiver.service.server import keep_loaded
from deepdiver.service.state import accounts_of
from deepdiver.store import open_store
from deepdiver.work import open_queue, order_of
from tests.servers.apart import ServerApart
from tests.work.fleet import fleet, question, settings_for

RUNNING, QUEUED, LISTENERS, STOPPED, ORDERED = 50, 500, 1_000, 10, 20
TICK = 0.01
ENOUGH = 20
"""Events after which a listener has heard enough."""
FIRST = 1_000
"""The first question, so that years have four digits."""
RUNS = "/api/v1/runs"
FAST = Limit(rate=1_000, concurrent=200)
"""How fast the model may be called: that it may not be called faster is not measured here."""


# The service


def settings_of(home: Path, model: str, database: str) -> Settings:
    """Return the settings of the service."""
    return settings_for(home, model).model_copy(
        update={
            "limits": {"openai:gpt-5-mini": FAST, "tavily": FAST},
            "database": SecretStr(database) if database else None,
        }
    )


def fill_queue(settings: Settings) -> list[str]:
    """Put all orders, and return their runs."""
    with contextlib.closing(open_store(settings)) as store:
        queue = open_queue(store)
        asked = (question(FIRST + number) for number in range(RUNNING + QUEUED))
        return [queue.put(order_of(each, settings, owner="ada")) for each in asked]


def serve(home: Path, port: int, model: str, runs: int, database: str) -> None:
    """Serve until it is interrupted, then write down how late the loop was."""
    settings = settings_of(home, model, database)
    book = open_book(home, settings.database)
    accounts = accounts_of(book, settings)
    access = check_access("127.0.0.1", [], guarded=True, token=None)
    app, _ = build(settings, access, accounts, concurrency=runs)
    late: list[tuple[float, float, float]] = []
    keep_loaded()

    async def work() -> None:
        async def watch() -> None:
            while True:
                began, worked = time.perf_counter(), time.thread_time()
                await asyncio.sleep(TICK)
                now, own = time.perf_counter(), time.thread_time() - worked
                late.append((time.time(), now - began - TICK, own))

        watching = asyncio.create_task(watch())
        await listen(app, "127.0.0.1", port, lambda _: None, "/")
        watching.cancel()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(work())
    (home / "late.json").write_text(json.dumps(late))


@contextlib.contextmanager
def service(home: Path, model: str, runs: int, database: str) -> Iterator[tuple[str, int]]:
    """Start the service; gives its address and the id of its process."""
    port = 9_250
    words = ["--serve", str(home), str(port), model, str(runs), database]
    with (home / "service.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  ourselves
            [sys.executable, __file__, *words], stdout=log, stderr=log
        )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{address}/healthz").status_code == 200:
                    break
            time.sleep(0.1)
        yield address, process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)


# Listeners


async def hear(host: str, port: int, path: str, token: str, seconds: float) -> list[int]:
    """Return the numbers of the events that one listener gets."""
    reader, writer = await asyncio.open_connection(host, port)
    request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    writer.write(request.encode())
    numbers: list[int] = []
    with contextlib.suppress(TimeoutError, asyncio.IncompleteReadError, ConnectionError):
        async with asyncio.timeout(seconds):
            while line := await reader.readline():
                if line.startswith(b"id: "):
                    numbers.append(int(line[4:]))
                if len(numbers) >= ENOUGH:
                    break
    writer.close()
    return numbers


async def hear_all(address: str, run: str, token: str, seconds: float) -> list[list[int]]:
    """Listen to one run with all listeners at once."""
    host, _, port = address.removeprefix("http://").partition(":")
    path = f"{RUNS}/{run}/events"
    made = [hear(host, int(port), path, token, seconds) for _ in range(LISTENERS)]
    return await asyncio.gather(*made)


# Figures


def percentile(values: list[float], part: float) -> float:
    """Return a percentile of some values."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else 0.0


def told(name: str, *values: object) -> None:
    """Print a figure."""
    print(f"{name:<34} {'  '.join(map(str, values))}", flush=True)


def seconds_of(values: list[float]) -> str:
    """Return the middle, the 99th percentile and the worst of some durations."""
    middle, high, worst = (percentile(values, part) for part in (0.5, 0.99, 1.0))
    return f"p50 {middle * 1e3:.0f} ms  p99 {high * 1e3:.0f} ms  max {worst * 1e3:.0f} ms"


class Load:
    """What the clients of the service do, and what they see."""

    def __init__(self, address: str, token: str, process: int) -> None:
        """Talk to a service."""
        self._address, self._token = address, token
        headers = {"authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=address, headers=headers, timeout=120)
        self.process = psutil.Process(process)
        self.phases: list[tuple[str, float, float]] = []

    def status(self, run: str) -> str:
        """Return the status of a run."""
        return str(self.client.get(f"{RUNS}/{run}").json()["status"])

    def list_all(self) -> list[dict[str, Any]]:
        """Return all runs."""
        found: list[dict[str, Any]] = []
        page: dict[str, Any] = {"cursor": ""}
        while page["cursor"] or not found:
            asked = {"limit": 200, "cursor": page["cursor"]}
            page = self.client.get(RUNS, params=asked).json()
            found += page["runs"]
        return found

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Note when something began and ended."""
        began = time.time()
        yield
        self.phases.append((name, began, time.time()))

    def order(self) -> None:
        """Order some more runs, and say how long each order took."""
        took: list[float] = []
        with self.phase("ordering"):
            for number in range(ORDERED):
                began = time.perf_counter()
                asked = {"question": question(FIRST + RUNNING + QUEUED + number)}
                self.client.post(RUNS, json={**asked, "sources": ["web"]}).raise_for_status()
                took.append(time.perf_counter() - began)
        told("an order", seconds_of(took))

    def wait_until_busy(self) -> None:
        """Wait until as many runs are in work as may be."""
        ends = time.monotonic() + 120
        while time.monotonic() < ends:
            if sum(run["status"] == "running" for run in self.list_all()) >= RUNNING:
                return
            time.sleep(0.5)

    def watch(self, seconds: float) -> None:
        """Look on for a while, as people do."""
        took, most, busiest, ends = list[float](), 0, 0, time.monotonic() + seconds
        with self.phase("working"):
            while time.monotonic() < ends:
                began = time.perf_counter()
                listed = self.list_all()
                took.append(time.perf_counter() - began)
                count = Counter(run["status"] for run in listed)
                busiest = max(busiest, count["running"])
                most = max(most, self.process.memory_info().rss)
                time.sleep(2)
        told("in work at most, then", busiest, dict(count))
        told("listing all runs, by threes", seconds_of(took))
        told("memory of the service", f"{most / 1e6:.0f} MB")

    def stop_some(self) -> None:
        """Stop runs in work, and say how long that took."""
        took: list[float] = []
        with self.phase("stopping"):
            working = [run["id"] for run in self.list_all() if run["status"] == "running"]
            for run in working[:STOPPED]:
                began = time.perf_counter()
                self.client.post(f"{RUNS}/{run}/stop").raise_for_status()
                while self.status(run) == "running" and time.perf_counter() - began < 60:
                    time.sleep(0.02)
                took.append(time.perf_counter() - began)
        told("a run stops in", seconds_of(took))

    def listen(self, seconds: float) -> None:
        """Listen to one run with a thousand listeners."""
        newest = next(run["id"] for run in self.list_all() if run["status"] == "running")
        began, held = time.perf_counter(), self.process.memory_info().rss
        with self.phase("listening"):
            got = asyncio.run(hear_all(self._address, newest, self._token, seconds))
        each = {tuple(numbers) for numbers in got}
        whole = sum(
            numbers == list(range(1, len(numbers) + 1)) and bool(numbers) for numbers in got
        )
        counts = sorted(len(numbers) for numbers in got)
        told("listeners with each event once", f"{whole} of {LISTENERS}")
        told("events each, fewest and most", counts[0], counts[-1], f"({len(each)} lengths)")
        grown = (self.process.memory_info().rss - held) / 1e6
        told(
            "memory grew while listening by",
            f"{grown:.0f} MB in {time.perf_counter() - began:.0f} s",
        )

    def crossings(self, made: list[str]) -> None:
        """Search the reports for what belongs to other runs."""
        ended = {run["id"] for run in self.list_all() if run["finished"]}
        crossed = checked = 0
        for number, run in enumerate(made):
            if run not in ended:
                continue
            text = self.client.get(f"{RUNS}/{run}/report?format=json").text
            named = set(re.findall(r"of year (\d{4})", text))
            checked += 1
            crossed += named != {str(1900 + FIRST + number)}
        told("reports with another run's words", f"{crossed} of {checked}")


def main(kind: str, seconds: float) -> None:
    """Measure."""
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="serve-bench-")))
        database = ""
        if kind != "sqlite":
            from tests.postgres_server import running

            server = stack.enter_context(running())
            database = server.address(server.new_database())
        model = stack.enter_context(ServerApart(delay=1.0, spread=2.0, rounds=1))
        settings = settings_of(home, model.url, database)
        with contextlib.closing(open_book(home, settings.database)) as book:
            token = accounts_of(book, settings).add("ada", runs=1_000)
        made = fill_queue(settings)
        own = 0 if kind == "workers" else RUNNING
        where, process = stack.enter_context(service(home, model.url, own, database))
        if kind == "workers":
            stack.enter_context(fleet(database, home, 5, RUNNING // 5))
        load = Load(where, token, process)
        told("kind", kind, f"{RUNNING} at a time, {RUNNING + QUEUED} ordered, {seconds:.0f} s")
        load.wait_until_busy()
        load.watch(seconds)
        load.order()
        load.stop_some()
        load.listen(60)
        load.crossings(made)
        psutil.Process(process).send_signal(signal.SIGINT)
        while not (home / "late.json").exists():
            time.sleep(0.2)
        late = json.loads((home / "late.json").read_text())
        for name, begin, end in load.phases:
            within = [(by, own) for at, by, own in late if begin <= at <= end]
            told(f"event loop late, {name}", seconds_of([by for by, _ in within]))
            told("  and its own work meanwhile", seconds_of([own for _, own in within]))


if __name__ == "__main__":
    if "--serve" in sys.argv:
        _, _, home_, port_, model_, runs_, *rest = sys.argv
        serve(Path(home_), int(port_), model_, int(runs_), rest[0] if rest else "")
    else:
        main(
            sys.argv[1] if len(sys.argv) > 1 else "sqlite",
            float(sys.argv[2]) if len(sys.argv) > 2 else 120.0,
        )
