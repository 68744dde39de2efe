"""IODA, of Georgia Tech: outages of countries and networks, and the signals that show them.

It needs no key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from statistics import median
from typing import Annotated, Any, TypeVar

from pydantic import Field, FiniteFloat

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, shaped, user_agent
from deepdiver.tools.osint import phrases
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.connectivity.outages import (
    KEPT,
    USUAL_DAYS,
    CountryOrNetwork,
    OutageCounts,
    count_outages,
)
from deepdiver.tools.osint.feed import MOST_ROWS, FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.services import ServiceModel, answer_or_error
from deepdiver.tools.osint.times import Span, midnight, today

SERVICE = "ioda"
DEFAULT_URL = "https://api.ioda.inetintel.cc.gatech.edu/v2"
ADVICE = "it refuses this machine for now"
POINTS = 2_016
"""Points of a signal that are asked for at most (`maxPoints`): a week in steps of five minutes."""
MOST_EVENTS = 1_000
"""Events that are asked for at most; some countries have a hundred in a week."""
LOW = {"bgp": 0.95, "ping-slash24": 0.8}
"""The part of its own median below which a signal is low. Both count networks that are as many by
day as by night: routes that are announced, and blocks that answer. IODA itself warns below 0.99 and
0.8, but one route in a hundred comes and goes. The other signals follow the time of day and would
show an outage every night, so only their levels are reported."""
LASTING = 1_800
"""Seconds for which a signal must be low to become a row: three rounds of probing, so that one lost
round does not count."""
SIGNALS = {
    "bgp": "networks announced by BGP",
    "ping-slash24": "networks that answer probes",
    "merit-nt": "background noise at a telescope",
    "gtr": "traffic to Google",
}
"""The signals that are reported, in words. Losses and latencies are not levels."""

UnixTime = Annotated[int, Field(gt=0, lt=1 << 33)]
"""Seconds since 1970."""
ShortText = Annotated[str, Field(max_length=60)]


class IodaEvent(ServiceModel):
    """An outage, by IODA's own names in its usual format, `codf`."""

    location: str
    start: UnixTime
    duration: Annotated[int, Field(ge=0, lt=1 << 31)]
    """Seconds."""
    datasource: ShortText
    score: FiniteFloat
    """How far the signal fell, times how long that lasted."""
    method: ShortText | None = None

    @property
    def end(self) -> int:
        """When it ended, seconds since 1970."""
        return self.start + self.duration


class IodaEventsResponse(ServiceModel):
    """IODA's answer to a request for events."""

    data: list[IodaEvent]
    error: Any = None
    """An error on IODA's side, which comes with status 200."""


class IodaSeries(ServiceModel):
    """A signal, by IODA's own names. The values of some signals are tables, which are not read."""

    datasource: ShortText
    subtype: ShortText | None = None
    start: Annotated[UnixTime, Field(alias="from")]
    step: Annotated[int, Field(gt=0, le=86_400 * 31)]
    values: list[Annotated[FiniteFloat, Field(strict=True)] | list[Any] | dict[str, Any] | None]

    def points(self) -> list[tuple[int, float | None]]:
        """Return the times and values; empty if they are not numbers, or all are missing."""
        points = [
            (self.start + place * self.step, value)
            for place, value in enumerate(self.values)
            if value is None or isinstance(value, float)
        ]
        known = len(points) == len(self.values) and any(value is not None for _, value in points)
        return points if known else []


class IodaSignalsResponse(ServiceModel):
    """IODA's answer to a request for signals: a list for each entity."""

    data: list[list[IodaSeries]]
    error: Any = None


class SignalDrop(ServiceModel):
    """A time during which a signal was low."""

    datasource: str
    start: int
    end: int
    lowest: float
    median: float


class SignalLevel(ServiceModel):
    """The level of a signal in the period."""

    datasource: str
    subtype: str
    last: float
    lowest: float
    lowest_at: int
    median: float
    """Median of the period and the one before."""


class IodaOutages(OutageCounts):
    """The outages, as they are journalled."""

    events: list[IodaEvent]
    """The newest events that reach into the period."""


class IodaLevels(ServiceModel):
    """The levels and drops of the signals, as they are journalled."""

    first: date
    last: date
    drops: list[SignalDrop]
    """The newest drops."""
    total: int
    """How many drops there were."""
    levels: list[SignalLevel]


