"""The RSS and Atom feeds that the user lists (`news_feeds` in the settings)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

from pydantic import BaseModel

from deepdiver.core.text import terms
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.http import download, user_agent
from deepdiver.tools.osint.feed import FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.news.arguments import USUAL_DAYS, NewsArguments
from deepdiver.tools.osint.news.headlines import distinct, folded, is_within
from deepdiver.tools.osint.news.rss import Channel, ChannelEntry, read_channel
from deepdiver.tools.osint.phrases import clock, compared, count_by_day, counted, one_line, quoted
from deepdiver.tools.osint.times import NOT_OVER, Span

SERVICE = "rss"
LARGEST_FEED = 8_000_000
"""Bytes of a news feed: two hundred whole articles are less."""


class ReadChannel(BaseModel):
    """A news feed and the day on which it was read, as they are journalled."""

    on: date
    channel: Channel


async def entries_of_feed(args: NewsArguments, url: str, gateway: Gateway) -> FeedResult:
    """Return the entries of one news feed, which is read once, whatever is searched in it.

    Raises:
        GatewayError: If it cannot be read.
    """
    settings = gateway.settings

    async def do() -> Reply:
        into = io.BytesIO()
        await download(SERVICE, url, into, largest=LARGEST_FEED, headers=user_agent(settings))
        channel = read_channel(SERVICE, url, into.getvalue())
        read = ReadChannel(on=datetime.now(UTC).date(), channel=channel)
        return Reply(read.model_dump(mode="json"))

    # The limits are by host, so that one that wants a pause does not hold up the others.
    provider = f"{SERVICE}:{urlsplit(url).netloc}"
    reply = await gateway.call(Request("feed", provider, f"the news feed {url}", {"url": url}), do)
    read = ReadChannel.model_validate(reply.value)
    span = args.span(settings.as_of or read.on, USUAL_DAYS)
    return FeedResult(answers=(_answer(args, url, read, span),))


def _answer(args: NewsArguments, url: str, read: ReadChannel, span: Span) -> ServiceAnswer:
    channel = read.channel
    name = channel.title or urlsplit(url).hostname or url
    matching = [
        entry for entry in channel.entries if matches(args.words, f"{entry.title} {entry.summary}")
    ]
    rows = distinct(
        _row(entry, name, channel.language)
        for entry in matching
        if entry.published and is_within(entry.published, span)
    )
    return ServiceAnswer(
        service=name,
        url=url,
        title=f"news of {quoted(args.words)} from {span}",
        kind=IntelligenceType.NEWS,
        publisher_kind="",
        rows=tuple(rows[: args.limit]),
        total=len(rows),
        summary=_summary(args, name, matching, rows, channel, span),
        note=_note(args, matching, span, read),
    )


def _row(entry: ChannelEntry, name: str, language: str) -> Row:
    more = f": {quoted(entry.summary)}" if entry.summary and entry.summary != entry.title else ""
    return Row(
        sentence=f"{clock(entry.published)}: {one_line(name, 100)} had the headline "
        f"{quoted(entry.title)}{more}.",
        data=entry.model_dump(),
        when=entry.published,
        url=entry.link,
        title=entry.title,
        publisher=name,
        language=language,
    )


def matches(keywords: str, text: str) -> bool:
    """Whether all content words occur in a text, in any form.

    In scripts that do not separate words, a word may occur within a run of letters.
    """
    plain = folded(text)
    there = set(terms(plain))
    return all(
        term in there or (term > "\u2e80" and term in plain) for term in terms(folded(keywords))
    )


def _summary(
    args: NewsArguments,
    name: str,
    matching: Sequence[ChannelEntry],
    rows: Sequence[Row],
    channel: Channel,
    span: Span,
) -> str:
    """Count by day. The days before are compared only if the feed reaches back that far."""
    dated = [entry.published[:10] for entry in channel.entries if entry.published]
    whole = bool(dated) and min(dated) <= str(span.before.first)
    before = (
        sum(is_within(entry.published, span.before) for entry in matching if entry.published)
        if whole
        else None
    )
    if not rows and not before:
        return ""
    days = compared(count_by_day(row.when for row in rows), span, before)
    reach = "" if whole else f"; the feed reaches back to {min(dated)} only"
    return (
        f"{one_line(name, 100)} lists {counted(len(rows), 'headline')} on {quoted(args.words)} "
        f"from {days}{reach}."
    )


def _note(
    args: NewsArguments, matching: Sequence[ChannelEntry], span: Span, read: ReadChannel
) -> str:
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
