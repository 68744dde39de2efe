"""`deepdiver update`: what is refused, and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command_line import Say, complaint, runs


def test_there_is_no_such_run(say: Say, home: Path) -> None:
    said = say("update", "nothing")
    assert said.code == 2
    assert "nothing" in complaint(said)


def test_it_takes_no_question(say: Say, finished: str) -> None:
    assert say("update", finished, "and more").code == 2


def test_what_has_changed_is_printed_instead_of_the_report(
    say: Say, home: Path, finished: str
) -> None:
    said = say("update", finished, "--quiet")
    assert said.code == 0
    assert said.err == ""
    assert "Nothing has changed: every claim was confirmed." in said.out
    assert "## Bottom line" not in said.out
    new, old = runs(home)
    assert (old.id, new.question, new.strategy) == (finished, old.question, old.strategy)


def test_json_is_one_object(say: Say, finished: str) -> None:
    found = json.loads(say("update", finished, "--json").out)
    assert found["before"] == finished
    assert found["moved"] is False
    assert found["confirmed"]
    assert (found["added"], found["removed"], found["source_gone"]) == ([], [], [])
