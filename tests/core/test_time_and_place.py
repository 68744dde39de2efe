from __future__ import annotations

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.time_and_place import (
    DAY,
    EARTH_KM,
    Moment,
    Position,
    distance_km,
    moment_of,
    place_names,
    positions,
    time_and_place_of,
)

DAY_OF_FIRE = date(2026, 2, 8).toordinal() * DAY


def at(hour: int, minute: int) -> Moment:
    start = DAY_OF_FIRE + hour * 60 + minute
    return Moment(start, start)


ALL_DAY = Moment(DAY_OF_FIRE, DAY_OF_FIRE + DAY - 1)


@pytest.mark.parametrize(
    "text", ["", "Nothing is said of when.", "in February 2026", "on 31 February 2026", "at 25:00"]
)
def test_what_gives_no_day_has_no_moment(text: str) -> None:
    assert moment_of(text) is None


@pytest.mark.parametrize(
    ("quote", "when"),
    [
        ("At 04:52 UTC on 8 February 2026 a satellite pass found it.", at(4, 52)),
        ("2026-02-08T04:52:10Z thermal anomaly", at(4, 52)),
        ("2026-02-08T06:52:10+02:00 thermal anomaly", at(4, 52)),
        ("2026-02-08T03:22-01:30", at(4, 52)),
        ("On 8 February 2026 at 05:52 CET", at(4, 52)),
        ("On 8 February 2026 at 4:52 GMT", at(4, 52)),
        ("On 8 February 2026 it burnt.", ALL_DAY),
        ("On 8 February 2026 at 04:52 it burnt.", ALL_DAY),
        ("On 8 February 2026 at 04:52-05:30 it burnt.", ALL_DAY),
    ],
)
def test_a_time_of_day_counts_with_its_zone_alone(quote: str, when: Moment) -> None:
    assert moment_of(quote) == when


def test_a_range_is_as_long_as_it_says() -> None:
    found = moment_of("No lightning between 00:00 and 12:00 UTC on 8 February 2026.")
    assert found == Moment(at(0, 0).start, at(12, 0).start)
    assert not found.narrow
    assert moment_of("from 04:40 UTC to 04:50 UTC on 8 February 2026") == Moment(
        at(4, 40).start, at(4, 50).start
    )
    assert moment_of("seen at 04:40 UTC, gone at 04:50 UTC on 8 February 2026") == at(4, 40)


def test_a_zone_may_be_named_once_for_a_whole_source() -> None:
    log = "Duty log for 8 February 2026. All times are UTC.\n\n04:47. Smoke at berth 4."
    assert moment_of("04:47. Smoke at berth 4.", log, log.index("04:47")) == at(4, 47)
    assert (
        moment_of("04:47. Smoke at berth 4.", log.replace("All times are UTC.", ""), 20) == ALL_DAY
    )


def test_a_line_of_a_log_has_the_last_date_before_it_then_that_of_the_title() -> None:
    log = (
        "On 7 February 2026 all was calm.\n04:00 UTC. Calm.\nOn 8 February 2026 it began.\n04:47 "
        "UTC. Smoke."
    )
    assert moment_of("04:47 UTC. Smoke.", log, log.index("04:47")) == at(4, 47)
    earlier = moment_of("04:00 UTC. Calm.", log, log.index("04:00"))
    assert earlier is not None
    assert earlier.gap(at(4, 0)) == DAY
    assert moment_of("04:47 UTC. Smoke.", "04:47 UTC. Smoke.", 0, "Log of 8 February 2026") == at(
        4, 47
    )
    assert moment_of("Smoke.", log, 90) is None, (
        "a sentence without a time of day is of no certain day"
    )


def test_a_moment_is_told_as_precisely_as_it_is_known() -> None:
    assert at(4, 47).iso() == "2026-02-08T04:47Z"
    assert ALL_DAY.iso() == "2026-02-08"
    found = moment_of("2026-02-08T00:30+02:00")
    assert found is not None
    assert found.iso() == "2026-02-07T22:30Z", "the day before, in UTC"


moments = st.builds(
    lambda start, length: Moment(start, start + length),
    st.integers(0, 3_000_000),
    st.integers(0, 2 * DAY),
)


@given(moments, moments)
def test_the_gap_is_symmetric_and_zero_where_they_overlap(one: Moment, other: Moment) -> None:
    assert one.gap(other) == other.gap(one) >= 0
    overlap = one.start <= other.end and other.start <= one.end
    assert (one.gap(other) == 0) == overlap


