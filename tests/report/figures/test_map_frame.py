"""The frame of a map: it shows all positions, the shorter way around, true to scale."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.time_and_place import Position, distance_km
from deepdiver.report.figures.map_frame import HIGHEST, degrees_label, fit_frame

WIDTH = 764.0
POSITIONS = st.builds(Position, st.floats(-90, 90), st.floats(-180, 180))


@given(st.lists(POSITIONS, min_size=1, max_size=12))
def test_all_positions_lie_on_the_map(positions: list[Position]) -> None:
    frame = fit_frame(positions, WIDTH)
    assert 0 < frame.height <= HIGHEST + 1e-6
    assert frame.box.east - frame.box.west <= 360 + 1e-6
    assert frame.box.south >= -90 - 1e-6
    assert frame.box.north <= 90 + 1e-6
    for position in positions:
        x, y = frame.place(position)
        assert -1e-6 <= x <= frame.width + 1e-6
        assert -1e-6 <= y <= frame.height + 1e-6


@given(st.lists(POSITIONS, min_size=1, max_size=6))
def test_there_are_few_lines_and_the_bar_fits(positions: list[Position]) -> None:
    frame = fit_frame(positions, WIDTH)
    assert len(list(frame.meridians())) <= 12
    assert len(list(frame.parallels())) <= 8
    km, length = frame.bar()
    assert 0 < length <= WIDTH
    assert math.isclose(km, length * frame.km)


def test_over_the_antimeridian_the_shorter_way() -> None:
    fiji, samoa = Position(-18.1, 178.4), Position(-13.8, -171.7)
    frame = fit_frame([fiji, samoa], WIDTH)
    assert frame.box.east - frame.box.west < 40
    assert frame.place(fiji)[0] < frame.place(samoa)[0]


def test_distances_are_true_to_scale() -> None:
    north, south, east = Position(50.1, 36.2), Position(49.9, 36.2), Position(50.0, 36.5)
    middle = Position(50.0, 36.2)
    frame = fit_frame([north, south, east], WIDTH)
    (_, y1), (_, y2) = frame.place(north), frame.place(south)
    assert (y2 - y1) * frame.km == pytest.approx(distance_km(north, south), rel=0.001)
    (x1, _), (x2, _) = frame.place(middle), frame.place(east)
    assert (x2 - x1) * frame.km == pytest.approx(distance_km(middle, east), rel=0.002)


def test_one_position_is_shown_with_what_lies_around_it() -> None:
    frame = fit_frame([Position(49.99, 36.23)], WIDTH)
    x, y = frame.place(Position(49.99, 36.23))
    assert (x, y) == pytest.approx((WIDTH / 2, frame.height / 2))
    assert 8 <= frame.height * frame.km <= 12


def test_the_whole_earth_and_no_more() -> None:
    frame = fit_frame([Position(0, lon) for lon in range(-180, 180, 30)], WIDTH)
    assert frame.box.east - frame.box.west == pytest.approx(360)
    assert frame.box.north - frame.box.south <= 180


@pytest.mark.parametrize(
    ("value", "letters", "step", "text"),
    [
        (49.95, "NS", 0.05, "49.95° N"),
        (-33.5, "NS", 0.5, "33.5° S"),
        (0.0, "NS", 1.0, "0°"),
        (190.0, "EW", 10.0, "170° W"),
        (-170.0, "EW", 10.0, "170° W"),
        (180.0, "EW", 10.0, "180°"),
        (36.0, "EW", 1.0, "36° E"),
    ],
)
def test_degrees_in_words(value: float, letters: str, step: float, text: str) -> None:
    assert degrees_label(value, letters, step) == text


@given(POSITIONS, POSITIONS)
def test_what_is_further_north_is_higher(one: Position, other: Position) -> None:
    frame = fit_frame([one, other], WIDTH)
    (_, y1), (_, y2) = frame.place(one), frame.place(other)
    assert (one.lat > other.lat) == (y1 < y2) or y1 == pytest.approx(y2, abs=1e-6)


@given(st.lists(POSITIONS, min_size=1, max_size=6))
def test_lines_of_the_graticule_lie_on_the_map_and_apart(positions: list[Position]) -> None:
    frame = fit_frame(positions, WIDTH)
    xs = [frame.at(lon, 0)[0] for lon in frame.meridians()]
    ys = [frame.at(0, lat)[1] for lat in frame.parallels()]
    assert all(-1e-3 <= x <= frame.width + 1e-3 for x in xs)
    assert all(-1e-3 <= y <= frame.height + 1e-3 for y in ys)
    assert (
        all(abs(b - a) >= 70 for held in (xs, ys) for a, b in itertools.pairwise(held))
        or len(xs) > 7
    )


@given(st.lists(POSITIONS, min_size=2, max_size=6), st.integers(-2, 2))
def test_the_frame_does_not_depend_on_the_order(positions: list[Position], turn: int) -> None:
    turned = positions[turn:] + positions[:turn]
    assert fit_frame(turned, WIDTH) == fit_frame(positions, WIDTH)


@pytest.mark.parametrize("lat", [89.99, -89.99, 90.0, -90.0])
def test_a_pole_is_on_the_map(lat: float) -> None:
    frame = fit_frame([Position(lat, 0.0)], WIDTH)
    assert frame.box.north <= 90
    assert frame.box.south >= -90
    assert -1e-6 <= frame.place(Position(lat, 0.0))[1] <= frame.height + 1e-6
