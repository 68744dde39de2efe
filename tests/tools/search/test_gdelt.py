"""GDELT against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.search.gdelt import COUNTRIES, LONGEST, PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import FAST, QUERY, Case, Faults, spoken

# The fields of the ArtList mode in JSON, as the API answers.
ARTICLE = {
    "url": "https://www.kustbladet.example/2026/02/fire",
    "url_mobile": "",
    "title": "Nine hurt in  ferry fire",
    "seendate": "20260208T031500Z",
    "socialimage": "https://www.kustbladet.example/fire.jpg",
    "domain": "kustbladet.example",
    "language": "Swedish",
    "sourcecountry": "Sweden",
}


def body(*articles: object) -> bytes:
    return json.dumps({"articles": articles}).encode()


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


def options(url: str, **more: Any) -> dict[str, Any]:
    return {"urls": {"gdelt": url}, "limits": {"gdelt": FAST}, **more}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=body(ARTICLE),
        empty=b"{}",
        wrong=(
            b"[]",
            b"null",
            b"7",
            b'{"results": []}',
            b'{"articles": {}}',
            b'{"articles": ["https://example.org"]}',
            b'{"articles": [{"url": 7}]}',
        ),
        broken=(
            b"",
            b"<!doctype html><title>Log in</title>",
            b'{"articles": [',
            b"\xff\xfe\x00",
            b"Hello there.",
        ),
    )

    async def test_the_key_is_sent_and_kept_nowhere(
        self, desk: Desk, service: Service, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It has no key, and its hits have no text: the pages themselves are to be read."""
        service.always = spoken(self.case.good)
        (hit,) = await PROVIDER.search(QUERY, 6, desk.gateway(**self.case.options(service.url)))
        assert (hit.text, hit.complete, hit.provider) == ("", False, "gdelt")
        self.unseen(desk, caplog, str(hit))


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ("The specified phrase is too short.", CallFault.REQUEST),
        ("Your query was too short or too long.", CallFault.REQUEST),
        ("One or more of your keywords were too short, too long or too common.", CallFault.REQUEST),
        ("Queries containing OR'd terms must be surrounded by ().", CallFault.REQUEST),
        ("Parentheses may only be used around OR'd statements.", CallFault.REQUEST),
        ("Timespan is too short.", CallFault.REQUEST),
        ("Invalid query start date.", CallFault.REQUEST),
        (
            "Please limit requests to one every 5 seconds or contact us for larger queries.",
            CallFault.RATE,
        ),
    ],
)
async def test_an_error_in_a_sentence_is_not_nothing_found(
    desk: Desk, service: Service, told: str, fault: CallFault
) -> None:
    service.always = reply(f"{told}\n".encode(), Content_Type="text/html; charset=utf-8")
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert caught.value.fault is fault
    if fault is CallFault.REQUEST:
        assert str(caught.value) == f"gdelt refused the query: {told}"
    else:
        assert caught.value.retry_after == 5.0


async def test_a_refusal_does_not_mention_a_key(desk: Desk, service: Service) -> None:
    service.always = reply(b"", "403 Forbidden")
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert "key" not in str(caught.value)
    assert "five seconds" in str(caught.value)


