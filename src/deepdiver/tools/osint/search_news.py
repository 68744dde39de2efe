"""News.

GDELT's list of what was published in the world, and the RSS and Atom feeds that the user lists.
"""

from __future__ import annotations

import asyncio
import io
import unicodedata
from datetime import UTC, date, datetime
from typing import Annotated
from urllib.parse import urlencode, urlsplit

from pydantic import BaseModel, Field

from deepdiver.core.settings import Settings
from deepdiver.core.text import terms
from deepdiver.errors import CallError, CallFault, GatewayError
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import advised, ask_text, download, user_agent
from deepdiver.tools.osint.arguments import CountryCode, Keywords, Period, Span, today
from deepdiver.tools.osint.asking import side_by_side
from deepdiver.tools.osint.countries import COUNTRIES
from deepdiver.tools.osint.feed import (
    MOST_ROWS,
    Answer,
    Arguments,
    IntelligenceType,
    Row,
    Told,
    or_failure,
)
from deepdiver.tools.osint.rss import Channel, Entry, read_channel
from deepdiver.tools.osint.telling import by_day, clock, compared, counted, one_line, quoted, within
from deepdiver.tools.search import gdelt
from deepdiver.tools.search.languages import code_of

GDELT, RSS = "gdelt", "rss"
USUAL_DAYS = 7
"""Days where none are named: "lately" in the news is a week."""
MOST_ARTICLES = 200
"""Articles asked of GDELT, which gives 250 at most: the rows, and days to count where its own count
fails."""
LARGEST_FEED = 8_000_000
"""Bytes of a news feed: two hundred whole articles are less."""
NOT_OVER = "The last day was not over when it was asked."


class NewsArguments(Period):
    """What news is searched for."""

    keywords: Keywords
    """Words that must all occur, such as: Kharkiv, strikes."""
    country_code: CountryCode | None = None
    """Only outlets of this country, two letters as UA; not needed for news about a country."""
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = MOST_ROWS
    """How many pieces of news at most."""

    @property
    def words(self) -> str:
        """The keywords as one text."""
        return " ".join(self.keywords)


class Asked(BaseModel):
    """When something was asked, and for which days.

    Kept with the answer, for a replay has no clock.
    """

    first: date
    last: date
    at: datetime

    @property
    def span(self) -> Span:
        """The days."""
        return Span(self.first, self.last)

    @property
    def note(self) -> str:
        """What to say where the last day was still going on."""
        return NOT_OVER if self.at.date() <= self.last else ""


class Listed(BaseModel):
    """What GDELT lists: its most relevant articles."""

    asked: Asked
    articles: list[gdelt.GdeltArticle]


class Counts(BaseModel):
    """What GDELT counts: all articles by day, over the days asked for and as many before."""

    asked: Asked
    days: dict[str, int]


class Read(BaseModel):
    """A news feed as it was read."""

    on: date
    channel: Channel


class Point(BaseModel):
    """One step of a timeline.

    A quarter of an hour, an hour or a day, by the length of the whole.
    """

    date: Annotated[str, Field(pattern=r"^\d{8}T\d{6}Z$")]
    value: Annotated[int, Field(ge=0)]


class Series(BaseModel):
    """One line of a timeline."""

    data: list[Point]


class Timeline(BaseModel):
    """GDELT's answer in its mode TimelineVolRaw.

    Numbers of articles, where TimelineVol gives parts of all articles.
    """

    timeline: list[Series]

    def by_day(self) -> dict[str, int]:
        """Return the number of articles on each day."""
        counts: dict[str, int] = {}
        for point in self.timeline[0].data if self.timeline else ():  # the only series of this mode
            day = f"{point.date[:4]}-{point.date[4:6]}-{point.date[6:8]}"
            counts[day] = counts.get(day, 0) + point.value
        return counts


class SearchNews:
    """Searches the news."""

    name = "search_news"
    about = "news of the world by keywords, with numbers by day and for the days before"
    kind = IntelligenceType.NEWS
    arguments: type[Arguments] = NewsArguments

    def missing(self, settings: Settings) -> str | None:
        """Nothing is needed."""
        return None

    async def ask(self, args: NewsArguments, gateway: Gateway) -> Told:
        """Ask GDELT and every listed feed, side by side."""
        lines: list[str] = []
        asked = {
            f"the news feed {url}": _from_feed(args, url, gateway)
            for url in dict.fromkeys(gateway.settings.news_feeds)
        }
        answers, failures = await side_by_side(
            {"GDELT": _from_gdelt(args, lines, gateway), **asked}
        )
        return Told(answers=tuple(answers.values()), failures=(*failures, *lines))


