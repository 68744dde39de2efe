"""The vectors that come with deepdiver fit the sample library and the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deepdiver import sample
from deepdiver.encoders import DIMENSION, VectorTable, load_embedder
from deepdiver.tools.library import sample_vectors
from deepdiver.tools.library.local.library import LocalLibrary
from deepdiver.tools.library.make_sample_vectors import write_sample_vectors

MAKE = (
    "the sample or the model has changed: run python -m deepdiver.tools.library.make_sample_vectors"
)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    library = LocalLibrary(tmp_path_factory.mktemp("library"))
    library.refresh([sample.LIBRARY])
    listed = library.embeddable()
    library.close()
    return listed


def test_every_passage_of_the_sample_is_there_and_nothing_else(texts: list[str]) -> None:
    assert {
        sample_vectors.key_of(text) for text in texts
    } == sample_vectors.load_sample_vectors().keys(), MAKE
    assert len(texts) > 100


def test_they_are_what_the_model_makes(texts: list[str]) -> None:
    made = load_embedder().embed(texts)
    held = np.stack(
        [sample_vectors.load_sample_vectors()[sample_vectors.key_of(text)] for text in texts]
    )
    # Written in 127 steps, a vector is up to 0.2 % longer or shorter than 1, and a cosine leaves
    # lengths aside. Kinds of processors add up floats in another order, and int8 then rounds a few
    # of them to the next step: between AVX2 and AVX-512 the least cosine is 0.9993.
    cosines = (made * held).sum(axis=1) / np.linalg.norm(held, axis=1)
    assert cosines.min() > 0.999, MAKE


def test_they_are_entered_as_the_model_would_enter_them(tmp_path: Path) -> None:
    made = load_embedder().embed(["The ferry burnt.", "Nickel in the lake."])
    write_sample_vectors(["The ferry burnt.", "Nickel in the lake."], tmp_path / "file")
    rows = (tmp_path / "file").read_bytes()
    assert len(rows) == 2 * (sample_vectors.KEY_BYTES + 4 + DIMENSION)
    one, two = VectorTable(tmp_path / "one"), VectorTable(tmp_path / "two")
    one.append(made)
    sample_vectors.load_sample_vectors.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_vectors, "FILE", tmp_path / "file")
        held = [
            sample_vectors.load_sample_vectors()[sample_vectors.key_of(text)]
            for text in ("The ferry burnt.", "Nickel in the lake.")
        ]
    sample_vectors.load_sample_vectors.cache_clear()
    two.append(np.stack(held))
    one.close()
    two.close()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_text_is_known_by_all_of_it() -> None:
    assert sample_vectors.key_of("a") != sample_vectors.key_of("b")
    assert len(sample_vectors.key_of("\ud83d")) == sample_vectors.KEY_BYTES
    assert sample_vectors.load_sample_vectors().get(sample_vectors.key_of("never embedded")) is None
