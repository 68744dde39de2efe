"""What the services of outages share: counting, and lengths of time in words."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.tools.osint.arguments import Period, Span
from deepdiver.tools.osint.outages import Counted, Whom, count, lasted, midnight

UKRAINE = Whom("country", "UA", "Ukraine")
SPAN = Span(date(2026, 11, 10), date(2026, 11, 11))


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
def test_lengths_of_time(seconds: float, told: str) -> None:
    assert lasted(seconds) == told


@given(st.floats(0, 1e9))
def test_a_length_of_time_is_told_with_two_units_at_most(seconds: float) -> None:
    told = lasted(seconds).split()
    assert len(told) in (2, 4)


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert midnight(date(2026, 11, 11)) == datetime(2026, 11, 11, tzinfo=UTC)


@given(st.lists(st.integers(-6, 3)))
def test_every_outage_is_counted_once_or_lies_elsewhere(offsets: list[int]) -> None:
    days = [SPAN.first + timedelta(offset) for offset in offsets]
    counted = Counted(**count(days, 0, SPAN, False))
    assert sum(counted.counts.values()) == sum(day in SPAN for day in days)
    assert counted.before == sum(day in SPAN.before for day in days)
    assert set(counted.counts) <= set(map(str, SPAN.every()))


def test_the_summary() -> None:
    days = [date(2026, 11, 11)] * 3 + [date(2026, 11, 8)]
    assert Counted(**count(days, 4, SPAN, False)).summary("IODA", UKRAINE) == (
        "IODA shows 3 outages of Ukraine that began in 2026-11-10 to 2026-11-11 (by day: "
        "2026-11-10: 0, 2026-11-11: "
        "3), against 1 in the 2 days before (2026-11-08 to 2026-11-09); 1 more had begun before "
        "and reached into it"
    )
    assert Counted(**count([], 0, SPAN, False)).summary("IODA", UKRAINE) == ""
    assert Counted(**count([date(2026, 11, 8)], 0, SPAN, False)).summary("IODA", UKRAINE) == (
        "IODA shows 0 outages of Ukraine that began in 2026-11-10 to 2026-11-11, against 1 in the "
        "2 days before "
        "(2026-11-08 to 2026-11-09)"
    )


def test_a_payload_says_what_was_asked_whatever_today_is() -> None:
    args = Period(days=3)
    assert UKRAINE.payload("outages", args, Settings()) == {
        "what": "outages",
        "country": "UA",
        "days": 3,
    }
    then = UKRAINE.payload("outages", args, Settings(as_of=date(2026, 11, 11)))
    assert then["as_of"] == "2026-11-11"
