"""`deepdiver feed`.

What goes wrong first, each in one line with its exit code; then what goes right.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.cli.commands.feed import NO_DATA, arguments_of_words
from deepdiver.errors import UsageError
from deepdiver.store.sqlite import open_sqlite
from deepdiver.tools.osint import registry
from deepdiver.tools.osint.feed import Feed
from tests.cli.command_line import Say, complaint
from tests.mcp_server.process import Place
from tests.mcp_server.tides import FEED, KEY, install
from tests.terminal import Terminal
from tests.warm import Warm


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Feed[Any]]:
    held: dict[str, Feed[Any]] = {FEED.name: FEED}
    monkeypatch.setattr(registry, "feeds", lambda: held)
    monkeypatch.setenv("DEEPDIVER_TIDES_KEY", KEY)
    return held


@pytest.fixture
def say(installed: Mapping[str, Feed[Any]], say: Say) -> Say:
    """Give a `deepdiver feed` command line in this process."""
    return functools.partial(say, "feed")


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["watch_tide"], 2, "unknown feed 'watch_tide'; did you mean watch_tides?"),
        (["watch_tides"], 2, "watch_tides: it needs the argument 'harbour'"),
        (["watch_tides", "harbour"], 2, "'harbour' is not an argument: write NAME=VALUE"),
        (["watch_tides", "=x"], 2, "is not an argument"),
        (["watch_tides", "harbour=a", "harbour=b"], 2, "the argument harbour is given twice"),
        (["watch_tides", "harbour=a", "least=11"], 2, "its argument 'least'"),
        (["watch_tides", "harbour=a", "level=1"], 2, "it takes no argument 'level'"),
        (["watch_tides", "harbour=a", "--colour", "red"], 2, "unknown option --colour"),
        (["watch_tides", "harbour=Broken"], 1, "tides refused [secret]"),
    ],
)
def test_what_goes_wrong_is_told_in_a_line(say: Say, words: list[str], code: int, why: str) -> None:
    said = say(*words)
    assert said.code == code
    assert why in complaint(said)
    assert KEY not in said.err


def test_a_feed_that_lacks_its_key_says_which(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPDIVER_TIDES_KEY")
    said = say("watch_tides", "harbour=Vantskär")
    assert said.code == 2
    assert "DEEPDIVER_TIDES_KEY" in complaint(said)
    assert "watch_tides (it needs a key: DEEPDIVER_TIDES_KEY)" in say().out


def test_no_data_is_said_and_is_not_an_answer(say: Say) -> None:
    said = say("watch_tides", "harbour=Dry")
    assert said.code == 4
    assert NO_DATA in said.out
    assert "deepdiver: No data available" in said.err
    as_json = say("watch_tides", "harbour=Dry", "--json")
    assert as_json.code == 4
    assert json.loads(as_json.out)["answers"][0]["rows"] == []


def test_a_service_that_failed_makes_it_an_answer_in_part(say: Say) -> None:
    said = say("watch_tides", "harbour=Half")
    assert said.code == 3
    assert "the level at Half was 4.5 m." in said.out
    assert said.err == "Buoys failed: no answer\n"


def test_rows_and_notes_are_printed(say: Say) -> None:
    said = say("watch_tides", "harbour=Vantskär", "least=1.5")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "Tide Office: tides of Vantskär",
        "- 2026-11-11 14:05 UTC: the level at Vantskär was 4.5 m.",
        "1 levels were measured.",
        "",
    ]
    told = json.loads(say("watch_tides", "harbour=Vantskär", "--json").out)
    assert [row["data"]["level"] for row in told["answers"][0]["rows"]] == [4.5, 1.25]


def test_a_terminal_cannot_be_steered_by_a_row(say: Say) -> None:
    said = say("watch_tides", "harbour=a\x1b[31m\x07b")
    assert said.code == 0
    assert "\x1b" not in said.out
    assert "\x07" not in said.out


def test_it_leaves_no_run(say: Say, own_home: Path) -> None:
    assert say("watch_tides", "harbour=Vantskär").code == 0
    with closing(open_sqlite(own_home / "deepdiver")) as store:
        assert store.runs.list_all() == []


def test_the_feeds_are_listed_with_what_they_need(
    say: Say, installed: dict[str, Feed[Any]]
) -> None:
    said = say()
    assert said.code == 0
    assert said.out.startswith(
        "watch_tides (ready)\n  levels of the sea in harbours\n    harbour: The harbour"
    )
    assert "    least (optional): The least level, in metres." in said.out
    (listed,) = json.loads(say("--json").out)["feeds"]
    assert (listed["name"], listed["ready"], listed["missing"]) == ("watch_tides", True, None)
    assert len(listed["arguments"]) == 2
    installed.clear()
    assert say().err == "no feeds are installed\n"


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,10}", fullmatch=True), st.text(max_size=30), max_size=5
    )
)
def test_arguments_come_out_as_they_went_in(given: dict[str, str]) -> None:
    assert arguments_of_words([f"{name}={value}" for name, value in given.items()]) == given


@given(st.lists(st.text(max_size=10), max_size=4))
def test_no_words_make_it_stumble(words: list[str]) -> None:
    with suppress(UsageError):  # anything else is a fault
        assert all(name.isidentifier() for name in arguments_of_words(words))


@pytest.mark.slow
def test_on_a_terminal_rows_are_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm: Warm
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name, value in Place(tmp_path / "store", install(tmp_path / "elsewhere")).env().items():
        monkeypatch.setenv(name, value)
    with Terminal("feed", "watch_tides", "harbour=Vantskär", program=warm.command) as terminal:
        assert terminal.leave() == 0
    assert "┃ when ┃ confidence ┃ what" in terminal.text
    assert "the level at Vantskär was 4.5 m." in terminal.text
    assert "2 levels were measured." in terminal.text
