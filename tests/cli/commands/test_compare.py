"""`deepdiver compare`: what is refused, and what is printed."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import Say, complaint


@pytest.fixture
def other(finished: str, home: Path) -> str:
    """A second run with the report of the first."""
    with closing(open_sqlite(home)) as store:
        run = store.runs.get(finished)
        copy = run.model_copy(update={"id": "20200101-other"})
        store.runs.create(copy)
        store.records.add(copy.id, store.records.ledger(run.id))
        store.records.save_report(copy.id, store.records.report(run.id) or "")
    return copy.id


def test_one_run_is_not_enough(say: Say, finished: str) -> None:
    said = say("compare", finished)
    assert said.code == 2
    assert "RUN" in complaint(said)


def test_a_run_is_not_compared_with_itself(say: Say, finished: str) -> None:
    said = say("compare", finished, finished)
    assert (said.code, "with itself" in complaint(said)) == (2, True)


def test_there_is_no_such_run(say: Say, finished: str) -> None:
    assert say("compare", finished, "nothing").code == 2


def test_two_runs_side_by_side(say: Say, finished: str, other: str) -> None:
    said = say("compare", finished, other)
    assert said.code == 0
    assert "Both say, with citations" in said.out
    assert f"A  {finished}\n" in said.out
    assert "Only " not in said.out
    record = json.loads(say("compare", finished, other, "--json").out)
    assert {pair["relation"] for pair in record["pairs"]} == {"same"}
    assert record["runs"][1]["id"] == other
