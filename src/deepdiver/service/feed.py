"""Following the events of a run, for any number of listeners at the cost of one.

The store numbers the events of a run, whichever process works on it. One task for each run that is
listened to looks for new ones and hands them to all listeners; a listener that comes late, or comes
back, first gets what it has missed. So each gets every event once, in order, after any restart.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from functools import partial

from deepdiver.core.record import RunStatus
from deepdiver.errors import StoreError, UnknownNameError
from deepdiver.service.joined import Joined, wake
from deepdiver.store import Store

PERIOD = 0.25
"""Seconds between two looks: what a person takes for live, and four reads a second for each run."""
KEPT = 512
"""The newest events that are handed to listeners without reading them again."""
BATCH = 32
"""Events that are handed on at once: a few thousand bytes for each listener that reads slowly."""
PAST = 2
"""Threads that read events which are not kept."""
ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING})
"""The states in which more events will come by themselves."""
AWAY = 4
"""How many periods pass before a database that did not answer is asked again."""
Numbered = tuple[int, str]
"""The number of an event, and the event as JSON."""
_log = logging.getLogger(__name__)


class _Channel:
    """The newest events of one run, and those who wait for more."""

    def __init__(self, after: int) -> None:
        self.kept: deque[Numbered] = deque(maxlen=KEPT)
        self.last = after
        self.ended = False
        self.listeners = 0
        self.told = 0
        self._waiting: dict[asyncio.Future[None], None] = {}
        self.task: asyncio.Task[None] | None = None

    def tell(self, found: list[Numbered], ended: bool) -> None:
        self.kept.extend(found)
        self.last = found[-1][0] if found else self.last
        self.ended = ended
        if found or ended:
            self.told += 1
            waiting, self._waiting = deque(self._waiting), {}
            wake(waiting, lambda waiter: waiter.set_result(None))

    async def news(self, told: int, idle: float | None) -> bool:
        """Wait until it has told something since; False if it has not for that long."""
        if self.told != told:
            return True
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[waiter] = None
        try:
            await asyncio.wait_for(waiter, idle)
        except TimeoutError:
            return False
        finally:
            self._waiting.pop(waiter, None)
        return True

    def since(self, after: int) -> list[Numbered] | None:
        """Return what is kept after a number; None if some of it is not kept any more."""
        if after >= self.last:
            return []
        if not self.kept or self.kept[0][0] > after + 1:
            return None
        return [item for item in self.kept if item[0] > after]


class Feed:
    """The events of all runs of a store."""

    def __init__(
        self, store: Store, clean: Callable[[str], str] = str, period: float = PERIOD
    ) -> None:
        """Follow the runs of a store; `close` ends it.

        Args:
            store: The store.
            clean: Takes secrets out of an event, once for all listeners.
            period: Seconds between two looks.
        """
        self._store, self._clean, self._period = store, clean, period
        self._channels: dict[str, _Channel] = {}
        self._past = Joined(PAST, "past")

    async def follow(
        self, run: str, after: int = 0, idle: float | None = None
    ) -> AsyncIterator[Numbered]:
        """Yield the events of a run after a number, and end when no more will come by themselves.

        A run that is stopped, waits or has ended gives what it has. If it is deleted, that is the
        end too.

        Args:
            run: The run's whole id.
            after: The number of the last event that is known.
            idle: Seconds after which an empty event is yielded if nothing happens; None: never.
        """
        async with aclosing(self.follow_by_batches(run, after, idle)) as batches:
            async for batch in batches:
                for number, text in batch or [(after, "")]:
                    after = number
                    yield number, text

    async def follow_by_batches(
        self, run: str, after: int = 0, idle: float | None = None
    ) -> AsyncGenerator[list[Numbered], None]:
        """Yield the same as lists of a few events; an empty one if nothing happens.

        Whoever sends them on sends several at once: to a thousand listeners, that is what takes
        the time.
        """
        channel = self._channels.get(run)
        if channel is None:
            channel = self._channels[run] = _Channel(after)
            channel.task = asyncio.create_task(self._look(run, channel))
        channel.listeners += 1
        try:
            while True:
                told, ended = channel.told, channel.ended
                found = channel.since(after)
                if found is None:
                    # Those who come back after a while have all missed the same.
                    missed = partial(self._events, run, after)
                    found = await self._past.look((run, after), missed)
                for at in range(0, len(found), BATCH):
                    batch = found[at : at + BATCH]
                    after = batch[-1][0]
                    yield batch
                if not found and ended:
                    return
                if not found and not await channel.news(told, idle):
                    yield []
        finally:
            channel.listeners -= 1
            if not channel.listeners:
                self._drop(run, channel)

    def _drop(self, run: str, channel: _Channel) -> None:
        if channel.task is not None:
            channel.task.cancel()
        if self._channels.get(run) is channel:
            del self._channels[run]

    async def _look(self, run: str, channel: _Channel) -> None:
        """Look for new events until no more will come."""
        while not channel.ended:
            try:
                found, ended = await asyncio.to_thread(self._read, run, channel.last)
            except StoreError as error:  # whoever listens waits with us, and loses nothing
                _log.warning("the events of run %s cannot be read: %s", run, error)
                await asyncio.sleep(self._period * AWAY)
                continue
            channel.tell(found, ended)
            if not ended:
                await asyncio.sleep(self._period)
        if self._channels.get(run) is channel:  # whoever comes later looks anew
            del self._channels[run]

    def _read(self, run: str, after: int) -> tuple[list[Numbered], bool]:
        try:
            # First the status: what is written before it is set is then read for certain.
            status = self._store.runs.get(run).status
            return self._events(run, after), status not in ACTIVE
        except UnknownNameError:
            return [], True

    def _events(self, run: str, after: int) -> list[Numbered]:
        found = self._store.records.events(run, after)
        return [(number, self._clean(text)) for number, text in found]

    async def close(self) -> None:
        """End all listening: each listener gets what there is, and no more."""
        for run, channel in list(self._channels.items()):
            channel.tell([], ended=True)
            self._drop(run, channel)
