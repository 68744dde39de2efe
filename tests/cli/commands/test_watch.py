"""`deepdiver watch`: what is refused, what is printed where, and the exit code."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli.commands import watch as command
from deepdiver.errors import StoppedError, UnreachableError
from deepdiver.run import watch
from deepdiver.run.standing_queries import Asked
from deepdiver.run.watch import Watcher
from deepdiver.run.watch_list import News, Round, Stir, Watch, WatchList, timestamp
from tests.cli.command_line import Say, complaint, runs, unfinished

STIR = Stir(kind="new", url="/papers/new.md", title="New", query="cheese")
NEWS = News(
    at="2026-11-17T08:00:00+00:00",
    before="a",
    after="b",
    stirred=(STIR,),
    lines=("Which cheese?", "", "Changed", "   1. So. \x1b[31mred"),
    record={"moved": True, "changed": []},
)


def quiet(monkeypatch: pytest.MonkeyPatch, *stirred: Stir) -> None:
    """Have the standing queries find this."""

    async def ask(*_: Any) -> Asked:
        return Asked(3, stirred, {})

    monkeypatch.setattr(watch, "ask_standing_queries", ask)


def with_news(home: Path, run: str, **changes: Any) -> None:
    """Leave news that nobody was told, as a killed process does."""
    asked = timestamp(datetime.now(UTC).timestamp())
    made = Watch(run=run, question="Which?", every=86_400, base=run, asked=asked, news=NEWS)
    WatchList(home).put(made.model_copy(update=changes))


# -- what is refused


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--stop"], "--stop needs the RUN"),
        (["RUN", "--list"], "--list takes no RUN"),
        (["--every", "7d"], "--every needs the RUN"),
        (["RUN", "--stop", "--once"], "--once and --stop exclude each other"),
        (["RUN", "--stop", "--every", "7d"], "--every and --stop exclude each other"),
        (["RUN", "--every", "7"], "expected a period"),
        (["RUN", "--every", "0d"], "expected a period"),
        (["RUN", "--every", "-1d"], "expected"),
        (["RUN", "--every", "400d"], "up to a year"),
        (["RUN", "RUN"], "takes [RUN]"),
        (["RUN"], "unknown run 'RUN'"),
        (["RUN", "--stop"], "no run 'RUN' is watched"),
        ([], "nothing is watched"),
        (["--once"], "nothing is watched"),
    ],
    ids=" ".join,
)
def test_it_is_refused(say: Say, home: Path, words: list[str], told: str) -> None:
    said = say("watch", *words)
    assert said.code == 2
    assert told in complaint(said)


def test_a_run_that_is_not_finished(say: Say, home: Path) -> None:
    said = say("watch", unfinished(home), "--once")
    assert said.code == 2
    assert "no report" in complaint(said)
    assert WatchList(home).all() == []


def test_a_damaged_list_is_named(say: Say, home: Path, finished: str) -> None:
    (home / "watches").mkdir()
    (home / "watches" / "a.json").write_text("{", encoding="utf-8")
    said = say("watch", "--list")
    assert said.code == 1
    assert "a.json is damaged" in complaint(said)


# -- once


def test_nothing_is_new_and_standard_output_stays_empty(
    say: Say, home: Path, finished: str
) -> None:
    said = say("watch", finished, "--once", "--every", "12h")
    assert (said.code, said.out) == (0, "")
    assert "nothing new; next " in said.err
    assert "standing quer" in said.err
    (watched,) = WatchList(home).all()
    assert (watched.run, watched.every) == (finished, 43_200)
    assert len(runs(home)) == 1
    quietly = say("watch", finished, "--once", "--quiet")
    assert (quietly.code, quietly.out, quietly.err) == (0, "", "")


def test_a_claim_moved(say: Say, home: Path, finished: str) -> None:
    with_news(home, finished)
    said = say("watch", finished, "--once", "--quiet")
    assert said.code == command.MOVED == 10
    assert said.err == ""
    assert "Changed\n   1. So. " in said.out
    assert "\x1b" not in said.out
    again = say("watch", finished, "--once", "--quiet")
    assert (again.code, again.out) == (0, "")


def test_news_as_json_are_one_line(say: Say, home: Path, finished: str) -> None:
    with_news(home, finished)
    said = say("watch", finished, "--once", "--json", "--quiet")
    assert said.code == 10
    (line,) = said.out.splitlines()
    found = json.loads(line)
    assert (found["watch"], found["moved"], found["at"]) == (finished, True, NEWS.at)
    assert found["stirred"][0]["url"] == STIR.url
    assert "told_again" not in found


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["text", "json"])
def test_what_may_have_been_told_before_says_so(
    say: Say, home: Path, finished: str, words: tuple[str, ...]
) -> None:
    with_news(home, finished, news=NEWS.model_copy(update={"telling": True}))
    said = say("watch", finished, "--once", "--quiet", *words)
    assert said.code == 10
    if words:
        assert json.loads(said.out)["told_again"] is True
    else:
        assert said.out.startswith("told again: ")


def test_without_a_run_only_what_is_due_is_asked(
    say: Say, home: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch)
    assert say("watch", finished, "--once", "--every", "1d").code == 0
    not_due = say("watch", "--once")
    assert (not_due.code, not_due.out, not_due.err) == (0, "", "")
    (watched,) = WatchList(home).all()
    past = timestamp((datetime.now(UTC) - timedelta(days=2)).timestamp())
    WatchList(home).put(watched.model_copy(update={"asked": past}))
    assert "nothing new" in say("watch", "--once").err


def test_a_failure_wins_over_news_and_is_told_even_quietly(
    say: Say, home: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Asked:
        raise UnreachableError("nobody answers")

    monkeypatch.setattr(watch, "ask_standing_queries", fail)
    past = timestamp((datetime.now(UTC) - timedelta(days=2)).timestamp())
    with_news(home, finished, asked=past)
    said = say("watch", "--once", "--quiet")
    assert said.code == UnreachableError.exit_code == 7
    assert "nobody answers (next try " in said.err
    assert "Changed" in said.out
    assert "trouble: nobody answers" in say("watch", "--list").out


def test_another_process_is_at_it(say: Say, home: Path, finished: str) -> None:
    with_news(home, finished)
    with WatchList(home).hold(finished):
        said = say("watch", finished, "--once")
        assert (said.code, said.out) == (0, "")
        assert "another process" in said.err
    assert WatchList(home).find(finished).news == NEWS


def test_no_claim_moved(
    say: Say, home: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch, STIR)
    said = say("watch", finished, "--once")
    assert said.code in {0, 10}
    assert f"{finished}: 1 new; researching the question again" in said.err
    assert ("a claim moved" if said.code else "no claim moved") in said.err
    assert bool(said.out) == bool(said.code)


def test_on_a_terminal_no_word_is_broken(
    say: Say, home: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    said = say("watch", finished, "--once")
    assert all(len(line) <= 60 for line in said.err.splitlines())
    assert " ".join(said.err.split()).startswith(f"{finished}: asked 3 standing queries, nothing")


# -- the loop


def test_the_loop_says_what_it_watches_and_ends_with_the_last_watch(
    say: Say, home: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drop(self: Watcher, report: Any, only: str = "") -> None:
        assert only == finished
        self.watches.drop(only)

    monkeypatch.setattr(Watcher, "keep_watch", drop)
    said = say("watch", finished, "--every", "7d")
    assert (said.code, said.out) == (0, "")
    assert f"watching {finished} every 7d; next " in said.err
    assert WatchList(home).all() == []


def test_ctrl_c_ends_the_loop_and_keeps_the_list(
    say: Say, home: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(self: Watcher, report: Any, only: str = "") -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Watcher, "keep_watch", interrupted)
    said = say("watch", finished, "--quiet")
    assert said.code == StoppedError.exit_code == 130
    assert [item.run for item in WatchList(home).all()] == [finished]


# -- the list


def test_an_empty_list(say: Say, home: Path) -> None:
    said = say("watch", "--list")
    assert (said.code, said.out) == (0, "")
    assert "nothing is watched" in said.err
    assert json.loads(say("watch", "--list", "--json").out) == {"watches": []}


def test_the_list(say: Say, home: Path, finished: str) -> None:
    begun = Round(run="b", stirred=(STIR,))
    with_news(home, finished, news=None, told=(NEWS,), round=begun)
    said = say("watch", "--list")
    assert said.code == 0
    assert finished in said.out
    assert "every 1d; next " in said.out
    assert "moved 1 time, last 2026-11-17 08:00 UTC" in said.out
    (found,) = json.loads(say("watch", "--list", "--json").out)["watches"]
    assert (found["run"], found["every"], found["unfinished"]) == (finished, 86_400, "b")
    assert found["told"] == [{"at": NEWS.at, "before": "a", "after": "b"}]


def test_stopping_keeps_the_runs(say: Say, home: Path, finished: str) -> None:
    with_news(home, finished)
    said = say("watch", finished[:12], "--stop")
    assert (said.code, said.out) == (0, "")
    assert f"run {finished} is not watched any more" in said.err
    assert WatchList(home).all() == []
    assert [run.id for run in runs(home)] == [finished]


def test_stopping_a_watch_whose_run_was_deleted(say: Say, home: Path) -> None:
    with_news(home, "20261101-gone-1")
    said = say("watch", "20261101", "--stop", "--json")
    assert json.loads(said.out) == {"run": "20261101-gone-1", "watched": False}
