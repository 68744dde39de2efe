"""Coasts, borders and land for the map, cut to its frame.

The lines are from Natural Earth at 1:50 million (public domain), and accurate to some 3 km. They
come with the package; `README.md` beside them says how the file was made.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal

from deepdiver.core.column_file import read_columns, read_numbers

FILE = Path(__file__).parent / "outlines.bin"
GOOD_KM = 3.0
"""By how many kilometres a line may be off."""
_STEP = 100
"""Steps of a degree in the file."""
Point = tuple[float, float]
"""Longitude and latitude."""


@dataclass(frozen=True, slots=True)
class Box:
    """An area of the map. Across the antimeridian its longitudes are outside of -180..180."""

    west: float
    south: float
    east: float
    north: float

    def meets(self, other: Box, shift: float = 0.0) -> bool:
        """Whether another box, moved east by `shift` degrees, overlaps it."""
        beside = other.west + shift <= self.east and other.east + shift >= self.west
        return beside and other.south <= self.north and other.north >= self.south

    def holds(self, other: Box, shift: float = 0.0) -> bool:
        """Whether another box, moved east by `shift` degrees, is entirely in it."""
        across = self.west <= other.west + shift and other.east + shift <= self.east
        return across and self.south <= other.south and other.north <= self.north


Shape = tuple[Box, list[Point]]
"""Points, and the box around them."""


def coasts_and_borders(box: Box) -> Iterator[tuple[Literal["coast", "border"], list[Point]]]:
    """Yield the coasts and borders of a box: pieces of lines with a point in it, or across it."""
    arcs, _, borders = _read()
    for (around, arc), border in zip(arcs, borders, strict=True):
        for shift in _shifts(around, box):
            for piece in _pieces(_shifted(arc, shift), box):
                yield "border" if border else "coast", piece


def land_rings(box: Box) -> Iterator[list[Point]]:
    """Yield the land of a box, as rings cut to it; a ring within another is water."""
    _, rings, _ = _read()
    for around, ring in rings:
        for shift in _shifts(around, box):
            moved = _shifted(ring, shift)
            cut = moved if box.holds(around, shift) else _cut(moved, box)
            if len(cut) > 2:
                yield cut


def _shifts(around: Box, box: Box) -> list[float]:
    """Return the turns, in degrees, by which a shape must be moved east to overlap a box."""
    return [shift for shift in (-360.0, 0.0, 360.0) if box.meets(around, shift)]


def _shifted(points: Sequence[Point], shift: float) -> list[Point]:
    return [(x + shift, y) for x, y in points]


def _pieces(points: Sequence[Point], box: Box) -> Iterator[list[Point]]:
    """Yield the parts of a line whose segments may be visible in the box."""
    piece: list[Point] = []
    for one, other in pairwise(points):
        (x1, y1), (x2, y2) = one, other
        aside = (x1 < box.west and x2 < box.west) or (x1 > box.east and x2 > box.east)
        aside = aside or (y1 < box.south and y2 < box.south) or (y1 > box.north and y2 > box.north)
        if not aside and not (x1 == x2 and abs(x1) % 360 == 180):
            piece = piece or [one]
            piece.append(other)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _cut(ring: list[Point], box: Box) -> list[Point]:
    """Return a ring cut to a box (Sutherland and Hodgman)."""
    sides: tuple[tuple[int, float, Callable[[float, float], bool]], ...] = (
        (0, box.west, float.__ge__),
        (0, box.east, float.__le__),
        (1, box.south, float.__ge__),
        (1, box.north, float.__le__),
    )
    for axis, limit, inside in sides:
        kept: list[Point] = []
        for one, other in zip(ring, ring[1:] + ring[:1], strict=True):
            starts, ends = inside(one[axis], limit), inside(other[axis], limit)
            if starts:
                kept.append(one)
            if starts != ends:
                part = (limit - one[axis]) / (other[axis] - one[axis])
                kept.append(
                    (one[0] + part * (other[0] - one[0]), one[1] + part * (other[1] - one[1]))
                )
        ring = kept
    return ring


@functools.cache
def _read() -> tuple[list[Shape], list[Shape], bytes]:
    """Return the lines of the file, the rings of land, and for each line whether it is a border."""
    columns = read_columns(FILE)
    dx, dy = read_numbers("h", columns["dx"]), read_numbers("h", columns["dy"])
    arcs: list[list[Point]] = []
    at = 0
    lengths, first = (
        read_numbers("H", columns["lengths"]),
        (read_numbers("h", columns[name]) for name in "xy"),
    )
    for length, x, y in zip(lengths, *first, strict=True):
        xs = accumulate(dx[at : at + length - 1], initial=x)
        ys = accumulate(dy[at : at + length - 1], initial=y)
        arcs.append([(east / _STEP, north / _STEP) for east, north in zip(xs, ys, strict=True)])
        at += length - 1
    members = iter(read_numbers("h", columns["members"]))
    rings = [
        _ring([next(members) for _ in range(length)], arcs)
        for length in read_numbers("H", columns["rings"])
    ]
    return (
        [(_around(arc), arc) for arc in arcs],
        [(_around(ring), ring) for ring in rings],
        columns["borders"],
    )


def _around(points: Sequence[Point]) -> Box:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Box(min(xs), min(ys), max(xs), max(ys))


def _ring(members: Sequence[int], arcs: Sequence[list[Point]]) -> list[Point]:
    """Return a ring made of lines, of which ~n is line n backwards.

    A ring around the pole is closed across it.
    """
    points: list[Point] = []
    for member in members:
        arc = arcs[member] if member >= 0 else arcs[~member][::-1]
        shift = 360 * round((points[-1][0] - arc[0][0]) / 360) if points else 0
        points += [(x + shift, y) for x, y in arc]
    if abs(points[0][0] - points[-1][0]) > 180:
        points += [(points[-1][0], -90.0), (points[0][0], -90.0)]
    return points
