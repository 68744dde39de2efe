from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deepdiver.encoders import VectorTable, vector_table
from deepdiver.encoders.row_file import HEADER
from deepdiver.encoders.vector_table import BLOCK, DOT, DOT_HASH, SCALE, ZERO
from deepdiver.errors import DamagedStoreError, StoreAccessError

Floats = npt.NDArray[np.float32]
D = 16


def units(count: int, dimension: int = D, seed: int = 0) -> Floats:
    """Return random unit vectors."""
    drawn = np.random.default_rng(seed).normal(size=(count, dimension))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


@pytest.fixture
def table(path: Path) -> Iterator[VectorTable]:
    with VectorTable(path, D) as made:
        yield made


# What can go wrong


def test_a_file_of_something_else_is_refused(path: Path) -> None:
    path.write_bytes(b"not a table" * 30)
    with pytest.raises(DamagedStoreError, match="vectors is damaged"):
        VectorTable(path, D)


def test_rows_that_do_not_fit_are_refused(table: VectorTable) -> None:
    for rows in (vector_table.pack(units(2, 2 * D)), vector_table.pack(units(2))[0]):
        with pytest.raises(ValueError, match="do not fit"):
            table.append_packed(rows)
    assert len(table) == 0


def test_a_query_that_does_not_fit_packed_vectors_is_refused() -> None:
    rows = vector_table.pack(units(2))
    with pytest.raises(ValueError, match="does not fit"):
        vector_table.nearness(rows, units(1, 2 * D)[0])
    with pytest.raises(ValueError, match="not finite"):
        vector_table.nearness(rows, np.full(D, np.nan, np.float32))


def test_a_table_of_another_dimension_is_refused(path: Path, table: VectorTable) -> None:
    table.append(units(3))
    with pytest.raises(DamagedStoreError, match="damaged"):
        VectorTable(path, 2 * D)
    with pytest.raises(DamagedStoreError, match="damaged"):
        VectorTable(path)


def test_a_torn_tail_is_cut(path: Path, table: VectorTable) -> None:
    table.append(units(3))
    table.close()
    whole = path.read_bytes()
    path.write_bytes(whole + whole[HEADER : HEADER + D])
    with VectorTable(path, D) as again:
        assert len(again) == 3
        assert path.read_bytes() == whole
        assert again.append(units(2)) == range(3, 5)


def test_lost_rows_are_noticed(path: Path, table: VectorTable) -> None:
    table.append(units(3))
    table.close()
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(DamagedStoreError, match="should have 3 rows"):
        VectorTable(path, D)


@pytest.mark.parametrize("shape", [(D,), (1, D + 1), (1, D - 1), (2, 1, D), (0, 3), ()])
def test_vectors_of_another_shape_are_refused(table: VectorTable, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"do not fit a table of \(n, 16\)"):
        table.append(np.ones(shape, np.float32))
    assert len(table) == 0


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_refused(table: VectorTable, number: float) -> None:
    table.append(units(2))
    spoiled = units(3)
    spoiled[1, 2] = number
    with pytest.raises(ValueError, match="not finite"):
        table.append(spoiled)
    with pytest.raises(ValueError, match="not finite"):
        table.search(spoiled[1], 1)
    assert len(table) == 2


@pytest.mark.parametrize("shape", [(), (D + 1,), (1, D)])
def test_a_query_of_another_shape_is_refused(table: VectorTable, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"does not fit a table of \(16,\)"):
        table.search(np.ones(shape, np.float32), 1)


@pytest.mark.parametrize("k", [0, -1])
def test_no_rows_cannot_be_asked_for(table: VectorTable, k: int) -> None:
    with pytest.raises(ValueError, match="at least one row"):
        table.search(units(1)[0], k)


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        (np.ones(5, bool), "has 5 rows, the table has 4"),
        (np.ones((2, 2), bool), "it must have one dimension"),
        (np.array([0, 4]), "names rows 0 to 4, the table has 4"),
        (np.array([-1, 2]), "names rows -1 to 2, the table has 4"),
    ],
)
def test_rows_that_are_not_there_cannot_be_allowed(
    table: VectorTable, allowed: Any, words: str
) -> None:
    table.append(units(4))
    with pytest.raises(ValueError, match=words):
        table.search(units(1)[0], 1, allowed)


