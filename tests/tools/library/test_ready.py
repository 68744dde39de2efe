"""The vectors that come with deepdiver are those of the sample as it is, and as the model would make them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deepdiver import sample
from deepdiver.encoders import DIMENSION, VectorTable, load_embedder
from deepdiver.tools.library import ready
from deepdiver.tools.library.local import LocalLibrary

MAKE = "the sample or the model has changed: run python -m deepdiver.tools.library.ready"


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    library = LocalLibrary(tmp_path_factory.mktemp("library"))
    library.refresh([sample.LIBRARY])
    listed = library.embeddable()
    library.close()
    return listed


def test_every_passage_of_the_sample_is_there_and_nothing_else(texts: list[str]) -> None:
    assert {ready.mark(text) for text in texts} == ready.vectors().keys(), MAKE
    assert len(texts) > 100


def test_they_are_what_the_model_makes(texts: list[str]) -> None:
    some = texts[::25]
    made = load_embedder().embed(some)
    for text, vector in zip(some, made, strict=True):
        assert float(vector @ ready.vectors()[ready.mark(text)]) > 0.999, MAKE


def test_they_are_entered_as_the_model_would_enter_them(tmp_path: Path) -> None:
    made = load_embedder().embed(["The ferry burnt.", "Nickel in the lake."])
    ready.write(["The ferry burnt.", "Nickel in the lake."], tmp_path / "file")
    rows = (tmp_path / "file").read_bytes()
    assert len(rows) == 2 * (ready.HASH + 4 + DIMENSION)
    one, two = VectorTable(tmp_path / "one"), VectorTable(tmp_path / "two")
    one.append(made)
    ready.vectors.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ready, "FILE", tmp_path / "file")
        held = [
            ready.vectors()[ready.mark(text)]
            for text in ("The ferry burnt.", "Nickel in the lake.")
        ]
    ready.vectors.cache_clear()
    two.append(np.stack(held))
    one.close()
    two.close()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_text_is_known_by_all_of_it() -> None:
    assert ready.mark("a") != ready.mark("b")
    assert len(ready.mark("\ud83d")) == ready.HASH
    assert ready.vectors().get(ready.mark("never embedded")) is None


def test_the_file_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[str] = []

    def write(listed: list[str]) -> int:
        kept.extend(listed)
        return len(listed)

    monkeypatch.setattr(ready, "write", write)
    assert ready.main() == 0
    assert f"{len(kept)} vectors in" in capsys.readouterr().out
    assert len(kept) == len(ready.vectors())
