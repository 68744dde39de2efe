"""Aircraft, against a local server that speaks OpenSky's format."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.http import shaped
from deepdiver.tools.osint import search_flights
from deepdiver.tools.osint.feed import Feed, IntelligenceType, ServiceAnswer, arguments_of
from deepdiver.tools.osint.search_flights import FEED, FlightArguments
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FAST, FeedCase, FeedFaults, check_row, refusal
from tests.tools.search.conftest import Service, reply

TIME = int(datetime(2026, 11, 11, 14, 5, tzinfo=UTC).timestamp())
# A state as documented, with an invented aircraft.
STATE: list[Any] = [
    "3c6444",
    "DLH9LF  ",
    "Germany",
    TIME - 65,
    TIME,
    8.1257,
    46.9648,
    9639.3,
    False,
    232.88,
    98.26,
    4.55,
    None,
    9547.86,
    "1000",
    False,
    0,
]
PLACE = {"latitude": "46.9", "longitude": "8.1", "radius_km": "50"}


def state(**changes: Any) -> list[Any]:
    return [
        changes.get(name, value) for name, value in zip(search_flights._FIELDS, STATE, strict=True)
    ]


def body(*states: Any, time: Any = TIME) -> bytes:
    return json.dumps({"time": time, "states": list(states) or None}).encode()


class TestFaults(FeedFaults):
    case = FeedCase(
        FEED,
        service="opensky",
        args=PLACE,
        good=body(STATE),
        empty=body(),
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"time": 1}',
            b'{"states": []}',
            b'{"time": 1, "states": {}}',
            b'{"time": 1, "states": [7]}',
            b'{"time": 1, "states": [[]]}',
            body(STATE[:16]),
            body(state(icao24=None)),
            body(state(latitude="high")),
            body(state(latitude=91.0)),
            body(state(longitude=-181.0)),
            body(state(time_position=10**20)),
            body(state(velocity=-1)),
            body(state(on_ground="perhaps")),
            body(STATE, time="now"),
            body(STATE).replace(b"9639.3", b"Infinity"),
        ),
        vary=lambda number: {"radius_km": str(50 + number)},
    )


async def asked(desk: Desk, url: str, /, **given: Any) -> ServiceAnswer:
    args = FlightArguments.model_validate(given)
    settings: dict[str, Any] = {"urls": {"opensky": url}, "limits": {"opensky": FAST}}
    (answer,) = (await FEED.ask(args, desk.gateway(**settings))).answers
    return answer


def params(request: str) -> dict[str, float]:
    path = urlsplit(request.split(" ", 2)[1])
    assert path.path == "/api/states/all"
    return {name: float(values[0]) for name, values in parse_qs(path.query).items()}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "it needs the argument 'latitude'"),
        ({"latitude": "50"}, "it needs the argument 'longitude'"),
        ({"latitude": "91", "longitude": "0"}, "'latitude'"),
        ({"latitude": "0", "longitude": "181"}, "'longitude'"),
        ({"latitude": "0", "longitude": "0", "radius_km": "-1"}, "'radius_km'"),
        ({"latitude": "0", "longitude": "0", "radius_km": "0"}, "'radius_km'"),
        ({"latitude": "0", "longitude": "0", "radius_km": "501"}, "'radius_km'"),
        (
            {"latitude": "0", "longitude": "0", "since": "2026-11-05"},
            "it takes no argument 'since'",
        ),
    ],
)
def test_bad_arguments_are_refused_before_any_call(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        arguments_of(FEED, given)


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(body(STATE))
    answer = await asked(desk, service.url, **PLACE)
    (row,) = answer.rows
    assert row.sentence == (
        "2026-11-11 14:03 UTC: aircraft DLH9LF at 46.9648 N, 8.1257 E, 7.5 km from the place asked "
        "for, at an altitude "
        "of 9639.3 m, 232.88 m/s, registration: Germany (OpenSky 3c6444)."
    )
    assert (row.lat, row.lon, row.when, row.place) == (46.9648, 8.1257, "2026-11-11T14:03:55Z", "")
    assert row.data["squawk"] == "1000"
    assert answer.summary == (
        "2026-11-11 14:05 UTC: OpenSky saw 1 aircraft within 50 km of 46.9 N, 8.1 E, 0 of them on "
        "the ground "
        "(by registration: Germany: 1)."
    )
    (request,) = service.heard
    heard = params(request)
    assert heard["lamin"] < 46.46 < 47.34 < heard["lamax"]
    assert heard["lomin"] < 7.45 < 8.75 < heard["lomax"]
    assert answer.url.startswith(f"{service.url}/api/states/all?lamin=")


async def test_only_aircraft_within_the_circle_count_the_nearest_first(
    desk: Desk, service: Service
) -> None:
    corner = state(icao24="corner", latitude=47.34, longitude=8.74)
    nowhere = state(icao24="nowhere", latitude=None, longitude=None)
    far = state(icao24="far", latitude=47.2, origin_country=None, callsign=None, time_position=None)
    parked = state(icao24="parked", latitude=46.9, longitude=8.1, on_ground=True, velocity=None)
    service.always = reply(body(corner, nowhere, far, STATE, parked))
    answer = await asked(desk, service.url, **PLACE)
    assert [row.data["icao24"] for row in answer.rows] == ["parked", "3c6444", "far"]
    for row in answer.rows:
        check_row(row)
    assert "on the ground" in answer.rows[0].sentence
    assert "aircraft far at 47.2 N" in answer.rows[2].sentence
    assert answer.rows[2].when == "2026-11-11T14:05:00Z"
    assert answer.total == 3
    assert "3 aircraft within 50 km" in answer.summary
    assert "1 of them on the ground (by registration: Germany: 2, unknown: 1)" in answer.summary


async def test_a_circle_over_the_date_line_is_asked_for_in_two_boxes(
    desk: Desk, service: Service
) -> None:
    east = state(icao24="east", latitude=-17.0, longitude=179.9)
    west = state(icao24="west", latitude=-17.0, longitude=-179.9)
    service.once = [reply(body(east)), reply(body(west))]
    answer = await asked(desk, service.url, latitude="-17", longitude="179.95", radius_km="100")
    assert [row.data["icao24"] for row in answer.rows] == ["east", "west"]
    assert answer.total == 2
    boxes = [params(request) for request in service.heard]
    assert (boxes[0]["lomax"], boxes[1]["lomin"]) == (180.0, -180.0)


async def test_many_are_counted_and_a_few_kept(desk: Desk, service: Service) -> None:
    many = [
        state(icao24=f"{number:06x}", latitude=46.9 + number / 10_000) for number in range(1_000)
    ]
    service.always = reply(body(*many))
    answer = await asked(desk, service.url, **PLACE)
    assert (len(answer.rows), answer.total) == (20, 1_000)
    (row,) = desk.store.journal.rows(desk.run)
    assert row.reply is not None
    assert len(json.loads(row.reply)["value"]["nearest"]) == search_flights.KEPT


async def test_words_from_outside_stay_within_their_sentence(desk: Desk, service: Service) -> None:
    service.always = reply(body(state(callsign="A\nB\x00", origin_country="No\r\nwhere\u202e")))
    (row,) = (await asked(desk, service.url, **PLACE)).rows
    check_row(row)


def test_it_is_asked_only_if_the_settings_name_it() -> None:
    feed: Feed[FlightArguments] = FEED
    assert feed.kind is IntelligenceType.EVENT
    assert "commercial" in (feed.missing(Settings()) or "")
    assert feed.missing(Settings(feeds=("auto",))) is not None
    assert feed.missing(Settings(feeds=("auto", "search_flights"))) is None


def test_its_daily_credits_are_not_overdrawn() -> None:
    limit = Settings().limit("opensky")
    assert limit.rate * 4 * 86_400 / limit.per <= 400


@given(
    st.lists(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), max_size=20
    )
)
def test_any_state_is_read_or_refused(values: list[Any]) -> None:
    whole = {"time": TIME, "states": [values]}
    error = refusal(CallError, lambda: shaped("opensky", search_flights.OpenSkyResponse, whole))
    assert error is None or error.fault is CallFault.MALFORMED
