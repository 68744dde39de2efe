"""IODA, of Georgia Tech: outages of countries and networks, and the signals that it sees them in.

No key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from statistics import median
from typing import Annotated, Any, TypeVar

from pydantic import Field, FiniteFloat

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, shaped, user_agent
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Period, Span, today
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, IntelligenceType, Row, or_failure
from deepdiver.tools.osint.outages import (
    KEPT,
    USUAL_DAYS,
    Counted,
    Outside,
    Whom,
    count,
    lasted,
    midnight,
)

SERVICE = "ioda"
DEFAULT_URL = "https://api.ioda.inetintel.cc.gatech.edu/v2"
ADVICE = "it refuses this machine for now"
POINTS = 2_016
"""Points of a signal that it is asked for at most (`maxPoints`): a week in steps of five minutes.
"""
MOST_EVENTS = 1_000
"""Events that it is asked for at most; some countries have a hundred in a week."""
LOW = {"bgp": 0.95, "ping-slash24": 0.8}
"""Below which part of its own median a signal is low. Both count networks that hold still by day
and by night: routes that are announced, and blocks that answer. IODA itself warns below 0.99 and
0.8; of routes one in a hundred comes and goes. The other signals follow the day, and every night
would be an outage: their levels are told alone."""
LASTING = 1_800
"""Seconds for which it must be low to be a row: three rounds of probing, so that one lost round is
none."""
SIGNALS = {
    "bgp": "networks announced by BGP",
    "ping-slash24": "networks that answer probes",
    "merit-nt": "background noise at a telescope",
    "gtr": "traffic to Google",
}
"""The signals that are told, in words. Losses and latencies are no levels."""

Time = Annotated[int, Field(gt=0, lt=1 << 33)]
"""Seconds since 1970."""
Name = Annotated[str, Field(max_length=60)]


class Event(Outside):
    """An outage by IODA's own names, in the format `codf`, which is its usual one."""

    location: str
    start: Time
    duration: Annotated[int, Field(ge=0, lt=1 << 31)]
    """Seconds."""
    datasource: Name
    score: FiniteFloat
    """How far it fell times how long that lasted."""
    method: Name | None = None

    @property
    def end(self) -> int:
        """When it ended, seconds since 1970."""
        return self.start + self.duration


class Events(Outside):
    """Its answer on events."""

    data: list[Event]
    error: Any = None
    """What went wrong on its side; comes with status 200."""


class Series(Outside):
    """A signal, by its own names. The values of some are tables; those are not read."""

    datasource: Name
    subtype: Name | None = None
    start: Annotated[Time, Field(alias="from")]
    step: Annotated[int, Field(gt=0, le=86_400 * 31)]
    values: list[Annotated[FiniteFloat, Field(strict=True)] | list[Any] | dict[str, Any] | None]

    def points(self) -> list[tuple[int, float | None]]:
        """Return the times and values; nothing where they are no numbers, or none is there."""
        points = [
            (self.start + place * self.step, value)
            for place, value in enumerate(self.values)
            if value is None or isinstance(value, float)
        ]
        known = len(points) == len(self.values) and any(value is not None for _, value in points)
        return points if known else []


class Signals(Outside):
    """Its answer on signals: a list for each entity that was asked about."""

    data: list[list[Series]]
    error: Any = None


class Drop(Outside):
    """A time in which a signal was low."""

    datasource: str
    start: int
    end: int
    lowest: float
    median: float


class Level(Outside):
    """How a signal stood in the period."""

    datasource: str
    subtype: str
    last: float
    lowest: float
    lowest_at: int
    median: float
    """Of the period and the one before."""


class Outages(Counted):
    """What is journalled of the events."""

    events: list[Event]
    """Those that reach into the period, the newest."""


class Levels(Outside):
    """What is journalled of the signals."""

    first: date
    last: date
    drops: list[Drop]
    """The newest."""
    total: int
    """How many there were."""
    levels: list[Level]


async def connectivity(args: Period, whom: Whom, lines: list[str], gateway: Gateway) -> Answer:
    """Return outages, and how the signals stood against their own medians.

    Args:
        args: Say which days.
        whom: Whose.
        lines: Gets a line if one of both could not be had.
        gateway: The run's door.

    Raises:
        GatewayError: If there is no answer.
    """
    outages, levels = await asyncio.gather(
        or_failure(_outages(args, whom, gateway)), or_failure(_levels(args, whom, gateway))
    )
    if isinstance(outages, GatewayError):
        if isinstance(levels, GatewayError):
            raise outages
        lines.append(f"IODA's outages failed: {outages}")
        return _answer(whom, None, levels, gateway.settings)
    if isinstance(levels, GatewayError):
        lines.append(f"IODA's signals failed: {levels}")
        return _answer(whom, outages, None, gateway.settings)
    return _answer(whom, outages, levels, gateway.settings)


