"""Phrases of a row's sentence: code reads them back, and nothing breaks out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.numbers import number as value_of
from deepdiver.core.time_and_place import Position, moment_of, positions
from deepdiver.tools.osint.phrases import (
    DIGITS,
    LONGEST_TITLE,
    clock,
    compared,
    count_by_day,
    counted,
    daily,
    degrees,
    duration,
    number,
    one_line,
    quoted,
    total_in,
    utc,
)
from deepdiver.tools.osint.times import Span

WEEK = Span(date(2026, 11, 5), date(2026, 11, 11))


@given(st.integers(-2_000_000_000, 4_000_000_000), st.integers(-840, 840))
def test_a_moment_is_read_back(seconds: int, minutes: int) -> None:
    moment_there = datetime.fromtimestamp(seconds, timezone(timedelta(minutes=minutes)))
    when = utc(moment_there)
    assert datetime.fromisoformat(when) == moment_there
    there = moment_of(f"{clock(when)}: something")
    assert there is not None
    assert there.iso() == f"{when[:16]}Z"


def test_a_moment_without_a_zone_is_taken_for_utc_and_a_day_stays_one() -> None:
    assert (
        utc(datetime(2026, 11, 11, 14, 5, tzinfo=UTC).replace(tzinfo=None))
        == "2026-11-11T14:05:00Z"
    )
    assert clock("2026-11-11T14:05:59Z") == "2026-11-11 14:05 UTC"
    assert clock("2026-11-11") == "2026-11-11"


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_a_position_is_read_back(lat: float, lon: float) -> None:
    assert positions(f"at {degrees(lat, lon)}, they say") == [
        Position(round(lat, DIGITS), round(lon, DIGITS))
    ]


@pytest.mark.parametrize(
    ("lat", "lon", "told"),
    [
        (49.9935, 36.2304, "49.9935 N, 36.2304 E"),
        (-33.0, -70.5, "33 S, 70.5 W"),
        (0.0, -0.0, "0 N, 0 E"),
        (-0.0000001, 180, "0 N, 180 E"),
        (1e-5, -179.123456, "0.00001 N, 179.12346 W"),
    ],
)
def test_positions(lat: float, lon: float, told: str) -> None:
    assert degrees(lat, lon) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [(10.0, "10"), (4.5, "4.5"), (0.00001, "0.00001"), (-2.5, "-2.5"), (1e15, "1000000000000000")],
)
def test_numbers(value: float, told: str) -> None:
    assert number(value) == told


@given(st.integers(-10_000_000, 10_000_000))
def test_numbers_are_read_back(thousandths: int) -> None:
    told = value_of(number(thousandths / 1_000))
    assert told is not None
    assert float(told) == thousandths / 1_000


@given(st.text(max_size=400))
def test_words_from_outside_stay_on_their_line_and_in_their_marks(text: str) -> None:
    made = quoted(text)
    assert made[0] == made[-1] == '"'
    assert '"' not in made[1:-1]
    assert len(made.splitlines()) == 1
    assert len(made) <= LONGEST_TITLE + 2
    assert not any(
        char in made
        for char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200f\x00\x1b\x85"
    )
    assert one_line(one_line(text)) == one_line(text)


def test_long_words_are_cut_between_words() -> None:
    assert one_line("one two three", 9) == "one two…"
    assert one_line("onetwothree", 5) == "onet…"
    assert one_line("one two", 7) == "one two"
    assert one_line(" a\tb\r\n c\u2028d ") == "a b c d"
    assert one_line("می\u200cخواهم") == "می\u200cخواهم"  # a mark within a word of Persian


def test_counting() -> None:
    assert counted(1, "article") == "1 article"
    assert counted(0, "article") == "0 articles"
    assert counted(2_400, "entry", "entries") == "2,400 entries"
    assert count_by_day(["2026-11-10T14:05:00Z", "2026-11-05", date(2026, 11, 10)]) == {
        "2026-11-05": 1,
        "2026-11-10": 2,
    }


def test_days_are_listed_one_by_one_or_by_their_peak() -> None:
    assert daily({}, WEEK) == ""
    assert daily({"2026-11-11": 3}, Span(date(2026, 11, 11), date(2026, 11, 11))) == ""
    assert daily({"2026-11-06": 1_200}, Span(date(2026, 11, 5), date(2026, 11, 7))) == (
        "by day: 2026-11-05: 0, 2026-11-06: 1,200, 2026-11-07: 0"
    )
    month = Span(date(2026, 10, 13), date(2026, 11, 11))
    assert (
        daily({"2026-11-06": 7, "2026-10-20": 9, "2026-09-01": 99}, month)
        == "most on 2026-10-20: 9"
    )


def test_a_comparison() -> None:
    day = Span(date(2026, 11, 11), date(2026, 11, 11))
    assert (
        compared({"2026-11-11": 3}, day, 2)
        == "2026-11-11, against 2 in the 1 day before (2026-11-10)"
    )
    assert compared({}, WEEK, None) == "2026-11-05 to 2026-11-11"
    assert compared({}, WEEK, 1_000) == (
        "2026-11-05 to 2026-11-11, against 1,000 in the 7 days before (2026-10-29 to 2026-11-04)"
    )


@given(st.lists(st.dates(date(2026, 10, 20), date(2026, 11, 20)), max_size=60))
def test_every_day_is_counted_once(days: list[date]) -> None:
    counts = count_by_day(days)
    assert sum(counts.values()) == len(days)
    assert total_in(counts, WEEK) == sum(day in WEEK for day in days)
    assert total_in(counts, WEEK) + total_in(counts, WEEK.before) <= len(days)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "less than a minute"),
        (29, "less than a minute"),
        (60, "1 minute"),
        (2_700, "45 minutes"),
        (3_600, "1 hour"),
        (5_400, "1 hour 30 minutes"),
        (86_400, "1 day"),
        (86_460, "1 day 1 minute"),
        (1_209_900, "14 days 5 minutes"),
    ],
)
def test_lengths_of_time_in_words(seconds: float, told: str) -> None:
    assert duration(seconds) == told


@given(st.floats(0, 1e9))
def test_a_length_of_time_has_two_units_at_most(seconds: float) -> None:
    told = duration(seconds).split()
    assert len(told) in (2, 4)
