"""`deepdiver runs`, `show`, `stop` and `delete`."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.report.removal import FILES
from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import (
    KEYS,
    QUESTION,
    Said,
    Say,
    complaint,
    leave_free,
    runs,
    unfinished,
)
from tests.patience import PATIENCE
from tests.terminal import Terminal, started, wait_for_line
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")


def test_files_that_do_not_fit_can_be_written_again(
    say: Say, small_disk: Path, finished: str, tmp_path: Path
) -> None:
    leave_free(small_disk, 4_096)
    said = say("show", finished, "--out", str(small_disk / "out"))
    assert f"deepdiver show {finished} --out DIR" in complaint(said)
    assert said.code == 1
    assert say("show", finished, "--out", str(tmp_path / "elsewhere")).code == 0
    assert sorted(os.listdir(tmp_path / "elsewhere")) == sorted(FILES)


def test_runs(say: Say, home: Path, finished: str) -> None:
    unfinished(home)
    said = say("runs")
    assert said.code == 0
    rows = [line.split(maxsplit=2) for line in said.out.splitlines()]
    assert {tuple(row) for row in rows} == {
        ("20261115-x-1", "stopped", QUESTION),
        (finished, "answered", QUESTION),
    }
    told = json.loads(say("runs", "--json").out)
    assert {row["id"] for row in told["runs"]} == {"20261115-x-1", finished}


def test_no_runs_yet(say: Say) -> None:
    said = say("runs")
    assert (said.code, said.out) == (0, "")
    assert "there are no runs yet" in said.err
    assert json.loads(say("runs", "--json").out) == {"runs": []}


def test_show(say: Say, home: Path, finished: str, tmp_path: Path) -> None:
    report = say("show", finished).out
    file = (home / "runs" / finished / "report.md").read_text()
    evidence = (home / "runs" / finished / "evidence.md").read_text()
    assert report.partition("\n## Evidence view")[0] == file.partition("\n---\n")[0]
    assert report.partition("\n### ")[2] == evidence.partition("\n### ")[2]
    assert say("show", finished) == Said(0, report, "")
    assert say("show", finished[:-2]).out == report
    told = json.loads(say("show", finished, "--json").out)
    assert list(told) == KEYS
    assert (told["id"], told["report"]) == (finished, report)
    again = say("show", finished, "--out", str(tmp_path / "again"))
    assert again.err == f"files in {tmp_path / 'again'}\n"
    for name in FILES:
        new, old = (
            (folder / name).read_text() for folder in (tmp_path / "again", home / "runs" / finished)
        )
        # The order of the settings may differ.
        assert new == old or json.loads(new) == json.loads(old)


def test_show_a_run_that_is_not_finished(say: Say, home: Path) -> None:
    name = unfinished(home)
    said = say("show", name)
    assert said.code == 2
    assert (
        complaint(said)
        == f"run {name} is stopped and has no report yet; continue with: deepdiver resume {name}"
    )
    assert json.loads(say("show", name, "--json").out)["status"] == "stopped"


def test_delete(say: Say, home: Path, finished: str) -> None:
    refused = say("delete", finished)
    assert (refused.code, complaint(refused)) == (
        2,
        "cannot ask for confirmation, there is no terminal: add --yes",
    )
    folder = home / "runs" / finished
    assert folder.exists()
    said = say("delete", finished, "--yes")
    assert said == Said(0, "", f"run {finished} was deleted\n")
    assert runs(home) == []
    assert not folder.exists()


def test_delete_leaves_what_is_not_ours(say: Say, home: Path, finished: str) -> None:
    notes = home / "runs" / finished / "my-notes.txt"
    notes.write_text("mine")
    assert json.loads(say("delete", finished, "--yes", "--json").out) == {
        "id": finished,
        "deleted": True,
    }
    assert os.listdir(notes.parent) == ["my-notes.txt"]


# Other processes


@pytest.mark.slow
@pytest.mark.usefixtures("hanging")
def test_two_processes_and_one_run(say: Say, home: Path, warm: Warm) -> None:
    with started(
        "--search", "searxng", "--verbose", "--json", QUESTION, program=warm.command
    ) as first:
        wait_for_line(first, "sent: search searxng")
        (running,) = runs(home)
        second = say("resume", running.id)
        assert second.code == 1
        assert f"run {running.id} is being worked on by " in complaint(second)
        gone = say("delete", running.id, "--yes")
        assert gone.code == 1
        assert "is being worked on by" in complaint(gone)
        stopped = say("stop", running.id)
        assert stopped == Said(
            0, "", f"run {running.id} is stopped: continue with: deepdiver resume {running.id}\n"
        )
        out, err = first.communicate(timeout=PATIENCE)
    assert first.returncode == 130
    assert json.loads(out)["status"] == "stopped"
    assert err.splitlines()[-1] == (
        f"deepdiver: run {running.id} stopped: it was asked to stop; continue with: deepdiver "
        f"resume {running.id}"
    )


def test_stop_where_nobody_works(say: Say, home: Path, finished: str) -> None:
    said = say("stop", finished)
    assert said == Said(
        0, "", f"run {finished} is answered: no process was working on it; it is finished\n"
    )
    died = unfinished(home, RunStatus.RUNNING)
    said = say("stop", died, "--json")
    assert json.loads(said.out) == {"id": died, "status": "stopped", "was_running": False}


def test_stop_where_nobody_listens(say: Say, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepdiver.cli.commands.runs.STOP_SECONDS", 0.3)
    name = unfinished(home, RunStatus.RUNNING)
    with closing(open_sqlite(home)) as store:
        store.leases.take(name, "elsewhere:1:a", time.time(), 30)
        said = say("stop", name)
        assert store.leases.asked_to_stop(name)
    assert said.code == 1
    assert f"run {name} was asked to stop but is still running" in complaint(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "left"),
    [("y\n", 0), ("\n", 1), ("n\n", 1), ("\x04", 1)],
    ids=["y", "enter", "n", "ctrl-d"],
)
def test_delete_asks_a_person(home: Path, finished: str, typed: str, left: int, warm: Warm) -> None:
    with Terminal("delete", finished, program=warm.command) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.type(typed)
        assert terminal.leave() == 0
    assert len(runs(home)) == left
