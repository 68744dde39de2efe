"""NASA FIRMS: the pixels in which satellites saw heat, as tables of its area API.

It needs a key (FIRMS_MAP_KEY).
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import ask_text
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.boxes import boxes_around
from deepdiver.tools.osint.thermal.arguments import ThermalArguments
from deepdiver.tools.osint.thermal.sightings import Detection, within_circle
from deepdiver.tools.osint.times import Day, Span, today

SERVICE = "firms"
DEFAULT_URL = "https://firms.modaps.eosdis.nasa.gov"
DAYS_AT_ONCE = 5
"""Days of one request. Since 2025 the area API answers more with "Invalid day range. Expects
[1..5]"."""
INSTRUMENTS = {
    "VIIRS_SNPP": "VIIRS on Suomi NPP",
    "VIIRS_NOAA20": "VIIRS on NOAA-20",
    "VIIRS_NOAA21": "VIIRS on NOAA-21",
    "MODIS": "MODIS on Terra and Aqua",
}
"""The instruments, as the API names them without the product."""
STANDARD = frozenset({"VIIRS_SNPP", "VIIRS_NOAA20", "MODIS"})
"""The instruments that have a standard product (_SP) besides the one in near real time (_NRT). It
follows some months later, replaces that one, and has a type for each pixel."""
RECENT_DAYS = 60
"""Days for which there is certainly nothing but near real time; older ones are asked for in both
products."""
MOST_PIXELS = 2_000
"""Pixels of one request that are kept, the strongest, because what stays hot is judged by their
places. A circle of 50 km has a few dozen; one of 500 km in the fire season has more."""
_CONFIDENCE = {"l": "low", "n": "nominal", "h": "high"}
_OTHER_COLUMN_NAMES = {
    "bright_ti4": "brightness",
    "bright_ti5": "background",
    "bright_t31": "background",
}
"""Columns that the instruments name differently."""


class FirmsPixel(BaseModel):
    """A line of a table, as far as it is used."""

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
        """Return the pixel as it is journalled."""
        return Detection(
            latitude=self.latitude,
            longitude=self.longitude,
            acq_date=self.acq_date.isoformat(),
            acq_time=self.acq_time.zfill(4),
            satellite=self.satellite,
            instrument=self.instrument,
            confidence=_CONFIDENCE.get(self.confidence, self.confidence),
            brightness=self.brightness,
            background=self.background,
            frp=self.frp,
            daynight=self.daynight,
            type=self.type,
        )


_COLUMNS = frozenset(FirmsPixel.model_fields) - {"type"}


class FirmsPixels(BaseModel):
    """The pixels of one request, as they are journalled."""

    first: date
    last: date
    pixels: int
    """How many pixels are within the circle."""
    kept: list[Detection]
    """The strongest of them, MOST_PIXELS at most."""


@dataclass(frozen=True, slots=True)
class InstrumentView:
    """The pixels that one instrument saw in a period."""

    span: Span
    """The days."""
    kept: tuple[Detection, ...]
    """The pixels."""
    left_out: int
    """How many pixels were left out because there were too many."""


