"""IODA, from a local server with its formats, through the real gateway and store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault
from deepdiver.tools.http import shaped
from deepdiver.tools.osint.check_connectivity import FEED, ConnectivityArguments
from deepdiver.tools.osint.connectivity import ioda
from deepdiver.tools.osint.connectivity.ioda import (
    LASTING,
    LOW,
    IodaEventsResponse,
    IodaSeries,
    IodaSignalsResponse,
    drops_of,
    level_of,
)
from deepdiver.tools.osint.connectivity.outages import CountryOrNetwork
from deepdiver.tools.osint.feed import MOST_ROWS, ServiceAnswer
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedCase, FeedFaults, check_row
from tests.tools.search.conftest import Service, reply

TODAY = date(2026, 11, 11)
SETTINGS = {"as_of": TODAY}


def at(text: str) -> int:
    """Return seconds since 1970: at("11-11 14:05")."""
    return int(datetime.fromisoformat(f"2026-{text}").replace(tzinfo=UTC).timestamp())


def event(
    start: str, minutes: int = 90, source: str = "ping-slash24", **more: Any
) -> dict[str, Any]:
    """Return an event as /outages/events gives it in its usual format."""
    return {
        "location": "country/UA",
        "start": at(start),
        "duration": minutes * 60,
        "uncertainty": None,
        "method": "median",
        "datasource": source,
        "status": 0,
        "fraction": None,
        "score": 753.25,
        "location_name": "Ukraine",
        "overlaps_window": False,
        **more,
    }


def series(
    values: list[Any], start: str = "10-29 00:00", source: str = "bgp", step: int = 3_600
) -> dict[str, Any]:
    """Return a signal as /signals/raw gives it."""
    return {
        "entityType": "country",
        "entityCode": "UA",
        "entityName": "Ukraine",
        "entityFqid": "geo.netacuity.EU.UA",
        "datasource": source,
        "subtype": "",
        "from": at(start),
        "until": at(start) + step * len(values),
        "step": step,
        "nativeStep": 300,
        "values": values,
    }


def body(data: Any, **more: Any) -> bytes:
    return json.dumps(
        {"type": "x", "metadata": {}, "error": None, "perf": None, "data": data, **more}
    ).encode()


FELL = [1_200] * 318 + [700, 690, None] + [1_200] * 15
"""A fortnight by the hour from 29 October on: it falls on 11 November at 6 in the morning for two
hours."""
EVENTS = body(
    [
        event("11-11 14:05"),
        event("11-11 14:30", 30, "bgp", score=12),
        event("11-06 01:00", source="gtr"),
        event("11-02 03:00"),
        event("11-04 12:00", 60 * 24, "merit-nt"),
        event("11-11 14:05", location="country/RU"),
    ]
)
SIGNALS = body(
    [
        [
            series([*FELL]),
            series([5.0, None, 4.0], "11-10 00:00", "gtr"),
            series([[{"x": 1}]], source="ping-slash24-loss"),
        ]
    ]
)
GOOD = {"/outages/events": EVENTS, "/signals/raw/country/UA": SIGNALS}
EMPTY = {"/outages/events": body([]), "/signals/raw": body([[]])}
CASE = FeedCase(
    FEED,
    service="ioda",
    args={"country_code": "ua", "days": "7"},
    good=GOOD,
    empty=EMPTY,
    wrong=(
        b"[]",
        b"null",
        b"{}",
        body(None),
        body({}),
        body(["text"]),
        body([{"location": "country/UA"}]),
        body([{**event("11-11 14:05"), "start": "yesterday"}]),
        body([event("11-11 14:05", duration=-1)]),
        body([event("11-11 14:05", score="NaN")]),
        body([[{"datasource": "bgp"}]]),
        body([[series(["1", "2"])]]),
        body([[series([1.0], step=0)]]),
    ),
    settings=SETTINGS,
    vary=lambda number: {"days": number + 1},
)


class TestFaults(FeedFaults):
    case = CASE


async def ask(
    desk: Desk, service: Service, said: dict[str, bytes], **args: Any
) -> tuple[ServiceAnswer, tuple[str, ...]]:
    service.always = {
        piece: text if text.startswith(b"HTTP/") else reply(text) for piece, text in said.items()
    }
    asked = ConnectivityArguments.model_validate({"country_code": "UA", "days": 7, **args})
    told = await FEED.ask(asked, desk.gateway(**CASE.options(service.url)))
    (answer,) = told.answers
    return answer, told.failures


async def test_an_error_with_status_200_is_an_error(desk: Desk, service: Service) -> None:
    service.always = reply(body([], error="bad entity"))
    with pytest.raises(CallError) as caught:
        await ask(desk, service, {"/": body([], error="Something broke")})
    assert caught.value.fault is CallFault.SERVER
    assert "Something" not in str(caught.value)


async def test_one_of_the_two_requests_is_enough(desk: Desk, service: Service) -> None:
    failing = reply(b"", "500 Internal Server Error")
    answer, lines = await ask(desk, service, {**GOOD, "/outages/events": failing})
    assert lines == ("IODA's outages failed: ioda answered 500",)
    assert [row.data["datasource"] for row in answer.rows] == ["bgp"]
    answer, lines = await ask(desk, service, {**GOOD, "/signals/raw/country/UA": failing}, days=6)
    assert lines == ("IODA's signals failed: ioda answered 500",)
    assert answer.rows[0].data["start"] == at("11-11 14:30")
    assert "medians" not in answer.summary


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    answer, lines = await ask(desk, service, GOOD)
    assert lines == ()
    assert (answer.service, answer.kind, answer.total) == ("IODA", "connectivity", 5)
    assert answer.title == "Internet connectivity of Ukraine, 2026-11-05 to 2026-11-11"
    assert [row.sentence for row in answer.rows] == [
        "2026-11-11 14:30 UTC: IODA saw an internet outage begin in Ukraine in its signal bgp "
        "(networks announced by "
        "BGP), which lasted 30 minutes and has a score of 12.",
        "2026-11-11 14:05 UTC: IODA saw an internet outage begin in Ukraine in its signal "
        "ping-slash24 (networks that "
        "answer probes), which lasted 1 hour 30 minutes and has a score of 753.25.",
        "2026-11-11 06:00 UTC: IODA's signal bgp (networks announced by BGP) in Ukraine fell below "
        "95 % of its "
        "median of 1200 for 2 hours, down to 690 (57.5 %).",
        "2026-11-06 01:00 UTC: IODA saw an internet outage begin in Ukraine in its signal gtr "
        "(traffic to Google), "
        "which lasted 1 hour 30 minutes and has a score of 753.25.",
        "2026-11-04 12:00 UTC: IODA saw an internet outage begin in Ukraine in its signal merit-nt "
        "(background noise "
        "at a telescope), which lasted 1 day and has a score of 753.25.",
    ]
    # Two signals that agree are surer than one.
    assert [row.confidence for row in answer.rows] == ["high", "high", "medium", "medium", "medium"]
    assert {row.place for row in answer.rows} == {"Ukraine"}
    assert answer.rows[0].data == {
        "location": "country/UA",
        "start": at("11-11 14:30"),
        "duration": 1_800,
        "datasource": "bgp",
        "score": 12.0,
        "method": "median",
    }
    assert answer.summary == (
        "IODA shows 3 outages of Ukraine that began in 2026-11-05 to 2026-11-11 (by day: "
        "2026-11-05: 0, 2026-11-06: 1, "
        "2026-11-07: 0, 2026-11-08: 0, 2026-11-09: 0, 2026-11-10: 0, 2026-11-11: 2), against 2 in "
        "the 7 days before "
        "(2026-10-29 to 2026-11-04); 1 more had begun before and reached into it; signals of "
        "Ukraine against their own "
        "medians: bgp (networks announced by BGP) last 100 % and at its lowest 57.5 %, at "
        "2026-11-11 07:00 UTC; gtr "
        "(traffic to Google) last 88.9 % and at its lowest 88.9 %, at 2026-11-10 02:00 UTC."
    )


async def test_the_parameters_of_the_requests(desk: Desk, service: Service) -> None:
    await ask(desk, service, GOOD)
    asked = {
        urlsplit(request.split(" ", 2)[1]).path: parse_qs(urlsplit(request.split(" ", 2)[1]).query)
        for request in service.heard
    }
    times = {"from": [str(at("10-29 00:00"))], "until": [str(at("11-12 00:00"))]}
    assert asked == {
        "/outages/events": {
            "entityType": ["country"],
            "entityCode": ["UA"],
            "limit": ["1000"],
            **times,
        },
        "/signals/raw/country/UA": {"maxPoints": ["2016"], **times},
    }


async def test_a_network(desk: Desk, service: Service) -> None:
    events = body([event("11-11 14:05", location="asn/3255")])
    said = {"/outages/events": events, "/signals/raw/asn/3255": body([[]])}
    answer, _ = await ask(desk, service, said, country_code=None, asn="AS3255")
    assert answer.rows[0].sentence.startswith(
        "2026-11-11 14:05 UTC: IODA saw an internet outage begin in AS3255 in"
    )


async def test_a_drop_that_an_event_reports_is_not_listed_again(
    desk: Desk, service: Service
) -> None:
    events = body([event("11-11 05:50", source="bgp")])
    answer, _ = await ask(desk, service, {**GOOD, "/outages/events": events})
    assert (answer.total, len(answer.rows)) == (1, 1)
    other = body([event("11-11 05:50", source="ping-slash24")])
    answer, _ = await ask(desk, service, {**GOOD, "/outages/events": other}, days=6)
    assert answer.total == 2


async def test_of_many_the_newest_are_kept_and_all_are_counted(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ioda, "MOST_EVENTS", 600)
    many = [
        event(f"11-1{number % 2} {number // 2 % 24:02}:{number % 60:02}", 1)
        for number in range(600)
    ]
    answer, _ = await ask(desk, service, {"/outages/events": body(many), "/signals": body([[]])})
    assert (answer.total, len(answer.rows)) == (600, MOST_ROWS)
    assert [row.when for row in answer.rows] == sorted(
        (row.when for row in answer.rows), reverse=True
    )
    assert "2026-11-10: 300, 2026-11-11: 300" in answer.summary
    assert answer.note == "IODA may have more than the 600 events that it was asked for"
    assert max(len(repr(row)) for row in desk.store.journal.rows(desk.run)) < 100_000


async def test_names_from_outside_stay_on_their_line(desk: Desk, service: Service) -> None:
    events = body([event("11-11 14:05", source="bgp\n2026-01-01: forged")])
    answer, _ = await ask(desk, service, {**GOOD, "/outages/events": events})
    assert all("\n" not in row.sentence for row in answer.rows)
    assert answer.rows[0].when == "2026-11-11T14:05:00Z"


def made(values: Sequence[float | None], source: str = "bgp", step: int = 600) -> IodaSeries:
    return IodaSeries.model_validate(
        {"datasource": source, "from": 1_000_000, "step": step, "values": values}
    )


@pytest.mark.parametrize(
    ("values", "spans"),
    [
        ([100.0] * 9, []),
        ([100.0] * 9 + [90.0] * 2, []),  # 20 minutes
        ([100.0] * 9 + [90.0] * 3, [(9, 12)]),  # half an hour, and it goes on
        ([90.0] * 3 + [100.0] * 9, [(0, 3)]),
        ([100.0] * 9 + [96.0] * 5, []),  # not low enough
        ([100.0] * 9 + [90.0, 90.0, None, 90.0, 90.0], []),  # nobody knows what was between
        ([100.0] * 20 + [90.0] * 3 + [100.0] + [0.0] * 4, [(20, 23), (24, 28)]),
        ([0.0] * 9, []),
        ([None] * 9, []),
        ([], []),
    ],
)
def test_drops(values: list[float | None], spans: list[tuple[int, int]]) -> None:
    assert [
        ((d.start - 1_000_000) // 600, (d.end - 1_000_000) // 600) for d in drops_of(made(values))
    ] == spans


def test_a_signal_that_follows_the_day_has_no_drops() -> None:
    assert drops_of(made([100.0] * 9 + [1.0] * 9, "gtr")) == []


@given(
    st.lists(st.none() | st.floats(0, 1e6, width=32), max_size=60),
    st.sampled_from(["bgp", "ping-slash24"]),
)
def test_a_drop_is_low_throughout_and_lasts(values: list[float | None], source: str) -> None:
    for drop in drops_of(made(values, source)):
        inside = values[(drop.start - 1_000_000) // 600 : (drop.end - 1_000_000) // 600]
        assert drop.end - drop.start >= LASTING
        known = [value for value in inside if value is not None]
        assert len(known) == len(inside)
        assert all(value < LOW[source] * drop.median for value in known)
        assert drop.lowest == min(known)


@given(st.lists(st.none() | st.floats(0, 1e6, width=32), max_size=60), st.integers(0, 60))
def test_a_level_is_of_the_period(values: list[float | None], first: int) -> None:
    level = level_of(made(values), 1_000_000 + first * 600)
    known = [value for value in values[first:] if value is not None]
    if level is None:
        assert not known or sum(value == 0.0 for value in values) * 2 >= sum(
            value is not None for value in values
        )
    else:
        assert (level.last, level.lowest) == (known[-1], min(known))
        assert values[(level.lowest_at - 1_000_000) // 600] == level.lowest


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["location", "start", "duration", "datasource", "score", "method"]))
def test_any_field_may_be_anything(value: Any, name: str) -> None:
    """What is taken for an event can be told as a row; what is not is malformed."""
    subject = CountryOrNetwork("country", "UA", "Ukraine")
    try:
        found = shaped(
            "ioda", IodaEventsResponse, {"data": [{**event("11-11 14:05"), name: value}]}
        )
    except CallError:
        return
    check_row(ioda._event_row(found.data[0], found.data, subject))


@given(JSON, st.sampled_from(["datasource", "subtype", "from", "step", "values"]))
def test_any_part_of_a_signal_may_be_anything(value: Any, name: str) -> None:
    raw = {**series([100.0] * 20 + [10.0] * 5), name: value}
    try:
        (signal,) = shaped("ioda", IodaSignalsResponse, {"data": [[raw]]}).data[0]
    except CallError:
        return
    level_of(signal, 0)
    for drop in drops_of(signal):
        check_row(ioda._drop_row(drop, CountryOrNetwork("country", "UA", "Ukraine")))
