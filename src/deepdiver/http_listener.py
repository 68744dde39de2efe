"""Serves an app on a port until the process is stopped: one way for the service and for MCP."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from typing_extensions import override

from deepdiver.errors import DeepdiverError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PARTING_SECONDS = 3
"""The time that open connections get to end when the process is stopped."""
ACCEPTED = 2
"""Connections that are accepted in one turn of the event loop. The next steps of those that are
accepted together are taken in one turn too. A thousand took 0.6 s for each step."""
WAITING = 2_048
"""Connections that wait at the port to be accepted; the system makes clients beyond them try again
a second later."""


async def listen(app: ASGIApp, host: str, port: int, say: Callable[[str], None], path: str) -> None:
    """Serve an app until the process is stopped.

    Args:
        app: What answers requests.
        host: The address to listen on.
        port: The port; 0: any free port.
        say: Called with the address, once the app can be reached.
        path: The path of that address.

    Raises:
        DeepdiverError: If it cannot listen there, or the app does not start.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # anybody can write them
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=PARTING_SECONDS,
        backlog=ACCEPTED,
    )
    try:
        bound = config.bind_socket()
    except SystemExit:  # uvicorn ends the process where it cannot serve
        raise DeepdiverError(
            f"cannot listen on {host} port {port}: choose another --port or --host"
        ) from None
    with bound:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{bound.getsockname()[1]}{path}"
        serving = _Announced(config, lambda: say(f"listening on {address}"))
        try:
            await serving.serve(sockets=[bound])
        except SystemExit:  # the same here
            raise DeepdiverError("the server could not start; the lines above say why") from None


class _Announced(uvicorn.Server):
    """A server that announces its address once it can be reached."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    @override
    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        for bound in sockets or ():  # to asyncio both numbers are one
            bound.listen(WAITING)
        if self.started:
            self._announce()
