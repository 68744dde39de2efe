"""Feed `search_flights`: aircraft around a place at this moment, from the OpenSky Network.

It needs no key. For ships there is no service without a key.

Documented at openskynetwork.github.io/opensky-api: `/states/all` within a box gives anonymous
callers the latest state of each aircraft. They have 400 credits a day, and a box costs 1 to 4 of
them by its size. There is no past: an answer holds for the moment of the request. The terms allow
research and other non-commercial use, so the feed is asked only if the settings name it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import BaseModel, Field, model_validator

from deepdiver.core.settings import Settings
from deepdiver.core.time_and_place import Position, distance_km
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, shaped, user_agent
from deepdiver.tools.osint.arguments import Latitude, Longitude, RadiusKm
from deepdiver.tools.osint.boxes import boxes_around
from deepdiver.tools.osint.feed import (
    MOST_ROWS,
    Arguments,
    FeedResult,
    IntelligenceType,
    Row,
    ServiceAnswer,
)
from deepdiver.tools.osint.phrases import DIGITS, clock, counted, degrees, number, one_line, utc

SERVICE = "opensky"
DEFAULT_URL = "https://opensky-network.org"
ADVICE = "it refuses this machine for now"
USUAL_RADIUS = 100.0
"""Kilometres if no radius is named."""
MOST_COUNTRIES = 10
"""Countries that the summary names, the most frequent."""
KEPT = 200
"""Aircraft that are journalled, the nearest; all are counted."""
_FIELDS = (
    "icao24 callsign origin_country time_position last_contact longitude latitude baro_altitude "
    "on_ground velocity true_track vertical_rate sensors geo_altitude squawk spi position_source"
).split()
"""The values of a state, in the order of the list: 17, and 18 if the category was asked for."""

UnixTime = Annotated[int, Field(ge=0, le=10_000_000_000)]
"""Seconds since 1970."""
Metres = Annotated[float, Field(ge=-1_000, le=100_000)]


class FlightArguments(Arguments):
    """Where aircraft are looked for."""

    latitude: Latitude
    """Degrees, north positive."""
    longitude: Longitude
    """Degrees, east positive."""
    radius_km: RadiusKm = USUAL_RADIUS
    """Kilometres around."""

    @property
    def centre(self) -> Position:
        """The place."""
        return Position(self.latitude, self.longitude)


class AircraftState(BaseModel):
    """The state of an aircraft, by the service's own names; metres, and metres per second."""

    icao24: str
    callsign: str | None = None
    origin_country: str | None = None
    time_position: UnixTime | None = None
    longitude: Annotated[float, Field(ge=-180, le=180)] | None = None
    latitude: Annotated[float, Field(ge=-90, le=90)] | None = None
    baro_altitude: Metres | None = None
    on_ground: bool = False
    velocity: Annotated[float, Field(ge=0, le=5_000)] | None = None
    true_track: Annotated[float, Field(ge=0, le=360)] | None = None
    squawk: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: Any) -> Any:
        if isinstance(given, list):
            if len(given) < len(_FIELDS):
                raise ValueError("a state has 17 values")
            named = dict(zip(_FIELDS, given, strict=False))
            return {name: value for name, value in named.items() if name in cls.model_fields}
        return given

    @property
    def position(self) -> Position | None:
        """Its position; None if it is not known."""
        if self.latitude is None or self.longitude is None:
            return None
        return Position(round(self.latitude, DIGITS), round(self.longitude, DIGITS))


class OpenSkyResponse(BaseModel):
    """OpenSky's answer; the list is null if there are no aircraft."""

    time: UnixTime
    states: list[AircraftState] | None


class AircraftSeen(BaseModel):
    """The aircraft, as they are journalled."""

    time: UnixTime
    total: int
    on_ground: int
    countries: dict[str, int]
    """How many are registered in each country."""
    nearest: list[AircraftState]


class SearchFlights:
    """Looks for aircraft."""

    name = "search_flights"
    about = "aircraft around a place at this moment (OpenSky; not for commercial use)"
    kind = IntelligenceType.EVENT
    arguments: type[Arguments] = FlightArguments

    def missing(self, settings: Settings) -> str | None:
        """Return a hint at OpenSky's terms unless the settings name this feed."""
        if self.name in settings.feeds:
            return None
        return (
            "OpenSky's terms do not allow commercial use; if yours is not, name search_flights in "
            "`feeds`"
        )

    async def ask(self, args: FlightArguments, gateway: Gateway) -> FeedResult:
        """Ask for the aircraft around a place, in two boxes if it is near the 180th meridian."""
        areas = boxes_around(args.centre, args.radius_km)
        parts = [await _ask(args, area, gateway) for area in areas]
        countries: Counter[str] = Counter()
        for part in parts:
            countries.update(part.countries)
        found = AircraftSeen(
            time=max(part.time for part in parts),
            total=sum(part.total for part in parts),
            on_ground=sum(part.on_ground for part in parts),
            countries=dict(countries.most_common()),
            nearest=sorted(
                (state for part in parts for state in part.nearest), key=_distance(args)
            ),
        )
        return FeedResult(answers=(_answer(args, found, _url(gateway.settings, areas[0])),))


