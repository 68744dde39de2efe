"""Listing the tools of servers, and comparing them with what was approved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deepdiver.core.scrub import Scrubber
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError
from deepdiver.tools.mcp.approval import Approvals, ApprovalState
from deepdiver.tools.mcp.connection import Servers
from deepdiver.tools.mcp.definitions import ToolDefinition, visible

NAMED = 5
"""Tools that are named in one line of the report; the others are counted."""
WORDS = 300
"""Characters of the last words of a program that failed."""


@dataclass(frozen=True, slots=True)
class ServerListing:
    """The tools that one server lists."""

    server: str
    """Its name in the settings."""
    tools: tuple[tuple[ToolDefinition, ApprovalState], ...] = ()
    """Its tools, and whether each is approved."""
    notes: tuple[str, ...] = ()
    """A line for each tool that cannot be used at all."""
    failure: str = ""
    """Why it could not be asked; empty if it was asked."""
    last_words: str = ""
    """What its program last wrote to stderr if it failed: for its owner, not for a report."""

    def names(self, state: ApprovalState) -> list[str]:
        """Return the names of the tools in a state."""
        return [definition.name for definition, held in self.tools if held is state]


async def list_servers(
    settings: Settings, names: Iterable[str], approvals: Approvals, servers: Servers
) -> list[ServerListing]:
    """Ask servers for their tools, all at once; one that fails costs only its own tools.

    Args:
        settings: Describe the servers.
        names: The servers to ask; each is started or connected to.
        approvals: The approved tools.
        servers: The connections, which stay open.
    """
    return await asyncio.gather(*(_list(settings, name, approvals, servers) for name in names))


async def _list(
    settings: Settings, name: str, approvals: Approvals, servers: Servers
) -> ServerListing:
    server, seconds = settings.mcp.servers[name], settings.deadlines.mcp or None
    try:
        async with asyncio.timeout(seconds), servers.connection(name) as connection:
            tools = tuple(
                (tool, approvals.state(name, server, tool)) for tool in connection.tools.values()
            )
            return ServerListing(name, tools, tuple(connection.notes))
    except TimeoutError:
        failure = f"MCP server {name} did not list its tools within {seconds:g} s"
    except CallError as error:
        failure = str(error)
    last_words = _clean(settings, servers.last_words.get(name, ""))
    return ServerListing(name, failure=failure, last_words=last_words)


def _clean(settings: Settings, line: str) -> str:
    """Return a line of a program without keys, and with control characters escaped."""
    return visible(Scrubber(settings.secrets())(line))[-WORDS:]


def usable_tools(settings: Settings, listed: ServerListing) -> list[ToolDefinition]:
    """Return the tools of a server that are approved and that the settings allow."""
    allowed = settings.mcp.servers[listed.server].tools
    return [
        made
        for made, state in listed.tools
        if state is ApprovalState.APPROVED and (not allowed or made.name in allowed)
    ]


def limits_of(settings: Settings, listed: ServerListing) -> Iterator[str]:
    """Yield the lines about a server for the limits of a report."""
    name, allowed = listed.server, settings.mcp.servers[listed.server].tools
    if listed.failure:
        yield f"{listed.failure}: its tools were not used"
        return
    for state, told in (
        (ApprovalState.NEW, "not approved"),
        (ApprovalState.CHANGED, "changed since you approved them, and disabled"),
    ):
        if tools := [tool for tool in listed.names(state) if not allowed or tool in allowed]:
            shown = ", ".join(tools[:NAMED]) + (
                f" and {len(tools) - NAMED} more" if len(tools) > NAMED else ""
            )
            yield (
                f"MCP server {name}: {told}: {shown}; to approve them: deepdiver mcp approve {name}"
            )
    there = {made.name for made, _ in listed.tools}
    if absent := [tool for tool in allowed if tool not in there]:
        yield f"MCP server {name} has no tool {', '.join(absent)}"
    if listed.notes:
        yield (
            f"MCP server {name}: {len(listed.notes)} of its tools cannot be used; deepdiver mcp "
            "tools says why"
        )


def why_not_started(settings: Settings, approvals: Approvals, name: str) -> str:
    """Return why a server is not even started; empty if it may be started."""
    server = settings.mcp.servers[name]
    if approvals.known(name, server):
        return ""
    way = "command" if server.command else "url"
    moved = approvals.moved(name, server)
    told = f"its {way} changed since you approved it" if moved else "none of its tools is approved"
    return (
        f"MCP server {name} was not used: {told}; to look at them and approve them: deepdiver mcp "
        f"approve {name}"
    )
