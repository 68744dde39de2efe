from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.readings import Readings, join_parts
from deepdiver.core.text import Span

TEXT = "abcdefghij" * 5
SPANS = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda pair: Span(*sorted(pair)))


def test_of_a_new_text_everything_is_unread() -> None:
    assert Readings().unread("h", TEXT) == [Span(0, 50)]
    assert Readings().unread("h", "   ") == []


def test_what_was_read_is_no_longer_unread() -> None:
    readings = Readings()
    readings.add("h", [Span(10, 20)])
    assert readings.unread("h", TEXT) == [Span(0, 10), Span(20, 50)]
    assert readings.unread("other", TEXT) == [Span(0, 50)]
    assert readings.size == 10
    readings.add("h", [Span(0, 10), Span(20, 50)])
    assert readings.unread("h", TEXT) == []
    assert readings.held == {"h": [[0, 50]]}


def test_blank_gaps_need_not_be_read() -> None:
    readings = Readings()
    readings.add("h", [Span(0, 3), Span(5, 8)])
    assert readings.unread("h", "abc  def\n") == []


def test_the_mapping_that_was_given_is_not_changed() -> None:
    given_ = {"h": [[0, 5]]}
    readings = Readings(given_)
    readings.add("h", [Span(5, 9)])
    assert given_ == {"h": [[0, 5]]}
    assert readings.held == {"h": [[0, 9]]}


@given(st.lists(SPANS, max_size=8))
def test_read_and_unread_make_up_the_text(spans: list[Span]) -> None:
    readings = Readings()
    for span in spans:
        readings.add("h", [span])
    read = {at for start, end in readings.held.get("h", []) for at in range(start, end)}
    unread = {at for span in readings.unread("h", TEXT) for at in range(span.start, span.end)}
    assert read | unread == set(range(50))
    assert not read & unread
    assert readings.size == len(read)


@given(st.lists(SPANS, max_size=8))
def test_the_order_of_readings_does_not_matter(spans: list[Span]) -> None:
    one, other = Readings(), Readings()
    for span in spans:
        one.add("h", [span])
    for span in reversed(spans):
        other.add("h", [span])
    assert one.unread("h", TEXT) == other.unread("h", TEXT)


@given(st.lists(SPANS, max_size=8))
def test_joined_parts_are_in_order_and_apart(spans: list[Span]) -> None:
    made = join_parts(sorted([span.start, span.end] for span in spans))
    assert made == sorted(made)
    assert all(one[1] < other[0] for one, other in pairwise(made))
