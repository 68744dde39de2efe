"""What is embedded.

The passage below its title, and what comes with deepdiver is not made again.
"""

from __future__ import annotations

import numpy as np
import pytest

from deepdiver.core.text import Span
from deepdiver.encoders import DIMENSION, load_embedder
from deepdiver.tools.library import ready
from deepdiver.tools.library.embedding import embedded, texts_of
from deepdiver.tools.library.tables import Held


def held(title: str, own: bool) -> Held:
    return Held(1, 0, title, own, "One. Two.", (Span(0, 4), Span(5, 9)))


def test_a_gap_is_zeros_and_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepdiver.tools.library.embedding.load_embedder", None)
    assert embedded([]).shape == (0, DIMENSION)
    assert not embedded([None, None]).any()


def test_a_title_of_its_own_is_embedded_and_a_file_name_is_not() -> None:
    assert texts_of(held("Title", own=True)) == ["Title\nOne.", "Title\nTwo."]
    assert texts_of(held("name", own=False)) == ["One.", "Two."]


def test_what_is_known_is_taken_and_the_rest_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    known = np.full(DIMENSION, 0.5, np.float32)
    monkeypatch.setattr(ready, "vectors", lambda: {ready.mark("known"): known})
    found = embedded(["a ferry", None, "known", "a lake"])
    expected = load_embedder().embed(["a ferry", "a lake"])
    assert np.array_equal(found[[0, 3]], expected)
    assert np.array_equal(found[2], known)
    assert not found[1].any()