async def ask_instrument(
    args: ThermalArguments, instrument: str, before: bool, gateway: Gateway
) -> InstrumentView:
    """Ask for the pixels of one instrument, in the days asked for or in as many before.

    One request follows the other: FIRMS's limit lets no more through at a time.
    """
    parts = [
        await _ask(args, instrument, before, part, box, gateway)
        for part in range(-(-args.days // DAYS_AT_ONCE))
        for box in boxes_around(args.centre, args.radius_km)
    ]
    span = Span(min(part.first for part in parts), max(part.last for part in parts))
    pixels = (pixel for part in parts for pixel in part.kept)
    kept = within_circle(pixels, args.centre, args.radius_km)
    return InstrumentView(span, tuple(kept), sum(part.pixels - len(part.kept) for part in parts))


async def _ask(
    args: ThermalArguments, instrument: str, before: bool, part: int, box: str, gateway: Gateway
) -> FirmsPixels:
    settings = gateway.settings
    payload = args.model_dump(mode="json", exclude={"min_confidence"}, exclude_none=True)
    payload |= {"source": instrument, "area": box, "part": part, "before": before}
    payload |= {"as_of": settings.as_of.isoformat()} if settings.as_of else {}

    async def do() -> Reply:
        current = today(settings)
        whole = _span(args, current, before)
        first = whole.first + timedelta(part * DAYS_AT_ONCE)
        span = Span(first, min(whole.last, first + timedelta(DAYS_AT_ONCE - 1)))
        found: dict[Detection, None] = {}
        for product in _products(instrument, span, current):
            text = await _ask_table(settings, f"{product}/{box}/{span.days}/{span.first}")
            found |= dict.fromkeys(await asyncio.to_thread(read_table, text, span))
        inside = within_circle(found, args.centre, args.radius_km)
        kept = sorted(inside, key=lambda pixel: pixel.rank)[:MOST_PIXELS]
        pixels = FirmsPixels(first=span.first, last=span.last, pixels=len(inside), kept=kept)
        return Reply(pixels.model_dump(mode="json"))

    place = phrases.degrees(args.latitude, args.longitude)
    what = f"thermal anomalies near {place}, {INSTRUMENTS[instrument]}"
    reply = await gateway.call(Request("feed", SERVICE, what, payload), do)
    return FirmsPixels.model_validate(reply.value)


def _span(args: ThermalArguments, current: date, before: bool) -> Span:
    """Return the days asked for, which end today at the latest, or as many before."""
    last = min(args.until or current, current)
    span = Span(last - timedelta(args.days - 1), last)
    return span.before if before else span


def _products(instrument: str, span: Span, current: date) -> list[str]:
    old = instrument in STANDARD and (current - span.first).days > RECENT_DAYS
    return [f"{instrument}_SP", f"{instrument}_NRT"] if old else [f"{instrument}_NRT"]


async def _ask_table(settings: Settings, path: str) -> str:
    """Ask for a table. The key is in the path, and hidden; FIRMS answers a wrong key by 400."""
    key = quote(settings.key(SERVICE) or "", safe="")
    url = f"{base_url(settings)}/api/area/csv/{key}/{path}"
    return await ask_text(SERVICE, url, refused=(400,), hidden=key)


def base_url(settings: Settings) -> str:
    """Return the address of FIRMS, without a slash at its end."""
    return settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")


def read_table(text: str, span: Span) -> list[Detection]:
    """Return the pixels of a table that were seen on the days asked for.

    A table is read whole or not at all: one with a line that is cut off is refused.

    Raises:
        CallError: If it is something else; refusals come as a sentence with status 200.
    """
    beginning = text[:200].lower()
    if "transaction limit" in beginning:
        raise CallError(
            "firms was asked too often: 5,000 transactions in 10 minutes are allowed",
            CallFault.RATE,
        )
    if "invalid map_key" in beginning:
        raise CallError("firms refused the key: check FIRMS_MAP_KEY", CallFault.AUTH)
    try:
        lines = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
        header = [_OTHER_COLUMN_NAMES.get(name, name) for name in map(str.strip, next(lines, []))]
        if not _COLUMNS.issubset(header):
            raise ValueError("a column is missing")
        pixels = [_pixel(header, line) for line in lines if line]
    except (csv.Error, ValueError):  # a bad value, or a line that is shorter than the header
        raise CallError(
            "firms answered in a form that is not its own", CallFault.MALFORMED
        ) from None
    return [pixel.detection() for pixel in pixels if pixel.acq_date in span]


def _pixel(header: Sequence[str], line: Sequence[str]) -> FirmsPixel:
    fields = {name: value.strip() for name, value in zip(header, line, strict=True)}
    return FirmsPixel.model_validate({name: value for name, value in fields.items() if value})
