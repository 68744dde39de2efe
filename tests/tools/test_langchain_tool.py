"""LangChain tools of the user: their results can be cited, and their errors cost one search."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from pydantic import BaseModel

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Deadlines, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Mode
from deepdiver.store import CallState
from deepdiver.tools.hit import Hit
from deepdiver.tools.langchain_tool import LONGEST_ERROR, LangChainProvider, LangChainTool
from deepdiver.tools.read_hit import read_hit
from deepdiver.tools.search_all import search_all
from deepdiver.tools.source_age import AgeNeed
from tests.tools.conftest import Desk


def returning(value: Any) -> BaseTool:
    """Make a tool that returns a value whatever it is asked."""

    @tool
    def lookup(query: str) -> Any:
        """Look something up."""
        return value

    return lookup


def raising(error: BaseException) -> BaseTool:
    @tool
    def lookup(query: str) -> str:
        """Look something up."""
        raise error

    return lookup


async def ask(made: BaseTool, desk: Desk, query: str = "Holm Works", limit: int = 6) -> list[Hit]:
    return await LangChainProvider(made).search(query, limit, desk.gateway())


async def brief(made: BaseTool, desk: Desk) -> list[tuple[str, str, str]]:
    return [(found.url, found.title, found.text) for found in await ask(made, desk)]


# -- what cannot be a search


def no_arguments() -> str:
    """Take nothing."""
    return ""


def numbers_only(count: int, ratio: float | None = None, flag: bool = False) -> str:
    """Take no text."""
    return ""


def one_of_few(mode: Literal["fast", "slow"]) -> str:
    """Take one of two words."""
    return ""


class Colour(StrEnum):
    RED = "red"


def a_colour(colour: Colour) -> str:
    """Take a colour."""
    return ""


@pytest.mark.parametrize("function", [no_arguments, numbers_only, one_of_few, a_colour])
def test_a_tool_without_room_for_a_query(function: Callable[..., str]) -> None:
    with pytest.raises(
        ValueError, match=f"tool {function.__name__} takes no text that could be a query"
    ):
        LangChainProvider(tool(function))


def test_a_schema_without_arguments() -> None:
    for schema in ({"type": "object"}, {"type": "object", "properties": {}}):
        made = StructuredTool(
            name="bare", description="d", args_schema=schema, func=lambda **given: ""
        )
        with pytest.raises(ValueError, match="takes no text"):
            LangChainProvider(made)


def test_a_tool_that_requires_more_than_a_query() -> None:
    def within(site: str, query: str, year: int) -> str:
        """Search a site."""
        return ""

    with pytest.raises(
        ValueError, match="tool within requires site, year besides query: give them defaults"
    ):
        LangChainProvider(tool(within))
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["n"],
    }
    with pytest.raises(ValueError, match="requires n besides q"):
        LangChainProvider(
            StructuredTool(name="m", description="d", args_schema=schema, func=lambda **given: "")
        )


# -- a tool that is called with arguments


@tool
def within(site: str, query: str, year: int = 2026) -> list[str]:
    """Search a site."""
    if site == "down":
        raise ToolException("the site is down")
    return [f"{query} at {site} in {year}", "more"]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"query": "q"}, "its argument 'site' is missing"),
        ({"site": "s", "query": "q", "colour": "red"}, "it takes no argument 'colour'"),
        ({"site": "s", "query": "q", "year": "soon"}, "its argument 'year': Input should be a "),
        ({"site": 7, "query": "q"}, "its argument 'site': Input should be a valid string"),
    ],
)
async def test_arguments_that_a_tool_does_not_take_are_refused_before_the_call(
    desk: Desk, args: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        await LangChainTool(within).call(args, desk.gateway())
    assert desk.store.journal.rows(desk.run) == []


async def test_a_tool_is_called_with_its_arguments_and_what_it_says_can_be_cited(
    desk: Desk,
) -> None:
    made = LangChainTool(within)
    args = {"site": "example.org", "query": "Holm Works"}
    result = await made.call(args, desk.gateway())
    assert [(hit.url, hit.text) for hit in result.hits] == [
        ("tool:within", "Holm Works at example.org in 2026"),
        ("tool:within", "more"),
    ]
    assert not result.is_error
    assert await made.call(args, desk.gateway(Mode.REPLAY)) == result
    (row,) = desk.store.journal.rows(desk.run)
    assert json.loads(row.request) == {"tool": "within", "arguments": args}
    assert (made.name, made.about) == ("within", "Search a site.")
    assert made.arguments == ("site: string", "query: string", "year (optional): integer")


async def test_a_tool_with_arguments_that_raises_costs_one_call(desk: Desk) -> None:
    with pytest.raises(CallError, match="tool within failed: ToolException: the site is down"):
        await LangChainTool(within).call({"site": "down", "query": "q"}, desk.gateway())


async def test_a_tool_with_a_schema_of_its_own_and_arguments_of_the_frame(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    made = StructuredTool(
        name="count", description="", args_schema=schema, func=lambda **given: f"{given['n']} fires"
    )
    result = await LangChainTool(made).call({"n": 3}, desk.gateway())
    assert [hit.text for hit in result.hits] == ["3 fires"]

    @tool
    def mine(count: int, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
        """Count."""
        return f"{count} for {user}"

    wrapped = LangChainTool(mine)
    assert wrapped.arguments == ("count: integer",)
    with pytest.raises(ValueError, match="it takes no argument 'user'"):
        wrapped.checked({"count": 1, "user": "root"})


# -- what raises


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (RuntimeError("the backend is down"), CallFault.SERVER),
        (ConnectionError("refused"), CallFault.SERVER),
        (TimeoutError("too slow"), CallFault.SERVER),
        (ValueError("not a query"), CallFault.REQUEST),
        (KeyError("missing"), CallFault.REQUEST),
        (ToolException("the tool says no"), CallFault.REQUEST),
        (RecursionError("too deep"), CallFault.SERVER),
    ],
)
async def test_whatever_a_tool_raises_costs_one_search(
    desk: Desk, error: Exception, fault: CallFault
) -> None:
    with pytest.raises(CallError) as caught:
        await ask(raising(error), desk)
    assert caught.value.fault is fault
    assert str(caught.value).startswith(f"tool lookup failed: {type(error).__name__}: ")
    found = await search_all("q", [LangChainProvider(raising(error))], desk.gateway())
    assert not found.answered
    (row, _) = desk.store.journal.rows(desk.run)
    assert row.state is CallState.FAILED


async def test_an_error_is_one_line_without_keys(desk: Desk) -> None:
    key = "sk-0123456789abcdef"
    error = RuntimeError(f"first\nsecond \ud83d {key}\n" + "x" * 10_000)
    provider = LangChainProvider(raising(error))
    with pytest.raises(CallError) as caught:
        await provider.search("q", 6, desk.gateway(keys={"openai": key}))
    assert "first second ? [secret]" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= LONGEST_ERROR
    assert key not in desk.everything()


async def test_a_lasting_error_is_not_tried_again_and_a_passing_one_is(desk: Desk) -> None:
    calls: list[str] = []

    @tool
    def flaky(query: str) -> str:
        """Fail once."""
        calls.append(query)
        if query == "bad":
            raise ValueError("never")
        if len(calls) < 3:
            raise OSError("not now")
        return "found"

    provider = LangChainProvider(flaky)
    with pytest.raises(CallError):
        await provider.search("bad", 6, desk.gateway(retries=3))
    assert calls == ["bad"]
    (found,) = await provider.search("good", 6, desk.gateway(retries=3))
    assert (found.text, calls) == ("found", ["bad", "good", "good"])


async def test_a_tool_that_hangs_is_given_up(desk: Desk) -> None:
    @tool
    async def hangs(query: str) -> str:
        """Never answer."""
        await asyncio.sleep(30)
        return ""

    with pytest.raises(CallError) as caught:
        await LangChainProvider(hangs).search("q", 6, desk.gateway(deadlines=Deadlines(tool=0.1)))
    assert caught.value.fault is CallFault.TIMEOUT


async def test_what_never_ends_cannot_be_kept(desk: Desk) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(CallError, match="RecursionError"):
        await ask(returning(endless), desk)


# -- which argument holds the query


@pytest.mark.parametrize(
    "name", ["query", "q", "question", "search", "input", "text", "tool", "anything"]
)
async def test_the_query_goes_where_it_belongs(desk: Desk, name: str) -> None:
    heard: list[dict[str, Any]] = []

    def run(**given: Any) -> str:
        heard.append(given)
        return "found"

    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    await ask(StructuredTool(name="t", description="d", args_schema=schema, func=run), desk)
    assert heard == [{name: "Holm Works"}]
    (row,) = desk.store.journal.rows(desk.run)
    assert json.loads(row.request) == {"tool": "t", "arguments": {name: "Holm Works"}}


async def test_of_several_texts_the_usual_name_wins(desk: Desk) -> None:
    @tool
    def lookup(
        site: str = "all", limit: int = 3, query: str = "", language: str | None = None
    ) -> str:
        """Look something up."""
        return f"{site} {limit} {query} {language}"

    assert (await ask(lookup, desk))[0].text == "all 3 Holm Works None"


async def test_of_several_texts_the_one_that_must_be_given_wins(desk: Desk) -> None:
    @tool
    def lookup(topic: str, site: str = "all") -> str:
        """Look something up."""
        return f"{topic} in {site}"

    assert (await ask(lookup, desk))[0].text == "Holm Works in all"


async def test_optional_texts_and_arguments_of_the_frame(desk: Desk) -> None:
    @tool
    def lookup(
        count: int | None = None,
        about: str | None = None,
        user: Annotated[str, InjectedToolArg] = "nobody",
    ) -> str:
        """Look something up."""
        return f"{count} {about} {user}"

    assert (await ask(lookup, desk))[0].text == "None Holm Works nobody"


async def test_a_tool_of_the_old_kind(desk: Desk) -> None:
    made = Tool(name="old", description="d", func=lambda asked: f"You asked for {asked}.")
    assert await brief(made, desk) == [("tool:old", "old", "You asked for Holm Works.")]


async def test_sync_and_async_tools_and_subclasses(desk: Desk) -> None:
    loop = threading.get_ident()
    threads: list[int] = []

    @tool
    def blocking(query: str) -> str:
        """Block."""
        threads.append(threading.get_ident())
        return "sync"

    @tool
    async def waiting(query: str) -> str:
        """Wait."""
        threads.append(threading.get_ident())
        return "async"

    class Lookup(BaseTool):
        name: str = "lookup"
        description: str = "d"

        def _run(self, query: str) -> str:
            return "subclass"

    assert [(await ask(made, desk))[0].text for made in (blocking, waiting, Lookup())] == [
        "sync",
        "async",
        "subclass",
    ]
    assert threads[0] != loop  # a blocking tool does not hold the run up
    assert threads[1] == loop


# -- what comes back


NOTHING: list[Any] = [
    None,
    "",
    "  \n",
    [],
    {},
    "[]",
    "{}",
    {"results": []},
    '{"results": []}',
    [None],
    [""],
]


@pytest.mark.parametrize("value", NOTHING, ids=repr)
async def test_nothing_is_an_answer(desk: Desk, value: Any) -> None:
    assert await ask(returning(value), desk) == []
    (row,) = desk.store.journal.rows(desk.run)
    assert row.state is CallState.SETTLED


RESULT = {"url": "https://example.org/a", "title": "A", "content": "What it says."}
CITED = ("https://example.org/a", "A", "What it says.")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Plain text.", [("tool:lookup", "lookup", "Plain text.")]),
        ("42", [("tool:lookup", "lookup", "42")]),
        (42, [("tool:lookup", "lookup", "42")]),
        (True, [("tool:lookup", "lookup", "True")]),
        (b"bytes \xff", [("tool:lookup", "lookup", "bytes \ufffd")]),
        (Decimal("1.50"), [("tool:lookup", "lookup", "1.50")]),
        ('"a JSON text"', [("tool:lookup", "lookup", '"a JSON text"')]),
        ("{not JSON", [("tool:lookup", "lookup", "{not JSON")]),
        ("[" * 100_000, [("tool:lookup", "lookup", "[" * 100_000)]),
        (RESULT, [CITED]),
        ([RESULT, "and text"], [CITED, ("tool:lookup", "lookup", "and text")]),
        (json.dumps(RESULT), [CITED]),
        (json.dumps([RESULT]), [CITED]),
        ({"results": [RESULT], "query": "q"}, [CITED]),
        (json.dumps({"documents": [RESULT]}), [CITED]),
        ({"items": [RESULT]}, [CITED]),
        ({"hits": [[RESULT]]}, [CITED]),
        ([json.dumps(RESULT)], [CITED]),
        ({"href": "https://example.org/a", "name": "A", "body": "What it says."}, [CITED]),
        ({"link": "https://example.org/a", "heading": "A", "snippet": "What it says."}, [CITED]),
        (
            RESULT | {"raw_content": "The whole page."},
            [("https://example.org/a", "A", "The whole page.")],
        ),
        ({"answer": 7}, [("tool:lookup", "lookup", '{\n "answer": 7\n}')]),
        ({"results": "none"}, [("tool:lookup", "lookup", '{\n "results": "none"\n}')]),
        ([1, 2.5], [("tool:lookup", "lookup", "[\n 1,\n 2.5\n]")]),
        (
            {"content": ["a", "b"]},
            [("tool:lookup", "lookup", '{\n "content": [\n  "a",\n  "b"\n ]\n}')],
        ),
        (["one", "two"], [("tool:lookup", "lookup", "one"), ("tool:lookup", "lookup", "two")]),
        (("one", "two"), [("tool:lookup", "lookup", "one"), ("tool:lookup", "lookup", "two")]),
        ({"text": "cut \ud83d"}, [("tool:lookup", "lookup", "cut ?")]),
        ("cut \ud83d", [("tool:lookup", "lookup", "cut ?")]),
        ('{"text": "cut \\ud83d"}', [("tool:lookup", "lookup", "cut ?")]),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_what_a_tool_returns_is_read(
    desk: Desk, value: Any, expected: list[tuple[str, str, str]]
) -> None:
    assert await brief(returning(value), desk) == expected


async def test_documents_of_a_retriever(desk: Desk) -> None:
    pages = [
        Document(
            page_content="First piece.",
            metadata={"source": "report.pdf", "title": "Report", "page": 1},
        ),
        Document(
            page_content="Second piece.",
            metadata={"source": "report.pdf", "title": "Report", "page": 2},
        ),
        Document(page_content="A page.", metadata={"source": "https://example.org/b"}),
    ]
    provider = LangChainProvider(returning(pages))
    found = await search_all("q", [provider], desk.gateway())
    assert sorted((hit.url, hit.title, hit.text, hit.kind) for hit in found.hits) == [
        ("https://example.org/b", "https://example.org/b", "A page.", SourceKind.PAGE),
        ("report.pdf", "Report", "First piece.", SourceKind.TOOL),
        ("report.pdf", "Report", "Second piece.", SourceKind.TOOL),
    ]


async def test_a_score_beside_a_document_is_not_a_result(desk: Desk) -> None:
    pairs = [(Document(page_content="First."), 0.93), (Document(page_content="Second."), 0.71)]
    assert [found.text for found in await ask(returning(pairs), desk)] == ["First.", "Second."]


async def test_content_and_artifact(desk: Desk) -> None:
    @tool(response_format="content_and_artifact")
    def lookup(query: str) -> tuple[str, list[int]]:
        """Look something up."""
        return "What is said.", [1, 2, 3]

    assert await brief(lookup, desk) == [("tool:lookup", "lookup", "What is said.")]


async def test_messages_models_and_odd_objects(desk: Desk) -> None:
    class Found(BaseModel):
        url: str
        text: str

    class Odd:
        def __str__(self) -> str:
            return "an odd object"

    values = [
        AIMessage("a message"),
        AIMessage([{"type": "text", "text": "a block"}]),
        ToolMessage("a tool's message", tool_call_id="1"),
        Found(url="https://example.org", text="a model"),
        Odd(),
    ]
    assert [found.text for found in await ask(returning(values), desk)] == [
        "a message",
        "a block",
        "a tool's message",
        "a model",
        "an odd object",
    ]


async def test_what_is_known_of_a_result_is_kept(desk: Desk) -> None:
    item = RESULT | {
        "publishedAt": "2026-02-08",
        "author": "Sund Wire",
        "source": {"id": None, "name": "Gazette"},
    }
    (found,) = await ask(returning(item | {"metadata": {"publisher": "Gazette"}}), desk)
    assert (found.published, found.author, found.publisher) == (
        "2026-02-08",
        "Sund Wire",
        "Gazette",
    )
    assert (found.url, found.provider, found.kind) == (
        "https://example.org/a",
        "lookup",
        SourceKind.PAGE,
    )
    (other,) = await ask(returning({"source": {"name": "Gazette"}, "text": "t"}), desk, "another")
    assert (other.url, other.kind) == ("tool:lookup", SourceKind.TOOL)


async def test_no_more_than_asked_for(desk: Desk) -> None:
    many = [{"url": f"https://example.org/{n}", "text": f"t{n}"} for n in range(50)]
    assert [found.text for found in await ask(returning(many), desk, limit=3)] == ["t0", "t1", "t2"]


async def test_the_tool_is_called_once_and_a_replay_not_at_all(desk: Desk) -> None:
    calls: list[str] = []

    @tool
    def counted(query: str) -> str:
        """Count."""
        calls.append(query)
        return f"answer {len(calls)}"

    provider = LangChainProvider(counted)
    live = await provider.search("q", 6, desk.gateway())
    assert await provider.search("q", 6, desk.gateway()) == live
    assert await provider.search("q", 6, desk.gateway(Mode.REPLAY)) == live
    assert calls == ["q"]


async def test_what_it_said_becomes_a_source(desk: Desk) -> None:
    (found,) = await ask(returning("Holm Works is owned by Anna Holm."), desk)
    got = await read_hit(
        found,
        desk.run,
        desk.store,
        desk.gateway(),
        fetched="2026-11-15T09:00:00+00:00",
        need=AgeNeed(),
    )
    source, text = got.source, got.text
    assert source is not None
    assert text == desk.store.texts.get(source.snapshot) == "Holm Works is owned by Anna Holm."
    assert (source.url, source.kind, source.providers) == (
        "tool:lookup",
        SourceKind.TOOL,
        ("lookup",),
    )
    assert source.credibility.reasons[0] == "the output of a tool"


def test_a_tool_is_never_missing_anything() -> None:
    provider = LangChainProvider(returning("x"))
    assert provider.missing(Settings()) is None
    assert (provider.name, provider.about) == ("lookup", "Look something up.")
