"""Cloudflare Radar: internet outages as its people record them, with their causes.

Needs a token.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from deepdiver.core.settings import Settings
from deepdiver.errors import NotJournalledError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.tools.http import ask_json, shaped, user_agent
from deepdiver.tools.osint import telling
from deepdiver.tools.osint.arguments import Period, today
from deepdiver.tools.osint.feed import MOST_ROWS, Answer, IntelligenceType, Row
from deepdiver.tools.osint.moments import Zoned
from deepdiver.tools.osint.outages import KEPT, USUAL_DAYS, Counted, Outside, Whom, count, midnight

SERVICE = "cloudflare_radar"
DEFAULT_URL = "https://api.cloudflare.com/client/v4"
MOST = 100
"""Outages that it is asked for at most; the whole world has some ten in a week."""

Word = Annotated[str, Field(max_length=100)]


class Cause(Outside):
    """What is known of an outage."""

    outageCause: Word | None = None
    outageType: Word | None = None


class Annotation(Outside):
    """An outage, by Cloudflare's own names."""

    startDate: Zoned
    endDate: Zoned | None = None
    """None: it goes on, or nobody has said that it ended."""
    description: Annotated[str, Field(max_length=20_000)] | None = None
    scope: Annotated[str, Field(max_length=1_000)] | None = None
    eventType: Word | None = None
    asns: tuple[int, ...] = ()
    locations: tuple[Word, ...] = ()
    outage: Cause = Cause()

    @property
    def began(self) -> date:
        """The day on which it began, UTC."""
        return self.startDate.date()


class Result(Outside):
    """What is in an answer."""

    annotations: list[Annotation]


class Response(Outside):
    """Cloudflare's answer."""

    success: Literal[True]
    result: Result


class Recorded(Counted):
    """What is journalled of it."""

    annotations: list[Annotation]
    """Those that reach into the period, the newest."""


async def outages_if_set(args: Period, whom: Whom, gateway: Gateway) -> Answer | None:
    """Return the outages where a token is set, and else nothing.

    A replay has no token, and its journal knows.
    """
    if gateway.mode is Mode.REPLAY:
        try:
            return await outages(args, whom, gateway)
        except NotJournalledError:
            return None
    return await outages(args, whom, gateway) if gateway.settings.key(SERVICE) else None


async def outages(args: Period, whom: Whom, gateway: Gateway) -> Answer:
    """Return the outages of a period.

    Raises:
        GatewayError: If there is no answer.
    """
    settings = gateway.settings

    async def do() -> Reply:
        span = args.span(today(settings), USUAL_DAYS)
        params = {
            "location" if whom.kind == "country" else "asn": whom.code,
            "dateStart": f"{span.before.first}T00:00:00Z",
            "dateEnd": f"{span.last}T23:59:59Z",
            "limit": str(MOST),
            "format": "json",
        }
        headers = {"Authorization": f"Bearer {settings.key(SERVICE)}", **user_agent(settings)}
        raw = await ask_json(SERVICE, _address(settings), params=params, headers=headers)
        found = shaped(SERVICE, Response, raw).result.annotations
        reaching = [
            one for one in found if one.began <= span.last and _reaches(one, midnight(span.first))
        ]
        newest = sorted(
            reaching, key=lambda one: (one.startDate, one.description or ""), reverse=True
        )[:KEPT]
        counted = count([one.began for one in found], len(reaching), span, len(found) >= MOST)
        return Reply(Recorded(**counted, annotations=newest).model_dump(mode="json"))

    request = Request(
        "feed", SERVICE, f"internet outages of {whom.name}", whom.payload("outages", args, settings)
    )
    recorded = Recorded.model_validate((await gateway.call(request, do)).value)
    summary = recorded.summary("Cloudflare Radar", whom)
    return Answer(
        service="Cloudflare Radar",
        url=f"{_address(settings)}?{'location' if whom.kind == 'country' else 'asn'}={whom.code}",
        title=f"Internet outages of {whom.name}, {recorded.span}",
        kind=IntelligenceType.CONNECTIVITY,
        publisher_kind="company",
        rows=tuple(_row(one, whom) for one in recorded.annotations[:MOST_ROWS]),
        total=recorded.total,
        summary=f"{summary}." if summary else "",
        note=f"Cloudflare Radar may have more than the {MOST} outages that it was asked for"
        if recorded.cut
        else "",
    )


def _address(settings: Settings) -> str:
    return f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}/radar/annotations/outages"


def _reaches(one: Annotation, start: datetime) -> bool:
    return one.endDate is None or one.endDate >= start


def _row(one: Annotation, whom: Whom) -> Row:
    when = telling.utc(one.startDate)
    parts = [f"{telling.clock(when)}: Cloudflare Radar records an internet outage in {whom.name}"]
    if one.scope:
        parts.append(f"affecting {telling.quoted(one.scope, 200)}")
    for name, word in (("type", one.outage.outageType), ("cause", one.outage.outageCause)):
        if word:
            parts.append(f"{name} {telling.one_line(word.replace('_', ' ').lower())}")
    parts.append(
        f"until {telling.clock(telling.utc(one.endDate))}"
        if one.endDate
        else "with no end recorded"
    )
    told = ", ".join(parts)
    told += f": {telling.quoted(one.description)}" if one.description else ""
    data = one.model_dump(mode="json", exclude_none=True)
    return Row(
        sentence=f"{told}.",
        data=data,
        when=when,
        place=whom.name,
        confidence="high",
        publisher="Cloudflare Radar",
    )
