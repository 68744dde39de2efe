"""`deepdiver mcp`.

Serve MCP clients; and `mcp tools` and `mcp approve` for the MCP servers of your settings.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from deepdiver.cli.library import Voice
from deepdiver.cli.words import one_line
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings

HOST, PORT = "127.0.0.1", 8765
KEY = "mcp_server"
"""Name of the bearer token among the keys of the settings."""
LONGEST_TOKEN = 4_096
NEEDED = 'deepdiver mcp needs a package that is not here: pip install "deepdiver-research[mcp]"'


def do(args: argparse.Namespace, settings: Settings, voice: Voice) -> int:
    """Do what `deepdiver mcp` was asked to, and return the exit code.

    Raises:
        UsageError: If that makes no sense, or the package is missing.
        DeepdiverError: If it cannot be served.
    """
    action, *names = args.what or [""]
    if action not in ("", "tools", "approve"):
        raise UsageError(
            f"{one_line(action)!r} is nothing that mcp does: say tools, approve SERVER, or nothing "
            "to serve"
        )
    if find_spec("mcp") is None:
        raise UsageError(NEEDED)
    if not action:
        return _serve(args, settings, voice)
    if args.http:
        raise UsageError(f"--http is for serving: `deepdiver mcp {action}` takes none")
    return _tools(settings, names) if action == "tools" else _approve(settings, names, args.yes)


def _tools(settings: Settings, names: list[str]) -> int:
    from rich.console import Console

    from deepdiver.cli.mcp_tools import tools

    if names:
        raise UsageError(
            f"{one_line(names[0])!r} is left over: `deepdiver mcp tools` takes no argument"
        )
    return tools(settings, Console())


def _approve(settings: Settings, names: list[str], yes: bool) -> int:
    from rich.console import Console

    from deepdiver.cli.mcp_tools import approve

    if not names:
        raise UsageError(
            "`deepdiver mcp approve` needs SERVER, as [mcp.servers.SERVER] in your settings "
            "names it"
        )
    return approve(settings, Console(), names[0], names[1:], yes)


def _serve(args: argparse.Namespace, settings: Settings, voice: Voice) -> int:
    from deepdiver.cli.work import check_documents, known_before

    only_http = {"--host": args.host, "--port": args.port, "--token-file": args.token_file}
    if not args.http and (said := [name for name, value in only_http.items() if value is not None]):
        raise UsageError(f"{said[0]} is for --http: add it, or leave {said[0]} out")
    known_before(settings)  # what cannot be used is said now, and not to a client later
    check_documents(settings.documents)
    # Surfaces do not import each other; this one is found by its name.
    server = import_module("deepdiver.mcp_server.serve")
    if not args.http:
        if sys.stdin is not None and sys.stdin.isatty():
            voice.err(
                "serving MCP on standard input and output, as an MCP client starts it; Ctrl-C "
                "ends it"
            )
        server.serve_stdio(settings)
        return 0
    if args.token_file is not None:
        settings = settings.model_copy(
            update={"keys": {**settings.keys, KEY: SecretStr(token_of(args.token_file))}}
        )
    server.serve_http(
        settings, args.host or HOST, PORT if args.port is None else args.port, voice.err
    )
    return 0


def token_of(file: Path) -> str:
    """Return the token that a file holds.

    Raises:
        UsageError: If it holds none.
    """
    try:
        with file.open(encoding="utf-8") as stream:
            text = stream.read(LONGEST_TOKEN + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read as a token: {getattr(error, 'strerror', None) or 'not text'}"
        ) from None
    if not text or len(text) > LONGEST_TOKEN or not text.isascii() or len(text.split()) > 1:
        raise UsageError(f"{file} holds no token: put one line of letters and digits there")
    return text
