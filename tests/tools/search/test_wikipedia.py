"""Wikipedia against a local server that speaks its API; the gateway and the store are real."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.settings import Filters, Limit, Settings
from deepdiver.errors import CallError, CallFault, NotJournalledError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.search.wikipedia import MOST, PROVIDER, headed
from tests.tools.conftest import Desk
from tests.tools.search.conftest import Service, reply
from tests.tools.search.faults import Case, Faults


def page(number: int, title: str, extract: str, index: int, **more: Any) -> dict[str, Any]:
    return {
        "pageid": number,
        "ns": 0,
        "title": title,
        "index": index,
        "extract": extract,
        "contentmodel": "wikitext",
        "pagelanguage": "en",
        "touched": "2026-11-01T00:00:00Z",
        "lastrevid": 1,
        "length": 9000,
        "fullurl": f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
        "editurl": "https://en.wikipedia.org/w/index.php?action=edit",
        "canonicalurl": "https://en.wikipedia.org/wiki/x",
        "revisions": [{"timestamp": "2026-10-30T17:04:05Z"}],
        **more,
    }


# In the form of formatversion=2. Pages come in the order of their ids and say their rank
# themselves.
FOUND = {
    "batchcomplete": True,
    "continue": {"gsroffset": 6, "continue": "gsroffset||"},
    "query": {
        "pages": [
            page(11, "Holm ferry", "The Holm ferry burnt in 2026.", 3),
            page(22, "Holm Works", "Holm Works is a factory.\nIt is owned by Anna Holm.", 1),
            page(33, "Holm", "Holm may refer to:", 2, pageprops={"disambiguation": ""}),
        ]
    },
}
WHOLE = {
    "batchcomplete": True,
    "query": {
        "pages": [
            page(
                22,
                "Holm Works",
                "Holm Works is a factory.\n\n\n== History ==\nFounded in 1901.\n=== War ===\nShut.",
                0,
            )
        ]
    },
}


def body(value: object) -> bytes:
    return json.dumps(value).encode()


def asked(request: str) -> dict[str, str]:
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(request.split(" ", 2)[1]).query).items()
    }


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=body(FOUND),
        empty=b'{"batchcomplete": true}',
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"results": []}',
            b'{"query": []}',
            b'{"query": {"pages": {"22": {}}}}',
            b'{"batchcomplete": true, "query": {"pages": [{"title": "no id"}]}}',
        ),
    )


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("ratelimited", CallFault.RATE),
        ("maxlag", CallFault.SERVER),
        ("internal_api_error_DBQueryTimeoutError", CallFault.SERVER),
        ("cirrussearch-backend-error", CallFault.SERVER),
        ("cirrussearch-query-too-long", CallFault.REQUEST),
        ("badvalue", CallFault.REQUEST),
    ],
)
async def test_an_error_with_status_200_is_an_error(
    desk: Desk, service: Service, code: str, fault: CallFault
) -> None:
    service.always = reply(
        body({"error": {"code": code, "info": "…", "docref": "See <b>x</b>"}, "servedby": "mw1"})
    )
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"wikipedia": service.url}))
    assert caught.value.fault is fault
    assert str(caught.value) == f"wikipedia refused the query ({code})"


@pytest.mark.parametrize(
    ("contact", "told"), [("", "set contact to your e-mail address"), ("a@example.org", "for now")]
)
async def test_a_refusal_says_what_helps(
    desk: Desk, service: Service, contact: str, told: str
) -> None:
    service.always = reply(b"Please set a user-agent", "403 Forbidden")
    with pytest.raises(CallError, match=f"wikipedia answered 403: .*{told}"):
        await PROVIDER.search(
            "holm", 6, desk.gateway(urls={"wikipedia": service.url}, contact=contact)
        )


async def test_a_query_without_words_is_not_sent(desk: Desk, service: Service) -> None:
    with pytest.raises(CallError, match="no word"):
        await PROVIDER.search("???", 6, desk.gateway(urls={"wikipedia": service.url}))
    assert service.heard == []


async def test_the_documented_format(desk: Desk, service: Service) -> None:
    service.always = reply(body(FOUND))
    hits = await PROVIDER.search(
        'Who "owns" Holm-Works: (really)?', 6, desk.gateway(urls={"wikipedia": service.url})
    )
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://en.wikipedia.org/wiki/Holm_Works",
            "title": "Holm Works",
            "publisher": "Wikipedia",
            "publisher_kind": "encyclopedia",
            "published": "2026-10-30T17:04:05Z",
            "text": "Holm Works is a factory.\nIt is owned by Anna Holm.",
            "language": "en",
            "provider": "wikipedia",
        },
        {
            "url": "https://en.wikipedia.org/wiki/Holm_ferry",
            "title": "Holm ferry",
            "publisher": "Wikipedia",
            "publisher_kind": "encyclopedia",
            "published": "2026-10-30T17:04:05Z",
            "text": "The Holm ferry burnt in 2026.",
            "language": "en",
            "provider": "wikipedia",
        },
    ]
    (request,) = service.heard
    assert request.startswith("GET /w/api.php?")
    assert asked(request) == {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "search",
        "gsrsearch": "Who owns Holm-Works really",
        "gsrlimit": "6",
        "prop": "extracts|info|revisions|pageprops",
        "inprop": "url",
        "rvprop": "timestamp",
        "ppprop": "disambiguation",
        "explaintext": "1",
        "exintro": "1",
        "exlimit": "max",
    }


async def test_who_says_who_he_is_gets_the_first_article_whole(
    desk: Desk, service: Service
) -> None:
    service.always = {"gsrsearch": reply(body(FOUND)), "pageids=22": reply(body(WHOLE))}
    gateway = desk.gateway(urls={"wikipedia": service.url}, contact="ada@example.org")
    first, second = await PROVIDER.search("holm works", 6, gateway)
    assert (first.complete, second.complete) == (True, False)
    assert first.text == "Holm Works is a factory.\n\n\nHistory\nFounded in 1901.\nWar\nShut."
    assert [(mark.label, first.text[mark.start :][: len(mark.label)]) for mark in first.marks] == [
        ("History", "History"),
        ("War", "War"),
    ]
    assert all(
        "user-agent: deepdiver (ada@example.org; cites what it reads)" in r.lower()
        for r in service.heard
    )
    assert len(service.heard) == 2
    assert "exintro" not in asked(service.heard[1])
    replayed = desk.gateway(Mode.REPLAY, urls={"wikipedia": service.url}, contact="ada@example.org")
    assert await PROVIDER.search("holm works", 6, replayed) == [first, second]


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (reply(b"{}", "500 Internal Server Error"), CallState.FAILED),
        (reply(b"<html>"), CallState.FAILED),
        (reply(b'{"batchcomplete": true}'), CallState.SETTLED),
    ],
)
async def test_without_the_whole_article_its_beginning_will_do(
    desk: Desk, service: Service, said: bytes, state: CallState
) -> None:
    service.always = {"gsrsearch": reply(body(FOUND)), "pageids": said}
    gateway = desk.gateway(urls={"wikipedia": service.url}, contact="ada@example.org")
    hits = await PROVIDER.search("holm works", 6, gateway)
    assert [hit.complete for hit in hits] == [False, False]
    assert hits[0].text.startswith("Holm Works is a factory.")
    (row,) = (row for row in desk.store.journal.rows(desk.run) if "pageids" in row.request)
    assert row.state is state  # and the gateway has told of a failure
    assert any(event.type == "call_failed" for event in desk.events) is (state is CallState.FAILED)


async def test_a_replay_that_lacks_the_article_is_no_silent_loss(
    desk: Desk, service: Service
) -> None:
    service.always = reply(body(FOUND))
    await PROVIDER.search("holm works", 6, desk.gateway(urls={"wikipedia": service.url}))
    with pytest.raises(NotJournalledError):
        await PROVIDER.search("holm works", 6, desk.gateway(Mode.REPLAY, contact="ada@example.org"))


async def test_the_language_is_part_of_the_place_and_of_the_call(
    desk: Desk, service: Service
) -> None:
    german = Settings(filters=Filters(language="de"))
    assert PROVIDER.address(german) == "https://de.wikipedia.org"
    assert PROVIDER.address(Settings()) == "https://en.wikipedia.org"
    service.always = reply(body(FOUND))
    for language in ("", "de"):
        filters = Filters(language=language, since=date(2020, 1, 1))
        (hit, _) = await PROVIDER.search(
            "holm", 6, desk.gateway(urls={"wikipedia": service.url}, filters=filters)
        )
        assert hit.language == language or (hit.language, language) == ("en", "")
    assert len(desk.store.journal.rows(desk.run)) == 2


async def test_what_it_does_not_take_is_not_sent(desk: Desk, service: Service) -> None:
    service.always = reply(body(FOUND))
    await PROVIDER.search("holm " * 100, 50, desk.gateway(urls={"wikipedia": service.url}))
    sent = asked(service.heard[0])
    assert len(sent["gsrsearch"]) <= 300
    assert sent["gsrlimit"] == str(MOST)


@pytest.mark.parametrize(
    "query", ["insource:/x/ intitle:y", "-holm !works", "a OR b", "cat~2 d*g wh\\?t", "「北京」"]
)
async def test_its_query_language_is_not_met(desk: Desk, service: Service, query: str) -> None:
    service.always = reply(body(FOUND))
    await PROVIDER.search(query, 6, desk.gateway(urls={"wikipedia": service.url}))
    sent = asked(service.heard[0])["gsrsearch"]
    assert not set(sent) & set(':/"-!~*\\?「」')
    assert " OR " not in sent


@pytest.mark.parametrize(
    ("extract", "text", "labels"),
    [
        ("", "", []),
        ("No headings.", "No headings.", []),
        ("== A ==\nx\n==== B = C ====\ny", "A\nx\nB = C\ny", ["A", "B = C"]),
        ("====\n== ==\n1 == 2", "====\n== ==\n1 == 2", []),
    ],
)
def test_headings(extract: str, text: str, labels: list[str]) -> None:
    plain, marks = headed(extract)
    assert plain == text
    assert [mark.label for mark in marks] == labels
    assert all(plain[mark.start :].startswith(mark.label) for mark in marks)


def test_it_needs_nothing() -> None:
    assert PROVIDER.missing(Settings()) is None
    assert (PROVIDER.group, PROVIDER.keyless) == ("web", True)


def test_callers_with_a_contact_may_call_faster() -> None:
    known = Settings(contact="ada@example.org")
    slow, fast = PROVIDER.limit(Settings()), PROVIDER.limit(known)
    assert slow is not None
    assert fast is not None
    assert fast.rate / fast.per > slow.rate / slow.per
    mine = Settings(contact="ada@example.org", limits={"wikipedia": Limit(rate=1)})
    assert mine.limit("wikipedia", fast) == Limit(rate=1)
