"""Commands whose runs are in PostgreSQL: all that is told when it fails, and all that they do."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.record import Run
from deepdiver.store.postgres import open_postgres
from tests.cli.command_line import QUESTION, SMALL, Say, complaint, runs
from tests.postgres_server import Server
from tests.store.acts import make_run

PASSWORD = "hunter2-and-more"


@pytest.fixture
def address(postgres: Server, database: str) -> str:
    return postgres.address(database)


def runs_at(address: str) -> list[Run]:
    with closing(open_postgres(SecretStr(address))) as store:
        return store.runs.list_all()


# What may go wrong


def test_a_server_that_is_not_there(say: Say, home: Path) -> None:
    said = say("--database", f"postgresql://me:{PASSWORD}@127.0.0.1:1/x", "runs")
    assert said.code == 1
    assert complaint(said) == (
        "the PostgreSQL of the settings cannot be reached (nothing answers at its port): see that "
        "it runs, and that `database` is right"
    )
    assert not home.exists()


def test_a_wrong_password_is_not_repeated(say: Say, postgres: Server) -> None:
    said = say("runs", "--database", postgres.address(password=PASSWORD))
    assert said.code == 1
    assert "refuses the user or the password" in complaint(said)
    assert PASSWORD not in said.err


@pytest.mark.parametrize("address", ["mysql://x", f"postgresql://me:{PASSWORD}@[x/y", "x"])
def test_an_address_that_is_none(say: Say, address: str) -> None:
    said = say("runs", "--database", address)
    assert said.code == 2
    assert "postgresql://USER:PASSWORD@HOST/NAME" in complaint(said)
    assert PASSWORD not in said.err


def test_the_extra_that_is_missing_is_named(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    said = say("runs", "--database", f"postgresql://me:{PASSWORD}@127.0.0.1/x")
    assert said.code == 2
    assert "pip install 'deepdiver-research[postgres]'" in complaint(said)


def test_tables_of_a_newer_deepdiver(say: Say, postgres: Server, database: str) -> None:
    open_postgres(SecretStr(postgres.address(database))).close()
    postgres.execute("INSERT INTO deepdiver.version VALUES (99)", database)
    said = say("runs", "--database", postgres.address(database))
    assert said.code == 1
    assert "upgrade this one" in complaint(said)


# What is done


@pytest.mark.slow
def test_a_question_is_researched_shown_replayed_and_deleted(
    say: Say, home: Path, address: str, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = say(*SMALL, "--json", QUESTION)
    there = say("--database", address, *SMALL, "--json", QUESTION)
    assert there.code == here.code == 0
    assert json.loads(there.out)["report"] == json.loads(here.out)["report"]
    assert postgres.password not in there.out + there.err
    ((mine,), (other,)) = runs(home), runs_at(address)
    assert mine.id != other.id
    monkeypatch.setenv("DEEPDIVER_DATABASE", address)
    assert [run["id"] for run in json.loads(say("runs", "--json").out)["runs"]] == [other.id]
    assert say("show", other.id).out == say("replay", other.id).out
    assert say("replay", other.id).err.endswith("byte for byte\n")
    assert say("resume", other.id).code == 0
    assert say("delete", other.id, "--yes").code == 0
    assert runs_at(address) == []
    assert len(runs(home)) == 1


@pytest.mark.slow
def test_a_run_moves_between_the_two_by_its_bundle(
    say: Say, home: Path, address: str, finished: str, tmp_path: Path
) -> None:
    bundle, back = tmp_path / "bundle.zip", tmp_path / "back.zip"
    assert say("export", finished, "--format", "bundle", "--out", bundle).code == 0
    assert say("import", bundle, "--database", address).code == 0
    assert [run.id for run in runs_at(address)] == [finished]
    said = say("replay", finished, "--database", address)
    assert said.code == 0
    assert said.err.endswith("the replay gave the report on record, byte for byte\n")
    assert said.out == say("replay", finished).out
    there = ("--database", address)
    assert say("export", finished, "--format", "bundle", "--out", back, *there).code == 0
    assert say("import", back, "--home", tmp_path / "elsewhere").code == 0
    assert say("replay", finished, "--home", tmp_path / "elsewhere").out == said.out


def test_how_to_continue_names_the_database_without_its_address(
    say: Say, address: str, postgres: Server
) -> None:
    with closing(open_postgres(SecretStr(address))) as store:
        store.runs.create(make_run("20261115-x-1"))
        run = "20261115-x-1"
    said = say("stop", run, "--database", address)
    assert f"continue with: deepdiver resume {run} --database URL" in said.out + said.err
    assert postgres.password not in said.out + said.err
