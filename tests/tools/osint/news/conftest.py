"""Answers as GDELT and news feeds give them, and asking the feed as a reasoner does."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from deepdiver.gateway import Mode
from deepdiver.tools.osint.feed import FeedResult, ServiceAnswer
from deepdiver.tools.osint.news.arguments import NewsArguments
from deepdiver.tools.osint.search_news import FEED
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FAST
from tests.tools.osint.news.test_rss import feed, item
from tests.tools.search.conftest import Service, reply

WEEK = {"since": "2026-11-05", "until": "2026-11-11"}
LIST, COUNT = "mode=ArtList", "mode=TimelineVolRaw"
# The fields of the ArtList mode in JSON, as the API answers.
ARTICLE = {
    "url": "https://www.kustbladet.example/2026/11/fire",
    "url_mobile": "",
    "title": "Nine hurt in  ferry fire at 03:15",
    "seendate": "20261110T140500Z",
    "socialimage": "https://www.kustbladet.example/fire.jpg",
    "domain": "kustbladet.example",
    "language": "Swedish",
    "sourcecountry": "Sweden",
}


def article(number: int, **more: Any) -> dict[str, Any]:
    return {**ARTICLE, "url": f"https://a.example/{number}", "title": f"Headline {number}", **more}


def listed(*articles: Any) -> bytes:
    return json.dumps({"articles": articles}).encode()


def timeline(**days: int) -> bytes:
    """Return the documented form of the mode TimelineVolRaw.

    D20261110=3 are three articles on that day.
    """
    data = [
        {"date": f"{day[1:]}T000000Z", "value": value, "norm": 1_000_000}
        for day, value in days.items()
    ]
    details = {"title": "ferry fire", "date_resolution": "day"}
    return json.dumps(
        {"query_details": details, "timeline": [{"series": "Article Count", "data": data}]}
    ).encode()


def settings(url: str, feeds: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "urls": {"gdelt": url},
        "limits": {"gdelt": FAST, "rss": FAST},
        "news_feeds": feeds,
        **more,
    }


async def ask(desk: Desk, mode: Mode, options: dict[str, Any], /, **given: Any) -> FeedResult:
    args = NewsArguments.model_validate({"keywords": "ferry fire", **given})
    return await FEED.ask(args, desk.gateway(mode, **options))


async def gdelt_answer(desk: Desk, url: str, /, **given: Any) -> ServiceAnswer:
    (answer,) = (await ask(desk, Mode.LIVE, settings(url), **{**WEEK, **given})).answers
    return answer


def params(requests: list[str], mode: str) -> dict[str, str]:
    (request,) = [request for request in requests if mode in request.split(" ", 2)[1]]
    path = urlsplit(request.split(" ", 2)[1])
    assert path.path == "/api/v2/doc/doc"
    return {name: values[0] for name, values in parse_qs(path.query).items()}


def herald(*entries: tuple[str, str, str], reach: str = "2026-09-01") -> bytes:
    """Return a feed of entries.

    Headline, time, summary; its oldest entry is about something else.
    """
    items = [
        item(title=title, link=f"https://herald.example/{number}", pubDate=when, description=text)
        for number, (title, when, text) in enumerate(entries)
    ]
    old = item(title="Old", link="https://herald.example/old", pubDate=f"{reach}T00:00:00Z")
    return feed(*items, old, head="<title>The Herald</title><language>en</language>").encode()


async def feed_answer(desk: Desk, service: Service, raw: bytes, /, **given: Any) -> ServiceAnswer:
    service.always = {"/rss": reply(raw), "/api/v2": reply(b"{}")}
    told = await ask(
        desk, Mode.LIVE, settings(service.url, (f"{service.url}/rss",)), **{**WEEK, **given}
    )
    assert told.failures == ()
    first, second = told.answers
    assert first.service == "GDELT"
    return second