async def connectivity(args: Period, subject: CountryOrNetwork, gateway: Gateway) -> FeedResult:
    """Return outages, and the levels of the signals against their own medians.

    If one of the two requests fails, the result has a line for it.

    Args:
        args: The days.
        subject: The country or the network.
        gateway: The gateway of the run.

    Raises:
        GatewayError: If there is no answer.
    """
    outages, levels = await asyncio.gather(
        answer_or_error(_ask_outages(args, subject, gateway)),
        answer_or_error(_ask_levels(args, subject, gateway)),
    )
    failures: list[str] = []
    if isinstance(outages, GatewayError):
        if isinstance(levels, GatewayError):
            raise outages
        failures.append(f"IODA's outages failed: {outages}")
    if isinstance(levels, GatewayError):
        failures.append(f"IODA's signals failed: {levels}")
    answer = _answer(
        subject,
        outages if isinstance(outages, IodaOutages) else None,
        levels if isinstance(levels, IodaLevels) else None,
        gateway.settings,
    )
    return FeedResult(answers=(answer,), failures=tuple(failures))


async def _ask_outages(args: Period, subject: CountryOrNetwork, gateway: Gateway) -> IodaOutages:
    settings = gateway.settings

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        params = {"entityType": subject.kind, "entityCode": subject.code, "limit": str(MOST_EVENTS)}
        answer = await _ask(IodaEventsResponse, "outages/events", params, span, settings)
        events = [
            event for event in answer.data if event.location == f"{subject.kind}/{subject.code}"
        ]
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
        counted = count_outages(days, len(reaching), span, len(answer.data) >= MOST_EVENTS)
        return Reply(IodaOutages(**counted, events=newest).model_dump(mode="json"))

    request = Request(
        "feed",
        SERVICE,
        f"internet outages of {subject.name}",
        subject.payload("outages", args, settings),
    )
    return IodaOutages.model_validate((await gateway.call(request, do)).value)


async def _ask_levels(args: Period, subject: CountryOrNetwork, gateway: Gateway) -> IodaLevels:
    settings = gateway.settings

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        path = f"signals/raw/{subject.kind}/{subject.code}"
        answer = await _ask(IodaSignalsResponse, path, {"maxPoints": str(POINTS)}, span, settings)
        reported = [
            series for some in answer.data for series in some if series.datasource in SIGNALS
        ]
        start = int(midnight(span.first).timestamp())
        drops = [drop for series in reported for drop in drops_of(series) if drop.end > start]
        found = IodaLevels(
            first=span.first,
            last=span.last,
            drops=sorted(drops, key=lambda drop: (-drop.start, drop.datasource))[:KEPT],
            total=len(drops),
            levels=[level for series in reported if (level := level_of(series, start))],
        )
        return Reply(found.model_dump(mode="json"))

    request = Request(
        "feed",
        SERVICE,
        f"internet signals of {subject.name}",
        subject.payload("signals", args, settings),
    )
    return IodaLevels.model_validate((await gateway.call(request, do)).value)


Form = TypeVar("Form", IodaEventsResponse, IodaSignalsResponse)


async def _ask(
    form: type[Form], path: str, params: dict[str, str], span: Span, settings: Settings
) -> Form:
    """Ask for the period and the one before, up to now if the last day is not over."""
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


def drops_of(series: IodaSeries) -> list[SignalDrop]:
    """Return the times during which a signal was low for long enough.

    A missing value ends a drop, because nothing is known then.
    """
    points = series.points()
    if not points or series.datasource not in LOW:
        return []
    usual = median(value for _, value in points if value is not None)
    limit = LOW[series.datasource] * usual
    drops: list[SignalDrop] = []
    for low, run in groupby(points, key=lambda point: point[1] is not None and point[1] < limit):
        if not low:
            continue
        times, values = zip(*run, strict=True)
        end = times[-1] + series.step
        if end - times[0] >= LASTING:
            drops.append(
                SignalDrop(
                    datasource=series.datasource,
                    start=times[0],
                    end=end,
                    lowest=min(values),
                    median=usual,
                )
            )
    return drops


def level_of(series: IodaSeries, start: int) -> SignalLevel | None:
    """Return the level of a signal since a time; None if it is unknown or usually zero."""
    points = [(at, value) for at, value in series.points() if value is not None]
    now = [(at, value) for at, value in points if at >= start]
    usual = median(value for _, value in points) if points else 0.0
    if not now or usual <= 0:
        return None
    at, lowest = min(now, key=lambda point: (point[1], point[0]))
    return SignalLevel(
        datasource=series.datasource,
        subtype=series.subtype or "",
        last=now[-1][1],
        lowest=lowest,
        lowest_at=at,
        median=usual,
    )


