"""Serves an app on a port until the process is stopped: one way for the service and for MCP."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from deepdiver.errors import DeepdiverError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

PARTING_SECONDS = 3
"""The time that open connections get to end when the process is stopped."""
ACCEPTED = 2
"""Connections that are accepted in one turn of the event loop. The next steps of those that are
accepted together are taken in one turn too. A thousand took 0.6 s for each step."""
HEARD = 3
"""Clients from whom something is taken in, in one turn. To read and to begin the requests that a
thousand sent at once took 0.3 s, for which nobody else was served."""
WAITING = 2_048
"""Connections that wait at the port to be accepted; the system makes clients beyond them try again
a second later."""

AT_ONCE = (6, 1, 1)
"""IPPROTO_TCP, TCP_NODELAY and on, which connections have from their port. asyncio sets it only
where a socket names its protocol, and uvicorn's does not: the body of an answer would wait until
the client has confirmed its head, which takes it 40 ms."""


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
        http=_paced(),
    )
    try:
        bound = config.bind_socket()
    except SystemExit:  # uvicorn ends the process where it cannot serve
        raise DeepdiverError(
            f"cannot listen on {host} port {port}: choose another --port or --host"
        ) from None
    bound.setsockopt(*AT_ONCE)
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


def _paced() -> type[H11Protocol]:
    """Return the protocol of a server that takes in what a few clients have sent in a turn.

    Each server has a class of its own, because each has a loop of its own.
    """
    waiting: deque[tuple[Paced, bytes]] = deque()

    def take_in() -> None:
        for _ in range(min(HEARD, len(waiting))):
            client, data = waiting.popleft()
            client.take_in(data)
        if waiting:
            asyncio.get_running_loop().call_soon(take_in)

    class Paced(H11Protocol):
        """A connection whose data are taken in when their turn has come."""

        @override
        def data_received(self, data: bytes) -> None:
            self.transport.pause_reading()  # nor is its end noticed before
            waiting.append((self, data))
            if len(waiting) == 1:
                asyncio.get_running_loop().call_soon(take_in)

        def take_in(self, data: bytes) -> None:
            """Go on with what has come, unless the connection was closed meanwhile."""
            if not self.transport.is_closing():
                self.transport.resume_reading()
                super().data_received(data)

    return Paced