def test_an_empty_table_finds_nothing(table: VectorTable) -> None:
    assert len(table) == 0
    for allowed in (None, np.zeros(0, bool), np.zeros(0, np.int64)):
        rows, scores = table.search(units(1)[0], 3, allowed)
        assert rows.shape == scores.shape == (0,)
        assert rows.dtype.name == "int64"
        assert scores.dtype.name == "float32"


@pytest.mark.parametrize(
    "allowed", [np.zeros(4, bool), np.zeros(2, bool), np.zeros(0, bool), np.zeros(0, np.int64)]
)
def test_nothing_allowed_is_nothing_found(table: VectorTable, allowed: Any) -> None:
    table.append(units(4))
    rows, scores = table.search(units(1)[0], 3, allowed)
    assert len(rows) == len(scores) == 0


def test_more_than_there_is_gives_all_there_is(table: VectorTable) -> None:
    table.append(units(4))
    rows, scores = table.search(units(1)[0], 100)
    assert sorted(rows) == [0, 1, 2, 3]
    assert rows[0] == 0
    assert list(scores) == sorted(scores, reverse=True)


def test_the_multiplication_must_be_ours(
    table: VectorTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.append(units(1))
    vector_table._multiply.cache_clear()
    monkeypatch.setattr(vector_table, "DOT", tmp_path / "dot.onnx")
    with pytest.raises(StoreAccessError, match="install deepdiver again"):
        table.search(units(1)[0], 1)
    (tmp_path / "dot.onnx").write_bytes(b"another")
    with pytest.raises(DamagedStoreError, match="install deepdiver again"):
        table.search(units(1)[0], 1)


def test_the_multiplication_is_the_one_the_readme_describes() -> None:
    data = DOT.read_bytes()
    assert hashlib.sha256(data).hexdigest() == DOT_HASH
    page = (DOT.parent / "minilm" / "README.md").read_text(encoding="utf-8")
    assert f"| `dot.onnx` | {len(data)} | `{DOT_HASH}` |" in page


def test_a_closed_table_is_closed(table: VectorTable) -> None:
    table.append(units(2))
    table.close()
    table.close()
    with pytest.raises(ValueError, match="closed"):
        table.search(units(1)[0], 1)
    with pytest.raises(ValueError, match="closed"):
        table.append(units(1))


# What it finds


def test_a_vector_finds_itself_first(table: VectorTable) -> None:
    stored = units(50)
    assert table.append(stored[:20]) == range(20)
    assert table.append(stored[20:]) == range(20, 50)
    assert table.append(stored[:0]) == range(50, 50)
    for row in (0, 19, 20, 49):
        rows, scores = table.search(stored[row], 3)
        assert rows[0] == row
        assert scores[0] == pytest.approx(1, abs=0.01)


def test_equal_scores_come_by_row(table: VectorTable) -> None:
    one, other = units(2)
    table.append(np.vstack([other, one, one, other, one, one]))
    assert table.search(one, 3)[0].tolist() == [1, 2, 4]
    assert table.search(one, 4)[0].tolist() == [1, 2, 4, 5]
    assert table.search(one, 2, np.array([5, 4, 2, 4, 0]))[0].tolist() == [2, 4]


def test_vectors_of_zeros_have_no_score(table: VectorTable) -> None:
    zero = np.zeros(D, np.float32)
    table.append(np.vstack([zero, units(1)[0], zero]))
    rows, scores = table.search(units(1)[0], 3)
    assert rows.tolist() == [1, 0, 2]
    assert scores[1:].tolist() == [0, 0]
    rows, scores = table.search(zero, 3)
    assert rows.tolist() == [0, 1, 2]
    assert scores.tolist() == [0, 0, 0]


def test_allowed_rows_are_the_only_ones(table: VectorTable) -> None:
    stored = units(40)
    table.append(stored)
    query = stored[3]
    exact = stored @ query
    for share in (1, 2, 3, 10):
        mask = np.zeros(40, bool)
        mask[1::share] = True
        expected = [row for row in np.argsort(-exact) if mask[row]][:5]
        rows, scores = table.search(query, 5, mask)
        assert rows.tolist() == expected
        assert np.abs(scores - exact[rows]).max() < 0.01
        again, same = table.search(query, 5, np.flatnonzero(mask)[::-1])
        assert (again == rows).all()
        assert (same == scores).all()


def test_rows_behind_a_mask_are_not_looked_at(table: VectorTable) -> None:
    stored = units(4)
    table.append(stored)
    assert table.search(stored[3], 4, np.ones(2, bool))[0].max() == 1


def test_more_rows_than_a_block(table: VectorTable) -> None:
    stored = units(2 * BLOCK + 7)
    table.append(stored)
    for row in (0, BLOCK - 1, BLOCK, 2 * BLOCK + 6):
        assert table.search(stored[row], 1)[0].tolist() == [row]
        sparse = (
            np.arange(row % 2, len(stored), 4)
            if row % 4 < 2
            else np.arange(2 + row % 2, len(stored), 4)
        )
        assert table.search(stored[row], 1, np.union1d(sparse, [row]))[0].tolist() == [row]
    exact = stored @ stored[5]
    rows, scores = table.search(stored[5], 50)
    assert np.abs(scores - exact[rows]).max() < 0.01


def test_a_score_does_not_depend_on_threads_or_on_what_is_allowed(
    path: Path, table: VectorTable
) -> None:
    stored = units(500)
    table.append(stored)
    rows, scores = table.search(stored[9], 20)
    with VectorTable(path, D, intra_op=1) as single:
        found, same = single.search(stored[9], 20)
    assert (found == rows).all()
    assert (same == scores).all()
    found, same = table.search(stored[9], 20, rows)
    assert (found == rows).all()
    assert (same == scores).all()


def test_the_largest_products_do_not_overflow(tmp_path: Path) -> None:
    with VectorTable(tmp_path / "wide", 384) as table:
        table.append(np.stack([np.full(384, 1, np.float32), np.full(384, -1, np.float32)]))
        rows, scores = table.search(np.full(384, 1, np.float32), 2)
        assert rows.tolist() == [0, 1]
        assert scores.tolist() == pytest.approx([384, -384], rel=1e-4)


def test_another_table_on_the_same_file_sees_what_is_added(path: Path, table: VectorTable) -> None:
    stored = units(6)
    with VectorTable(path, D) as reader:
        assert len(reader) == 0
        table.append(stored[:3])
        assert reader.search(stored[2], 1)[0].tolist() == [2]
        table.append(stored[3:])
        assert len(reader) == 6
        assert reader.search(stored[5], 1)[0].tolist() == [5]


def test_threads_may_search_while_rows_are_added(table: VectorTable) -> None:
    stored = units(60)
    table.append(stored[:1])
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            assert table.search(stored[0], 1)[0].tolist() == [0]

    searcher = threading.Thread(target=search)
    searcher.start()
    for row in range(1, 60):
        assert table.append(stored[row : row + 1]) == range(row, row + 1)
    done.set()
    searcher.join()
    assert table.search(stored[59], 1)[0].tolist() == [59]


# Against plain numpy

NUMBERS = st.floats(-1, 1, width=32)
TABLES = st.integers(1, 12).flatmap(
    lambda dimension: st.tuples(
        hnp.arrays(np.float32, st.tuples(st.integers(0, 30), st.just(dimension)), elements=NUMBERS),
        hnp.arrays(np.float32, dimension, elements=NUMBERS),
    )
)


def error_of(stored: Floats, query: Floats) -> npt.NDArray[np.float64]:
    """Return how far a score may be from the exact one: half a step of each number."""
    largest = np.abs(stored).max(axis=1, initial=0).astype(np.float64)
    size, most = np.abs(query).astype(np.float64).sum(), np.abs(query).max(initial=0)
    row_part = largest / 254 * size
    query_part = most / (2 * vector_table.FINE) * len(query) * largest
    return np.asarray((row_part + query_part) * 1.001 + 1e-6)


@settings(deadline=None)
@given(TABLES, st.integers(1, 40), st.data())
def test_the_ranking_is_numpys_within_the_error_of_quantisation(
    made: tuple[Floats, Floats], k: int, data: st.DataObject
) -> None:
    stored, query = made
    mask = data.draw(hnp.arrays(np.bool_, len(stored)))
    exact = stored.astype(np.float64) @ query.astype(np.float64)
    error = error_of(stored, query)
    with (
        tempfile.TemporaryDirectory() as folder,
        VectorTable(Path(folder) / "table", stored.shape[1]) as table,
    ):
        table.append(stored)
        rows, scores = table.search(query, k, mask)
        numbers, same = table.search(query, k, np.flatnonzero(mask))
    assert (rows == numbers).all()
    assert (scores == same).all()
    assert len(set(rows.tolist())) == len(rows) == min(k, int(mask.sum()))
    assert mask[rows].all()
    assert (np.abs(scores - exact[rows]) <= error[rows]).all()
    assert [
        (-score, row) for score, row in zip(scores.tolist(), rows.tolist(), strict=True)
    ] == sorted((-score, row) for score, row in zip(scores.tolist(), rows.tolist(), strict=True))
    left = np.setdiff1d(np.flatnonzero(mask), rows)
    if len(left) and len(rows):
        assert (exact[left] - error[left]).max() <= scores.min()


@given(hnp.arrays(np.float32, (3, 5), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_what_is_packed_is_within_half_a_step(stored: Floats) -> None:
    packed = vector_table.pack(stored)
    assert packed.shape == (3, 5 + SCALE)
    steps = packed[:, 5:].copy().view("<f4").astype(np.float64)
    back = (packed[:, :5].astype(np.float64) - ZERO) * steps
    tiny = np.finfo(
        np.float32
    ).tiny  # Below it a float32 has fewer digits, and a step may be off by more.
    assert (np.abs(back - stored) <= steps * 0.5001 + tiny).all()


@given(hnp.arrays(np.float32, 7, elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_a_query_in_two_columns_is_almost_exact(query: Floats) -> None:
    columns, step = vector_table._columns(query)
    assert columns.shape == (7 + SCALE, 2)
    assert (columns[7:] == ZERO).all()
    coarse, fine = columns[:7].astype(np.int64).T - ZERO
    assert (np.abs((256 * coarse + fine) * step - query) <= step * 0.5001).all()


@given(
    hnp.arrays(np.float32, st.integers(0, 50), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])),
    st.integers(1, 60),
)
def test_the_best_are_the_best_and_equal_ones_keep_their_order(scores: Floats, k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:k]
    assert vector_table._best(scores, k).tolist() == expected


@settings(max_examples=50)
@given(st.integers(1, 40), st.integers(0, 1_000))
def test_packed_vectors_are_as_near_as_in_a_table(count: int, seed: int) -> None:
    rows, query = vector_table.pack(units(count, seed=seed)), units(1, seed=seed + 1)[0]
    with tempfile.TemporaryDirectory() as folder, VectorTable(Path(folder) / "vectors", D) as table:
        assert table.append_packed(rows[: count // 2]) == range(count // 2)
        table.append(units(count, seed=seed)[count // 2 :])
        found, scores = table.search(query, count)
    near = vector_table.nearness(rows, query)
    assert near[found].tobytes() == scores.tobytes()
    assert vector_table.nearness(rows[:0], query).shape == (0,)
