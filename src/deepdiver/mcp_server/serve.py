"""Serving: over standard input and output, or over HTTP (streamable) on one port."""

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

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse

from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError, StoppedError, UsageError
from deepdiver.mcp_server.desk import Desk, opened
from deepdiver.mcp_server.server import build

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

KEY = "mcp_server"
"""Name of the bearer token among the keys of the settings."""
SHORTEST_TOKEN = 16
"""Characters: shorter ones can be guessed by trying."""
LARGEST_BODY = 1_000_000
"""Bytes of a request: a question has 8,000 characters at most, and nothing that a client sends is
longer."""
MOST_SESSIONS = 100
"""Clients at one time."""
PATH = "/mcp"
PARTING_SECONDS = 3
"""What open connections have to end when the server is stopped."""
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104  to tell them from names: nothing is bound here
Say = Callable[[str], None]


def serve_stdio(settings: Settings) -> None:
    """Serve the process's standard input and output until the other side closes them.

    Raises:
        DeepdiverError: If the settings or the database cannot be used.
    """
    _log_to_stderr()
    asyncio.run(_stdio(settings))


async def _stdio(settings: Settings) -> None:
    await _tried(settings)
    server = build(settings)
    lifespan = server.lifespan

    @contextlib.asynccontextmanager
    async def parting(of: Server[Desk]) -> Any:
        async with lifespan(of) as desk:
            with _signals(desk):
                yield desk

    server.lifespan = parting
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _tried(settings: Settings) -> None:
    """Open the desk once before serving.

    What is wrong is then one line, and no fault amid a protocol.
    """
    async with opened(settings):
        pass


@contextlib.contextmanager
def _signals(desk: Desk) -> Any:
    """Save the runs under way when the process is asked to end.

    Leaves at once afterwards: a thread waits for the next line of standard input, and nothing can
    wake it.
    """
    loop, leaving = asyncio.get_running_loop(), list[asyncio.Task[None]]()

    async def leave() -> None:
        await desk.runs.close()
        os._exit(StoppedError.exit_code)

    def asked() -> None:
        if not leaving:
            leaving.append(loop.create_task(leave()))

    numbers = (signal.SIGTERM, signal.SIGINT)
    with contextlib.suppress(
        NotImplementedError
    ):  # Windows: the default is to end at once, and runs resume from that
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
        settings: As the server is to use them; the key `mcp_server` is the bearer token that
            clients must show.
        host: Where to listen. Elsewhere than on this machine a token is required.
        port: On which port; 0: any that is free.
        say: Told where it listens.

    Raises:
        UsageError: If that cannot be, or would let strangers in.
        DeepdiverError: If the port, the settings or the database cannot be used.
    """
    token = settings.key(KEY)
    check_door(host, token)
    _log_to_stderr()
    asyncio.run(_http(settings, host, port, token, say))


async def _http(settings: Settings, host: str, port: int, token: str | None, say: Say) -> None:
    await _tried(settings)
    app: ASGIApp = build(settings).streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=security(host),
        max_request_body_size=LARGEST_BODY,
        max_sessions=MOST_SESSIONS,
    )
    config = uvicorn.Config(
        Door(app, token) if token else app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=PARTING_SECONDS,
    )
    try:
        bound = config.bind_socket()
    except SystemExit:
        raise DeepdiverError(
            f"{host} port {port} cannot be listened on: choose another --port or --host"
        ) from None
    with bound:
        shown = f"[{host}]" if ":" in host else host
        serving = _Announced(
            config, lambda: say(f"listening on http://{shown}:{bound.getsockname()[1]}{PATH}")
        )
        await serving.serve(sockets=[bound])
    if not serving.started:
        raise DeepdiverError("the server could not start; the lines above say why")


class _Announced(uvicorn.Server):
    """A server that says when it can be reached, and not before."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_door(host: str, token: str | None) -> None:
    """Refuse to listen where strangers can come in.

    Raises:
        UsageError: If there is no token where one is needed, or one that can be guessed.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token has {len(token)} characters; give one of {SHORTEST_TOKEN} at least"
        )
    if token is None and not is_loopback(host):
        raise UsageError(
            f"{host} can be reached from elsewhere: give a token with --token-file FILE (or "
            "DEEPDIVER_MCP_SERVER_KEY), "
            "or listen on 127.0.0.1"
        )


def security(host: str) -> TransportSecuritySettings:
    """Return which Host and Origin headers are served.

    A page in a browser must not reach a server of this machine.

    A server that listens everywhere has names that it does not know; there the token keeps browsers
    out.
    """
    shown = f"[{host}]" if ":" in host else host
    names = ["127.0.0.1", "localhost", "[::1]", shown] if is_loopback(host) else [shown]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=host not in ANYWHERE,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[f"http://{name}{port}" for name in names for port in ("", ":*")],
    )


class Door:
    """Lets in who shows the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Stand before an app."""
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        shown = next(
            (value for name, value in scope.get("headers", ()) if name == b"authorization"), b""
        )
        if scope["type"] == "http" and not hmac.compare_digest(shown, self._wanted):
            refusal = PlainTextResponse(
                "a bearer token is needed", 401, {"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _log_to_stderr() -> None:
    """Have what goes wrong told on standard error: standard output may be the wire."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
