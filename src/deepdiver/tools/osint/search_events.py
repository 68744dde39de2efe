"""Events: reports on crises and disasters (ReliefWeb) and earthquakes (USGS)."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.text import terms
from deepdiver.gateway import Gateway
from deepdiver.tools.osint import reliefweb, usgs
from deepdiver.tools.osint.arguments import (
    CountryCode,
    Keywords,
    Latitude,
    Longitude,
    Period,
    RadiusKm,
)
from deepdiver.tools.osint.asking import side_by_side
from deepdiver.tools.osint.feed import Answer, Arguments, IntelligenceType, Told

_OF_EARTHQUAKES = frozenset(
    terms("earthquake quake aftershock seismic seismicity tremor tsunami magnitude epicentre")
)
"""Keywords of which the catalogue of earthquakes knows something."""


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
    def of_reports(self) -> bool:
        """Whether reports are meant: they have subjects and countries, and no positions."""
        return bool(self.keywords or self.country_code)

    @property
    def of_earthquakes(self) -> bool:
        """Whether earthquakes are meant.

        Around a place, from a magnitude, by a word; or of a time and nothing else.
        """
        if self.latitude is not None or self.min_magnitude is not None:
            return True
        if self.keywords:
            return not _OF_EARTHQUAKES.isdisjoint(terms(" ".join(self.keywords)))
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
        """Nothing is needed: without an appname of ReliefWeb's there are the earthquakes."""
        return None

    async def ask(self, args: EventArguments, gateway: Gateway) -> Told:
        """Ask those services that know something of what is asked, side by side."""
        asked: dict[str, Coroutine[Any, Any, Answer]] = {}
        lines: list[str] = []
        if args.of_earthquakes:
            place = None
            if args.latitude is not None and args.longitude is not None:
                place = (args.latitude, args.longitude, args.radius_km)
            asked["USGS"] = usgs.earthquakes(args, place, args.min_magnitude, gateway)
        if args.of_reports:
            words = " ".join(args.keywords or ())
            asked["ReliefWeb"] = reliefweb.reports(
                args, words, args.country_code or "", lines, gateway
            )
        answers, failures = await side_by_side(asked)
        return Told(answers=tuple(answers.values()), failures=(*failures, *lines))


FEED = SearchEvents()
