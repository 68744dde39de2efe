"""GDELT: the articles that were published in the world, listed and counted by day."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault, GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_text, user_agent
from deepdiver.tools.osint.countries import countries
from deepdiver.tools.osint.feed import FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.news.arguments import USUAL_DAYS, NewsArguments
from deepdiver.tools.osint.news.headlines import distinct, is_within
from deepdiver.tools.osint.phrases import (
    clock,
    compared,
    count_by_day,
    counted,
    one_line,
    quoted,
    total_in,
)
from deepdiver.tools.osint.services import answer_or_error
from deepdiver.tools.osint.times import AskedDays, Span, today
from deepdiver.tools.search import gdelt as gdelt_search
from deepdiver.tools.search.languages import code_of

SERVICE = "gdelt"
MOST_ARTICLES = 200
"""Articles that are asked for; GDELT gives 250 at most. They become the rows, and their days are
counted if GDELT's own count fails."""


class GdeltArticles(BaseModel):
    """The most relevant articles that GDELT lists, as they are journalled."""

    asked: AskedDays
    articles: list[gdelt_search.GdeltArticle]


class GdeltCounts(BaseModel):
    """The number of all articles on each day asked for and as many before, as it is journalled."""

    asked: AskedDays
    days: dict[str, int]


class GdeltPoint(BaseModel):
    """One step of a timeline: a quarter of an hour, an hour or a day, by its whole length."""

    date: Annotated[str, Field(pattern=r"^\d{8}T\d{6}Z$")]
    value: Annotated[int, Field(ge=0)]


class GdeltSeries(BaseModel):
    """One line of a timeline."""

    data: list[GdeltPoint]


class GdeltTimeline(BaseModel):
    """GDELT's answer in its mode TimelineVolRaw.

    It holds numbers of articles, where the mode TimelineVol gives shares of all articles.
    """

    timeline: list[GdeltSeries]

    def by_day(self) -> dict[str, int]:
        """Return the number of articles on each day."""
        counts: dict[str, int] = {}
        for point in self.timeline[0].data if self.timeline else ():  # the only series of this mode
            day = f"{point.date[:4]}-{point.date[4:6]}-{point.date[6:8]}"
            counts[day] = counts.get(day, 0) + point.value
        return counts


async def gdelt_news(args: NewsArguments, gateway: Gateway) -> FeedResult:
    """Return the articles that GDELT lists, with its count of all of them.

    If the count fails, the result has a line for it.

    Raises:
        GatewayError: If there is no list.
    """
    query = gdelt_search.query_for(args.words, country=args.country_code or "")
    listed, counts = await asyncio.gather(
        answer_or_error(_ask_articles(args, query, gateway)),
        answer_or_error(_ask_counts(args, query, gateway)),
    )
    if isinstance(listed, GatewayError):
        raise listed
    address = f"{_address(gateway.settings)}?{urlencode(_params(query, listed.asked))}"
    if isinstance(counts, GatewayError):
        return FeedResult(
            answers=(_answer(args, address, listed, None),),
            failures=(f"GDELT's count by day failed: {counts}",),
        )
    return FeedResult(answers=(_answer(args, address, listed, counts),))


async def _ask_articles(args: NewsArguments, query: str, gateway: Gateway) -> GdeltArticles:
    settings = gateway.settings

    async def do() -> Reply:
        asked = _asked_days(args, settings)
        text = await _ask(_params(query, asked), settings)
        listed = gdelt_search.parse_answer(
            text, gdelt_search.GdeltResponse, nothing={"articles": []}
        )
        kept = GdeltArticles(asked=asked, articles=listed.articles[:MOST_ARTICLES])
        return Reply(kept.model_dump(mode="json"))

    payload = {"mode": "ArtList", "query": query, **args.asked_days(settings)}
    what, pace = f"news of {args.words}", gdelt_search.PROVIDER.pace
    reply = await gateway.call(Request("feed", SERVICE, what, payload, limit=pace), do)
    return GdeltArticles.model_validate(reply.value)


