"""Set by set: which folder, which cases, and when floors apply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench import answers as bench
from deepdiver.core.settings import Settings, load
from deepdiver.errors import UsageError
from deepdiver.evals import evaluation, floors, public_sets
from deepdiver.evals.cases import Part
from deepdiver.evals.evaluate_sets import EvalRequest, evaluate_sets
from deepdiver.evals.perform_case import CaseJob


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"home": tmp_path / "home"})


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small sets in the shape of the public ones, but not split."""
    monkeypatch.setattr(public_sets, "SPLIT", frozenset())
    folder = tmp_path / "data" / "citation"
    folder.mkdir(parents=True)
    claims = [
        {"claim": f"It is {n}.", "evidence": ["It is 1."], "support": "Complete"} for n in (1, 2)
    ]
    (folder / "expertqa.val.claims.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in claims)
    )
    told = {"claim": "It is so.", "label": "Refuted", "questions": []}
    (folder / "averitec.1-250.jsonl").write_text(json.dumps(told) + "\n")
    return tmp_path / "data"


def measured(request: EvalRequest, settings: Settings) -> list[tuple[dict[str, Any], Path]]:
    return list(evaluate_sets(request, settings, lambda _: None, lambda *_: None))


def test_what_cannot_be_measured_is_told(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no evaluation data at"):
        measured(EvalRequest("drbench", data=tmp_path / "absent"), settings)
    with pytest.raises(UsageError, match="unknown set"):
        measured(EvalRequest("zebra", data=tmp_path), settings)


def test_an_unfinished_evaluation_is_gone_on_with_and_a_finished_one_is_not(
    settings: Settings, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def do(job: CaseJob) -> dict[str, Any]:
        if len(done) == 1:
            done.append("interrupted")
            raise KeyboardInterrupt
        done.append(job.case.id)
        return {
            "case": job.case.id,
            "error": "",
            "said": "full",
            "score": 1.0,
            "seconds": 0.0,
            "usd": "0",
        }

    monkeypatch.setattr(evaluation, "perform_case", do)
    request = EvalRequest("expertqa", data=data)
    with pytest.raises(KeyboardInterrupt):
        measured(request, settings)
    ((_, first),) = measured(request, settings)
    assert done == ["0001", "interrupted", "0002"]
    ((_, second),) = measured(request, settings)
    assert (first.name, second.name) == ("citation-expertqa-001", "citation-expertqa-002")
    assert first.parent == settings.home / "evals" / "results"
    assert done[3:] == ["0001", "0002"], "what is finished is measured anew"


def test_another_wish_gets_another_folder(settings: Settings, data: Path) -> None:
    ((_, whole),) = measured(EvalRequest("expertqa", data=data), settings)
    ((part, other),) = measured(EvalRequest("expertqa", data=data, limit=1), settings)
    assert whole != other
    assert part["counts"]["cases"] == 1


def test_several_sets_lie_side_by_side(settings: Settings, data: Path, tmp_path: Path) -> None:
    told: list[str] = []
    counted: list[tuple[str, int, int]] = []
    request = EvalRequest("citation", data=data, out=tmp_path / "out")
    found = list(evaluate_sets(request, settings, told.append, lambda *of: counted.append(of)))
    assert [result["set"] for result, _ in found] == ["citation/expertqa", "citation/averitec"]
    assert [folder.name for _, folder in found] == ["citation-expertqa", "citation-averitec"]
    assert all(
        (folder / "page.html").is_file() and (folder / "result.json").is_file()
        for _, folder in found
    )
    assert told[0].startswith("citation/expertqa: deepdiver")
    assert counted == [
        ("citation/expertqa", 1, 2),
        ("citation/expertqa", 2, 2),
        ("citation/averitec", 1, 1),
    ]
    ((_, alone),) = measured(EvalRequest("averitec", data=data, out=tmp_path / "alone"), settings)
    assert alone == tmp_path / "alone"


def test_floors_are_of_whole_sets_and_of_the_embedded_reasoner(
    settings: Settings, data: Path
) -> None:
    ((whole, _),) = measured(EvalRequest("expertqa", data=data), settings)
    ((part, _),) = measured(EvalRequest("expertqa", data=data, limit=1), settings)
    routed = settings.model_copy(update={"task_models": {"decide": "a:b"}, "keys": {}})
    assert (whole["compared"], part["compared"]) == (True, False)
    with pytest.raises(UsageError):  # a model is named that nobody provides
        measured(EvalRequest("expertqa", data=data), routed)


def test_half_of_a_split_set_is_reported_on_unless_told_otherwise(
    settings: Settings, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_sets, "SPLIT", frozenset({"citation/expertqa"}))
    found = {}
    for part in Part:
        request = EvalRequest("expertqa", data=data, part=part)
        ((found[part], _),) = measured(request, settings)
    assert {part: [case["id"] for case in of["cases"]] for part, of in found.items()} == {
        Part.REPORT: ["0002"],
        Part.CHOOSE: ["0001"],
        Part.ALL: ["0001", "0002"],
    }
    assert [found[part]["compared"] for part in Part] == [True, False, False]
    assert "the half of the cases on which nothing was chosen" in found[Part.REPORT]["made_by"]
    assert "on which constants are chosen" in found[Part.CHOOSE]["made_by"]
    assert "half" not in found[Part.ALL]["made_by"]


def test_a_set_that_is_not_split_has_no_part_to_choose_on(settings: Settings, data: Path) -> None:
    with pytest.raises(UsageError, match="citation/expertqa is not split"):
        measured(EvalRequest("expertqa", data=data, part=Part.CHOOSE), settings)


# The bench


def test_the_bench_says_where_the_data_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "DATA", tmp_path / "absent")
    assert bench.main() == 0
    assert "nothing was measured" in capsys.readouterr().out


@pytest.mark.parametrize(("value", "code"), [(0.41, 1), (0.40, 0)])
def test_the_bench_says_what_misses_its_floor_and_what_is_an_aim(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    value: float,
    code: int,
) -> None:
    def measured_so(request: EvalRequest, *_: Any) -> Iterator[tuple[dict[str, Any], Path]]:
        figures = {"misinformation": value, "all_and_nothing_else": 0.1}
        yield {"set": request.set, "figures": figures, "losses": {"3 no finding": 7}}, tmp_path

    kept = {
        "floors": {"conflict/ramdocs": {"misinformation": {"most": 0.4}}},
        "aims": {
            "conflict/ramdocs": {
                "all_and_nothing_else": {"least": 0.3},
                "unmeasured": {"least": 1.0},
            }
        },
    }
    (tmp_path / "floors.json").write_text(json.dumps(kept))
    monkeypatch.setattr(floors, "FLOORS", tmp_path / "floors.json")
    monkeypatch.setattr(bench, "DATA", tmp_path)
    monkeypatch.setattr(bench, "evaluate_sets", measured_so)
    assert bench.main(["conflict/ramdocs"]) == code
    said = capsys.readouterr().out
    assert f"{value:.3f} (floor ≤ 0.4{', not reached' if code else ''})" in said
    assert "0.100 (aim ≥ 0.3, not reached)" in said
    assert "lost 7: 3 no finding" in said
    assert "unmeasured" not in said
