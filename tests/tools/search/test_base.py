"""A new provider: its request, the form of its answer and its hits, and nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from deepdiver.core.settings import Filters, Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode, Request
from deepdiver.tools.hit import Hit
from deepdiver.tools.http import HttpRequest
from deepdiver.tools.search.base import (
    DatedQuery,
    HttpProvider,
    SearchQuery,
    journalled,
    without_empty,
)
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import KEY, Case, Faults


class AtlasQuery(DatedQuery):
    words: str = Field(serialization_alias="q")
    most: int
    maps_only: bool = True
    language: str | None = None


class AtlasResult(BaseModel):
    url: str | None = None
    text: str = "a map"


class AtlasResponse(BaseModel):
    results: list[AtlasResult]


class Atlas(HttpProvider[AtlasQuery, AtlasResponse]):
    name = "atlas"
    about = "maps"
    default_url = "https://atlas.example"
    key_variable = "ATLAS_API_KEY"
    response = AtlasResponse

    def query(self, text: str, limit: int, settings: Settings) -> AtlasQuery:
        filters = settings.filters
        return AtlasQuery(
            words=text,
            most=limit,
            language=filters.language or None,
            since=filters.since,
            until=filters.until,
        )

    def request(self, query: AtlasQuery, settings: Settings) -> HttpRequest:
        headers = without_empty({"x-key": settings.key(self.name)})
        return HttpRequest(self.url("/find", settings), query.params(), headers=headers)

    def hits(self, response: AtlasResponse) -> Iterable[Hit | None]:
        return (
            Hit(url=result.url, text=result.text, provider=self.name) if result.url else None
            for result in response.results
        )


class FreeAtlas(Atlas):
    keyless = True


class OtherAtlas(Atlas):
    service = "other"


PROVIDER, FREE, OTHER = Atlas(), FreeAtlas(), OtherAtlas()
GOOD = json.dumps(
    {"results": [{"url": None}, *({"url": f"https://a.example/{n}"} for n in range(8))]}
).encode()


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=GOOD,
        empty=b'{"results": []}',
        wrong=(b"[]", b"null", b'{"results": 7}', b'{"results": [7]}'),
        key="atlas",
    )


# -- what is missing, where it is


def test_a_key_or_an_address_of_ones_own_is_needed() -> None:
    assert PROVIDER.missing(Settings()) == "set ATLAS_API_KEY"
    assert PROVIDER.missing(Settings(keys={"atlas": SecretStr("k")})) is None
    assert PROVIDER.missing(Settings(urls={"atlas": "http://127.0.0.1:9"})) is None


def test_a_key_has_a_variable_without_any_list() -> None:
    class Nameless(OtherAtlas):
        key_variable = ""

    assert Nameless().missing(Settings()) == "set DEEPDIVER_OTHER_KEY"


def test_a_free_service_needs_nothing() -> None:
    assert FREE.missing(Settings()) is None
    assert PROVIDER.group == FREE.group == "web"


def test_keys_and_addresses_go_by_the_service_that_is_asked() -> None:
    settings = Settings(keys={"atlas": SecretStr("k")}, urls={"other": "http://127.0.0.1:9"})
    assert OTHER.name == "atlas"
    assert OTHER.address(settings) == "http://127.0.0.1:9"
    assert OTHER.missing(Settings(keys={"atlas": SecretStr("k")})) == "set ATLAS_API_KEY"


def test_the_address_is_as_old_journals_hold_it() -> None:
    mine = Settings(urls={"atlas": "http://127.0.0.1:9/"})
    assert PROVIDER.address(mine) == "http://127.0.0.1:9/"
    assert FREE.address(mine) == "http://127.0.0.1:9"
    for provider in (PROVIDER, FREE):
        assert provider.url("/find", mine) == "http://127.0.0.1:9/find"
        assert provider.url("/find", Settings()) == "https://atlas.example/find"


# -- what a refusal says


@pytest.mark.parametrize(
    ("provider", "keys", "told"),
    [
        (PROVIDER, {"atlas": KEY}, "atlas answered 403: check the key and the account behind it"),
        (FREE, {"atlas": KEY}, "atlas answered 403: check ATLAS_API_KEY"),
        (FREE, {}, "atlas answered 403: it wants to know its callers: set ATLAS_API_KEY"),
    ],
)
async def test_a_refusal_says_what_helps(
    desk: Desk, service: Service, provider: Atlas, keys: dict[str, str], told: str
) -> None:
    service.always = reply(b"{}", "403 Forbidden")
    gateway = desk.gateway(urls={"atlas": service.url}, keys=keys)
    with pytest.raises(CallError) as caught:
        await provider.search("holm", 6, gateway)
    assert (str(caught.value), caught.value.fault) == (told, CallFault.AUTH)


# -- what is sent, and what the journal holds


def test_fields_that_are_not_set_are_not_sent() -> None:
    query = AtlasQuery(words="holm", most=6)
    assert query.fields() == {"q": "holm", "most": 6, "maps_only": True}
    assert query.params() == {"q": "holm", "most": "6", "maps_only": "true"}


def test_days_are_journalled_as_given_and_not_sent_by_themselves() -> None:
    settings = Settings(filters=Filters(since=date(2026, 1, 2)))
    query = PROVIDER.query("holm", 6, settings)
    assert not query.params().keys() & {"since", "until"}
    assert PROVIDER.payload(query) == {
        "words": "holm",
        "most": 6,
        "maps_only": True,
        "since": "2026-01-02",
    }


def test_a_free_service_journals_unset_fields_too() -> None:
    query = FREE.query("holm", 6, Settings())
    assert FREE.payload(query) == {
        "words": "holm",
        "most": 6,
        "maps_only": True,
        "language": None,
        "since": None,
        "until": None,
    }


def test_a_query_without_days_sends_all_its_fields() -> None:
    class Plain(SearchQuery):
        since: str

    assert Plain(since="ever").fields() == {"since": "ever"}


@pytest.mark.parametrize(("provider", "known_as"), [(PROVIDER, "atlas"), (OTHER, "other")])
async def test_the_journal_finds_an_answer_again(
    desk: Desk, service: Service, provider: Atlas, known_as: str
) -> None:
    service.always = reply(GOOD)
    settings: dict[str, Any] = {"urls": {known_as: service.url}}
    hits = await provider.search("holm", 3, desk.gateway(**settings))
    assert [hit.url for hit in hits] == [f"https://a.example/{n}" for n in range(3)]
    assert await provider.search("holm", 3, desk.gateway(Mode.REPLAY, **settings)) == hits
    assert len(service.heard) == 1
    (row,) = desk.store.journal.rows(desk.run)
    payload = {"words": "holm", "most": 3, "maps_only": True}
    assert row.key == Request("search", known_as, "holm", payload).key


# -- what it costs


async def test_a_search_costs_what_the_user_says(desk: Desk, service: Service) -> None:
    service.always = reply(GOOD)
    settings: dict[str, Any] = {
        "urls": {"atlas": service.url},
        "prices": {"atlas": {"call": "0.25"}},
    }
    await PROVIDER.search("holm", 3, desk.gateway(**settings))
    await FREE.search("holm", 3, desk.gateway(**settings))
    assert [row.cost for row in desk.store.journal.rows(desk.run)] == [Decimal("0.25"), Decimal(0)]


def test_a_price_that_is_not_known_reserves_nothing() -> None:
    assert PROVIDER.price(Settings()) is None
    assert PROVIDER.reserved(Settings()) == 0


def test_a_list_price_holds_unless_the_user_sets_one() -> None:
    class Dear(Atlas):
        service = "dear"
        list_price = Decimal("0.5")

    own = Settings.model_validate({"prices": {"dear": {"call": "0.1"}}})
    assert (Dear().price(Settings()), Dear().reserved(Settings(), 9)) == (Decimal("0.5"),) * 2
    assert Dear().price(own) == Decimal("0.1")


def test_a_free_service_costs_what_the_user_says_only_in_the_forecast() -> None:
    own = Settings.model_validate({"prices": {"atlas": {"call": "0.1"}}})
    assert FREE.price(Settings()) == 0
    assert FREE.price(own) == Decimal("0.1")
    assert FREE.reserved(own) == 0


async def test_calls_wait_for_the_pace_of_the_service(desk: Desk, service: Service) -> None:
    class Slow(Atlas):
        pace = Limit(rate=1, per=0.4, concurrent=1)

    service.always = reply(GOOD)
    gateway = desk.gateway(urls={"atlas": service.url})
    began = time.monotonic()
    for query in ("one", "two"):
        await Slow().search(query, 3, gateway)
    # From the start: the first call may take long to arrive, and the second need not wait then.
    assert service.times[1] - began >= 0.4
    mine = desk.gateway(urls={"atlas": service.url}, limits={"atlas": Limit(rate=1_000)})
    assert mine.settings.limit("atlas", Slow.pace).rate == 1_000


async def test_an_answer_may_say_what_it_has_cost(desk: Desk) -> None:
    async def fetch() -> AtlasResponse:
        return AtlasResponse(results=[AtlasResult(), AtlasResult()])

    def cost(response: AtlasResponse) -> Decimal:
        return Decimal(len(response.results))

    request = Request("search", "atlas", "holm", {"words": "holm"}, worst=Decimal(9))
    answer = await journalled(request, fetch, AtlasResponse, desk.gateway(), cost=cost)
    assert answer == await fetch()
    assert [row.cost for row in desk.store.journal.rows(desk.run)] == [Decimal(2)]


def test_values_that_are_not_set_are_left_out() -> None:
    assert without_empty({"a": "1", "b": None, "c": ""}) == {"a": "1"}
