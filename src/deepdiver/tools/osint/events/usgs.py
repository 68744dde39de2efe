"""Earthquakes, from the catalogue of the United States Geological Survey. It needs no key.

Documented at earthquake.usgs.gov/fdsnws/event/1: `query` with `format=geojson`; times in
milliseconds since 1970, UTC; coordinates are longitude, latitude and depth in km; at most 20,000
events in an answer.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.core.time_and_place import Position, distance_km
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, shaped, user_agent
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.feed import MOST_ROWS, FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.phrases import (
    DIGITS,
    clock,
    compared,
    count_by_day,
    counted,
    degrees,
    number,
    one_line,
    quoted,
    total_in,
    utc,
)
from deepdiver.tools.osint.times import AskedDays, Span, today

SERVICE = "usgs"
DEFAULT_URL = "https://earthquake.usgs.gov"
MOST_EVENTS = 10_000
"""Events asked for, the newest: half of what the service gives, some 7 MB, and more than any place
has in a year."""
KEPT = 200
"""Events that are journalled, the strongest; the counts are over all."""
WORLD_MAGNITUDE = 4.5
"""The least magnitude if no place is named: below it, the network is far from complete outside the
United States."""
USUAL_RADIUS = 100.0
"""Kilometres around a place if no radius is named."""
USUAL_DAYS = 30
ADVICE = "it refuses this machine for now"

Place = tuple[float, float, float | None]
"""Latitude, longitude, and the radius in kilometres if one is named."""


class UsgsProperties(BaseModel):
    """The properties of an event, by the catalogue's own names."""

    mag: Annotated[float, Field(ge=-5, le=12)] | None = None
    magType: str | None = None
    place: str | None = None
    time: Annotated[int, Field(ge=-10_000_000_000_000, le=10_000_000_000_000)]
    url: str | None = None
    status: str | None = None
    alert: str | None = None
    tsunami: int | None = None
    felt: int | None = None
    type: str | None = None


class UsgsGeometry(BaseModel):
    """Longitude, latitude and depth of an event."""

    coordinates: tuple[
        Annotated[float, Field(ge=-180, le=180)],
        Annotated[float, Field(ge=-90, le=90)],
        Annotated[float, Field(ge=-100, le=7_000)] | None,
    ]


class UsgsFeature(BaseModel):
    """An event."""

    id: str
    properties: UsgsProperties
    geometry: UsgsGeometry

    @property
    def when(self) -> str:
        """The time, UTC."""
        return utc(datetime.fromtimestamp(self.properties.time / 1000, UTC))

    @property
    def strength(self) -> float:
        """Its magnitude, for sorting; an event without one comes last."""
        return -10.0 if self.properties.mag is None else self.properties.mag


class UsgsResponse(BaseModel):
    """The catalogue's answer."""

    type: Literal["FeatureCollection"]
    features: list[UsgsFeature]


class Earthquakes(AskedDays):
    """The earthquakes of a period, as they are journalled."""

    days: dict[str, int]
    """How many events on each day, over the days asked for and as many before."""
    strongest: list[UsgsFeature]
    """The strongest of the days asked for."""
    cut: bool
    """Whether there were more than MOST_EVENTS."""


async def earthquakes(
    args: Period, place: Place | None, magnitude: float | None, gateway: Gateway
) -> FeedResult:
    """Return the earthquakes around a place or of the whole world, and count those before.

    Args:
        args: The days.
        place: The place; None for the whole world.
        magnitude: The least magnitude; None: any around a place, WORLD_MAGNITUDE elsewhere.
        gateway: The gateway of the run.

    Raises:
        GatewayError: If there is no answer.
    """
    settings = gateway.settings
    where = _where(place, magnitude)

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        with advised(ADVICE):
            raw = await ask_json(
                SERVICE,
                _address(settings),
                params=_params(where, span),
                headers=user_agent(settings),
            )
        return Reply(_kept(shaped(SERVICE, UsgsResponse, raw), span).model_dump(mode="json"))

    payload = {**where, **args.asked_days(settings)}
    what = f"earthquakes {_where_text(where)}"
    reply = await gateway.call(Request("feed", SERVICE, what, payload), do)
    found = Earthquakes.model_validate(reply.value)
    centre = Position(place[0], place[1]) if place else None
    total = total_in(found.days, found.span)
    answer = ServiceAnswer(
        service="USGS earthquake catalogue",
        url=f"{_address(settings)}?{urlencode(_params(where, found.span))}",
        title=f"{what}, {found.span}",
        kind=IntelligenceType.EVENT,
        rows=tuple(_row(feature, centre) for feature in found.strongest[:MOST_ROWS]),
        total=total,
        summary=_summary(found, where, total),
        note=_note(found),
    )
    return FeedResult(answers=(answer,))


