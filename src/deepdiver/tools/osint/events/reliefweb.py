"""Reports of the United Nations, governments and aid organisations, from ReliefWeb (OCHA).

Documented at apidoc.reliefweb.int: POST to /v2/reports with `query`, `filter`, `fields`, `sort` and
`limit`; since November 2025 only for callers whose `appname` it has approved. `totalCount` is the
number of all reports.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_json, shaped, user_agent
from deepdiver.tools.osint.arguments import Period
from deepdiver.tools.osint.countries import countries
from deepdiver.tools.osint.feed import MOST_ROWS, FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.phrases import (
    clock,
    compared,
    count_by_day,
    counted,
    one_line,
    quoted,
    utc,
)
from deepdiver.tools.osint.services import answer_or_error
from deepdiver.tools.osint.times import AskedDays, Span, today

SERVICE = "reliefweb"
DEFAULT_URL = "https://api.reliefweb.int"
KEPT = 200
"""Reports asked for, the newest; the service gives 1,000 at most."""
USUAL_DAYS = 30
ADVICE = "it knows no such appname; ask for one at apidoc.reliefweb.int and set RELIEFWEB_APPNAME"
LACKING = "it was not asked, because it wants to know its callers: set RELIEFWEB_APPNAME"
_FIELDS = (
    "title",
    "url_alias",
    "url",
    "date.created",
    "source.name",
    "format.name",
    "primary_country.name",
    "language.code",
)


class ReliefWebName(BaseModel):
    """The name of a source, a format or a country."""

    name: str | None = None


class ReliefWebLanguage(BaseModel):
    """The language of a report."""

    code: str | None = None


class ReliefWebDates(BaseModel):
    """When a report was posted."""

    created: AwareDatetime


class ReliefWebFields(BaseModel):
    """The fields that are asked for, by the service's own names."""

    title: str
    date: ReliefWebDates
    url_alias: str | None = None
    url: str | None = None
    source: list[ReliefWebName] = []
    format: list[ReliefWebName] = []
    primary_country: ReliefWebName | None = None
    language: list[ReliefWebLanguage] = []


class ReliefWebReport(BaseModel):
    """A report."""

    id: str | int
    fields: ReliefWebFields


class ReliefWebResponse(BaseModel):
    """ReliefWeb's answer."""

    totalCount: Annotated[int, Field(ge=0)]
    data: list[ReliefWebReport]


class ReliefWebReports(AskedDays):
    """The reports of a period, as they are journalled."""

    total: int
    reports: list[ReliefWebReport]


async def reports(args: Period, words: str, country: str, gateway: Gateway) -> FeedResult:
    """Return reports, the newest first.

    If the count of the days before fails, the result has a line for it.

    Args:
        args: The days.
        words: Words that must all occur; empty: any.
        country: Code of the country that the reports are about; empty: any.
        gateway: The gateway of the run.

    Raises:
        GatewayError: If there is no answer.
    """
    found, before = await asyncio.gather(
        answer_or_error(_ask(args, words, country, False, gateway)),
        answer_or_error(_ask(args, words, country, True, gateway)),
    )
    if isinstance(found, GatewayError):
        raise found
    failed = isinstance(before, GatewayError)
    about = _about(words, country)
    answer = ServiceAnswer(
        service="ReliefWeb",
        url=_address(gateway.settings),
        title=f"reports {about}, {found.span}",
        kind=IntelligenceType.EVENT,
        publisher_kind="aggregator",
        rows=tuple(map(_row, found.reports[:MOST_ROWS])),
        total=found.total,
        summary=_summary(
            found, about, before.total if isinstance(before, ReliefWebReports) else None
        ),
        note=found.note,
    )
    return FeedResult(
        answers=(answer,),
        failures=(f"ReliefWeb's count of the days before failed: {before}",) if failed else (),
    )


async def _ask(
    args: Period, words: str, country: str, before: bool, gateway: Gateway
) -> ReliefWebReports:
    """Ask for the reports of the days, or for the number of those of as many days before."""
    settings = gateway.settings

    async def do() -> Reply:
        # Checked within the call, and so journalled: a replay has no keys.
        if not (appname := settings.key(SERVICE)):
            raise CallError(LACKING, CallFault.AUTH)
        span = args.span(today(settings), USUAL_DAYS)
        span = span.before if before else span
        with advised(ADVICE):
            raw = await ask_json(
                SERVICE,
                _address(settings),
                params={"appname": appname},
                body=_body(words, country, span, 0 if before else KEPT),
                headers=user_agent(settings),
            )
        said = shaped(SERVICE, ReliefWebResponse, raw)
        found = ReliefWebReports(
            first=span.first,
            last=span.last,
            at=datetime.now(UTC),
            total=said.totalCount,
            reports=said.data[:KEPT],
        )
        return Reply(found.model_dump(mode="json"))

    payload = {"words": words, "country": country, "before": before, **args.asked_days(settings)}
    what = f"{'number of earlier ' if before else ''}reports {_about(words, country)}"
    reply = await gateway.call(Request("feed", SERVICE, what, payload), do)
    return ReliefWebReports.model_validate(reply.value)


def _body(words: str, country: str, span: Span, limit: int) -> dict[str, Any]:
    posted = {"from": f"{span.first}T00:00:00+00:00", "to": f"{span.last}T23:59:59+00:00"}
    conditions: list[dict[str, Any]] = [{"field": "date.created", "value": posted}]
    if country:
        # The service answers in lower case, and its callers ask in both.
        code = countries()[country].alpha3
        conditions.append(
            {"field": "country.iso3", "value": [code.lower(), code], "operator": "OR"}
        )
    query = {"query": {"value": words, "operator": "AND"}} if words else {}
    return {
        **query,
        "filter": {"operator": "AND", "conditions": conditions},
        "fields": {"include": list(_FIELDS)},
        "sort": ["date.created:desc"],
        "limit": limit,
    }


def _address(settings: Settings) -> str:
    return f"{settings.urls.get(SERVICE, DEFAULT_URL).rstrip('/')}/v2/reports"


def _about(words: str, country: str) -> str:
    parts = [f"on {quoted(words)}"] if words else []
    return " ".join([*parts, *([f"about {countries()[country].name}"] if country else [])])


def _row(report: ReliefWebReport) -> Row:
    said, when = report.fields, utc(report.fields.date.created)
    sources = ", ".join(one_line(source.name, 80) for source in said.source[:3] if source.name)
    place = one_line(said.primary_country.name or "", 80) if said.primary_country else ""
    kinds = [one_line(kind.name, 40) for kind in said.format[:1] if kind.name]
    details = "; ".join(
        part for part in (sources, *kinds, f"about {place}" if place else "") if part
    )
    return Row(
        sentence=f"{clock(when)}: ReliefWeb posted the report "
        f"{quoted(said.title)}{f' ({details})' if details else ''}.",
        data={"id": str(report.id), **said.model_dump(mode="json", exclude_none=True)},
        when=when,
        place=place,
        confidence="high",
        url=said.url_alias or said.url or "",
        title=one_line(said.title),
        publisher=sources or "ReliefWeb",
        language=next(
            (spoken.code for spoken in said.language if spoken.code and len(spoken.code) == 2), ""
        ),
    )


def _summary(found: ReliefWebReports, about: str, before: int | None) -> str:
    if not found.total and not before:
        return ""
    days = count_by_day(utc(report.fields.date.created) for report in found.reports)
    counts = days if found.total <= len(found.reports) else {}
    return (
        f"ReliefWeb lists {counted(found.total, 'report')} {about} from "
        f"{compared(counts, found.span, before)}."
    )
