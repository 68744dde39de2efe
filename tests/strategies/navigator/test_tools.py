"""One tool at a time.

And only pages are read whose address stood in a source or was said by the person.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import Searched
from deepdiver.core.record import Source, SourceKind
from deepdiver.core.settings import Filters
from deepdiver.errors import CallError, CallFault, UnreadableError
from deepdiver.gateway import Gateway
from deepdiver.strategies.navigator import tools
from deepdiver.strategies.navigator.tools import (
    ADDRESSES,
    ToolOutput,
    add_addresses,
    enter_output,
    find_addresses,
    label_addresses,
    make_address,
)
from deepdiver.tools.document import Document
from deepdiver.tools.fetch import Page
from deepdiver.tools.hit import Hit
from tests.strategies.navigator.test_disputes import ANNA, finding
from tests.strategies.rig import CorpusProvider, Rig

URL = "https://a.example/register"


class Pages(CorpusProvider):
    """A result list of pages, one of which came whole, and a file."""

    name = "Web"

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        if query == "down":
            raise CallError("nobody answers", CallFault.SERVER)
        return [
            Hit(url=URL, title="Register of\n Holm", text="Holm Works is", provider="Web"),
            Hit(
                url="https://a.example/whole",
                text="Anna Holm owns it.",
                complete=True,
                provider="Web",
            ),
            Hit(
                url="/home/me/notes.txt",
                kind=SourceKind.DOCUMENT,
                text="A note of mine.",
                provider="Web",
            ),
            Hit(url="https://a.example/bare", provider="Web"),
        ]


def rig_of(home: Path, **more: Any) -> Rig:
    return Rig(home, provider=Pages(), strategy="navigator", prices={"Web": {}}, **more)


def page(url: str, *links: str) -> Page:
    document = Document(text="", format="html", title="A page", links=links)
    return Page(
        url=url,
        asked=url,
        status=200,
        fetched="2026-11-15T00:00:00Z",
        snapshot="",
        document=document,
    )


def state(**more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "research_history": [],
        "addresses": [],
        "leads": [],
        "shared_memory": [],
        "feedback": [],
    }
    return {**empty, "initial_query": "Who owns Holm Works?", **more}


# Tools


def test_the_tools_are_the_providers_by_name_the_crawl_and_the_hand_over(tmp_path: Path) -> None:
    deps = rig_of(tmp_path / "a").session().deps
    assert [tool.name for tool in tools.list_tools(deps)] == [
        "search_web",
        "crawl_url",
        "send_to_hitl",
    ]
    assert tools.list_tools(deps)[0].about == "a few documents"
    assert tools.provider_of(deps, "search_web").name == "Web"
    closed = rig_of(tmp_path / "b", read_pages=False).session().deps
    assert "crawl_url" not in {tool.name for tool in tools.list_tools(closed)}


async def test_a_search_that_fails_says_so(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    made = await tools.use_search(rig.session().deps, "search_web", "down", "Who?")
    assert made == ToolOutput(failed="Web could not search: nobody answers")
    assert not rig.of(Searched)


async def test_a_search_takes_the_list_as_it_is_and_fetches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("no page may be fetched")

    monkeypatch.setattr("deepdiver.tools.read_hit.fetch", refuse)
    deps = rig_of(tmp_path).session().deps
    made = await tools.use_search(deps, "search_web", "Holm", "Who?")
    urls = {deps.ledger.get(Source, key).url for key in made.sources}
    assert urls == {URL, "https://a.example/whole", "/home/me/notes.txt"}
    assert {item["url"] for item in made.addresses} == {URL, "https://a.example/bare"}, (
        "what came whole is read already"
    )
    assert made.addresses[0]["title"] == "Register of Holm"


async def test_a_page_that_cannot_be_read_is_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def walled(url: str, gateway: Gateway) -> Page:
        raise UnreadableError("a login is asked for")

    monkeypatch.setattr("deepdiver.tools.read_hit.fetch", walled)
    deps = rig_of(tmp_path).session().deps
    made = await tools.use_crawl(deps, URL, "Who?")
    assert made == ToolOutput(failed=f"{URL} could not be read")
    assert any("a login is asked for" in line for line in deps.unread)


async def test_a_page_brings_its_text_and_the_links_that_the_user_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deps = rig_of(tmp_path, filters={"exclude_domains": ["spam.example"]}).session().deps
    links = (
        "https://b.example/x",
        "https://spam.example/y",
        "ftp://c.example",
        "mailto:me@c.example",
    )
    snapshot = deps.store.texts.put(deps.run.id, "Holm Works is owned by Anna Holm.")

    async def fetched(url: str, gateway: Gateway) -> Page:
        return page(url, *links).model_copy(update={"snapshot": snapshot})

    monkeypatch.setattr("deepdiver.tools.read_hit.fetch", fetched)
    monkeypatch.setattr(tools, "fetch", fetched)
    made = await tools.use_crawl(deps, URL, "Who?")
    assert deps.ledger.get(Source, made.sources[0]).title == "A page"
    assert made.addresses == (make_address("https://b.example/x", "link"),)


async def test_a_search_asks_with_the_filters_that_it_is_given(tmp_path: Path) -> None:
    asked: list[Filters] = []

    class Asked(Pages):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            asked.append(gateway.settings.filters)
            return await super().search(query, limit, gateway)

    rig = Rig(tmp_path, provider=Asked(), strategy="navigator", prices={"Web": {}})
    deps = rig.session().deps
    narrow = tools.limits_of(deps, state(feedback=["Not from a.example"]))
    made = await tools.use_search(deps, "search_web", "Holm", "Who?", narrow)
    assert {deps.ledger.get(Source, key).url for key in made.sources} == {"/home/me/notes.txt"}
    assert made.addresses == ()
    await tools.use_search(deps, "search_web", "Holm Works", "Who?")
    assert [item.exclude_domains for item in asked] == [("a.example",), ()]
    assert tools.describe_limits(deps, state()) == ""
    assert (
        tools.describe_limits(deps, state(feedback=["Not from a.example"])) == "without a.example"
    )


def test_what_the_person_has_ruled_out_is_not_wanted_any_more(tmp_path: Path) -> None:
    deps = rig_of(tmp_path).session().deps
    old = finding(deps, ANNA, "https://a.example/x", published="2019-05-01")
    new = finding(deps, ANNA, "https://b.example/x", published="2026-02")
    undated = finding(deps, ANNA, "https://c.example/x")
    held = [{"id": key, "statement": ANNA, "answers": ""} for key in (old, new, undated)]
    assert tools.find_unwanted(deps, state(shared_memory=held)) == set()
    before = state(shared_memory=held, feedback=["Only before 2022"])
    assert tools.find_unwanted(deps, before) == {new}, "a page without a date passes"
    without = state(shared_memory=held, feedback=["Not from a.example"])
    assert tools.find_unwanted(deps, without) == {old}


# Addresses


def test_what_the_person_says_is_read_as_it_stands() -> None:
    found = find_addresses(
        "See https://a.example/x?y=1, (http://b.example/z) and www.c.example or /etc/passwd."
    )
    assert [item["url"] for item in found] == ["https://a.example/x?y=1", "http://b.example/z"]
    assert {item["found"] for item in found} == {"person"}
    assert find_addresses("nothing here") == []


def test_a_page_is_kept_once_whoever_names_it() -> None:
    one = [make_address(URL, "search", "Register")]
    kept = add_addresses(
        one,
        [
            make_address(f"{URL}/?utm_source=x#top", "link"),
            make_address("https://b.example/", "link"),
        ],
    )
    assert [item["found"] for item in kept] == ["search", "link"]


@given(st.integers(0, 3), st.integers(0, 2 * ADDRESSES))
def test_what_is_kept_is_bounded_and_the_persons_own_stay(own: int, others: int) -> None:
    mine = [make_address(f"https://me.example/{n}", "person") for n in range(own)]
    found = [make_address(f"https://a.example/{n}", "link") for n in range(others)]
    kept = add_addresses(mine, found)
    assert kept[:own] == mine
    assert len(kept) == own + min(others, ADDRESSES)
    assert add_addresses(kept, []) == kept


def test_the_pages_that_were_read_are_not_offered_and_the_closest_come_first(
    tmp_path: Path,
) -> None:
    deps = rig_of(tmp_path / "a").session().deps
    held = [
        make_address("https://a.example/boats", "link"),
        make_address("https://a.example/holm-works-owner", "link"),
        make_address("https://a.example/asked", "person"),
        make_address("https://a.example/hinted", "search"),
        make_address(URL, "search"),
    ]
    leads = [{"kind": "url", "text": "https://a.example/hinted"}]
    done = [{"key": f"crawl_url {URL}"}]
    listed = tools.list_unread(deps, state(addresses=held, leads=leads, research_history=done))
    assert [item["url"].rpartition("/")[2] for item in listed] == [
        "asked",
        "hinted",
        "holm-works-owner",
        "boats",
    ]
    closed = rig_of(tmp_path / "b", read_pages=False).session().deps
    assert tools.list_unread(closed, state(addresses=held)) == []


def test_addresses_are_shown_with_labels() -> None:
    shown = label_addresses(
        [make_address(URL, "search", "Register"), make_address("https://b.example", "past")], 1
    )
    assert [(item.id, item.url, item.title, item.found) for item in shown] == [
        ("U1", URL, "Register", "search")
    ]


def test_what_a_tool_brought_enters_the_state() -> None:
    output = ToolOutput(("s_1",), (make_address(URL, "search"),), "")
    update = enter_output(state(), output)
    assert update["raw_tool_output"] == {
        "sources": ["s_1"],
        "links": [make_address(URL, "search")],
        "failed": "",
    }
    assert update["addresses"] == [make_address(URL, "search")]
