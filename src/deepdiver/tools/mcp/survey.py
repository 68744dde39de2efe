"""What the servers of the settings offer, and how that stands to what was approved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.approval import Approvals, State
from deepdiver.tools.mcp.connection import Connection, Servers
from deepdiver.tools.mcp.definitions import Definition, visible

NAMED = 5
"""Tools that are named in one line of the report; of more, their number is told."""
WORDS = 300
"""Characters of what a failing program said."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What one server offers."""

    server: str
    """Its name in the settings."""
    tools: tuple[tuple[Definition, State], ...] = ()
    """Its tools, and how each stands to what was approved."""
    notes: tuple[str, ...] = ()
    """A line for each tool that cannot be used at all."""
    failure: str = ""
    """Why it could not be asked; empty: it was."""
    last_words: str = ""
    """What its program last wrote to its stderr, where it failed. For its owner, not for a report.
    """

    def standing(self, state: State) -> list[str]:
        """Return the names of the tools in a state."""
        return [definition.name for definition, held in self.tools if held is state]


async def survey(
    settings: Settings, names: Iterable[str], approvals: Approvals, servers: Servers
) -> list[Listed]:
    """Ask servers for their tools, all at once; one that fails costs its own.

    Args:
        settings: Describe the servers.
        names: Which of them are asked; each is started or connected to.
        approvals: What was approved.
        servers: The connections, which stay open.
    """
    return await asyncio.gather(*(_list(settings, name, approvals, servers) for name in names))


async def _list(settings: Settings, name: str, approvals: Approvals, servers: Servers) -> Listed:
    held: Connection | None = None
    seconds = settings.deadlines.mcp or None
    try:
        try:
            async with asyncio.timeout(seconds), servers.connection(name) as held:
                server = settings.mcp.servers[name]
                tools = tuple(
                    (made, approvals.state(name, server, made)) for made in held.tools.values()
                )
                return Listed(name, tools, tuple(held.notes))
        except TimeoutError:
            told = f"MCP server {name} did not list its tools within {seconds:g} s"
            raise CallError(told, CallFault.TIMEOUT) from None
    except CallError as error:
        return Listed(
            name, failure=str(error), last_words=_told(settings, servers.last_words.get(name, ""))
        )


def _told(settings: Settings, line: str) -> str:
    """Return what a program said as it may be shown.

    Without keys, and with nothing that a terminal obeys.
    """
    for secret in settings.secrets():
        line = line.replace(secret, "[secret]")
    return visible(line)[-WORDS:]


def wanted(settings: Settings, listed: Listed) -> list[Definition]:
    """Return the tools of a server that are approved, and that the settings allow."""
    allowed = settings.mcp.servers[listed.server].tools
    return [
        made
        for made, state in listed.tools
        if state is State.APPROVED and (not allowed or made.name in allowed)
    ]


def limits_of(settings: Settings, listed: Listed) -> Iterator[str]:
    """Walk what must be said of a server in a report."""
    name, allowed = listed.server, settings.mcp.servers[listed.server].tools
    if listed.failure:
        yield f"{listed.failure}: its tools were not used"
        return
    for state, told in (
        (State.NEW, "not approved"),
        (State.CHANGED, "changed since you approved them, and disabled"),
    ):
        if tools := [tool for tool in listed.standing(state) if not allowed or tool in allowed]:
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


def unapproved(settings: Settings, approvals: Approvals, name: str) -> str:
    """Return why a server is not even started.

    Empty: something of it is approved, and it is where it was.
    """
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
