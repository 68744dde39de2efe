"""Documents as files: every id has a name of its own, and what is there already is left alone."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.evals.documents import Document, file_name, write_document


@given(st.text(max_size=200))
def test_any_id_names_a_file_of_its_own_folder(key: str) -> None:
    name = file_name(key)
    assert name == file_name(key)
    assert os.sep not in name
    assert not name.startswith(".")
    assert 1 <= len(name) <= 80
    assert "\0" not in name


def test_ids_that_differ_have_names_that_differ() -> None:
    keys = ["a/b", "a_b", "a b", "..", "", "é", "x" * 300, "x" * 301, "musique-0", "A.1"]
    assert len({file_name(key) for key in keys}) == len(keys)
    assert file_name("musique-0") == "musique-0"


def test_a_document_is_written_with_its_title_if_it_has_one(tmp_path: Path) -> None:
    write_document(Document("1", "The\nfire", "It burnt."), tmp_path)
    write_document(Document("2", " ", "No title."), tmp_path)
    assert (tmp_path / "1.md").read_text() == "---\ntitle: The fire\n---\nIt burnt."
    assert (tmp_path / "2.md").read_text() == "No title."


def test_a_file_with_the_same_content_is_left_alone(tmp_path: Path) -> None:
    for text, written in (("one", True), ("one", False), ("two", True)):
        if (file := tmp_path / "1.md").exists():
            os.utime(file, (1, 1))
        write_document(Document("1", "", text), tmp_path)
        assert (file.stat().st_mtime != 1) is written
        assert file.read_text() == text