def _where(place: Place | None, magnitude: float | None) -> dict[str, str]:
    """Return place and magnitude by the service's own names."""
    least = WORLD_MAGNITUDE if magnitude is None and not place else magnitude
    strength = {} if least is None else {"minmagnitude": number(least)}
    if not place:
        return strength
    lat, lon, radius = place
    centre = {
        "latitude": number(lat),
        "longitude": number(lon),
        "maxradiuskm": number(radius or USUAL_RADIUS),
    }
    return centre | strength


def _params(where: dict[str, str], span: Span) -> dict[str, str]:
    """Return the parameters of a request for the days and as many before."""
    days = {"starttime": f"{span.before.first}T00:00:00", "endtime": f"{span.last}T23:59:59"}
    return {"format": "geojson", **where, **days, "orderby": "time", "limit": str(MOST_EVENTS)}


def _address(settings: Settings) -> str:
    return f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}/fdsnws/event/1/query"


def _kept(collection: UsgsResponse, span: Span) -> Earthquakes:
    features = collection.features
    inside = [feature for feature in features if date.fromisoformat(feature.when[:10]) in span]
    return Earthquakes(
        first=span.first,
        last=span.last,
        at=datetime.now(UTC),
        days=count_by_day(feature.when for feature in features),
        strongest=sorted(
            inside, key=lambda feature: (-feature.strength, -feature.properties.time, feature.id)
        )[:KEPT],
        cut=len(features) >= MOST_EVENTS,
    )


def _where_text(where: dict[str, str]) -> str:
    strength = f" of magnitude {where['minmagnitude']} and more" if "minmagnitude" in where else ""
    if "latitude" not in where:
        return f"in the world{strength}"
    centre = degrees(float(where["latitude"]), float(where["longitude"]))
    return f"within {where['maxradiuskm']} km of {centre}{strength}"


def _row(feature: UsgsFeature, centre: Position | None) -> Row:
    said = feature.properties
    lon, lat, depth = feature.geometry.coordinates
    lat, lon = round(lat, DIGITS), round(lon, DIGITS)
    data: dict[str, Any] = {
        "id": feature.id,
        **said.model_dump(exclude_none=True),
        "latitude": lat,
        "longitude": lon,
    }
    parts = [_event(said), f"at {degrees(lat, lon)}"]
    if depth is not None:
        data["depth"] = round(depth, 2)
        parts.append(f"depth {number(data['depth'])} km")
    if centre:
        data["distance_km"] = round(distance_km(centre, Position(lat, lon)), 1)
        parts.append(f"{number(data['distance_km'])} km from the place asked for")
    if said.place:
        parts.append(quoted(said.place))
    status = f", {one_line(said.status, 20)}" if said.status else ""
    return Row(
        sentence=f"{clock(feature.when)}: {', '.join(parts)} (USGS "
        f"{one_line(feature.id, 40)}{status}).",
        data=data,
        when=feature.when,
        lat=lat,
        lon=lon,
        place=one_line(said.place or ""),
        confidence="high" if said.status == "reviewed" else "medium",
        url=said.url or "",
        title=f"{_event(said)}, {one_line(said.place)}" if said.place else _event(said),
        publisher="USGS",
        language="en",
    )


def _event(said: UsgsProperties) -> str:
    """Return what an event is: the catalogue also holds explosions and quarry blasts."""
    kind = one_line(said.type or "earthquake", 40)
    if said.mag is None:
        return f"{kind} of unknown magnitude"
    scale = f" ({one_line(said.magType, 10)})" if said.magType else ""
    return f"{kind} of magnitude {number(said.mag)}{scale}"


def _summary(found: Earthquakes, where: dict[str, str], total: int) -> str:
    before = None if found.cut else total_in(found.days, found.span.before)
    if not total and not before:
        return ""
    days = compared(found.days, found.span, before)
    return f"USGS lists {counted(total, 'event')} {_where_text(where)} from {days}."


def _note(found: Earthquakes) -> str:
    notes = [found.note] if found.note else []
    if found.cut:
        notes.append(f"It lists more than {MOST_EVENTS:,} events; the newest of them are counted.")
    return " ".join(notes)
