"""Tavily against a local server that speaks its format, through the real gateway and store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Deadlines, Filters, Price, Settings, load
from deepdiver.errors import BudgetError, CallError, CallFault, NotJournalledError
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.search.tavily import (
    COUNTRIES,
    PROVIDER,
    Tavily,
    TavilyResponse,
    extract,
)
from tests.servers.scripted import Answer, Document, ScriptedServer, SearchScript
from tests.tools.conftest import Desk, Line
from tests.tools.search.faults import Case, Faults

KEY = "tvly-a-key-that-nobody-may-see"
KEYS = {"tavily": SecretStr(KEY)}
RECORDED = Path(__file__).parents[4] / "shared" / "data" / "formats" / "api" / "tavily"
PAGES = tuple(
    Document(f"https://example.org/{n}", f"Page {n}", f"What page {n} says.") for n in range(9)
)

Serve = Callable[[SearchScript], ScriptedServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ScriptedServer(search=script))


def says(**answer: Any) -> SearchScript:
    return lambda query, number: Answer(**answer)


async def failure(desk: Desk, url: str, **settings: Any) -> CallError:
    with pytest.raises(CallError) as caught:
        await PROVIDER.search(
            "Holm Works", 6, desk.gateway(urls={"tavily": url}, keys=KEYS, **settings)
        )
    assert KEY not in str(caught.value)
    assert KEY not in desk.everything()
    return caught.value


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (401, CallFault.AUTH),
        (422, CallFault.REQUEST),
        (429, CallFault.RATE),
        (500, CallFault.SERVER),
    ],
)
async def test_a_refusal_is_journalled_without_the_key(
    desk: Desk, serve: Serve, status: int, fault: CallFault
) -> None:
    server = serve(says(status=status, text=f"Unauthorized: {KEY}"))
    assert (await failure(desk, server.url)).fault is fault
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.state, row.cost) == (CallState.FAILED, Decimal(0))
    assert json.loads(row.error or "")["fault"] == fault


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>Bad gateway</html>",
        b"[]",
        b"null",
        b"{}",
        b'{"results": null}',
        b'{"results": {}}',
        b'{"results": ["https://example.org"]}',
        b'{"results": [{"url": 7}]}',
        b'{"detail": "not what was asked"}',
    ],
)
async def test_an_answer_in_another_form_is_malformed(desk: Desk, serve: Serve, raw: bytes) -> None:
    assert (await failure(desk, serve(says(raw=raw)).url)).fault is CallFault.MALFORMED


async def test_a_late_answer_is_a_timeout(desk: Desk, serve: Serve) -> None:
    server = serve(says(delay=3.0))
    error = await failure(desk, server.url, deadlines=Deadlines(search=0.3))
    assert error.fault is CallFault.TIMEOUT
    (row,) = desk.store.journal.rows(desk.run)
    assert row.cost == row.worst > 0  # nobody knows whether Tavily did the work


async def test_what_does_not_fit_the_budget_is_not_sent(desk: Desk, serve: Serve) -> None:
    server = serve(says(documents=PAGES))
    gateway = desk.gateway(urls={"tavily": server.url}, keys=KEYS, budget=Decimal("0.015"))
    with pytest.raises(BudgetError):
        await PROVIDER.search("Holm Works", 6, gateway)
    assert server.searches == []


async def test_a_replay_does_not_search(desk: Desk, serve: Serve) -> None:
    server = serve(says(documents=PAGES))
    with pytest.raises(NotJournalledError):
        await PROVIDER.search(
            "Holm Works", 6, desk.gateway(Mode.REPLAY, urls={"tavily": server.url}, keys=KEYS)
        )
    assert server.searches == []


async def test_rate_limited_once_then_answered(desk: Desk, serve: Serve) -> None:
    def script(query: str, number: int) -> Answer:
        return (
            Answer(status=429, headers={"Retry-After": "0"})
            if number == 0
            else Answer(documents=PAGES[:1])
        )

    server = serve(script)
    hits = await PROVIDER.search(
        "Holm Works", 6, desk.gateway(urls={"tavily": server.url}, keys=KEYS, retries=1)
    )
    assert [hit.url for hit in hits] == ["https://example.org/0"]
    assert len(server.searches) == 2


async def test_nothing_found_is_an_answer(desk: Desk, serve: Serve) -> None:
    server = serve(says(documents=()))
    assert (
        await PROVIDER.search("Holm Works", 6, desk.gateway(urls={"tavily": server.url}, keys=KEYS))
        == []
    )
    (row,) = desk.store.journal.rows(desk.run)
    assert row.state is CallState.SETTLED


async def test_hits_carry_the_text_of_the_page(desk: Desk, serve: Serve) -> None:
    long = "A page. " * 200
    server = serve(
        says(documents=(Document("https://example.org/a", "A", long, "2026-02-08"), *PAGES))
    )
    hits = await PROVIDER.search(
        "Holm Works", 4, desk.gateway(urls={"tavily": server.url}, keys=KEYS)
    )
    assert len(hits) == 4
    assert hits[0].model_dump(exclude_defaults=True) == {
        "url": "https://example.org/a",
        "title": "A",
        "published": "2026-02-08",
        "text": long,
        "complete": True,
        "provider": "tavily",
    }
    assert hits[0].kind is SourceKind.PAGE
    (search,) = server.searches
    assert search.body == {
        "query": "Holm Works",
        "max_results": 4,
        "search_depth": "advanced",
        "include_raw_content": True,
    }
    assert search.authorised


async def test_the_same_search_is_paid_once(desk: Desk, serve: Serve) -> None:
    server = serve(says(documents=PAGES))
    gateway = desk.gateway(urls={"tavily": server.url}, keys=KEYS)
    one, two = await asyncio.gather(*(PROVIDER.search("Holm Works", 6, gateway) for _ in range(2)))
    again = await PROVIDER.search(
        "Holm Works", 6, desk.gateway(Mode.REPLAY, urls={"tavily": server.url})
    )
    assert one == two == again
    assert len(server.searches) == 1
    (row,) = desk.store.journal.rows(desk.run)
    assert row.cost == Decimal("0.016")


async def test_a_price_of_ones_own_goes_before_the_list(desk: Desk, serve: Serve) -> None:
    server = serve(says(documents=()))
    prices = {"tavily": Price(call=Decimal("0.004"))}
    await PROVIDER.search(
        "Holm Works", 6, desk.gateway(urls={"tavily": server.url}, keys=KEYS, prices=prices)
    )
    assert desk.store.journal.rows(desk.run)[0].cost == Decimal("0.004")


async def test_the_key_is_sent_and_kept_nowhere(desk: Desk, line: Line) -> None:
    found = {
        "url": "https://example.org/a",
        "title": f"Echo of {KEY}",
        "content": f"Your key is {KEY}.",
    }
    line.answers(body=json.dumps({"results": [found]}).encode())
    (hit,) = await PROVIDER.search(
        "Holm Works", 6, desk.gateway(urls={"tavily": f"{line.url}/"}, keys=KEYS)
    )
    (request,) = line.heard
    head, _, body = request.partition("\r\n\r\n")
    assert head.startswith("POST /search HTTP/1.1")
    assert f"authorization: Bearer {KEY}".lower() in head.lower()
    assert KEY not in body
    assert KEY not in desk.everything()
    assert KEY not in hit.model_dump_json()
    assert hit.text == "Your key is [secret]."


async def test_without_a_key_no_header_is_sent(desk: Desk, line: Line) -> None:
    line.answers(body=b'{"results": []}')
    await PROVIDER.search("Holm Works", 6, desk.gateway(urls={"tavily": line.url}))
    assert "authorization" not in line.heard[0].lower()


async def test_results_that_cannot_be_read_or_cited_are_left_out(desk: Desk, line: Line) -> None:
    results = [
        {"title": "no address", "content": "text"},
        {"url": None, "title": "no address", "content": "text"},
        {
            "url": "https://example.org/empty",
            "title": "nothing to read",
            "content": "",
            "raw_content": None,
        },
        {
            "url": "https://example.org/a",
            "title": None,
            "content": "snippet",
            "score": 0.5,
            "favicon": "x",
        },
        {"url": "https://example.org/b", "content": "snippet", "raw_content": "whole text"},
    ]
    line.answers(body=json.dumps({"results": results, "images": []}).encode())
    hits = await PROVIDER.search(
        "Holm Works", 6, desk.gateway(urls={"tavily": line.url}, keys=KEYS)
    )
    assert [(hit.url, hit.title, hit.text, hit.complete) for hit in hits] == [
        ("https://example.org/a", "", "snippet", False),
        ("https://example.org/b", "", "whole text", True),
    ]


async def test_more_results_than_asked_for_are_cut(desk: Desk, line: Line) -> None:
    results = [{"url": f"https://example.org/{n}", "content": "text"} for n in range(20)]
    line.answers(body=json.dumps({"results": results}).encode())
    assert (
        len(
            await PROVIDER.search(
                "Holm Works", 3, desk.gateway(urls={"tavily": line.url}, keys=KEYS)
            )
        )
        == 3
    )


def recorded() -> list[Path]:
    return sorted(RECORDED.glob("*.yaml"))


@pytest.mark.skipif(
    not RECORDED.is_dir(), reason=f"no recorded replies of Tavily's at {RECORDED.name}"
)
async def test_recorded_replies_are_read(desk: Desk, line: Line) -> None:
    yaml = pytest.importorskip("yaml", reason="the recorded replies are YAML")
    assert recorded()
    for path in recorded():
        (exchange,) = yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"]
        body = exchange["response"]["parsed_body"]
        line.answers(body=json.dumps(body).encode())
        query = f"{exchange['request']['parsed_body']['query']} ({path.name})"
        hits = await PROVIDER.search(query, 20, desk.gateway(urls={"tavily": line.url}, keys=KEYS))
        assert [(hit.url, hit.title, hit.text) for hit in hits] == [
            (result["url"], result["title"], result["content"]) for result in body["results"]
        ]


def test_what_is_missing() -> None:
    assert PROVIDER.missing(Settings()) == "set TAVILY_API_KEY"
    assert PROVIDER.missing(Settings(keys=KEYS)) is None
    assert PROVIDER.missing(Settings(urls={"tavily": "http://127.0.0.1:9"})) is None


def test_the_environment_sets_key_and_address(tmp_path: Path) -> None:
    environ = {"TAVILY_API_KEY": KEY, "DEEPDIVER_TAVILY_URL": "http://127.0.0.1:9"}
    settings = load(environ=environ, folder=tmp_path, user_file=tmp_path / "none.toml")
    assert (settings.key("tavily"), settings.urls["tavily"]) == (KEY, "http://127.0.0.1:9")
    assert PROVIDER.default_url.startswith("https://")


def test_only_what_is_read_is_kept() -> None:
    kept = TavilyResponse.model_validate(
        {"results": [{"url": "u", "score": 1, "raw_content": "r"}], "usage": {"credits": 2}}
    )
    assert set(kept.model_dump()) == {"results"}
    assert set(kept.model_dump()["results"][0]) == {
        "url",
        "title",
        "content",
        "raw_content",
        "published_date",
    }
    assert isinstance(PROVIDER, Tavily)


# As its documentation shows an answer to a search of the topic `news`, shortened.
DOCUMENTED = {
    "query": "Who is Leo Messi?",
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Lionel Messi Facts",
            "url": "https://www.britannica.com/facts/Lionel-Messi",
            "content": "Lionel Messi, an Argentine footballer, ...",
            "score": 0.81025416,
            "raw_content": None,
            "favicon": "https://britannica.com/favicon.png",
        },
        {
            "title": "Messi wins",
            "url": "https://example.org/news",
            "content": "Messi won.",
            "score": 0.7,
            "raw_content": "Messi won, and that was that.",
            "published_date": "Sat, 08 Feb 2025 12:00:00 GMT",
        },
    ],
    "auto_parameters": {"topic": "general", "search_depth": "basic"},
    "response_time": 1.67,
    "usage": {"credits": 2},
    "request_id": "123e4567-e89b-12d3-a456-426614174111",
}


class TestFaults(Faults):
    case = Case(
        PROVIDER,
        good=json.dumps(DOCUMENTED).encode(),
        empty=b'{"query": "q", "results": []}',
        wrong=(
            b"[]",
            b"null",
            b"{}",
            b'{"results": null}',
            b'{"results": [{"url": 7}]}',
            b'{"detail": {"error": "x"}}',
        ),
        key="tavily",
    )


async def test_the_documented_format(desk: Desk, line: Line) -> None:
    line.answers(body=json.dumps(DOCUMENTED).encode())
    first, second = await PROVIDER.search(
        "Messi", 6, desk.gateway(urls={"tavily": line.url}, keys=KEYS)
    )
    assert (first.complete, first.published, first.text) == (
        False,
        "",
        "Lionel Messi, an Argentine footballer, ...",
    )
    assert (second.complete, second.published) == (True, "2025-02-08T12:00:00+00:00")


@pytest.mark.parametrize(
    ("filters", "added"),
    [
        ({}, {}),
        ({"include_domains": ("A.org", "www.b.org")}, {"include_domains": ["a.org", "b.org"]}),
        ({"exclude_domains": ("c.org",)}, {"exclude_domains": ["c.org"]}),
        ({"since": date(2026, 1, 2)}, {"start_date": "2026-01-02"}),
        ({"until": date(2026, 1, 3)}, {"end_date": "2026-01-03"}),
        ({"region": "SE"}, {"country": "sweden"}),
        ({"region": "AQ"}, {}),  # nobody's country: Tavily does not know it, and would refuse
    ],
)
async def test_filters(
    desk: Desk, line: Line, filters: dict[str, Any], added: dict[str, Any]
) -> None:
    line.answers(body=b'{"results": []}')
    gateway = desk.gateway(urls={"tavily": line.url}, keys=KEYS, filters=Filters(**filters))
    await PROVIDER.search("Holm Works", 6, gateway)
    plain = {
        "query": "Holm Works",
        "max_results": 6,
        "search_depth": "advanced",
        "include_raw_content": True,
    }
    assert json.loads(line.heard[0].partition("\r\n\r\n")[2]) == {**plain, **added}


async def test_another_filter_is_another_search(desk: Desk, line: Line) -> None:
    line.answers(body=b'{"results": []}')
    for filters in (Filters(), Filters(region="SE"), Filters(region="SE")):
        await PROVIDER.search(
            "Holm", 6, desk.gateway(urls={"tavily": line.url}, keys=KEYS, filters=filters)
        )
    assert len(line.heard) == 2


async def test_no_more_is_asked_than_tavily_takes(desk: Desk, line: Line) -> None:
    line.answers(body=b'{"results": []}')
    await PROVIDER.search("word " * 200, 50, desk.gateway(urls={"tavily": line.url}, keys=KEYS))
    asked = json.loads(line.heard[0].partition("\r\n\r\n")[2])
    assert asked["max_results"] == 20
    assert 390 < len(asked["query"]) <= 400
    assert asked["query"].endswith("word")


def test_countries_are_known_by_two_letters_and_one_name() -> None:
    assert len(COUNTRIES) == len(set(COUNTRIES.values())) > 150
    for code, name in COUNTRIES.items():
        Filters(region=code)
        assert name == name.lower().strip()
    assert (COUNTRIES["GB"], COUNTRIES["US"]) == ("united kingdom", "united states")


EXTRACTED = {
    "results": [
        {"url": "https://example.org/a", "title": "A", "raw_content": "# A\n\nWhole.", "images": []}
    ],
    "failed_results": [{"url": "https://example.org/b", "error": "Failed to fetch url"}],
    "response_time": 0.02,
}


async def test_extract_reads_pages_and_pays_for_those_that_were_read(
    desk: Desk, line: Line
) -> None:
    line.answers(body=json.dumps(EXTRACTED).encode())
    urls = ["https://example.org/a", "https://example.org/b"]
    (hit,) = await extract(urls, desk.gateway(urls={"tavily": line.url}, keys=KEYS))
    assert hit.model_dump(exclude_defaults=True) == {
        "url": "https://example.org/a",
        "title": "A",
        "text": "# A\n\nWhole.",
        "complete": True,
        "provider": "tavily",
    }
    head, _, body = line.heard[0].partition("\r\n\r\n")
    assert head.startswith("POST /extract HTTP/1.1")
    assert f"bearer {KEY}".lower() in head.lower()
    assert json.loads(body) == {"urls": urls, "extract_depth": "advanced", "format": "markdown"}
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.cost, row.worst, row.kind) == (Decimal("0.016"), Decimal("0.016"), "fetch")
    assert KEY not in desk.everything()


async def test_extract_of_nothing_costs_nothing(desk: Desk, line: Line) -> None:
    line.answers(
        body=b'{"results": [], "failed_results": [{"url": "https://example.org/a", "error": "x"}]}'
    )
    gateway = desk.gateway(urls={"tavily": line.url}, keys=KEYS)
    assert await extract(["https://example.org/a"], gateway) == []
    assert await extract([], gateway) == []
    (row,) = desk.store.journal.rows(desk.run)
    assert (row.cost, row.worst) == (Decimal(0), Decimal("0.016"))


async def test_extract_is_off_without_a_key(desk: Desk) -> None:
    assert await extract(["https://example.org/a"], desk.gateway()) == []
    assert desk.store.journal.rows(desk.run) == []


async def test_extract_goes_in_twenties_each_within_the_budget(desk: Desk, line: Line) -> None:
    line.answers(body=b'{"results": []}')
    urls = [f"https://example.org/{n}" for n in range(41)]
    await extract(urls, desk.gateway(urls={"tavily": line.url}, keys=KEYS))
    sizes = [len(json.loads(heard.partition("\r\n\r\n")[2])["urls"]) for heard in line.heard]
    assert sizes == [20, 20, 1]
    assert sorted(row.worst for row in desk.store.journal.rows(desk.run)) == [
        Decimal("0.016"), Decimal("0.064"), Decimal("0.064"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        ("401 Unauthorized", KEY.encode(), CallFault.AUTH),
        ("429 Too Many Requests", b"{}", CallFault.RATE),
        ("500 Internal Server Error", b"{}", CallFault.SERVER),
        ("200 OK", b"<html>", CallFault.MALFORMED),
        ("200 OK", b'{"results": 1}', CallFault.MALFORMED),
    ],
)
async def test_extract_fails_as_a_search_does(
    desk: Desk, line: Line, status: str, body: bytes, fault: CallFault
) -> None:
    line.answers(status, body)
    with pytest.raises(CallError) as caught:
        await extract(["https://example.org/a"], desk.gateway(urls={"tavily": line.url}, keys=KEYS))
    assert caught.value.fault is fault
    assert KEY not in desk.everything() + str(caught.value)
