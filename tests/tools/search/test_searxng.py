"""SearXNG against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Deadlines, Filters, Settings, load
from deepdiver.errors import CallError, CallFault
from deepdiver.store import CallState
from deepdiver.tools.search import dates, searxng
from deepdiver.tools.search.searxng import PROVIDER
from tests.servers.scripted import Answer, Document, ScriptedServer
from tests.tools.conftest import Desk, Line
from tests.tools.search.faults import Case, Faults

# The fields of a result as SearXNG's own documentation of its search API and of its result types
# names them.
DOCUMENTED = {
    "query": "holm works",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://example.org/holm",
            "title": "Holm Works",
            "content": "Holm Works is owned by Anna Holm.",
            "publishedDate": "2026-02-08T00:00:00",
            "thumbnail": None,
            "engine": "duckduckgo",
            "engines": ["duckduckgo", "brave"],
            "parsed_url": ["https", "example.org", "/holm", "", "", ""],
            "template": "default.html",
            "positions": [1, 2],
            "score": 3.0,
            "category": "general",
        },
        {
            "url": "https://example.org/bare",
            "title": "Only a title",
            "content": "",
            "publishedDate": None,
        },
        {
            "url": None,
            "title": "a key and its value",
            "content": "no page",
            "template": "keyvalue.html",
        },
        {"url": "https://example.org/empty", "title": "", "content": None},
    ],
    "answers": [{"answer": "42", "url": None}],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["google", "CAPTCHA"]],
}


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ("404 Not Found", CallFault.REQUEST),
        ("429 Too Many Requests", CallFault.RATE),
        ("500 Internal Server Error", CallFault.SERVER),
    ],
)
async def test_a_refusal(desk: Desk, line: Line, status: str, fault: CallFault) -> None:
    line.answers(status)
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": line.url}))
    assert caught.value.fault is fault
    assert str(caught.value) == f"searxng answered {status[:3]}"


async def test_json_that_is_not_allowed_is_explained(desk: Desk, line: Line) -> None:
    line.answers("403 Forbidden", b"<h1>Forbidden</h1>")
    with pytest.raises(
        CallError, match=r"add json to search\.formats in its settings\.yml"
    ) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": line.url}))
    assert caught.value.fault is CallFault.AUTH  # the user can cure it, so a resumed run asks again


@pytest.mark.parametrize(
    "body", [b"<html></html>", b"[]", b'{"results": 3}', b'{"results": [1]}', b'{"query": "q"}']
)
async def test_an_answer_in_another_form_is_malformed(desk: Desk, line: Line, body: bytes) -> None:
    line.answers(body=body)
    with pytest.raises(CallError) as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": line.url}))
    assert caught.value.fault is CallFault.MALFORMED


async def test_a_late_answer_is_a_timeout(desk: Desk, line: Line) -> None:
    line.after = 3.0
    with pytest.raises(CallError) as caught:
        await PROVIDER.search(
            "holm", 6, desk.gateway(urls={"searxng": line.url}, deadlines=Deadlines(search=0.2))
        )
    assert caught.value.fault is CallFault.TIMEOUT


async def test_an_address_that_is_none(desk: Desk) -> None:
    with pytest.raises(CallError, match="correct its address") as caught:
        await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": "my searxng"}))
    assert caught.value.fault is CallFault.REQUEST


async def test_the_documented_format(desk: Desk, line: Line) -> None:
    line.answers(body=json.dumps(DOCUMENTED).encode())
    hits = await PROVIDER.search("holm works", 6, desk.gateway(urls={"searxng": f"{line.url}/"}))
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {
            "url": "https://example.org/holm",
            "title": "Holm Works",
            "text": "Holm Works is owned by Anna Holm.",
            "published": "2026-02-08T00:00:00",
            "provider": "searxng",
            "also": ("searxng:brave", "searxng:duckduckgo"),
        },
        {
            "url": "https://example.org/bare",
            "title": "Only a title",
            "text": "Only a title",
            "provider": "searxng",
        },
    ]
    assert all(hit.kind is SourceKind.PAGE for hit in hits)
    assert line.heard[0].startswith("GET /search?q=holm+works&format=json&safesearch=1 HTTP/1.1")


async def test_a_result_cut_inside_a_character_is_still_saved(desk: Desk, line: Line) -> None:
    line.answers(
        body=rb'{"results": [{"url": "https://example.org", "title": "cut \ud83d", "content": '
        rb'"text"}]}'
    )
    (hit,) = await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": line.url}))
    assert hit.title == "cut ?"
    assert desk.store.journal.rows(desk.run)[0].state is CallState.SETTLED


async def test_nothing_found_is_an_answer(desk: Desk) -> None:
    with ScriptedServer(search=lambda query, number: Answer()) as server:
        assert await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": server.url})) == []


async def test_fewer_are_taken_than_come(desk: Desk) -> None:
    pages = tuple(Document(f"https://example.org/{n}", f"Page {n}", f"Text {n}") for n in range(10))
    with ScriptedServer(search=lambda query, number: Answer(documents=pages)) as server:
        gateway = desk.gateway(urls={"searxng": server.url})
        few = await PROVIDER.search("holm", 2, gateway)
        # The request is the same: it is answered from the journal.
        more = await PROVIDER.search("holm", 5, gateway)
        assert len(server.searches) == 1
    assert [hit.text for hit in few] == ["Text 0", "Text 1"]
    assert len(more) == 5
    assert server.searches[0].body == {"q": "holm", "format": "json", "safesearch": "1"}


async def test_it_costs_nothing(desk: Desk, line: Line) -> None:
    line.answers(body=b'{"results": []}')
    await PROVIDER.search("holm", 6, desk.gateway(urls={"searxng": line.url}, budget=0))
    assert desk.store.journal.rows(desk.run)[0].cost == 0


def test_what_is_missing(tmp_path: Path) -> None:
    assert PROVIDER.missing(Settings()) == "set SEARXNG_URL to the address of your SearXNG"
    for name in ("SEARXNG_URL", "DEEPDIVER_SEARXNG_URL"):
        settings = load(
            environ={name: "http://127.0.0.1:8888"},
            folder=tmp_path,
            user_file=tmp_path / "none.toml",
        )
        assert PROVIDER.missing(settings) is None


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=b'{"query": "q", "results": [], "unresponsive_engines": []}',
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"results": 3}',
            b'{"results": [{"url": "u", "engines": "one"}]}',
        ),
    )


async def sent(desk: Desk, line: Line, **filters: Any) -> dict[str, str]:
    """Return the parameters of a search under filters."""
    line.answers(body=b'{"results": []}')
    await PROVIDER.search(
        "holm", 6, desk.gateway(urls={"searxng": line.url}, filters=Filters(**filters))
    )
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(line.heard[-1].split()[1]).query).items()
    }


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({}, {}),
        ({"language": "de"}, {"language": "de"}),
        ({"language": "de", "region": "AT"}, {"language": "de-AT"}),
        ({"region": "AT"}, {}),  # it has no countries without a language
        ({"safe": "off"}, {"safesearch": "0"}),
        ({"safe": "strict"}, {"safesearch": "2"}),
        ({"include_domains": ("a.org",)}, {"q": "holm site:a.org"}),
        ({"include_domains": ("a.org", "b.org")}, {"q": "holm (site:a.org OR site:b.org)"}),
        ({"exclude_domains": ("a.org",)}, {}),
        ({"until": date(2020, 1, 1)}, {}),
    ],
)
async def test_filters(
    desk: Desk, line: Line, filters: dict[str, Any], added: dict[str, str]
) -> None:
    assert await sent(desk, line, **filters) == {
        "q": "holm",
        "format": "json",
        "safesearch": "1",
        **added,
    }


@pytest.mark.parametrize(
    ("back", "named"),
    [
        *((0, "day"), (1, "day"), (2, "week"), (7, "week"), (8, "month"), (31, "month")),
        *((32, "year"), (366, "year"), (367, None)),
    ],
)
async def test_the_shortest_time_that_reaches_back(
    desk: Desk, line: Line, back: int, named: str | None
) -> None:
    params = await sent(desk, line, since=dates.today() - timedelta(days=back))
    assert params.get("time_range") == named


async def test_another_filter_is_another_search_and_another_day_is_not(
    desk: Desk, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    since = date(2026, 11, 1)
    monkeypatch.setattr(searxng, "today", lambda: date(2026, 11, 2))
    assert (await sent(desk, line, since=since))["time_range"] == "day"
    monkeypatch.setattr(searxng, "today", lambda: date(2027, 1, 2))
    await sent(desk, line, since=since)
    assert len(line.heard) == 1  # answered from the journal, also after the turn of the year
    await sent(desk, line, since=since, language="de")
    assert len(line.heard) == 2


def test_where_it_is_nobody_knows_unless_told() -> None:
    assert PROVIDER.address(Settings()) == ""
