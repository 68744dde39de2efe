"""`deepdiver eval`.

What goes wrong first, each in one line with its exit code; then what goes right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deepdiver.cli import main
from deepdiver.evals import evaluation, floors, public_sets
from deepdiver.evals.perform_case import CaseJob
from tests.cli.command_line import Said, Say, complaint


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small set in the shape of a public one.

    Four claims, of which the rules judge three right.
    """
    folder = tmp_path / "data" / "citation"
    folder.mkdir(parents=True)
    rows = [
        {
            "claim": "It was built in 1902.",
            "evidence": ["It was built in 1902 by Ann."],
            "support": "Complete",
        },
        {
            "claim": "It was built in 1903.",
            "evidence": ["It was built in 1902 by Ann."],
            "support": "Incomplete",
        },
        {
            "claim": "It was built in 1904.",
            "evidence": ["It was built in 1902 by Ann."],
            "support": "Partial",
        },
        {"claim": "A ferry sank.", "evidence": ["It was built in 1902."], "support": "Complete"},
        {"claim": "No evidence.", "evidence": [], "support": "Missing"},
    ]
    (folder / "expertqa.val.claims.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    return tmp_path / "data"


@pytest.fixture
def say(say: Say, data: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Give a `deepdiver eval` command line in this process, with sets that are not split."""
    monkeypatch.setattr(public_sets, "SPLIT", frozenset())
    return lambda *words: say("eval", *words, "--data", data)


@pytest.fixture
def keep_floors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[dict[str, Any]], None]:
    """Give a way to say what must be reached."""
    file = tmp_path / "floors.json"

    def keep(values: dict[str, Any]) -> None:
        file.write_text(json.dumps(values))
        monkeypatch.setattr(floors, "FLOORS", file)

    return keep


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "the following arguments are required: SET"),
        (["zebra"], "unknown set 'zebra'; known are"),
        (["expertqas"], "did you mean expertqa?"),
        (["absent.jsonl"], "cannot read absent.jsonl: No such file or directory"),
        (["expertqa", "--limit", "0"], "--limit: expected a number from 1, not '0'"),
        (["expertqa", "--jobs", "many"], "--jobs: expected a number from 1, not 'many'"),
        (
            ["expertqa", "--strategy", "auto"],
            "an evaluation needs one strategy: give --strategy NAME",
        ),
        (["expertqa", "--strategy", "poper"], "did you mean popper?"),
        (["expertqa", "averitec"], "unexpected argument 'averitec'"),
        (["expertqa", "--judged", "x"], "unknown option --judged; did you mean --judge?"),
        (["expertqa", "--model", "nosuch:model"], "nosuch"),
    ],
)
def test_what_goes_wrong_is_told_in_a_line(say: Say, words: list[str], why: str) -> None:
    said = say(*words, "--quiet")
    assert said.code == 2
    assert why in complaint(said)


def test_data_that_is_not_there_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = main(["eval", "drbench", "--data", str(tmp_path / "absent")])
    said = Said(code, *capsys.readouterr())
    assert code == 2
    assert (
        complaint(said)
        == f"there is no evaluation data at {tmp_path / 'absent'}: give its folder with --data DIR"
    )


def test_a_folder_of_another_evaluation_is_refused(say: Say, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert say("expertqa", "--out", out, "--quiet").code == 0
    said = say("expertqa", "--out", out, "--limit", "1", "--quiet")
    assert (said.code, complaint(said)) == (
        2,
        f"{out} holds an evaluation of other cases: give another --out",
    )


def test_stopped_it_says_how_to_go_on(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: CaseJob) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "perform_case", stop)
    said = say("expertqa", "--quiet")
    assert (said.code, complaint(said)) == (
        130,
        "stopped; finished cases are kept, run the same command to continue",
    )


def test_cases_that_failed_are_told_by_the_exit_code(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        evaluation, "perform_case", lambda job: {"case": job.case.id, "error": "CallError: gone"}
    )
    said = say("expertqa", "--quiet")
    assert said.code == 3
    assert "lost 4: failed" in said.out


def test_a_floor_that_is_not_reached_is_told_by_the_exit_code(
    say: Say, keep_floors: Callable[[dict[str, Any]], None]
) -> None:
    keep_floors({"floors": {"citation/expertqa": {"accuracy": {"least": 0.76}}}, "aims": {}})
    said = say("expertqa", "--quiet")
    assert said.code == 1
    assert "0.750" in said.out
    assert "floor ≥ 0.76: not reached" in said.out
    assert say("expertqa", "--quiet", "--limit", "3").code == 0, (
        "a part of a set is compared with nothing"
    )


def test_the_part_is_told_with_the_figures(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_sets, "SPLIT", frozenset({"citation/expertqa"}))
    reported = say("expertqa", "--quiet")
    assert "the half of the cases on which nothing was chosen" in reported.out
    assert "on which constants are chosen" in say("expertqa", "--quiet", "--part", "choose").out
    assert "half of the cases" not in say("expertqa", "--quiet", "--part", "all").out


def test_an_aim_is_told_and_is_no_failure(
    say: Say, keep_floors: Callable[[dict[str, Any]], None]
) -> None:
    keep_floors(
        {
            "floors": {"citation/expertqa": {"accuracy": {"least": 0.75}}},
            "aims": {"citation/expertqa": {"accuracy": {"least": 0.9}}},
        }
    )
    said = say("expertqa", "--quiet")
    assert said.code == 0
    assert "floor ≥ 0.75: reached; aim ≥ 0.9: not reached" in said.out


def test_figures_progress_and_files(say: Say, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = say("expertqa", "--out", str(out))
    assert said.code == 0
    assert "citation/expertqa: 4 of 4 cases" in said.err
    assert said.out.startswith("citation/expertqa: deepdiver")
    assert "scored by code alone" in said.out
    assert "lost 1: full, said to be not" in said.out
    assert str(out / "page.html") in said.out
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["figures"]["auc"] == 0.75
    assert result["figures"]["citation_precision"] == 1.0
    assert result["figures"]["citation_recall"] == 0.5


def test_as_json_with_a_judge_that_is_named(say: Say) -> None:
    said = say("expertqa", "--json", "--quiet", "--limit", "2", "--judge", "embedded")
    assert (said.code, said.err) == (0, "")
    result = json.loads(said.out)
    assert (result["counts"]["cases"], result["judge"]) == (2, "embedded")
    assert result["made_by"].endswith("judged by embedded")
    assert Path(result["folder"]).is_dir()
