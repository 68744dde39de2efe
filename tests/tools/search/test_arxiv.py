"""arXiv against a local server that speaks its Atom format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Filters, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.store import CallState
from deepdiver.tools.search.arxiv import MOST_WORDS, PROVIDER
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import FAST, Case, Faults

RECORDED = Path(__file__).parents[4] / "shared" / "data" / "formats" / "api" / "arxiv"

# In the form that the user's manual of the API documents.
HEAD = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"
  xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/x</id>
  <title>arXiv Query: search_query=all:holm&amp;id_list=&amp;start=0&amp;max_results=6</title>
  <updated>2026-11-15T00:00:00Z</updated>
  <opensearch:itemsPerPage>6</opensearch:itemsPerPage>
  <opensearch:totalResults>2</opensearch:totalResults>
  <opensearch:startIndex>0</opensearch:startIndex>
"""
FEED = (
    HEAD
    + """  <entry>
    <id>http://arxiv.org/abs/2601.00001v2</id>
    <title>Works of
      Holm &amp; others</title>
    <updated>2026-03-01T10:00:00Z</updated>
    <link href="https://arxiv.org/abs/2601.00001v2" rel="alternate" type="text/html"/>
    <link href="https://arxiv.org/pdf/2601.00001v2" rel="related" type="application/pdf"
      title="pdf"/>
    <link rel="related" href="https://doi.org/10.5555/holm" title="doi"/>
    <summary>  We show that $x &lt; y$
      for all works. </summary>
    <category term="math.CO" scheme="http://arxiv.org/schemas/atom"/>
    <published>2026-01-02T03:04:05Z</published>
    <arxiv:primary_category term="math.CO"/>
    <arxiv:doi>10.5555/holm</arxiv:doi>
    <author><name>Anna Holm</name><arxiv:affiliation>Holm Works</arxiv:affiliation></author>
    <author><name>Bo Ek</name></author>
  </entry>
  <entry>
    <id>http://arxiv.org/abs/hep-th/9901001v1</id>
    <title>An old one</title>
    <summary>No link, no author.</summary>
    <published>1999-01-04T00:00:00Z</published>
  </entry>
</feed>
"""
).encode()
NOTHING = (HEAD + "</feed>").encode()
REFUSED = (
    HEAD
    + """<entry><id>https://arxiv.org/api/errors#incorrect_id_format_for_abc</id><title>Error</title>
    <summary>incorrect id format for abc</summary></entry></feed>"""
).encode()


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


def options(url: str, **more: Any) -> dict[str, Any]:
    return {"urls": {"arxiv": url}, "limits": {"arxiv": FAST}, **more}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=FEED,
        empty=NOTHING,
        wrong=(
            b"<feed/>",
            b"<html><body>Down for maintenance</body></html>",
            b'<rss version="2.0"/>',
            b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>no id</title></entry></feed>',
            b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/1</id></entry></feed>',
        ),
        broken=(b"", b"Rate exceeded.", b'{"results": []}', b"<feed", b"\xff\xfe\x00", FEED[:400]),
    )


async def test_an_error_in_the_form_of_a_paper_is_an_error(desk: Desk, service: Service) -> None:
    service.always = reply(REFUSED)
    with pytest.raises(CallError, match="arxiv refused the query") as caught:
        await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert caught.value.fault is CallFault.REQUEST


@pytest.mark.parametrize(
    "hidden",
    [
        b'<!DOCTYPE feed [<!ENTITY a "aaaa">]><feed xmlns="http://www.w3.org/2005/Atom">&a;</feed>',
        b'<!DOCTYPE feed SYSTEM "http://127.0.0.1:9/x"><feed xmlns="http://www.w3.org/2005/Atom"/>',
    ],
)
async def test_xml_that_points_elsewhere_is_refused(
    desk: Desk, service: Service, hidden: bytes
) -> None:
    service.always = reply(hidden)
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert caught.value.fault is CallFault.MALFORMED


