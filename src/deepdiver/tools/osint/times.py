"""Days and moments in UTC: read from what reasoners and services write, or refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from deepdiver.core.settings import Settings

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2100, 12, 31)
"""Days that a feed may be asked for: outside them no service has anything, and date arithmetic
would overflow."""
FIRST_YEAR, LAST_YEAR = 1970, 2200
"""Years between which a moment lies: outside them it is a mistake, and date arithmetic might
overflow."""
NOT_OVER = "The last day was not over when it was asked."
"""Note of an answer whose last day was the day on which the service was asked."""


def _read_day(given: Any) -> date:
    """Read a day; refuse numbers such as 20261111, which pydantic takes for seconds since 1970."""
    if isinstance(given, datetime):
        return given.date()
    if isinstance(given, date):
        return given
    found = re.fullmatch(
        r"(\d{4}-\d{2}-\d{2})(?:[T ][\d:.]*(?:Z|[+-]\d{2}:?\d{2})?)?", str(given).strip()
    )
    try:
        day = date.fromisoformat(found[1]) if found else None
    except ValueError:
        day = None
    if day is None:
        raise ValueError("a day is written as 2026-11-11")
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"it lies before {FIRST_DAY} or after {LAST_DAY}")
    return day


def _read_moment(given: Any, zone: bool) -> datetime:
    """Read a moment; refuse numbers, which pydantic takes for seconds since 1970."""
    if not isinstance(given, str | datetime):
        raise ValueError("a moment is written in ISO 8601")
    moment = given if isinstance(given, datetime) else datetime.fromisoformat(given.strip())
    if zone and moment.tzinfo is None:
        raise ValueError("it has no time zone")
    if not FIRST_YEAR < moment.year < LAST_YEAR:
        raise ValueError(f"its year is not between {FIRST_YEAR} and {LAST_YEAR}")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


Day = Annotated[date, BeforeValidator(_read_day)]
"""A day, UTC."""
ZonedTime = Annotated[datetime, BeforeValidator(lambda given: _read_moment(given, zone=True))]
"""A moment that names its time zone, converted to UTC."""
UnzonedTime = Annotated[datetime, BeforeValidator(lambda given: _read_moment(given, zone=False))]
"""A moment of a service that writes UTC without saying so."""


def today(settings: Settings) -> date:
    """Return the day that counts as today. Only for use within a call: a replay has no clock."""
    return settings.as_of or datetime.now(UTC).date()


def midnight(day: date) -> datetime:
    """Return the beginning of a day, UTC."""
    return datetime.combine(day, time(), UTC)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of whole days, UTC, the first and the last included."""

    first: date
    """The first day."""
    last: date
    """The last day."""

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.last - self.first).days + 1

    @property
    def before(self) -> Span:
        """The span of as many days just before."""
        return Span(self.first - timedelta(self.days), self.first - timedelta(1))

    def __contains__(self, day: date) -> bool:
        """Whether a day is in the span."""
        return self.first <= day <= self.last

    def __str__(self) -> str:
        """Return the span in words: 2026-11-05 to 2026-11-11."""
        return f"{self.first} to {self.last}" if self.days > 1 else str(self.first)

    def every(self) -> list[date]:
        """Return each day of the span."""
        return [self.first + timedelta(number) for number in range(self.days)]


class AskedDays(BaseModel):
    """The days that a service was asked for, and when it was asked.

    Journalled with the answer, because a replay has no clock.
    """

    first: date
    last: date
    at: datetime

    @property
    def span(self) -> Span:
        """The days."""
        return Span(self.first, self.last)

    @property
    def note(self) -> str:
        """NOT_OVER if the last day was still going on; otherwise empty."""
        return NOT_OVER if self.at.date() <= self.last else ""
