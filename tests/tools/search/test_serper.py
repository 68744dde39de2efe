"""Serper against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Filters, Settings
from deepdiver.tools.search import dates
from deepdiver.tools.search.serper import PROVIDER, google_days
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults

KEYS = {"serper": SecretStr("a-key-that-nobody-may-see")}

# An answer in the form that Serper shows on its own pages, shortened.
DOCUMENTED: dict[str, Any] = {
    "searchParameters": {
        "q": "apple inc",
        "gl": "us",
        "hl": "en",
        "num": 10,
        "type": "search",
        "engine": "google",
    },
    "knowledgeGraph": {"title": "Apple", "type": "Technology company"},
    "organic": [
        {
            "title": "Apple",
            "link": "https://www.apple.com/",
            "snippet": "Discover the innovative world of Apple.",
            "sitelinks": [{"title": "Support", "link": "https://support.apple.com/"}],
            "position": 1,
        },
        {
            "title": "Apple Inc. - Wikipedia",
            "link": "https://en.wikipedia.org/wiki/Apple_Inc.",
            "snippet": "Apple Inc. is a multinational technology company.",
            "date": "Jan 5, 2026",
            "attributes": {"Founded": "April 1, 1976"},
            "position": 2,
        },
        {
            "title": "Fresh",
            "link": "https://example.org/f",
            "snippet": "",
            "date": "3 days ago",
            "position": 3,
        },
        {"title": "no address", "snippet": "text", "position": 4},
    ],
    "peopleAlsoAsk": [],
    "relatedSearches": [{"query": "apple store"}],
    "credits": 1,
}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=b'{"searchParameters": {"q": "q"}, "organic": [], "credits": 1}',
        wrong=(
            b"[]",
            b"{}",
            b'{"organic": {}}',
            b'{"organic": [{"link": 1}]}',
            b'{"message": "Unauthorized."}',
        ),
        key="serper",
        place="serper",
        asked="serper",
    )


def body(service: Service) -> Any:
    return json.loads(service.heard[-1].partition("\r\n\r\n")[2])


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    hits = await PROVIDER.search(
        "apple inc", 6, desk.gateway(urls={"serper": f"{service.url}/"}, keys=KEYS)
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://www.apple.com/",
            "title": "Apple",
            "text": "Discover the innovative world of Apple.",
            "provider": "google",
        },
        {
            "url": "https://en.wikipedia.org/wiki/Apple_Inc.",
            "title": "Apple Inc. - Wikipedia",
            "text": "Apple Inc. is a multinational technology company.",
            "published": "2026-01-05",
            "provider": "google",
        },
        {"url": "https://example.org/f", "title": "Fresh", "text": "Fresh", "provider": "google"},
    ]
    head = service.heard[0].partition("\r\n\r\n")[0].lower()
    assert head.startswith("post /search http/1.1")
    assert "x-api-key: a-key-that-nobody-may-see" in head
    assert body(service) == {"q": "apple inc", "num": 6}
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.provider, row.cost) == ("serper", Decimal("0.001"))


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({"region": "SE"}, {"gl": "se"}),
        ({"language": "sv"}, {"hl": "sv"}),
        ({"include_domains": ("a.org", "b.org")}, {"q": "holm (site:a.org OR site:b.org)"}),
        ({"exclude_domains": ("a.org",)}, {"q": "holm -site:a.org"}),
        (
            {"since": date(2026, 1, 2), "until": date(2026, 12, 31)},
            {"tbs": "cdr:1,cd_min:01/02/2026,cd_max:12/31/2026"},
        ),
        ({"safe": "off"}, {}),
    ],
)
async def test_filters(
    desk: Desk, service: Service, filters: dict[str, Any], added: dict[str, Any]
) -> None:
    service.always = reply(b'{"organic": []}')
    settings: dict[str, Any] = {"urls": {"serper": service.url}, "keys": KEYS}
    await PROVIDER.search("holm", 6, desk.gateway(**settings))
    plain = body(service)
    await PROVIDER.search("holm", 6, desk.gateway(**settings, filters=Filters(**filters)))
    assert body(service) == {**plain, **added}
    assert len(service.heard) == (2 if added else 1)


async def test_no_more_is_asked_than_one_price_buys(desk: Desk, service: Service) -> None:
    service.always = reply(b'{"organic": []}')
    await PROVIDER.search("word " * 100, 50, desk.gateway(urls={"serper": service.url}))
    assert body(service)["num"] == 10
    assert len(body(service)["q"].split()) == 32


def test_open_ends_of_a_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dates, "today", lambda: date(2026, 11, 15))
    assert google_days(Filters()) == {}
    assert google_days(Filters(since=date(2026, 1, 2))) == {
        "tbs": "cdr:1,cd_min:01/02/2026,cd_max:11/15/2026"
    }
    assert google_days(Filters(until=date(2026, 1, 2))) == {
        "tbs": "cdr:1,cd_min:01/01/1970,cd_max:01/02/2026"
    }


def test_what_is_missing() -> None:
    assert PROVIDER.missing(Settings()) == "set SERPER_API_KEY"
    assert PROVIDER.missing(Settings(keys=KEYS)) is None
