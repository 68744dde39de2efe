"""`deepdiver mcp`: serve MCP clients; list and approve the tools of the MCP servers you use."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import shlex
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import NOBODY_TO_ASK, print_err
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import one_line, several
from deepdiver.errors import CallError, CallFault, UnknownNameError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from deepdiver.core.settings import McpServer, Settings
    from deepdiver.tools.mcp.approval import Approvals
    from deepdiver.tools.mcp.definitions import ToolDefinition
    from deepdiver.tools.mcp.listing import ServerListing

HOST, PORT = "127.0.0.1", 8765
"""Where `--http` listens by default."""
LONGEST_TOKEN = 4_096
"""Characters of a token file that are read."""
MISSING_PACKAGE = (
    'deepdiver mcp needs a package that is not installed: pip install "deepdiver-research[mcp]"'
)
NO_SERVERS = """No MCP servers are configured. Add one to deepdiver.toml:

[mcp.servers.NAME]
command = ["program", "argument"]   # or: url = "https://host/mcp"
"""


def mcp(args: argparse.Namespace) -> int:
    """Serve, or list or approve tools, and return the exit code.

    Raises:
        UsageError: If the arguments make no sense, or the package `mcp` is missing.
        DeepdiverError: If the server cannot start.
    """
    action, *names = args.what or [""]
    settings = settings_of(args)
    if action not in ("", "tools", "approve"):
        raise UsageError(
            f"unknown action {one_line(action)!r}: give tools, approve SERVER, or nothing to serve"
        )
    if find_spec("mcp") is None:
        raise UsageError(MISSING_PACKAGE)
    if not action:
        return _serve(args, settings)
    if args.http:
        raise UsageError(f"--http is for serving: `deepdiver mcp {action}` does not take it")
    from rich.console import Console

    if action == "tools":
        if names:
            raise UsageError(
                f"unexpected argument {one_line(names[0])!r}: `deepdiver mcp tools` takes no "
                "argument"
            )
        return list_tools(settings, Console())
    if not names:
        raise UsageError(
            "`deepdiver mcp approve` needs SERVER, the name after [mcp.servers. in your settings"
        )
    return approve_tools(settings, Console(), names[0], names[1:], args.yes)


# Serving


def _serve(args: argparse.Namespace, settings: Settings) -> int:
    from pydantic import SecretStr

    from deepdiver.tools.check_documents import check_documents
    from deepdiver.tools.registry import choose

    only_http = {"--host": args.host, "--port": args.port, "--token-file": args.token_file}
    given = [name for name, value in only_http.items() if value is not None]
    if given and not args.http:
        raise UsageError(f"{given[0]} is for --http: add --http, or leave {given[0]} out")
    choose(settings)  # reports unusable settings now, and not to a client later
    check_documents(settings.documents)
    from deepdiver.mcp_server import transports

    if not args.http:
        if sys.stdin is not None and sys.stdin.isatty():
            print_err(
                "serving MCP on standard input and output; this is meant to be started by an MCP "
                "client; Ctrl-C ends it"
            )
        transports.serve_stdio(settings)
        return 0
    if args.token_file is not None:
        token = SecretStr(token_of(args.token_file))
        settings = settings.model_copy(update={"keys": {**settings.keys, transports.KEY: token}})
    port = PORT if args.port is None else args.port
    transports.serve_http(settings, args.host or HOST, port, print_err)
    return 0


def token_of(file: Path) -> str:
    """Return the token in a file.

    Raises:
        UsageError: If the file cannot be read or does not hold exactly one token.
    """
    try:
        with file.open(encoding="utf-8") as stream:
            text = stream.read(LONGEST_TOKEN + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot read the token file {file}: {reason}") from None
    if not text or len(text) > LONGEST_TOKEN or not text.isascii() or len(text.split()) > 1:
        raise UsageError(f"{file} does not hold a token: write one line of letters and digits")
    return text


# Tools of the MCP servers in the settings


def list_tools(settings: Settings, console: Console) -> int:
    """List the MCP servers of the settings, their tools, and whether each tool is approved.

    Returns:
        The exit code: 1 if a server did not answer.

    Raises:
        SettingsError: If the file with the approvals cannot be read.
    """
    from deepdiver.tools.mcp.approval import Approvals

    if not settings.mcp.servers:
        _say(console, NO_SERVERS)
        return 0
    approvals = Approvals(settings.home)
    listed = _ask_servers(settings, list(settings.mcp.servers), approvals)
    for server in listed:
        for line in _server_lines(settings, approvals, server):
            _say(console, line)
    return int(any(server.failure for server in listed))


def approve_tools(
    settings: Settings, console: Console, server: str, names: Sequence[str], yes: bool
) -> int:
    """Show the definitions of tools of a server, ask for approval, and record it.

    Args:
        settings: The settings that name the server.
        console: Where to show the definitions and to ask.
        server: Name of the server.
        names: Names of the tools; empty: all that are not approved in their present form.
        yes: Approve without asking.

    Returns:
        The exit code: 1 if the person declined.

    Raises:
        UnknownNameError: If there is no such server or tool.
        UsageError: If there is nobody to ask, or the approvals cannot be read or written.
        CallError: If the server did not answer.
    """
    from deepdiver.tools.mcp.approval import Approvals, ApprovalState, definition_text

    held = settings.mcp.servers.get(server)
    if held is None:
        raise UnknownNameError(
            f"there is no MCP server {server!r}{_nearest(server, list(settings.mcp.servers))}"
        )
    approvals = Approvals(settings.home)
    _say(console, f"{server}: {_address_of(held)}")
    (listed,) = _ask_servers(settings, [server], approvals)
    if listed.failure:
        raise CallError(_failure_of(listed), CallFault.SERVER)
    chosen = _chosen_tools(listed, names)
    if not chosen:
        _say(console, f"All {len(listed.tools)} tools of {server} are approved already.")
        return 0
    for definition, state in chosen:
        _say(console, f"\n{definition.name}: {state}")
        changed = state is ApprovalState.CHANGED and approvals.difference(server, definition)
        _say(console, changed or definition_text(definition.json()))
    if not yes and not _confirm(
        console, f"\nApprove {several(len(chosen), 'tool')} of {server}? [y/N] "
    ):
        _say(console, "Nothing was approved.")
        return 1
    approvals.approve(server, held, [definition for definition, _ in chosen])
    _say(console, f"Approved: {', '.join(definition.name for definition, _ in chosen)}")
    return 0


def _ask_servers(settings: Settings, names: list[str], approvals: Approvals) -> list[ServerListing]:
    """Ask servers for their tools, outside of any run and without its journal."""
    import asyncio

    from deepdiver.tools.mcp.connection import Servers
    from deepdiver.tools.mcp.listing import list_servers

    async def ask() -> list[ServerListing]:
        servers = Servers(dict(settings.mcp.servers))
        try:
            return await list_servers(settings, names, approvals, servers)
        finally:
            await servers.close()

    return asyncio.run(ask())


def _chosen_tools(listed: ServerListing, names: Sequence[str]) -> list[tuple[ToolDefinition, str]]:
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


def _server_lines(settings: Settings, approvals: Approvals, listed: ServerListing) -> Iterator[str]:
    """Yield the lines about one server."""
    from deepdiver.tools.mcp.approval import ApprovalState

    server = settings.mcp.servers[listed.server]
    yield f"{listed.server}: {_address_of(server)}"
    if listed.failure:
        yield f"  {_failure_of(listed)}"
    for definition, state in listed.tools:
        off = (
            " (excluded by your settings)"
            if server.tools and definition.name not in server.tools
            else ""
        )
        yield f"  {definition.name:<28} {state:<9}{off} {definition.line}"
        if state is ApprovalState.CHANGED:
            told = (
                approvals.difference(listed.server, definition)
                or "the address or command of the server changed"
            )
            yield from (f"    {line}" for line in told.splitlines())
    yield from (f"  {note}" for note in listed.notes)
    if any(state is not ApprovalState.APPROVED for _, state in listed.tools):
        yield f"  approve them with: deepdiver mcp approve {listed.server}"


def _failure_of(listed: ServerListing) -> str:
    return (
        f"{listed.failure}; it last said: {listed.last_words}"
        if listed.last_words
        else listed.failure
    )


def _address_of(server: McpServer) -> str:
    from deepdiver.tools.mcp.definitions import visible

    return visible(shlex.join(server.command) if server.command else server.url)


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    return (
        f"; did you mean {close[0]}?"
        if close
        else f"; known are {', '.join(sorted(known)) or 'none'}"
    )


def _confirm(console: Console, question: str) -> bool:
    with contextlib.suppress(EOFError):
        return console.input(question, markup=False).strip().lower() in {"y", "yes"}
    raise UsageError(NOBODY_TO_ASK)


def _say(console: Console, text: str) -> None:
    """Print a text as it is: it comes from strangers, so no markup in it is interpreted."""
    console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)


MCP = Command(
    "mcp",
    "serve MCP clients, or approve tools of MCP servers",
    mcp,
    takes="[ACTION]",
    arguments=(
        argument(
            "what",
            metavar="ACTION",
            nargs="*",
            help="none: serve; tools: list the tools of the MCP servers in your settings; "
            "approve SERVER [TOOL…]: approve tools",
        ),
    ),
    options=(
        flag("--http", "serve HTTP on a port instead of standard input and output"),
        argument(
            "--host", metavar="HOST", help="with --http: address to listen on; default: 127.0.0.1"
        ),
        argument(
            "--port",
            metavar="N",
            type=options.port,
            help="with --http: the port; 0: any free port; default: 8765",
        ),
        argument(
            "--token-file",
            metavar="FILE",
            type=options.path,
            help="with --http: file with the clients' bearer token",
        ),
        *options.SERVED_RESEARCH,
        options.YES,
        options.HOME,
        options.DATABASE,
    ),
    intermixed=True,
)
