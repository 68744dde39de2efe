"""Brave against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallFault
from deepdiver.tools.search import dates
from deepdiver.tools.search.brave import COUNTRIES, LANGUAGES, PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults

KEYS = {"brave": SecretStr("a-key-that-nobody-may-see")}

# The fields of a result as Brave's documentation of its web search names them.
DOCUMENTED: dict[str, Any] = {
    "type": "search",
    "query": {"original": "holm works", "more_results_available": True},
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    "web": {
        "type": "search",
        "results": [
            {
                "type": "search_result",
                "title": "Holm &amp; Works",
                "url": "https://example.org/holm",
                "description": "Anna Holm&#x27;s works.",
                "extra_snippets": ["They stand in Holm.", "Anna Holm&#x27;s works."],
                "page_age": "2026-02-08T10:00:00",
                "age": "February 8, 2026",
                "language": "en",
                "family_friendly": True,
                "is_source_local": False,
                "is_source_both": False,
                "profile": {
                    "name": "Example",
                    "long_name": "example.org",
                    "url": "https://example.org",
                    "img": "",
                },
                "meta_url": {
                    "scheme": "https",
                    "netloc": "example.org",
                    "hostname": "example.org",
                    "path": "/holm",
                },
            },
            {
                "type": "search_result",
                "title": "Only a title",
                "url": "https://example.org/t",
                "description": "",
            },
            {
                "type": "search_result",
                "title": "",
                "url": "https://example.org/e",
                "description": None,
            },
            {"type": "search_result", "title": "no address", "description": "text"},
        ],
    },
}
EMPTY = b'{"type": "search", "query": {"original": "q"}, "mixed": {"type": "mixed", "main": []}}'


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=EMPTY,
        wrong=(
            b"[]",
            b"{}",
            b'{"type": "ErrorResponse", "error": {"code": "X"}}',
            b'{"type": "search", "web": []}',
            b'{"type": "search", "web": {"results": [{"extra_snippets": "one"}]}}',
        ),
        key="brave",
        faults={422: CallFault.AUTH},  # how it refuses a key
    )


def params(service: Service) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(service.heard[-1].split()[1]).query).items()
    }


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    hits = await PROVIDER.search(
        "holm works", 6, desk.gateway(urls={"brave": f"{service.url}/"}, keys=KEYS)
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://example.org/holm",
            "title": "Holm & Works",
            "publisher": "Example",
            "published": "2026-02-08T10:00:00",
            "text": "Anna Holm's works.\nThey stand in Holm.",
            "language": "en",
            "provider": "brave",
        },
        {
            "url": "https://example.org/t",
            "title": "Only a title",
            "text": "Only a title",
            "provider": "brave",
        },
    ]
    assert service.heard[0].startswith("GET /res/v1/web/search?q=holm+works&")
    assert "x-subscription-token: a-key-that-nobody-may-see" in service.heard[0].lower()
    assert params(service) == {
        "q": "holm works",
        "count": "6",
        "safesearch": "moderate",
        "extra_snippets": "true",
        "text_decorations": "false",
        "result_filter": "web",
    }
    assert desk.store.journal.rows(desk.run)[0].cost == Decimal("0.005")


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({"region": "SE"}, {"country": "SE"}),
        ({"region": "IS"}, {}),  # Brave refuses a country that it does not know
        ({"language": "sv"}, {"search_lang": "sv"}),
        ({"language": "ja"}, {"search_lang": "jp"}),
        ({"language": "pt"}, {"search_lang": "pt-pt"}),
        ({"language": "pt", "region": "BR"}, {"search_lang": "pt-br", "country": "BR"}),
        ({"language": "sw"}, {}),
        ({"safe": "off"}, {"safesearch": "off"}),
        ({"safe": "strict"}, {"safesearch": "strict"}),
        (
            {"since": date(2026, 1, 2), "until": date(2026, 2, 3)},
            {"freshness": "2026-01-02to2026-02-03"},
        ),
        ({"until": date(2026, 2, 3)}, {"freshness": "1970-01-01to2026-02-03"}),
        ({"include_domains": ("a.org",)}, {"q": "holm site:a.org"}),
        ({"exclude_domains": ("a.org", "b.org")}, {"q": "holm -site:a.org -site:b.org"}),
    ],
)
async def test_filters(
    desk: Desk, service: Service, filters: dict[str, Any], added: dict[str, str]
) -> None:
    service.always = reply(EMPTY)
    settings: dict[str, Any] = {
        "urls": {"brave": service.url},
        "keys": KEYS,
        "limits": {"brave": {"rate": 1000}},
    }
    await PROVIDER.search("holm", 6, desk.gateway(**settings))
    plain = params(service)
    await PROVIDER.search("holm", 6, desk.gateway(**settings, filters=Filters(**filters)))
    assert params(service) == {**plain, **added}
    assert len(service.heard) == (2 if added else 1)


async def test_an_open_end_is_today_and_not_part_of_the_call(
    desk: Desk, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.always = reply(EMPTY)
    settings: dict[str, Any] = {
        "urls": {"brave": service.url},
        "filters": Filters(since=date(2026, 1, 2)),
    }
    for day in (date(2026, 11, 15), date(2026, 11, 16)):
        monkeypatch.setattr(dates, "today", lambda day=day: day)
        await PROVIDER.search("holm", 6, desk.gateway(**settings))
    assert len(service.heard) == 1  # the run goes on the next day, and the search is the same
    assert params(service)["freshness"] == "2026-01-02to2026-11-15"


async def test_no_more_is_asked_than_brave_takes(desk: Desk, service: Service) -> None:
    service.always = reply(EMPTY)
    filters = Filters(include_domains=tuple(f"number-{n}.example.org" for n in range(40)))
    await PROVIDER.search(
        "word " * 49, 50, desk.gateway(urls={"brave": service.url}, filters=filters)
    )
    asked = params(service)
    assert asked["count"] == "20"
    assert len(asked["q"]) <= 400
    assert len(asked["q"].split()) <= 50
    assert asked["q"].endswith("site:number-0.example.org")


async def test_without_a_key_no_header_is_sent(desk: Desk, service: Service) -> None:
    service.always = reply(EMPTY)
    await PROVIDER.search("holm", 6, desk.gateway(urls={"brave": service.url}))
    assert "x-subscription-token" not in service.heard[0].lower()


def test_what_is_missing() -> None:
    assert PROVIDER.missing(Settings()) == "set BRAVE_API_KEY"
    assert PROVIDER.missing(Settings(keys=KEYS)) is None


def test_the_names_are_those_of_iso() -> None:
    for code in COUNTRIES:
        Filters(region=code)
    for code in LANGUAGES:
        Filters(language=code)
