"""Google: three ways to the same results, one provider."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Filters, Price, Settings, load
from deepdiver.errors import CallFault
from deepdiver.tools import registry
from deepdiver.tools.search.google import ENGINE, KEY, PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults

OWN = {
    KEY: SecretStr("a-key-that-nobody-may-see"),
    ENGINE: SecretStr("017576662512468239146:omuauf_lfve"),
}

# The form of Google's own documentation of Custom Search, shortened.
DOCUMENTED: dict[str, Any] = {
    "kind": "customsearch#search",
    "url": {
        "type": "application/json",
        "template": "https://www.googleapis.com/customsearch/v1?q={searchTerms}",
    },
    "queries": {
        "request": [
            {"title": "Google Custom Search - holm", "totalResults": "2", "searchTerms": "holm"}
        ]
    },
    "context": {"title": "Everything"},
    "searchInformation": {"searchTime": 0.2, "totalResults": "2"},
    "items": [
        {
            "kind": "customsearch#result",
            "title": "Holm Works",
            "htmlTitle": "<b>Holm</b> Works",
            "link": "https://example.org/holm",
            "displayLink": "example.org",
            "snippet": "Holm Works is owned by Anna Holm.",
            "htmlSnippet": "<b>Holm</b> Works is owned by Anna Holm.",
            "formattedUrl": "https://example.org/holm",
            "pagemap": {"metatags": [{"og:title": "Holm"}]},
        },
        {"kind": "customsearch#result", "title": "Bare", "link": "https://example.org/b"},
        {"kind": "customsearch#result", "title": "no address", "snippet": "text"},
    ],
}
EMPTY = {
    "kind": "customsearch#search",
    "queries": {"request": [{"totalResults": "0"}]},
    "searchInformation": {"totalResults": "0"},
}
ANSWERS = {
    "/customsearch/v1": reply(json.dumps(DOCUMENTED).encode()),
    "/search.json": reply(b'{"search_metadata": {"status": "Success"}, "organic_results": []}'),
    "/search": reply(b'{"organic": []}'),
}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=json.dumps(EMPTY).encode(),
        wrong=(
            b"[]",
            b"{}",
            b'{"items": []}',
            b'{"kind": "customsearch#search", "items": {}}',
            b'{"error": {"code": 400, "message": "API key not valid."}}',
        ),
        key=KEY,
        settings={"keys": {ENGINE: OWN[ENGINE]}},
        faults={400: CallFault.AUTH},  # how it refuses a key
    )


def params(service: Service) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(service.heard[-1].split()[1]).query).items()
    }


async def test_the_documented_format_of_custom_search(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    hits = await PROVIDER.search(
        "holm", 6, desk.gateway(urls={"google": f"{service.url}/"}, keys=OWN)
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://example.org/holm",
            "title": "Holm Works",
            "text": "Holm Works is owned by Anna Holm.",
            "provider": "google",
        },
        {"url": "https://example.org/b", "title": "Bare", "text": "Bare", "provider": "google"},
    ]
    assert service.heard[0].startswith("GET /customsearch/v1?q=holm&num=6&safe=active&cx=")
    assert "x-goog-api-key: a-key-that-nobody-may-see" in service.heard[0].lower()
    assert "a-key-that-nobody-may-see" not in service.heard[0].split("\r\n")[0]
    assert params(service) == {
        "q": "holm",
        "num": "6",
        "safe": "active",
        "cx": "017576662512468239146:omuauf_lfve",
    }
    assert "omuauf_lfve" not in desk.everything()
    assert desk.store.journal.rows(desk.run)[0].cost == Decimal("0.005")


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({"region": "SE"}, {"gl": "se"}),
        ({"language": "sv"}, {"lr": "lang_sv"}),
        ({"safe": "off"}, {"safe": "off"}),
        ({"include_domains": ("a.org",)}, {"q": "holm site:a.org"}),
        ({"exclude_domains": ("a.org",)}, {"q": "holm -site:a.org"}),
        (
            {"since": date(2026, 1, 2), "until": date(2026, 3, 4)},
            {"sort": "date:r:20260102:20260304"},
        ),
    ],
)
async def test_filters_of_custom_search(
    desk: Desk, service: Service, filters: dict[str, Any], added: dict[str, Any]
) -> None:
    service.always = reply(json.dumps(EMPTY).encode())
    settings: dict[str, Any] = {"urls": {"google": service.url}, "keys": OWN}
    await PROVIDER.search("holm", 6, desk.gateway(**settings))
    plain = params(service)
    await PROVIDER.search("holm", 6, desk.gateway(**settings, filters=Filters(**filters)))
    assert params(service) == {**plain, **added}
    assert len(service.heard) == 2


async def test_another_engine_is_another_search(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(EMPTY).encode())
    for engine in ("first-engine", "second-engine", "second-engine"):
        keys = {**OWN, ENGINE: SecretStr(engine)}
        await PROVIDER.search("holm", 6, desk.gateway(urls={"google": service.url}, keys=keys))
    assert len(service.heard) == 2


@pytest.mark.parametrize(
    ("set_up", "path", "paid_to", "price"),
    [
        (("google", "serper", "serpapi"), "/search", "serper", "0.001"),
        (("google", "serper"), "/search", "serper", "0.001"),
        (("google", "serpapi"), "/search.json", "serpapi", "0.015"),
        (("google",), "/customsearch/v1", "google", "0.005"),
    ],
)
async def test_the_first_way_that_is_set_up_is_taken(
    desk: Desk, service: Service, set_up: tuple[str, ...], path: str, paid_to: str, price: str
) -> None:
    service.always = ANSWERS
    settings: dict[str, Any] = {"urls": dict.fromkeys(set_up, service.url)}
    await PROVIDER.search("holm", 6, desk.gateway(**settings))
    assert urlsplit(service.heard[0].split()[1]).path == path
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.provider, row.cost) == (paid_to, Decimal(price))
    assert PROVIDER.price(Settings(**settings)) == Decimal(price)  # what a run's ceiling is made of


def test_where_each_way_is() -> None:
    def at(**keys: str) -> str:
        return PROVIDER.address(Settings.model_validate({"keys": keys}))

    assert at() == "https://customsearch.googleapis.com"
    assert at(serpapi="k") == "https://serpapi.com"
    assert at(serpapi="k", serper="k") == "https://google.serper.dev"


def test_prices_of_ones_own() -> None:
    keys = {"serper": SecretStr("k")}
    mine = {"serper": Price(call=Decimal("0.5"))}
    assert PROVIDER.price(Settings(keys=keys, prices=mine)) == Decimal("0.5")
    assert PROVIDER.price(Settings(prices=mine)) == Decimal("0.005")
    both = {**mine, "google": Price(call=Decimal("0.25"))}
    assert PROVIDER.price(Settings(keys=keys, prices=both)) == Decimal("0.25")


def test_what_is_missing() -> None:
    told = PROVIDER.missing(Settings())
    assert told == (
        "set SERPER_API_KEY, or SERPAPI_API_KEY; or GOOGLE_SEARCH_API_KEY and "
        "DEEPDIVER_GOOGLE_CX_KEY (the engine's id)"
    )
    # A key without an engine is half of it.
    assert PROVIDER.missing(Settings(keys={KEY: OWN[KEY]})) == told
    assert PROVIDER.missing(Settings(keys={"google": SecretStr("the key of a model")})) == told
    for keys in (OWN, {"serper": SecretStr("k")}, {"serpapi": SecretStr("k")}):
        assert PROVIDER.missing(Settings(keys=keys)) is None
    assert "1 January 2027" in PROVIDER.about


def test_the_variables_that_are_named_are_read(tmp_path: Path) -> None:
    environ = {"GOOGLE_SEARCH_API_KEY": "key", "DEEPDIVER_GOOGLE_CX_KEY": "engine"}
    settings = load(environ=environ, folder=tmp_path, user_file=tmp_path / "none.toml")
    assert (settings.key(KEY), settings.key(ENGINE)) == ("key", "engine")
    assert PROVIDER.missing(settings) is None
    for name in ("SERPER_API_KEY", "SERPAPI_API_KEY"):
        read = load(environ={name: "key"}, folder=tmp_path, user_file=tmp_path / "none.toml")
        assert PROVIDER.missing(read) is None


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the providers of the web as the distribution does."""
    names = ("brave", "duckduckgo", "exa", "google", "searxng", "tavily")
    points = [
        EntryPoint(name, f"deepdiver.tools.search.{name}:PROVIDER", registry.GROUP)
        for name in names
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    registry.providers.cache_clear()
    yield
    registry.providers.cache_clear()


@pytest.mark.usefixtures("registered")
def test_all_providers_of_the_web_are_registered_by_name() -> None:
    found = registry.providers()
    assert list(found) == ["brave", "duckduckgo", "exa", "google", "searxng", "tavily"]
    for name, provider in found.items():
        assert not isinstance(provider, registry.BrokenProvider)
        assert provider.name == name
        assert all(hasattr(provider, member) for member in registry.MEMBERS)
    assert [name for name, provider in found.items() if getattr(provider, "keyless", False)] == [
        "duckduckgo"
    ]
    assert found["google"] is PROVIDER
