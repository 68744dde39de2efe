"""Crossref against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Filters, Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.search.crossref import PROVIDER, Dated, Person
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import FAST, Case, Faults

RECORDED = Path(__file__).parents[4] / "shared" / "data" / "formats" / "api" / "crossref"

# The fields of a work as Crossref documents them.
WORK: dict[str, Any] = {
    "DOI": "10.5555/12345678",
    "URL": "https://doi.org/10.5555/12345678",
    "type": "journal-article",
    "title": ["Toward a Unified Theory of <i>High-Energy</i> Metaphysics"],
    "subtitle": ["Silly String Theory"],
    "container-title": ["Journal of Psychoceramics"],
    "short-container-title": ["J. Psych."],
    "publisher": "Test accounts",
    "abstract": "<jats:title>Abstract</jats:title><jats:p>The "
    "<jats:italic>characteristic</jats:italic> p &lt; 0.05."
    "</jats:p><jats:p>So it is.</jats:p>",
    "author": [
        {"given": "Josiah", "family": "Carberry", "sequence": "first", "affiliation": []},
        {"name": "The Brown Group", "sequence": "additional"},
    ],
    "issued": {"date-parts": [[2008, 8]]},
    "published": {"date-parts": [[2008, 8, 13]]},
    "language": "en",
    "reference-count": 3,
    "reference": [{"key": "ref1", "doi-asserted-by": "publisher", "DOI": "10.37717/220020589"}],
    "score": 33.1,
}
BARE = {
    "DOI": "10.5555/bare",
    "type": "component",
    "title": ["Bare"],
    "issued": {"date-parts": [[None]]},
}


def body(*items: object) -> bytes:
    message = {
        "facets": {},
        "total-results": len(items),
        "items": items,
        "items-per-page": 6,
        "query": {},
    }
    return json.dumps({"status": "ok", "message-type": "work-list", "message": message}).encode()


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


def options(url: str, **more: Any) -> dict[str, Any]:
    return {"urls": {"crossref": url}, "limits": {"crossref": FAST}, **more}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=body(WORK),
        empty=body(),
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"status": "ok", "message": []}',
            b'{"status": "ok", "message": {"items": 7}}',
            b'{"status": "ok", "message": {"items": [{"title": "not a list"}]}}',
            b'{"status": "failed", "message-type": "validation-failure", "message": [{"type": '
            b'"x"}]}',
        ),
        broken=(b"", b"Resource not found.", b'{"message": ', b"\xff\xfe\x00"),
    )


async def test_a_refusal_does_not_mention_a_key(desk: Desk, service: Service) -> None:
    service.always = reply(b"", "403 Forbidden")
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert "key" not in str(caught.value)
    assert "set contact" in str(caught.value)


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(body(WORK, BARE, {"DOI": "10.5555/x"}, {"title": ["No DOI"]}))
    hits = await PROVIDER.search("unified theory", 6, desk.gateway(**options(service.url)))
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://doi.org/10.5555/12345678",
            "title": "Toward a Unified Theory of High-Energy Metaphysics: Silly String Theory",
            "publisher": "Journal of Psychoceramics",
            "publisher_kind": "scientific",
            "author": "Josiah Carberry, The Brown Group",
            "published": "2008-08-13",
            "text": "The characteristic p < 0.05.\nSo it is.",
            "language": "en",
            "provider": "crossref",
        },
        {"url": "https://doi.org/10.5555/bare", "title": "Bare", "provider": "crossref"},
    ]
    (request,) = service.heard
    assert request.startswith("GET /works?")
    assert asked(request) == {"query.bibliographic": "unified theory", "rows": "6"}
    (row,) = desk.store.journal.rows(desk.run)
    assert "10.37717/220020589" not in (row.reply or "")  # references are not kept


@pytest.mark.parametrize(
    ("change", "kind", "title"),
    [
        ({"type": "posted-content"}, "preprint", "Toward"),
        ({"type": "proceedings-article"}, "scientific", "Toward"),
        ({"type": "dataset"}, "", "Toward"),
        ({"updated-by": [{"type": "correction"}]}, "scientific", "Toward"),
        ({"updated-by": [{"type": "retraction", "DOI": "10.5555/r"}]}, "", "Retracted: Toward"),
    ],
)
async def test_what_kind_of_work_it_is(
    desk: Desk, service: Service, change: dict[str, Any], kind: str, title: str
) -> None:
    service.always = reply(body(WORK | change))
    (hit,) = await PROVIDER.search("holm", 6, desk.gateway(**options(service.url)))
    assert hit.publisher_kind == kind
    assert hit.title.startswith(title)


async def test_contact_and_days_go_into_the_address(desk: Desk, service: Service) -> None:
    service.always = reply(body())
    filters = Filters(since=date(2020, 1, 2), until=date(2021, 3, 4), language="sv")
    await PROVIDER.search(
        "holm", 6, desk.gateway(**options(service.url, filters=filters, contact="ada@example.org"))
    )
    sent = asked(service.heard[0])
    assert sent["filter"] == "from-pub-date:2020-01-02,until-pub-date:2021-03-04"
    assert sent["mailto"] == "ada@example.org"
    (row,) = desk.store.journal.rows(desk.run)
    assert json.loads(row.request)["filter"] == sent["filter"]
    assert "ada@example.org" not in row.request


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ('"open: (quotes', "open quotes"),
        ("10.1371/journal.pone.0000217", "10.1371/journal.pone.0000217"),
        ("a AND b+c & d=e", "a and b c d e"),
    ],
)
async def test_odd_characters_are_left_out(
    desk: Desk, service: Service, query: str, sent: str
) -> None:
    service.always = reply(body())
    await PROVIDER.search(query, 6, desk.gateway(**options(service.url)))
    assert asked(service.heard[0])["query.bibliographic"] == sent


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([], ""),
        ([[]], ""),
        ([[None]], ""),
        ([[2008]], "2008"),
        ([[2008, 8]], "2008-08"),
        ([[2008, 8, 3]], "2008-08-03"),
        ([[2008, None, 3]], "2008"),
        ([[814, 1, 28], [2008]], "0814-01-28"),
    ],
)
def test_dates(parts: list[list[int | None]], told: str) -> None:
    assert str(Dated(parts=parts)) == told


def test_names() -> None:
    assert str(Person(family="Holm")) == "Holm"
    assert str(Person()) == ""


@pytest.mark.skipif(
    not RECORDED.is_dir(), reason=f"no recorded replies of Crossref's at {RECORDED.name}"
)
async def test_recorded_refusals_are_told_as_such(desk: Desk, service: Service) -> None:
    yaml = pytest.importorskip("yaml", reason="the recorded replies are YAML")
    paths = sorted(RECORDED.glob("*.yaml"))
    assert paths
    for path in paths:
        for exchange in yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"]:
            said = exchange["response"]
            service.always = reply(
                said["body"]["string"].encode(), f"{said['status']['code']} Said"
            )
            with pytest.raises(CallError) as caught:
                await PROVIDER.search(path.stem, 6, desk.gateway(**options(service.url)))
            assert caught.value.fault is CallFault.REQUEST
            asks = int(said["headers"]["x-rate-limit-limit"][0]) / float(
                said["headers"]["x-rate-limit-interval"][0].rstrip("s")
            )
            limit = Settings().limit("crossref", PROVIDER.limit(Settings()))
            assert limit.rate / limit.per <= asks
            assert limit.concurrent <= int(said["headers"]["x-concurrency-limit"][0])


def test_it_needs_nothing() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("scholar", True)


def test_callers_with_a_contact_may_call_faster() -> None:
    known = Settings(contact="ada@example.org")
    slow, fast = PROVIDER.limit(Settings()), PROVIDER.limit(known)
    assert slow is not None
    assert fast is not None
    assert fast.rate / fast.per > slow.rate / slow.per
    mine = Settings(contact="ada@example.org", limits={"crossref": Limit(rate=1)})
    assert mine.limit("crossref", fast) == Limit(rate=1)