def _answer(args: FlightArguments, found: AircraftSeen, url: str) -> ServiceAnswer:
    moment = clock(utc(datetime.fromtimestamp(found.time, UTC)))
    where = f"within {number(args.radius_km)} km of {degrees(args.latitude, args.longitude)}"
    seen = (
        f"{counted(found.total, 'aircraft', 'aircraft')} {where}, {found.on_ground:,} of them on "
        "the ground"
    )
    homes = ", ".join(
        f"{name}: {many:,}" for name, many in list(found.countries.items())[:MOST_COUNTRIES]
    )
    return ServiceAnswer(
        service="OpenSky Network",
        url=url,
        title=f"aircraft {where}, {moment}",
        kind=IntelligenceType.EVENT,
        publisher_kind="organisation",
        rows=tuple(
            row for state in found.nearest[:MOST_ROWS] if (row := _row(state, found.time, args))
        ),
        total=found.total,
        summary=f"{moment}: OpenSky saw {seen} (by registration: {homes})." if found.total else "",
        note="Only aircraft are seen that send their position and that a volunteer's receiver "
        "hears.",
    )


async def _ask(args: FlightArguments, box: str, gateway: Gateway) -> AircraftSeen:
    settings = gateway.settings

    async def do() -> Reply:
        with advised(ADVICE):
            raw = await ask_json(
                SERVICE, _url(settings), params=_params(box), headers=user_agent(settings)
            )
        said = shaped(SERVICE, OpenSkyResponse, raw)
        inside = [state for state in said.states or [] if _distance(args)(state) <= args.radius_km]
        found = AircraftSeen(
            time=said.time,
            total=len(inside),
            on_ground=sum(state.on_ground for state in inside),
            countries=dict(
                Counter(one_line(state.origin_country or "unknown", 60) for state in inside)
            ),
            nearest=sorted(inside, key=_distance(args))[:KEPT],
        )
        return Reply(found.model_dump(mode="json"))

    payload = {"box": box, **args.model_dump(mode="json")}
    what = f"aircraft around {degrees(args.latitude, args.longitude)}"
    return AircraftSeen.model_validate(
        (await gateway.call(Request("feed", SERVICE, what, payload), do)).value
    )


def _params(box: str) -> dict[str, str]:
    west, south, east, north = box.split(",")
    return {"lamin": south, "lomin": west, "lamax": north, "lomax": east}


def _url(settings: Settings, box: str = "") -> str:
    address = f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}/api/states/all"
    return f"{address}?{urlencode(_params(box))}" if box else address


def _distance(args: FlightArguments) -> Callable[[AircraftState], float]:
    """Return a function for the distance of an aircraft in km; infinite without a position."""
    return lambda state: distance_km(args.centre, state.position) if state.position else math.inf


def _row(state: AircraftState, time: int, args: FlightArguments) -> Row | None:
    if (position := state.position) is None:
        return None
    when = utc(datetime.fromtimestamp(state.time_position or time, UTC))
    away = round(_distance(args)(state), 1)
    call = one_line(state.callsign or "", 10)
    parts = [
        f"aircraft {call or one_line(state.icao24, 10)} at {degrees(position.lat, position.lon)}"
    ]
    parts.append(f"{number(away)} km from the place asked for")
    if state.on_ground:
        parts.append("on the ground")
    elif state.baro_altitude is not None:
        parts.append(f"at an altitude of {number(state.baro_altitude)} m")
    if state.velocity is not None:
        parts.append(f"{number(state.velocity)} m/s")
    if state.origin_country:
        parts.append(f"registration: {one_line(state.origin_country, 60)}")
    return Row(
        sentence=f"{clock(when)}: {', '.join(parts)} (OpenSky {one_line(state.icao24, 10)}).",
        data={**state.model_dump(exclude_none=True), "distance_km": away},
        when=when,
        lat=position.lat,
        lon=position.lon,
        confidence="high",
        publisher="OpenSky Network",
    )


FEED = SearchFlights()
