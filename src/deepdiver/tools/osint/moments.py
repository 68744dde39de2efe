"""Moments from outside, as services write them.

In ISO 8601, and within the years in which they can have been.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator

FIRST_YEAR, LAST_YEAR = 1970, 2200
"""Years of a moment: beyond them it is a mistake, and calculating with it might leave the calendar.
"""


def _read(given: Any, zone: bool) -> datetime:
    if not isinstance(given, str | datetime):  # pydantic would take a number for seconds since 1970
        raise ValueError("a moment is written in ISO 8601")
    moment = given if isinstance(given, datetime) else datetime.fromisoformat(given.strip())
    if zone and moment.tzinfo is None:
        raise ValueError("it has no zone")
    if not FIRST_YEAR < moment.year < LAST_YEAR:
        raise ValueError("it is in no year of interest")
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


Zoned = Annotated[datetime, BeforeValidator(lambda given: _read(given, zone=True))]
"""A moment that names its zone, in UTC."""
Unzoned = Annotated[datetime, BeforeValidator(lambda given: _read(given, zone=False))]
"""A moment of a service that writes UTC without saying so."""
