"""Where an axis of time has its marks: from minutes to centuries, in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from deepdiver.core.time_and_place import DAY

MOST = 9
"""Ticks of an axis."""
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)
"""Minutes between two ticks, within a day."""
DAYS = (1, 2, 7, 14)
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000)
_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
FIRST, LAST = date.min.toordinal() * DAY, (date.max.toordinal() + 1) * DAY - 1
"""The minutes that a calendar has."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis."""

    at: int
    """Minute, as in `Moment`."""
    text: str
    """What stands beside it."""
    below: str = ""
    """What stands below that where it is new: the day of an hour, the year of a day."""


def ticks_between(start: int, end: int) -> list[Tick]:
    """Return the marks of an axis between two minutes, MOST at most."""
    start, end = max(start, FIRST), min(max(end, start + 1), LAST)
    for step in STEPS:
        if (end - start) // step < MOST:
            return _told((at, _clock(at), _day(at)) for at in _multiples(start, end, step))
    for days in DAYS:
        if (end - start) // (days * DAY) < MOST:
            return _told(
                (at, _short(at), str(_date(at).year)) for at in _multiples(start, end, days * DAY)
            )
    for months in MONTHS:
        found = list(_firsts(start, end, months))
        if len(found) <= MOST:
            break
    if months < 12:
        return _told((at, _NAMES[_date(at).month - 1], str(_date(at).year)) for at in found)
    return _told((at, str(_date(at).year), "") for at in found)


def _multiples(start: int, end: int, step: int) -> Iterator[int]:
    # Ordinal 1 was a Monday: from there on, every seventh day is one too.
    first = DAY + -(-(start - DAY) // step) * step
    return iter(range(first, end + 1, step))


def _firsts(start: int, end: int, months: int) -> Iterator[int]:
    """Return the first days of every so many months."""
    begin = _date(start)
    month = begin.year * 12 + begin.month - 1
    month -= month % months
    while True:
        year, rest = divmod(month, 12)
        if year > date.max.year:
            return
        at = date(year, rest + 1, 1).toordinal() * DAY if year >= 1 else FIRST - 1
        if at > end:
            return
        if at >= start:
            yield at
        month += months


def _told(held: Iterator[tuple[int, str, str]]) -> list[Tick]:
    """Return the ticks; what stands below is said once."""
    made: list[Tick] = []
    last = ""
    for at, text, below in held:
        made.append(Tick(at, text, below if below != last else ""))
        last = below
    return made


def _date(at: int) -> date:
    return date.fromordinal(at // DAY)


def _clock(at: int) -> str:
    return f"{at % DAY // 60:02d}:{at % 60:02d}"


def _short(at: int) -> str:
    return f"{_date(at).day} {_NAMES[_date(at).month - 1]}"


def _day(at: int) -> str:
    return f"{_short(at)} {_date(at).year}"
