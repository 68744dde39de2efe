"""The floors: what they say, what misses them, and the quick ones, which hold here and now."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import load
from deepdiver.evals import floors
from deepdiver.evals.evaluation import Evaluation, evaluate
from deepdiver.evals.floors import Bound, bounds, load_floors, missed, quick_bounds
from deepdiver.evals.public_sets import DATA, SETS, first_cases, read_sets
from deepdiver.evals.result import result_of

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the evaluation data is not beside the repository"
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "floors.json"
    kept = {
        "floors": {"a": {"f1": {"least": 0.4}, "ece": {"most": 0.1}}},
        "aims": {"a": {"f1": {"least": 0.5}}, "b": {"f1": {"least": 0.2}}},
        "quick": {"a": {"cases": 3, "f1": {"least": 0.1}}},
    }
    file.write_text(json.dumps(kept))
    monkeypatch.setattr(floors, "FLOORS", file)


@pytest.mark.usefixtures("own")
def test_what_misses_a_floor_is_told_and_an_aim_is_none() -> None:
    assert missed("a", {"f1": 0.39, "ece": 0.11}) == [
        "f1 is 0.390 (floor ≥ 0.4)",
        "ece is 0.110 (floor ≤ 0.1)",
    ]
    assert missed("a", {"f1": 0.4, "ece": 0.1}) == []
    assert missed("a", {}) == [], "what was not measured is not missed"
    assert missed("b", {"f1": 0.0}) == []
    assert missed("unknown", {"f1": 0.0}) == []


@pytest.mark.usefixtures("own")
def test_floors_come_before_aims() -> None:
    assert [str(bound) for bound in bounds("a")] == ["floor ≥ 0.4", "floor ≤ 0.1", "aim ≥ 0.5"]
    assert [str(bound) for bound in bounds("a", "aims")] == ["aim ≥ 0.5"]
    assert quick_bounds() == {"a": (3, [Bound("f1", 0.1, True, True)])}


def test_floors_of_retrieval_are_those_of_its_own_test() -> None:
    assert [(bound.figure, str(bound)) for bound in bounds("retrieval/musique")] == [
        ("recall@5", "floor ≥ 0.64"),
        ("all-support@8", "floor ≥ 0.48"),
    ]
    assert bounds("retrieval/musique", "aims") == bounds("retrieval/zebra") == []
    assert missed("retrieval/scifact", {"ndcg@10": 0.7}) == ["ndcg@10 is 0.700 (floor ≥ 0.72)"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_bound_is_met_from_its_number_on(value: float, wanted: float) -> None:
    least, most = Bound("f1", wanted, True, True), Bound("f1", wanted, False, True)
    assert least.met(value) or most.met(value)
    assert least.met(wanted)
    assert most.met(wanted)
    assert least.met(value) == (value >= wanted - 1e-9)


def test_what_was_set_as_the_least_to_reach_stands_in_the_file() -> None:
    """Each is a floor or an aim, and no number was moved to fit a figure."""
    wanted = {
        "multihop/hotpotqa": {"f1": 0.40},
        "multihop/musique": {"f1": 0.20},
        "conflict/ramdocs": {"all_and_nothing_else": 0.28, "misinformation": 0.25, "ece": 0.08},
        "citation/averitec": {"balanced": 0.60},
        "citation/expertqa": {"auc": 0.60},
        "reading/pubmedqa": {"auc": 0.64},
        "drbench": {"insight_recall": 0.45, "distractors_let_in": 0.12},
    }
    lower = {"misinformation", "distractors_let_in", "ece"}
    for name, row in wanted.items():
        for figure, value in row.items():
            known = [bound for bound in bounds(name) if bound.figure == figure]
            assert known, (name, figure)
            strict = [
                bound.value <= value if figure in lower else bound.value >= value for bound in known
            ]
            assert any(strict), (name, figure)
            assert all(bound.at_least is (figure not in lower) for bound in known)
    assert {"retrieval", "floors", "aims", "quick"} <= load_floors().keys()
    assert {*load_floors()["floors"], *load_floors()["aims"], *load_floors()["quick"]} <= set(SETS)


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", quick_bounds())
def test_the_quick_floors_hold(name: str, tmp_path: Path) -> None:
    count, wanted = quick_bounds()[name]
    (of,) = read_sets(name, DATA)
    of = replace(of, cases=first_cases(of.cases, count))
    evaluation = Evaluation(of, load({"home": tmp_path / "home"}), tmp_path / "out")
    figures = result_of(evaluation, evaluate(evaluation))["figures"]
    assert wanted
    for bound in wanted:
        assert bound.met(figures[bound.figure]), (
            f"{bound.figure} is {figures[bound.figure]:.3f} ({bound})"
        )
