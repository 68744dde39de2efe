"""Threads for work that may never end, such as reading from a disk that does not answer.

The threads of `asyncio.to_thread` and `concurrent.futures` are waited for when the loop or the
process ends, so one that hangs keeps the process from ending. These are not waited for.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

PARTING_SECONDS = 6.0
"""The time that work gets to end in order when nobody waits for its result any more: entering a
batch into an index takes two or three seconds."""


class DaemonThreads:
    """A few threads that do work in the order in which it comes."""

    def __init__(self, size: int, name: str) -> None:
        """Prepare the threads; they start with the first work.

        Args:
            size: How many threads there are at most.
            name: Their name.
        """
        self._size, self._name, self._started = size, name, 0
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have some work done, and return its future result.

        Work that has not begun can be cancelled.
        """
        future: Future[T] = Future()
        self._waiting.put(functools.partial(_do, work, future))
        if self._started < self._size:
            self._started += 1
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        return future

    def close(self) -> None:
        """Let the threads end once all work is done or cancelled, without waiting for them."""
        for _ in range(self._started):
            self._waiting.put(None)

    def _serve(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()


def _do(work: Callable[[], Any], future: Future[Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  it is raised where the result is asked for
        future.set_exception(error)
    else:
        future.set_result(result)


def start(work: Callable[[], T], name: str) -> Future[T]:
    """Start some work in a thread of its own, and return its future result."""
    threads = DaemonThreads(1, name)
    future = threads.submit(work)
    threads.close()
    return future


async def in_daemon_thread(work: Callable[[threading.Event], T], name: str) -> T:
    """Do some work in a thread of its own, and return its result.

    If the caller is cancelled, the work has PARTING_SECONDS to end in order. After that it is left
    to itself.

    Args:
        work: Is called with an event that is set as soon as nobody waits for the result.
        name: The name of the thread.
    """
    left = threading.Event()
    context = contextvars.copy_context()
    running = asyncio.wrap_future(start(functools.partial(context.run, work, left), name))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        left.set()
        await asyncio.wait([running], timeout=PARTING_SECONDS)
        raise
    finally:
        # If it still runs: nobody will ask for its result, and its loop may be closed by then.
        running.cancel()
