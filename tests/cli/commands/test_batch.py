"""`deepdiver batch`: what is refused, what is printed where, and that it goes on."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from deepdiver import sample
from deepdiver.cli.commands import batch as command
from deepdiver.core.record import FINISHED, RunStatus
from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import QUESTION, SMALL, Say, complaint, runs
from tests.patience import PATIENCE

OTHER = "Who signed the annual report of Svedjan Ost AB?"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "questions.jsonl"
    asked = [{"question": QUESTION, "id": "cheese"}, {"question": OTHER, "length": "brief"}]
    made.write_text("".join(json.dumps(one) + "\n" for one in asked), encoding="utf-8")
    return made


def results(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing.jsonl"], "cannot be read"),
        ([], "FILE"),
        (["x", "--priority", "101"], "expected a number from -100 to 100"),
        (["x", "--priority", "high"], "expected a number from -100 to 100"),
        (["x", "--concurrency", "500"], "expected a number of runs from 0 to 200"),
    ],
    ids=" ".join,
)
def test_it_is_refused(say: Say, home: Path, words: list[str], told: str) -> None:
    said = say("batch", *words)
    assert said.code == 2
    assert told in complaint(said)


def test_a_folder_that_does_not_exist_is_refused_before_anything_is_queued(
    say: Say, home: Path, file: Path
) -> None:
    said = say("batch", str(file), "--in", "/no/such/folder")
    assert said.code == 2
    assert runs(home) == []


def test_questions_are_answered_and_their_results_collected(
    say: Say, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(command, "SAVE_SECONDS", 0.2)
    said = say("batch", str(file), *SMALL)
    assert (said.code, said.out) == (0, "")
    out = file.with_name("questions.results.jsonl")
    assert "2 questions: " in said.err
    assert str(out) in said.err
    assert "of 2 have ended" in said.err
    first, second = results(out)
    assert (first["line"], first["id"], first["question"]) == (1, "cheese", QUESTION)
    assert second["line"] == 2
    assert first["status"] == "answered"
    assert first["answer"]
    assert {run.id for run in runs(home)} == {first["run"], second["run"]}
    again = say("batch", str(file), *SMALL, "--quiet")
    assert (again.code, again.err) == (0, "")
    assert results(out) == [first, second]
    assert len(runs(home)) == 2


def test_a_run_without_a_report_is_told_by_the_exit_code(
    say: Say, home: Path, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "here.jsonl"
    said = say("batch", str(file), "--search", "tavily", "--out", str(out), "--name", "n")
    assert said.code == command.FAILED
    assert [result["status"] for result in results(out)] == ["failed", "failed"]
    assert "tavily" in results(out)[0]["error"]


def kill_twice(say: Say, home: Path, folder: Path, texts: list[str], *words: str) -> str:
    """Kill a batch at a third and at two thirds, let it be completed, and return what it said."""
    file = folder / "many.jsonl"
    file.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
    line = [sys.executable, "-m", "deepdiver", "batch", str(file), *SMALL, *words, "--quiet"]
    for wanted in (len(texts) // 3, 2 * len(texts) // 3):
        process = subprocess.Popen(line)
        while done(home) < wanted:
            assert process.poll() is None
            time.sleep(0.1)
        process.kill()
        assert process.wait(PATIENCE) == -signal.SIGKILL
    said = say("batch", str(file), *SMALL, *words)
    assert said.code == 0
    told = results(folder / "many.results.jsonl")
    assert [result["question"] for result in told] == texts
    assert all(result["status"] in {status.value for status in FINISHED} for result in told)
    held = runs(home)
    assert len(held) == len(texts)
    assert {run.id for run in held} == {result["run"] for result in told}
    return said.err


@pytest.mark.waits
@pytest.mark.slow
def test_a_batch_that_is_killed_twice_is_completed_and_nothing_is_asked_twice(
    say: Say, home: Path, tmp_path: Path
) -> None:
    kill_twice(say, home, tmp_path, [f"{QUESTION} ({number})" for number in range(6)])


@pytest.mark.proof
def test_a_batch_of_a_thousand_that_is_killed_twice(
    say: Say, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [question.text for question in sample.questions()]
    texts = [f"{asked[number % len(asked)]} ({number})" for number in range(1_000)]
    began = time.monotonic()
    told = kill_twice(say, home, tmp_path, texts, "--max-iterations", "1", "--concurrency", "2")
    with closing(open_sqlite(home)) as store:
        calls = [row for run in store.runs.list_all() for row in store.journal.rows(run.id)]
    again = [row for row in calls if row.sends - 1 > row.uncertain]
    took = time.monotonic() - began
    with capsys.disabled():
        sys.stdout.write(
            f"\n{told.splitlines()[-1]}\nkilled twice, {took:.0f} s, calls {len(calls)}, settled "
            f"calls repeated {len(again)}\n"
        )
    assert again == []


def done(home: Path) -> int:
    file = home / "deepdiver.db"
    if not file.exists():
        return 0
    states = ", ".join(f"'{status.value}'" for status in FINISHED)
    with closing(sqlite3.connect(file)) as db, suppress(sqlite3.OperationalError):
        query = f"SELECT count(*) FROM runs WHERE status IN ({states})"  # noqa: S608
        return int(db.execute(query).fetchone()[0])
    return 0


def test_a_batch_that_is_stopped_says_how_to_go_on(
    say: Say, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    async def stop(*_: Any) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(command, "_work", stop)
    said = say("batch", str(file), *SMALL)
    assert said.code == 130
    assert "the same command goes on" in complaint(said)
    assert RunStatus.QUEUED not in {run.status for run in runs(home)}
