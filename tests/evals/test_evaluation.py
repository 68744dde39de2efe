"""An evaluation in a folder.

Killed it goes on, another's folder is refused, and the order is that of the set.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.settings import load
from deepdiver.errors import DeepdiverError, StoreAccessError, UsageError
from deepdiver.evals import evaluation
from deepdiver.evals.cases import Case, EvalSet, Kind, Shelf
from deepdiver.evals.documents import Document
from deepdiver.evals.evaluation import (
    ABOUT,
    RECORDS,
    Evaluation,
    code_fingerprint,
    evaluate,
    load_records,
    unfinished,
    with_home,
)
from deepdiver.evals.perform_case import CaseJob, record_line
from tests.patience import PATIENCE
from tests.processes import until
from tests.terminal import COMMAND
from tests.warm import Warm

CLAIMS = EvalSet(
    "claims",
    Kind.SUPPORT,
    tuple(
        Case(str(n), f"It was built in 190{n}.", evidence=("It was built in 1902.",), label="not")
        for n in range(5)
    ),
)


MANY = tuple(replace(CLAIMS.cases[0], id=f"case {n}") for n in range(60))


def evaluation_of(folder: Path, of: EvalSet = CLAIMS, **changes: Any) -> Evaluation:
    return Evaluation(of, load({"home": folder / "home", **changes}), folder / "out")


def recorded(done: list[str], fail: str = "") -> Any:
    """Return a way to do cases that keeps which were done."""

    def do(job: CaseJob) -> dict[str, Any]:
        done.append(job.case.id)
        if job.case.id == fail:
            raise KeyboardInterrupt
        return {
            "case": job.case.id,
            "error": "",
            "said": "not",
            "score": 0.0,
            "seconds": 0.0,
            "usd": "0",
        }

    return do


# What goes wrong


@pytest.mark.parametrize(
    ("changes", "of", "why"),
    [
        ({"model": "a:b"}, CLAIMS, "with model 'embedded', not 'a:b'"),
        ({}, replace(CLAIMS, cases=CLAIMS.cases[:2]), "of other cases"),
        ({}, replace(CLAIMS, name="others"), "with set 'claims', not 'others'"),
    ],
)
def test_another_evaluations_folder_is_refused(
    tmp_path: Path, changes: Any, of: EvalSet, why: str
) -> None:
    evaluate(evaluation_of(tmp_path))
    before = (tmp_path / "out" / RECORDS).read_bytes()
    with pytest.raises(UsageError, match=f"holds an evaluation {why}: give another --out"):
        evaluate(evaluation_of(tmp_path, of, **changes))
    assert (tmp_path / "out" / RECORDS).read_bytes() == before


def test_figures_of_two_versions_are_not_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(evaluation_of(tmp_path))
    monkeypatch.setattr(evaluation, "code_fingerprint", lambda: "another")
    with pytest.raises(UsageError, match="by another version of the program"):
        evaluate(evaluation_of(tmp_path))


def test_a_damaged_or_locked_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ABOUT).write_text("{")
    with pytest.raises(UsageError, match="is damaged: move the folder away"):
        evaluate(evaluation_of(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreAccessError, match=r"cannot write to .+ \(Not a directory\)"):
        evaluate(replace(evaluation_of(tmp_path), folder=tmp_path / "file" / "out"))


def test_what_was_done_before_an_interruption_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: list[str] = []
    monkeypatch.setattr(evaluation, "perform_case", recorded(first, fail="3"))
    with pytest.raises(KeyboardInterrupt):
        evaluate(evaluation_of(tmp_path))
    assert unfinished(tmp_path / "out", CLAIMS.cases)
    second: list[str] = []
    monkeypatch.setattr(evaluation, "perform_case", recorded(second))
    told: list[tuple[int, int, str]] = []
    records = evaluate(evaluation_of(tmp_path), on_case=lambda *of: told.append(of))
    assert (first, second) == (["0", "1", "2", "3"], ["3", "4"])
    assert told == [(4, 5, "3"), (5, 5, "4")]
    assert [record["case"] for record in records] == ["0", "1", "2", "3", "4"]
    assert not unfinished(tmp_path / "out", CLAIMS.cases)


def test_a_case_that_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(evaluation_of(tmp_path))
    with (tmp_path / "out" / RECORDS).open("a") as file:
        file.write(record_line({"case": "2", "error": "CallError: gone"}))
    assert unfinished(tmp_path / "out", CLAIMS.cases)
    done: list[str] = []
    monkeypatch.setattr(evaluation, "perform_case", recorded(done))
    records = evaluate(evaluation_of(tmp_path))
    assert done == ["2"]
    assert all(record["error"] == "" for record in records)


def test_a_line_that_was_cut_off_costs_its_case_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(evaluation_of(tmp_path))
    file = tmp_path / "out" / RECORDS
    file.write_bytes(file.read_bytes()[:-10])
    done: list[str] = []
    monkeypatch.setattr(evaluation, "perform_case", recorded(done))
    evaluate(evaluation_of(tmp_path))
    assert done == ["4"]
    assert load_records(tmp_path / "out").keys() == {"0", "1", "2", "3", "4"}


@given(st.data())
def test_whatever_was_written_the_last_whole_line_counts(data: st.DataObject) -> None:
    import tempfile

    values = data.draw(
        st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=5)), max_size=12)
    )
    text = "".join(record_line({"case": case, "said": said, "error": ""}) for case, said in values)
    cut = data.draw(st.integers(0, len(text)))
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / RECORDS).write_text(text[:cut], encoding="utf-8")
        held = load_records(Path(name))
    whole = text[:cut].count("\n")
    last = dict(values[:whole])
    if text[:cut] and not text[:cut].endswith("\n") and text[cut : cut + 1] == "\n":
        last |= dict(values[whole : whole + 1])  # only the line's end is missing
    assert {case: record["said"] for case, record in held.items()} == last


# What goes right


def test_a_finished_evaluation_is_only_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(evaluation_of(tmp_path))
    done: list[str] = []
    monkeypatch.setattr(evaluation, "perform_case", recorded(done))
    assert evaluate(evaluation_of(tmp_path)) == first
    assert done == []


def test_runs_of_an_evaluation_are_in_a_home_of_their_own_and_in_no_shared_database(
    tmp_path: Path,
) -> None:
    usual = evaluation_of(tmp_path)
    shared = usual.settings.model_copy(update={"database": SecretStr("postgresql://db/x")})
    own = with_home(tmp_path / "mine", replace(usual, settings=shared)).settings
    assert (own.home, own.database) == (tmp_path / "mine" / "evals", None)


def test_documents_are_laid_out_for_those_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[CaseJob] = []
    done = recorded([])

    def do(job: CaseJob) -> dict[str, Any]:
        jobs.append(job)
        record: dict[str, Any] = done(job)
        return record

    monkeypatch.setattr(evaluation, "perform_case", do)
    cases = (Case("x/y", "q", shelf="one"), Case("z", "q", shelf="one"), Case("w", "q"))
    of = EvalSet(
        "docs",
        Kind.ANSWERS,
        cases,
        {"one": Shelf((Document("a", "A", "text"),)), "unused": Shelf()},
    )
    evaluate(with_home(tmp_path / "mine", evaluation_of(tmp_path, of)))
    assert jobs[0].documents == jobs[1].documents
    assert jobs[0].documents is not None
    assert [file.name for file in jobs[0].documents.iterdir()] == ["a.md"]
    assert jobs[2].documents is None
    assert len({job.started for job in jobs}) == 3
    assert jobs[0].settings.home == tmp_path / "mine" / "evals", (
        "runs and libraries are kept apart from the user's"
    )
    assert len(list((tmp_path / "mine" / "evals" / "files").iterdir())) == 1


@pytest.mark.slow
def test_processes_side_by_side_give_the_same_in_the_same_order(tmp_path: Path) -> None:
    def plain(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {key: value for key, value in record.items() if key != "seconds"} for record in records
        ]

    one = evaluate(evaluation_of(tmp_path / "one"))
    two = evaluate(evaluation_of(tmp_path / "two"), jobs=2)
    assert plain(one) == plain(two)
    assert [record["case"] for record in two] == ["0", "1", "2", "3", "4"]


@pytest.mark.slow
def test_an_error_in_another_process_is_this_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        evaluate(evaluation_of(tmp_path, model="nosuch:model"), jobs=2)


@pytest.mark.slow
def test_whoever_stops_it_ends_its_processes(tmp_path: Path) -> None:
    before = set(active_children())

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(evaluation_of(tmp_path), jobs=2, on_case=stop)
    until(lambda: set(active_children()) <= before)
    assert len(load_records(tmp_path / "out")) == 1
    assert len(evaluate(evaluation_of(tmp_path))) == 5


@pytest.mark.slow
def test_a_process_that_is_ended_from_outside_is_told(tmp_path: Path) -> None:
    def end(*_: object) -> None:
        for child in active_children():
            child.kill()

    with pytest.raises(
        DeepdiverError,
        match="a process of the evaluation was killed; run the same command to continue",
    ):
        evaluate(evaluation_of(tmp_path, replace(CLAIMS, cases=MANY)), jobs=2, on_case=end)
    assert load_records(tmp_path / "out")


@pytest.mark.slow
def test_a_killed_evaluation_goes_on(tmp_path: Path, warm: Warm) -> None:
    documents = [{"title": "Norda", "text": "Ann Lee is the director of Norda AB."}]
    lines = [
        {
            "id": str(n),
            "question": "Who is the director of Norda AB?",
            "answers": ["Ann Lee"],
            "documents": documents,
        }
        for n in range(3)
    ]
    file, out = tmp_path / "own.jsonl", tmp_path / "out"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))
    words = ["eval", str(file), "--quiet", "--home", str(tmp_path / "h"), "--out", str(out)]
    killed = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until(lambda: load_records(out))
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    before = load_records(out)
    assert 1 <= len(before) <= 3
    done = subprocess.run(
        [*warm.command, *words, "--json"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    after = load_records(out)
    assert {key: after[key]["run"] for key in before} == {
        key: record["run"] for key, record in before.items()
    }
    result = json.loads(done.stdout)
    assert (result["counts"]["cases"], result["counts"]["right"]) == (3, 3)
    assert [case["id"] for case in result["cases"]] == ["0", "1", "2"]


def test_the_program_has_a_fingerprint() -> None:
    assert len(code_fingerprint()) == 12
    assert code_fingerprint() == code_fingerprint()
