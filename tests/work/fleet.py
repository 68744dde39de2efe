"""Several workers as processes on one PostgreSQL, a scripted model, and what became of the runs."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pydantic import SecretStr

from deepdiver.core.record import FINISHED, Report
from deepdiver.core.settings import Settings, load
from deepdiver.store import CallState, Store
from deepdiver.store.postgres import open_postgres
from deepdiver.work import Queue, open_queue
from tests.work.forked import run as run_worker

AS_OF = "2026-11-15"
SUBJECTS = (
    *("northern ferry", "harbour crane", "salt barn", "mill race", "glass works", "tram depot"),
    *("fish market", "rope walk", "signal tower", "dry dock", "grain store", "lime kiln"),
    *("toll bridge", "ice house", "coal pier", "paper mill", "bath house", "clock maker"),
)
KEPT = ("PATH", "HOME", "LANG", "PYTHONPATH")
"""What a worker gets of our environment."""
MODEL = "openai:gpt-5-mini"
"""The model of the runs."""
CONCURRENT = 8
"""Calls to the model at a time, whatever the number of workers."""
RATE = 3
"""Calls to the model in a second, for all workers together. Eight at a time that take 2 s each
would be 4 in a second, so this is what holds them back."""
BUDGET = Decimal("0.50")
"""What a run may cost."""


def question(number: int) -> str:
    """Return a question; no two of them are alike."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    return f"What is recorded about the {subject} permits of year {1900 + number}?"


def settings_for(home: Path, url: str) -> Settings:
    """Return the settings of runs over a scripted server."""
    flags = {
        "home": home,
        "as_of": AS_OF,
        "strategy": "popper",
        "budget": str(BUDGET),
        "model": MODEL,
        "search": ["tavily"],
        "urls": {"openai": f"{url}/v1", "tavily": url},
        "keys": {"openai": "a-scripted-key", "tavily": "a-scripted-key"},
        "limits": {
            MODEL: {"rate": RATE, "per": 1, "concurrent": CONCURRENT},
            "tavily": {"rate": 1000, "concurrent": 64},
        },
    }
    return load(flags, environ={}, folder=home, user_file=home / "none.toml")


