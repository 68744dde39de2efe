"""The measures against values worked out by hand, and the library against its floors."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import retrieval as bench
from deepdiver.evals.documents import Document
from deepdiver.evals.floors import retrieval_floors
from deepdiver.evals.retrieval import (
    COLLECTIONS,
    Corpus,
    Query,
    all_support,
    measure_ranking,
    ndcg,
    ranker,
    recall,
    write_corpus,
)
from deepdiver.tools.library.local.library import LocalLibrary

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the evaluation data is not beside the repository"
)


def test_nothing_found_and_nothing_wanted() -> None:
    assert ndcg([], {"a": 1.0}) == 0.0
    assert ndcg(["a"], {}) == 0.0
    assert recall([], ["a"]) == 0.0
    assert recall(["a"], []) == 0.0
    assert all_support(["a"], []) == 0.0
    assert measure_ranking(Corpus((), (), multihop=True), lambda _: []) == {
        "recall@5": 0.0,
        "all-support@8": 0.0,
    }


@pytest.mark.parametrize(
    ("ranked", "gains", "k", "expected"),
    [
        (["a"], {"a": 1.0}, 10, 1.0),
        (["x", "a"], {"a": 1.0}, 10, 1 / math.log2(3)),
        (["x", "y", "a"], {"a": 1.0}, 10, 0.5),
        (["x"] * 10 + ["a"], {"a": 1.0}, 10, 0.0),
        # 3/1 + 0 + 1/2 = 3.5, of 3/1 + 2/log2(3) + 1/2 = 4.7618595
        (["a", "x", "c"], {"a": 3.0, "b": 2.0, "c": 1.0}, 10, 3.5 / (3 + 2 / math.log2(3) + 0.5)),
        (["b", "a"], {"a": 4.0, "b": 1.0}, 10, (1 + 4 / math.log2(3)) / (4 + 1 / math.log2(3))),
        (["a", "b"], {"a": 1.0, "b": 1.0, "c": 1.0}, 2, 1.0),
    ],
)
def test_discounted_gain(
    ranked: list[str], gains: dict[str, float], k: int, expected: float
) -> None:
    assert ndcg(ranked, gains, k) == pytest.approx(expected)


def test_discounted_gain_of_a_textbook_example() -> None:
    # Gains 3 2 3 0 1 2 in this order: DCG 6.861, of 7.141 in the best order.
    gains = {"a": 3.0, "b": 2.0, "c": 3.0, "d": 0.0, "e": 1.0, "f": 2.0}
    assert ndcg(list("abcdef"), gains, 6) == pytest.approx(0.961, abs=5e-4)


def test_recall_and_support() -> None:
    assert recall(list("abcde"), ["a", "f"]) == 0.5
    assert recall(list("abcdef"), ["a", "f"]) == 0.5
    assert recall(list("fabcd"), ["a", "f"]) == 1.0
    assert all_support(list("abcdefgh"), ["a", "h"]) == 1.0
    assert all_support(list("abcdefghi"), ["a", "i"]) == 0.0


@given(
    st.permutations("abcdefgh"),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.1, 4), min_size=1),
)
def test_the_best_order_is_one_and_no_other_is_more(
    ranked: list[str], gains: dict[str, float]
) -> None:
    assert 0.0 <= ndcg(ranked, gains) <= 1.0 + 1e-9
    assert ndcg(sorted(gains, key=lambda item: -gains[item]), gains) == pytest.approx(1.0)


def test_a_collection_is_measured_by_what_fits_it() -> None:
    queries = (Query("one", {"a": 1.0, "b": 1.0}), Query("two", {"c": 1.0}))
    ranks = {"one": ["a", "x", "b"], "two": ["x"] * 5 + ["c"]}
    hops = measure_ranking(Corpus((), queries, multihop=True), ranks.__getitem__)
    assert hops == {"recall@5": 0.5, "all-support@8": 1.0}
    plain = measure_ranking(Corpus((), queries, multihop=False), ranks.__getitem__)
    first = (1 + 0.5) / (1 + 1 / math.log2(3))
    assert plain == {"ndcg@10": pytest.approx((first + 1 / math.log2(7)) / 2)}


def test_documents_are_ranked_by_their_best_passages(tmp_path: Path) -> None:
    corpus = Corpus(
        (
            Document("1", 'The "great"\nfire', "A ferry burnt."),
            Document("2", "Lake", "Nickel: a ferry? No."),
        ),
        (),
        False,
    )
    write_corpus(corpus, tmp_path / "files")
    library = LocalLibrary(tmp_path / "library")
    library.refresh([tmp_path / "files"])
    assert {entry.title for entry in library.documents()} == {'The "great" fire', "Lake"}
    assert ranker(library)("ferry fire")[0] == "1"
    assert sorted(ranker(library)("ferry")) == ["1", "2"]
    library.close()


def test_there_is_a_floor_for_each_collection() -> None:
    assert retrieval_floors().keys() == COLLECTIONS.keys()
    assert retrieval_floors() == {
        "scifact": {"ndcg@10": 0.72},
        "cranfield": {"ndcg@10": 0.42},
        "musique": {"recall@5": 0.64, "all-support@8": 0.48},
        "hotpotqa": {"recall@5": 0.87, "all-support@8": 0.87},
    }


@needs_data
@pytest.mark.parametrize(
    ("name", "items", "queries", "judged"),
    [
        ("scifact", 5_183, 809, 919),
        ("cranfield", 1_400, 225, 1_612),
        ("musique", 1_890, 100, 237),
        ("hotpotqa", 994, 100, 200),
    ],
)
def test_collections_are_read_whole(name: str, items: int, queries: int, judged: int) -> None:
    corpus = COLLECTIONS[name](DATA)
    assert (len(corpus.items), len(corpus.queries)) == (items, queries)
    assert sum(len(query.gains) for query in corpus.queries) == judged
    known = {item.id for item in corpus.items}
    assert all(query.gains.keys() <= known for query in corpus.queries)
    assert all(query.text.strip() for query in corpus.queries)
    # Two abstracts of it are empty.
    assert all(item.text.strip() for item in corpus.items) or name == "cranfield"
    assert not any(item.text.startswith("['") or "'\n '" in item.text for item in corpus.items)


@needs_data
def test_cranfields_grades_count_the_right_way_round() -> None:
    corpus = COLLECTIONS["cranfield"](DATA)
    assert corpus.queries[0].gains["184"] == 3.0  # of grade 2
    assert {gain for query in corpus.queries for gain in query.gains.values()} == {
        1.0,
        2.0,
        3.0,
        4.0,
    }


@needs_data
@pytest.mark.slow
def test_the_floors_hold_on_a_small_part(tmp_path: Path) -> None:
    whole = COLLECTIONS["hotpotqa"](DATA)
    queries = whole.queries[:12]
    wanted = {document for query in queries for document in query.gains}
    items = [item for item in whole.items if item.id in wanted] + [
        item for item in whole.items if item.id not in wanted
    ][:40]
    corpus = Corpus(tuple(items), queries, multihop=True)
    write_corpus(corpus, tmp_path / "files")
    library = LocalLibrary(tmp_path / "library")
    library.refresh([tmp_path / "files"])
    library.embed()
    found = measure_ranking(corpus, ranker(library))
    library.close()
    assert all(found[name] >= floor for name, floor in retrieval_floors()["hotpotqa"].items()), (
        found
    )


@needs_data
@pytest.mark.proof
@pytest.mark.parametrize("name", COLLECTIONS)
def test_the_floors_hold(name: str) -> None:
    found = bench.figures(name)
    assert all(found[what] >= floor for what, floor in retrieval_floors()[name].items()), found


def test_the_bench_says_where_the_data_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "DATA", tmp_path / "absent")
    assert bench.main() == 0
    assert "nothing was measured" in capsys.readouterr().out


def test_the_bench_says_what_misses_its_floor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "DATA", tmp_path)
    monkeypatch.setattr(bench, "figures", lambda name: {"ndcg@10": 0.5})
    assert bench.main(["scifact"]) == 1
    assert "0.500 (floor 0.72)" in capsys.readouterr().out
