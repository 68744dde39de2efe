"""`deepdiver memory`: what is refused, what is found, forgotten, remembered again and exported."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.store.sqlite import open_sqlite
from tests.cli.command_line import Say, complaint, runs, unfinished

WORDS = ("tonnes", "cheese", "Svedjan")


def found(say: Say, *words: str) -> list[dict[str, object]]:
    listed = json.loads(say("memory", "search", *(words or WORDS), "--json").out)["memories"]
    assert isinstance(listed, list)
    return listed


# -- what is refused


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "ACTION"),
        (["recall"], "invalid choice"),
        (["search"], "needs WORDS"),
        (["forget"], "needs RUN|ID…"),
        (["export", "all"], "takes no argument"),
        (["list", "a", "b"], "takes one RUN at most"),
        (["list", "--undo"], "--undo is for `deepdiver memory forget`"),
        (["search", "a", "--out", "x"], "--out is for `deepdiver memory export`"),
        (["export", "--limit", "3"], "--limit is for `deepdiver memory search`"),
        (["forget", "nothing"], "unknown run 'nothing'"),
        (["forget", "f_0123456789abcdef"], "no run has found or judged f_0123456789abcdef"),
        (["list", "nothing"], "unknown run 'nothing'"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_it_is_refused(say: Say, home: Path, words: list[str], told: str) -> None:
    said = say("memory", *words)
    assert said.code == 2
    assert told in complaint(said)
    assert not (home / "forgotten.json").exists()


def test_nothing_is_remembered_yet(say: Say, home: Path) -> None:
    said = say("memory", "search", "cheese")
    assert said.code == 4
    assert "no finished run" in complaint(said)
    for words in (["list"], ["export"]):
        told = say("memory", *words)
        assert (told.code, told.out) == (0, "")
        assert "nothing is remembered yet" in told.err


def test_a_run_without_a_report_has_nothing_to_list(say: Say, home: Path) -> None:
    said = say("memory", "list", unfinished(home))
    assert said.code == 2
    assert "no report yet" in complaint(said)


def test_a_damaged_list_of_what_is_forgotten_stops_every_action(
    say: Say, home: Path, finished: str
) -> None:
    (home / "forgotten.json").write_text("{", encoding="utf-8")
    for words in (["list"], ["search", "cheese"], ["export"], ["forget", finished]):
        said = say("memory", *words)
        assert said.code == 1
        assert "forgotten.json is damaged" in complaint(said)


def test_nothing_has_these_words(say: Say, finished: str) -> None:
    said = say("memory", "search", "zebra")
    assert said.code == 4
    assert "has one of these words" in complaint(said)
    as_json = say("memory", "search", "zebra", "--json")
    assert (as_json.code, json.loads(as_json.out)) == (4, {"memories": []})


def test_a_record_that_cannot_be_read_is_named(say: Say, home: Path, finished: str) -> None:
    name = unfinished(home)
    with closing(open_sqlite(home)) as store:
        store.runs.set_status(name, RunStatus.ANSWERED)
    for words in (["search", *WORDS], ["export"]):
        said = say("memory", *words)
        assert said.code == 0
        assert said.err == f"left out, because their record cannot be read: {name}\n"
    assert "0 findings, 0 verdicts" in say("memory", "list").out


# -- what is shown


def test_the_runs_are_listed(say: Say, finished: str) -> None:
    said = say("memory", "list")
    assert said.code == 0
    assert finished in said.out
    (row,) = json.loads(say("memory", "list", "--json").out)["runs"]
    assert row["run"] == finished
    assert row["findings"] > 0
    assert row["verdicts"] > 0


def test_what_is_remembered_of_a_run_is_listed(say: Say, finished: str) -> None:
    said = say("memory", "list", finished[:14], "--json")
    listed = json.loads(said.out)["memories"]
    assert {item["run"] for item in listed} == {finished}
    assert all(item["stands"] for item in listed)


def test_a_search_shows_age_and_provenance(say: Say, finished: str) -> None:
    said = say("memory", "search", *WORDS)
    assert said.code == 0
    assert f"of {finished}" in said.out
    assert "sample:svedjan/" in said.out
    assert "NOT" not in said.out
    assert len(found(say, *WORDS, "--limit", "2")) == 2


def test_a_text_that_is_lost_is_said_to_be(say: Say, home: Path, finished: str) -> None:
    with closing(open_sqlite(home)) as store, store.database.write() as db:
        db.execute("DELETE FROM blobs")
    assert "NOT in the saved text any more" in say("memory", "search", *WORDS).out
    assert any(item["stands"] is False for item in found(say))


# -- forgetting


def test_a_run_is_forgotten_and_remembered_again(say: Say, home: Path, finished: str) -> None:
    said = say("memory", "forget", finished[:14])
    assert (said.code, said.out) == (0, "")
    assert f"{finished} is forgotten" in said.err
    assert say("memory", "search", *WORDS).code == 4
    listed = say("memory", "list")
    assert "1 thing forgotten" in listed.err
    assert json.loads(say("memory", "list", "--json").out)["forgotten"] == [finished]
    refused = say("memory", "list", finished)
    assert refused.code == 2
    assert "--undo" in complaint(refused)
    assert [run.id for run in runs(home)] == [finished]
    assert say("show", finished).code == 0
    undone = say("memory", "forget", finished, "--undo")
    assert f"{finished} is remembered again" in undone.err
    assert say("memory", "search", *WORDS).code == 0


def test_one_finding_is_forgotten(say: Say, finished: str) -> None:
    first = str(found(say)[0]["id"])
    said = say("memory", "forget", first, "--json")
    assert json.loads(said.out) == {"forgotten": True, "ids": [first]}
    assert first not in {item["id"] for item in found(say)}
    assert first not in say("memory", "export").out


def test_what_was_forgotten_can_be_remembered_after_its_run_was_deleted(
    say: Say, finished: str
) -> None:
    say("memory", "forget", finished)
    say("delete", finished, "--yes")
    assert say("memory", "forget", finished, "--undo").code == 0
    assert json.loads(say("memory", "list", "--json").out)["forgotten"] == []


# -- exporting


def test_the_export_has_a_line_for_each(say: Say, finished: str, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in say("memory", "export").out.splitlines()]
    assert {item["kind"] for item in lines} == {"finding", "verdict"}
    assert all(item["run"] == finished and item["stands"] for item in lines)
    quoted = [one["quote"] for item in lines for one in item["sources"]]
    assert all(set(one["passage"]) == {"snapshot", "start", "end"} for one in quoted)
    file = tmp_path / "new" / "memory.jsonl"
    said = say("memory", "export", "--out", file)
    assert (said.code, said.out) == (0, "")
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == lines


def test_an_export_that_cannot_be_written(say: Say, finished: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    said = say("memory", "export", "--out", tmp_path / "file" / "memory.jsonl")
    assert said.code == 1
    assert "cannot be written" in complaint(said)


def test_an_export_of_nothing_writes_an_empty_file(say: Say, home: Path, tmp_path: Path) -> None:
    said = say("memory", "export", "--out", tmp_path / "memory.jsonl")
    assert (said.code, said.out) == (0, "")
    assert "0 things written" in said.err
    assert (tmp_path / "memory.jsonl").read_text(encoding="utf-8") == ""


# -- what holds of all of it


def test_what_is_forgotten_is_in_none_of_the_answers_and_comes_back_as_it_was(
    say: Say, finished: str
) -> None:
    before = say("memory", "export").out
    every = [json.loads(line)["id"] for line in before.splitlines()]
    gone = every[::2]
    assert say("memory", "forget", *gone).code == 0
    left = [json.loads(line)["id"] for line in say("memory", "export").out.splitlines()]
    assert not {*gone} & {*left}
    # What stood on something forgotten is forgotten with it, and nothing else is.
    assert {*left} <= {*every} - {*gone}
    assert say("memory", "forget", *gone, "--undo").code == 0
    assert say("memory", "export").out == before


def test_forgetting_twice_is_forgetting_once(say: Say, finished: str) -> None:
    for _ in range(2):
        assert say("memory", "forget", finished).code == 0
    assert json.loads(say("memory", "list", "--json").out)["forgotten"] == [finished]
    for _ in range(2):
        assert say("memory", "forget", finished, "--undo").code in (0, 2)
    assert json.loads(say("memory", "list", "--json").out)["forgotten"] == []


def test_one_unknown_name_among_several_forgets_nothing(
    say: Say, home: Path, finished: str
) -> None:
    said = say("memory", "forget", finished, "f_0123456789abcdef")
    assert said.code == 2
    assert not (home / "forgotten.json").exists()
    assert say("memory", "search", *WORDS).code == 0


def test_a_search_finds_nothing_that_the_export_does_not_have(say: Say, finished: str) -> None:
    exported = {json.loads(line)["id"] for line in say("memory", "export").out.splitlines()}
    searched = {str(item["id"]) for item in found(say, *WORDS, "--limit", "1000")}
    assert searched
    assert searched <= exported
