"""Coasts, borders and land: the file is what it should be, and what is cut is cut right."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.errors import StoreAccessError
from deepdiver.report.figures import outlines
from deepdiver.report.figures.outlines import FILE, Box, Point, coasts_and_borders, land_rings

WORLD = Box(-180, -90, 180, 90)


def inside(point: Point, ring: list[Point]) -> bool:
    """Whether a point lies in a ring (counting crossings)."""
    x, y = point
    found = False
    for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            found = not found
    return found


def on_land(lon: float, lat: float, box: Box = WORLD) -> bool:
    return sum(inside((lon, lat), ring) for ring in land_rings(box)) % 2 == 1


def area(ring: list[Point]) -> float:
    return (
        abs(
            sum(
                x1 * y2 - x2 * y1
                for (x1, y1), (x2, y2) in zip(ring, [*ring[1:], ring[0]], strict=True)
            )
        )
        / 2
    )


def test_a_file_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(outlines, "FILE", tmp_path / "outlines.bin")
    outlines._read.cache_clear()
    with pytest.raises(StoreAccessError, match="install deepdiver again"):
        list(coasts_and_borders(WORLD))
    monkeypatch.undo()
    assert list(coasts_and_borders(WORLD))


def test_the_file_is_small_and_says_where_it_comes_from() -> None:
    assert FILE.stat().st_size <= 100_000
    assert "Natural Earth" in (FILE.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("lon", "lat", "dry"),
    [
        (36.23, 49.99, True),  # Kharkiv
        (2.35, 48.86, True),  # Paris
        (-100.0, 40.0, True),
        (0.0, -80.0, True),  # Antarctica, which is closed over the pole
        (170.0, 66.0, True),  # Chukotka, …
        (-175.0, 66.5, True),  # … on both sides of the antimeridian
        (-30.0, 40.0, False),
        (5.0, 40.0, False),  # the Mediterranean
        (51.0, 42.0, False),  # the Caspian Sea, water within land
        (180.0, 0.0, False),
    ],
)
def test_land_and_sea(lon: float, lat: float, dry: bool) -> None:
    assert on_land(lon, lat) is dry


def test_land_over_the_antimeridian_is_one() -> None:
    box = Box(160, 60, 200, 75)
    assert on_land(175, 67, box)
    assert on_land(184, 66.5, box), "the same as 176 degrees west"
    assert all(box.west <= x <= box.east for ring in land_rings(box) for x, _ in ring)


def test_borders_and_coasts_are_told_apart() -> None:
    kinds = [kind for kind, _ in coasts_and_borders(Box(30, 48, 40, 53))]
    assert set(kinds) == {"border"}, "Ukraine and Russia, far from the sea"
    assert {kind for kind, _ in coasts_and_borders(Box(-10, 35, 5, 45))} == {"coast", "border"}
    assert list(coasts_and_borders(Box(-150, -5, -148, -3))) == []


def test_nothing_is_drawn_along_the_antimeridian() -> None:
    for _, piece in coasts_and_borders(Box(170, -90, 190, 90)):
        for one, other in pairwise(piece):
            assert not (one[0] == other[0] == 180 and abs(one[1] - other[1]) > 1)


@settings(max_examples=30)
@given(st.floats(-180, 180), st.floats(-85, 80), st.floats(0.5, 60), st.floats(0.5, 40))
def test_land_is_cut_to_the_box(west: float, south: float, wide: float, high: float) -> None:
    box = Box(west, south, west + wide, min(south + high, 90))
    for ring in land_rings(box):
        assert all(
            box.west - 1e-9 <= x <= box.east + 1e-9 and box.south - 1e-9 <= y <= box.north + 1e-9
            for x, y in ring
        )
        assert area(ring) <= (box.east - box.west) * (box.north - box.south) + 1e-6


def test_boxes() -> None:
    box = Box(170, -10, 190, 10)
    assert box.meets(Box(-175, 0, -170, 5), 360)
    assert not box.meets(Box(-175, 0, -170, 5))
    assert box.holds(Box(-175, 0, -170, 5), 360)
    assert not box.holds(Box(-175, 0, -160, 5), 360)