class Forked:
    """A worker that is forked, with the methods of `subprocess.Popen` that are used here."""

    def __init__(self, words: list[str], environ: dict[str, str], file: Path) -> None:
        """Start it."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.work.forked"])
        self._process = context.Process(target=run_worker, args=(words, environ, file))
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        """Return the exit code of a process that has ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code."""
        self._process.join(timeout)
        assert self._process.exitcode is not None, "it has not ended"
        return self._process.exitcode

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)


@dataclass
class Fleet:
    """Workers that are processes of their own, some of which are killed."""

    address: str
    """The database."""
    home: Path
    """Where they write files."""
    concurrency: int = 4
    """Runs of each at a time."""
    processes: list[subprocess.Popen[bytes] | Forked] = field(default_factory=list)
    """Those that run."""
    kills: list[float] = field(default_factory=list)
    """When one was killed."""
    started: int = 0
    """How many were started."""
    relieved: int = 0
    """How many were drained, and followed by another."""
    forked: bool = False
    """Whether workers are forked from a process that has imported everything, so that on a busy
    machine, too, one is ready at once. Else each is a program of its own."""

    def start(self) -> None:
        """Start a worker, which is ready after some seconds."""
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        environ = {
            **kept,
            "DEEPDIVER_DATABASE": self.address,
            "DEEPDIVER_HOME": str(self.home),
            "OPENAI_API_KEY": "a-scripted-key",
            "TAVILY_API_KEY": "a-scripted-key",
            "LANGSMITH_TRACING": "false",
        }
        words = ["worker", "--concurrency", str(self.concurrency), "--no-health"]
        file = self.home / f"worker{self.started}.log"
        self.started += 1
        if self.forked:
            self.processes.append(Forked(words, environ, file))
            return
        with file.open("wb") as log:
            command = [sys.executable, "-m", "deepdiver", *words]
            made = subprocess.Popen(command, env=environ, stderr=log, stdout=log)
        self.processes.append(made)

    def ready(self) -> int:
        """Return how many workers have said that they take orders."""
        said = [file.read_bytes() for file in self.home.glob("worker*.log")]
        return sum(b"at a time" in text for text in said) - len(self.kills) - self.relieved

    def kill(self) -> float:
        """Kill the oldest worker, and start another one; return when the first was dead."""
        oldest = self.processes.pop(0)
        oldest.kill()
        oldest.wait()
        died = time.time()
        self.kills.append(died)
        self.start()
        return died

    def relieve(self) -> tuple[int, str]:
        """Drain the oldest worker, and start another one; return its exit code, and what it said.

        One that has ended by itself is followed as well.
        """
        said, oldest = self.said(), self.processes.pop(0)
        if oldest.poll() is None:
            oldest.send_signal(signal.SIGTERM)
        code = oldest.wait(300)
        self.relieved += 1
        self.start()
        return code, said

    def end(self) -> list[int]:
        """Drain all workers, and return their exit codes."""
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        return [process.wait(120) for process in self.processes]

    def said(self) -> str:
        """Return the last lines of the workers that still run, or have ended by themselves."""
        logs = [
            self.home / f"worker{self.started - n}.log" for n in range(len(self.processes), 0, -1)
        ]
        return "\n".join(log.read_text(encoding="utf-8", errors="replace")[-2_000:] for log in logs)

    def memory(self) -> list[int]:
        """Return the bytes that each worker occupies."""
        return [psutil.Process(process.pid).memory_info().rss for process in self.processes]


@contextmanager
def fleet(
    address: str, home: Path, size: int, concurrency: int = 4, *, forked: bool = False
) -> Iterator[Fleet]:
    """Start workers, and drain them."""
    made = Fleet(address, home, concurrency, forked=forked)
    try:
        for _ in range(size):
            made.start()
        yield made
        codes = made.end()
        assert codes == [0] * len(codes), f"{codes}: {made.said()}"
    finally:
        for process in made.processes:
            if process.poll() is None:
                process.kill()
                process.wait()


@contextmanager
def opened(address: str) -> Iterator[Queue]:
    """Open the queue of a database."""
    with closing(open_postgres(SecretStr(address))) as store:
        yield open_queue(store)


@dataclass
class Takeovers:
    """How long it takes until somebody goes on with the runs of a worker that was killed.

    That is the time from the death of the worker that had a run to the first event of the run on
    record afterwards, which is the first step of the next worker. If that one is killed before its
    first step, the time counts from its own death.
    """

    address: str
    """The database."""
    lost: dict[str, list[float]] = field(default_factory=dict)
    """When the worker that had a run was killed, for each run."""

    def held_by(self, process: int) -> list[str]:
        """Return the runs that a worker works on."""
        query = (
            "SELECT run FROM deepdiver.orders JOIN deepdiver.runs ON id = run "
            "WHERE state = 'taken' AND status = 'running' AND split_part(worker, ':', 2) = %s"
        )
        with psycopg.connect(self.address, connect_timeout=10) as db:
            return [str(row[0]) for row in db.execute(query, (str(process),)).fetchall()]

    def note(self, runs: list[str], died: float) -> None:
        """Note a death and the runs that the dead worker had."""
        for run in runs:
            self.lost.setdefault(run, []).append(died)

    def seconds(self, store: Store) -> list[float]:
        """Return how long each took; a run whose worker has ended it all the same is left out."""
        found = []
        for run, deaths in self.lost.items():
            steps = sorted(_time_of(text) for _, text in store.records.events(run))
            for died, next_death in zip(deaths, [*deaths[1:], float("inf")], strict=True):
                first = next((step for step in steps if step > died), None)
                if first is not None and first < next_death:
                    found.append(first - died)
        return sorted(found)


def _time_of(event: str) -> float:
    return datetime.fromisoformat(json.loads(event)["at"]).timestamp()


def wait_for_all(queue: Queue, runs: list[str], seconds: float) -> None:
    """Wait until every run has its report, and its worker has said so."""
    ends = time.monotonic() + seconds
    while queue.owners() or any(queue.store.runs.get(run).status not in FINISHED for run in runs):
        assert time.monotonic() < ends, f"not all of {len(runs)} runs are finished"
        time.sleep(0.5)


def hashes(store: Store, runs: list[str]) -> list[str]:
    """Return the hashes of the reports."""
    texts = [store.records.report(run) for run in runs]
    return [Report.model_validate_json(text).hash if text else "" for text in texts]


@dataclass(frozen=True)
class Account:
    """What a number of runs have sent."""

    calls: int
    sends: int
    in_doubt: int


def account(store: Store, runs: list[str]) -> Account:
    """Add up the journals; see that nothing settled was sent again."""
    rows = [row for run in runs for row in store.journal.rows(run)]
    for row in rows:
        assert row.state is CallState.SETTLED, row
        cached = row.sends == 0
        assert cached or row.sends - 1 == row.uncertain, row
    return Account(len(rows), sum(row.sends for row in rows), sum(row.uncertain for row in rows))


def most_spent(store: Store, runs: list[str]) -> Decimal:
    """Return what the dearest run has cost, with every call that may have been answered."""
    return max(sum((row.cost for row in store.journal.rows(run)), Decimal(0)) for run in runs)


NOTE_GRANTS = """
CREATE TABLE public.grants (provider text, at double precision);
CREATE FUNCTION public.note_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.grants VALUES (NEW.provider, NEW.updated);
    RETURN NULL;
END $$;
CREATE TRIGGER note_grant AFTER INSERT OR UPDATE OF tokens ON deepdiver.buckets
    FOR EACH ROW WHEN (NEW.tokens IS NOT NULL) EXECUTE FUNCTION public.note_grant();
"""


def note_grants(address: str) -> None:
    """Have the database note when it allows a call, by its own clock."""
    with psycopg.connect(address, autocommit=True) as db:
        db.execute(NOTE_GRANTS)


def granted(address: str, provider: str) -> list[float]:
    """Return when calls to a provider were allowed, in order."""
    with psycopg.connect(address) as db:
        query = "SELECT at FROM public.grants WHERE provider = %s ORDER BY at"
        return [float(at) for (at,) in db.execute(query, (provider,)).fetchall()]


def model_calls(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls to the model that a server met."""
    return [entry for entry in log if entry["path"] == "/v1/chat/completions"]


def most_within(times: Sequence[float], seconds: float) -> int:
    """Return how many of some times in order are within some seconds, at most."""
    ends = (bisect_left(times, start + seconds) for start in times)
    return max(end - place for place, end in enumerate(ends))


def most_at_a_time(log: list[dict[str, Any]]) -> int:
    """Return how many calls to the model the server had at a time, at most."""
    calls = model_calls(log)
    steps = [(entry["started"], 1) for entry in calls]
    steps += [(entry["ended"], -1) for entry in calls if entry["ended"]]
    most = now = 0
    for _, step in sorted(steps):
        now += step
        most = max(most, now)
    return most
