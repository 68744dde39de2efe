"""Events: which service is asked for what, against local servers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.tools.osint.feed import (
    Feed,
    FeedResult,
    IntelligenceType,
    arguments_of,
    shown_arguments,
)
from deepdiver.tools.osint.search_events import FEED, EventArguments
from tests.tools.conftest import Desk
from tests.tools.osint.events.test_reliefweb import REPORT
from tests.tools.osint.events.test_reliefweb import body as reports
from tests.tools.osint.events.test_usgs import QUAKE
from tests.tools.osint.events.test_usgs import body as quakes
from tests.tools.osint.faults import FAST, refusal
from tests.tools.search.conftest import Service, reply

BOTH = {"/fdsnws/": reply(quakes(QUAKE)), "/v2/reports": reply(reports(1, REPORT))}
WEEK = {"since": "2026-11-05", "until": "2026-11-11"}


def options(url: str, **more: Any) -> dict[str, Any]:
    return {
        "urls": {"usgs": url, "reliefweb": url},
        "limits": {"usgs": FAST, "reliefweb": FAST},
        "keys": {"reliefweb": SecretStr("example-research-3f9a")},
        **more,
    }


async def told(
    desk: Desk, url: str, mode: Mode = Mode.LIVE, /, *, settings: Any = None, **given: Any
) -> FeedResult:
    args = EventArguments.model_validate(given)
    return await FEED.ask(args, desk.gateway(mode, **options(url, **(settings or {}))))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "it needs a place, a country, keywords, a magnitude or a time"),
        (
            {"keywords": "", "country_code": None},
            "it needs a place, a country, keywords, a magnitude or a time",
        ),
        (
            {"latitude": "91", "longitude": "0"},
            "'latitude': input should be less than or equal to 90",
        ),
        (
            {"latitude": "-90.1", "longitude": "0"},
            "'latitude': input should be greater than or equal to -90",
        ),
        ({"latitude": "0", "longitude": "180.5"}, "'longitude'"),
        ({"latitude": "nan", "longitude": "0"}, "'latitude'"),
        ({"latitude": "inf", "longitude": "0"}, "'latitude'"),
        ({"latitude": "north", "longitude": "0"}, "'latitude'"),
        ({"latitude": "50"}, "latitude and longitude come together"),
        ({"longitude": "50", "keywords": "flood"}, "latitude and longitude come together"),
        (
            {"latitude": "1", "longitude": "2", "radius_km": "-1"},
            "'radius_km': input should be greater than 0",
        ),
        ({"latitude": "1", "longitude": "2", "radius_km": "501"}, "'radius_km'"),
        ({"radius_km": "10", "keywords": "flood"}, "radius_km needs latitude and longitude"),
        ({"country_code": "XX"}, "'country_code': there is no country XX"),
        ({"keywords": "the, of"}, "'keywords': they hold no word to search for"),
        (
            {"keywords": "flood", "since": "2026-11-11", "until": "2026-11-05"},
            "since is later than until",
        ),
        ({"keywords": "flood", "since": "yesterday"}, "'since': a day is written as 2026-11-11"),
        ({"keywords": "flood", "days": "0"}, "'days'"),
        ({"keywords": "flood", "days": "400"}, "'days'"),
        ({"min_magnitude": "11"}, "'min_magnitude'"),
        ({"min_magnitude": "-1"}, "'min_magnitude'"),
        ({"keywords": "flood", "where": "Beira"}, "it takes no argument 'where'"),
    ],
)
def test_bad_arguments_are_refused_before_any_call(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        arguments_of(FEED, given)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"keywords": "flood, Beira"}, ["/v2/reports", "/v2/reports"]),
        ({"country_code": "MZ"}, ["/v2/reports", "/v2/reports"]),
        ({"country_code": "MZ", **WEEK}, ["/v2/reports", "/v2/reports"]),
        ({"latitude": "36.2", "longitude": "37.1"}, ["/fdsnws/"]),
        ({"days": "7"}, ["/fdsnws/"]),
        ({"min_magnitude": "6"}, ["/fdsnws/"]),
        ({"min_magnitude": "6", "country_code": "TR"}, ["/fdsnws/", "/v2/reports", "/v2/reports"]),
        ({"keywords": "earthquakes, relief"}, ["/fdsnws/", "/v2/reports", "/v2/reports"]),
        (
            {"keywords": "flood", "latitude": "1", "longitude": "2"},
            ["/fdsnws/", "/v2/reports", "/v2/reports"],
        ),
    ],
)
async def test_only_services_that_can_answer_are_asked(
    desk: Desk, service: Service, given: dict[str, Any], asked: list[str]
) -> None:
    service.always = BOTH
    answer = await told(desk, service.url, **given)
    assert (
        sorted(next(path for path in BOTH if path in request) for request in service.heard) == asked
    )
    assert len(answer.answers) == len(set(asked))
    assert answer.failures == ()


async def test_a_service_that_fails_costs_only_its_own_rows(desk: Desk, service: Service) -> None:
    service.always = {**BOTH, "/fdsnws/": reply(b"", "500 Internal Server Error")}
    given = {"keywords": "earthquake", **WEEK}
    live = await told(desk, service.url, **given)
    assert [answer.service for answer in live.answers] == ["ReliefWeb"]
    assert live.failures == ("USGS failed: usgs answered 500",)
    heard = len(service.heard)
    assert await told(desk, service.url, Mode.REPLAY, **given) == live
    assert len(service.heard) == heard


async def test_if_all_services_fail_it_fails(desk: Desk, service: Service) -> None:
    service.always = reply(b"", "500 Internal Server Error")
    with pytest.raises(CallError) as caught:
        await told(desk, service.url, keywords="earthquake")
    assert caught.value.fault is CallFault.SERVER
    assert (
        str(caught.value)
        == "USGS failed: usgs answered 500; ReliefWeb failed: reliefweb answered 500"
    )


async def test_without_an_appname_reliefweb_is_a_failure(desk: Desk, service: Service) -> None:
    service.always = BOTH
    given = {"keywords": "earthquake", **WEEK}
    live = await told(desk, service.url, settings={"keys": {}}, **given)
    assert [answer.service for answer in live.answers] == ["USGS earthquake catalogue"]
    assert live.failures == (
        "ReliefWeb failed: it was not asked, because it wants to know its callers: set "
        "RELIEFWEB_APPNAME",
    )
    assert not any("/v2/reports" in request for request in service.heard)
    # A key that came later changes nothing.
    assert await told(desk, service.url, Mode.REPLAY, **given) == live


async def test_without_an_appname_and_another_service_it_fails(
    desk: Desk, service: Service
) -> None:
    with pytest.raises(CallError, match="set RELIEFWEB_APPNAME") as caught:
        await told(desk, service.url, settings={"keys": {}}, country_code="MZ")
    assert caught.value.fault is CallFault.AUTH
    assert service.heard == []


async def test_the_count_of_the_days_before_may_fail_alone(desk: Desk, service: Service) -> None:
    service.always = {
        '"limit":200': reply(reports(1, REPORT)),
        '"limit":0': reply(b"", "500 Internal Server Error"),
    }
    live = await told(desk, service.url, country_code="MZ", **WEEK)
    (answer,) = live.answers
    assert answer.rows
    assert "against" not in answer.summary
    assert live.failures == ("ReliefWeb's count of the days before failed: reliefweb answered 500",)


async def test_strings_are_read_as_what_they_mean(desk: Desk, service: Service) -> None:
    service.always = BOTH
    given = {
        "latitude": " 36.2 ",
        "longitude": "37.10",
        "radius_km": "50",
        "min_magnitude": "4",
        "days": "3",
    }
    await told(desk, service.url, settings={"as_of": "2026-11-11"}, **given)
    for part in (
        "latitude=36.2&",
        "longitude=37.1&",
        "maxradiuskm=50&",
        "minmagnitude=4&",
        "starttime=2026-11-06T00",
    ):
        assert part in service.heard[0]


@given(
    st.dictionaries(
        st.sampled_from(list(EventArguments.model_fields)),
        st.one_of(
            st.none(),
            st.text(max_size=12),
            st.integers(),
            st.floats(),
            st.lists(st.text(max_size=5), max_size=3),
        ),
        max_size=4,
    )
)
def test_any_arguments_are_taken_or_refused_in_one_line(given: dict[str, Any]) -> None:
    if error := refusal(ValueError, lambda: arguments_of(FEED, given)):
        assert "\n" not in str(error)
        return
    args = EventArguments.model_validate(given)
    assert args.means_earthquakes or args.means_reports
    json.dumps(args.model_dump(mode="json"), allow_nan=False)


def test_name_and_arguments() -> None:
    feed: Feed[EventArguments] = FEED
    assert (feed.name, feed.kind) == ("search_events", IntelligenceType.EVENT)
    assert feed.missing(Settings()) is None
    shown = shown_arguments(feed)
    assert len(shown) == len(EventArguments.model_fields)
    assert all(": " in line and line.rpartition(": ")[2] for line in shown)