async def test_a_refusal_does_not_mention_a_key(desk: Desk, service: Service) -> None:
    service.always = reply(b"", "403 Forbidden")
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert "key" not in str(caught.value)
    assert "three seconds" in str(caught.value)


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(FEED, Content_Type="application/atom+xml; charset=utf-8")
    hits = await PROVIDER.search("Holm works", 6, desk.gateway(**options(service.url)))
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://arxiv.org/abs/2601.00001v2",
            "title": "Works of Holm & others",
            "publisher": "arXiv",
            "publisher_kind": "preprint",
            "author": "Anna Holm, Bo Ek",
            "published": "2026-01-02T03:04:05Z",
            "text": "We show that $x < y$ for all works.",
            "provider": "arxiv",
        },
        {
            "url": "https://arxiv.org/abs/hep-th/9901001v1",
            "title": "An old one",
            "publisher": "arXiv",
            "publisher_kind": "preprint",
            "published": "1999-01-04T00:00:00Z",
            "text": "No link, no author.",
            "provider": "arxiv",
        },
    ]
    (request,) = service.heard
    assert request.startswith("GET /api/query?")
    assert asked(request) == {
        "search_query": "all:Holm AND all:works",
        "start": "0",
        "max_results": "6",
        "sortBy": "relevance",
        "sortOrder": "descending",
    }
    (row,) = desk.store.journal.rows(desk.run)
    assert "https://arxiv.org/pdf/2601.00001v2" in (row.reply or "")


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (
            '"heat-bath" AND (walks ANDNOT chains)',
            "all:heat AND all:bath AND all:walks AND all:andnot AND all:chains",
        ),
        ("What is the mass of a neutrino?", "all:mass AND all:neutrino"),
        (
            "au:del_maestro ti:[x TO y]",
            "all:au AND all:del AND all:maestro AND all:ti AND all:x AND all:y",
        ),
        ("to be or not to be", "all:to AND all:be AND all:or AND all:not AND all:to AND all:be"),
        ("w " * 40, " AND ".join(["all:w"] * MOST_WORDS)),
    ],
)
async def test_its_query_language_is_not_met(
    desk: Desk, service: Service, query: str, sent: str
) -> None:
    service.always = reply(NOTHING)
    assert await PROVIDER.search(query, 6, desk.gateway(**options(service.url))) == []
    assert asked(service.heard[0])["search_query"] == sent


@pytest.mark.parametrize(
    ("since", "until", "sent"),
    [
        (date(2024, 2, 3), None, "submittedDate:[202402030000 TO 299912312359]"),
        (None, date(2025, 1, 31), "submittedDate:[199101010000 TO 202501312359]"),
        (date(2024, 2, 3), date(2025, 1, 31), "submittedDate:[202402030000 TO 202501312359]"),
    ],
)
async def test_days(
    desk: Desk, service: Service, since: date | None, until: date | None, sent: str
) -> None:
    service.always = reply(NOTHING)
    filters = Filters(since=since, until=until)
    await PROVIDER.search("holm", 6, desk.gateway(**options(service.url, filters=filters)))
    await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert [asked(request)["search_query"] for request in service.heard] == [
        f"all:holm AND {sent}",
        "all:holm",
    ]


def recorded() -> list[Path]:
    return sorted(RECORDED.glob("*.json"))


@pytest.mark.skipif(
    not RECORDED.is_dir(), reason=f"no recorded replies of arXiv's at {RECORDED.name}"
)
async def test_recorded_replies_are_read(desk: Desk, service: Service) -> None:
    assert recorded()
    for path in recorded():
        exchange = json.loads(path.read_text(encoding="utf-8"))
        service.always = reply(exchange["body"].encode(), f"{exchange['status_code']} Said")
        gateway = desk.gateway(**options(service.url))
        if exchange["status_code"] != 200:
            with pytest.raises(CallError) as caught:
                await PROVIDER.search(path.stem, 100, gateway)
            assert caught.value.fault is CallFault.REQUEST
            continue
        hits = await PROVIDER.search(path.stem, 100, gateway)
        assert len(hits) == exchange["body"].count("<entry>")
        for hit in hits:
            assert hit.url.startswith("https://arxiv.org/abs/")
            assert hit.title
            assert len(hit.text) > 100
            assert hit.author
            assert hit.published[:4].isdecimal()
    states = {row.state for row in desk.store.journal.rows(desk.run)}
    assert states == {CallState.SETTLED, CallState.FAILED}


def test_it_needs_nothing_and_takes_its_time() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("scholar", True)
    limit = Settings().limit("arxiv", PROVIDER.limit(Settings()))
    assert (limit.rate / limit.per, limit.concurrent) == (1 / 3, 1)
