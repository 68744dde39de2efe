from __future__ import annotations

import sqlite3
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.text import Span
from deepdiver.tools.library.local.catalogue import TABLES, pack_spans, unpack_spans
from deepdiver.tools.library.records import ENTRY_FIELDS

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
