"""Thermal anomalies near a place.

Fires, explosions, flares and furnaces as satellites see them (NASA FIRMS).
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from deepdiver.core.settings import Settings
from deepdiver.core.time_and_place import Position, distance_km
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Day, Days, Latitude, Longitude, RadiusKm, Span, today
from deepdiver.tools.osint.asking import side_by_side
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, Arguments, IntelligenceType, Row, Told
from deepdiver.tools.osint.thermal import Detection, Sighting, boxes, near, sightings
from deepdiver.tools.search.http import ask_text

SERVICE = "firms"
DEFAULT_URL = "https://firms.modaps.eosdis.nasa.gov"
AT_ONCE = 5
"""Days of one request. Since 2025 the area API answers more with "Invalid day range. Expects
[1..5]"."""
SOURCES = {
    "VIIRS_SNPP": "VIIRS on Suomi NPP",
    "VIIRS_NOAA20": "VIIRS on NOAA-20",
    "VIIRS_NOAA21": "VIIRS on NOAA-21",
    "MODIS": "MODIS on Terra and Aqua",
}
"""The instruments, as the API names them without the product."""
STANDARD = frozenset({"VIIRS_SNPP", "VIIRS_NOAA20", "MODIS"})
"""Those that have a standard product (_SP) besides the one of near real time (_NRT). It follows
some months later and takes that one's place, with a type to each pixel."""
RECENT_DAYS = 60
"""Days for which near real time is sure to be all there is; older ones are asked for in both
products."""
MOST_PIXELS = 2_000
"""Pixels of one request that are kept, the strongest: what stays hot is judged by their places. A
circle of 50 km has some tens; one of 500 km in the season of fires has more."""
SATELLITES = {"N": "Suomi NPP", "N20": "NOAA-20", "1": "NOAA-20", "N21": "NOAA-21", "2": "NOAA-21"}
LEVELS = ("low", "nominal", "high")
"""How sure the service is. MODIS counts to 100: below 30 is low and from 80 on high, says its
user's guide."""
_WORDS = {"l": "low", "n": "nominal", "h": "high"}


def _level(given: Any) -> Any:
    text = str(given).strip().lower()
    return {"medium": "nominal", **_WORDS}.get(text, text)


class Asked(Arguments):
    """Where and when to look for thermal anomalies."""

    latitude: Latitude
    """Degrees, north positive: 49.99."""
    longitude: Longitude
    """Degrees, east positive: 36.23."""
    radius_km: RadiusKm = 50.0
    """How far around, in kilometres, up to 500."""
    days: Days = 7
    """How many days, the last included, up to 10; as many before are looked at to compare with."""
    until: Day | None = None
    """Last day, as 2026-11-11; without it today."""
    min_confidence: Annotated[Literal["low", "nominal", "high"], BeforeValidator(_level)] = "low"
    """Leave out what the service is less sure of: low, nominal or high."""

    @property
    def centre(self) -> Position:
        """The middle of the circle."""
        return Position(self.latitude, self.longitude)


class Pixel(BaseModel):
    """A line of the CSV, as far as it is used."""

    model_config = ConfigDict(allow_inf_nan=False)

    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]
    acq_date: Day
    acq_time: Annotated[str, Field(pattern=r"^([01]?\d|2[0-3])?[0-5]?\d$")]
    satellite: Annotated[str, Field(min_length=1, max_length=20)]
    instrument: Literal["VIIRS", "MODIS"]
    confidence: Annotated[str, Field(pattern=r"^(l|n|h|low|nominal|high|\d{1,3})$")]
    brightness: float | None = None
    background: float | None = None
    frp: float | None = None
    daynight: Literal["D", "N"]
    type: Annotated[int, Field(ge=0, le=9)] | None = None

    def detection(self) -> Detection:
        """Return it as it is kept."""
        day, time = self.acq_date.isoformat(), self.acq_time.zfill(4)
        said = _WORDS.get(self.confidence, self.confidence)
        return Detection(
            self.latitude,
            self.longitude,
            day,
            time,
            self.satellite,
            self.instrument,
            said,
            self.brightness,
            self.background,
            self.frp,
            self.daynight,
            self.type,
        )


