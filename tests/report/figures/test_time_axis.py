"""Ticks of an axis of time, from minutes to millennia."""

from __future__ import annotations

import itertools
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.time_and_place import DAY
from deepdiver.report.figures.time_axis import FIRST, LAST, MOST, ticks_between


def at(year: int, month: int = 1, day: int = 1, minute: int = 0) -> int:
    return date(year, month, day).toordinal() * DAY + minute


@given(st.integers(FIRST, LAST), st.integers(FIRST, LAST))
def test_any_span_has_few_ticks_in_order_within_it(one: int, other: int) -> None:
    start, end = sorted((one, other))
    made = ticks_between(start, end)
    assert len(made) <= MOST
    assert [tick.at for tick in made] == sorted({tick.at for tick in made})
    assert all(start <= tick.at <= max(end, start + 1) for tick in made)
    if end - start > 5:
        assert made, "no axis without a mark"


@pytest.mark.parametrize(
    ("start", "end", "texts", "below"),
    [
        (at(2026, 11, 11, 840), at(2026, 11, 11, 848), ["14:00", "14:01"], "11 Nov 2026"),
        (at(2026, 11, 11, 840), at(2026, 11, 11, 960), ["14:00", "14:15"], "11 Nov 2026"),
        (at(2026, 11, 11), at(2026, 11, 12), ["00:00", "03:00"], "11 Nov 2026"),
        (at(2026, 11, 9), at(2026, 11, 16), ["9 Nov", "10 Nov"], "2026"),
        (at(2026, 10, 1), at(2026, 12, 1), ["5 Oct", "12 Oct"], "2026"),
        (at(2026, 1, 1), at(2026, 8, 1), ["Jan", "Feb"], "2026"),
        (at(2024, 1, 1), at(2026, 1, 2), ["Jan", "Apr"], "2024"),
        (at(2000), at(2008), ["2000", "2001"], ""),
        (at(1900), at(2026), ["1900", "1920"], ""),
        (at(1), at(9999), ["1000", "2000"], ""),
    ],
)
def test_sensible_ticks(start: int, end: int, texts: list[str], below: str) -> None:
    made = ticks_between(start, end)
    assert [tick.text for tick in made[:2]] == texts
    assert made[0].below == below


def test_what_stands_below_is_said_once_and_again_where_it_changes() -> None:
    made = ticks_between(at(2026, 11, 10, 1_200), at(2026, 11, 11, 360))
    assert [(tick.text, tick.below) for tick in made if tick.below] == [
        ("20:00", "10 Nov 2026"),
        ("00:00", "11 Nov 2026"),
    ]


def test_weeks_begin_on_mondays() -> None:
    made = ticks_between(at(2026, 10, 1), at(2026, 12, 1))
    assert {date.fromordinal(tick.at // DAY).weekday() for tick in made} == {0}


@given(st.integers(FIRST, LAST - 1), st.integers(1, 60))
def test_minutes_are_given_to_the_minute(start: int, long: int) -> None:
    for tick in ticks_between(start, min(start + long, LAST)):
        hours, minutes = map(int, tick.text.split(":"))
        assert (hours * 60 + minutes) == tick.at % DAY


@given(st.integers(at(1900), at(2100)), st.integers(10 * DAY, 20 * DAY))
def test_days_begin_at_midnight(start: int, long: int) -> None:
    for tick in ticks_between(start, start + long):
        assert tick.at % DAY == 0
        assert str(date.fromordinal(tick.at // DAY).day) == tick.text.split()[0]


@given(st.integers(1, 9_000), st.integers(10, 900))
def test_years_begin_in_january_and_are_round(year: int, long: int) -> None:
    made = ticks_between(at(year), at(year + long))
    days = [date.fromordinal(tick.at // DAY) for tick in made]
    assert all((day.month, day.day) == (1, 1) for day in days)
    gaps = {later.year - earlier.year for earlier, later in itertools.pairwise(days)}
    assert len(gaps) <= 1
    assert gaps <= {1, 2, 5, 10, 20, 50, 100, 200}


@pytest.mark.parametrize(
    ("start", "end"), [(LAST - 5, LAST), (LAST, LAST), (FIRST, FIRST), (LAST - 10 * DAY, LAST)]
)
def test_the_ends_of_the_calendar(start: int, end: int) -> None:
    assert all(FIRST <= tick.at <= LAST for tick in ticks_between(start, end))
