from __future__ import annotations

import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.encoders import embed, onnx_model
from deepdiver.encoders.vector_table import DOT
from deepdiver.errors import DamagedStoreError, StoreAccessError
from tests.patience import PATIENCE

CONTENT = b"what we shipped"
HASH = hashlib.sha256(CONTENT).hexdigest()
TOKENS = 40
"""The most that are run at once, here."""


class Echo:
    """A session whose outputs say what it was given, and which notes how much that was at once."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, int]] = []

    def run(self, outputs: list[str], given: dict[str, Any]) -> list[Any]:
        (ids, types), (output,) = (given["ids"], given["types"]), outputs
        assert output == "sums"
        assert given["kept"].tolist() == [7]
        assert ids.dtype == types.dtype == given["kept"].dtype == np.int64
        self.runs.append(ids.shape)
        return [(ids.sum(axis=1) - types.sum(axis=1)).astype(np.float32)]


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        StoreAccessError, match=r"absent cannot be read \(No such file.*\): install deepdiver again"
    ):
        onnx_model.checked(tmp_path / "absent", HASH)


def test_a_folder_in_its_place_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match="install deepdiver again"):
        onnx_model.checked(tmp_path, HASH)


@pytest.mark.parametrize(
    "content", [b"", CONTENT[:-1], CONTENT + b"\n", CONTENT.replace(b"w", b"v")]
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(DamagedStoreError, match=r"file is damaged .*install deepdiver again"):
        onnx_model.checked(file, HASH)


def test_an_unchanged_file_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(CONTENT)
    assert onnx_model.checked(file, HASH) == file


@pytest.mark.parametrize("intra_op", [0, 1, 2])
def test_a_session_runs_on_the_processor(intra_op: int, capfd: pytest.CaptureFixture[str]) -> None:
    session = onnx_model.open_session(DOT, intra_op)
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert session.get_session_options().intra_op_num_threads == intra_op
    rows, columns = np.full((3, 2), 130, np.uint8), np.full((2, 1), 125, np.uint8)
    (dots,) = session.run(None, {"rows": rows, "columns": columns})
    assert dots.tolist() == [[-12]] * 3
    assert capfd.readouterr() == ("", "")


# Once


def test_what_fails_is_tried_anew_and_what_is_made_is_kept() -> None:
    tries: list[int] = []

    def make() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise StoreAccessError("not there yet")
        return "made"

    once = onnx_model.Once(make)
    with pytest.raises(StoreAccessError, match="not there yet"):
        once()
    assert [once(), once()] == ["made", "made"]
    assert len(tries) == 2


def test_nothing_is_a_result_too() -> None:
    tries: list[int] = []
    once = onnx_model.Once(lambda: tries.append(1))
    once()
    once()
    assert tries == [1]


def test_threads_get_the_same_one() -> None:
    together = threading.Barrier(4)
    once = onnx_model.Once(object)

    def get(_: int) -> object:
        together.wait(timeout=PATIENCE)
        return once()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(get, range(4)))) == 1


# Texts


def test_a_tokenizer_is_read_from_its_file_or_refused(tmp_path: Path) -> None:
    name = "tokenizer.json"
    found = onnx_model.load_tokenizer(embed.FOLDER / name, embed.HASHES[name])
    assert found.encode("a harbour").tokens == ["[CLS]", "a", "harbour", "[SEP]"]
    (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(DamagedStoreError, match="is damaged"):
        onnx_model.load_tokenizer(tmp_path / name, embed.HASHES[name])


@given(st.lists(st.integers(1, 2 * TOKENS), max_size=100))
def test_batches_hold_every_text_once_and_are_even(lengths: list[int]) -> None:
    found = list(onnx_model.batches(lengths, TOKENS))
    assert sorted(number for batch in found for number in batch) == list(range(len(lengths)))
    for batch in found:
        assert len({lengths[number] for number in batch}) == 1
        assert len(batch) == 1 or sum(lengths[number] for number in batch) <= TOKENS


def test_a_batch_is_as_full_as_may_be() -> None:
    assert list(onnx_model.batches([9, 3, 9, 9, 9, 9], 2 * 9)) == [[0, 2], [3, 4], [5], [1]]


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=2 * TOKENS), max_size=40),
    st.integers(0, 5),
)
def test_every_text_has_its_own_output(texts: list[list[int]], threads: int) -> None:
    session = Echo()
    ones = [[1] * len(text) for text in texts]
    found = dict(
        onnx_model.run_batches(
            session, "sums", {"ids": texts, "types": ones}, TOKENS, threads, kept=7
        )
    )
    assert found == {number: sum(text) - len(text) for number, text in enumerate(texts)}
    assert all(rows == 1 or rows * length <= TOKENS for rows, length in session.runs)


def test_batches_are_run_side_by_side_and_small_ones_are_shared_out() -> None:
    class Meeting(Echo):
        def run(self, outputs: list[str], given: dict[str, Any]) -> list[Any]:
            both.wait(PATIENCE)  # nobody gets past it alone
            return super().run(outputs, given)

    both, session = threading.Barrier(2), Meeting()
    given = {"ids": [[1, 2, 3]] * 4, "types": [[1, 1, 1]] * 4}
    assert dict(onnx_model.run_batches(session, "sums", given, TOKENS, 2, kept=7)) == dict.fromkeys(
        range(4), 3.0
    )
    # One thread would have run them as one batch of 12 tokens.
    assert session.runs == [
        (2, 3),
        (2, 3),
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_batch_raises_reaches_who_asked(threads: int) -> None:
    class Broken(Echo):
        def run(self, outputs: list[str], given: dict[str, Any]) -> list[Any]:
            raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        list(
            onnx_model.run_batches(
                Broken(),
                "sums",
                {"ids": [[1], [2, 3]], "types": [[1], [1, 1]]},
                TOKENS,
                threads,
                kept=7,
            )
        )
    assert not [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith("deepdiver-encoder")
    ]


def test_a_process_uses_the_cores_that_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= onnx_model.cores() <= (os.cpu_count() or 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 7}, raising=False)
    assert onnx_model.cores() == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    assert onnx_model.cores() == onnx_model.MOST_THREADS
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert onnx_model.cores() == 1


@pytest.mark.parametrize(
    ("text", "characters", "read"),
    [
        ("", 3, ""),
        ("abcd", 3, "abc"),
        ("abc", 3, "abc"),
        ("\ud800b", 3, "?b"),
        ("é猫", 2, "é猫"),
        ("a" * 10**7, 5, "a" * 5),
    ],
)
def test_the_start_of_a_text_is_readable(text: str, characters: int, read: str) -> None:
    assert onnx_model.encodable(text, characters) == read


@given(st.text(), st.integers(0, 20))
def test_what_is_readable_moves_no_offset(text: str, characters: int) -> None:
    found = onnx_model.encodable(text, characters)
    assert len(found) == min(len(text), characters)
    assert found.encode("utf-8").decode("utf-8") == found
