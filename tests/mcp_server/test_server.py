"""The server in this process, with the package's own client, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from deepdiver import __version__
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.mcp_server.resources import PARTS, RUNS
from deepdiver.mcp_server.server import build
from deepdiver.mcp_server.tools import NOT_HERE, TOOLS
from deepdiver.strategies.table import TABLE
from tests.mcp_server.tides import FEED, KEY

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"


@pytest.fixture(params=["legacy", "auto"])
async def client(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[Client]:
    # In a task of its own: a fixture's two halves may run in different tasks, which anyio's scopes
    # do not allow.
    ready, done = asyncio.Event(), asyncio.Event()
    held: list[Client] = []

    async def hold() -> None:
        async with Client(build(settings), mode=request.param) as connected:
            held.append(connected)
            ready.set()
            await done.wait()

    task = asyncio.create_task(hold())
    await asyncio.wait(
        {task, asyncio.create_task(ready.wait())}, return_when=asyncio.FIRST_COMPLETED
    )
    yield held[0]
    done.set()
    await task


def said(result: types.CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, types.TextContent)
    return part.text


async def refused(client: Client, name: str, given: dict[str, Any]) -> str:
    result = await client.call_tool(name, given)
    assert result.is_error
    assert result.structured_content is None
    return said(result)


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(client: Client) -> None:
    for name in ("nope", "x" * 10_000, "__class__"):
        with pytest.raises(MCPError, match="there is no tool") as caught:
            await client.call_tool(name, {})
        assert caught.value.code == types.INVALID_PARAMS
        assert len(caught.value.message) < 150


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("research", {}, "the argument 'question' is required"),
        ("research", {"question": "x", "model": "openai:gpt-5"}, "unknown argument 'model'"),
        ("research", {"question": "x", "documents": ["../../etc"]}, "is not among the documents"),
        ("research", {"question": "x" * 1_000_000}, "the argument 'question'"),
        ("research", {"question": "x", "y" * 100_000: 1}, "unknown argument"),
        ("status", {"run": "../x"}, "the argument 'run'"),
        ("status", {"run": "20261115-none"}, "20261115-none"),
        ("report", {"run": "20261115", "format": "html"}, "the argument 'format'"),
        (FEED.name, {}, "it needs the argument 'harbour'"),
        (FEED.name, {"harbour": "Broken"}, "tides refused [secret]"),
    ],
)
async def test_what_cannot_be_is_a_tool_error_in_a_line(
    client: Client, name: str, given: dict[str, Any], why: str
) -> None:
    told = await refused(client, name, given)
    assert why in told
    assert "\n" not in told
    assert len(told) < 400
    assert KEY not in told


async def test_a_fault_of_our_own_tells_the_client_nothing(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(MCPError) as caught:
        await client.call_tool(FEED.name, {"harbour": "Bug"})
    assert caught.value.message == "internal error: RuntimeError"
    assert "failed because of a bug in deepdiver" in caplog.text


async def test_tools_have_schemas_and_what_they_give_fits_them(client: Client) -> None:
    assert client.server_info is not None
    assert (client.server_info.name, client.server_info.version) == ("deepdiver", __version__)
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [*TOOLS, FEED.name]
    for tool in listed:
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert tool.annotations.destructive_hint is False
    assert listed[-1].input_schema["properties"]["least"]["maximum"] == 10
    # The client checks structured content against the schema, and raises where it does not fit.
    told = await client.call_tool(FEED.name, {"harbour": "Vantskär"})
    content = cast("dict[str, Any]", told.structured_content)
    assert [row["data"]["level"] for row in content["answers"][0]["rows"]] == [4.5, 1.25]
    assert "the level at Vantskär was 4.5 m." in said(told)


@pytest.mark.parametrize("changes", [{"keys": {}}, {"feeds": ("none",)}])
async def test_a_feed_that_cannot_be_used_is_not_listed_and_says_why(
    settings: Settings, changes: dict[str, Any]
) -> None:
    async with Client(build(settings.model_copy(update=changes))) as client:
        assert FEED.name not in [tool.name for tool in (await client.list_tools()).tools]
        told = await refused(client, FEED.name, {"harbour": "Vantskär"})
    assert "DEEPDIVER_TIDES_KEY" in told or "turn it off" in told


async def test_a_question_all_the_way(client: Client) -> None:
    steps: list[tuple[float, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    result = await client.call_tool(
        "research", {"question": QUESTION, "wait": True}, progress_callback=told
    )
    assert not result.is_error
    assert said(result).startswith("# Svedjan Ost AB made 38 tonnes of cheese in 2025")
    run = cast("dict[str, Any]", result.structured_content)["run"]
    assert [step for step, _ in steps] == sorted({step for step, _ in steps})
    assert steps[-1][1] == "ended: answered"
    for name, given in (
        ("status", {}),
        ("report", {}),
        ("report", {"format": "json"}),
        ("ask_about_run", {"question": "When was Svedjan Ost AB founded?"}),
        ("audit", {"replay": True}),
    ):
        again = await client.call_tool(name, {"run": run, **given})
        assert not again.is_error, said(again)
    nothing = await client.call_tool(
        "ask_about_run", {"run": run, "question": "What is the capital of France?"}
    )
    assert said(nothing) == NOT_HERE
    read = await client.read_resource(f"{RUNS}/{run}/report.md")
    (content,) = read.contents
    assert isinstance(content, types.TextResourceContents)
    assert content.text == said(result)
    assert [item.uri for item in (await client.list_resources()).resources] == [
        RUNS,
        f"{RUNS}/{run}/report.md",
    ]


async def test_resources_that_are_not_there(client: Client) -> None:
    for uri in ("deepdiver://runs/none-x/report.md", "deepdiver://x", "file:///etc/passwd"):
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert caught.value.code == types.INVALID_PARAMS
    templates = (await client.list_resource_templates()).resource_templates
    assert [item.uri_template for item in templates] == [
        f"{RUNS}/{{id}}/{part.name}" for part in PARTS
    ]


async def test_prompts(client: Client) -> None:
    listed = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in listed] == list(TABLE)
    for prompt in listed:
        made = await client.get_prompt(prompt.name, {"question": QUESTION})
        (message,) = made.messages
        assert isinstance(message.content, types.TextContent)
        assert message.content.text.endswith(QUESTION)
    for name, given in (
        ("poper", {"question": "x"}),
        ("popper", {}),
        ("popper", {"question": " "}),
    ):
        with pytest.raises(MCPError):
            await client.get_prompt(name, given)


async def test_two_clients_of_one_home_see_the_same_runs(settings: Settings) -> None:
    async with Client(build(settings)) as one, Client(build(settings), mode="legacy") as other:
        first, second = await asyncio.gather(
            *(
                client.call_tool("research", {"question": QUESTION, "wait": True})
                for client in (one, other)
            )
        )
        runs = {
            cast("dict[str, Any]", result.structured_content)["run"] for result in (first, second)
        }
        assert len(runs) == 2
        for client in (one, other):
            for run in runs:
                summary = cast(
                    "dict[str, Any]",
                    (await client.call_tool("status", {"run": run})).structured_content,
                )
                assert summary["status"] == RunStatus.ANSWERED
