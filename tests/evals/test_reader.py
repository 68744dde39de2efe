"""How sets are read and judged, compared with values worked out by hand, and the floors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import reader as bench
from deepdiver.encoders import weigh_parts
from deepdiver.encoders.reader import NOTHING, DocumentVerdict, Reader, Verdict, load_reader
from deepdiver.evals import reader
from deepdiver.evals.floors import reader_floors
from deepdiver.evals.reader import (
    SETS,
    ReaderResult,
    averitec,
    expertqa,
    pairs,
    pubmedqa,
    scifact,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the evaluation data is not beside the repository"
)

S, R, N = "supports", "refutes", "neutral"


PLAIN = ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
"""Weights by which the strongest of each side count, and nothing else."""


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weigh_parts, "WEIGHTS", PLAIN)


class Parrot(Reader):
    """Says what the evidence says of itself.

    "yes" supports, "no" refutes, anything else says not enough.
    """

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        told = {"yes": Verdict(0.9, 0.1, 0.0), "no": Verdict(0.1, 0.8, 0.1)}
        return [
            told.get(evidence.split()[-1] if evidence else "", Verdict(0.1, 0.1, 0.8))
            for evidence, _ in pairs
        ]


# Sets


def test_a_set_without_rows_misses_every_floor(tmp_path: Path) -> None:
    _write_pairs(tmp_path, "none", [])
    assert pairs(Parrot(), tmp_path, "none") == ReaderResult({"accuracy": 0.0}, ())
    (tmp_path / "citation").mkdir()
    for name in ("averitec.1-250", "expertqa.val.claims"):
        (tmp_path / "citation" / f"{name}.jsonl").write_text("", encoding="utf-8")
    assert averitec(Parrot(), tmp_path).figures == {"balanced": 0.0}
    assert expertqa(Parrot(), tmp_path).figures == {"auc": 0.0}


def test_pairs_are_judged_by_their_verdicts(tmp_path: Path) -> None:
    rows = [("yes", S), ("no", R), ("so", N), ("yes", R)]
    _write_pairs(tmp_path, "three", rows)
    found = pairs(Parrot(), tmp_path, "three")
    assert found.figures == {"accuracy": 0.75}
    assert found.stated == ((0.9, True), (0.8, True), (0.8, True), (0.9, False))
    assert len(pairs(Parrot(), tmp_path, "three", 2).stated) == 2


def test_where_nothing_is_neutral_the_likelier_side_counts(tmp_path: Path) -> None:
    _write_pairs(tmp_path, "two", [("yes", S), ("so", R)])
    found = pairs(Parrot(), tmp_path, "two")
    assert found.figures == {"accuracy": 1.0}
    assert found.stated == ((0.9, True), (0.5, True))


def _write_pairs(folder: Path, name: str, rows: list[tuple[str, str]]) -> None:
    (folder / "training").mkdir(exist_ok=True)
    with gzip.open(folder / "training" / f"pairs.{name}.jsonl.gz", "wt") as file:
        for evidence, label in rows:
            file.write(json.dumps({"premise": evidence, "claim": "it is", "label": label}) + "\n")


@pytest.mark.usefixtures("plainly")
def test_scifact_is_judged_by_abstract(tmp_path: Path) -> None:
    (tmp_path / "retrieval").mkdir()
    abstracts = [
        {"id": "1", "text": "['It is yes'\n 'Or is it.']"},
        {"id": "2", "text": "['It is no']"},
    ]
    claims = [
        {
            "claim": "a",
            "evidence_doc_id": "1",
            "evidence_label": "SUPPORT",
            "cited_doc_ids": "[1 2]",
        },
        {
            "claim": "b",
            "evidence_doc_id": "2",
            "evidence_label": "CONTRADICT",
            "cited_doc_ids": "[2]",
        },
        {"claim": "c", "evidence_doc_id": "", "evidence_label": "", "cited_doc_ids": "[2 9]"},
    ]
    for name, rows in (("corpus", abstracts), ("train.claims", claims)):
        file = tmp_path / "retrieval" / f"scifact.{name}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = scifact(Parrot(), tmp_path)
    assert len(found.stated) == 3  # the claim that cites an unknown abstract has one case less
    assert found.figures["accuracy"] == pytest.approx(1 / 3)
    assert [right for _, right in found.stated] == [False, True, False]


@pytest.mark.usefixtures("plainly")
def test_averitec_is_judged_by_questions_with_answers(tmp_path: Path) -> None:
    (tmp_path / "citation").mkdir()
    rows = [
        {
            "claim": "a",
            "label": "Supported",
            "questions": [{"question": "Is it?", "answers": [{"answer": "yes"}]}],
        },
        {
            "claim": "b",
            "label": "Refuted",
            "questions": [{"question": "Is it?", "answers": [{"answer": "no"}]}],
        },
        {"claim": "c", "label": "Refuted", "questions": []},
        {"claim": "d", "label": "Not Enough Evidence", "questions": []},
    ]
    file = tmp_path / "citation" / "averitec.1-250.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert averitec(Parrot(), tmp_path).figures == {"balanced": 1.0}


def test_claims_without_evidence_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "citation").mkdir()
    rows = [
        {"claim": "a [1].", "evidence": ["[1] http://x\n\nIt is\u2028yes"], "support": "Complete"},
        {"claim": "b.", "evidence": ["[1] http://x\n\nIt is no"], "support": "Partial"},
        {"claim": "c.", "evidence": [], "support": "Missing"},
    ]
    file = tmp_path / "citation" / "expertqa.val.claims.jsonl"
    file.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    assert expertqa(Parrot(), tmp_path).figures == {"auc": 1.0}


def test_maybe_is_neither_yes_nor_no(tmp_path: Path) -> None:
    (tmp_path / "reading").mkdir()
    rows = [
        {"question": "Is it?", "context": text, "answer": text} for text in ("yes", "no", "maybe")
    ]
    file = tmp_path / "reading" / "pubmedqa.train.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert pubmedqa(Parrot(), tmp_path).figures == {"auc": 1.0}


def test_passages_are_filled_with_whole_sentences() -> None:
    assert reader._windows([]) == []
    assert reader._windows(["a", "b"]) == ["a b"]
    assert reader._windows(["a" * 600, "b" * 390, "c" * 9, "d" * 2_000]) == [
        f"{'a' * 600} {'b' * 390}",
        "c" * 9,
        "d" * 2_000,
    ]


def test_a_document_states_how_likely_its_stance_is() -> None:
    wholes = [Verdict(0.7, 0.1, 0.2), Verdict(0.3, 0.2, 0.5), Verdict(0.2, 0.6, 0.2)]
    verdicts = [DocumentVerdict(0.9, 0.9, NOTHING, 0, 0, whole) for whole in wholes]
    assert reader._stated(verdicts, [S, S, R]) == ((0.7, True), (0.5, False), (0.6, True))


# The reader itself


def test_there_is_a_floor_for_each_set() -> None:
    assert reader_floors().keys() == SETS.keys()
    assert all(
        0.5 < floor < 1 for measures in reader_floors().values() for floor in measures.values()
    )
    assert reader_floors("wanted") == {
        "fever_symmetric": {"accuracy": 0.82},
        "mnli": {"accuracy": 0.75},
        "averitec": {"balanced": 0.60},
        "scifact": {"macro F1": 0.58},
        "pubmedqa": {"auc": 0.64},
        "expertqa": {"auc": 0.60},
    }


@needs_data
@pytest.mark.slow
def test_the_floor_holds_on_a_small_set() -> None:
    found = SETS["fever_symmetric"](load_reader(), DATA, None)
    assert found.figures["accuracy"] >= reader_floors()["fever_symmetric"]["accuracy"], (
        found.figures
    )
    assert len(found.stated) == 711


@needs_data
@pytest.mark.proof
@pytest.mark.parametrize("name", SETS)
def test_the_floors_hold(name: str) -> None:
    found = SETS[name](load_reader(), DATA, None).figures
    assert all(found[what] >= floor for what, floor in reader_floors()[name].items()), found


def test_the_bench_says_where_the_data_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "DATA", tmp_path / "absent")
    assert bench.figures() == 0
    assert "nothing was measured" in capsys.readouterr().out


def test_the_bench_says_what_misses_its_floor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "DATA", tmp_path)
    monkeypatch.setitem(
        SETS, "mnli", lambda reader, data, most: ReaderResult({"accuracy": 0.5}, ((0.5, True),))
    )
    assert bench.figures(["mnli"]) == 1
    assert (
        f"0.500 (floor {reader_floors()['mnli']['accuracy']}, wanted 0.75)"
        in capsys.readouterr().out
    )