class Seen(BaseModel):
    """What one request brought."""

    first: date
    last: date
    pixels: int
    """Within the circle, all of them."""
    kept: list[Detection]
    """The strongest of these."""


@dataclass(frozen=True, slots=True)
class Look:
    """What one instrument saw in a period."""

    span: Span
    """The days."""
    kept: tuple[Detection, ...]
    """The pixels."""
    left_out: int
    """How many of them were too many, and are not there."""


class DetectThermalAnomalies:
    """Asks for the pixels of each instrument, in the period and in the one before."""

    name = "detect_thermal_anomalies"
    about = (
        "fires, explosions and other hot spots near a place, as satellites saw them in the last "
        "days"
    )
    kind = IntelligenceType.SATELLITE
    arguments = Asked

    def missing(self, settings: Settings) -> str | None:
        """Say that a key is needed, if there is none."""
        return (
            None
            if settings.key(SERVICE)
            else "set FIRMS_MAP_KEY (free: firms.modaps.eosdis.nasa.gov/api/map_key)"
        )

    async def ask(self, args: Asked, gateway: Gateway) -> Told:
        """Ask all instruments at once."""
        asked = {
            f"NASA FIRMS ({title}{', the days before' if before else ''})": _look(
                args, source, before, gateway
            )
            for before in (False, True)
            for source, title in SOURCES.items()
        }
        names = list(asked)
        looks, failures = await side_by_side(asked)
        now, before = (
            {
                source: looks[name]
                for source, name in zip(SOURCES, part, strict=True)
                if name in looks
            }
            for part in (names[: len(SOURCES)], names[len(SOURCES) :])
        )
        if not now:
            raise CallError("; ".join(failures), CallFault.SERVER)
        return Told(answers=(_answer(args, now, before, gateway.settings),), failures=failures)


