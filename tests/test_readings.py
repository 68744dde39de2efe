"""What the reader said is said again, to the bit, and no text is run twice; another text is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepdiver.encoders import embed, reader
from tests import readings
from tests.readings import kept_in

QUESTION = "Who owns Holm Works?"
TEXTS = ["Holm Works is owned by Anna Holm.", "It was founded in 1998.", "Bertil Ask likes boats."]
Asked = list[tuple[str, list[int]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the model is run on."""
    run, seen = reader.Reader._run, Asked()

    def watched(self: reader.Reader, session: Any, found: Sequence[Any], what: str) -> list[Any]:
        seen.extend((what, pair.ids) for pair in found)
        return run(self, session, found, what)

    monkeypatch.setattr(reader.Reader, "_run", watched)
    return seen


def test_what_was_said_is_said_again_without_the_model(asked: Asked, tmp_path: Path) -> None:
    own = reader.load_reader()
    plain = (
        own.spans(QUESTION, TEXTS),
        own.verify([(TEXTS[0], TEXTS[1])]),
        own.relevance(QUESTION, TEXTS),
    )
    before = len(asked)
    for times in range(2):
        with kept_in(tmp_path / "kept"):
            again = (
                own.spans(QUESTION, TEXTS),
                own.verify([(TEXTS[0], TEXTS[1])]),
                own.relevance(QUESTION, TEXTS),
            )
        assert again == plain
        assert len(asked) == 2 * before, times
    own.spans(QUESTION, TEXTS)
    assert len(asked) == 2 * before + len(TEXTS), "outside, the model is asked"


def test_what_is_new_is_run_beside_what_is_not(asked: Asked, tmp_path: Path) -> None:
    own = reader.load_reader()
    with kept_in(tmp_path / "kept"):
        own.spans(QUESTION, TEXTS[1:2])
        found = own.spans(QUESTION, TEXTS)
        assert len(asked) == len(TEXTS)
        other = own.spans("Who likes boats?", TEXTS)
        assert len(asked) == 2 * len(TEXTS)
    assert found[0].text == "Anna Holm"
    assert other != found


def test_vectors_are_kept_to_the_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = embed.Embedder()
    plain = own.embed(TEXTS)
    with kept_in(tmp_path / "kept"):
        own.embed(TEXTS[1:])
        monkeypatch.setattr(own, "_loaded", lambda: pytest.fail("it was embedded before"))
        assert np.array_equal(own.embed(TEXTS[1:]), plain[1:])
        assert own.embed([]).shape == (0, embed.DIMENSION)
        monkeypatch.undo()
        assert np.array_equal(own.embed(TEXTS), plain)


def test_a_model_that_is_asked_nothing_new_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept_in(tmp_path / "kept"):
        said = reader.Reader().spans(QUESTION, TEXTS)
        monkeypatch.setattr(readings, "_open_session", lambda *_: pytest.fail("it was loaded"))
        assert reader.Reader().spans(QUESTION, TEXTS) == said


def test_what_one_reader_said_the_other_does_not_repeat(asked: Asked, tmp_path: Path) -> None:
    with kept_in(tmp_path / "kept"):
        said = reader.load_reader().relevance(QUESTION, TEXTS)
        assert reader.load_close_reader().relevance(QUESTION, TEXTS) != said
    assert len(asked) == 2 * len(TEXTS)


def test_every_output_is_kept_for_itself(asked: Asked, tmp_path: Path) -> None:
    own = reader.load_reader()
    with kept_in(tmp_path / "kept"):
        own.spans(QUESTION, TEXTS[:1])
        own.relevance(QUESTION, TEXTS[:1])
    assert [what for what, _ in asked] == ["spans", "relevance"]
    rows = [np.load(file) for file in (tmp_path / "kept").iterdir()]
    assert sorted(row.ndim for row in rows) == [1, 2]


def test_a_folder_that_cannot_be_written_to_is_no_silent_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileExistsError), kept_in(tmp_path / "file"):
        pass
