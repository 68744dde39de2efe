"""Feed `detect_thermal_anomalies`: fires, explosions, flares and furnaces near a place.

It asks NASA FIRMS for the pixels in which satellites saw heat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Literal

from deepdiver.core.settings import Settings
from deepdiver.core.time_and_place import distance_km
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.boxes import boxes_around
from deepdiver.tools.osint.feed import MOST_ROWS, FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.services import ask_all
from deepdiver.tools.osint.thermal.arguments import LEVELS, ThermalArguments
from deepdiver.tools.osint.thermal.firms import (
    INSTRUMENTS,
    SERVICE,
    InstrumentView,
    ask_instrument,
    base_url,
)
from deepdiver.tools.osint.thermal.sightings import Detection, Sighting, sightings_of
from deepdiver.tools.osint.times import Span

SATELLITES = {"N": "Suomi NPP", "N20": "NOAA-20", "1": "NOAA-20", "N21": "NOAA-21", "2": "NOAA-21"}
CONFIDENCE: Mapping[str, Literal["low", "medium", "high"]] = {
    "low": "low",
    "nominal": "medium",
    "high": "high",
}
"""The confidence of a row for each of FIRMS's levels."""


class DetectThermalAnomalies:
    """Asks for the pixels of each instrument, in the days asked for and in as many before."""

    name = "detect_thermal_anomalies"
    about = (
        "fires, explosions and other hot spots near a place, as satellites saw them in the last "
        "days"
    )
    kind = IntelligenceType.SATELLITE
    arguments = ThermalArguments

    def missing(self, settings: Settings) -> str | None:
        """Return a hint at the key if there is none."""
        if settings.key(SERVICE):
            return None
        return "set FIRMS_MAP_KEY (free: firms.modaps.eosdis.nasa.gov/api/map_key)"

    async def ask(self, args: ThermalArguments, gateway: Gateway) -> FeedResult:
        """Ask for all instruments at once."""
        names = {
            (instrument, before): f"NASA FIRMS ({title}{', the days before' if before else ''})"
            for before in (False, True)
            for instrument, title in INSTRUMENTS.items()
        }
        views, failures = await ask_all(
            {
                name: ask_instrument(args, instrument, before, gateway)
                for (instrument, before), name in names.items()
            }
        )
        now, before = (
            {
                instrument: views[name]
                for (instrument, earlier), name in names.items()
                if earlier is period and name in views
            }
            for period in (False, True)
        )
        if not now:
            raise CallError("; ".join(failures), CallFault.SERVER)
        answer = _answer(args, now, before, gateway.settings)
        return FeedResult(answers=(answer,), failures=failures)


def _answer(
    args: ThermalArguments,
    now: Mapping[str, InstrumentView],
    before: Mapping[str, InstrumentView],
    settings: Settings,
) -> ServiceAnswer:
    span = Span(
        min(view.span.first for view in now.values()), max(view.span.last for view in now.values())
    )
    views = [*now.values(), *before.values()]
    days = len({day for view in views for day in view.span.every()})
    pixels = [pixel for view in views for pixel in view.kept]
    least = LEVELS.index(args.min_confidence)
    sure = [
        sighting
        for sighting in sightings_of(pixels, args.centre, days)
        if LEVELS.index(level_of(sighting.strongest)) >= least
    ]
    seen = [sighting for sighting in sure if sighting.day in span]
    area = "/".join(boxes_around(args.centre, args.radius_km))
    return ServiceAnswer(
        service="NASA FIRMS",
        url=f"{base_url(settings)}/api/area/csv/MAP_KEY/{','.join(now)}/{area}",
        title=f"Thermal anomalies {_circle(args)}, {span}",
        kind=IntelligenceType.SATELLITE,
        rows=tuple(_row(sighting, args, days) for sighting in _most_telling(seen)[:MOST_ROWS]),
        total=len(seen),
        summary=_summary(args, span, seen, sure, comparable=now.keys() == before.keys()),
        note=_note(args, views),
    )


def _circle(args: ThermalArguments) -> str:
    return (
        f"within {phrases.number(args.radius_km)} km of "
        f"{phrases.degrees(args.latitude, args.longitude)}"
    )


def _most_telling(seen: Iterable[Sighting]) -> list[Sighting]:
    """Return sightings in the order of their worth.

    The strongest of each day comes first, newest day first, then the second of each day, and so on;
    persistent sources come last.
    """
    days: defaultdict[tuple[bool, date], list[Sighting]] = defaultdict(list)
    for sighting in seen:
        days[sighting.persistent, sighting.day].append(sighting)
    ranked = [
        (persistent, rank, -day.toordinal(), sighting)
        for (persistent, day), those in days.items()
        for rank, sighting in enumerate(sorted(those, key=lambda one: one.strongest.rank))
    ]
    return [sighting for *_, sighting in sorted(ranked, key=lambda entry: entry[:3])]


