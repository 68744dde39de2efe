"""Cases, their documents as files, and files of JSON lines that are not what they should be."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UsageError
from deepdiver.evals.cases import Case, EvalSet, Kind, Shelf, file_name, lay_out, rows, unique
from deepdiver.evals.retrieval import Item


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{} \n{", "line 2 is not JSON"),
        (b"{}\n\n[1]\n", "line 3 is not an object"),
        (b"\xff\xfe", "it is not UTF-8"),
        (b"[" * 200_000, "line 1 is not JSON"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        rows(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.jsonl cannot be read: No such file"):
        rows(tmp_path / "absent.jsonl")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        rows(tmp_path)


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"a": "one\u2028two\x85three"}\n\n{"b": 1}\n', encoding="utf-8")
    assert rows(file) == [{"a": "one\u2028two\x85three"}, {"b": 1}]


def test_two_cases_of_one_id_are_refused() -> None:
    with pytest.raises(UsageError, match="mine: two cases have the id 'a'"):
        unique([Case("a", "x"), Case("b", "x"), Case("a", "y")], "mine")
    assert [case.id for case in unique([Case("b", "x"), Case("a", "x")], "mine")] == ["b", "a"]


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


def test_documents_are_written_once(tmp_path: Path) -> None:
    shelf = Shelf(
        (Item("1", 'The "great"\n fire', "It burnt."), Item("a/b", "", "No title.\ud800"))
    )
    folder = lay_out(shelf, tmp_path / "files")
    assert (folder / "1.md").read_text() == '---\ntitle: The "great" fire\n---\nIt burnt.'
    other = folder / f"{file_name('a/b')}.md"
    assert other.read_text() == "No title.?"
    os.utime(other, (1, 1))
    assert lay_out(shelf, tmp_path / "files") == folder
    assert other.stat().st_mtime == 1, "what stands there is left alone"
    other.write_text("cut off")
    lay_out(shelf, tmp_path / "files")
    assert other.read_text() == "No title.?"
    changed = lay_out(Shelf((Item("a/b", "", "Changed."),)), tmp_path / "files")
    assert changed != folder, "what is gone from a shelf must not be searched"
    assert [file.read_text() for file in changed.iterdir()] == ["Changed."]


def test_a_folder_is_read_where_it_lies(tmp_path: Path) -> None:
    assert lay_out(Shelf(folder=tmp_path / "docs"), tmp_path / "files") == tmp_path / "docs"
    assert not (tmp_path / "files").exists()


def test_a_set_is_known_by_what_is_asked_and_what_is_right() -> None:
    one = EvalSet("s", Kind.ANSWERS, (Case("a", "x", ("y",)),))
    assert one.digest == EvalSet("other name", Kind.ANSWERS, (Case("a", "x", ("y",)),)).digest
    for case in (
        Case("b", "x", ("y",)),
        Case("a", "z", ("y",)),
        Case("a", "x", ("z",)),
        Case("a", "x", ("y",), ("w",)),
    ):
        assert EvalSet("s", Kind.ANSWERS, (case,)).digest != one.digest
    assert EvalSet("s", Kind.CONFLICT, one.cases).digest != one.digest
    about = (Case("a", "x", ("y",), shelf="c"),)
    texts = [
        EvalSet("s", Kind.ANSWERS, about, {"c": Shelf((Item("1", "", text),))}).digest
        for text in ("p", "q")
    ]
    assert texts[0] != texts[1]


@given(
    st.lists(
        st.tuples(st.text(max_size=20), st.text(max_size=20), st.text(max_size=60)),
        max_size=5,
        unique_by=lambda i: i[0],
    )
)
def test_whatever_the_texts_are_they_come_back_from_their_files(
    parts: list[tuple[str, str, str]],
) -> None:
    shelf = Shelf(tuple(Item(*part) for part in parts))
    with tempfile.TemporaryDirectory() as name:
        folder = lay_out(shelf, Path(name))
        files = {file.stem: file.read_bytes().decode("utf-8") for file in folder.iterdir()}
    assert files.keys() == {file_name(key) for key, _, _ in parts}
    for key, title, text in parts:
        held = files[file_name(key)]
        assert held.endswith(text.encode("utf-8", "replace").decode("utf-8"))
        assert held.startswith("---\ntitle: ") == bool(title.split()) or text.startswith(
            "---\ntitle: "
        )


def test_a_shelf_is_known_by_its_texts() -> None:
    one = Shelf((Item("a", "A", "x"),))
    assert one.digest == Shelf((Item("a", "A", "x"),)).digest
    others = [
        Shelf((Item("b", "A", "x"),)),
        Shelf((Item("a", "B", "x"),)),
        Shelf((Item("a", "A", "y"),)),
        Shelf(),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5
