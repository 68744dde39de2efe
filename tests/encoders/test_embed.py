from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdiver.encoders import DIMENSION, MODEL, Embedder, embed, load_embedder, onnx_model
from deepdiver.encoders.embed import FOLDER, HASHES, MAX_CHARACTERS, MAX_TOKENS
from deepdiver.errors import DamagedStoreError, StoreAccessError
from tests.patience import PATIENCE

TEXTS = (
    "A cat sits on the mat.",
    "The cat is sitting on a rug.",
    "Interest rates rose by a quarter of a point in March.",
    "The central bank raised its rate by 0.25 points.",
    "Le chat est assis sur le tapis.",
    "猫がマットの上に座っている。",
    "القطة تجلس على السجادة",
    "",
    "a",
    "word " * 300,
)

EXPECTED = (
    (0.1265, -0.0329, -0.0291, 0.0444, -0.0434, 0.0321, 0.0481, 0.0277),
    (0.1094, -0.0236, 0.0273, 0.0511, -0.0651, 0.0502, 0.0052, 0.0575),
    (0.0422, -0.0114, -0.0164, 0.0126, 0.0586, -0.0133, -0.1150, -0.0052),
    (0.0560, -0.0299, -0.0742, 0.0208, 0.0269, -0.0735, -0.0560, 0.0533),
)
"""The first eight numbers of the first four texts by transformers and torch in float32, mean
pooling, normalised."""

COSINES = (
    (1.000, 0.767, -0.006, 0.003, 0.008),
    (0.767, 1.000, -0.025, -0.048, -0.056),
    (-0.006, -0.025, 1.000, 0.476, -0.104),
    (0.003, -0.048, 0.476, 1.000, 0.011),
    (0.008, -0.056, -0.104, 0.011, 1.000),
)
"""Between the first five texts, in the same way: two cats, two rates, and French, which the model
never learnt."""


# What can go wrong


@pytest.mark.parametrize("name", sorted(HASHES))
def test_a_missing_file_is_named_and_may_come_back(tmp_path: Path, name: str) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / name).rename(tmp_path / "away")
    broken = Embedder(tmp_path)
    for _ in range(2):
        with pytest.raises(
            StoreAccessError, match=rf"{re.escape(name)} cannot be read .*install deepdiver again"
        ):
            broken.embed(["a"])
    (tmp_path / "away").rename(tmp_path / name)
    assert broken.embed(["a"]).shape == (1, DIMENSION)


@pytest.mark.parametrize("name", sorted(HASHES))
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    with (tmp_path / name).open("r+b") as file:
        file.seek(100_000)
        byte = file.read(1)
        file.seek(100_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(DamagedStoreError, match=rf"{re.escape(name)} is damaged"):
        Embedder(tmp_path).embed(["a"])


def test_no_texts_are_no_vectors() -> None:
    found = load_embedder().embed([])
    assert found.shape == (0, DIMENSION)
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\ud800",
        "a \udfff b",
        "\0",
        "\ufeff\u200b",
        "\U0010ffff",
        "𐏿",
        "[PAD]",
        "[CLS] [SEP]",
    ],
)
def test_odd_texts_have_vectors(text: str) -> None:
    (vector,) = load_embedder().embed([text])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_lone_surrogate_spoils_nothing_around_it() -> None:
    broken, whole, other = load_embedder().embed(
        ["The cat \ud800 sits", "The cat ? sits", "Rates rose"]
    )
    assert (broken == whole).all()
    assert broken @ other < 0.5


# The files


@pytest.mark.parametrize("name", sorted(HASHES))
def test_the_files_are_the_ones_the_readme_describes(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(data).hexdigest() == HASHES[name]
    assert f"| `minilm/{name}` | {len(data):,} | `{HASHES[name]}` |" in page
    assert "Apache-2.0" in page
    assert HASHES["model.onnx"].startswith(MODEL.rpartition("-")[2])


def test_the_model_agrees_with_float32_as_the_readme_says() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    (mean,) = re.findall(r"mean cosine (0\.\d+)", page)
    assert float(mean) > 0.998


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, deepdiver.encoders as e; e.load_embedder(); "
        "sys.exit(','.join({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr


# The vectors


def test_vectors_are_those_of_the_original_model() -> None:
    found = load_embedder().embed(TEXTS[:4])
    assert np.abs(found[:, :8] - np.array(EXPECTED)).max() < 0.012
    assert found.dtype == np.float32


def test_cosines_are_those_of_the_original_model() -> None:
    found = load_embedder().embed(TEXTS[:5])
    assert np.abs(found @ found.T - np.array(COSINES)).max() < 0.015


def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    together = load_embedder().embed(TEXTS)
    reverse = load_embedder().embed(TEXTS[::-1])[::-1]
    crowded = load_embedder().embed([text for text in TEXTS for _ in range(3)])[::3]
    alone = np.vstack([load_embedder().embed([text]) for text in TEXTS])
    one_thread = Embedder(threads=1).embed(TEXTS)
    for other in (reverse, crowded, alone, one_thread):
        assert (together == other).all()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_order_and_company_change_no_bit(texts: list[str], chance: object) -> None:
    order = list(range(len(texts)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    found = load_embedder().embed(texts)
    shuffled = load_embedder().embed([texts[number] for number in order])
    assert (found[order] == shuffled).all()
    assert (load_embedder().embed(texts[:1])[0] == found[0]).all()
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_text_counts_as_far_as_the_model_reads() -> None:
    words = "harbour " * (MAX_TOKENS - 2)
    full, longer, huge, changed = load_embedder().embed(
        [words, words + "and then something else", words * 4_000, "mountain " + words]
    )
    assert (full == longer).all()
    assert (full == huge).all()
    assert not (full == changed).all()


def test_what_the_tokenizer_is_given_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    readable = onnx_model.encodable

    def noted(text: str, characters: int) -> str:
        given.append(len(readable(text, characters)))
        return readable(text, characters)

    monkeypatch.setattr(onnx_model, "encodable", noted)
    load_embedder().embed(["a" * 10_000_000, "a"])
    assert given == [MAX_CHARACTERS, 1]


def test_threads_may_share_it() -> None:
    shared = Embedder(threads=1)
    expected = load_embedder().embed(TEXTS[:6])
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda number: shared.embed([TEXTS[number]])[0], range(6)))
    assert (np.vstack(found) == expected).all()


def test_a_process_has_one_embedder() -> None:
    assert load_embedder() is load_embedder()


class Adder:
    """A session that adds up a lone text in another order, or not."""

    def __init__(self, differs: bool) -> None:
        self.differs, self.ran = differs, list[int]()

    def run(self, outputs: list[str], given: dict[str, Any]) -> list[Any]:
        many = len(given["ids"])
        self.ran.append(many)
        alone = self.differs and many == 1
        return [np.full((many, embed.DIMENSION), 1 + 3e-7 * alone, np.float32)]


@pytest.mark.parametrize("differs", [True, False])
def test_each_text_runs_alone_where_its_vector_would_differ(
    differs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Adder(differs)
    monkeypatch.setattr(onnx_model, "open_session", lambda model: session)
    embedder = Embedder(threads=1)
    embedder.embed([])
    session.ran.clear()
    found = embedder.embed(["a mill", "a lake", "a long way to the mill"])
    assert session.ran == ([1, 1, 1] if differs else [2, 1])
    assert len({float(row[0]) for row in found}) == 1


def test_more_texts_than_are_tokenised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_embedder().embed(TEXTS)
    monkeypatch.setattr(embed, "CHUNK", 3)
    assert (load_embedder().embed(TEXTS) == expected).all()