@given(st.dates(date(1800, 1, 1), date(2100, 1, 1)), st.integers(0, DAY - 1))
def test_what_is_told_is_read_again(day: date, minute: int) -> None:
    start = day.toordinal() * DAY + minute
    assert moment_of(Moment(start, start).iso()) == Moment(start, start)
    whole = day.toordinal() * DAY
    assert moment_of(Moment(whole, whole + DAY - 1).iso()) == Moment(whole, whole + DAY - 1)
    assert (day + timedelta(days=1)).toordinal() * DAY == whole + DAY


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("at 63.2146 N, 19.0828 E, in the port", [Position(63.2146, 19.0828)]),
        ("at 33.9° S 18.4° E", [Position(-33.9, 18.4)]),
        ("at 40.7 N, 74.0 W", [Position(40.7, -74.0)]),
        ("lat 49.99, lon 36.23", [Position(49.99, 36.23)]),
        ("latitude: -12.5; longitude: -77.0", [Position(-12.5, -77.0)]),
        ("at 91.0 N, 10.0 E", []),
        ("at 10.0 N, 181.0 E", []),
        ("34 percent, 92 seconds", []),
        ("18 N and 20 people", []),
    ],
)
def test_positions_are_read_in_their_usual_forms(text: str, found: list[Position]) -> None:
    assert positions(text) == found


def test_places_are_names_behind_a_word_of_place() -> None:
    assert place_names("A fire broke out in the port of Vantskär, near Lake Tvärven.") == [
        "Vantskär",
        "Lake Tvärven",
    ]
    assert place_names("Anna Holm owns Holm Works.") == []


def test_a_source_with_one_position_gives_it_for_all_that_it_reports() -> None:
    log = "Position of berth 4: 63.2140 N, 19.0820 E.\n04:47 UTC, 8 February 2026. Smoke."
    there = time_and_place_of("04:47 UTC, 8 February 2026. Smoke.", log, log.index("04:47"))
    assert there.position == Position(63.2140, 19.0820)
    assert there.moment == at(4, 47)
    several = f"{log} Another at 63.4410 N, 18.7025 E."
    assert time_and_place_of("04:47 UTC, 8 February 2026. Smoke.", several, 44).position is None
    assert time_and_place_of("Smoke at 63.4410 N, 18.7025 E.", several, 0).position == Position(
        63.4410, 18.7025
    )


# -- distance

CITIES = {
    "Stockholm": Position(59.3293, 18.0686),
    "Oslo": Position(59.9139, 10.7522),
    "London": Position(51.5074, -0.1278),
    "New York": Position(40.7128, -74.0060),
    "Sydney": Position(-33.8688, 151.2093),
    "Tokyo": Position(35.6762, 139.6503),
    "Auckland": Position(-36.8509, 174.7645),
    "Honolulu": Position(21.3069, -157.8583),
}


@pytest.mark.parametrize(
    ("one", "other", "km"),
    [
        ("Stockholm", "Oslo", 416),
        ("London", "New York", 5_570),
        ("Sydney", "Tokyo", 7_823),
        ("Auckland", "Honolulu", 7_083),  # over the date line
        ("London", "Stockholm", 1_433),
    ],
)
def test_distances_are_those_of_the_atlas(one: str, other: str, km: float) -> None:
    assert distance_km(CITIES[one], CITIES[other]) == pytest.approx(km, rel=0.005)


spots = st.builds(Position, st.floats(-90, 90), st.floats(-180, 180))


@given(spots, spots)
def test_distance_is_symmetric_and_at_most_half_the_way_round(
    one: Position, other: Position
) -> None:
    km = distance_km(one, other)
    assert km == pytest.approx(distance_km(other, one), abs=1e-6)
    assert 0.0 <= km <= math.pi * EARTH_KM + 1e-6
    assert distance_km(one, one) == 0.0


@given(spots, spots, spots)
def test_no_way_is_shorter_over_a_third_place(
    one: Position, other: Position, third: Position
) -> None:
    assert distance_km(one, other) <= distance_km(one, third) + distance_km(third, other) + 1e-6


@pytest.mark.parametrize(
    "text",
    [
        "Sales in Q1 rose, and in Q2 2025 they fell.",
        "They are strong in B2B and in HR.",
        "It was decided at IBM and in the U.K. office.",
    ],
)
def test_an_abbreviation_is_no_place(text: str) -> None:
    assert place_names(text) == []


def test_a_place_beside_an_abbreviation_is_one() -> None:
    assert place_names("In Q1 we opened a shop in Oslo, near Saint-Denis.") == [
        "Oslo",
        "Saint-Denis",
    ]
