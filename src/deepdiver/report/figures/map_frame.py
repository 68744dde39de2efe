"""Which piece of the earth a map shows, and where a point of it lies on the paper.

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
"""Room around the findings, as a part of what they take up, on each side."""
LEAST = 0.08
"""Degrees of latitude that a map shows at least: 9 km, a town."""
LOWEST, HIGHEST = 360.0, 540.0
"""Height of a map on the paper."""
FLATTEST = 0.2
"""Least width of a degree of longitude against one of latitude; nearer to a pole (78°) the map is
too wide."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0)
"""Degrees between two lines of the graticule."""
APART = 78.0
"""Least distance of two of these on the paper."""
LENGTHS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
"""Kilometres that a scale bar may stand for."""


@dataclass(frozen=True, slots=True)
class MapFrame:
    """A map on paper."""

    box: Box
    """What it shows."""
    width: float
    """Of the paper."""
    height: float
    """Of the paper."""
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
        """Return where a point lies on the paper; its longitude is as the box counts them."""
        across = self.width / (self.box.east - self.box.west)
        return (lon - self.box.west) * across, (self.box.north - lat) * self.scale

    def place(self, position: Position) -> tuple[float, float]:
        """Return where a position lies on the paper, also where the map reaches over the antimeridian."""
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
        """Return the longitudes of the graticule, as the box counts them."""
        return _multiples(self.box.west, self.box.east, self.steps()[0])

    def parallels(self) -> Iterator[float]:
        """Return the latitudes of the graticule."""
        return _multiples(self.box.south, self.box.north, self.steps()[1])

    def bar(self) -> tuple[float, float]:
        """Return the length of the scale bar in kilometres and on the paper."""
        km = next((km for km in reversed(LENGTHS) if km / self.km <= self.width / 5), LENGTHS[0])
        return km, km / self.km


def fit_frame(positions: Sequence[Position], width: float) -> MapFrame:
    """Return the map that shows all positions, with some room around them.

    Args:
        positions: One at least.
        width: Of the paper.
    """
    west, across = _arc(sorted({position.lon % 360 for position in positions}))
    south, north = min(p.lat for p in positions), max(p.lat for p in positions)
    flat = max(math.cos(math.radians((south + north) / 2)), FLATTEST)
    tall = max((north - south) * (1 + 2 * MARGIN), LEAST)
    broad = max(across * (1 + 2 * MARGIN), LEAST / flat)
    height = min(max(width * tall / (broad * flat), LOWEST), HIGHEST)
    # No map is wider than the earth is round, nor higher than from pole to pole.
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
    """Return the shortest stretch of the globe that holds all longitudes.

    Where it begins, and its width.
    """
    after = [*lons[1:], lons[0] + 360]
    gap, at = max((later - lon, n) for n, (lon, later) in enumerate(zip(lons, after, strict=True)))
    return after[at] % 360, 360 - gap


def _multiples(low: float, high: float, step: float) -> Iterator[float]:
    return (round(n * step, 6) for n in range(math.ceil(low / step), math.floor(high / step) + 1))


def degrees_label(value: float, letters: str, step: float) -> str:
    """Return a latitude or longitude as it stands at the edge of a map: `49.9° N`, `180°`.

    Args:
        value: The degrees.
        letters: What stands for more and for less than zero: NS or EW.
        step: The distance of the lines, which says how many decimals are needed.
    """
    turned = (value + 180) % 360 - 180 if letters == "EW" else value
    decimals = 2 if step < 0.1 else 1 if step < 1 else 0
    side = "" if turned in {0, -180} else f" {letters[0] if turned > 0 else letters[1]}"
    return f"{abs(turned):.{decimals}f}°{side}"
