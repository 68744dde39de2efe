"""The ticks of an axis of time, from minutes to centuries, in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from deepdiver.core.time_and_place import DAY

MOST = 9
"""Most ticks of an axis."""
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)
"""Minutes between two ticks, within a day."""
DAYS = (1, 2, 7, 14)
"""Days between two ticks."""
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000)
"""Months between two ticks."""
_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
FIRST, LAST = date.min.toordinal() * DAY, (date.max.toordinal() + 1) * DAY - 1
"""The first and last minute of the calendar."""


_STEPS_AND_DAYS = (*STEPS, *(days * DAY for days in DAYS))
"""Minutes between two ticks that are at most some days apart."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of an axis."""

    at: int
    """Minute, as in `Moment`."""
    text: str
    """Its label."""
    below: str = ""
    """A second line where it changes: the day of an hour, the year of a day."""


def ticks_between(start: int, end: int) -> list[Tick]:
    """Return the ticks of an axis between two minutes, MOST at most."""
    start, end = max(start, FIRST), min(max(end, start + 1), LAST)
    fitting = (step for step in _STEPS_AND_DAYS if (end - start) // step < MOST)
    if step := next(fitting, 0):
        spots = _multiples(start, end, step)
        if step < DAY:
            return _labelled((at, _clock(at), _day(at)) for at in spots)
        return _labelled((at, _short(at), _year(at)) for at in spots)
    return _monthly(start, end)


def _monthly(start: int, end: int) -> list[Tick]:
    """Return ticks at the first days of months or years, as many as fit."""
    for months in MONTHS:
        found = list(_firsts(start, end, months))
        if len(found) <= MOST:
            break
    if months < 12:
        return _labelled((at, _NAMES[_date(at).month - 1], _year(at)) for at in found)
    return _labelled((at, _year(at), "") for at in found)


def _multiples(start: int, end: int, step: int) -> Iterator[int]:
    # Ordinal 1 was a Monday: from there on, every seventh day is one too.
    first = DAY + -(-(start - DAY) // step) * step
    return iter(range(first, end + 1, step))


def _firsts(start: int, end: int, months: int) -> Iterator[int]:
    """Yield the first day of every so many months."""
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


def _labelled(held: Iterator[tuple[int, str, str]]) -> list[Tick]:
    """Return the ticks; a second line that repeats the one before it is left out."""
    made: list[Tick] = []
    last = ""
    for at, text, below in held:
        made.append(Tick(at, text, below if below != last else ""))
        last = below
    return made


def _date(at: int) -> date:
    return date.fromordinal(at // DAY)


def _year(at: int) -> str:
    return str(_date(at).year)


def _clock(at: int) -> str:
    return f"{at % DAY // 60:02d}:{at % 60:02d}"


def _short(at: int) -> str:
    return f"{_date(at).day} {_NAMES[_date(at).month - 1]}"


def _day(at: int) -> str:
    return f"{_short(at)} {_year(at)}"
