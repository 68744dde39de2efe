"""Sums that a report shows, repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.report.shown_sums import ends_in_total, wrong_sums, wrong_totals


@pytest.mark.parametrize(
    ("text", "computed"),
    [
        ("In all, 12 + 30 = 43.", "42"),
        ("$1,200 + $300 = $1,600 a year", "1,500"),
        ("3 × 400 = 1,300", "1,200"),
        ("18 of the 60 sites (31%)", "30 %"),
        ("18 out of 60 (31 per cent)", "30 %"),
        ("Sales rose from 40 to 50, by 20 %.", "25 %"),
        ("Sales rose from 40 to 50 million, by 20 %.", "25 %"),
        ("It fell from $50 in 2020 to $40 in 2021, a drop of 25 %.", "20 %"),
        ("It fell from 50 to 40 (−25%).", "20 %"),
    ],
)
def test_a_sum_that_does_not_come_out(text: str, computed: str) -> None:
    assert [wrong.computed for wrong in wrong_sums(text)] == [computed]


@pytest.mark.parametrize(
    "text",
    [
        "In all, 12 + 30 = 42.",
        "1 / 3 = 0.33",
        "18 of the 60 sites (30%)",
        "2 of 3 (67 %)",
        "Sales rose from 40 to 50, by 25 %.",
        "Sales rose from 40 to 50 million, by 25 %.",
        "It fell from 50 to 40 (-20%).",
        "The share rose from 4% to 5%, by 25%.",
        "The share rose from 4 to 5, by 1 percentage point.",
        "It rose from 40 to 50, by 2 % points.",
        "Version 1.2 + 3 = x",
        "2019-2020 = the winter",
        "5 of 10 (2023)",
        "1 / 0 = 0",
        "It rose from 2019 on.",
    ],
)
def test_what_comes_out_or_says_nothing(text: str) -> None:
    assert list(wrong_sums(text)) == []


@given(st.integers(1, 9_999), st.integers(1, 9_999), st.integers(1, 50))
def test_equations_are_right_or_wrong(one: int, other: int, off: int) -> None:
    assert list(wrong_sums(f"{one:,} + {other:,} = {one + other:,}")) == []
    assert list(wrong_sums(f"{one:,} + {other:,} = {one + other + off:,}"))


HEADER = ("Town", "People", "Share")


def totals(*rows: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(wrong.shown, wrong.computed) for wrong in wrong_totals(HEADER, rows)]


def test_a_total_that_does_not_come_out() -> None:
    rows = (("Oslo", "1,000", "50 %"), ("Bergen", "2,000", "50 %"), ("Total", "3,100", "101 %"))
    assert totals(*rows) == [("People: Total 3,100", "3,000")]


@pytest.mark.parametrize(
    "rows",
    [
        (("Oslo", "1"), ("Bergen", "2"), ("Total", "3")),
        (("Oslo", "1.4"), ("Bergen", "2.4"), ("Total", "3.9")),
        (("Oslo", "1.4"), ("Bergen", "2.4"), ("Total", "3.7")),
        (("Oslo", "1"), ("Bergen", "2"), ("Mean", "9")),
        (("Oslo", "1"), ("Bergen", "unknown"), ("Total", "9")),
        (("Oslo", "1"), ("Total", "9")),
        (("Oslo", "1"), ("Bergen",), ("Total", "9")),
        (("Oslo", "1"), ("Bergen", "2"), ("Total", "")),
        ((), (), ()),
    ],
    ids=[
        "right",
        "rounded up",
        "rounded down",
        "no total",
        "a gap",
        "one row",
        "a short row",
        "no value",
        "empty",
    ],
)
def test_totals_that_are_right_or_that_nobody_can_tell(rows: tuple[tuple[str, ...], ...]) -> None:
    assert totals(*rows) == []


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ((("Oslo", "1"), ("Bergen", "2"), ("Total", "3")), True),
        ((("Oslo", "1", "4"), ("Bergen", "2", "5"), ("Total", "3", "")), True),
        ((("Oslo", "1", "4"), ("Bergen", "2", "5"), ("Total", "3", "10")), False),
        ((("Oslo", "1", "a"), ("Bergen", "2", "b"), ("Total", "3", "both")), False),
        ((("Oslo", "1"), ("Bergen", "2"), ("Trondheim", "3")), False),
        ((("Oslo", "1"), ("Total", "1")), False),  # too few to be a sum
        ((("Oslo", ""), ("Bergen", "2"), ("Total", "2")), False),
        ((("Oslo", "1"), ("Bergen", "2"), ("Total",)), False),
        ((), False),
    ],
)
def test_a_last_row_that_is_nothing_but_the_sum(
    rows: tuple[tuple[str, ...], ...], right: bool
) -> None:
    assert ends_in_total(rows) is right


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=8), st.integers(1, 999))
def test_a_true_total_is_never_wrong_and_a_false_one_always(parts: list[int], off: int) -> None:
    above = [(f"place {at}", f"{value:,}") for at, value in enumerate(parts)]
    true = [*above, ("Total", f"{sum(parts):,}")]
    false = [*above, ("Total", f"{sum(parts) + off:,}")]
    assert ends_in_total(true)
    assert not list(wrong_totals(HEADER, true))
    assert not ends_in_total(false)
    assert len(list(wrong_totals(HEADER, false))) == 1