async def _from_gdelt(args: NewsArguments, lines: list[str], gateway: Gateway) -> Answer:
    """Return what GDELT lists, with what it counts.

    Where it does not count, one of the lines says why.

    Raises:
        GatewayError: If it does not list.
    """
    query = gdelt.query_for(args.words, country=args.country_code or "")
    listed, counts = await asyncio.gather(
        or_failure(_listed(args, query, gateway)), or_failure(_counts(args, query, gateway))
    )
    if isinstance(listed, GatewayError):
        raise listed
    if isinstance(counts, GatewayError):
        lines.append(f"GDELT's count by day failed: {counts}")
    counted_all = counts if isinstance(counts, Counts) else None
    span = listed.asked.span
    rows = _distinct([row for article in listed.articles if (row := _article(article, span))])
    wanted = f"news of {quoted(args.words)} from {span}"
    if args.country_code:
        wanted += f", outlets of {COUNTRIES[args.country_code].name}"
    found = len(listed.articles)
    return Answer(
        service="GDELT",
        url=f"{_address(gateway.settings)}?{urlencode(_params(query, listed.asked))}",
        title=wanted,
        kind=IntelligenceType.NEWS,
        publisher_kind="aggregator",
        rows=tuple(rows[: args.limit]),
        total=max(len(rows), within(counted_all.days, span) if counted_all else found),
        summary=_counted(args, counted_all)
        if counted_all
        else _only_listed(args, rows, found, span),
        note=listed.asked.note,
    )


async def _listed(args: NewsArguments, query: str, gateway: Gateway) -> Listed:
    settings = gateway.settings

    async def do() -> Reply:
        asked = _now(args, settings)
        text = await _asked_gdelt(_params(query, asked), settings)
        listed = gdelt.parse_answer(text, gdelt.GdeltResponse, nothing={"articles": []})
        return Reply(
            Listed(asked=asked, articles=listed.articles[:MOST_ARTICLES]).model_dump(mode="json")
        )

    payload = {"mode": "ArtList", "query": query, **args.asked_days(settings)}
    request = Request("feed", GDELT, f"news of {args.words}", payload, limit=gdelt.PROVIDER.pace)
    reply = await gateway.call(request, do)
    return Listed.model_validate(reply.value)


async def _counts(args: NewsArguments, query: str, gateway: Gateway) -> Counts:
    settings = gateway.settings

    async def do() -> Reply:
        asked = _now(args, settings)
        whole = asked.model_copy(update={"first": asked.span.before.first})
        text = await _asked_gdelt(_params(query, whole, mode="TimelineVolRaw"), settings)
        timeline = gdelt.parse_answer(text, Timeline, nothing={"timeline": []})
        return Reply(Counts(asked=asked, days=timeline.by_day()).model_dump(mode="json"))

    payload = {"mode": "TimelineVolRaw", "query": query, **args.asked_days(settings)}
    what = f"number of news of {args.words}"
    request = Request("feed", GDELT, what, payload, limit=gdelt.PROVIDER.pace)
    reply = await gateway.call(request, do)
    return Counts.model_validate(reply.value)


def _now(args: NewsArguments, settings: Settings) -> Asked:
    span = args.span(today(settings), USUAL_DAYS)
    return Asked(first=span.first, last=span.last, at=datetime.now(UTC))


def _params(query: str, asked: Asked, mode: str = "ArtList") -> dict[str, str]:
    """Return the query of the address.

    Raises:
        CallError: If it ends before GDELT begins.
    """
    if asked.last < gdelt.FIRST:
        raise CallError(
            f"gdelt was not asked: it knows of nothing before {gdelt.FIRST}", CallFault.REQUEST
        )
    days = {"startdatetime": gdelt.day_start(asked.first), "enddatetime": gdelt.day_end(asked.last)}
    listing = {"maxrecords": str(MOST_ARTICLES), "sort": "HybridRel"} if mode == "ArtList" else {}
    return {"query": query, "mode": mode, "format": "json", **listing, **days}


def _address(settings: Settings) -> str:
    return f"{gdelt.PROVIDER.address(settings)}/api/v2/doc/doc"


async def _asked_gdelt(params: dict[str, str], settings: Settings) -> str:
    with advised(gdelt.ADVICE):
        return await ask_text(
            GDELT, _address(settings), params=params, headers=user_agent(settings)
        )


def _article(article: gdelt.GdeltArticle, span: Span) -> Row | None:
    """Return an article as a row.

    None without an address or a title, or where it is of another day.
    """
    when = gdelt.iso_moment(article.seendate or "")
    if not article.url or not article.title or (when and not _is_of(when, span)):
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


def _is_of(when: str, span: Span) -> bool:
    try:
        return date.fromisoformat(when[:10]) in span
    except ValueError:  # the thirty-first of February
        return False


def _distinct(rows: list[Row]) -> list[Row]:
    """Leave out the same address, and the same headline again.

    It is one agency's text in many papers.
    """
    kept: dict[str, Row] = {}
    addresses: set[str] = set()
    for row in rows:
        if row.url not in addresses:
            kept.setdefault(_folded(row.title), row)
        addresses.add(row.url)
    return list(kept.values())


