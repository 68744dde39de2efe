"""`deepdiver worker`: what is refused, what it does, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver import store
from deepdiver.cli.commands import worker as command
from deepdiver.core.record import FINISHED, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import StoreUnreachableError
from deepdiver.store import Store
from deepdiver.store.sqlite import open_sqlite
from deepdiver.work import open_queue
from deepdiver.work.local import LocalQueue
from deepdiver.work.queue import Worker
from tests.cli.command_line import QUESTION, SMALL, Say, complaint, runs
from tests.patience import PATIENCE
from tests.processes import until


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--concurrency", "0"], "a worker works on one run at a time at least"),
        (["--concurrency", "201"], "expected a number of runs from 0 to 200"),
        (["--concurrency", "many"], "expected a number of runs"),
        (["--health", "here"], "expected [HOST:]PORT"),
        (["--health", "127.0.0.1:70000"], "expected [HOST:]PORT"),
        (["--health", "127.0.0.1:99999999"], "expected [HOST:]PORT"),
        (["RUN"], "takes no argument"),
        (["--database", "nonsense"], "not an address that can be read"),
    ],
    ids=" ".join,
)
def test_it_is_refused(say: Say, home: Path, words: list[str], told: str) -> None:
    said = say("worker", *words)
    assert said.code == 2
    assert told in complaint(said)


def test_a_question_is_queued_and_a_worker_answers_it(say: Say, home: Path) -> None:
    said = say(QUESTION, *SMALL, "--queue", "--owner", "ann", "--priority", "-3")
    assert said.code == 0
    run = said.out.strip()
    assert "it waits for a worker" in said.err
    assert runs(home)[0].status is RunStatus.QUEUED
    with closing(open_sqlite(home)) as opened:
        (item,) = open_queue(opened).waiting()
    assert (item.run, item.owner, item.priority) == (run, "ann", -3)
    said = say("show", run)
    assert said.code == 2
    assert "is queued and has no report yet" in complaint(said)
    said = say("worker", "--once", "--no-health", "--concurrency", "1")
    assert (said.code, said.out) == (0, "")
    assert "ended 1 run, gave back 0" in said.err
    assert runs(home)[0].status in FINISHED
    assert say("show", run).code == 0
    assert (home / "runs" / run / "report.md").is_file()


def test_what_is_queued_is_told_as_json_and_can_be_stopped(say: Say, home: Path) -> None:
    said = say(QUESTION, *SMALL, "--queue", "--json")
    told = json.loads(said.out)
    assert told["status"] == "queued"
    said = say("stop", told["id"])
    assert said.code == 0
    assert "is stopped" in said.err
    said = say("worker", "--once", "--quiet", "--no-health")
    assert (said.code, said.err) == (0, "")
    assert runs(home)[0].status is RunStatus.STOPPED


def test_what_a_worker_writes_cannot_be_chosen_by_who_asks(
    say: Say, home: Path, tmp_path: Path
) -> None:
    said = say(QUESTION, *SMALL, "--queue", "--out", str(tmp_path / "out"))
    assert said.code == 2
    assert "--out and --queue exclude each other" in complaint(said)


def test_a_database_that_is_away_at_the_start_is_waited_for(
    say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, tries = store.open_store, [1, 2, 3]

    def away(settings: Settings) -> Store:
        if tries:
            tries.pop()
            raise StoreUnreachableError("the server is away")
        return real(settings)

    monkeypatch.setattr(store, "open_store", away)
    monkeypatch.setattr(command, "RETRY_SECONDS", 0.01)
    said = say("worker", "--once", "--no-health", "--quiet")
    assert (said.code, tries) == (0, [])
    assert said.err == "deepdiver: the server is away; waiting for it\n"


def test_one_that_is_stopped_while_it_starts_gives_back_what_it_took(
    say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(QUESTION, *SMALL, "--queue")
    hire = LocalQueue.hire

    def stopped(queue: LocalQueue, name: str) -> Worker:
        os.kill(os.getpid(), signal.SIGTERM)
        return hire(queue, name)

    monkeypatch.setattr(LocalQueue, "hire", stopped)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        said = say("worker", "--no-health", "--no-watch")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert said.code == 0
    assert runs(home)[0].status in FINISHED | {RunStatus.QUEUED}


@pytest.mark.slow
def test_it_is_drained_by_sigterm_and_tells_how_it_is(say: Say, home: Path) -> None:
    said = say(QUESTION, *SMALL, "--queue")
    run = said.out.strip()
    process = subprocess.Popen(
        [sys.executable, "-m", "deepdiver", "worker", "--health", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert "4 runs at a time; health at 127.0.0.1:" in first
        port = first.partition("127.0.0.1:")[2].partition(";")[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as reply:
            assert b"deepdiver_worker_slots 4" in reply.read()
        until(lambda: runs(home)[0].status is not RunStatus.QUEUED)
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    finally:
        guard.cancel()
        process.kill()
        process.communicate()
    assert "worker " in rest
    (left,) = runs(home)
    assert left.id == run
    # It had come so far, or it waits again: nothing is lost.
    assert left.status in FINISHED | {RunStatus.QUEUED}