async def _outages(args: Period, whom: Whom, gateway: Gateway) -> Outages:
    settings = gateway.settings

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        params = {"entityType": whom.kind, "entityCode": whom.code, "limit": str(MOST_EVENTS)}
        answer = await _asked(Events, "outages/events", params, span, settings)
        events = [event for event in answer.data if event.location == f"{whom.kind}/{whom.code}"]
        days = [datetime.fromtimestamp(event.start, UTC).date() for event in events]
        start = midnight(span.first).timestamp()
        reaching = [
            event
            for event, day in zip(events, days, strict=True)
            if event.end >= start and day <= span.last
        ]
        newest = sorted(reaching, key=lambda event: (-event.start, event.datasource, -event.score))[
            :KEPT
        ]
        counted = count(days, len(reaching), span, len(answer.data) >= MOST_EVENTS)
        return Reply(Outages(**counted, events=newest).model_dump(mode="json"))

    request = Request(
        "feed", SERVICE, f"internet outages of {whom.name}", whom.payload("outages", args, settings)
    )
    return Outages.model_validate((await gateway.call(request, do)).value)


async def _levels(args: Period, whom: Whom, gateway: Gateway) -> Levels:
    settings = gateway.settings

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        path = f"signals/raw/{whom.kind}/{whom.code}"
        answer = await _asked(Signals, path, {"maxPoints": str(POINTS)}, span, settings)
        told = [series for some in answer.data for series in some if series.datasource in SIGNALS]
        start = int(midnight(span.first).timestamp())
        drops = [drop for series in told for drop in drops_of(series) if drop.end > start]
        found = Levels(
            first=span.first,
            last=span.last,
            drops=sorted(drops, key=lambda drop: (-drop.start, drop.datasource))[:KEPT],
            total=len(drops),
            levels=[level for series in told if (level := level_of(series, start))],
        )
        return Reply(found.model_dump(mode="json"))

    request = Request(
        "feed", SERVICE, f"internet signals of {whom.name}", whom.payload("signals", args, settings)
    )
    return Levels.model_validate((await gateway.call(request, do)).value)


Form = TypeVar("Form", Events, Signals)


async def _asked(
    form: type[Form], path: str, params: dict[str, str], span: Span, settings: Settings
) -> Form:
    """Ask for the period and the one before, in seconds since 1970.

    The end of a day that is not over lies ahead.
    """
    end = min(midnight(span.last + timedelta(1)), datetime.now(UTC))
    start = midnight(span.before.first)
    times = {"from": str(int(start.timestamp())), "until": str(int(max(end, start).timestamp()))}
    with advised(ADVICE):
        raw = await ask_json(
            SERVICE,
            f"{_base(settings)}/{path}",
            params=params | times,
            headers=user_agent(settings),
        )
    answer = shaped(SERVICE, form, raw)
    if answer.error:
        raise CallError("ioda reports an error of its own", CallFault.SERVER)
    return answer


def _base(settings: Settings) -> str:
    return settings.urls.get(SERVICE, DEFAULT_URL).rstrip("/")


def drops_of(series: Series) -> list[Drop]:
    """Return when a signal was low for long enough.

    Where a value is missing nothing is known, and a drop ends.
    """
    points = series.points()
    if not points or series.datasource not in LOW:
        return []
    usual = median(value for _, value in points if value is not None)
    drops: list[Drop] = []
    low: list[tuple[int, float]] = []
    for at, value in [*points, (points[-1][0] + series.step, None)]:
        if value is not None and value < LOW[series.datasource] * usual:
            low.append((at, value))
            continue
        if low and low[-1][0] + series.step - low[0][0] >= LASTING:
            lowest = min(value for _, value in low)
            end = low[-1][0] + series.step
            drops.append(
                Drop(
                    datasource=series.datasource,
                    start=low[0][0],
                    end=end,
                    lowest=lowest,
                    median=usual,
                )
            )
        low = []
    return drops


