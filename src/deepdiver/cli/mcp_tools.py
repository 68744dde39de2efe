"""`deepdiver mcp tools` and `deepdiver mcp approve`.

What MCP servers offer, and what of it a person approves.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from deepdiver.errors import CallError, CallFault, UnknownNameError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from deepdiver.core.settings import McpServer, Settings
    from deepdiver.tools.mcp.approval import Approvals
    from deepdiver.tools.mcp.definitions import ToolDefinition
    from deepdiver.tools.mcp.listing import ServerListing

NO_SERVERS = """There are no MCP servers. Name one in deepdiver.toml:

[mcp.servers.NAME]
command = ["program", "argument"]   # or: url = "https://host/mcp"
"""


def tools(settings: Settings, console: Console) -> int:
    """List the servers of the settings, their tools, and how each stands to what was approved.

    Returns:
        The exit status: 1 where a server could not be asked.

    Raises:
        SettingsError: If the file of approvals cannot be read.
    """
    from deepdiver.tools.mcp.approval import Approvals

    if not settings.mcp.servers:
        _say(console, NO_SERVERS)
        return 0
    approvals = Approvals(settings.home)
    listed = asyncio.run(_surveyed(settings, list(settings.mcp.servers), approvals))
    for server in listed:
        for line in _shown(settings, approvals, server):
            _say(console, line)
    return int(any(server.failure for server in listed))


def approve(
    settings: Settings, console: Console, server: str, names: Sequence[str], yes: bool
) -> int:
    """Show definitions of a server's tools and keep that they are approved.

    Args:
        settings: Describe the server.
        console: Where to show them, and to ask.
        server: Its name.
        names: Which tools; empty: all that are not approved as they are.
        yes: Whether not to ask.

    Returns:
        The exit status: 1 where the person said no.

    Raises:
        UnknownNameError: If there is no such server or tool.
        UsageError: If somebody should be asked and nobody is there, or the approvals cannot be read
            or written.
        CallError: If the server could not be asked.
    """
    from deepdiver.tools.mcp.approval import Approvals, ApprovalState, definition_text

    held = settings.mcp.servers.get(server)
    if held is None:
        raise UnknownNameError(
            f"there is no MCP server {server!r}{_nearest(server, list(settings.mcp.servers))}"
        )
    approvals = Approvals(settings.home)
    _say(console, f"{server}: {_way(held)}")
    (listed,) = asyncio.run(_surveyed(settings, [server], approvals))
    if listed.failure:
        raise CallError(_failure(listed), CallFault.SERVER)
    chosen = _chosen(listed, names)
    if not chosen:
        _say(console, f"All {len(listed.tools)} tools of {server} are approved as they are.")
        return 0
    for definition, state in chosen:
        _say(console, f"\n{definition.name}: {state}")
        changed = state is ApprovalState.CHANGED and approvals.difference(server, definition)
        _say(console, changed or definition_text(definition.json()))
    if not yes and not _confirmed(console, f"\nApprove {len(chosen)} tools of {server}? [y/N] "):
        _say(console, "Nothing was approved.")
        return 1
    approvals.approve(server, held, [definition for definition, _ in chosen])
    _say(console, f"Approved: {', '.join(definition.name for definition, _ in chosen)}")
    return 0


async def _surveyed(
    settings: Settings, names: list[str], approvals: Approvals
) -> list[ServerListing]:
    """Ask servers for their tools. The user asked for just this: it is no call of a run."""
    from deepdiver.tools.mcp.connection import Servers
    from deepdiver.tools.mcp.listing import list_servers

    servers = Servers(dict(settings.mcp.servers))
    try:
        return await list_servers(settings, names, approvals, servers)
    finally:
        await servers.close()


def _chosen(listed: ServerListing, names: Sequence[str]) -> list[tuple[ToolDefinition, str]]:
    from deepdiver.tools.mcp.approval import ApprovalState

    there = {definition.name: (definition, state) for definition, state in listed.tools}
    for name in names:
        if name not in there:
            raise UnknownNameError(
                f"MCP server {listed.server} has no tool {name!r}{_nearest(name, list(there))}"
            )
    return [there[name] for name in names] or [
        each for each in listed.tools if each[1] is not ApprovalState.APPROVED
    ]


def _shown(settings: Settings, approvals: Approvals, listed: ServerListing) -> Iterator[str]:
    """Walk the lines about one server."""
    from deepdiver.tools.mcp.approval import ApprovalState

    server = settings.mcp.servers[listed.server]
    yield f"{listed.server}: {_way(server)}"
    if listed.failure:
        yield f"  {_failure(listed)}"
    for definition, state in listed.tools:
        off = (
            " (left out by your settings)"
            if server.tools and definition.name not in server.tools
            else ""
        )
        yield f"  {definition.name:<28} {state:<9}{off} {definition.line}"
        if state is ApprovalState.CHANGED:
            told = (
                approvals.difference(listed.server, definition)
                or "how the server is reached changed"
            )
            yield from (f"    {line}" for line in told.splitlines())
    yield from (f"  {note}" for note in listed.notes)
    if any(state is not ApprovalState.APPROVED for _, state in listed.tools):
        yield f"  to approve them: deepdiver mcp approve {listed.server}"


def _failure(listed: ServerListing) -> str:
    return (
        f"{listed.failure}; it last said: {listed.last_words}"
        if listed.last_words
        else listed.failure
    )


def _way(server: McpServer) -> str:
    from deepdiver.tools.mcp.definitions import visible

    return visible(shlex.join(server.command) if server.command else server.url)


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return (
        f"; did you mean {close[0]}?"
        if close
        else f"; known are {', '.join(sorted(known)) or 'none'}"
    )


def _confirmed(console: Console, question: str) -> bool:
    with contextlib.suppress(EOFError):
        return console.input(question, markup=False).strip().lower() in {"y", "yes"}
    raise UsageError("nobody is here to be asked: add --yes")


def _say(console: Console, text: str) -> None:
    """Show a text as it is.

    Much of it is a stranger's, and must neither colour nor shorten anything.
    """
    console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)
