"""The area that a map shows, and where its points are on the paper.

The map is equirectangular with its middle parallel true to scale: distances are right from north to
south everywhere, and from west to east in the middle of the map.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdiver.core.gazetteer import KM_PER_DEGREE
from deepdiver.core.time_and_place import Position
from deepdiver.report.figures.outlines import Box

MARGIN = 0.16
"""Room around the findings on each side, as a part of the area that they take up."""
LEAST = 0.08
"""Fewest degrees of latitude that a map shows: 9 km, the size of a town."""
LOWEST, HIGHEST = 360.0, 540.0
"""Least and greatest height of a map on the paper."""
FLATTEST = 0.2
"""Least width of a degree of longitude as a part of one of latitude; closer to a pole (78°) the map
would be too wide."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0)
"""Degrees between two lines of the graticule."""
APART = 78.0
"""Least distance of two such lines on the paper."""
LENGTHS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
"""Kilometres that a scale bar may show."""


@dataclass(frozen=True, slots=True)
class MapFrame:
    """The frame of a map: an area, and the paper that it is drawn on."""

    box: Box
    """The area."""
    width: float
    """Width of the paper."""
    height: float
    """Height of the paper."""
    scale: float
    """Units of paper for a degree of latitude."""

    @property
    def km(self) -> float:
        """Kilometres of a unit of paper."""
        return KM_PER_DEGREE / self.scale

    @property
    def middle(self) -> float:
        """Latitude of the middle of the map."""
        return (self.box.south + self.box.north) / 2

    def at(self, lon: float, lat: float) -> tuple[float, float]:
        """Return where a point is on the paper; its longitude is counted as in the box."""
        across = self.width / (self.box.east - self.box.west)
        return (lon - self.box.west) * across, (self.box.north - lat) * self.scale

    def place(self, position: Position) -> tuple[float, float]:
        """Return where a position is on the paper, even if the map crosses the antimeridian."""
        turns = math.ceil((self.box.west - position.lon) / 360)
        return self.at(position.lon + 360 * turns, position.lat)

    def steps(self) -> tuple[float, float]:
        """Return the degrees between two meridians and between two parallels of the graticule."""
        across = self.width / (self.box.east - self.box.west)
        wide, high = (
            next((s for s in STEPS if s * scale >= APART), STEPS[-1])
            for scale in (across, self.scale)
        )
        return wide, high

    def meridians(self) -> Iterator[float]:
        """Return the longitudes of the graticule, counted as in the box."""
        return _multiples(self.box.west, self.box.east, self.steps()[0])

    def parallels(self) -> Iterator[float]:
        """Return the latitudes of the graticule."""
        return _multiples(self.box.south, self.box.north, self.steps()[1])

    def bar(self) -> tuple[float, float]:
        """Return the length of the scale bar in kilometres and on the paper."""
        km = next((km for km in reversed(LENGTHS) if km / self.km <= self.width / 5), LENGTHS[0])
        return km, km / self.km


def fit_frame(positions: Sequence[Position], width: float) -> MapFrame:
    """Return the frame that shows all positions, with some room around them.

    Args:
        positions: At least one position.
        width: Width of the paper.
    """
    west, across = _arc(sorted({position.lon % 360 for position in positions}))
    south, north = min(p.lat for p in positions), max(p.lat for p in positions)
    flat = max(math.cos(math.radians((south + north) / 2)), FLATTEST)
    tall = max((north - south) * (1 + 2 * MARGIN), LEAST)
    broad = max(across * (1 + 2 * MARGIN), LEAST / flat)
    height = min(max(width * tall / (broad * flat), LOWEST), HIGHEST)
    # No map is wider than 360 degrees, or higher than from pole to pole.
    scale = max(min(width / (broad * flat), height / tall), width / (360 * flat))
    height = min(height, 180 * scale)
    half = height / scale / 2
    middle = min(max((south + north) / 2, half - 90), 90 - half)
    side = width / (scale * flat) / 2
    centre = west + across / 2
    centre -= 360 * math.floor((centre + 180) / 360)
    return MapFrame(
        Box(centre - side, middle - half, centre + side, middle + half), width, height, scale
    )


def _arc(lons: Sequence[float]) -> tuple[float, float]:
    """Return the beginning and the width of the shortest arc that has all longitudes."""
    after = [*lons[1:], lons[0] + 360]
    gap, at = max((later - lon, n) for n, (lon, later) in enumerate(zip(lons, after, strict=True)))
    return after[at] % 360, 360 - gap


def _multiples(low: float, high: float, step: float) -> Iterator[float]:
    return (round(n * step, 6) for n in range(math.ceil(low / step), math.floor(high / step) + 1))


def degrees_label(value: float, letters: str, step: float) -> str:
    """Return a latitude or longitude as it is printed at the edge of a map: `49.9° N`, `180°`.

    Args:
        value: The degrees.
        letters: The letters for positive and negative values: NS or EW.
        step: The distance of the lines, which determines the number of decimals.
    """
    turned = (value + 180) % 360 - 180 if letters == "EW" else value
    decimals = 2 if step < 0.1 else 1 if step < 1 else 0
    side = "" if turned in {0, -180} else f" {letters[0] if turned > 0 else letters[1]}"
    return f"{abs(turned):.{decimals}f}°{side}"
