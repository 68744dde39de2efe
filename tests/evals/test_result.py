"""The result: from the records alone, the same every time, and whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import load
from deepdiver.errors import StoreAccessError
from deepdiver.evals.cases import Case, EvalSet, Kind
from deepdiver.evals.evaluation import Evaluation
from deepdiver.evals.result import PAGE, RESULT, made_by, result_of, write_result

CLAIMS = EvalSet(
    "claims",
    Kind.SUPPORT,
    (Case("1", "It is so.", label="full"), Case("2", "It is <b>.", label="not")),
)
RECORDS: list[dict[str, Any]] = [
    {"case": "1", "error": "", "said": "full", "score": 1.0, "seconds": 0.5, "usd": "0.5"},
    {"case": "2", "error": "CallError: gone", "seconds": 0.5},
]


def evaluation(folder: Path, judge: str = "", **changes: Any) -> Evaluation:
    return Evaluation(CLAIMS, load({"home": folder / "home", **changes}), folder, judge)


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    made = result_of(evaluation(tmp_path), RECORDS)
    with pytest.raises(StoreAccessError, match="cannot write to"):
        write_result(tmp_path / "absent", made)


def test_what_could_not_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = result_of(evaluation(tmp_path), RECORDS)
    write_result(tmp_path, made)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("deepdiver.evals.result.os.replace", full)
    with pytest.raises(StoreAccessError, match="No space left"):
        write_result(tmp_path, made | {"set": "other"})
    assert json.loads((tmp_path / RESULT).read_text())["set"] == "claims"
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {RESULT, PAGE}


def test_the_same_records_give_the_same_result(tmp_path: Path) -> None:
    made = result_of(evaluation(tmp_path), RECORDS)
    assert made == result_of(evaluation(tmp_path), json.loads(json.dumps(RECORDS)))
    assert [case["id"] for case in made["cases"]] == ["1", "2"]
    assert made["counts"] == {"cases": 2, "failed": 1, "right": 1, "stated": 0}
    assert made["losses"] == {"failed": 1}
    assert made["figures"]["usd"] == 0.5
    assert made["cases"][1]["error"] == "CallError: gone"
    assert made["compared"] is True
    assert result_of(evaluation(tmp_path), RECORDS, compared=False)["compared"] is False


def test_both_files_are_written(tmp_path: Path) -> None:
    made = result_of(evaluation(tmp_path), RECORDS)
    write_result(tmp_path, made)
    assert json.loads((tmp_path / RESULT).read_text(encoding="utf-8")) == json.loads(
        json.dumps(made)
    )
    page = (tmp_path / PAGE).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "It is &lt;b&gt;." in page


def test_who_was_evaluated_and_who_judged_is_always_named(tmp_path: Path) -> None:
    assert made_by(evaluation(tmp_path)).endswith("model embedded, scored by code alone")
    named = evaluation(tmp_path, "openai:gpt-x", model="a:b", fast_model="a:c")
    assert made_by(named).endswith("model a:b, fast model a:c, judged by openai:gpt-x")
    assert result_of(named, RECORDS)["judge"] == "openai:gpt-x"
    assert "strategy" not in made_by(named), "a claim is checked without one"
    settings = named.settings.model_copy(update={"strategy": "popper"})
    runs = Evaluation(EvalSet("runs", Kind.ANSWERS, ()), settings, tmp_path)
    assert "strategy popper" in made_by(runs)
