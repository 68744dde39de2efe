"""OpenAlex against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError
from deepdiver.tools.search.openalex import FARTHEST, PROVIDER, abstract
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import KEY, Case, Faults

# The fields of a work as OpenAlex documents them.
WORK: dict[str, Any] = {
    "id": "https://openalex.org/W2741809807",
    "doi": "https://doi.org/10.7717/peerj.4375",
    "title": "The state of <i>OA</i>: a large-scale analysis",
    "display_name": "The state of OA: a large-scale analysis",
    "publication_date": "2018-02-13",
    "language": "en",
    "type": "article",
    "is_retracted": False,
    "relevance_score": 99.1,
    "primary_location": {
        "is_oa": True,
        "landing_page_url": "https://doi.org/10.7717/peerj.4375",
        "pdf_url": None,
        "source": {
            "id": "https://openalex.org/S1983995261",
            "display_name": "PeerJ",
            "type": "journal",
        },
        "license": "cc-by",
        "version": "publishedVersion",
    },
    "best_oa_location": {
        "is_oa": True,
        "landing_page_url": "https://peerj.com/articles/4375",
        "pdf_url": "https://peerj.com/articles/4375.pdf",
        "source": None,
    },
    "authorships": [
        {
            "author_position": "first",
            "author": {"id": "https://openalex.org/A1", "display_name": "Heather Piwowar"},
        },
        {
            "author_position": "last",
            "author": {"id": "https://openalex.org/A2", "display_name": "Jason Priem"},
        },
    ],
    "abstract_inverted_index": {
        "Despite": [0],
        "growing": [1],
        "interest": [2, 4],
        "in": [3],
        "OA.": [5],
    },
}
BARE = {
    "id": "https://openalex.org/W1",
    "doi": None,
    "title": "Bare",
    "type": "dataset",
    "primary_location": None,
}
GOOD = json.dumps(
    {"meta": {"count": 1, "page": 1, "per_page": 6}, "results": [WORK], "group_by": []}
).encode()
EMPTY = b'{"meta": {"count": 0, "page": 1, "per_page": 6}, "results": [], "group_by": []}'


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=GOOD,
        empty=EMPTY,
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"results": 7}',
            b'{"results": ["W1"]}',
            b'{"results": [{"id": 7}]}',
            b'{"results": [{"abstract_inverted_index": {"a": "b"}}]}',
            b'{"error": "Invalid filter", "message": "Unknown filter field"}',
        ),
        key="openalex",
    )


@pytest.mark.parametrize(
    ("keyed", "told"), [(False, "set OPENALEX_API_KEY"), (True, "check OPENALEX_API_KEY")]
)
async def test_a_refusal_says_what_helps(
    desk: Desk, service: Service, keyed: bool, told: str
) -> None:
    service.always = reply(b"{}", "403 Forbidden")
    keys = {"openalex": KEY} if keyed else {}
    with pytest.raises(CallError, match=told):
        await PROVIDER.search("holm", 6, desk.gateway(urls={"openalex": service.url}, keys=keys))


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(
        json.dumps({"meta": {}, "results": [WORK, BARE, {"title": "no address"}]}).encode()
    )
    hits = await PROVIDER.search("open access", 6, desk.gateway(urls={"openalex": service.url}))
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://doi.org/10.7717/peerj.4375",
            "title": "The state of OA: a large-scale analysis",
            "publisher": "PeerJ",
            "publisher_kind": "scientific",
            "author": "Heather Piwowar, Jason Priem",
            "published": "2018-02-13",
            "text": "Despite growing interest in interest OA.",
            "language": "en",
            "provider": "openalex",
        },
        {"url": "https://openalex.org/W1", "title": "Bare", "provider": "openalex"},
    ]
    (request,) = service.heard
    assert request.startswith("GET /works?")
    sent = asked(request)
    assert set(sent.pop("select").split(",")) >= {
        "doi",
        "title",
        "abstract_inverted_index",
        "is_retracted",
    }
    assert sent == {"search": "open access", "per_page": "6"}
    (row,) = desk.store.journal.rows(desk.run)
    assert "https://peerj.com/articles/4375.pdf" in (row.reply or "")


@pytest.mark.parametrize(
    ("change", "url"),
    [
        ({"doi": None}, "https://doi.org/10.7717/peerj.4375"),
        ({"doi": None, "primary_location": None}, "https://peerj.com/articles/4375"),
        (
            {
                "doi": None,
                "primary_location": None,
                "best_oa_location": {"pdf_url": "https://peerj.com/a.pdf"},
            },
            "https://peerj.com/a.pdf",
        ),
        (
            {"doi": None, "primary_location": {}, "best_oa_location": None},
            "https://openalex.org/W2741809807",
        ),
    ],
)
async def test_where_a_work_is(
    desk: Desk, service: Service, change: dict[str, Any], url: str
) -> None:
    service.always = reply(json.dumps({"results": [WORK | change]}).encode())
    (hit,) = await PROVIDER.search("open access", 6, desk.gateway(urls={"openalex": service.url}))
    assert hit.url == url


@pytest.mark.parametrize(
    ("change", "kind", "title"),
    [
        ({"type": "preprint"}, "preprint", "The state"),
        ({"type": "review"}, "scientific", "The state"),
        ({"type": "dataset"}, "", "The state"),
        ({"type": None}, "", "The state"),
        ({"is_retracted": True}, "", "Retracted: The state"),
    ],
)
async def test_what_kind_of_work_it_is(
    desk: Desk, service: Service, change: dict[str, Any], kind: str, title: str
) -> None:
    service.always = reply(json.dumps({"results": [WORK | change]}).encode())
    (hit,) = await PROVIDER.search("open access", 6, desk.gateway(urls={"openalex": service.url}))
    assert hit.publisher_kind == kind
    assert hit.title.startswith(title)


async def test_key_contact_and_filters_go_into_the_address(desk: Desk, service: Service) -> None:
    service.always = reply(EMPTY)
    filters = Filters(language="sv", since=date(2020, 1, 2), until=date(2021, 3, 4))
    options: dict[str, Any] = {
        "urls": {"openalex": service.url},
        "filters": filters,
        "contact": "ada@example.org",
    }
    await PROVIDER.search("holm", 6, desk.gateway(**options, keys={"openalex": KEY}))
    sent = asked(service.heard[0])
    assert (
        sent["filter"]
        == "from_publication_date:2020-01-02,to_publication_date:2021-03-04,language:sv"
    )
    assert (sent["mailto"], sent["api_key"]) == ("ada@example.org", KEY)
    (row,) = desk.store.journal.rows(desk.run)
    assert json.loads(row.request) == {
        "search": "holm",
        "per_page": 6,
        "filter": "from_publication_date:2020-01-02,to_publication_date:2021-03-04,language:sv",
    }


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ('(elmo AND "sesame street") NOT cookie', "elmo and sesame street not cookie"),
        ("wild* fuzzy~2 title.search:x,type:y|z", "wild fuzzy 2 title.search x type y z"),
        ("risk: what? (really)", "risk what really"),
    ],
)
async def test_its_query_language_is_not_met(
    desk: Desk, service: Service, query: str, sent: str
) -> None:
    service.always = reply(EMPTY)
    await PROVIDER.search(query, 6, desk.gateway(urls={"openalex": service.url}))
    assert asked(service.heard[0])["search"] == sent


async def test_a_long_query_is_cut(desk: Desk, service: Service) -> None:
    service.always = reply(EMPTY)
    await PROVIDER.search(
        "å" * 30 + " word" * 1_000, 6, desk.gateway(urls={"openalex": service.url})
    )
    assert len(service.heard[0].split(" ", 2)[1]) < 4_000


def test_an_abstract_is_put_together() -> None:
    assert abstract({}) == ""
    assert (
        abstract({"is": [1, 4], "What": [0], "it": [2], "It": [3], "so.": [5]})
        == "What is it It is so."
    )
    assert abstract({"<p>Of": [0], "CO<sub>2</sub></p>": [1], "&amp;": [2]}) == "Of CO2\n&"
    assert abstract({"a": [-1, FARTHEST, 10**12], "b": [0]}) == "b"


@given(st.lists(st.text(alphabet="abcdefg.,", min_size=1, max_size=6), max_size=60))
def test_taking_a_text_apart_and_putting_it_together(text: list[str]) -> None:
    index: dict[str, list[int]] = {}
    for at, word in enumerate(text):
        index.setdefault(word, []).append(at)
    assert abstract(index) == " ".join(text)


def test_it_needs_nothing() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("scholar", True)
