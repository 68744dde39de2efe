"""SerpAPI against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
import logging
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.search.serpapi import PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults

KEY = "a-key-that-nobody-may-see"
KEYS = {"serpapi": SecretStr(KEY)}

# An answer in the form that SerpAPI documents for the engine `google`, shortened.
DOCUMENTED: dict[str, Any] = {
    "search_metadata": {
        "id": "5fd9",
        "status": "Success",
        "json_endpoint": "https://serpapi.com/searches/x/5fd9.json",
        "total_time_taken": 1.2,
    },
    "search_parameters": {
        "engine": "google",
        "q": "Coffee",
        "google_domain": "google.com",
        "device": "desktop",
    },
    "search_information": {
        "organic_results_state": "Results for exact spelling",
        "total_results": 10,
    },
    "organic_results": [
        {
            "position": 1,
            "title": "Coffee - Wikipedia",
            "link": "https://en.wikipedia.org/wiki/Coffee",
            "redirect_link": "https://www.google.com/url?x",
            "displayed_link": "https://en.wikipedia.org › wiki › Coffee",
            "snippet": "Coffee is a brewed drink prepared from roasted coffee beans.",
            "snippet_highlighted_words": ["Coffee"],
            "date": "Jan 24, 2019",
            "source": "Wikipedia",
        },
        {"position": 2, "title": "Bare", "link": "https://example.org/b"},
        {"position": 3, "title": "no address", "snippet": "text"},
    ],
    "pagination": {"current": 1},
}
EMPTY = {
    "search_metadata": {"status": "Success"},
    "search_information": {"organic_results_state": "Fully empty"},
    "error": "Google hasn't returned any results for this query.",
}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=json.dumps(EMPTY).encode(),
        wrong=(
            b"[]",
            b"{}",
            b'{"organic_results": []}',
            b'{"error": "Missing query `q` parameter."}',
            b'{"search_metadata": {"status": "Success"}, "organic_results": {}}',
        ),
        key="serpapi",
        place="serpapi",
        asked="serpapi",
    )


def params(service: Service) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(service.heard[-1].split()[1]).query).items()
    }


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    hits = await PROVIDER.search(
        "Coffee", 6, desk.gateway(urls={"serpapi": f"{service.url}/"}, keys=KEYS)
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://en.wikipedia.org/wiki/Coffee",
            "title": "Coffee - Wikipedia",
            "publisher": "Wikipedia",
            "published": "2019-01-24",
            "text": "Coffee is a brewed drink prepared from roasted coffee beans.",
            "provider": "google",
        },
        {"url": "https://example.org/b", "title": "Bare", "text": "Bare", "provider": "google"},
    ]
    assert service.heard[0].startswith("GET /search.json?engine=google&q=Coffee&")
    assert params(service) == {"engine": "google", "q": "Coffee", "num": "6", "api_key": KEY}
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.provider, row.cost) == ("serpapi", Decimal("0.015"))


async def test_a_search_that_failed_behind_it_is_no_answer(desk: Desk, service: Service) -> None:
    body = {
        "search_metadata": {"status": "Error"},
        "error": f"We couldn't get valid results for {KEY}.",
    }
    service.always = reply(json.dumps(body).encode())
    with pytest.raises(CallError, match=r"^serpapi got no answer from Google$") as caught:
        await PROVIDER.search("Coffee", 6, desk.gateway(urls={"serpapi": service.url}, keys=KEYS))
    assert (caught.value.fault, caught.value.retryable) == (CallFault.SERVER, True)
    assert desk.store.journal.rows(desk.run)[0].cost == 0


async def test_the_key_in_the_address_is_logged_by_nobody(
    desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service.always = reply(json.dumps(DOCUMENTED).encode())
    await PROVIDER.search("Coffee", 6, desk.gateway(urls={"serpapi": service.url}, keys=KEYS))
    told = [record.getMessage() for record in caplog.records if record.name == "httpx"]
    assert told == [f'HTTP Request: GET {service.url}/search.json "HTTP/1.1 200 OK"']
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({"region": "SE"}, {"gl": "se"}),
        ({"language": "sv"}, {"hl": "sv", "lr": "lang_sv"}),
        ({"safe": "off"}, {"safe": "off"}),
        ({"safe": "strict"}, {"safe": "active"}),
        ({"include_domains": ("a.org",)}, {"q": "holm site:a.org"}),
        ({"exclude_domains": ("a.org",)}, {"q": "holm -site:a.org"}),
        ({"until": date(2026, 1, 2)}, {"tbs": "cdr:1,cd_min:01/01/1970,cd_max:01/02/2026"}),
    ],
)
async def test_filters(
    desk: Desk, service: Service, filters: dict[str, Any], added: dict[str, Any]
) -> None:
    service.always = reply(json.dumps(EMPTY).encode())
    settings: dict[str, Any] = {"urls": {"serpapi": service.url}, "keys": KEYS}
    await PROVIDER.search("holm", 6, desk.gateway(**settings))
    plain = params(service)
    await PROVIDER.search("holm", 6, desk.gateway(**settings, filters=Filters(**filters)))
    assert params(service) == {**plain, **added}
    assert len(service.heard) == 2


def test_what_is_missing() -> None:
    assert PROVIDER.missing(Settings()) == "set SERPAPI_API_KEY"
    assert PROVIDER.missing(Settings(keys=KEYS)) is None
