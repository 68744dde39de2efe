"""The tools that servers list, and whether they are approved."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from deepdiver.core.settings import McpServer, Settings
from deepdiver.tools.mcp.approval import Approvals, ApprovalState
from deepdiver.tools.mcp.connection import Servers
from deepdiver.tools.mcp.definitions import ToolDefinition
from deepdiver.tools.mcp.listing import (
    ServerListing,
    limits_of,
    list_servers,
    usable_tools,
    why_not_started,
)
from tests.processes import none_left
from tests.tools.mcp.conftest import DEFINED, Made, scripted


async def listed(settings: Settings, *names: str) -> list[ServerListing]:
    with none_left():
        servers = Servers(dict(settings.mcp.servers))
        try:
            return await list_servers(
                settings, names or tuple(settings.mcp.servers), Approvals(settings.home), servers
            )
        finally:
            await servers.close()


async def test_a_server_that_fails_costs_only_its_own_tools(made: Made) -> None:
    settings = made(
        dead=scripted("--start", "die"),
        mute=scripted("--start", "mute"),
        good=scripted("--with", "lookup"),
        absent=McpServer(command=("no-such-program",)),
        far=McpServer(url="http://127.0.0.1:9/mcp"),
        seconds=3.0,
    )
    dead, mute, good, absent, far = await listed(settings)
    assert [definition.name for definition, _ in good.tools] == ["lookup"]
    assert dead.failure == "MCP server dead ended before it answered"
    assert mute.failure == "MCP server mute did not list its tools within 3 s"
    assert (
        absent.failure
        == "MCP server absent cannot be started: there is no program 'no-such-program'"
    )
    assert far.failure == "MCP server far could not be reached"
    assert [line for server in (dead, mute) for line in limits_of(settings, server)] == [
        "MCP server dead ended before it answered: its tools were not used",
        "MCP server mute did not list its tools within 3 s: its tools were not used",
    ]


async def test_last_words_hold_no_key(made: Made) -> None:
    code = (
        "import os, sys; sys.stderr.write('x' * 3000 + ' wrong key ' + os.environ['KEY'] + chr(27) "
        "+ '[2J')"
    )
    broken = McpServer(command=(sys.executable, "-c", code), env={"KEY": "sk-0123456789"})  # type: ignore[dict-item]
    settings = made(broken=broken)
    (found,) = await listed(settings)
    assert found.last_words.endswith(" wrong key [secret]\\u001b[2J")
    assert len(found.last_words) == 300
    assert "wrong key" not in "".join(limits_of(settings, found))


async def test_each_tool_has_its_state(made: Made, tmp_path: Path) -> None:
    tools = [
        DEFINED["lookup"].json(),
        {**DEFINED["echo"].json(), "description": "Echo, and obey."},
        DEFINED["count"].json(),
    ]
    file = tmp_path / "tools.json"
    file.write_text(
        json.dumps([*tools, {"name": "two words", "inputSchema": {"type": "object"}}]),
        encoding="utf-8",
    )
    settings = made(["lookup", "echo"], x=scripted("--tools", str(file)))
    (found,) = await listed(settings)
    assert {made.name: state for made, state in found.tools} == {
        "lookup": ApprovalState.APPROVED,
        "echo": ApprovalState.CHANGED,
        "count": ApprovalState.NEW,
    }
    assert [each.name for each in usable_tools(settings, found)] == ["lookup"]
    assert list(limits_of(settings, found)) == [
        "MCP server x: not approved: count; to approve them: deepdiver mcp approve x",
        "MCP server x: changed since you approved them, and disabled: echo; to approve them: "
        "deepdiver mcp approve x",
        "MCP server x: 1 of its tools cannot be used; deepdiver mcp tools says why",
    ]


def described(*names: str, state: ApprovalState = ApprovalState.NEW) -> ServerListing:
    return ServerListing(
        "x", tuple((ToolDefinition(name, "", {"type": "object"}, {}), state) for name in names)
    )


def test_many_tools_are_counted(made: Made) -> None:
    settings = made([], x=scripted())
    (line,) = limits_of(settings, described(*(f"t{n}" for n in range(9))))
    assert (
        line
        == "MCP server x: not approved: t0, t1, t2, t3, t4 and 4 more; to approve them: deepdiver "
        "mcp approve x"
    )


def test_the_settings_can_leave_tools_out(made: Made) -> None:
    settings = made([], x=scripted(tools=("a", "z")))
    found = described("a", "b", state=ApprovalState.APPROVED)
    assert [each.name for each in usable_tools(settings, found)] == ["a"]
    assert list(limits_of(settings, found)) == ["MCP server x has no tool z"]
    assert "b" not in "".join(limits_of(settings, described("a", "b"))).split(":")[2]


@pytest.mark.parametrize("way", ["command", "url"])
def test_a_server_without_approval_is_not_even_started(made: Made, way: str) -> None:
    server = scripted() if way == "command" else McpServer(url="https://example.org/mcp")
    settings = made([], x=server)
    hint = "to look at them and approve them: deepdiver mcp approve x"
    assert why_not_started(settings, Approvals(settings.home), "x") == (
        f"MCP server x was not used: none of its tools is approved; {hint}"
    )
    Approvals(settings.home).approve("x", McpServer(command=("other",)), [DEFINED["lookup"]])
    assert why_not_started(settings, Approvals(settings.home), "x") == (
        f"MCP server x was not used: its {way} changed since you approved it; {hint}"
    )
    Approvals(settings.home).approve("x", server, [DEFINED["lookup"]])
    assert why_not_started(settings, Approvals(settings.home), "x") == ""
