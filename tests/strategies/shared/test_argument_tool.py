"""Tools of MCP servers as tools of a strategy: real servers, real runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Source, SourceKind
from deepdiver.core.settings import Settings, load
from deepdiver.run import replay, research
from deepdiver.run.record import load_ledger
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.overwatch.execute import ToolExecutor, ToolStatus
from deepdiver.strategies.shared.argument_tool import parse_arguments
from deepdiver.tools.mcp import connect
from deepdiver.tools.mcp.approval import Approvals
from deepdiver.tools.mcp.connection import Servers
from tests.processes import gone, started_by_us
from tests.strategies.rig import QUESTION, Rig
from tests.tools.mcp.conftest import HONEST
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.fixture
def archive(warm: Warm) -> dict[str, Any]:
    """Return settings with a server of the `mcp` package (a second or more to import)."""
    return {"servers": {"archive": {"command": [*warm.python, str(HONEST)]}}}


# -- arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "days": {"type": "integer"},
        "name": {"type": "string"},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "list": {"type": ["array"]},
        "any": {},
    },
}


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("days", "7", 7),
        ("days", "seven", "seven"),
        ("name", "7", "7"),
        ("either", "7", "7"),
        ("maybe", "2.5", 2.5),
        ("maybe", "null", None),
        ("list", '["a"]', ["a"]),
        ("any", "7", "7"),
        ("other", "7", "7"),
    ],
)
def test_text_is_read_as_what_the_schema_wants(name: str, text: str, wanted: Any) -> None:
    assert parse_arguments({name: text}, SCHEMA) == {name: wanted}


@given(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    ),
)
def test_no_schema_breaks_it(text: str, schema: Any) -> None:
    assert parse_arguments({"a": text}, {"properties": {"a": schema}}).keys() == {"a"}
    assert parse_arguments({"a": text}, {"properties": schema}) == {"a": text} or isinstance(
        schema, dict
    )


# -- calls


async def approve(settings: Settings) -> None:
    """Say yes to everything that the servers offer."""
    servers = Servers(dict(settings.mcp.servers))
    try:
        for name, server in settings.mcp.servers.items():
            async with servers.connection(name) as connection:
                Approvals(settings.home).approve(name, server, list(connection.tools.values()))
    finally:
        await servers.close()


@pytest.fixture
def rig(tmp_path: Path, archive: dict[str, Any]) -> Rig:
    made = Rig(tmp_path, strategy="overwatch", search=("mcp",), mcp=archive)
    asyncio.run(approve(made.settings))
    return made


async def test_a_tool_that_takes_more_than_a_query_is_called_with_its_arguments(rig: Rig) -> None:
    before = started_by_us()
    session = rig.session()
    session._choice = type(session._choice)(session._choice.providers, mcp=("mcp",))
    await session.prepare()
    executor = ToolExecutor(session.deps, QUESTION)
    assert "archive.distance" in {tool.name for tool in executor.definitions}
    assert "archive.search_archive" in {provider.name for provider in session.deps.providers}
    refused = await executor.execute("archive.distance", {"start": "Holm"})
    assert refused.status is ToolStatus.REFUSED
    assert "'end' is a required property" in refused.message
    same = await executor.execute("archive.distance", {"start": "Holm", "end": "Holm"})
    assert same.status is ToolStatus.FAILED
    told = await executor.execute("archive.distance", {"start": "Holm Works", "end": "Anna Holm"})
    assert told.status in {ToolStatus.ANSWERED, ToolStatus.EMPTY}
    sources = [
        source
        for source in session.deps.ledger.of(Source).values()
        if source.kind is SourceKind.TOOL
    ]
    assert [source.url for source in sources] == ["mcp:archive/distance"]
    assert (
        session.deps.store.texts.get(sources[0].snapshot).strip()
        == "From Holm Works to Anna Holm it is 42 km."
    )
    await session.close()
    assert gone(started_by_us() - before)


@pytest.mark.parametrize(
    "strategy", ["popper", "iterative", "orchestrated", "overwatch", "navigator"]
)
async def test_every_strategy_searches_with_the_tools_of_servers(
    tmp_path: Path, archive: dict[str, Any], strategy: str
) -> None:
    before = started_by_us()
    flags = {
        "home": tmp_path,
        "strategy": strategy,
        "search": ("mcp",),
        "mcp": archive,
        "feeds": ("none",),
        "retries": 0,
    }
    settings = load(flags)
    await approve(settings)
    outcome = await research("What does the archive tell of Holm Works?", settings)
    assert outcome.error is None
    ledger = load_ledger(open_sqlite(tmp_path), outcome.run.id)
    urls = {source.url for source in ledger.of(Source).values()}
    assert any(url.startswith("mcp:archive/search_archive") for url in urls), urls
    again = await replay(outcome.run.id, load({"home": tmp_path}))
    assert again.report == outcome.report
    assert gone(started_by_us() - before), "no server is left running"


async def test_what_is_not_approved_is_not_offered_and_said(
    tmp_path: Path, archive: dict[str, Any]
) -> None:
    rig = Rig(tmp_path, mcp=archive)
    have = await connect(rig.settings, rig.session().deps.gateway)
    assert have.tools == ()
    assert any("deepdiver mcp approve archive" in line for line in have.limits)
    await have.close()
