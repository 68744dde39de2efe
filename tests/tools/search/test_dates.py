"""Days as services write them, and ranges with both ends."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters
from deepdiver.tools.search import dates
from deepdiver.tools.search.dates import day_range, iso_date, today


def test_a_range_has_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dates, "today", lambda: date(2026, 11, 15))
    first, last, later = date(2026, 1, 2), date(2026, 3, 4), date(2027, 1, 1)
    assert day_range(Filters()) is None
    assert day_range(Filters(since=first, until=last)) == (first, last)
    assert day_range(Filters(since=first)) == (first, date(2026, 11, 15))
    assert day_range(Filters(since=later)) == (later, later)  # never an end before the beginning
    assert day_range(Filters(until=last)) == (date(1970, 1, 1), last)


def test_today_is_a_day() -> None:
    assert date(2025, 1, 1) < today() < date(2100, 1, 1)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (None, ""),
        ("", ""),
        ("2026-02-08", "2026-02-08"),
        (" 2026-02-08T10:00:00Z ", "2026-02-08T10:00:00Z"),
        ("2026-02-31", ""),
        ("2026-02-080", ""),
        ("2026-02-08 10:00:00", "2026-02-08 10:00:00"),
        ("2026-02-08, updated", "2026-02-08"),
        ("Jan 5, 2026", "2026-01-05"),
        ("January 5, 2026", "2026-01-05"),
        ("5 Jan 2026", "2026-01-05"),
        ("2026/01/05", "2026-01-05"),
        ("Sat, 08 Feb 2025 12:00:00 GMT", "2025-02-08T12:00:00+00:00"),
        ("3 days ago", ""),
        ("yesterday", ""),
        ("08.02.2026", ""),
    ],
)
def test_days_as_services_write_them(text: str | None, day: str) -> None:
    assert iso_date(text) == day


@given(st.text(max_size=40))
def test_no_text_is_read_as_something_that_is_not_a_day(text: str) -> None:
    found = iso_date(text)
    assert not found or date.fromisoformat(found[:10]) <= date.max


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_every_day_is_read_however_it_is_written(day: date) -> None:
    for form in dates.DAY_FORMS:
        assert iso_date(day.strftime(form)) == day.isoformat()
    assert iso_date(day.isoformat()) == day.isoformat()