async def _look(args: Asked, source: str, before: bool, gateway: Gateway) -> Look:
    """Ask for what one instrument saw, one request after the other.

    Their limit lets no more through at a time.
    """
    parts = [
        await _request(args, source, before, part, box, gateway)
        for part in range(-(-args.days // AT_ONCE))
        for box in boxes(args.centre, args.radius_km)
    ]
    span = Span(min(part.first for part in parts), max(part.last for part in parts))
    kept = near((one for part in parts for one in part.kept), args.centre, args.radius_km)
    return Look(span, tuple(kept), sum(part.pixels - len(part.kept) for part in parts))


async def _request(
    args: Asked, source: str, before: bool, part: int, box: str, gateway: Gateway
) -> Seen:
    settings = gateway.settings
    payload = args.model_dump(mode="json", exclude={"min_confidence"}, exclude_none=True)
    payload |= {"source": source, "area": box, "part": part, "before": before}
    payload |= {"as_of": settings.as_of.isoformat()} if settings.as_of else {}

    async def do() -> Reply:
        current = today(settings)
        whole = _span(args, current, before)
        first = whole.first + timedelta(part * AT_ONCE)
        span = Span(first, min(whole.last, first + timedelta(AT_ONCE - 1)))
        found: dict[Detection, None] = {}
        for product in _products(source, span, current):
            path = f"{product}/{box}/{span.days}/{span.first}"
            text = await _csv(settings, path)
            found |= dict.fromkeys(await asyncio.to_thread(_read, text, span))
        within = near(found, args.centre, args.radius_km)
        kept = sorted(within, key=lambda one: one.rank)[:MOST_PIXELS]
        seen = Seen(first=span.first, last=span.last, pixels=len(within), kept=kept)
        return Reply(seen.model_dump(mode="json"))

    what = (
        f"thermal anomalies near {telling.degrees(args.latitude, args.longitude)}, "
        f"{SOURCES[source]}"
    )
    reply = await gateway.call(Request("feed", SERVICE, what, payload), do)
    return Seen.model_validate(reply.value)


def _span(args: Asked, current: date, before: bool) -> Span:
    """Return the days asked for, which do not reach beyond today, or as many before."""
    last = min(args.until or current, current)
    span = Span(last - timedelta(args.days - 1), last)
    return span.before if before else span


def _products(source: str, span: Span, current: date) -> list[str]:
    old = source in STANDARD and (current - span.first).days > RECENT_DAYS
    return [f"{source}_SP", f"{source}_NRT"] if old else [f"{source}_NRT"]


async def _csv(settings: Settings, path: str) -> str:
    """Ask for a table.

    The key stands in the path, and is shown nowhere; 400 is FIRMS's answer to one that is wrong.
    """
    key = quote(settings.key(SERVICE) or "", safe="")
    url = f"{_base(settings)}/api/area/csv/{key}/{path}"
    return await ask_text(SERVICE, url, refused=(400,), hidden=key)


def _base(settings: Settings) -> str:
    return settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")


def _read(text: str, span: Span) -> list[Detection]:
    """Read a table of the days asked for.

    It is read whole or not at all: a line that is cut makes it none.

    Raises:
        CallError: If it is something else; refusals come as a sentence with status 200.
    """
    told = text[:200].lower()
    if "transaction limit" in told:
        raise CallError(
            "firms was asked too often: 5,000 transactions in 10 minutes are allowed",
            CallFault.RATE,
        )
    if "invalid map_key" in told:
        raise CallError("firms refused the key: check FIRMS_MAP_KEY", CallFault.AUTH)
    try:
        lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
        header = [_OTHERWISE.get(name, name) for name in map(str.strip, next(lines, []))]
        if not _COLUMNS.issubset(header):
            raise ValueError("a column is missing")
        pixels = [_pixel(header, line) for line in lines if line]
    except (
        csv.Error,
        ValueError,
    ):  # which a ValidationError is, and what `zip` says of a line that was cut
        raise CallError(
            "firms answered in a form that is not its own", CallFault.MALFORMED
        ) from None
    return [pixel.detection() for pixel in pixels if pixel.acq_date in span]


_COLUMNS = frozenset(Pixel.model_fields) - {"type"}
_OTHERWISE = {
    "bright_ti4": "brightness",
    "bright_ti5": "background",
    "bright_t31": "background",
}
"""What the instruments name differently."""


def _pixel(header: Sequence[str], line: Sequence[str]) -> Pixel:
    fields = {name: value.strip() for name, value in zip(header, line, strict=True)}
    return Pixel.model_validate({name: value for name, value in fields.items() if value})


def _answer(
    args: Asked, now: dict[str, Look], before: dict[str, Look], settings: Settings
) -> Answer:
    span = Span(
        min(look.span.first for look in now.values()), max(look.span.last for look in now.values())
    )
    looks = [*now.values(), *before.values()]
    looked_at = len({day for look in looks for day in look.span.every()})
    found = sightings([one for look in looks for one in look.kept], args.centre, looked_at)
    sure = [
        one
        for one in found
        if LEVELS.index(level_of(one.strongest)) >= LEVELS.index(args.min_confidence)
    ]
    seen = [one for one in sure if date.fromisoformat(one.strongest.acq_date) in span]
    return Answer(
        service="NASA FIRMS",
        url=f"{_base(settings)}/api/area/csv/MAP_KEY/{','.join(now)}/{'/'.join(boxes(args.centre, args.radius_km))}",
        title=f"Thermal anomalies {_circle(args)}, {span}",
        kind=IntelligenceType.SATELLITE,
        rows=tuple(_row(one, args, looked_at) for one in _most_telling(seen)[:MOST_ROWS]),
        total=len(seen),
        summary=_summary(args, span, seen, sure, now.keys(), before.keys()),
        note=_note(args, looks),
    )


def _circle(args: Asked) -> str:
    return (
        f"within {telling.number(args.radius_km)} km of "
        f"{telling.degrees(args.latitude, args.longitude)}"
    )


def _most_telling(seen: Iterable[Sighting]) -> list[Sighting]:
    """Order sightings.

    Persistent ones last, then each day's strongest, the newest day first, then its second.
    """
    days: defaultdict[tuple[bool, str], list[Sighting]] = defaultdict(list)
    for one in seen:
        days[one.persistent, one.strongest.acq_date].append(one)
    ranked = [
        (persistent, rank, -date.fromisoformat(day).toordinal(), one)
        for (persistent, day), those in days.items()
        for rank, one in enumerate(sorted(those, key=lambda one: one.strongest.rank))
    ]
    return [one for *_, one in sorted(ranked, key=lambda entry: entry[:3])]


def _summary(
    args: Asked,
    span: Span,
    seen: Sequence[Sighting],
    sure: Sequence[Sighting],
    now: Iterable[str],
    before: Iterable[str],
) -> str:
    """Count, over all sightings, and against the period before where the same instruments were asked for both."""
    earlier = [one for one in sure if date.fromisoformat(one.strongest.acq_date) in span.before]
    if not seen and not earlier:
        return ""
    both = set(now) == set(before)
    counts = telling.by_day(one.strongest.acq_date for one in seen)
    told = telling.compared(counts, span, len(earlier) if both else None)
    fires, fires_before = (sum(not one.persistent for one in some) for some in (seen, earlier))
    against = f" against {fires_before:,}" if both else ", and the days before are not comparable"
    return (
        f"NASA FIRMS shows {telling.counted(len(seen), 'sighting')} of thermal anomalies "
        f"{_circle(args)} in {told}; "
        f"without probably persistent industrial sources {fires:,}{against}."
    )


def _note(args: Asked, looks: Sequence[Look]) -> str:
    notes = []
    if left_out := sum(look.left_out for look in looks):
        notes.append(
            f"{telling.counted(left_out, 'weak pixel')} of very many are left out of these counts"
        )
    if (
        args.until is None and len({look.span.last for look in looks}) > 2
    ):  # the last of the period, and of the other
        notes.append("parts of it were asked for on different days")
    return "; ".join(notes)


def level_of(one: Detection) -> str:
    """Return how sure the service is: low, nominal or high."""
    if not one.confidence.isdigit():
        return one.confidence
    return "low" if int(one.confidence) < 30 else "nominal" if int(one.confidence) < 80 else "high"


def _row(one: Sighting, args: Asked, looked_at: int) -> Row:
    pixel = one.strongest
    when = telling.utc(pixel.moment)
    km = round(distance_km(pixel.position, args.centre), 1)
    sure = f"{pixel.confidence} of 100" if pixel.confidence.isdigit() else pixel.confidence
    parts = [
        f"{pixel.instrument} on {SATELLITES.get(pixel.satellite, pixel.satellite)} saw a thermal "
        "anomaly at "
        f"{telling.degrees(pixel.latitude, pixel.longitude)}",
        f"{telling.number(km)} km from the centre of the search",
        *(
            [f"fire radiative power {telling.number(pixel.frp)} MW"]
            if pixel.frp is not None
            else []
        ),
        *(
            [f"brightness temperature {telling.number(pixel.brightness)} K"]
            if pixel.brightness is not None
            else []
        ),
        f"confidence {sure}",
        "by day" if pixel.daynight == "D" else "at night",
    ]
    if one.pixels > 1:
        parts.append(f"the strongest of {one.pixels} adjoining pixels")
    told = f"{telling.clock(when)}: {', '.join(parts)}"
    if one.persistent:
        why = (
            "a static source by its type"
            if one.hot_days < 2
            else f"hot on {one.hot_days} of {looked_at} days"
        )
        told += f"; probably a persistent industrial source, {why}"
    level: dict[str, Literal["low", "medium", "high"]] = {
        "low": "low",
        "nominal": "medium",
        "high": "high",
    }
    return Row(
        sentence=f"{told}.",
        data=_data(one, km),
        when=when,
        lat=pixel.latitude,
        lon=pixel.longitude,
        confidence="low" if one.persistent else level[level_of(pixel)],
        publisher="NASA FIRMS",
    )


def _data(one: Sighting, km: float) -> dict[str, Any]:
    pixel = one.strongest._asdict()
    names = (
        ("bright_ti4", "bright_ti5")
        if one.strongest.instrument == "VIIRS"
        else ("brightness", "bright_t31")
    )
    values = (pixel.pop("brightness"), pixel.pop("background"))
    kept = {
        name: value
        for name, value in (pixel | dict(zip(names, values, strict=True))).items()
        if value is not None
    }
    return kept | {
        "distance_km": km,
        "pixels": one.pixels,
        "hot_days": one.hot_days,
        "persistent": one.persistent,
    }


FEED = DetectThermalAnomalies()
