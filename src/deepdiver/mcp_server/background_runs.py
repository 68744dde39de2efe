"""The runs that this server is working on.

Each has its own thread and event loop: the embedded reasoner computes for seconds, and the server
answers other clients in the meantime. A run that is stopped is saved and can be resumed, as after
Ctrl-C.
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
"""Runs at one time; a client that starts more gets an error that tells it to wait."""
STOP_SECONDS = 8.0
"""The time that a stopped run gets to save itself: it takes well below 1 s, but a long computation
is not cut short."""
_log = logging.getLogger(__name__)


class RunTally:
    """What has happened in a run so far: counts, and one line about the latest event."""

    def __init__(self) -> None:
        """Start with nothing."""
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


class BackgroundRun:
    """A run that the server is working on."""

    def __init__(
        self, work: Callable[[OnEvent], Coroutine[Any, Any, Outcome]], threads: ThreadPoolExecutor
    ) -> None:
        """Start it.

        Args:
            work: Does the work and reports events.
            threads: Where the work is done.
        """
        self.tally = RunTally()
        self._home = asyncio.get_running_loop()
        self._stopped = False
        self._cancel: Callable[[], object] | None = None
        self.begun: asyncio.Future[str] = self._home.create_future()
        """The run's id once it is known, or the error if the run could not start."""
        self.ended: asyncio.Future[Outcome] = self._home.run_in_executor(
            threads, asyncio.run, self._work(work)
        )
        """The outcome, once there is one."""
        self.ended.add_done_callback(self._settle)

    async def _work(self, work: Callable[[OnEvent], Coroutine[Any, Any, Outcome]]) -> Outcome:
        """Do the work, in the other thread."""
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
        with contextlib.suppress(RuntimeError):  # the loop of the server has closed
            self._home.call_soon_threadsafe(self._take, event)

    def _take(self, event: Event) -> None:
        self.tally.take(event)
        if event.type == "run_started" and not self.begun.done():
            self.begun.set_result(event.run)

    def _settle(self, ended: asyncio.Future[Outcome]) -> None:
        error = None if ended.cancelled() else ended.exception()
        if error is not None and not isinstance(error, DeepdiverError):
            _log.error("a run failed because of a bug in deepdiver", exc_info=error)
        if not self.begun.done():
            self.begun.set_exception(error or StoppedError("the run ended before it began"))
            # The client may be gone: reading the exception keeps asyncio from reporting it.
            self.begun.exception()

    def stop(self) -> None:
        """Stop it; a second call does nothing, because it would interrupt the saving."""
        if not self._stopped:
            self._stopped = True
            if self._cancel is not None:
                with contextlib.suppress(RuntimeError):  # its loop has closed: it has ended
                    self._cancel()

    async def stop_and_wait(self) -> None:
        """Stop it and wait until it is saved, even if the waiting task is cancelled."""
        self.stop()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({self.ended}, timeout=STOP_SECONDS)


class BackgroundRuns:
    """All runs that this server is working on."""

    def __init__(self) -> None:
        """Start with none."""
        self._threads = ThreadPoolExecutor(MOST_RUNS, thread_name_prefix="run")
        self._held: set[BackgroundRun] = set()

    def begin(self, work: Callable[[OnEvent], Coroutine[Any, Any, Outcome]]) -> BackgroundRun:
        """Start a run.

        Raises:
            UsageError: If too many are in progress.
        """
        if len(self._held) >= MOST_RUNS:
            raise UsageError(
                f"{MOST_RUNS} runs are in progress, which is the maximum: wait until one ends"
            )
        run = BackgroundRun(work, self._threads)
        self._held.add(run)
        run.ended.add_done_callback(lambda _: self._held.discard(run))
        return run

    def of(self, run: str) -> BackgroundRun | None:
        """Return the run in progress with this id, or None."""
        for held in self._held:
            if held.begun.done() and not held.begun.exception() and held.begun.result() == run:
                return held
        return None

    async def close(self) -> None:
        """Stop all runs and wait until they are saved."""
        held = list(self._held)
        for run in held:
            run.stop()
        if held:
            with anyio.CancelScope(shield=True):
                await asyncio.wait({run.ended for run in held}, timeout=STOP_SECONDS)
        self._threads.shutdown(wait=False)
