"""Tool calls are filled in from the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.tool_calls import (
    FILLS,
    days_back,
    details_of,
    fill_arguments,
    propose_tool_calls,
)
from deepdiver.tasks import ShownTool
from deepdiver.tools.osint.feed import arguments_of, shown_arguments
from deepdiver.tools.osint.registry import BrokenFeed, feeds

TODAY = "2026-11-15"
NEWS = ShownTool(
    name="search_news",
    about="news of the world",
    arguments=(
        "keywords: words",
        "country_code (optional): c",
        "since (optional): d",
        "until (optional): d",
        "days (optional): n",
    ),
)
HEAT = ShownTool(
    name="detect_thermal_anomalies",
    about="fires seen by satellites",
    arguments=("latitude: n", "longitude: e", "radius_km: r", "days: how many"),
)
SEARCH = ShownTool(name="search", about="everything", arguments=("query: words",))
ODD = ShownTool(name="launch", about="strikes", arguments=("target: whom", "country_code: where"))
TOOLS = (SEARCH, NEWS, HEAT, ODD)


def made(question: str, *tools: ShownTool) -> dict[str, dict[str, str]]:
    calls = propose_tool_calls(question, TODAY, tools or TOOLS, "why")
    return {call.tool: {arg.name: arg.value for arg in call.args} for call in calls}


@pytest.mark.parametrize("question", ["", "?", "What is love?", "Who is he?"])
def test_a_question_that_says_nothing_fills_nothing_in(question: str) -> None:
    assert "detect_thermal_anomalies" not in made(question)
    assert "launch" not in made(question)


def test_a_tool_is_not_called_with_a_part_of_what_it_needs() -> None:
    assert "launch" not in made("Have strikes in Ukraine increased?"), (
        "nothing is made up for the target"
    )
    assert "detect_thermal_anomalies" not in made("Have strikes in Ukraine increased?"), (
        "a country is no place to look"
    )


def test_a_town_gives_a_position_and_a_country() -> None:
    calls = made("Have strikes near Kharkiv increased this week?")
    assert calls == {
        "search_news": {"keywords": "Kharkiv, strikes", "country_code": "UA", "days": "7"},
        "detect_thermal_anomalies": {
            "latitude": "49.98",
            "longitude": "36.25",
            "radius_km": "50",
            "days": "7",
        },
    }


def test_a_position_that_is_given_goes_before_a_town() -> None:
    assert (
        made("Fires at 50.1 N, 36.9 E near Kharkiv?")["detect_thermal_anomalies"]["latitude"]
        == "50.1"
    )


def test_days_that_are_named_are_asked_for_with_a_day_around() -> None:
    calls = made("What caused the explosion in Merefa on 11 November 2026?")
    assert calls["search_news"] == {
        "keywords": "Merefa, explosion",
        "country_code": "UA",
        "since": "2026-11-10",
        "until": "2026-11-12",
    }
    assert made("What burned in Kharkiv on 15 November 2026?")["search_news"]["until"] == TODAY, (
        "tomorrow has no news"
    )


def test_a_tool_that_does_not_suit_is_not_called() -> None:
    assert "detect_thermal_anomalies" not in made("Who is the mayor of Kharkiv?")
    assert "search_news" in made("Who is the mayor of Kharkiv?")


def test_two_countries_are_none() -> None:
    assert (
        "country_code"
        not in made("Have strikes between Ukraine and Poland increased?")["search_news"]
    )


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("this week", 7),
        ("in the past 3 days", 3),
        ("last month", 30),
        ("today", 1),
        ("these 2 weeks", 14),
        ("ever", 0),
    ],
)
def test_how_far_back_is_read_as_it_is_said(text: str, days: int) -> None:
    assert days_back(f"Have strikes increased {text}?") == days


@given(st.text(max_size=120))
def test_no_question_breaks_it(question: str) -> None:
    for tool in TOOLS:
        for arg in fill_arguments(tool, details_of(question, TODAY)):
            assert arg.name in FILLS
            assert arg.value


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (
            "Have strikes near Kharkiv increased this week?",
            {"search_news", "detect_thermal_anomalies", "check_connectivity"},
        ),
        ("Is CVE-2024-3400 exploited?", {"search_cyber"}),
        ("Is Viktor Petrov under sanctions?", {"lookup_sanctions"}),
        ("Was there an earthquake near Izmir on 30 October 2020?", {"search_events"}),
        ("Did the internet fail in Sudan last week?", {"check_connectivity"}),
    ],
)
def test_the_feeds_that_there_are_take_what_is_filled_in(question: str, wanted: set[str]) -> None:
    known = {name: feed for name, feed in feeds().items() if not isinstance(feed, BrokenFeed)}
    shown = [
        ShownTool(name=name, about=feed.about, arguments=shown_arguments(feed))
        for name, feed in known.items()
    ]
    calls = made(question, *shown)
    assert wanted <= calls.keys()
    for name, args in calls.items():
        arguments_of(known[name], args)  # raises where it would be refused
