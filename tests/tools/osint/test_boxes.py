"""Boxes around a circle: checked against the plain definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deepdiver.core.time_and_place import EARTH_KM, Position, distance_km
from deepdiver.tools.osint.boxes import boxes_around


def held(box: str, place: Position) -> bool:
    west, south, east, north = map(float, box.split(","))
    return west <= place.lon <= east and south <= place.lat <= north


@pytest.mark.parametrize(
    ("place", "km", "expected"),
    [
        (Position(0.0, 0.0), 111.195, ["-1,-1,1,1"]),
        (Position(0.0, 179.5), 111.195, ["178.5,-1,180,1", "-180,-1,-179.5,1"]),
        (Position(0.0, -180.0), 111.195, ["179,-1,180,1", "-180,-1,-179,1"]),
        (Position(89.9, 10.0), 50.0, ["-180,89.4503,180,90"]),
        (Position(-90.0, 0.0), 50.0, ["-180,-90,180,-89.5503"]),
    ],
)
def test_boxes(place: Position, km: float, expected: list[str]) -> None:
    assert boxes_around(place, km) == expected


@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.floats(0.1, 500),
    st.floats(-90, 90),
    st.floats(-180, 180),
)
def test_whatever_is_in_the_circle_is_in_a_box(
    lat: float, lon: float, km: float, other_lat: float, other_lon: float
) -> None:
    place, other = Position(lat, lon), Position(other_lat, other_lon)
    made = boxes_around(place, km)
    assert 1 <= len(made) <= 2
    for box in made:
        west, south, east, north = map(float, box.split(","))
        assert -180 <= west <= east <= 180
        assert -90 <= south <= north <= 90
    if distance_km(place, other) <= km:
        assert any(held(box, other) for box in made)


@given(
    st.floats(-90, 90),
    st.floats(-180, 180),
    st.floats(0.1, 500),
    st.floats(0, 1),
    st.floats(0, 360),
)
def test_the_edge_of_the_circle_is_in_a_box(
    lat: float, lon: float, km: float, part: float, bearing: float
) -> None:
    """Points inside the circle are made, because two at random are hardly ever close."""
    reach, way = part * km / EARTH_KM, math.radians(bearing)
    a, b = math.radians(lat), math.radians(lon)
    north = math.asin(math.sin(a) * math.cos(reach) + math.cos(a) * math.sin(reach) * math.cos(way))
    east = b + math.atan2(
        math.sin(way) * math.sin(reach) * math.cos(a),
        math.cos(reach) - math.sin(a) * math.sin(north),
    )
    other = Position(math.degrees(north), (math.degrees(east) + 540) % 360 - 180)
    assume(distance_km(Position(lat, lon), other) <= km)
    assert any(held(box, other) for box in boxes_around(Position(lat, lon), km))
