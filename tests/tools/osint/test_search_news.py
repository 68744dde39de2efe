"""News, against local servers that speak GDELT's formats and those of news feeds."""

from __future__ import annotations

from deepdiver.core.settings import Limit, Settings
from deepdiver.gateway import Mode
from deepdiver.tools.osint.feed import Feed, IntelligenceType, shown_arguments
from deepdiver.tools.osint.news.arguments import NewsArguments
from deepdiver.tools.osint.search_news import FEED
from deepdiver.tools.search import gdelt
from tests.tools.conftest import Desk
from tests.tools.osint.faults import FeedCase, FeedFaults
from tests.tools.osint.news.conftest import (
    ARTICLE,
    COUNT,
    LIST,
    WEEK,
    ask,
    herald,
    listed,
    settings,
    timeline,
)
from tests.tools.osint.news.test_rss import RSS
from tests.tools.search.conftest import Service, reply


class TestFaults(FeedFaults):
    case = FeedCase(
        FEED,
        service="gdelt",
        args={"keywords": "ferry fire", **WEEK},
        good={LIST: listed(ARTICLE), COUNT: timeline(d20261110=1)},
        empty=b"{}",
        wrong=(
            b"[]",
            b"null",
            b"7",
            b'{"results": []}',
            b'{"articles": {}}',
            b'{"articles": ["https://example.org"]}',
            b'{"articles": [{"url": 7}]}',
            b'{"timeline": {}}',
        ),
        vary=lambda number: {"keywords": f"ferry fire {number + 10}"},
    )


async def test_a_news_feed_that_fails_costs_only_its_own_rows(
    desk: Desk, service: Service, nobody: str
) -> None:
    service.always = {
        "/good": reply(herald(("Ferry fire", "2026-11-10T14:05:00Z", ""))),
        "/html": reply(b"<!doctype html><title>Log in</title>"),
        "/gone": reply(b"", "404 Not Found"),
        "/cut": reply(RSS.encode()[:-20]),
        "/large": reply(b"<rss>" + b"a" * 10_000_000),
        "/api/v2": reply(b"", "500 Internal Server Error"),
    }
    paths = ("good", "html", "gone", "cut", "large", "good")
    options = settings(service.url, (*(f"{service.url}/{path}" for path in paths), f"{nobody}/rss"))
    live = await ask(desk, Mode.LIVE, options, **WEEK)
    assert [answer.url for answer in live.answers] == [f"{service.url}/good"]
    assert list(live.failures) == [
        "GDELT failed: gdelt answered 500",
        f"the news feed {service.url}/html failed: rss answered with something that is not its XML",
        f"the news feed {service.url}/gone failed: rss answered 404",
        f"the news feed {service.url}/cut failed: rss answered with something that is not its XML",
        f"the news feed {service.url}/large failed: rss answered with more than 8,000,000 bytes",
        f"the news feed {nobody}/rss failed: rss could not be reached: ConnectError",
    ]
    heard = len(service.heard)
    assert await ask(desk, Mode.REPLAY, options, **WEEK) == live
    assert len(service.heard) == heard


async def test_a_word_that_gdelt_refuses_is_still_searched_in_news_feeds(
    desk: Desk, service: Service
) -> None:
    service.always = reply(herald(("Vitamin K recalled", "2026-11-10T14:05:00Z", "")))
    options = settings(service.url, (f"{service.url}/rss",))
    told = await ask(desk, Mode.LIVE, options, keywords="K", **WEEK)
    assert [len(answer.rows) for answer in told.answers] == [1]
    assert "gdelt was not asked" in told.failures[0]


def test_name_and_arguments() -> None:
    news: Feed[NewsArguments] = FEED
    assert (news.name, news.kind) == ("search_news", IntelligenceType.NEWS)
    assert news.missing(Settings()) is None
    assert any(line.startswith("keywords: ") for line in shown_arguments(news))
    limit: Limit = Settings().limit("gdelt", gdelt.PROVIDER.pace)
    assert (limit.rate / limit.per, limit.concurrent) == (1 / 5, 1)
