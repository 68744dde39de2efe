"""Cloudflare Radar: internet outages that its people record, with their causes.

It needs a token.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from deepdiver.core.settings import Settings
from deepdiver.errors import NotJournalledError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.tools.http import ask_json, shaped, user_agent
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
from deepdiver.tools.osint.services import ServiceModel
from deepdiver.tools.osint.times import ZonedTime, midnight, today

SERVICE = "cloudflare_radar"
DEFAULT_URL = "https://api.cloudflare.com/client/v4"
MOST = 100
"""Outages that are asked for at most; the whole world has some ten in a week."""

ShortText = Annotated[str, Field(max_length=100)]


class RadarCause(ServiceModel):
    """Type and cause of an outage."""

    outageCause: ShortText | None = None
    outageType: ShortText | None = None


class RadarAnnotation(ServiceModel):
    """An outage, by Cloudflare's own names."""

    startDate: ZonedTime
    endDate: ZonedTime | None = None
    """None if it goes on, or if nobody has recorded its end."""
    description: Annotated[str, Field(max_length=20_000)] | None = None
    scope: Annotated[str, Field(max_length=1_000)] | None = None
    eventType: ShortText | None = None
    asns: tuple[int, ...] = ()
    locations: tuple[ShortText, ...] = ()
    outage: RadarCause = RadarCause()

    @property
    def began(self) -> date:
        """The day on which it began, UTC."""
        return self.startDate.date()


class RadarResult(ServiceModel):
    """The contents of an answer."""

    annotations: list[RadarAnnotation]


class RadarResponse(ServiceModel):
    """Cloudflare's answer."""

    success: Literal[True]
    result: RadarResult


class RadarOutages(OutageCounts):
    """The outages, as they are journalled."""

    annotations: list[RadarAnnotation]
    """The newest outages that reach into the period."""


async def outages_if_set(
    args: Period, subject: CountryOrNetwork, gateway: Gateway
) -> FeedResult | None:
    """Return the outages if a token is set; otherwise None.

    A replay has no token: it returns what is in the journal.
    """
    if gateway.mode is Mode.REPLAY:
        try:
            return await outages(args, subject, gateway)
        except NotJournalledError:
            return None
    return await outages(args, subject, gateway) if gateway.settings.key(SERVICE) else None


async def outages(args: Period, subject: CountryOrNetwork, gateway: Gateway) -> FeedResult:
    """Return the outages of a period.

    Raises:
        GatewayError: If there is no answer.
    """
    settings = gateway.settings
    param = "location" if subject.kind == "country" else "asn"

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        params = {
            param: subject.code,
            "dateStart": f"{span.before.first}T00:00:00Z",
            "dateEnd": f"{span.last}T23:59:59Z",
            "limit": str(MOST),
            "format": "json",
        }
        headers = {"Authorization": f"Bearer {settings.key(SERVICE)}", **user_agent(settings)}
        raw = await ask_json(SERVICE, _address(settings), params=params, headers=headers)
        found = shaped(SERVICE, RadarResponse, raw).result.annotations
        reaching = [
            one for one in found if one.began <= span.last and _reaches(one, midnight(span.first))
        ]
        newest = sorted(
            reaching, key=lambda one: (one.startDate, one.description or ""), reverse=True
        )[:KEPT]
        counted = count_outages(
            [one.began for one in found], len(reaching), span, len(found) >= MOST
        )
        return Reply(RadarOutages(**counted, annotations=newest).model_dump(mode="json"))

    request = Request(
        "feed",
        SERVICE,
        f"internet outages of {subject.name}",
        subject.payload("outages", args, settings),
    )
    recorded = RadarOutages.model_validate((await gateway.call(request, do)).value)
    summary = recorded.summary("Cloudflare Radar", subject)
    answer = ServiceAnswer(
        service="Cloudflare Radar",
        url=f"{_address(settings)}?{param}={subject.code}",
        title=f"Internet outages of {subject.name}, {recorded.span}",
        kind=IntelligenceType.CONNECTIVITY,
        publisher_kind="company",
        rows=tuple(_row(one, subject) for one in recorded.annotations[:MOST_ROWS]),
        total=recorded.total,
        summary=f"{summary}." if summary else "",
        note=f"Cloudflare Radar may have more than the {MOST} outages that it was asked for"
        if recorded.cut
        else "",
    )
    return FeedResult(answers=(answer,))


def _address(settings: Settings) -> str:
    return f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}/radar/annotations/outages"


def _reaches(one: RadarAnnotation, start: datetime) -> bool:
    return one.endDate is None or one.endDate >= start


def _row(one: RadarAnnotation, subject: CountryOrNetwork) -> Row:
    when = phrases.utc(one.startDate)
    parts = [
        f"{phrases.clock(when)}: Cloudflare Radar records an internet outage in {subject.name}"
    ]
    if one.scope:
        parts.append(f"affecting {phrases.quoted(one.scope, 200)}")
    for name, word in (("type", one.outage.outageType), ("cause", one.outage.outageCause)):
        if word:
            parts.append(f"{name} {phrases.one_line(word.replace('_', ' ').lower())}")
    parts.append(
        f"until {phrases.clock(phrases.utc(one.endDate))}"
        if one.endDate
        else "with no end recorded"
    )
    sentence = ", ".join(parts)
    sentence += f": {phrases.quoted(one.description)}" if one.description else ""
    data = one.model_dump(mode="json", exclude_none=True)
    return Row(
        sentence=f"{sentence}.",
        data=data,
        when=when,
        place=subject.name,
        confidence="high",
        publisher="Cloudflare Radar",
    )