def level_of(series: Series, start: int) -> Level | None:
    """Return how a signal stood from a time on.

    None where nothing is known, or nothing is usual.
    """
    points = [(at, value) for at, value in series.points() if value is not None]
    now = [(at, value) for at, value in points if at >= start]
    usual = median(value for _, value in points) if points else 0.0
    if not now or usual <= 0:
        return None
    at, lowest = min(now, key=lambda point: (point[1], point[0]))
    return Level(
        datasource=series.datasource,
        subtype=series.subtype or "",
        last=now[-1][1],
        lowest=lowest,
        lowest_at=at,
        median=usual,
    )


def _answer(
    whom: Whom, outages: Outages | None, levels: Levels | None, settings: Settings
) -> Answer:
    known = outages or levels
    span = Span(known.first, known.last) if known else None
    events = outages.events if outages else []
    # An event tells of the drop that it was seen in: what is told once is not listed twice.
    drops = [
        drop
        for drop in (levels.drops if levels else [])
        if not any(_same(drop, event) for event in events)
    ]
    rows = [
        *(_event_row(event, events, whom) for event in events),
        *(_drop_row(drop, whom) for drop in drops),
    ]
    told = [outages.summary("IODA", whom)] if outages else []
    told += [_levels_told(levels.levels, whom)] if levels else []
    summary = "; ".join(part for part in told if part)
    return Answer(
        service="IODA",
        url=f"{_base(settings)}/outages/events?entityType={whom.kind}&entityCode={whom.code}",
        title=f"Internet connectivity of {whom.name}, {span}",
        kind=IntelligenceType.CONNECTIVITY,
        publisher_kind="university",
        rows=tuple(sorted(rows, key=lambda row: row.when, reverse=True)[:MOST_ROWS]),
        total=(outages.total if outages else 0) + len(drops),
        summary=f"{summary}." if summary else "",
        note=f"IODA may have more than the {MOST_EVENTS:,} events that it was asked for"
        if outages and outages.cut
        else "",
    )


def _same(drop: Drop, event: Event) -> bool:
    return drop.datasource == event.datasource and _overlap(drop.start, drop.end, event)


def _overlap(start: int, end: int, event: Event) -> bool:
    return start < event.end + 1 and event.start < end + 1


def _when(seconds: int) -> str:
    return telling.utc(datetime.fromtimestamp(seconds, UTC))


def _signal(name: str) -> str:
    return (
        f"{telling.one_line(name)} ({SIGNALS[name]})" if name in SIGNALS else telling.one_line(name)
    )


def _event_row(event: Event, events: Iterable[Event], whom: Whom) -> Row:
    when = _when(event.start)
    seen_too = any(
        _overlap(event.start, event.end, other)
        for other in events
        if other.datasource != event.datasource
    )
    sentence = (
        f"{telling.clock(when)}: IODA saw an internet outage begin in {whom.name} in its signal "
        f"{_signal(event.datasource)}, which lasted {lasted(event.duration)} and has a score of "
        f"{telling.number(event.score)}."
    )
    return Row(
        sentence=sentence,
        data=event.model_dump(mode="json", exclude_none=True),
        when=when,
        place=whom.name,
        confidence="high" if seen_too else "medium",
        publisher="IODA",
    )


def _drop_row(drop: Drop, whom: Whom) -> Row:
    when = _when(drop.start)
    low = telling.number(round(LOW[drop.datasource] * 100, 1))
    sentence = (
        f"{telling.clock(when)}: IODA's signal {_signal(drop.datasource)} in {whom.name} fell "
        f"below {low} % of its "
        f"median of {telling.number(drop.median)} for {lasted(drop.end - drop.start)}, down to "
        f"{telling.number(drop.lowest)} ({_part(drop.lowest, drop.median)})."
    )
    data = drop.model_dump(mode="json")
    return Row(
        sentence=sentence,
        data=data,
        when=when,
        place=whom.name,
        confidence="medium",
        publisher="IODA",
    )


def _part(value: float, whole: float) -> str:
    return f"{telling.number(round(100 * value / whole, 1))} %"


def _levels_told(levels: Sequence[Level], whom: Whom) -> str:
    """Tell how each signal stood last and at its lowest, against its median over the period and the one before."""
    told = [
        f"{_signal(level.datasource)} last {_part(level.last, level.median)} and at its lowest "
        f"{_part(level.lowest, level.median)}, at {telling.clock(_when(level.lowest_at))}"
        for level in levels
    ]
    return f"signals of {whom.name} against their own medians: {'; '.join(told)}" if told else ""
