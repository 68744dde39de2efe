"""Cases, their documents as files, and files of JSON lines that are not what they should be."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import UsageError
from deepdiver.evals.cases import (
    Case,
    EvalSet,
    Kind,
    Shelf,
    check_unique,
    read_json_lines,
    write_shelf,
)
from deepdiver.evals.documents import Document, file_name


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{} \n{", "line 2 is not JSON"),
        (b"{}\n\n[1]\n", "line 3 is not a JSON object"),
        (b"\xff\xfe", "it is not UTF-8"),
        (b"[" * 200_000, "line 1 is not JSON"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        read_json_lines(file)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .+absent\.jsonl: No such file"):
        read_json_lines(tmp_path / "absent.jsonl")
    with pytest.raises(UsageError, match=r"cannot read .+: Is a directory"):
        read_json_lines(tmp_path)


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"a": "one\u2028two\x85three"}\n\n{"b": 1}\n', encoding="utf-8")
    assert read_json_lines(file) == [{"a": "one\u2028two\x85three"}, {"b": 1}]


def test_two_cases_of_one_id_are_refused() -> None:
    with pytest.raises(UsageError, match="mine: two cases have the id 'a'"):
        check_unique([Case("a", "x"), Case("b", "x"), Case("a", "y")], "mine")
    assert [case.id for case in check_unique([Case("b", "x"), Case("a", "x")], "mine")] == [
        "b",
        "a",
    ]


def test_documents_are_written_once(tmp_path: Path) -> None:
    shelf = Shelf(
        (Document("1", 'The "great"\n fire', "It burnt."), Document("a/b", "", "No title.\ud800"))
    )
    folder = write_shelf(shelf, tmp_path / "files")
    assert (folder / "1.md").read_text() == '---\ntitle: The "great" fire\n---\nIt burnt.'
    other = folder / f"{file_name('a/b')}.md"
    assert other.read_text() == "No title.?"
    os.utime(other, (1, 1))
    assert write_shelf(shelf, tmp_path / "files") == folder
    assert other.stat().st_mtime == 1, "what stands there is left alone"
    other.write_text("cut off")
    write_shelf(shelf, tmp_path / "files")
    assert other.read_text() == "No title.?"
    changed = write_shelf(Shelf((Document("a/b", "", "Changed."),)), tmp_path / "files")
    assert changed != folder, "what is gone from a shelf must not be searched"
    assert [file.read_text() for file in changed.iterdir()] == ["Changed."]


def test_a_folder_is_read_where_it_lies(tmp_path: Path) -> None:
    assert write_shelf(Shelf(folder=tmp_path / "docs"), tmp_path / "files") == tmp_path / "docs"
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
        EvalSet("s", Kind.ANSWERS, about, {"c": Shelf((Document("1", "", text),))}).digest
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
    shelf = Shelf(tuple(Document(*part) for part in parts))
    with tempfile.TemporaryDirectory() as name:
        folder = write_shelf(shelf, Path(name))
        files = {file.stem: file.read_bytes().decode("utf-8") for file in folder.iterdir()}
    assert files.keys() == {file_name(key) for key, _, _ in parts}
    for key, title, text in parts:
        held = files[file_name(key)]
        assert held.endswith(text.encode("utf-8", "replace").decode("utf-8"))
        assert held.startswith("---\ntitle: ") == bool(title.split()) or text.startswith(
            "---\ntitle: "
        )


def test_a_shelf_is_known_by_its_texts() -> None:
    one = Shelf((Document("a", "A", "x"),))
    assert one.digest == Shelf((Document("a", "A", "x"),)).digest
    others = [
        Shelf((Document("b", "A", "x"),)),
        Shelf((Document("a", "B", "x"),)),
        Shelf((Document("a", "A", "y"),)),
        Shelf(),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5
