"""Vectors kept by what was embedded.

Never made twice, never lost with more than time, never another's.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.encoders.row_file import RowFile
from deepdiver.encoders.vector_table import pack
from deepdiver.errors import NewerSchemaError, StoreFullError
from deepdiver.tools.library.embedding import embed_texts
from deepdiver.tools.library.local import vector_cache
from deepdiver.tools.library.local.vector_cache import STEP, WIDTH, VectorCache
from deepdiver.tools.library.sample_vectors import KEY_BYTES

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
TEXTS = ["The ferry burnt.", "Nickel in the lake.", "Holm Works owns it."]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """What was embedded, in its order; by a rule that takes no time."""
    asked: list[str | None] = []

    def counted(texts: Sequence[str | None]) -> object:
        asked.extend(texts)
        return np.stack([_drawn(text) for text in texts]) if texts else embed_texts(texts)

    monkeypatch.setattr(vector_cache, "embed_texts", counted)
    return asked


def _drawn(text: str | None) -> Floats:
    if text is None:
        return np.zeros(WIDTH - 4, np.float32)
    return np.random.default_rng(list(text.encode())).standard_normal(WIDTH - 4, np.float32)


@pytest.fixture
def opened() -> Iterator[Callable[[Path], VectorCache]]:
    """Opens, as another process would, what is closed at the end."""
    held: list[VectorCache] = []

    def open_(file: Path) -> VectorCache:
        held.append(VectorCache(file))
        return held[-1]

    yield open_
    for one in held:
        one.close()


@pytest.fixture
def one(tmp_path: Path, opened: Callable[[Path], VectorCache]) -> VectorCache:
    return opened(tmp_path / "kept")


def count(one: VectorCache) -> int:
    with closing(RowFile(one.file, KEY_BYTES + WIDTH)) as rows:
        return len(rows)


# -- what goes wrong


def test_a_spoilt_file_is_made_anew(
    one: VectorCache, made: list[str | None], opened: Callable[[Path], VectorCache]
) -> None:
    one.file.write_bytes(b"something else" * 40)
    first = one.vectors(TEXTS)
    assert len(made) == 3
    assert np.array_equal(opened(one.file).vectors(TEXTS), first)
    assert len(made) == 3


def test_a_file_that_was_cut_short_is_made_anew(one: VectorCache, made: list[str | None]) -> None:
    first = one.vectors(TEXTS)
    one.close()
    one.file.write_bytes(one.file.read_bytes()[: -WIDTH // 2])
    assert np.array_equal(one.vectors(TEXTS), first)
    assert len(made) == 6


def test_a_file_of_a_newer_deepdiver_is_told_and_left(
    one: VectorCache, made: list[str | None]
) -> None:
    one.vectors(TEXTS)
    one.close()
    data = one.file.read_bytes().replace(b"ddrow001", b"ddrow999", 1)
    one.file.write_bytes(data)
    with pytest.raises(NewerSchemaError, match="upgrade"):
        one.vectors(TEXTS)
    assert one.file.read_bytes() == data


def test_a_place_that_cannot_be_written_costs_time_alone(
    tmp_path: Path, made: list[str | None], opened: Callable[[Path], VectorCache]
) -> None:
    (tmp_path / "file").write_text("x")
    nowhere = opened(tmp_path / "file" / "kept")
    first = nowhere.vectors(TEXTS)
    assert np.array_equal(nowhere.vectors(TEXTS), first)
    assert made == TEXTS  # known as long as the process lives


def test_a_full_disk_costs_time_alone(
    one: VectorCache,
    made: list[str | None],
    monkeypatch: pytest.MonkeyPatch,
    opened: Callable[[Path], VectorCache],
) -> None:
    def full(self: RowFile, rows: bytes) -> range:
        raise StoreFullError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(RowFile, "append", full)
        first = one.vectors(TEXTS)
        assert np.array_equal(one.vectors(TEXTS), first)
    assert made == TEXTS
    assert np.array_equal(opened(one.file).vectors(TEXTS), first)
    assert made == TEXTS * 2


def test_what_fails_in_the_middle_keeps_what_was_done(
    one: VectorCache, monkeypatch: pytest.MonkeyPatch, opened: Callable[[Path], VectorCache]
) -> None:
    asked: list[int] = []

    def fails(texts: Sequence[str | None]) -> object:
        asked.append(len(texts))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return np.stack([_drawn(text) for text in texts])

    monkeypatch.setattr(vector_cache, "embed_texts", fails)
    texts = [f"text {number}" for number in range(STEP + 5)]
    with pytest.raises(KeyboardInterrupt):
        one.vectors(texts)
    assert len(opened(one.file).vectors(texts)) == STEP + 5
    assert asked == [STEP, 5, 5]


# -- what it is for


def test_nothing_asked_is_nothing_made(one: VectorCache, made: list[str | None]) -> None:
    assert one.vectors([]).shape == (0, WIDTH)
    assert made == []


def test_vectors_are_those_of_the_model(one: VectorCache) -> None:
    assert np.array_equal(one.vectors(TEXTS), pack(embed_texts(TEXTS)))


def test_a_text_is_embedded_once_by_whomever(
    one: VectorCache, made: list[str | None], opened: Callable[[Path], VectorCache]
) -> None:
    other = opened(one.file)
    first = one.vectors(TEXTS[:2])
    assert np.array_equal(other.vectors([TEXTS[1], TEXTS[0], TEXTS[1]]), first[[1, 0, 1]])
    other.vectors(TEXTS[2:])
    assert np.array_equal(one.vectors(TEXTS)[:2], first)
    assert made == TEXTS


def test_gaps_are_zeros_and_are_not_kept(one: VectorCache, made: list[str | None]) -> None:
    found = one.vectors([None, TEXTS[0], None])
    assert np.array_equal(found[[0, 2]], pack(embed_texts([None, None])))
    assert count(one) == 1


def test_what_goes_into_the_table_is_taken_from_here_and_not_kept(
    one: VectorCache, made: list[str | None]
) -> None:
    one.vectors(TEXTS, keep=False)
    assert not one.file.exists()
    first = one.vectors(TEXTS[:1])
    found = one.vectors([None, *TEXTS], keep=False)
    assert np.array_equal(found[1], first[0])
    assert made == [*TEXTS, TEXTS[0], None, *TEXTS[1:]]
    assert count(one) == 1


def test_cleared_it_begins_anew(
    one: VectorCache, made: list[str | None], opened: Callable[[Path], VectorCache]
) -> None:
    other = opened(one.file)
    other.vectors(TEXTS)
    one.vectors(TEXTS)
    one.clear()
    assert not one.file.exists()
    other.vectors(TEXTS)  # he knows them still
    assert made == TEXTS
    one.clear()  # and nothing is there
    one.vectors(TEXTS)
    assert made == TEXTS * 2


def test_threads_share_it(
    one: VectorCache, made: list[str | None], opened: Callable[[Path], VectorCache]
) -> None:
    texts = [f"text {number}" for number in range(40)]
    whole = opened(one.file.with_name("other")).vectors(texts)
    made.clear()
    found: list[Bytes] = []
    threads = [threading.Thread(target=lambda: found.append(one.vectors(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 40
    assert all(np.array_equal(each, whole) for each in found)


def test_what_a_process_made_another_finds(
    one: VectorCache, made: list[str | None], opened: Callable[[Path], VectorCache]
) -> None:
    act = (
        "import sys; from pathlib import Path; "
        "from deepdiver.tools.library.local.vector_cache import VectorCache; "
        "VectorCache(Path(sys.argv[1])).vectors(sys.argv[2:])"
    )
    subprocess.run([sys.executable, "-c", act, str(one.file), *TEXTS], check=True)
    assert np.array_equal(one.vectors(TEXTS), pack(embed_texts(TEXTS)))
    assert made == []


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.none() | st.sampled_from("abcdefgh"), max_size=6), max_size=5))
def test_in_whatever_order_it_is_asked_it_answers_the_same(
    tmp_path: Path, made: list[str | None], asked: list[list[str | None]]
) -> None:
    one = VectorCache(tmp_path / "drawn")
    one.clear()
    made.clear()
    for texts in asked:
        expected = [pack(np.asarray([_drawn(text)])) for text in texts]
        assert one.vectors(texts).tobytes() == b"".join(row.tobytes() for row in expected)
    texts = [text for text in made if text is not None]
    assert len(texts) == len(set(texts))
    one.close()
