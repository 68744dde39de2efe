"""Arguments that feeds share.

What a service would refuse or misread is refused here, before any call.

Reasoners give everything as strings: "49.99", "7", "Kharkiv, strikes". They are read as what they
mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import STOPWORDS, words
from deepdiver.tools.osint.countries import code_of
from deepdiver.tools.osint.feed import Arguments

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2100, 12, 31)
"""Days that a feed may be asked for: beyond them no service has anything, and calculating would
leave the calendar."""
MOST_DAYS = 366
"""Days that may be asked for at once: a year, and the year before it to compare with."""
MOST_KEYWORDS, LONGEST_KEYWORD = 12, 80
"""No service takes more, and nobody means more."""


def _day(given: Any) -> Any:
    """Refuse what pydantic would take for seconds since 1970, such as 20261111."""
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


def _country(given: Any) -> str:
    """Return the code of a country that is given by its code or by its name."""
    text = str(given).strip()
    if code := code_of(text):
        return code
    raise ValueError(f"there is no country {text.upper() if len(text) <= 3 else text[:60]}")


def _asn(given: Any) -> Any:
    """Read AS3255 as 3255."""
    return (
        re.sub(r"^\s*AS[N ]?\s*(?=\d)", "", given, flags=re.IGNORECASE)
        if isinstance(given, str)
        else given
    )


def listed(given: Any) -> Any:
    """Part a list that is given as one string: "Kharkiv, strikes"."""
    parts = re.split(r"[,;\n]", given) if isinstance(given, str) else given
    if isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts):
        return tuple(clean for part in parts if (clean := " ".join(part.split())))
    return parts


def _with_content(keywords: tuple[str, ...]) -> tuple[str, ...]:
    if not any(word not in STOPWORDS for keyword in keywords for word in words(keyword)):
        raise ValueError("they hold no word to search for")
    return keywords


Latitude = Annotated[float, Field(ge=-90, le=90)]
"""Degrees, north positive."""
Longitude = Annotated[float, Field(ge=-180, le=180)]
"""Degrees, east positive."""
RadiusKm = Annotated[float, Field(gt=0, le=500)]
"""Kilometres around a position."""
Days = Annotated[int, Field(ge=1, le=10)]
"""Days back from today, as satellite services have them."""
ManyDays = Annotated[int, Field(ge=1, le=MOST_DAYS)]
"""Days back from today, as archives have them."""
Day = Annotated[date, BeforeValidator(_day)]
"""A day, UTC."""
CountryCode = Annotated[str, BeforeValidator(_country)]
"""ISO 3166-1 alpha-2, in capitals; a name is read as its code."""
Asn = Annotated[int, BeforeValidator(_asn), Field(ge=1, le=4_294_967_294)]
"""Number of a network (autonomous system); AS3255 is read as 3255."""
Keywords = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=LONGEST_KEYWORD)], ...],
    BeforeValidator(listed),
    Field(min_length=1, max_length=MOST_KEYWORDS),
    AfterValidator(_with_content),
]
"""Words to search for, as a list or parted by commas."""


def today(settings: Settings) -> date:
    """Return the day that counts as today. Only for use within a call: a replay knows no clock."""
    return settings.as_of or datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class Span:
    """Whole days, UTC, the first and the last included."""

    first: date
    """The first."""
    last: date
    """The last."""

    @property
    def days(self) -> int:
        """How many they are."""
        return (self.last - self.first).days + 1

    @property
    def before(self) -> Span:
        """As many days, just before."""
        return Span(self.first - timedelta(self.days), self.first - timedelta(1))

    def __contains__(self, day: date) -> bool:
        """Whether a day is one of them."""
        return self.first <= day <= self.last

    def __str__(self) -> str:
        """Say them: 2026-11-05 to 2026-11-11."""
        return f"{self.first} to {self.last}" if self.days > 1 else str(self.first)

    def every(self) -> list[date]:
        """Return each of them."""
        return [self.first + timedelta(number) for number in range(self.days)]


class Period(Arguments):
    """Base of arguments with a stretch of time.

    `since` and `until`, or so many `days` that end today or on `until`.
    """

    since: Day | None = None
    """First day, as 2026-11-05."""
    until: Day | None = None
    """Last day, as 2026-11-11; without it today."""
    days: ManyDays | None = None
    """Instead of since: how many days, the last included."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.days:
            raise ValueError("give since or days, not both")
        if self.since and self.until and self.since > self.until:
            raise ValueError("since is later than until")
        if self.since and self.until and (self.until - self.since).days >= MOST_DAYS:
            raise ValueError(f"since and until are more than {MOST_DAYS} days apart")
        return self

    @property
    def timed(self) -> bool:
        """Whether any time is given."""
        return bool(self.since or self.until or self.days)

    def span(self, today: date, usual: int) -> Span:
        """Return the days that are meant, MOST_DAYS at most.

        Args:
            today: The day that counts as today.
            usual: How many days where nothing is said.
        """
        if self.since:
            latest = self.since + timedelta(MOST_DAYS - 1)
            return Span(self.since, self.until or min(max(today, self.since), latest))
        last = self.until or today
        return Span(last - timedelta((self.days or usual) - 1), last)

    def asked_days(self, settings: Settings) -> dict[str, Any]:
        """Return the time as it belongs into a request's payload.

        As it was given, whatever today is.
        """
        given = self.model_dump(mode="json", include={"since", "until", "days"}, exclude_none=True)
        return given | ({"as_of": settings.as_of.isoformat()} if settings.as_of else {})
