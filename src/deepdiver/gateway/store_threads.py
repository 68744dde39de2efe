"""Runs steps of the store in threads, and finishes each step even if its caller is cancelled."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def _open_pool() -> None:
    global _pool
    _pool = ThreadPoolExecutor(THREADS, thread_name_prefix="deepdiver-store")


THREADS = 8
"""SQLite does one thing at a time, and a second thread is for a second store. PostgreSQL does as
many as there are connections, of which the store keeps so many; a server that is away holds up
those that wait for it."""
# Not the loop's own threads: a user's tools may keep those busy for minutes, and the journal must
# not wait for them.
_pool: ThreadPoolExecutor
_open_pool()
if hasattr(os, "register_at_fork"):  # threads do not survive a fork: the child needs its own
    os.register_at_fork(after_in_child=_open_pool)


async def in_thread(step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a step of the store in a thread and return its result.

    A step that was begun is finished. A caller that is cancelled meanwhile leaves only after that,
    a few milliseconds later, so that an answer that was paid for is kept and a place that was taken
    can be given back.
    """
    running = asyncio.get_running_loop().run_in_executor(_pool, partial(step, *args, **kwargs))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await wait_until_done(running)
        raise


def submit(step: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Have a step of the store run in a thread, for a caller that does not wait for it."""
    return _pool.submit(step, *args, **kwargs)


async def wait_until_done(running: asyncio.Future[Any]) -> None:
    """Wait until a task or future is done, whether it succeeds, fails or is cancelled.

    A caller that is cancelled while it waits leaves only after that.
    """
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    if not running.cancelled():
        running.exception()  # marks it as seen
    if cancelled is not None:
        raise cancelled
