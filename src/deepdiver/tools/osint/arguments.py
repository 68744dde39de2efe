"""Arguments that feeds share.

What a service would refuse or misread is refused here, before any call. Reasoners give every
argument as a string ("49.99", "7", "Kharkiv, strikes"), which is read as what it means.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import STOPWORDS, words
from deepdiver.tools.osint.countries import code_of
from deepdiver.tools.osint.feed import Arguments
from deepdiver.tools.osint.times import Day, Span

MOST_DAYS = 366
"""Days that may be asked for at once: a year, and the year before it to compare with."""
MOST_KEYWORDS, LONGEST_KEYWORD = 12, 80
"""No service takes more, and nobody means more."""


def _read_country(given: Any) -> str:
    """Return the code of a country that is given by its code or by its name."""
    text = str(given).strip()
    if code := code_of(text):
        return code
    raise ValueError(f"there is no country {text.upper() if len(text) <= 3 else text[:60]}")


def _read_asn(given: Any) -> Any:
    """Read AS3255 as 3255."""
    return (
        re.sub(r"^\s*AS[N ]?\s*(?=\d)", "", given, flags=re.IGNORECASE)
        if isinstance(given, str)
        else given
    )


def split_list(given: Any) -> Any:
    """Split a list that is given as one string: "Kharkiv, strikes"."""
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
CountryCode = Annotated[str, BeforeValidator(_read_country)]
"""ISO 3166-1 alpha-2, in capitals; a name is read as its code."""
Asn = Annotated[int, BeforeValidator(_read_asn), Field(ge=1, le=4_294_967_294)]
"""Number of a network (autonomous system); AS3255 is read as 3255."""
Keywords = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=LONGEST_KEYWORD)], ...],
    BeforeValidator(split_list),
    Field(min_length=1, max_length=MOST_KEYWORDS),
    AfterValidator(_with_content),
]
"""Words to search for, as a list or separated by commas."""


class Period(Arguments):
    """Base of arguments with a time.

    Either `since` and `until`, or a number of `days` that ends today or on `until`.
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
        """Whether a time is given."""
        return bool(self.since or self.until or self.days)

    def span(self, today: date, usual: int) -> Span:
        """Return the days that are meant, MOST_DAYS at most.

        Args:
            today: The day that counts as today.
            usual: How many days if no time is given.
        """
        if self.since:
            latest = self.since + timedelta(MOST_DAYS - 1)
            return Span(self.since, self.until or min(max(today, self.since), latest))
        last = self.until or today
        return Span(last - timedelta((self.days or usual) - 1), last)

    def asked_days(self, settings: Settings) -> dict[str, Any]:
        """Return the time for a request's payload: as it was given, whatever day today is."""
        given = self.model_dump(mode="json", include={"since", "until", "days"}, exclude_none=True)
        return given | ({"as_of": settings.as_of.isoformat()} if settings.as_of else {})
