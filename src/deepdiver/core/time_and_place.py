"""When and where something was, as far as a text says so: moments, positions and names of places.

Nothing is guessed. A time of day counts only with its zone (its own, or one that its source names
for all its times); without one, the day is all that is known. A date that a line of a log leaves
out is the last one given before it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date

from deepdiver.core.dates import dated
from deepdiver.core.names import names

EARTH_KM = 6_371.0088
"""Mean radius of the earth."""
DAY = 1_440
"""Minutes of a day."""
NARROW = 60
"""Minutes that a moment may last at most to be a point in time: half a day of observations is none.
"""
MOST_DAYS = 2
"""Days that a quote about one moment may name: the day, and that of the report."""
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<iso>(?<=T))?(?P<h>[01]?\d"
    r"|2[0-3]):(?P<m>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])"
    r"(?:\s?(?P<zone>UTC|GMT|CEST|CET|Z)\b)?(?(iso)(?P<offset>[+-](?:0\d|1[0-4]):?[0-5]\d)?)"
)
"""A time of day with its zone; behind the T of an ISO time, with its distance from UTC."""
_ZONES = {"UTC": 0, "GMT": 0, "Z": 0, "CET": 60, "CEST": 120}
_ALL_TIMES = re.compile(
    r"\b(?:all )?times?\b[^.\n]{0,20}\b(?P<zone>UTC|GMT|CEST|CET)\b", re.IGNORECASE
)
"""A source that says in which zone it gives its times."""
_FROM, _TO = (
    re.compile(r"\b(?:between|from)\s+$", re.IGNORECASE),
    re.compile(r"\s*(?:and|to|until|–|-)\s*"),
)
_DEGREES = re.compile(
    r"(?<![\w.])(?P<lat>\d{1,2}(?:\.\d+)?)\s?°?\s?(?P<ns>[NS])\b[,;]?\s+"
    r"(?P<lon>\d{1,3}(?:\.\d+)?)\s?°?\s?(?P<ew>[EW])\b"
)
_NAMED = re.compile(
    r"\blat(?:itude)?\b[^\w-]{0,4}(?P<lat>-?\d{1,2}(?:\.\d+)?)[^\w-]{1,4}"
    r"lon(?:gitude|g)?\b[^\w-]{0,4}(?P<lon>-?\d{1,3}(?:\.\d+)?)",
    re.IGNORECASE,
)
_PLACED = re.compile(r"\b(?:in|at|near|off|around|outside|over)\s+(?:the\s+)?(?:[a-z]+\s+of\s+)?$")


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A stretch of time, in minutes since the first day of the calendar, UTC.

    A day without a clock is all of it.
    """

    start: int
    """First minute."""
    end: int
    """Last minute."""

    @property
    def narrow(self) -> bool:
        """Whether it is a point in time, not a day or half a one."""
        return self.end - self.start <= NARROW

    def gap(self, other: Moment) -> int:
        """Return the minutes between two moments; 0 where they overlap."""
        return max(0, other.start - self.end, self.start - other.end)

    def iso(self) -> str:
        """Return the ISO form of its beginning, as precise as it is known."""
        day, minute = divmod(self.start, DAY)
        clock = f"T{minute // 60:02d}:{minute % 60:02d}Z" if self.narrow else ""
        return date.fromordinal(day).isoformat() + clock


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A point on the earth, in degrees."""

    lat: float
    """Latitude, north positive."""
    lon: float
    """Longitude, east positive."""
    within_km: float = 0.0
    """How far off it may be: of a town that is only named, about half its width."""


def distance_km(one: Position, other: Position) -> float:
    """Return the great-circle distance (haversine)."""
    a, b = math.radians(one.lat), math.radians(other.lat)
    sines = math.sin((b - a) / 2) ** 2
    sines += math.cos(a) * math.cos(b) * math.sin(math.radians(other.lon - one.lon) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(sines)))


@dataclass(frozen=True, slots=True)
class TimeAndPlace:
    """When and where something was."""

    moment: Moment | None = None
    """When; None: not said."""
    position: Position | None = None
    """Where; None: not said."""
    places: tuple[str, ...] = ()
    """Names of places."""


def time_and_place_of(quote: str, text: str = "", start: int = 0, title: str = "") -> TimeAndPlace:
    """Return when and where that was of which a quote tells.

    Args:
        quote: The words.
        text: The whole text of the source.
        start: Where the quote stands in it.
        title: What the source calls itself.
    """
    here = positions(quote)
    everywhere = set(positions(text))
    position = here[0] if here else next(iter(everywhere)) if len(everywhere) == 1 else None
    return TimeAndPlace(moment_of(quote, text, start, title), position, tuple(places(quote)))


def moment_of(quote: str, text: str = "", start: int = 0, title: str = "") -> Moment | None:
    """Return when that was of which a quote tells.

    Its first date and the time of day that it gives.

    A list of days is no moment: a count by day tells of a period.
    """
    if len({exact for named, _, _ in dated(quote) if (exact := named.exact())}) > MOST_DAYS:
        return None
    day, clocks = _first_day(quote), list(_CLOCK.finditer(quote))
    if day is None and clocks:
        day = _last_day(text[:start]) or _first_day(title) or _first_day(text)
    if day is None:
        return None
    midnight = day.toordinal() * DAY
    zone = next((clock["zone"] for clock in clocks if clock["zone"]), "")
    if not zone and (told := _ALL_TIMES.search(text)):
        zone = told["zone"].upper()
    minutes = [minute for clock in clocks if (minute := _minute(clock, zone)) is not None]
    if not minutes or len(minutes) < len(clocks):
        return Moment(midnight, midnight + DAY - 1)
    first, last = minutes[0], minutes[1] if _is_range(quote, clocks) else minutes[0]
    return Moment(midnight + first, midnight + max(first, last))


def _first_day(text: str) -> date | None:
    return next((exact for day, _, _ in dated(text) if (exact := day.exact())), None)


def _last_day(text: str) -> date | None:
    return next((exact for day, _, _ in reversed(dated(text)) if (exact := day.exact())), None)


def _minute(clock: re.Match[str], zone: str) -> int | None:
    """Return the minute of the day in UTC; it may lie in the day before or after.

    None: no zone is known.

    Args:
        clock: The time of day.
        zone: The zone where it names none itself; empty: not known.
    """
    minute = int(clock["h"]) * 60 + int(clock["m"])
    if clock["offset"]:
        hours, rest = int(clock["offset"][1:3]), int(clock["offset"][-2:])
        return minute - (1 if clock["offset"][0] == "+" else -1) * (hours * 60 + rest)
    told = clock["zone"] or zone
    return minute - _ZONES[told] if told else None


def _is_range(quote: str, clocks: list[re.Match[str]]) -> bool:
    if len(clocks) < 2:
        return False
    one, other = clocks[:2]
    return bool(
        _FROM.search(quote[: one.start()]) and _TO.fullmatch(quote[one.end() : other.start()])
    )


def positions(text: str) -> list[Position]:
    """Return the positions of a text that lie on the earth, in order."""
    found: list[tuple[int, Position]] = []
    for match in _DEGREES.finditer(text):
        lat = float(match["lat"]) * (1 if match["ns"] == "N" else -1)
        lon = float(match["lon"]) * (1 if match["ew"] == "E" else -1)
        found.append((match.start(), Position(lat, lon)))
    for match in _NAMED.finditer(text):
        found.append((match.start(), Position(float(match["lat"]), float(match["lon"]))))
    return [place for _, place in sorted(found) if abs(place.lat) <= 90 and abs(place.lon) <= 180]


def places(text: str) -> list[str]:
    """Return the names in a text that a word of place stands before.

    In Oslo, near the port of Oslo.
    """
    found: dict[str, None] = {}
    for name in names(text):
        spots = (match.start() for match in re.finditer(re.escape(name), text))
        if any(_PLACED.search(text[max(0, spot - 40) : spot]) for spot in spots):
            found.setdefault(name)
    return list(found)
