"""Rounds of watched runs, by a worker: whichever of them looks first when one is due.

A round is held by one process at a time, and goes on behind its last step (`run.watch`). The worker
asks its standing queries in a thread and a loop of its own. The run that researches the question
again, if something stirred, is an order of the queue like any other, of the owner of the watched
run; the round goes on when that has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deepdiver.core.record import FINISHED
from deepdiver.errors import DeepdiverError, StoppedError, StoreError, UnknownNameError
from deepdiver.run.record import load_outcome
from deepdiver.run.session import Outcome
from deepdiver.run.update_run import UpdatePlan
from deepdiver.run.watch import GLANCE, Make, Watcher
from deepdiver.run.watch_list import Watch
from deepdiver.work.order import order_of
from deepdiver.work.queue import Queue
from deepdiver.work.rows import RESTING

LEAVE_SECONDS = 15.0
"""The time that a round gets to save itself when the worker ends."""
_log = logging.getLogger(__name__)


@contextmanager
def attending(watcher: Watcher, seconds: float = GLANCE) -> Iterator[None]:
    """Attend to every watch that is due, in a thread, as long as the block lasts.

    Args:
        watcher: What rounds are made with.
        seconds: How often to look.
    """
    loop = asyncio.new_event_loop()
    work = loop.create_task(_keep_attending(watcher, seconds))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError), contextlib.closing(loop):
            loop.run_until_complete(work)

    thread = threading.Thread(target=run, name="watches", daemon=True)
    thread.start()
    try:
        yield
    finally:
        with contextlib.suppress(RuntimeError):  # the loop has closed
            loop.call_soon_threadsafe(work.cancel)
        thread.join(LEAVE_SECONDS)


async def _keep_attending(watcher: Watcher, seconds: float) -> None:
    while True:
        try:
            await attend_due(watcher)
        except StoreError as error:
            _log.warning("the watches cannot be read: %s", error)
        await asyncio.sleep(seconds)


async def attend_due(watcher: Watcher) -> int:
    """Do a round of every watch that is due; return how many were done here.

    Raises:
        StoreError: If the list cannot be read.
    """
    done = 0
    for watch in watcher.watches.all():
        if not watcher.is_due(watch):
            continue
        try:
            attempt = await watcher.attend(watch)
        except StoppedError as stopped:  # it was taken off the list
            _log.info("%s", stopped)
            continue
        except DeepdiverError as error:
            _log.warning("watch %s: %s", watch.run, error)
            continue
        done += not attempt.busy
        if attempt.error is not None:
            _log.warning("watch %s: %s", watch.run, attempt.error)
    return done


def order_runs(queue: Queue) -> Make:
    """Return how a round has its run made by whichever worker takes the order."""

    async def make(watch: Watch, plan: UpdatePlan, named: str) -> Outcome | None:
        try:
            run = queue.store.runs.get(named)
        except UnknownNameError:
            owner = queue.owner_of(watch.run) or ""
            queue.put(order_of(plan.question, plan.settings, run=named, owner=owner))
            return None
        if run.status in FINISHED:
            return load_outcome(run, queue.store)
        if run.status in RESTING and not watch.trouble:
            raise DeepdiverError(f"run {named} is {run.status.value}")
        if run.status in RESTING:  # it is time to try again
            queue.put_again(named)
        return None

    return make
