"""Sightings of hot spots, made of pixels, and the judgement whether a spot is a persistent source.

A satellite sees a hot spot as one pixel or as several that adjoin. Those of one pass make one
**sighting**, which is listed and counted once. The next pass, of this satellite or of another, is
another sighting.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from deepdiver.core.time_and_place import EARTH_KM, Position, distance_km

DEGREE_KM = EARTH_KM * math.pi / 180
"""Kilometres of a degree of latitude."""
CELL_KM = {"VIIRS": 0.4, "MODIS": 1.0}
"""Side of a cell: the size of a pixel straight below the satellite."""
ADJOINING_KM = {"VIIRS": 1.0, "MODIS": 2.5}
"""Pixels whose centres are this close adjoin. At the edge of a scan they are more than twice as
wide as straight below."""
PASS_MINUTES = 10
"""Pixels of one satellite within this many minutes are of one pass: the next pass is an hour and a
half later."""

# A place counts as persistent, which mostly means a flare, a furnace or a power station, if it was
# hot
# - on at least LEAST_DAYS different days: many fires burn for three days,
# - on HOT_PART of the days looked at: clouds hide even a steel works on two days of three,
# - and if the time from the first to the last of these days is at least LASTING_PART of the days
#   looked at: a fire of one bad week does not count.
# The days looked at are those asked for and as many before. Adjoining cells count too, because the
# centre of a pixel moves by half its size from pass to pass.
LEAST_DAYS = 4
HOT_PART = 1 / 3
LASTING_PART = 1 / 2
STATIC = 2
"""FIRMS's own type of a static source on land, in its standard products."""


class Detection(NamedTuple):
    """One pixel, by the names of FIRMS that both instruments share."""

    latitude: float
    longitude: float
    acq_date: str
    """Day, UTC."""
    acq_time: str
    """Time of day, UTC, hhmm."""
    satellite: str
    instrument: str
    confidence: str
    """VIIRS: low, nominal, high; MODIS: 0 to 100."""
    brightness: float | None
    """Kelvin: bright_ti4 of VIIRS, brightness of MODIS."""
    background: float | None
    """Kelvin: bright_ti5 of VIIRS, bright_t31 of MODIS."""
    frp: float | None
    """Fire radiative power, megawatts."""
    daynight: str
    type: int | None = None
    """0 vegetation, 1 volcano, 2 static source on land, 3 offshore; only in standard products."""

    @property
    def moment(self) -> datetime:
        """The time at which it was seen, UTC."""
        return datetime.strptime(f"{self.acq_date} {self.acq_time} +0000", "%Y-%m-%d %H%M %z")

    @property
    def position(self) -> Position:
        """Its position."""
        return Position(self.latitude, self.longitude)

    @property
    def rank(self) -> tuple[float, tuple[float | str, ...]]:
        """The sorting key: the strongest first, and equals always in the same order."""
        return -(self.frp or 0.0), (
            self.acq_date,
            self.acq_time,
            self.satellite,
            self.latitude,
            self.longitude,
        )


@dataclass(frozen=True, slots=True)
class Sighting:
    """A hot spot in one pass."""

    strongest: Detection
    """The pixel with the most power."""
    pixels: int
    """How many pixels adjoin."""
    hot_days: int
    """Days on which the place was hot, of those looked at."""
    persistent: bool
    """Whether it is probably a persistent industrial source."""

    @property
    def day(self) -> date:
        """The day on which it was seen, UTC."""
        return date.fromisoformat(self.strongest.acq_date)


def within_circle(
    detections: Iterable[Detection], centre: Position, radius_km: float
) -> list[Detection]:
    """Return the pixels within a circle, each once: boxes share edges, and products share days."""
    return [
        one for one in dict.fromkeys(detections) if distance_km(one.position, centre) <= radius_km
    ]


def sightings_of(
    detections: Sequence[Detection], centre: Position, looked_at: int
) -> list[Sighting]:
    """Put together the pixels of each pass that adjoin.

    Args:
        detections: All pixels of all days looked at.
        centre: The centre of the circle, for measuring.
        looked_at: How many days were looked at.
    """
    heat = _Heat(detections, centre, looked_at)
    found = []
    for passed in _passes(detections):
        for group in _adjoining(passed, centre):
            strongest = min(group, key=lambda one: one.rank)
            days = heat.days(strongest)
            persistent = strongest.type == STATIC or heat.lasts(days)
            found.append(Sighting(strongest, len(group), len(days), persistent))
    return found


def _passes(detections: Iterable[Detection]) -> list[list[Detection]]:
    by_satellite: defaultdict[tuple[str, str], list[Detection]] = defaultdict(list)
    for one in detections:
        by_satellite[one.satellite, one.instrument].append(one)
    passes: list[list[Detection]] = []
    for seen in by_satellite.values():
        last: datetime | None = None
        for one in sorted(seen, key=lambda one: one.rank[1]):
            if last is None or (one.moment - last).total_seconds() > PASS_MINUTES * 60:
                passes.append([])
            passes[-1].append(one)
            last = one.moment
    return passes


def _adjoining(passed: Sequence[Detection], centre: Position) -> list[list[Detection]]:
    """Group the pixels of a pass: each with all that it adjoins, directly or through others."""
    reach = ADJOINING_KM[passed[0].instrument]
    grid: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    leader = list(range(len(passed)))

    def led(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for index, one in enumerate(passed):
        cell = _cell(one, centre, reach)
        for other in (other for around in _around(cell) for other in grid.get(around, ())):
            if (
                led(other) != led(index)
                and distance_km(one.position, passed[other].position) <= reach
            ):
                leader[led(index)] = led(other)
        grid[cell].append(index)
    groups: defaultdict[int, list[Detection]] = defaultdict(list)
    for index, one in enumerate(passed):
        groups[led(index)].append(one)
    return list(groups.values())


class _Heat:
    """The days on which each cell was hot."""

    def __init__(self, detections: Iterable[Detection], centre: Position, looked_at: int) -> None:
        self._centre, self._looked_at = centre, looked_at
        self._days: defaultdict[tuple[str, tuple[int, int]], set[str]] = defaultdict(set)
        for one in detections:
            self._days[one.instrument, self._of(one)].add(one.acq_date)

    def _of(self, one: Detection) -> tuple[int, int]:
        return _cell(one, self._centre, CELL_KM[one.instrument])

    def days(self, one: Detection) -> set[str]:
        """Return the days on which the place of a pixel was hot."""
        cells = ((one.instrument, around) for around in _around(self._of(one)))
        return set().union(*(self._days.get(cell, ()) for cell in cells))

    def lasts(self, days: set[str]) -> bool:
        """Whether a place that was hot on these days is persistent."""
        if len(days) < max(LEAST_DAYS, HOT_PART * self._looked_at):
            return False
        lasting = (date.fromisoformat(max(days)) - date.fromisoformat(min(days))).days + 1
        return lasting >= LASTING_PART * self._looked_at


def _cell(one: Detection, centre: Position, side_km: float) -> tuple[int, int]:
    """Return the cell of a pixel, on a grid that breaks only opposite the centre."""
    east = (one.longitude - centre.lon + 180) % 360 - 180
    across = east * math.cos(math.radians(one.latitude)) * DEGREE_KM
    return math.floor(across / side_km), math.floor(one.latitude * DEGREE_KM / side_km)


def _around(cell: tuple[int, int]) -> list[tuple[int, int]]:
    return [(cell[0] + right, cell[1] + up) for right in (-1, 0, 1) for up in (-1, 0, 1)]
