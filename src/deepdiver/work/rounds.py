"""Rounds of watched runs, by a worker: whichever of them looks first when one is due.

A round is held by one process at a time, and goes on behind its last step (`run.watch`). It has a
thread and a loop of its own, like a run, and takes no place of one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deepdiver.errors import DeepdiverError, StoppedError, StoreError
from deepdiver.run.watch import GLANCE, Watcher

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
