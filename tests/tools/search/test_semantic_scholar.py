"""Semantic Scholar against a local server that speaks its format; gateway and store are real."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError
from deepdiver.tools.search.semantic_scholar import PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import FAST, KEY, Case, Faults

# The fields of a paper as the Academic Graph API documents them.
PAPER: dict[str, Any] = {
    "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
    "externalIds": {
        "MAG": "3015453090",
        "DBLP": "conf/acl/LoWNKW20",
        "ACL": "2020",
        "DOI": "10.18653/V1/2020",
        "CorpusId": 215416146,
    },
    "url": "https://www.semanticscholar.org/paper/649def34f8be52c8b66281af98ae884c09aef38b",
    "title": "Construction of the Literature Graph",
    "abstract": "We describe a deployed scalable system.",
    "venue": "Annual Meeting of the Association for Computational Linguistics",
    "year": 2020,
    "publicationDate": "2020-07-05",
    "publicationTypes": ["JournalArticle", "Conference"],
    "authors": [
        {"authorId": "1741101", "name": "Oren Etzioni"},
        {"authorId": None, "name": "W. Ammar"},
    ],
    "openAccessPdf": {
        "url": "https://www.aclweb.org/anthology/2020.pdf",
        "status": "HYBRID",
        "license": None,
    },
    "tldr": {"model": "tldr@v2.0.0", "text": "A machine says so."},
}
BARE = {
    "paperId": "1",
    "url": "https://www.semanticscholar.org/paper/1",
    "title": "Bare",
    "abstract": None,
    "year": None,
}


def body(*papers: object) -> bytes:
    return json.dumps({"total": len(papers), "offset": 0, "next": 6, "data": papers}).encode()


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


def options(url: str, **more: Any) -> dict[str, Any]:
    return {"urls": {"semantic_scholar": url}, "limits": {"semantic_scholar": FAST}, **more}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=body(PAPER),
        empty=b'{"total": 0, "offset": 0}',
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"total": "many"}',
            b'{"total": 1, "data": {}}',
            b'{"total": 1, "data": ["649def"]}',
            b'{"total": 1, "data": [{"title": 7}]}',
            b'{"message": "Forbidden"}',
        ),
        key="semantic_scholar",
    )


async def test_the_key_is_a_header(desk: Desk, service: Service) -> None:
    service.always = reply(body())
    await PROVIDER.search(
        "holm", 6, desk.gateway(**options(service.url, keys={"semantic_scholar": KEY}))
    )
    await PROVIDER.search("works", 6, desk.gateway(**options(service.url)))
    with_key, without = service.heard
    assert f"x-api-key: {KEY}" in with_key
    assert "nobody" not in with_key.split("\r\n")[0]
    assert "x-api-key" not in without.lower()


async def test_a_refusal_says_what_helps(desk: Desk, service: Service) -> None:
    service.always = reply(b'{"message": "Forbidden"}', "403 Forbidden")
    with pytest.raises(
        CallError, match=r"semantic_scholar answered 403: .* set SEMANTIC_SCHOLAR_API_KEY"
    ):
        await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(
        body(PAPER, BARE, {"paperId": "2", "title": "no address"}, {"paperId": "3", "url": "x"})
    )
    hits = await PROVIDER.search("literature graph", 6, desk.gateway(**options(service.url)))
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://doi.org/10.18653/V1/2020",
            "title": "Construction of the Literature Graph",
            "publisher": "Annual Meeting of the Association for Computational Linguistics",
            "publisher_kind": "scientific",
            "author": "Oren Etzioni, W. Ammar",
            "published": "2020-07-05",
            "text": "We describe a deployed scalable system.",
            "provider": "semantic_scholar",
        },
        {
            "url": "https://www.semanticscholar.org/paper/1",
            "title": "Bare",
            "provider": "semantic_scholar",
        },
    ]
    (request,) = service.heard
    assert request.startswith("GET /graph/v1/paper/search?")
    sent = asked(request)
    assert set(sent.pop("fields").split(",")) >= {
        "title",
        "abstract",
        "externalIds",
        "publicationDate",
    }
    assert sent == {"query": "literature graph", "limit": "6"}


async def test_what_a_model_wrote_is_not_taken_for_the_papers_own_words(
    desk: Desk, service: Service
) -> None:
    service.always = reply(body(PAPER | {"abstract": None}))
    (hit,) = await PROVIDER.search("literature graph", 6, desk.gateway(**options(service.url)))
    assert hit.text == ""
    assert "tldr" not in asked(service.heard[0])["fields"]
    assert "A machine says so" not in desk.everything()


@pytest.mark.parametrize(
    ("change", "url", "kind", "published"),
    [
        ({}, "https://doi.org/10.18653/V1/2020", "scientific", "2020-07-05"),
        (
            {"externalIds": {"ArXiv": "2004.1"}, "venue": "arXiv.org", "publicationDate": None},
            "https://arxiv.org/abs/2004.1",
            "preprint",
            "2020",
        ),
        (
            {
                "externalIds": {"ArXiv": "2004.1"},
                "venue": "",
                "publicationDate": None,
                "year": None,
            },
            "https://arxiv.org/abs/2004.1",
            "preprint",
            "",
        ),
        (
            {"externalIds": None, "venue": None, "publicationTypes": None},
            "https://www.semanticscholar.org/paper/649def34f8be52c8b66281af98ae884c09aef38b",
            "",
            "2020-07-05",
        ),
    ],
)
async def test_what_and_where_a_paper_is(
    desk: Desk, service: Service, change: dict[str, Any], url: str, kind: str, published: str
) -> None:
    service.always = reply(body(PAPER | change))
    (hit,) = await PROVIDER.search("literature graph", 6, desk.gateway(**options(service.url)))
    assert (hit.url, hit.publisher_kind, hit.published) == (url, kind, published)


@pytest.mark.parametrize(
    ("since", "until", "sent"),
    [
        (date(2019, 3, 5), None, "2019-03-05:"),
        (None, date(2020, 6, 6), ":2020-06-06"),
        (date(2019, 3, 5), date(2020, 6, 6), "2019-03-05:2020-06-06"),
    ],
)
async def test_days(
    desk: Desk, service: Service, since: date | None, until: date | None, sent: str
) -> None:
    service.always = reply(body())
    filters = Filters(since=since, until=until)
    await PROVIDER.search("holm", 6, desk.gateway(**options(service.url, filters=filters)))
    await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert [asked(request).get("publicationDateOrYear") for request in service.heard] == [
        sent,
        None,
    ]


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("heat-bath walks", "heat bath walks"),  # a word with a hyphen matches nothing there
        ('"exact" | (a + b) -c* AND d~2', "exact a b c and d 2"),
        ("what's GPT-4?", "what's GPT 4"),
    ],
)
async def test_its_query_language_is_not_met(
    desk: Desk, service: Service, query: str, sent: str
) -> None:
    service.always = reply(body())
    await PROVIDER.search(query, 6, desk.gateway(**options(service.url)))
    assert asked(service.heard[0])["query"] == sent


def test_it_needs_nothing_and_takes_its_time() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("scholar", True)
    assert Settings().limit("semantic_scholar", PROVIDER.limit(Settings())).rate == 1.0