def _answer(
    subject: CountryOrNetwork,
    outages: IodaOutages | None,
    levels: IodaLevels | None,
    settings: Settings,
) -> ServiceAnswer:
    known = outages or levels
    span = Span(known.first, known.last) if known else None
    events = outages.events if outages else []
    # An event already reports the drop that it was seen in.
    drops = [
        drop
        for drop in (levels.drops if levels else [])
        if not any(_same(drop, event) for event in events)
    ]
    rows = [
        *(_event_row(event, events, subject) for event in events),
        *(_drop_row(drop, subject) for drop in drops),
    ]
    parts = [outages.summary("IODA", subject)] if outages else []
    parts += [_levels_summary(levels.levels, subject)] if levels else []
    summary = "; ".join(part for part in parts if part)
    return ServiceAnswer(
        service="IODA",
        url=f"{_base(settings)}/outages/events?entityType={subject.kind}&entityCode={subject.code}",
        title=f"Internet connectivity of {subject.name}, {span}",
        kind=IntelligenceType.CONNECTIVITY,
        publisher_kind="university",
        rows=tuple(sorted(rows, key=lambda row: row.when, reverse=True)[:MOST_ROWS]),
        total=(outages.total if outages else 0) + len(drops),
        summary=f"{summary}." if summary else "",
        note=f"IODA may have more than the {MOST_EVENTS:,} events that it was asked for"
        if outages and outages.cut
        else "",
    )


def _same(drop: SignalDrop, event: IodaEvent) -> bool:
    return drop.datasource == event.datasource and _overlap(drop.start, drop.end, event)


def _overlap(start: int, end: int, event: IodaEvent) -> bool:
    return start < event.end + 1 and event.start < end + 1


def _when(seconds: int) -> str:
    return phrases.utc(datetime.fromtimestamp(seconds, UTC))


def _signal(name: str) -> str:
    return (
        f"{phrases.one_line(name)} ({SIGNALS[name]})" if name in SIGNALS else phrases.one_line(name)
    )


def _event_row(event: IodaEvent, events: Iterable[IodaEvent], subject: CountryOrNetwork) -> Row:
    when = _when(event.start)
    seen_too = any(
        _overlap(event.start, event.end, other)
        for other in events
        if other.datasource != event.datasource
    )
    sentence = (
        f"{phrases.clock(when)}: IODA saw an internet outage begin in {subject.name} in its signal "
        f"{_signal(event.datasource)}, which lasted {phrases.duration(event.duration)} and has a "
        f"score of {phrases.number(event.score)}."
    )
    return Row(
        sentence=sentence,
        data=event.model_dump(mode="json", exclude_none=True),
        when=when,
        place=subject.name,
        confidence="high" if seen_too else "medium",
        publisher="IODA",
    )


def _drop_row(drop: SignalDrop, subject: CountryOrNetwork) -> Row:
    when = _when(drop.start)
    low = phrases.number(round(LOW[drop.datasource] * 100, 1))
    sentence = (
        f"{phrases.clock(when)}: IODA's signal {_signal(drop.datasource)} in {subject.name} fell "
        f"below {low} % of its median of {phrases.number(drop.median)} for "
        f"{phrases.duration(drop.end - drop.start)}, down to {phrases.number(drop.lowest)} "
        f"({_part(drop.lowest, drop.median)})."
    )
    data = drop.model_dump(mode="json")
    return Row(
        sentence=sentence,
        data=data,
        when=when,
        place=subject.name,
        confidence="medium",
        publisher="IODA",
    )


def _part(value: float, whole: float) -> str:
    return f"{phrases.number(round(100 * value / whole, 1))} %"


def _levels_summary(levels: Sequence[SignalLevel], subject: CountryOrNetwork) -> str:
    """Return the last and the lowest level of each signal, in percent of its median."""
    percentages = [
        f"{_signal(level.datasource)} last {_part(level.last, level.median)} and at its lowest "
        f"{_part(level.lowest, level.median)}, at {phrases.clock(_when(level.lowest_at))}"
        for level in levels
    ]
    return (
        f"signals of {subject.name} against their own medians: {'; '.join(percentages)}"
        if percentages
        else ""
    )
