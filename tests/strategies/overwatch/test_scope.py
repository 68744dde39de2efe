"""The scope of a plan: what it adds to calls, and what it never changes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.strategies.overwatch.scope import (
    Period,
    Scope,
    ask_first,
    narrow_calls,
    read_period,
    scope_of,
)
from deepdiver.strategies.shared.feed_tool import FeedTool
from deepdiver.tasks import ShownTool
from deepdiver.tools.osint.registry import named_feed

AS_OF = "2026-11-16"
TODAY = date(2026, 11, 16)
SEED = {
    "objectives": ["Identify military activity patterns"],
    "regions_of_interest": ["Ukraine", "Kharkiv Oblast"],
    "keywords": ["military", "strike", "explosion", "drone"],
    "coordinates": [{"lat": 49.99, "lon": 36.23, "radius_km": 50.0}],
    "time_range": "7d",
    "priority_sources": ["news", "satellite", "cyber"],
}


async def _nobody(*_: Any) -> Any:
    raise AssertionError("nothing is sent")


FEEDS = {
    name: FeedTool(named_feed(name), _nobody)
    for name in (
        "search_news",
        "detect_thermal_anomalies",
        "search_cyber",
        "check_connectivity",
        "search_events",
        "lookup_sanctions",
    )
}
SEARCH = ShownTool(name="search", about="everything at once", arguments=("query: words",))
TOOLS = (SEARCH, *(tool.shown for tool in FEEDS.values()))


def refusal(tool: str, args: Mapping[str, str]) -> str:
    if tool == "search":
        return "" if args.get("query") else "its argument 'query' holds no words"
    return FEEDS[tool].fault(args) if tool in FEEDS else "there is no such tool"


def call(tool: str, **args: str) -> dict[str, Any]:
    return {"tool": tool, "args": args, "reason": "r", "about": "x", "tests": []}


def narrowed(*calls: dict[str, Any], **plan: Any) -> list[dict[str, str]]:
    scope = scope_of({**SEED, **plan}, AS_OF)
    made = narrow_calls(calls, scope, TOOLS, refusal)
    return [item["args"] for item in made]


# -- the time


@pytest.mark.parametrize("text", ["", "whenever", "lately", "soon", "for 7 parsecs"])
def test_what_names_no_time_is_none(text: str) -> None:
    assert read_period(text, AS_OF) is None


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("7d", "2026-11-10", "2026-11-16"),
        ("1 day", "2026-11-16", "2026-11-16"),
        ("24h", "2026-11-15", "2026-11-16"),
        ("48 hours", "2026-11-14", "2026-11-16"),
        ("the last 2 weeks", "2026-11-03", "2026-11-16"),
        ("past month", "2026-10-18", "2026-11-16"),
        ("3mo", "2026-08-19", "2026-11-16"),
        ("2026-11-05/2026-11-11", "2026-11-05", "2026-11-11"),
        ("2026-11-11 to 2026-11-05", "2026-11-05", "2026-11-11"),
        ("August 2019", "2019-08-01", "2019-08-31"),
        ("February 2024", "2024-02-01", "2024-02-29"),
        ("2019", "2019-01-01", "2019-12-31"),
        ("2019-2021", "2019-01-01", "2021-12-31"),
        ("since 1 January 2024", "2024-01-01", "2026-11-16"),
        ("2024-01-01 to now", "2024-01-01", "2026-11-16"),
        ("9999y", "0001-01-01", "2026-11-16"),
    ],
)
def test_a_time_is_read_to_the_day(text: str, since: str, until: str) -> None:
    wanted = Period(date.fromisoformat(since), date.fromisoformat(until))
    assert read_period(text, AS_OF) == wanted


@given(st.text(max_size=30), st.dates(date(1950, 1, 1), date(2100, 1, 1)))
def test_any_text_is_a_time_in_order_or_none(text: str, today: date) -> None:
    period = read_period(text, today.isoformat())
    assert period is None or (period.since <= period.until and period.days >= 1)


@given(st.integers(1, 9_999), st.sampled_from(["d", "w", "m", "y"]))
def test_the_last_days_end_today(number: int, unit: str) -> None:
    period = read_period(f"{number}{unit}", AS_OF)
    assert period is not None
    assert period.until == TODAY


def test_a_time_that_has_not_begun_leaves_nothing_out() -> None:
    assert Scope(TODAY).published_since is None
    assert scope_of({"time_range": "2035"}, AS_OF).published_since is None
    assert scope_of({"time_range": "7d"}, AS_OF).published_since == date(2026, 11, 10)


# -- the place


def test_the_country_is_known_if_it_is_one() -> None:
    assert scope_of(SEED, AS_OF).country == "UA"
    assert scope_of({"regions_of_interest": ["Oslo", "Kharkiv"]}, AS_OF).country == ""
    assert scope_of({"regions_of_interest": ["the harbour"]}, AS_OF).country == ""
    assert scope_of({}, AS_OF) == Scope(TODAY)


# -- narrowing


def test_nothing_that_a_call_says_is_changed() -> None:
    given = {"keywords": "flood", "country_code": "PL", "since": "2026-01-01"}
    assert narrowed(call("search_news", **given)) == [given]
    assert narrowed(call("read_minds", of="x")) == [{"of": "x"}]
    assert narrowed(call("search", query="strikes in Ukraine")) == [{"query": "strikes in Ukraine"}]


def test_a_feed_is_asked_for_the_country_and_the_time_that_a_call_leaves_open() -> None:
    assert narrowed(call("search_news", keywords="strike")) == [
        {"keywords": "strike", "country_code": "UA", "days": "7"}
    ]
    assert narrowed(call("search_news", keywords="strike"), time_range="2019-08") == [
        {
            "keywords": "strike",
            "country_code": "UA",
            "since": "2019-08-01",
            "until": "2019-08-31",
        }
    ]


def test_what_a_feed_does_not_take_is_not_added() -> None:
    assert narrowed(call("check_connectivity", asn="3255")) == [{"asn": "3255", "days": "7"}], (
        "either a country or a network"
    )
    (heat,) = narrowed(call("detect_thermal_anomalies"), time_range="90d")
    assert "days" not in heat, "satellites look back ten days"
    assert narrowed(call("lookup_sanctions", name="Ivan Ek")) == [{"name": "Ivan Ek"}], (
        "where somebody comes from is not where it happened"
    )


def test_a_feed_that_needs_a_position_is_asked_for_each_area() -> None:
    areas = [
        {"lat": 49.99, "lon": 36.23, "radius_km": 50.0},
        {"lat": 50.5, "lon": 30.0, "radius_km": 9},
    ]
    made = narrowed(call("detect_thermal_anomalies"), coordinates=areas)
    assert made == [
        {"latitude": "49.99", "longitude": "36.23", "radius_km": "50", "days": "7"},
        {"latitude": "50.5", "longitude": "30", "radius_km": "9", "days": "7"},
    ]
    own = {"latitude": "1", "longitude": "2"}
    assert narrowed(call("detect_thermal_anomalies", **own))[0] | own == {**own, "days": "7"}
    events = narrowed(call("search_events", keywords="flood"))
    assert "latitude" not in events[0], "there a position means earthquakes"
    assert narrowed(call("detect_thermal_anomalies"), coordinates=[]) == [{}], "it is refused"


def test_words_that_a_feed_needs_are_those_of_the_plan() -> None:
    (made,) = narrowed(call("search_news"))
    assert made["keywords"] == "military, strike, explosion"


def test_a_search_that_names_no_region_is_made_for_the_first() -> None:
    made = narrowed(
        call("search", query="military strikes"), call("search", query="Kharkiv strikes")
    )
    assert made == [{"query": "military strikes Ukraine"}, {"query": "Kharkiv strikes"}]
    assert narrowed(call("search", query="x y"), regions_of_interest=[]) == [{"query": "x y"}]
    assert narrowed(call("search", query=" ")) == [{"query": " "}], "nothing is made of nothing"


# -- whom to ask first


def ordered(*calls: dict[str, Any], **plan: Any) -> list[tuple[str, dict[str, str]]]:
    scope = scope_of({**SEED, **plan}, AS_OF)
    made = ask_first(calls, scope, TOOLS, refusal, "Q?")
    return [(item["tool"], item["args"]) for item in made]


def test_preferred_sources_are_asked_first_and_the_order_of_others_stays() -> None:
    names = ["search", "check_connectivity", "search_cyber", "search_news"]
    calls = [call(name, query="q") for name in names]
    assert [tool for tool, _ in ordered(*calls, coordinates=[], keywords=[])] == [
        "search_news",
        "search_cyber",
        "search",
        "check_connectivity",
    ]
    assert [tool for tool, _ in ordered(*calls, priority_sources=[])] == names


def test_a_preferred_source_that_nobody_asks_is_asked_if_the_plan_says_enough() -> None:
    made = ordered(call("search", query="q"))
    assert made == [
        (
            "search_news",
            {"keywords": "military, strike, explosion", "country_code": "UA", "days": "7"},
        ),
        (
            "detect_thermal_anomalies",
            {"latitude": "49.99", "longitude": "36.23", "radius_km": "50", "days": "7"},
        ),
        ("search_cyber", {"days": "7"}),
        ("search", {"query": "q"}),
    ]
    few = ordered(call("search", query="q"), coordinates=[], keywords=[], time_range="")
    assert [tool for tool, _ in few] == ["search"], "what the plan does not say is not made up"


def test_a_source_is_preferred_by_its_name_or_by_what_it_gives() -> None:
    for name in ("detect_thermal_anomalies", "satellites", "Satellite", "thermal anomalies"):
        first, *_ = ordered(call("search", query="q"), priority_sources=[name])
        assert first[0] == "detect_thermal_anomalies", name
    assert ordered(call("search", query="q"), priority_sources=["oracles", ""]) == [
        ("search", {"query": "q"})
    ]


def test_a_tool_that_is_named_is_preferred_to_those_that_have_its_name_in_theirs() -> None:
    assert ordered(call("search", query="q"), priority_sources=["search"]) == [
        ("search", {"query": "q"})
    ], "search_news, search_cyber and search_events are not meant"
