"""OpenSanctions' match API, from a local server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.osint.sanctions.match_api import LIMIT, address, ask_match_api
from deepdiver.tools.osint.sanctions.query import Kind, SanctionsQuery
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply

RESULT: dict[str, Any] = {
    "id": "Q123",
    "caption": "Ivan PETROV",
    "schema": "Person",
    "properties": {
        "name": ["Ivan PETROV"],
        "alias": ["Иван Петров", "Vanya  Baker"],
        "birthDate": ["1961-05-02"],
        "nationality": ["ru"],
        "country": ["RU"],
        "addressEntity": [{"id": "addr-1", "caption": "Moscow"}],
    },
    "datasets": ["eu_fsf", "us_ofac_sdn"],
    "referents": ["ofac-1"],
    "target": True,
    "first_seen": "2022-03-02T09:00:00",
    "last_seen": "2026-11-14T06:00:00",
    "last_change": "2026-11-01T06:00:00",
    "score": 0.9345,
    "match": True,
    "features": {"name_literal_match": 1.0},
    "explanations": {},
}
"""A result as the API documents it."""
WEAK = {
    **RESULT,
    "id": "Q9",
    "caption": "Ivan PETROW",
    "score": 0.61,
    "match": False,
    "first_seen": None,
}


def body(*results: dict[str, Any], status: int = 200) -> bytes:
    query = {"schema": "Person", "properties": {}}
    told = {
        "status": status,
        "results": list(results),
        "total": {"value": len(results), "relation": "eq"},
    }
    return json.dumps(
        {"responses": {"q": {**told, "query": query}}, "limit": LIMIT, "matcher": {}}
    ).encode()


def options(service: Service) -> dict[str, Any]:
    return {
        "urls": {"opensanctions": service.url},
        "keys": {"opensanctions": SecretStr("a-key-of-mine")},
    }


async def test_the_body_of_the_request(desk: Desk, service: Service) -> None:
    service.always = reply(body())
    await ask_match_api(
        SanctionsQuery("Ivan Petrov", "1961-05", "ru", "person"), desk.gateway(**options(service))
    )
    (heard,) = service.heard
    head, _, sent = heard.partition("\r\n\r\n")
    assert head.startswith(f"POST /match/default?limit={LIMIT} HTTP/1.1")
    assert "authorization: apikey a-key-of-mine" in head.lower()
    properties = {"name": ["Ivan Petrov"], "birthDate": ["1961-05"], "country": ["ru"]}
    assert json.loads(sent) == {"queries": {"q": {"schema": "Person", "properties": properties}}}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("", "LegalEntity"),
        ("person", "Person"),
        ("organisation", "Organization"),
        ("vessel", "Vessel"),
    ],
)
async def test_the_schema_for_each_kind(
    desk: Desk, service: Service, kind: Kind, schema: str
) -> None:
    service.always = reply(body())
    told = await ask_match_api(
        SanctionsQuery("Star Light", kind=kind), desk.gateway(**options(service))
    )
    assert f'"schema":"{schema}"' in service.heard[0].replace(" ", "")
    assert told.summary.startswith('No match for "Star Light" in the ')
    assert told.summary.endswith("of OpenSanctions' collection default.")


async def test_results_become_rows(desk: Desk, service: Service) -> None:
    service.always = reply(body(WEAK, RESULT))
    told = await ask_match_api(
        SanctionsQuery("Vanya Baker", "1961", "de"), desk.gateway(**options(service))
    )
    assert told.summary == (
        '1 match and 1 possible match for "Vanya Baker" in the persons and organisations of '
        "OpenSanctions' "
        "collection default."
    )
    first, second = told.rows
    assert "similarity 0.93 to the name asked" in first.sentence
    assert (
        'a match: alias "Vanya Baker", the same name, birth year agrees, country differs.'
        in first.sentence
    )
    assert first.data["countries"] == ["ru"]
    assert (first.data["id"], first.data["score"], first.data["match"]) == ("Q123", 0.93, True)
    assert "a possible match at most" in second.sentence
    assert "In OpenSanctions, last seen 2026-11-14: " in second.sentence
    assert told.url == f"{service.url}/match/default"


async def test_a_query_that_was_refused(desk: Desk, service: Service) -> None:
    service.always = reply(body(status=400))
    with pytest.raises(CallError, match="answered 400 to the query") as caught:
        await ask_match_api(SanctionsQuery("Ivan Petrov"), desk.gateway(**options(service)))
    assert caught.value.fault is CallFault.REQUEST


async def test_another_query_was_answered(desk: Desk, service: Service) -> None:
    service.always = reply(body().replace(b'"q"', b'"p"'))
    with pytest.raises(CallError) as caught:
        await ask_match_api(SanctionsQuery("Ivan Petrov"), desk.gateway(**options(service)))
    assert caught.value.fault is CallFault.MALFORMED


async def test_thousands_of_names_are_bounded(desk: Desk, service: Service) -> None:
    properties = {**RESULT["properties"], "alias": [f"Alias {n} Name" for n in range(5_000)]}
    service.always = reply(body({**RESULT, "properties": properties}))
    told = await ask_match_api(SanctionsQuery("Ivan Petrov"), desk.gateway(**options(service)))
    assert len(told.rows) == 1
    assert len(desk.everything()) < 20_000


def test_the_address_of_the_api() -> None:
    assert address(Settings()) == "https://api.opensanctions.org"
    assert address(Settings(urls={"opensanctions": "http://127.0.0.1:9/"})) == "http://127.0.0.1:9"


async def test_long_values_are_cut(desk: Desk, service: Service) -> None:
    many = {
        "birthDate": [f"19{n % 90 + 10}-01-{n % 28 + 1:02d}" for n in range(5_000)],
        "name": ["x" * 1_000_000],
    }
    endless = {
        **RESULT,
        "caption": "y" * 1_000_000,
        "datasets": ["eu_fsf"] * 10_000,
        "properties": many,
    }
    service.always = reply(body(endless))
    (row,) = (
        await ask_match_api(SanctionsQuery("Ivan Petrov"), desk.gateway(**options(service)))
    ).rows
    assert len(row.sentence) < 2_000
    assert len(desk.everything()) < 30_000


async def test_values_that_are_entities_are_left_out(desk: Desk, service: Service) -> None:
    odd = {"name": ["Ivan PETROV", {"id": "x"}, None, 7], "birthDate": [], "country": [["ru"]]}
    service.always = reply(body({**RESULT, "properties": odd}))
    (row,) = (
        await ask_match_api(SanctionsQuery("Ivan Petrov"), desk.gateway(**options(service)))
    ).rows
    assert (row.data["countries"], row.data["birth_date"]) == ([], [])