async def _ask_counts(args: NewsArguments, query: str, gateway: Gateway) -> GdeltCounts:
    settings = gateway.settings

    async def do() -> Reply:
        asked = _asked_days(args, settings)
        whole = asked.model_copy(update={"first": asked.span.before.first})
        text = await _ask(_params(query, whole, mode="TimelineVolRaw"), settings)
        timeline = gdelt_search.parse_answer(text, GdeltTimeline, nothing={"timeline": []})
        return Reply(GdeltCounts(asked=asked, days=timeline.by_day()).model_dump(mode="json"))

    payload = {"mode": "TimelineVolRaw", "query": query, **args.asked_days(settings)}
    what = f"number of news of {args.words}"
    pace = gdelt_search.PROVIDER.pace
    reply = await gateway.call(Request("feed", SERVICE, what, payload, limit=pace), do)
    return GdeltCounts.model_validate(reply.value)


def _asked_days(args: NewsArguments, settings: Settings) -> AskedDays:
    span = args.span(today(settings), USUAL_DAYS)
    return AskedDays(first=span.first, last=span.last, at=datetime.now(UTC))


def _params(query: str, asked: AskedDays, mode: str = "ArtList") -> dict[str, str]:
    """Return the parameters of a request.

    Raises:
        CallError: If the days end before GDELT begins.
    """
    if asked.last < gdelt_search.FIRST:
        raise CallError(
            f"gdelt was not asked: it knows of nothing before {gdelt_search.FIRST}",
            CallFault.REQUEST,
        )
    days = {
        "startdatetime": gdelt_search.day_start(asked.first),
        "enddatetime": gdelt_search.day_end(asked.last),
    }
    listing = {"maxrecords": str(MOST_ARTICLES), "sort": "HybridRel"} if mode == "ArtList" else {}
    return {"query": query, "mode": mode, "format": "json", **listing, **days}


def _address(settings: Settings) -> str:
    return f"{gdelt_search.PROVIDER.address(settings)}/api/v2/doc/doc"


async def _ask(params: dict[str, str], settings: Settings) -> str:
    with advised(gdelt_search.ADVICE):
        return await ask_text(
            SERVICE, _address(settings), params=params, headers=user_agent(settings)
        )


def _answer(
    args: NewsArguments, address: str, listed: GdeltArticles, counts: GdeltCounts | None
) -> ServiceAnswer:
    span, found = listed.asked.span, len(listed.articles)
    rows = distinct(row for article in listed.articles if (row := _row(article, span)))
    title = f"news of {quoted(args.words)} from {span}"
    if args.country_code:
        title += f", outlets of {countries()[args.country_code].name}"
    if counts:
        summary, total = _count_summary(args, counts), total_in(counts.days, span)
    else:
        summary, total = _list_summary(args, rows, found, span), found
    return ServiceAnswer(
        service="GDELT",
        url=address,
        title=title,
        kind=IntelligenceType.NEWS,
        publisher_kind="aggregator",
        rows=tuple(rows[: args.limit]),
        total=max(len(rows), total),
        summary=summary,
        note=listed.asked.note,
    )


def _row(article: gdelt_search.GdeltArticle, span: Span) -> Row | None:
    """Return an article as a row; None if it has no address or title, or is of another day."""
    when = gdelt_search.iso_moment(article.seendate or "")
    if not article.url or not article.title or (when and not is_within(when, span)):
        return None
    outlet = one_line(article.domain or "", 100) or "an outlet"
    headline = f"{outlet} had the headline {quoted(article.title)}"
    return Row(
        sentence=f"{clock(when)}: {headline} (the time is when GDELT first saw it)."
        if when
        else f"{headline}.",
        data={name: value for name, value in article.model_dump().items() if value},
        when=when,
        url=article.url,
        title=one_line(article.title),
        publisher=article.domain or "",
        language=code_of(article.language),
    )


def _count_summary(args: NewsArguments, counts: GdeltCounts) -> str:
    """Return a summary of GDELT's own count."""
    span = counts.asked.span
    known = span.before.first >= gdelt_search.FIRST
    before = total_in(counts.days, span.before) if known else None
    number = total_in(counts.days, span)
    if not number and not before:
        return ""
    articles = counted(number, "article")
    days = compared(counts.days, span, before)
    return f"GDELT counts {articles} on {quoted(args.words)} from {days}."


def _list_summary(args: NewsArguments, rows: list[Row], found: int, span: Span) -> str:
    """Return a summary of the rows, for want of GDELT's own count."""
    if not rows:
        return ""
    more = f", the most that it lists of {found} and more" if found >= MOST_ARTICLES else ""
    days = compared(count_by_day(row.when for row in rows if row.when), span, None)
    headlines = counted(len(rows), "headline")
    return f"GDELT lists {headlines}{more} on {quoted(args.words)} from {days}."
