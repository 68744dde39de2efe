"""Calls in the air.

Who asks for what is in the air already waits for it, and nobody suffers from another's leaving.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from deepdiver.gateway.request import Reply
from deepdiver.gateway.threads import to_its_end


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Reply]
    waiting: int = 0
    given_up: bool = False


class Flights:
    """The calls of one run that are in the air, by key."""

    def __init__(self) -> None:
        """Begin with none."""
        self._flights: dict[str, _Flight] = {}

    async def join(self, key: str, begin: Callable[[], Coroutine[Any, Any, Reply]]) -> Reply:
        """Return what a call brings, which is begun unless it is in the air.

        It flies on as long as anybody waits for it. With the last one it is cancelled, and that one
        leaves when it is down: whatever it held has been given back then.
        """
        while (flight := self._flights.get(key)) is not None and flight.given_up:
            await asyncio.wait([flight.task])
            self._down(key, flight)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(begin()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            if flight.waiting == 1:
                flight.given_up = True
                flight.task.cancel()
                await to_its_end(flight.task)
            raise
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                self._down(key, flight)

    def _down(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
