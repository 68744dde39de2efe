"""Feed `search_events`: reports on crises and disasters (ReliefWeb) and earthquakes (USGS)."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import terms
from deepdiver.gateway import Gateway
from deepdiver.tools.osint.arguments import (
    CountryCode,
    Keywords,
    Latitude,
    Longitude,
    Period,
    RadiusKm,
)
from deepdiver.tools.osint.events import reliefweb, usgs
from deepdiver.tools.osint.feed import Arguments, FeedResult, IntelligenceType
from deepdiver.tools.osint.services import ask_services

_EARTHQUAKE_TERMS = frozenset(
    terms("earthquake quake aftershock seismic seismicity tremor tsunami magnitude epicentre")
)
"""Keywords that mean earthquakes."""


class EventArguments(Period):
    """What events are searched for."""

    latitude: Latitude | None = None
    """Degrees, north positive: earthquakes around this place."""
    longitude: Longitude | None = None
    """Degrees, east positive."""
    radius_km: RadiusKm | None = None
    """Kilometres around that place; without it 100."""
    country_code: CountryCode | None = None
    """Reports about this country, two letters as UA."""
    keywords: Keywords | None = None
    """Words that must all occur in a report, such as: flood, Beira."""
    min_magnitude: Annotated[float, Field(ge=0, le=10)] | None = None
    """Earthquakes from this magnitude."""

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude come together")
        if self.radius_km is not None and self.latitude is None:
            raise ValueError("radius_km needs latitude and longitude")
        given = (self.latitude, self.country_code, self.keywords, self.min_magnitude)
        if not self.timed and all(one is None for one in given):
            raise ValueError("it needs a place, a country, keywords, a magnitude or a time")
        return self

    @property
    def place(self) -> usgs.Place | None:
        """The place, if one is given."""
        if self.latitude is None or self.longitude is None:
            return None
        return self.latitude, self.longitude, self.radius_km

    @property
    def means_reports(self) -> bool:
        """Whether reports are meant: they have subjects and countries, but no positions."""
        return bool(self.keywords or self.country_code)

    @property
    def means_earthquakes(self) -> bool:
        """Whether earthquakes are meant: by a place, a magnitude, a keyword, or only a time."""
        if self.latitude is not None or self.min_magnitude is not None:
            return True
        if self.keywords:
            return not _EARTHQUAKE_TERMS.isdisjoint(terms(" ".join(self.keywords)))
        return not self.country_code


class SearchEvents:
    """Searches events."""

    name = "search_events"
    about = (
        "reports on crises and disasters by keywords or country, and earthquakes by place, time or "
        "magnitude"
    )
    kind = IntelligenceType.EVENT
    arguments: type[Arguments] = EventArguments

    def missing(self, settings: Settings) -> str | None:
        """Return None: without an appname for ReliefWeb, there are still the earthquakes."""
        return None

    async def ask(self, args: EventArguments, gateway: Gateway) -> FeedResult:
        """Ask the services that can answer, at once."""
        asked: dict[str, Coroutine[Any, Any, FeedResult]] = {}
        if args.means_earthquakes:
            asked["USGS"] = usgs.earthquakes(args, args.place, args.min_magnitude, gateway)
        if args.means_reports:
            words = " ".join(args.keywords or ())
            asked["ReliefWeb"] = reliefweb.reports(args, words, args.country_code or "", gateway)
        return await ask_services(asked)


FEED = SearchEvents()
