"""What IODA and Cloudflare Radar share: counting outages, and the payload of a request."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.connectivity.outages import CountryOrNetwork, OutageCounts, count_outages
from deepdiver.tools.osint.times import Span

UKRAINE = CountryOrNetwork("country", "UA", "Ukraine")
SPAN = Span(date(2026, 11, 10), date(2026, 11, 11))


@given(st.lists(st.integers(-6, 3)))
def test_every_outage_in_the_period_is_counted_once(offsets: list[int]) -> None:
    days = [SPAN.first + timedelta(offset) for offset in offsets]
    counted = OutageCounts(**count_outages(days, 0, SPAN, False))
    assert sum(counted.counts.values()) == sum(day in SPAN for day in days)
    assert counted.before == sum(day in SPAN.before for day in days)
    assert set(counted.counts) <= set(map(str, SPAN.every()))


def test_the_summary() -> None:
    days = [date(2026, 11, 11)] * 3 + [date(2026, 11, 8)]
    assert OutageCounts(**count_outages(days, 4, SPAN, False)).summary("IODA", UKRAINE) == (
        "IODA shows 3 outages of Ukraine that began in 2026-11-10 to 2026-11-11 (by day: "
        "2026-11-10: 0, 2026-11-11: "
        "3), against 1 in the 2 days before (2026-11-08 to 2026-11-09); 1 more had begun before "
        "and reached into it"
    )
    assert OutageCounts(**count_outages([], 0, SPAN, False)).summary("IODA", UKRAINE) == ""
    assert OutageCounts(**count_outages([date(2026, 11, 8)], 0, SPAN, False)).summary(
        "IODA", UKRAINE
    ) == (
        "IODA shows 0 outages of Ukraine that began in 2026-11-10 to 2026-11-11, against 1 in the "
        "2 days before "
        "(2026-11-08 to 2026-11-09)"
    )


def test_a_payload_does_not_depend_on_today() -> None:
    args = Period(days=3)
    assert UKRAINE.payload("outages", args, Settings()) == {
        "what": "outages",
        "country": "UA",
        "days": 3,
    }
    then = UKRAINE.payload("outages", args, Settings(as_of=date(2026, 11, 11)))
    assert then["as_of"] == "2026-11-11"