@pytest.mark.parametrize("query", ["???", "a", "what is it", "x y z"])
async def test_a_query_that_it_would_refuse_is_not_sent(
    desk: Desk, service: Service, query: str
) -> None:
    with pytest.raises(CallError, match="gdelt was not asked") as caught:
        await PROVIDER.search(query, 6, desk.gateway(**options(service.url)))
    assert caught.value.fault is CallFault.REQUEST
    assert service.heard == []


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    odd = {
        "url": "https://example.org/odd",
        "title": "Odd",
        "seendate": "yesterday",
        "language": "Klingon",
    }
    service.always = reply(
        body(ARTICLE, odd, {"title": "no address"}, {"url": "https://example.org/untitled"})
    )
    hits = await PROVIDER.search("ferry fire", 6, desk.gateway(**options(service.url)))
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://www.kustbladet.example/2026/02/fire",
            "title": "Nine hurt in ferry fire",
            "publisher": "kustbladet.example",
            "published": "2026-02-08T03:15:00Z",
            "language": "sv",
            "intelligence": "news",
            "provider": "gdelt",
        },
        {
            "url": "https://example.org/odd",
            "title": "Odd",
            "intelligence": "news",
            "provider": "gdelt",
        },
    ]
    (request,) = service.heard
    assert request.startswith("GET /api/v2/doc/doc?")
    assert asked(request) == {
        "query": "ferry fire",
        "mode": "ArtList",
        "format": "json",
        "sort": "HybridRel",
        "maxrecords": "6",
    }


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        (
            rb'{"articles": [{"url": "u:/", "title": "A \- B \\ \"C\" \u00e5 \x"}]}',
            r'A \- B \ "C" å \x',
        ),
        (b'{"articles": [{"url": "u:/", "title": "A\x01\tB\n C"}]}', "A\x01 B C"),
        (rb'{"articles": [{"url": "u:/", "title": "cut \ud83d"}]}', "cut ?"),
        (rb'{"articles": [{"url": "u:/", "title": "end\\"}]}', "end\\"),
    ],
)
async def test_titles_as_they_were_found(
    desk: Desk, service: Service, raw: bytes, title: str
) -> None:
    service.always = reply(raw)
    (hit,) = await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url)))
    assert hit.title == title


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ('"ferry" OR (fire)', "ferry fire"),
        ("Who owns Holm-Works?", "owns Holm Works"),
        ("tone<-5 domain:x.com near20:fire", "tone domain com near20 fire"),
        ("北京 京 地铁", "北京 京 地铁"),
        ("EU sanctions", "EU sanctions"),
    ],
)
async def test_its_query_language_is_not_met(
    desk: Desk, service: Service, query: str, sent: str
) -> None:
    service.always = reply(b"{}")
    await PROVIDER.search(query, 6, desk.gateway(**options(service.url)))
    assert asked(service.heard[0])["query"] == sent


async def test_a_long_query_is_cut(desk: Desk, service: Service) -> None:
    service.always = reply(b"{}")
    await PROVIDER.search("ferry " * 100, 6, desk.gateway(**options(service.url)))
    assert len(asked(service.heard[0])["query"]) <= LONGEST


@pytest.mark.parametrize(
    ("filters", "sent"),
    [
        (Filters(), {"query": "ferry"}),
        (Filters(language="sv"), {"query": "ferry sourcelang:swedish"}),
        (Filters(region="CH"), {"query": "ferry sourcecountry:SZ"}),
        (
            Filters(region="CN", language="zh"),
            {"query": "ferry sourcelang:chinese sourcecountry:CH"},
        ),
        (Filters(region="AQ", language="xx"), {"query": "ferry"}),
        (Filters(since=date(2026, 1, 2)), {"query": "ferry", "startdatetime": "20260102000000"}),
        (
            Filters(until=date(2018, 3, 4)),
            {"query": "ferry", "startdatetime": "20170101000000", "enddatetime": "20180304235959"},
        ),
        (Filters(since=date(1999, 1, 1)), {"query": "ferry", "startdatetime": "20170101000000"}),
    ],
)
async def test_filters(
    desk: Desk, service: Service, filters: Filters, sent: dict[str, str]
) -> None:
    service.always = reply(b"{}")
    await PROVIDER.search("ferry", 6, desk.gateway(**options(service.url, filters=filters)))
    heard = asked(service.heard[0])
    assert {
        name: heard[name] for name in ("query", "startdatetime", "enddatetime") if name in heard
    } == sent
    (row,) = desk.store.journal.rows(desk.run)
    assert {
        name: value
        for name, value in json.loads(row.request).items()
        if value and name != "maxrecords"
    } == sent


def test_the_table_of_countries_has_no_slip() -> None:
    assert all(re.fullmatch("[A-Z]{2}", code) for pair in COUNTRIES.items() for code in pair)
    assert len(set(COUNTRIES.values())) == len(COUNTRIES) == 199
    # Where ISO and FIPS use the same letters for different countries, a slip would search the wrong
    # one.
    confused = {
        "AU": "AS",
        "AT": "AU",
        "CN": "CH",
        "CH": "SZ",
        "DE": "GM",
        "GM": "GA",
        "GA": "GB",
        "GB": "UK",
        "SE": "SW",
    }
    assert {code: COUNTRIES[code] for code in confused} == confused


def test_it_needs_nothing_and_takes_its_time() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("news", True)
    limit = Settings().limit("gdelt", PROVIDER.limit(Settings()))
    assert (limit.rate / limit.per, limit.concurrent) == (1 / 5, 1)
