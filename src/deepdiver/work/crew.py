"""The crew: takes orders from a queue and works on several at a time, in one process.

Each run has a thread and an event loop of its own, because a run may compute for seconds. The error
of one run does not concern the others. A run whose worker has died is gone on with, from its
journal. A crew that is drained takes no further order; its runs wait for the answers to what they
have sent, and go back into the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from types import TracebackType
from typing import Any, Self

from deepdiver.core.events import Event, RunEnded
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings, validated
from deepdiver.errors import DeepdiverError, RunBusyError, StoreError, UnknownNameError
from deepdiver.gateway.gateway import REST_SECONDS
from deepdiver.gateway.store_threads import in_thread
from deepdiver.run import Ask, Outcome, resume
from deepdiver.run.lease import HEARTBEAT_SECONDS, machine_name
from deepdiver.run.session import Leave
from deepdiver.work.queue import Queue, Taken, Worker

CONCURRENCY = 4
"""Runs at a time, where nobody says."""
POLL_SECONDS = 0.5
"""Seconds between two looks into an empty queue. A look takes 0.1 ms in SQLite."""
BUSY_SECONDS = 2.0
"""Seconds after which a run is tried again that another process holds, or whose database was away.
"""
HELD_SECONDS = 2 * HEARTBEAT_SECONDS
"""How long a run whose worker has died keeps its place while its own lease lasts, which the dead
worker may have renewed up to a heartbeat after that of the order."""
MOST_ATTEMPTS = 20
"""A run that so many workers have taken and not ended may be what ends them: it fails."""
GLANCE_SECONDS = 0.25
"""Seconds between two looks for runs that were cancelled."""
CANCEL_SECONDS = 0.5
"""How long a run that was cancelled waits for answers, because a person waits for it to stop. What
comes later is lost, and its call counts as uncertain. Of answers that take ten seconds, one in
twenty comes within this time."""
SAVING_SECONDS = 10.0
"""The time that a run gets to save itself, after it has waited for answers."""
_log = logging.getLogger(__name__)

OnRunEvent = Callable[[str, Event], None]
"""Receives the id of a run and its event, in the thread of that run."""
Asker = Callable[[str], Ask | None]
"""Returns how to ask the person behind a run; None: there is nobody, and the run waits."""


class Crew:
    """Several runs at a time, from one queue."""

    def __init__(
        self,
        queue: Queue,
        settings: Settings,
        *,
        concurrency: int = CONCURRENCY,
        on_event: OnRunEvent | None = None,
        ask: Asker | None = None,
        name: str = "",
    ) -> None:
        """Prepare a crew; it works while it is entered (`async with`).

        Args:
            queue: Where orders come from.
            settings: The settings of this machine, with its keys; those of a run come with it.
            concurrency: How many runs at a time.
            on_event: Receives the events of all runs, in their threads.
            ask: Says how to ask the person behind a run.
            name: The name of this worker; by default one of this machine and process.
        """
        self.name = name or f"{machine_name()}:{os.getpid()}:{secrets.token_hex(3)}"
        self.concurrency = concurrency
        self.counts: Counter[str] = Counter()
        """How many runs it has taken, taken over, ended and given back, and how they ended."""
        self.waited: list[float] = []
        """Seconds that each order has waited, of the last thousand."""
        self.heard = 0.0
        """When the queue last answered, by the monotonic clock."""
        self._counting = threading.Lock()
        self._queue, self._settings = queue, settings
        self._on_event, self._ask = on_event, ask
        self._worker: Worker | None = None
        self._draining = asyncio.Event()
        self._left = threading.Event()
        self._runs: dict[str, _RunInHand] = {}
        self._taking: asyncio.Task[None] | None = None

    @property
    def running(self) -> tuple[str, ...]:
        """The runs that it is working on."""
        return tuple(self._runs)

    @property
    def draining(self) -> bool:
        """Whether it takes no further order."""
        return self._draining.is_set()

    async def __aenter__(self) -> Self:
        self._worker = await in_thread(self._queue.hire, self.name)
        self.heard = time.monotonic()
        threading.Thread(target=self._keep_beating, daemon=True, name="crew-heart").start()
        self._taking = asyncio.create_task(self._take_orders())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.drain()

    def stop(self, run: str) -> None:
        """Have a run stop that was cancelled in the queue by this process, if it is in hand.

        The next look would find it too, up to `GLANCE_SECONDS` later. Any thread may call this.
        """
        if (held := self._runs.get(run)) is not None:
            held.leave(cancelled=True)

    async def drain(self) -> None:
        """Take no further order, and let the runs stop where they can be gone on with.

        They wait for the answers to what they have sent, for `REST_SECONDS` at most, and go back
        into the queue. A second call waits with the first.
        """
        self._draining.set()
        for run in list(self._runs.values()):
            run.leave()
        if self._taking is not None:
            await asyncio.wait({self._taking})
        ended = {run.ended for run in self._runs.values()}
        if ended:
            await asyncio.wait(ended, timeout=REST_SECONDS + SAVING_SECONDS)
        if late := len(self._runs):
            _log.warning("%d runs did not stop in time: another worker goes on with them", late)
        if not self._left.is_set():
            self._left.set()
            if self._worker is not None:
                with contextlib.suppress(StoreError):
                    await in_thread(self._worker.leave)

    async def _take_orders(self) -> None:
        while not self.draining:
            taken = None
            if len(self._runs) < self.concurrency:
                taken = await self._take()
            if taken is None:
                await self._pause()
            else:
                self._begin(taken)
                if self._draining.is_set() and taken.run in self._runs:  # since it was taken
                    self._runs[taken.run].leave()

    async def _take(self) -> Taken | None:
        assert self._worker is not None  # noqa: S101 for the type checker: it was hired
        try:
            return await in_thread(self._worker.take)
        except StoreError as error:
            _log.warning("no order can be taken: %s", error)
        except Exception:  # noqa: BLE001  a worker that beats and takes nothing helps nobody
            _log.exception("no order can be taken because of a bug in deepdiver")
        return None

    async def _pause(self) -> None:
        """Wait a moment, until a run ends or the crew is drained."""
        waiting: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._draining.wait())]
        if len(self._runs) >= self.concurrency:
            waiting.append(asyncio.ensure_future(self._one_ends()))
        await asyncio.wait(waiting, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for other in waiting:
            other.cancel()

    async def _one_ends(self) -> None:
        ended = {run.ended for run in self._runs.values()}
        await asyncio.wait(ended, return_when=asyncio.FIRST_COMPLETED)

    def _begin(self, taken: Taken) -> None:
        self._count(taken=1, taken_over=int(taken.attempts > 1))
        if taken.attempts == 1:
            self.waited = [*self.waited[-999:], taken.waited]
        run = self._runs[taken.run] = _RunInHand(taken, asyncio.get_running_loop())
        run.ended.add_done_callback(lambda _: self._let_go(run))
        # Nobody waits for the thread of a run that does not end: its lease would be kept for ever.
        threading.Thread(target=self._work, args=(run,), daemon=True, name="run").start()

    def _count(self, **more: int) -> None:
        """Add to the counts, which the threads of several runs do."""
        with self._counting:
            self.counts.update(more)

    def _let_go(self, run: _RunInHand) -> None:
        """Forget a run that has ended, unless it was given back and is in hand again."""
        if self._runs.get(run.taken.run) is run:
            del self._runs[run.taken.run]

    def _keep_beating(self) -> None:
        """Tell the queue that this worker is alive, however busy its loop and its runs are."""
        beaten = time.monotonic()
        while not self._left.wait(GLANCE_SECONDS):
            due = time.monotonic() - beaten >= HEARTBEAT_SECONDS
            if not due and not self._runs:
                continue
            try:
                to_stop = self._glance(due=due)
                beaten = time.monotonic() if due else beaten
            except (StoreError, ValueError) as error:  # ValueError: the store was closed
                _log.warning("the queue does not answer: %s", error)
                continue
            self.heard = time.monotonic()
            for name in to_stop:
                if (run := self._runs.get(name)) is not None:  # it may end at this moment
                    run.leave(cancelled=True)

    def _glance(self, *, due: bool) -> list[str]:
        if self._worker is None:
            return []
        return self._worker.beat() if due else self._worker.to_stop()

    def _work(self, run: _RunInHand) -> None:
        """Work on an order, in its thread, and say in the queue what became of it."""
        name = run.taken.run
        try:
            status = self._try(run)
        except Exception:  # noqa: BLE001  a bug is the run's and not the crew's
            _log.exception("run %s failed because of a bug in deepdiver", name)
            status = self._fail(name, "internal error; the log of the worker has more")
        if status is None:
            self._count(given_back=1)
        else:
            self._count(ended=1, **{f"ended_{status.value}": 1})
        try:
            self._settle(name, status)
        except (StoreError, ValueError) as error:  # ValueError: the store was closed
            _log.warning("run %s: the queue could not be told: %s", name, error)
        finally:
            run.end()

    def _settle(self, run: str, status: RunStatus | None) -> None:
        assert self._worker is not None  # noqa: S101 for the type checker: it was hired
        if status is None:
            self._worker.give_back(run, 0.0 if self.draining else BUSY_SECONDS)
        else:
            self._worker.finish(run)

    def _try(self, run: _RunInHand) -> RunStatus | None:
        """Work on a run; return its status, or None if it is to go back into the queue."""
        name, taken = run.taken.run, run.taken
        if taken.attempts > MOST_ATTEMPTS:
            return self._fail(name, f"{MOST_ATTEMPTS} workers have taken it, and none ended it")
        try:
            own = validated(taken.options, "the order")
            changes = {option: getattr(own, option) for option in taken.options}
            outcome = self._go_on(run, self._settings.model_copy(update=changes))
        except (RunBusyError, StoreError) as error:
            _log.info("run %s goes back into the queue: %s", name, error)
            return None
        except UnknownNameError:  # it was deleted
            return RunStatus.STOPPED
        except DeepdiverError as error:
            return self._fail(name, str(error))
        if isinstance(outcome.error, StoreError):
            _log.info("run %s goes back into the queue: %s", name, outcome.error)
            return None
        left = outcome.run.status is RunStatus.STOPPED and run.left and not run.cancelled
        return None if left else outcome.run.status

    def _go_on(self, run: _RunInHand, settings: Settings) -> Outcome:
        ends = time.monotonic() + (HELD_SECONDS if run.taken.attempts > 1 else 0.0)
        while True:
            try:
                return asyncio.run(run.do(self._resume, settings))
            except RunBusyError:
                if run.left or time.monotonic() >= ends:
                    raise
            time.sleep(POLL_SECONDS)

    async def _resume(self, run: str, settings: Settings, leave: asyncio.Event) -> Outcome:
        hear = self._on_event
        more: dict[str, Any] = {"store": self._queue.store, "leave": leave}
        more["on_event"] = (lambda event: hear(run, event)) if hear else None
        more["ask"] = self._ask(run) if self._ask else None
        return await resume(run, settings, **more)

    def _fail(self, run: str, why: str) -> RunStatus:
        """Say on the record of a run why it could not be worked on."""
        store = self._queue.store
        spent = sum((row.cost for row in store.journal.rows(run)), start=Decimal(0))
        ended = RunEnded(
            run=run, status=RunStatus.FAILED, cost=spent, report_hash="", error=f"run {run}: {why}"
        )
        with contextlib.suppress(UnknownNameError):  # it was deleted
            store.runs.set_status(run, RunStatus.FAILED, [ended.model_dump_json()])
        return RunStatus.FAILED


class _RunInHand:
    """A run that a thread of the crew works on."""

    def __init__(self, taken: Taken, home: asyncio.AbstractEventLoop) -> None:
        self.taken, self._home = taken, home
        self.left = self.cancelled = False
        self.ended: asyncio.Future[None] = home.create_future()
        self._lock = threading.Lock()
        self._set: Callable[[], object] | None = None
        self._leave: Leave | None = None

    async def do(self, work: Callable[..., Any], settings: Settings) -> Outcome:
        """Do the work, in the thread's own loop."""
        loop, leave = asyncio.get_running_loop(), Leave()
        with self._lock:
            self._leave = leave
            if self.cancelled:
                leave.patience = CANCEL_SECONDS
            self._set = lambda: loop.call_soon_threadsafe(leave.set)
            if self.left:
                leave.set()
        outcome: Outcome = await work(self.taken.run, settings, leave)
        return outcome

    def end(self) -> None:
        """Tell the crew that it has ended."""
        with contextlib.suppress(RuntimeError):  # its loop has closed
            self._home.call_soon_threadsafe(self.ended.set_result, None)

    def leave(self, *, cancelled: bool = False) -> None:
        """Have the run stop, because the crew is drained or the order was cancelled."""
        with self._lock:
            self.left, self.cancelled = True, self.cancelled or cancelled
            if self.cancelled and self._leave is not None:
                self._leave.patience = CANCEL_SECONDS
            if self._set is not None:
                with contextlib.suppress(RuntimeError):  # its loop has closed: it has ended
                    self._set()
