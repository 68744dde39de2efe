"""Exa against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from deepdiver.core.settings import Filters, Price, Settings
from deepdiver.errors import BudgetError
from deepdiver.tools.search.exa import CHARACTERS, PROVIDER, ExaQuery, ExaResponse, ExaResult
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults

SPEC = Path(__file__).parents[4] / "shared" / "data" / "formats" / "api" / "exa-openapi-spec.yaml"
KEYS = {"exa": SecretStr("a-key-that-nobody-may-see")}

# As Exa's description of its own API shows it: the examples of its fields, put together.
DOCUMENTED: dict[str, Any] = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "searchType": "neural",
    "results": [
        {
            "title": "A Comprehensive Overview of Large Language Models",
            "url": "https://arxiv.org/pdf/2307.06435.pdf",
            "publishedDate": "2023-11-16T01:36:32.547Z",
            "author": "Humza  Naveed, University of Engineering and Technology (UET), Lahore, "
            "Pakistan",
            "score": 0.4600165784358978,
            "id": "https://arxiv.org/abs/2307.06435",
            "image": "https://arxiv.org/pdf/2307.06435.pdf/page_1.png",
            "text": "Abstract Large Language Models (LLMs) have recently demonstrated remarkable "
            "capabilities...",
        },
        {
            "title": "Only a title",
            "url": "https://example.org/t",
            "publishedDate": None,
            "author": None,
            "id": "t",
        },
        {"title": "no address", "url": None, "id": "n", "text": "text"},
        {"title": None, "url": "https://example.org/e", "id": "e", "text": ""},
    ],
    "costDollars": {"total": 0.007, "breakDown": [{"search": 0.005, "contents": 0.002}]},
}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=b'{"requestId": "x", "results": []}',
        wrong=(
            b"[]",
            b"{}",
            b'{"results": {}}',
            b'{"results": [{"url": ["u"]}]}',
            b'{"results": [], "costDollars": {"total": "much"}}',
            b'{"results": [], "costDollars": {"total": -1}}',
        ),
        key="exa",
    )


def body(service: Service) -> Any:
    return json.loads(service.heard[-1].partition("\r\n\r\n")[2])


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    hits = await PROVIDER.search(
        "LLMs", 6, desk.gateway(urls={"exa": f"{service.url}/"}, keys=KEYS)
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://arxiv.org/pdf/2307.06435.pdf",
            "title": "A Comprehensive Overview of Large Language Models",
            "author": "Humza Naveed, University of Engineering and Technology (UET), Lahore, "
            "Pakistan",
            "published": "2023-11-16T01:36:32.547Z",
            "text": "Abstract Large Language Models (LLMs) have recently demonstrated remarkable "
            "capabilities...",
            "provider": "exa",
        },
        {
            "url": "https://example.org/t",
            "title": "Only a title",
            "text": "Only a title",
            "provider": "exa",
        },
    ]
    head = service.heard[0].partition("\r\n\r\n")[0].lower()
    assert head.startswith("post /search http/1.1")
    assert "x-api-key: a-key-that-nobody-may-see" in head
    assert body(service) == {
        "query": "LLMs",
        "type": "auto",
        "numResults": 6,
        "contents": {"text": {"maxCharacters": 2000}},
        "moderation": True,
    }


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({"include_domains": ("a.org", "b.org")}, {"includeDomains": ["a.org", "b.org"]}),
        ({"exclude_domains": ("c.org",)}, {"excludeDomains": ["c.org"]}),
        ({"since": date(2026, 1, 2)}, {"startPublishedDate": "2026-01-02T00:00:00.000Z"}),
        ({"until": date(2026, 1, 2)}, {"endPublishedDate": "2026-01-02T23:59:59.999Z"}),
        ({"region": "SE"}, {"userLocation": "SE"}),
        ({"safe": "off"}, {"moderation": False}),
        ({"safe": "strict"}, {"moderation": True}),
        ({"language": "de"}, {}),
    ],
)
async def test_filters(
    desk: Desk, service: Service, filters: dict[str, Any], added: dict[str, Any]
) -> None:
    service.always = reply(b'{"results": []}')
    settings: dict[str, Any] = {"urls": {"exa": service.url}, "keys": KEYS}
    await PROVIDER.search("LLMs", 6, desk.gateway(**settings))
    plain = body(service)
    await PROVIDER.search("LLMs", 6, desk.gateway(**settings, filters=Filters(**filters)))
    assert body(service) == {**plain, **added}
    differs = {**plain, **added} != plain
    # Another filter is another search, and only that.
    assert len(service.heard) == (2 if differs else 1)


@pytest.mark.skipif(
    not SPEC.is_file(), reason=f"Exa's description of its API ({SPEC.name}) is not here"
)
def test_what_is_sent_and_read_stands_in_exas_own_description() -> None:
    yaml = pytest.importorskip("yaml", reason="the description is YAML")
    spec = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
    own, more = spec["paths"]["/search"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]["allOf"]
    shared = spec["components"]["schemas"]["CommonRequest"]["properties"]
    assert more == {"$ref": "#/components/schemas/CommonRequest"}
    assert set(ExaQuery.model_fields) <= {*own["properties"], *shared}
    assert "useAutoprompt" not in {*own["properties"], *shared}  # the type auto includes it
    assert "auto" in own["properties"]["type"]["enum"]
    text = spec["components"]["schemas"]["ContentsRequest"]["properties"]["text"]["oneOf"][1][
        "properties"
    ]
    assert "maxCharacters" in text
    result = spec["components"]["schemas"]["Result"]["properties"].keys()
    content = spec["components"]["schemas"]["ResultWithContent"]["allOf"][1]["properties"].keys()
    assert set(ExaResult.model_fields) <= {*result, *content}
    answer = spec["components"]["responses"]["SearchResponse"]["content"]["application/json"][
        "schema"
    ]
    assert set(ExaResponse.model_fields) <= answer["properties"].keys()


async def test_what_exa_says_that_it_cost_is_charged(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    await PROVIDER.search("LLMs", 6, desk.gateway(urls={"exa": service.url}, keys=KEYS))
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.cost, row.worst) == (Decimal("0.007"), Decimal("0.011"))


async def test_where_exa_says_nothing_the_list_price_is_charged(
    desk: Desk, service: Service
) -> None:
    service.always = reply(b'{"results": []}')
    await PROVIDER.search("LLMs", 30, desk.gateway(urls={"exa": service.url}, keys=KEYS))
    (row,) = desk.store.journal.rows(desk.run)
    assert row.cost == row.worst == PROVIDER.price(Settings(), 30) == Decimal("0.055")


async def test_a_price_of_ones_own_goes_before_both(desk: Desk, service: Service) -> None:
    service.always = reply(json.dumps(DOCUMENTED).encode())
    prices = {"exa": Price(call=Decimal("0.001"))}
    await PROVIDER.search(
        "LLMs", 6, desk.gateway(urls={"exa": service.url}, keys=KEYS, prices=prices)
    )
    assert desk.store.journal.rows(desk.run)[0].cost == Decimal("0.001")


async def test_what_does_not_fit_the_budget_is_not_sent(desk: Desk, service: Service) -> None:
    with pytest.raises(BudgetError):
        await PROVIDER.search(
            "LLMs", 6, desk.gateway(urls={"exa": service.url}, keys=KEYS, budget=Decimal("0.0109"))
        )
    assert service.heard == []


def test_what_is_missing() -> None:
    assert PROVIDER.missing(Settings()) == "set EXA_API_KEY"
    assert PROVIDER.missing(Settings(keys=KEYS)) is None
    assert CHARACTERS == 2_000
    assert "2,000" in PROVIDER.about


@pytest.mark.parametrize(
    ("results", "price"),
    [(1, "0.006"), (6, "0.011"), (25, "0.030"), (26, "0.051"), (50, "0.075"), (0, "0.011")],
)
def test_the_price_is_by_results(results: int, price: str) -> None:
    assert PROVIDER.price(Settings(), results) == Decimal(price)


def test_the_price_is_by_the_results_of_the_settings() -> None:
    settings = Settings.model_validate({"filters": {"results": 40}})
    assert PROVIDER.price(settings) == PROVIDER.price(Settings(), 40) == Decimal("0.065")
    own = Settings.model_validate({"prices": {"exa": {"call": "0.25"}}})
    assert PROVIDER.price(own, 40) == Decimal("0.25")


@given(st.integers(1, 100), st.integers(0, 99))
def test_more_results_never_cost_less(few: int, more: int) -> None:
    less, greater = (PROVIDER.price(Settings(), n) for n in (few, min(100, few + more)))
    assert less is not None
    assert greater is not None
    assert greater >= less > 0