def _counted(args: NewsArguments, counts: Counts) -> str:
    span = counts.asked.span
    before = within(counts.days, span.before) if span.before.first >= gdelt.FIRST else None
    number = within(counts.days, span)
    if not number and not before:
        return ""
    told = counted(number, "article")
    return (
        f"GDELT counts {told} on {quoted(args.words)} from {compared(counts.days, span, before)}."
    )


def _only_listed(args: NewsArguments, rows: list[Row], found: int, span: Span) -> str:
    if not rows:
        return ""
    more = f", the most that it lists of {found} and more" if found >= MOST_ARTICLES else ""
    told = compared(by_day(row.when for row in rows if row.when), span, None)
    return (
        f"GDELT lists {counted(len(rows), 'headline')}{more} on {quoted(args.words)} from {told}."
    )


async def _from_feed(args: NewsArguments, url: str, gateway: Gateway) -> Answer:
    """Return the entries of one news feed. It is read once, whatever is looked for in it."""
    settings = gateway.settings

    async def do() -> Reply:
        into = io.BytesIO()
        await download(RSS, url, into, largest=LARGEST_FEED, headers=user_agent(settings))
        channel = read_channel(RSS, url, into.getvalue())
        return Reply(Read(on=datetime.now(UTC).date(), channel=channel).model_dump(mode="json"))

    # By host: one that wants a pause does not hold up the others.
    provider = f"{RSS}:{urlsplit(url).netloc}"
    reply = await gateway.call(Request("feed", provider, f"the news feed {url}", {"url": url}), do)
    read = Read.model_validate(reply.value)
    channel, span = read.channel, args.span(settings.as_of or read.on, USUAL_DAYS)
    name = channel.title or urlsplit(url).hostname or url
    matching = [
        entry for entry in channel.entries if _matches(args.words, f"{entry.title} {entry.summary}")
    ]
    inside = [entry for entry in matching if entry.published and _is_of(entry.published, span)]
    rows = _distinct([_row(entry, name, channel.language) for entry in inside])
    return Answer(
        service=name,
        url=url,
        title=f"news of {quoted(args.words)} from {span}",
        kind=IntelligenceType.NEWS,
        publisher_kind="",
        rows=tuple(rows[: args.limit]),
        total=len(rows),
        summary=_in_feed(args, name, matching, rows, channel, span),
        note=_note(args, matching, span, read),
    )


def _row(entry: Entry, name: str, language: str) -> Row:
    told = f": {quoted(entry.summary)}" if entry.summary and entry.summary != entry.title else ""
    return Row(
        sentence=f"{clock(entry.published)}: {one_line(name, 100)} had the headline "
        f"{quoted(entry.title)}{told}.",
        data=entry.model_dump(),
        when=entry.published,
        url=entry.link,
        title=entry.title,
        publisher=name,
        language=language,
    )


def _folded(text: str) -> str:
    """Return a text in small letters and without accents."""
    return "".join(
        char
        for char in unicodedata.normalize("NFKD", text.lower())
        if not unicodedata.combining(char)
    )


def _matches(keywords: str, text: str) -> bool:
    """Whether all content words occur, in any form.

    Where a script parts no words, within a run of letters.
    """
    folded = _folded(text)
    there = set(terms(folded))
    return all(
        term in there or (term > "\u2e80" and term in folded) for term in terms(_folded(keywords))
    )


def _in_feed(
    args: NewsArguments,
    name: str,
    matching: list[Entry],
    rows: list[Row],
    channel: Channel,
    span: Span,
) -> str:
    """Count by day. The days before are compared only where the feed reaches back so far."""
    dated = [entry.published[:10] for entry in channel.entries if entry.published]
    whole = bool(dated) and min(dated) <= str(span.before.first)
    before = (
        sum(_is_of(entry.published, span.before) for entry in matching if entry.published)
        if whole
        else None
    )
    if not rows and not before:
        return ""
    told = compared(by_day(row.when for row in rows), span, before)
    reach = "" if whole else f"; the feed reaches back to {min(dated)} only"
    return (
        f"{one_line(name, 100)} lists {counted(len(rows), 'headline')} on {quoted(args.words)} "
        f"from {told}{reach}."
    )


def _note(args: NewsArguments, matching: list[Entry], span: Span, read: Read) -> str:
    notes = [NOT_OVER] if read.on <= span.last else []
    if undated := sum(not entry.published for entry in matching):
        notes.append(f"{counted(undated, 'entry', 'entries')} without a date left out.")
    if args.country_code:
        notes.append("A news feed cannot be narrowed to a country.")
    if read.channel.total > len(read.channel.entries):
        notes.append(
            f"Only the newest {len(read.channel.entries)} of its {read.channel.total} entries were "
            "looked at."
        )
    return " ".join(notes)


FEED = SearchNews()
