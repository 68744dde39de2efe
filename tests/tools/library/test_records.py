from __future__ import annotations

import sqlite3
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.tools.library.local.catalogue import TABLES, pack_spans, unpack_spans
from deepdiver.tools.library.records import ENTRY_FIELDS, StoredDocument, marks_of

offsets = st.integers(0, 2**32 - 1)


def test_bytes_that_are_no_spans_are_refused() -> None:
    with pytest.raises(struct.error):
        unpack_spans(b"123")
    with pytest.raises(struct.error):
        pack_spans([Span(0, 2**32)])


@given(st.lists(st.builds(Span, offsets, offsets), max_size=50))
def test_spans_come_back_as_they_went(spans: list[Span]) -> None:
    data = pack_spans(spans)
    assert len(data) == 8 * len(spans)
    assert unpack_spans(data) == tuple(spans)


def test_what_is_told_of_a_document_is_in_the_tables() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(TABLES)
    columns = {row[1] for row in db.execute("PRAGMA table_info(documents)")}
    db.close()
    assert set(ENTRY_FIELDS) <= columns


SHOWN = (
    "Opening.\n\n# Sharing\n\nSeveral may share it.\n\nIt takes a lock.\n\n## Locks\n\nOne each."
)
TOLD = SHOWN.replace("# ", "").replace("#", "")


def passages_of(text: str, marks: tuple[Mark, ...] = ()) -> list[str]:
    """Return the words by which the passages of a text are found, one for each paragraph."""
    spans, at = [], 0
    for part in text.split("\n\n"):
        if part.strip("# ") not in ("Sharing", "Locks"):
            spans.append(Span(at, at + len(part)))
        at += len(part) + 2
    return list(StoredDocument(1, 0, "Title", True, text, tuple(spans), marks).passages())


def test_a_passage_is_found_by_the_heading_above_it_too() -> None:
    found = [
        "Opening.",
        "Sharing\nSeveral may share it.",
        "Sharing\nIt takes a lock.",
        "Locks\nOne each.",
    ]
    marks = tuple(
        Mark(start=TOLD.index(f"{label}\n"), kind="heading", label=label)
        for label in ("Sharing", "Locks")
    )
    assert passages_of(SHOWN) == found
    assert passages_of(TOLD, marks) == found
    pages = tuple(mark.model_copy(update={"kind": "page"}) for mark in marks)
    assert passages_of(TOLD, pages) == [said.rpartition("\n")[2] for said in found]


def test_a_passage_that_begins_with_its_heading_has_it_once() -> None:
    text = "# Sharing\n\nSeveral may share it."
    one = StoredDocument(1, 0, "Title", True, text, (Span(0, len(text)),))
    assert list(one.passages()) == [text]


@pytest.mark.parametrize("kept", ["{", "[[1, 2]]", '[[-1, "heading", "x"]]', '[[1, "roof", "x"]]'])
def test_marks_that_were_not_written_so_are_refused(kept: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        marks_of(kept)
