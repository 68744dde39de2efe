"""The command line as a whole: bad input, bugs of our own, help."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import deepdiver.run
from deepdiver import __version__
from deepdiver.cli.commands import COMMANDS
from deepdiver.core.events import RunStarted
from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import (
    QUESTION,
    Said,
    Say,
    complaint,
    leave_free,
    runs,
)
from tests.terminal import COMMAND, run

pytestmark = pytest.mark.usefixtures("read_once")


# Bad input


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "required: QUESTION (see deepdiver --help)"),
        (["--sample", ""], 2, "the question is empty"),
        (["--sample", " \n\t "], 2, "the question is empty"),
        (["--sample", "x" * 1_000_000], 2, "the question has 1,000,000 characters"),
        (
            ["--sample", QUESTION, "--strategy", "poper"],
            2,
            "unknown strategy 'poper'; did you mean popper?",
        ),
        (
            ["--sample", QUESTION, "--search", "tavly"],
            2,
            "unknown search provider 'tavly'; did you mean tavily?",
        ),
        (["--sample", QUESTION, "--search", "tavily"], 2, "set TAVILY_API_KEY"),
        (["--sample", QUESTION, "--model", "opnai:gpt-5"], 2, "did you mean openai:gpt-5?"),
        (["--sample", QUESTION, "--model", "gpt-5"], 2, "write PROVIDER:MODEL"),
        (["--sample", QUESTION, "--fast-model", "opnai:gpt-5"], 2, "did you mean openai:gpt-5?"),
        (["--sample", QUESTION, "--model", "openai:gpt-5"], 2, "set OPENAI_API_KEY"),
        (["--sample", QUESTION, "--budget", "much"], 2, "such as 0.50, not 'much'"),
        (["--sample", QUESTION, "--max-iterations", "0"], 2, "from 1 to 100, not '0'"),
        (["--sample", QUESTION, "--frob"], 2, "unknown option --frob"),
        (["--in", "/nowhere/at/all", QUESTION], 2, "/nowhere/at/all does not exist"),
        (["--in", os.devnull, QUESTION], 4, "no readable document in /dev/null"),
        (["--sample", QUESTION, "--out", os.devnull], 2, "cannot write to /dev/null"),
        ([QUESTION], 7, "there is nothing to search: give documents with --in PATH"),
        (["show", "nothing"], 2, "unknown run 'nothing'; `deepdiver runs` lists them"),
        (["resume", "nothing"], 2, "unknown run 'nothing'"),
        (["deepen", "nothing", "1"], 2, "unknown run 'nothing'"),
        (["replay", "nothing"], 2, "unknown run 'nothing'"),
        (["stop", "nothing"], 2, "unknown run 'nothing'"),
        (["delete", "nothing", "--yes"], 2, "unknown run 'nothing'"),
        (["runs", "--home", "/proc/nowhere"], 1, "choose another --home"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_and_leaves_no_run(
    say: Say, home: Path, words: list[str], code: int, says: str
) -> None:
    said = say(*words)
    assert says in complaint(said)
    assert said.code == code
    assert not home.exists() or runs(home) == []


@pytest.mark.parametrize(
    "damage", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5_000]
)
@pytest.mark.parametrize(
    "words", [["runs"], ["--sample", QUESTION], ["show", "x"], ["stop", "x"]], ids=lambda w: w[0]
)
def test_a_damaged_database(say: Say, home: Path, damage: bytes, words: list[str]) -> None:
    home.mkdir()
    (home / "deepdiver.db").write_bytes(damage)
    said = say(*words)
    assert "move it away" in complaint(said)
    assert said.code == 1
    assert (home / "deepdiver.db").read_bytes() == damage


@pytest.mark.parametrize("words", [["runs"], ["--sample", QUESTION]], ids=lambda w: w[0])
def test_a_newer_schema(say: Say, home: Path, words: list[str]) -> None:
    open_sqlite(home).close()
    with closing(sqlite3.connect(home / "deepdiver.db")) as db:
        db.execute("PRAGMA user_version = 999")
    said = say(*words)
    assert "upgrade deepdiver" in complaint(said)
    assert said.code == 1


def test_a_home_that_is_a_file(say: Say, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    said = say("--sample", QUESTION, "--home", str(tmp_path / "file"))
    assert "choose another --home" in complaint(said)
    assert said.code == 1


def test_a_settings_file_that_is_wrong(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deepdiver.toml").write_text("budgte = 3\n")
    monkeypatch.chdir(tmp_path)
    for words in (["runs"], ["doctor"], ["--sample", QUESTION]):
        said = say(*words)
        assert "unknown key budgte; did you mean budget?" in complaint(said)
        assert said.code == 2


def test_a_full_disk_before_the_run(say: Say, small_disk: Path) -> None:
    leave_free(small_disk, 0)
    said = say("--sample", QUESTION, "--home", str(small_disk / "home"))
    assert "free some space" in complaint(said)
    assert said.code == 1


# Faults of our own


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner with a fault in it, which shows after the run has begun."""

    async def research(question: str, settings: Any, *, on_event: Any, **_: Any) -> None:
        on_event(
            RunStarted(
                run="r-1",
                question=question,
                strategy="popper",
                reasoner="r",
                providers=(),
                ceiling=None,
            )
        )
        error = ZeroDivisionError("a\nb")
        error.add_note("During task with name 'decide'")  # as LangGraph does
        raise error

    monkeypatch.setattr(deepdiver.run, "research", research)


@pytest.mark.usefixtures("broken")
def test_a_fault_is_one_line_with_the_way_on(say: Say, home: Path) -> None:
    said = say("--sample", "--quiet", QUESTION)
    assert said.code == 1
    assert complaint(said) == (
        "internal error: ZeroDivisionError: a b (please report this; the run is saved: "
        "deepdiver resume r-1)"
    )
    elsewhere = say("--sample", "--quiet", "--home", str(home), QUESTION)
    assert complaint(elsewhere).endswith(f"the run is saved: deepdiver resume r-1 --home {home})")


@pytest.mark.usefixtures("broken")
def test_a_fault_has_its_traceback_where_one_asks_for_it(say: Say) -> None:
    said = say("--sample", "--verbose", QUESTION)
    assert said.code == 1
    assert "Traceback (most recent call last)" in said.err
    assert said.err.splitlines()[-1].startswith("deepdiver: internal error: ZeroDivisionError")


def test_ctrl_c_in_a_command_that_only_looks(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "runs", replace(COMMANDS["runs"], do=interrupted))
    said = say("runs")
    assert (said.code, complaint(said)) == (130, "stopped")


# Commands


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["show", "--help"], ["ask", "--help"]], ids=" ".join
)
def test_help_is_no_failure(say: Say, words: list[str]) -> None:
    said = say(*words)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("usage: deepdiver")
    assert "130  stopped by Ctrl-C or deepdiver stop" in said.out


def test_the_version(say: Say) -> None:
    assert say("--version") == Said(0, f"deepdiver {__version__}\n", "")


def test_a_command_word_can_be_asked(say: Say) -> None:
    said = say("ask", "runs", "--sample", "--quiet", "--json")
    assert json.loads(said.out)["question"] == "runs"
    assert said.code in {0, 3, 4}


def test_the_module_is_the_command() -> None:
    assert COMMAND[1:] == ("-m", "deepdiver")
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"deepdiver {__version__}\n")
