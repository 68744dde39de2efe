"""Serving MCP over standard input and output, or over streamable HTTP on a port."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from deepdiver.core.settings import Settings
from deepdiver.errors import StoppedError, UsageError
from deepdiver.http_listener import listen
from deepdiver.mcp_server.server import build
from deepdiver.mcp_server.state import ServerState, open_state

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

KEY = "mcp_server"
"""Name of the bearer token among the keys of the settings."""
SHORTEST_TOKEN = 16
"""Characters: a shorter token can be guessed by trying."""
LARGEST_BODY = 1_000_000
"""Bytes of a request: a question has at most 8,000 characters, and no other argument is longer."""
MOST_SESSIONS = 100
"""Clients that may be connected at one time."""
PATH = "/mcp"
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104  compared with, not bound
Say = Callable[[str], None]


def serve_stdio(settings: Settings) -> None:
    """Serve standard input and output until the client closes them.

    Raises:
        DeepdiverError: If the settings or the database cannot be used.
    """
    _log_to_stderr()
    asyncio.run(_stdio(settings))


async def _stdio(settings: Settings) -> None:
    await _check_opens(settings)
    server = build(settings)
    lifespan = server.lifespan

    @contextlib.asynccontextmanager
    async def parting(of: Server[ServerState]) -> Any:
        async with lifespan(of) as state:
            with _signals(state):
                yield state

    server.lifespan = parting
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _check_opens(settings: Settings) -> None:
    """Open the state once before serving, so that an error is one line and not a protocol error."""
    async with open_state(settings):
        pass


@contextlib.contextmanager
def _signals(state: ServerState) -> Any:
    """On SIGTERM or SIGINT, save the runs in progress and exit.

    It exits with `os._exit`, because a thread waits for the next line of standard input and nothing
    can wake it.
    """
    loop, leaving = asyncio.get_running_loop(), list[asyncio.Task[None]]()

    async def leave() -> None:
        await state.runs.close()
        os._exit(StoppedError.exit_code)

    def asked() -> None:
        if not leaving:
            leaving.append(loop.create_task(leave()))

    numbers = (signal.SIGTERM, signal.SIGINT)
    # On Windows the process ends at once instead; its runs can be resumed after that too.
    with contextlib.suppress(NotImplementedError):
        for number in numbers:
            loop.add_signal_handler(number, asked)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in numbers:
                loop.remove_signal_handler(number)


def serve_http(settings: Settings, host: str, port: int, say: Say) -> None:
    """Serve streamable HTTP until the process is stopped.

    Args:
        settings: The settings of the server; the key `mcp_server` is the bearer token that clients
            must send.
        host: The address to listen on. Unless only this machine can reach it, a token is required.
        port: The port; 0: any free port.
        say: Called with the address, once the server listens.

    Raises:
        UsageError: If a token is missing or too short.
        DeepdiverError: If the port, the settings or the database cannot be used.
    """
    token = settings.key(KEY)
    check_access(host, token)
    _log_to_stderr()
    asyncio.run(_http(settings, host, port, token, say))


async def _http(settings: Settings, host: str, port: int, token: str | None, say: Say) -> None:
    await _check_opens(settings)
    app: ASGIApp = build(settings).streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=transport_security(host),
        max_request_body_size=LARGEST_BODY,
        max_sessions=MOST_SESSIONS,
    )
    await listen(TokenGate(app, token) if token else app, host, port, say, PATH)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens on this address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_access(host: str, token: str | None) -> None:
    """Refuse to listen where anybody could use the server.

    Raises:
        UsageError: If a token is needed and missing, or too short.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise UsageError(f"the token has {len(token)} characters; use at least {SHORTEST_TOKEN}")
    if token is None and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from other machines: give a token with --token-file FILE (or "
            "DEEPDIVER_MCP_SERVER_KEY), or listen on 127.0.0.1"
        )


def transport_security(host: str) -> TransportSecuritySettings:
    """Return which Host and Origin headers are accepted.

    They keep pages in a browser from reaching a server on this machine. A server that listens on
    all addresses does not know its names; there the token keeps browsers out.
    """
    shown = f"[{host}]" if ":" in host else host
    names = ["127.0.0.1", "localhost", "[::1]", shown] if is_loopback(host) else [shown]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=host not in ANYWHERE,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[f"http://{name}{port}" for name in names for port in ("", ":*")],
    )


class TokenGate:
    """Refuses requests without the bearer token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Guard an app."""
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        shown = next(
            (value for name, value in scope.get("headers", ()) if name == b"authorization"), b""
        )
        if scope["type"] == "http" and not hmac.compare_digest(shown, self._wanted):
            refusal = PlainTextResponse(
                "a bearer token is required", 401, {"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _log_to_stderr() -> None:
    """Log to standard error: standard output may carry the protocol."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
