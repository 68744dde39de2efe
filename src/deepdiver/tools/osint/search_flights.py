"""Aircraft in the air now, from the OpenSky Network; no key. For ships there is no keyless service.

Documented at openskynetwork.github.io/opensky-api: `/states/all` within a box gives anonymous
callers the latest state of each aircraft, for 400 credits a day; a box costs 1 to 4 of them by its
size. There is no past: what it says is when it was asked. Its terms allow research and other use
that is not commercial, so it is asked only by those who name this feed in their settings.
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
from deepdiver.tools.osint.arguments import Latitude, Longitude, RadiusKm
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, Arguments, IntelligenceType, Row, Told
from deepdiver.tools.osint.telling import DIGITS, clock, counted, degrees, number, one_line, utc
from deepdiver.tools.osint.thermal import boxes
from deepdiver.tools.search.http import ask_json, shaped
from deepdiver.tools.search.keyless import advised, agent

SERVICE = "opensky"
DEFAULT_URL = "https://opensky-network.org"
ADVICE = "it refuses this machine for now"
USUAL_RADIUS = 100.0
"""Kilometres where no radius is named."""
MOST_COUNTRIES = 10
"""Countries that the summary names, the most frequent."""
KEPT = 200
"""Aircraft that are journalled, the nearest; the counts are over all."""
_FIELDS = (
    "icao24 callsign origin_country time_position last_contact longitude latitude baro_altitude "
    "on_ground velocity "
    "true_track vertical_rate sensors geo_altitude squawk spi position_source"
).split()
"""What a state holds, by its place in the list: 17 values, and 18 where the category was asked for.
"""

Stamp = Annotated[int, Field(ge=0, le=10_000_000_000)]
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


class State(BaseModel):
    """What is known of an aircraft, by the service's own names; metres, and metres a second."""

    icao24: str
    callsign: str | None = None
    origin_country: str | None = None
    time_position: Stamp | None = None
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
        """Where it was; None: not known."""
        if self.latitude is None or self.longitude is None:
            return None
        return Position(round(self.latitude, DIGITS), round(self.longitude, DIGITS))


class Response(BaseModel):
    """OpenSky's answer; without any aircraft, null stands for the list."""

    time: Stamp
    states: list[State] | None


class Found(BaseModel):
    """What is kept of an answer."""

    time: Stamp
    total: int
    on_ground: int
    countries: dict[str, int]
    """How many by the country in which they are registered."""
    nearest: list[State]


class SearchFlights:
    """Looks for aircraft."""

    name = "search_flights"
    about = "aircraft around a place at this moment (OpenSky; not for commercial use)"
    kind = IntelligenceType.EVENT
    arguments: type[Arguments] = FlightArguments

    def missing(self, settings: Settings) -> str | None:
        """It must be asked for by name: its terms are not everybody's."""
        if self.name in settings.feeds:
            return None
        return (
            "OpenSky's terms allow no commercial use; if yours is none, name search_flights in "
            "`feeds`"
        )

    async def ask(self, args: FlightArguments, gateway: Gateway) -> Told:
        """Ask for what flies around a place.

        A circle over the 180th meridian is asked for in two boxes.
        """
        areas = boxes(args.centre, args.radius_km)
        parts = [await _ask(args, area, gateway) for area in areas]
        countries: Counter[str] = Counter()
        for part in parts:
            countries.update(part.countries)
        found = Found(
            time=max(part.time for part in parts),
            total=sum(part.total for part in parts),
            on_ground=sum(part.on_ground for part in parts),
            countries=dict(countries.most_common()),
            nearest=sorted(
                (state for part in parts for state in part.nearest), key=_distance(args)
            ),
        )
        return Told(answers=(_answer(args, found, _url(gateway.settings, areas[0])),))


def _answer(args: FlightArguments, found: Found, url: str) -> Answer:
    moment = clock(utc(datetime.fromtimestamp(found.time, UTC)))
    where = f"within {number(args.radius_km)} km of {degrees(args.latitude, args.longitude)}"
    seen = (
        f"{counted(found.total, 'aircraft', 'aircraft')} {where}, {found.on_ground:,} of them on "
        "the ground"
    )
    homes = ", ".join(
        f"{name}: {many:,}" for name, many in list(found.countries.items())[:MOST_COUNTRIES]
    )
    return Answer(
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


async def _ask(args: FlightArguments, box: str, gateway: Gateway) -> Found:
    settings = gateway.settings

    async def do() -> Reply:
        with advised(ADVICE):
            raw = await ask_json(
                SERVICE, _url(settings), params=_params(box), headers=agent(settings)
            )
        said = shaped(SERVICE, Response, raw)
        inside = [state for state in said.states or [] if _distance(args)(state) <= args.radius_km]
        found = Found(
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
    return Found.model_validate(
        (await gateway.call(Request("feed", SERVICE, what, payload), do)).value
    )


def _params(box: str) -> dict[str, str]:
    west, south, east, north = box.split(",")
    return {"lamin": south, "lomin": west, "lamax": north, "lomax": east}


def _url(settings: Settings, box: str = "") -> str:
    address = f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}/api/states/all"
    return f"{address}?{urlencode(_params(box))}" if box else address


def _distance(args: FlightArguments) -> Callable[[State], float]:
    """Return what says how far an aircraft is, in km; one without a position is nowhere."""
    return lambda state: distance_km(args.centre, state.position) if state.position else math.inf


def _row(state: State, time: int, args: FlightArguments) -> Row | None:
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
