"""Sightings and persistent sources: arithmetic, checked against the plain definition."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.time_and_place import Position, distance_km
from deepdiver.tools.osint.boxes import boxes_around
from deepdiver.tools.osint.thermal.sightings import (
    ADJOINING_KM,
    Detection,
    Sighting,
    sightings_of,
    within_circle,
)

CENTRE = Position(49.99, 36.23)
FIRST = date(2026, 10, 29)


def pixel(
    lat: float = 49.99, lon: float = 36.23, day: int = 0, time: str = "0105", **more: Any
) -> Detection:
    base = Detection(
        lat, lon, str(FIRST + timedelta(day)), time, "N", "VIIRS", "nominal", 330.0, 290.0, 5.0, "N"
    )
    return base._replace(**more)


def test_pixels_outside_the_circle_are_left_out() -> None:
    corner = pixel(50.38, 36.85)
    assert within_circle([pixel(), corner, pixel()], CENTRE, 50.0) == [pixel()]
    west, south, east, north = map(float, boxes_around(CENTRE, 50.0)[0].split(","))
    assert west <= corner.longitude <= east
    assert south <= corner.latitude <= north


def test_pixels_of_one_pass_that_adjoin_are_one_sighting() -> None:
    fire = [
        pixel(49.990, 36.230),
        pixel(49.994, 36.230, frp=9.0),
        pixel(49.998, 36.230),
        pixel(50.1, 36.23),
    ]
    assert sightings_of(fire, CENTRE, 14) == [
        Sighting(fire[1], 3, 1, False),
        Sighting(fire[3], 1, 1, False),
    ]


def test_the_same_fire_in_another_pass_or_by_another_satellite_is_another_sighting() -> None:
    seen = [
        pixel(time="0105"),
        pixel(49.9901, time="0111"),  # the next granule of the same pass
        pixel(time="0247"),  # the next orbit
        pixel(time="0105", satellite="N20"),
        pixel(time="0105", satellite="Terra", instrument="MODIS", confidence="85"),
    ]
    assert [one.pixels for one in sightings_of(seen, CENTRE, 14)] == [2, 1, 1, 1]


def test_a_pass_over_midnight_is_one() -> None:
    seen = [pixel(day=0, time="2358"), pixel(49.9901, day=1, time="0003")]
    assert [one.pixels for one in sightings_of(seen, CENTRE, 14)] == [2]


def test_across_180_degrees_pixels_adjoin() -> None:
    centre = Position(-17.0, 180.0)
    assert [
        one.pixels
        for one in sightings_of([pixel(-17.0, 179.999), pixel(-17.0, -179.999)], centre, 14)
    ] == [2]


@pytest.mark.parametrize(
    ("days", "persistent"),
    [
        (range(14), True),  # every day
        ((0, 3, 6, 9, 12), True),  # five of fourteen, over two weeks
        ((0, 4, 8, 12), False),  # four are less than a third
        ((0, 1, 2, 3, 4), False),  # five on end: a fire of one bad week
        ((0, 1, 2, 3, 6), True),  # half of the time
        ((0,), False),
    ],
)
def test_a_place_that_stays_hot_is_persistent(days: tuple[int, ...], persistent: bool) -> None:
    found = sightings_of([pixel(day=day) for day in days], CENTRE, 14)
    assert {one.persistent for one in found} == {persistent}
    assert {one.hot_days for one in found} == {len(tuple(days))}


def test_two_days_are_never_enough() -> None:
    assert not any(one.persistent for one in sightings_of([pixel(day=0), pixel(day=1)], CENTRE, 2))


def test_a_place_is_the_cell_and_those_around_it() -> None:
    # 220 m to and fro.
    moving = [pixel(49.99 + 0.002 * (day % 2), day=day) for day in range(0, 14, 2)]
    assert all(one.persistent for one in sightings_of(moving, CENTRE, 14))
    # A front that moves 2 km a day.
    wandering = [pixel(49.9 + 0.02 * day, day=day) for day in range(0, 14, 2)]
    assert not any(one.persistent for one in sightings_of(wandering, CENTRE, 14))


def test_several_passes_on_a_day_are_one_day() -> None:
    found = sightings_of(
        [pixel(day=day, time=time) for day in (0, 13) for time in ("0105", "1105", "1247")],
        CENTRE,
        14,
    )
    assert {(one.hot_days, one.persistent) for one in found} == {(2, False)}


def test_a_static_source_by_type_is_persistent() -> None:
    (one,) = sightings_of([pixel(type=2)], CENTRE, 14)
    assert (one.persistent, one.hot_days) == (True, 1)
    assert not sightings_of([pixel(type=0)], CENTRE, 14)[0].persistent


PIXELS = st.lists(
    st.builds(
        pixel,
        st.floats(49.95, 50.05).map(lambda value: round(value, 5)),
        st.floats(36.2, 36.3).map(lambda value: round(value, 5)),
        st.integers(0, 2),
        st.sampled_from(["0105", "0247", "1204"]),
        frp=st.none() | st.floats(0, 100),
        type=st.none() | st.integers(0, 3),
    ),
    max_size=40,
    unique=True,
)


@given(PIXELS, st.randoms())
def test_every_pixel_is_in_one_sighting_whatever_their_order(
    seen: list[Detection], chance: random.Random
) -> None:
    found = sightings_of(seen, CENTRE, 6)
    assert sum(one.pixels for one in found) == len(seen)
    shuffled = list(seen)
    chance.shuffle(shuffled)
    assert sorted(sightings_of(shuffled, CENTRE, 6), key=repr) == sorted(found, key=repr)


@given(PIXELS)
def test_strongest_pixels_of_one_pass_do_not_adjoin(seen: list[Detection]) -> None:
    found = sightings_of(seen, CENTRE, 6)
    for one in found:
        for other in found:
            if one is not other and one.strongest[2:6] == other.strongest[2:6]:
                apart = distance_km(one.strongest.position, other.strongest.position)
                assert apart > ADJOINING_KM["VIIRS"]
