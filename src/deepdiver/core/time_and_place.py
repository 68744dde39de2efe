"""When and where something happened, as far as a text says so: moments, positions and place names.

Nothing is guessed. A time of day counts only with its zone: its own, or the one that its source
names for all its times. Without a zone, only the day is known. If a line of a log has no date, it
has the last date before it.
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
"""Most minutes that a point in time may last: half a day of observations is not a point."""
MOST_DAYS = 2
"""Most days that a quote about one moment may name: the day itself and the day of the report."""
_CLOCK = re.compile(
    r"(?<![\d:.])(?P<iso>(?<=T))?(?P<h>[01]?\d"
    r"|2[0-3]):(?P<m>[0-5]\d)(?::[0-5]\d(?:\.\d+)?)?(?![\d:])"
    r"(?:\s?(?P<zone>UTC|GMT|CEST|CET|Z)\b)?(?(iso)(?P<offset>[+-](?:0\d|1[0-4]):?[0-5]\d)?)"
)
"""A time of day with its zone; after the T of an ISO time, with its offset from UTC."""
_ZONES = {"UTC": 0, "GMT": 0, "Z": 0, "CET": 60, "CEST": 120}
_ALL_TIMES = re.compile(
    r"\b(?:all )?times?\b[^.\n]{0,20}\b(?P<zone>UTC|GMT|CEST|CET)\b", re.IGNORECASE
)
"""Where a source says in which zone its times are."""
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
_ABBREVIATED = re.compile(r"\d|^[^\W\d_a-z](?:[^\w\s]?[^\W\d_a-z])*\W?$")
"""A name with a digit, or one word of capital letters alone: Q1, B2B, HR, U.K."""
_PLACED = re.compile(r"\b(?:in|at|near|off|around|outside|over)\s+(?:the\s+)?(?:[a-z]+\s+of\s+)?$")


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A span of time, in minutes since the first day of the calendar, in UTC.

    If only the day is known, it is the whole day.
    """

    start: int
    """First minute."""
    end: int
    """Last minute."""

    @property
    def narrow(self) -> bool:
        """Whether it is a point in time, and not a day or half a day."""
        return self.end - self.start <= NARROW

    def gap(self, other: Moment) -> int:
        """Return the minutes between two moments; 0 where they overlap."""
        return max(0, other.start - self.end, self.start - other.end)

    def iso(self) -> str:
        """Return its beginning in ISO form, as precisely as it is known."""
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
    """How far off it may be: for a town that is only named, about half its width."""


def distance_km(one: Position, other: Position) -> float:
    """Return the great-circle distance (haversine)."""
    a, b = math.radians(one.lat), math.radians(other.lat)
    sines = math.sin((b - a) / 2) ** 2
    sines += math.cos(a) * math.cos(b) * math.sin(math.radians(other.lon - one.lon) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(sines)))


@dataclass(frozen=True, slots=True)
class TimeAndPlace:
    """When and where something happened."""

    moment: Moment | None = None
    """When; None: not said."""
    position: Position | None = None
    """Where; None: not said."""
    places: tuple[str, ...] = ()
    """Names of places."""


def time_and_place_of(quote: str, text: str = "", start: int = 0, title: str = "") -> TimeAndPlace:
    """Return when and where the event of a quote happened.

    Args:
        quote: The quote.
        text: The whole text of its source.
        start: Offset of the quote in the text.
        title: The title of the source.
    """
    here = positions(quote)
    everywhere = set(positions(text))
    position = here[0] if here else next(iter(everywhere)) if len(everywhere) == 1 else None
    return TimeAndPlace(moment_of(quote, text, start, title), position, tuple(place_names(quote)))


def moment_of(quote: str, text: str = "", start: int = 0, title: str = "") -> Moment | None:
    """Return when the event of a quote happened: its first date, and the time of day that it gives.

    None if it gives no date, or a list of days: a count by day is about a period.
    """
    days, clocks = _days(quote), list(_CLOCK.finditer(quote))
    if len(set(days)) > MOST_DAYS:
        return None
    if not days and clocks:
        days = _days(text[:start])[-1:] or _days(title) or _days(text)
    if not days:
        return None
    midnight = days[0].toordinal() * DAY
    zone = _zone(clocks, text)
    minutes = [minute for clock in clocks if (minute := _minute(clock, zone)) is not None]
    if not minutes or len(minutes) < len(clocks):
        return Moment(midnight, midnight + DAY - 1)
    first, last = minutes[0], minutes[1] if _is_range(quote, clocks) else minutes[0]
    return Moment(midnight + first, midnight + max(first, last))


def _days(text: str) -> list[date]:
    """Return the calendar dates of a text that are given to the day, in order."""
    return [exact for day, _, _ in dated(text) if (exact := day.exact())]


def _zone(clocks: list[re.Match[str]], text: str) -> str:
    """Return the first zone that a time of day names, else the zone of all times of the text."""
    if named := next((clock["zone"] for clock in clocks if clock["zone"]), ""):
        return str(named)
    stated = _ALL_TIMES.search(text)
    return stated["zone"].upper() if stated else ""


def _minute(clock: re.Match[str], zone: str) -> int | None:
    """Return the minute of the day in UTC, which may be in the day before or after.

    None if the zone is not known.

    Args:
        clock: The time of day.
        zone: The zone that holds if it does not name its own; empty: not known.
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
    """Return the positions in a text, in order; those with impossible coordinates are left out."""
    found: list[tuple[int, Position]] = []
    for match in _DEGREES.finditer(text):
        lat = float(match["lat"]) * (1 if match["ns"] == "N" else -1)
        lon = float(match["lon"]) * (1 if match["ew"] == "E" else -1)
        found.append((match.start(), Position(lat, lon)))
    for match in _NAMED.finditer(text):
        found.append((match.start(), Position(float(match["lat"]), float(match["lon"]))))
    return [place for _, place in sorted(found) if abs(place.lat) <= 90 and abs(place.lon) <= 180]


def place_names(text: str) -> list[str]:
    """Return the names in a text that follow a word of place: in Oslo, near the port of Oslo.

    A name with a digit, or of capital letters alone, is an abbreviation, and stands for anything:
    in Q1, in B2B, in HR. Countries that are abbreviated so are found by the gazetteer.
    """
    found: dict[str, None] = {}
    for name in names(text):
        if _ABBREVIATED.search(name):
            continue
        spots = (match.start() for match in re.finditer(re.escape(name), text))
        if any(_PLACED.search(text[max(0, spot - 40) : spot]) for spot in spots):
            found.setdefault(name)
    return list(found)