def _summary(
    args: ThermalArguments,
    span: Span,
    seen: Sequence[Sighting],
    sure: Sequence[Sighting],
    *,
    comparable: bool,
) -> str:
    """Count the sightings, and those before if the same instruments were asked for both periods."""
    earlier = [sighting for sighting in sure if sighting.day in span.before]
    if not seen and not earlier:
        return ""
    counts = phrases.count_by_day(sighting.day for sighting in seen)
    days = phrases.compared(counts, span, len(earlier) if comparable else None)
    fires, fires_before = (sum(not one.persistent for one in some) for some in (seen, earlier))
    against = (
        f" against {fires_before:,}" if comparable else ", and the days before are not comparable"
    )
    return (
        f"NASA FIRMS shows {phrases.counted(len(seen), 'sighting')} of thermal anomalies "
        f"{_circle(args)} in {days}; "
        f"without probably persistent industrial sources {fires:,}{against}."
    )


def _note(args: ThermalArguments, views: Sequence[InstrumentView]) -> str:
    notes = []
    if left_out := sum(view.left_out for view in views):
        notes.append(
            f"{phrases.counted(left_out, 'weak pixel')} of very many are left out of these counts"
        )
    last_days = {view.span.last for view in views}  # one for each of the two periods
    if args.until is None and len(last_days) > 2:
        notes.append("parts of it were asked for on different days")
    return "; ".join(notes)


def level_of(pixel: Detection) -> str:
    """Return how sure FIRMS is: low, nominal or high.

    MODIS counts to 100: by its user's guide, below 30 is low, and from 80 on is high.
    """
    if not pixel.confidence.isdigit():
        return pixel.confidence
    percent = int(pixel.confidence)
    return "low" if percent < 30 else "nominal" if percent < 80 else "high"


def _row(sighting: Sighting, args: ThermalArguments, days: int) -> Row:
    pixel = sighting.strongest
    when = phrases.utc(pixel.moment)
    km = round(distance_km(pixel.position, args.centre), 1)
    return Row(
        sentence=f"{phrases.clock(when)}: {_sentence(sighting, km, days)}.",
        data=_data(sighting, km),
        when=when,
        lat=pixel.latitude,
        lon=pixel.longitude,
        confidence="low" if sighting.persistent else CONFIDENCE[level_of(pixel)],
        publisher="NASA FIRMS",
    )


def _sentence(sighting: Sighting, km: float, days: int) -> str:
    """Return what was seen, without the time."""
    pixel = sighting.strongest
    satellite = SATELLITES.get(pixel.satellite, pixel.satellite)
    place = phrases.degrees(pixel.latitude, pixel.longitude)
    parts = [
        f"{pixel.instrument} on {satellite} saw a thermal anomaly at {place}",
        f"{phrases.number(km)} km from the centre of the search",
    ]
    if pixel.frp is not None:
        parts.append(f"fire radiative power {phrases.number(pixel.frp)} MW")
    if pixel.brightness is not None:
        parts.append(f"brightness temperature {phrases.number(pixel.brightness)} K")
    sure = f"{pixel.confidence} of 100" if pixel.confidence.isdigit() else pixel.confidence
    parts += [f"confidence {sure}", "by day" if pixel.daynight == "D" else "at night"]
    if sighting.pixels > 1:
        parts.append(f"the strongest of {sighting.pixels} adjoining pixels")
    return ", ".join(parts) + _persistence(sighting, days)


def _persistence(sighting: Sighting, days: int) -> str:
    if not sighting.persistent:
        return ""
    hot = sighting.hot_days
    why = "a static source by its type" if hot < 2 else f"hot on {hot} of {days} days"
    return f"; probably a persistent industrial source, {why}"


def _data(sighting: Sighting, km: float) -> dict[str, Any]:
    """Return the fields of the strongest pixel by FIRMS's own names, and those of the sighting."""
    fields = sighting.strongest._asdict()
    viirs = sighting.strongest.instrument == "VIIRS"
    names = ("bright_ti4", "bright_ti5") if viirs else ("brightness", "bright_t31")
    values = (fields.pop("brightness"), fields.pop("background"))
    fields |= dict(zip(names, values, strict=True))
    return {name: value for name, value in fields.items() if value is not None} | {
        "distance_km": km,
        "pixels": sighting.pixels,
        "hot_days": sighting.hot_days,
        "persistent": sighting.persistent,
    }


FEED = DetectThermalAnomalies()
