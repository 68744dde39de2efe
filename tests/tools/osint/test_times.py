"""Days and moments from outside: read, or refused, and never an overflow later."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.tools.osint.times import (
    NOT_OVER,
    AskedDays,
    Day,
    Span,
    UnzonedTime,
    ZonedTime,
    midnight,
    today,
)
from tests.tools.osint.faults import refusal as refused

TODAY = date(2026, 11, 11)
DAY, ZONED, UNZONED = TypeAdapter(Day), TypeAdapter(ZonedTime), TypeAdapter(UnzonedTime)


def refusal(given: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        DAY.validate_python(given)
    return str(caught.value.errors()[0]["msg"])


@pytest.mark.parametrize(
    "given_text",
    [
        None,
        0,
        1_700_000_000,
        True,
        [],
        "",
        "yesterday",
        "20",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:00:00-12:00",
    ],
)
def test_a_value_that_is_not_a_moment_is_refused(given_text: object) -> None:
    for form in (ZONED, UNZONED):
        with pytest.raises(ValidationError):
            form.validate_python(given_text)


def test_a_moment_without_a_zone_is_refused_unless_it_is_utc() -> None:
    with pytest.raises(ValidationError):
        ZONED.validate_python("2026-11-11T14:05:00")
    assert UNZONED.validate_python("2026-11-11T14:05:10.143") == datetime(
        2026, 11, 11, 14, 5, 10, 143_000, UTC
    )


@pytest.mark.parametrize(
    "text", ["2026-11-11T14:05:00Z", "2026-11-11T16:05:00+02:00", " 2026-11-11 14:05:00+00:00 "]
)
def test_a_zone_is_taken_into_account(text: str) -> None:
    for form in (ZONED, UNZONED):
        read = form.validate_python(text)
        assert read == datetime(2026, 11, 11, 14, 5, tzinfo=UTC)
        assert read.tzinfo is UTC


@given(st.datetimes(timezones=st.none() | st.timezones()))
def test_whatever_is_read_can_be_written_and_read_again(moment: datetime) -> None:
    try:
        read = UNZONED.validate_python(moment.isoformat())
    except ValidationError:
        assert not 1971 < moment.year < 2199
    else:
        assert UNZONED.validate_python(UNZONED.dump_python(read, mode="json")) == read


@pytest.mark.parametrize(
    "given",
    [
        "yesterday",
        "2026-11",
        "20261111",
        20261111,
        1_794_000_000,
        "2026-02-30",
        "11.11.2026",
        "2026-11-11x",
        True,
        [],
        "",
    ],
)
def test_a_value_that_is_not_a_day_is_refused(given: Any) -> None:
    assert "a day is written as 2026-11-11" in refusal(given)


@pytest.mark.parametrize("given", ["1899-12-31", "2101-01-01", "0001-01-01", "9999-12-31"])
def test_a_day_beyond_the_calendar_of_services_is_refused(given: str) -> None:
    assert "it lies before" in refusal(given)


@pytest.mark.parametrize(
    ("given_day", "means"),
    [
        ("2026-11-11", TODAY),
        (" 2026-11-11 ", TODAY),
        ("2026-11-11T14:05:00Z", TODAY),
        ("2026-11-11 14:05", TODAY),
        (TODAY, TODAY),
        (datetime(2026, 11, 11, 23, tzinfo=UTC), TODAY),
    ],
)
def test_days_that_are_read(given_day: Any, means: date) -> None:
    assert DAY.validate_python(given_day) == means


@given(
    st.one_of(
        st.text(max_size=30),
        st.integers(),
        st.floats(),
        st.none(),
        st.lists(st.text(max_size=3), max_size=3),
    )
)
def test_anything_is_read_as_a_day_or_refused(given_day: Any) -> None:
    if not refused(ValidationError, lambda: DAY.validate_python(given_day)):
        made = DAY.validate_python(given_day)
        assert DAY.validate_python(made) == made


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert midnight(date(2026, 11, 11)) == datetime(2026, 11, 11, tzinfo=UTC)


def test_today() -> None:
    assert today(Settings(as_of=TODAY)) == TODAY
    assert abs((today(Settings()) - datetime.now(UTC).date()).days) <= 1


def test_a_span() -> None:
    span = Span(date(2026, 11, 5), TODAY)
    assert (span.days, str(span), str(Span(TODAY, TODAY))) == (
        7,
        "2026-11-05 to 2026-11-11",
        "2026-11-11",
    )
    assert span.before == Span(date(2026, 10, 29), date(2026, 11, 4))
    assert date(2026, 11, 5) in span
    assert date(2026, 11, 4) not in span
    assert date(2026, 11, 12) not in span


@pytest.mark.parametrize(("day", "note"), [(11, NOT_OVER), (12, "")])
def test_a_last_day_that_was_not_over_is_noted(day: int, note: str) -> None:
    at = datetime(2026, 11, day, 23, 59, tzinfo=UTC)
    asked = AskedDays(first=date(2026, 11, 5), last=TODAY, at=at)
    assert asked.span == Span(date(2026, 11, 5), TODAY)
    assert asked.note == note
