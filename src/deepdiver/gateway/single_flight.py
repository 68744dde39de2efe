"""Single flight: a call that is in flight already is joined, not made a second time.

A caller that leaves does not disturb the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from deepdiver.gateway.request import Reply
from deepdiver.gateway.store_threads import wait_until_done


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Reply]
    waiting: int = 0
    given_up: bool = False


class SingleFlight:
    """The calls of one run that are in flight, by key."""

    def __init__(self) -> None:
        """Start with no calls."""
        self._flights: dict[str, _Flight] = {}

    async def join(self, key: str, begin: Callable[[], Coroutine[Any, Any, Reply]]) -> Reply:
        """Return the reply of a call, and begin the call unless it is in flight.

        The call goes on as long as anybody waits for it. When the last caller is cancelled, the
        call is cancelled too, and that caller leaves after the call has given back everything it
        held.
        """
        while (flight := self._flights.get(key)) is not None and flight.given_up:
            await asyncio.wait([flight.task])
            self._forget(key, flight)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(begin()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            if flight.waiting == 1:
                flight.given_up = True
                flight.task.cancel()
                await wait_until_done(flight.task)
            raise
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                self._forget(key, flight)

    def _forget(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
