from __future__ import annotations

import sqlite3
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.text import Span
from deepdiver.tools.library.tables import FIELDS, TABLES, packed, unpacked

offsets = st.integers(0, 2**32 - 1)


def test_bytes_that_are_no_spans_are_refused() -> None:
    with pytest.raises(struct.error):
        unpacked(b"123")
    with pytest.raises(struct.error):
        packed([Span(0, 2**32)])


@given(st.lists(st.builds(Span, offsets, offsets), max_size=50))
def test_spans_come_back_as_they_went(spans: list[Span]) -> None:
    data = packed(spans)
    assert len(data) == 8 * len(spans)
    assert unpacked(data) == tuple(spans)


def test_what_is_told_of_a_document_is_in_the_tables() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(TABLES)
    columns = {row[1] for row in db.execute("PRAGMA table_info(documents)")}
    db.close()
    assert set(FIELDS) <= columns
