"""Runs that this server works on.

Each has a thread and an event loop of its own: the embedded reasoner computes for seconds, and the
server answers other clients meanwhile. A run that is stopped is saved and can be resumed, like one
stopped by Ctrl-C.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio

from deepdiver.core.events import Event
from deepdiver.errors import DeepdiverError, StoppedError, UsageError
from deepdiver.run import OnEvent, Outcome

MOST_RUNS = 4
"""Runs at one time; a client that starts more is told to wait."""
STOP_SECONDS = 8.0
"""What a run that was stopped has to save itself: measured well below 1 s, but a long computation
is not cut short."""
_log = logging.getLogger(__name__)


class Tally:
    """What has happened in a run, in figures and one line."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.phase = self.error = self.line = ""
        self.sources = self.findings = self.steps = 0

    def take(self, event: Event) -> None:
        """Count an event."""
        before = self.line
        match event.type:
            case "phase_started":
                self.phase = event.phase.replace("_", " ")
                self.line = (
                    f"{self.phase}, round {event.iteration}" if event.iteration else self.phase
                )
            case "source_read":
                self.sources += 1
                self.line = f"read {event.title}"
            case "finding_added":
                self.findings += 1
                self.line = f"found: {event.statement}"
            case "hypothesis_tested":
                self.line = f"{event.status.value} ({event.posterior:.2f}): {event.statement}"
            case "limited":
                self.line = event.what
            case "run_started":
                self.error, self.line = "", f"begun: {event.run}"
            case "run_ended":
                self.error, self.line = event.error, f"ended: {event.status.value}"
        self.steps += self.line != before


class Underway:
    """A run that is being worked on."""

    def __init__(
        self, work: Callable[[OnEvent], Coroutine[Any, Any, Outcome]], threads: ThreadPoolExecutor
    ) -> None:
        """Begin it.

        Args:
            work: Does it, and tells of events.
            threads: Where it is done.
        """
        self.tally = Tally()
        self._home = asyncio.get_running_loop()
        self._stopped = False
        self._cancel: Callable[[], object] | None = None
        self.begun: asyncio.Future[str] = self._home.create_future()
        """The run's id, once there is one; or why there is none."""
        self.ended: asyncio.Future[Outcome] = self._home.run_in_executor(
            threads, asyncio.run, self._work(work)
        )
        """What came of it."""
        self.ended.add_done_callback(self._settle)

    async def _work(self, work: Callable[[OnEvent], Coroutine[Any, Any, Outcome]]) -> Outcome:
        """Do the work; this is in the other thread."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101  for the type checker: we are in one
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        if self._stopped:
            task.cancel()
        try:
            return await work(self._hear)
        except asyncio.CancelledError:
            raise StoppedError("stopped before the run began") from None

    def _hear(self, event: Event) -> None:
        with contextlib.suppress(
            RuntimeError
        ):  # the server's loop has closed: nobody listens any more
            self._home.call_soon_threadsafe(self._take, event)

    def _take(self, event: Event) -> None:
        self.tally.take(event)
        if event.type == "run_started" and not self.begun.done():
            self.begun.set_result(event.run)

    def _settle(self, ended: asyncio.Future[Outcome]) -> None:
        error = None if ended.cancelled() else ended.exception()
        if error is not None and not isinstance(error, DeepdiverError):
            _log.error("a run ended by a fault of deepdiver's own", exc_info=error)
        if not self.begun.done():
            self.begun.set_exception(error or StoppedError("the run ended before it began"))
            # Who asked for it may have gone: it is no fault that nobody looks at it.
            self.begun.exception()

    def stop(self) -> None:
        """Stop it, once: a second time would disturb the saving."""
        if not self._stopped:
            self._stopped = True
            if self._cancel is not None:
                with contextlib.suppress(RuntimeError):  # its loop has closed: it is over
                    self._cancel()

    async def stopped(self) -> None:
        """Stop it and wait until it is saved, even if whoever waits is being cancelled."""
        self.stop()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({self.ended}, timeout=STOP_SECONDS)


class Runs:
    """All runs that this server works on."""

    def __init__(self) -> None:
        """Begin with none."""
        self._threads = ThreadPoolExecutor(MOST_RUNS, thread_name_prefix="run")
        self._held: set[Underway] = set()

    def begin(self, work: Callable[[OnEvent], Coroutine[Any, Any, Outcome]]) -> Underway:
        """Begin a run.

        Raises:
            UsageError: If there are too many.
        """
        if len(self._held) >= MOST_RUNS:
            raise UsageError(
                f"{MOST_RUNS} runs are under way, and no more are worked on at a time: wait for one"
            )
        run = Underway(work, self._threads)
        self._held.add(run)
        run.ended.add_done_callback(lambda _: self._held.discard(run))
        return run

    def of(self, run: str) -> Underway | None:
        """Return a run that is being worked on, by its id."""
        for held in self._held:
            if held.begun.done() and not held.begun.exception() and held.begun.result() == run:
                return held
        return None

    async def close(self) -> None:
        """Stop them all, and wait until they are saved."""
        held = list(self._held)
        for run in held:
            run.stop()
        if held:
            with anyio.CancelScope(shield=True):
                await asyncio.wait({run.ended for run in held}, timeout=STOP_SECONDS)
        self._threads.shutdown(wait=False)
