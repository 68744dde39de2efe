"""Moments from outside: read, or refused, and never an overflow later."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from deepdiver.tools.osint.moments import Unzoned, Zoned

ZONED, UNZONED = TypeAdapter(Zoned), TypeAdapter(Unzoned)


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
def test_what_is_no_moment(given_text: object) -> None:
    for form in (ZONED, UNZONED):
        with pytest.raises(ValidationError):
            form.validate_python(given_text)


def test_without_a_zone_nobody_knows_when_that_was() -> None:
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
