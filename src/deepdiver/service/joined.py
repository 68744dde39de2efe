"""Looks into a database that several requests need at once, taken once for all of them.

A thousand clients that connect to one run have the same token, and ask for the same run. Whoever
comes while a look waits for a thread joins it, and nobody is told what was so before they came.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

WOKEN = 3
"""How many of those who wait go on in one turn of the loop, which has others to serve too. What a
thousand do next took a second and more, and what ten do 0.1 s beside fifty runs: each time that one
of them sends something, a run may compute for 5 ms."""
T = TypeVar("T")
Waiter = asyncio.Future[Any]


class Joined:
    """Threads that look things up."""

    def __init__(self, threads: int, name: str) -> None:
        """Have so many threads, which begin when they are needed."""
        self._threads = ThreadPoolExecutor(threads, name)
        self._lock = threading.Lock()
        self._next: dict[Hashable, deque[Waiter]] = {}

    async def look(self, key: Hashable, step: Callable[[], T]) -> T:
        """Return what a step returns, or raise what it raises, together with others.

        Args:
            key: What is looked for: steps of the same key that have not begun are one.
            step: Looks it up, in a thread.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        with self._lock:
            first = key not in self._next
            self._next.setdefault(key, deque()).append(waiter)
        if first:
            self._threads.submit(self._do, loop, key, step)
        return await waiter

    def _do(self, loop: asyncio.AbstractEventLoop, key: Hashable, step: Callable[[], Any]) -> None:
        with self._lock:  # who comes from now on takes another look
            waiting = self._next.pop(key)
        found, error = None, None
        try:
            found = step()
        except Exception as caught:  # noqa: BLE001  it is raised where it is waited for
            error = caught

        def settle(waiter: Waiter) -> None:
            if error is None:
                waiter.set_result(found)
            else:
                waiter.set_exception(error)

        with contextlib.suppress(RuntimeError):  # the loop has closed, and nobody waits
            loop.call_soon_threadsafe(wake, waiting, settle)


def wake(waiting: deque[Waiter], settle: Callable[[Waiter], None]) -> None:
    """Let those go on who wait, a few at each turn of the loop.

    Where several such rows are being woken, they take turns: who asks for something else does not
    wait behind a thousand.
    """
    loop = asyncio.get_running_loop()
    rows = _rows.setdefault(loop, deque())
    rows.append((waiting, settle))
    if len(rows) == 1:
        _wake_some(loop, rows)


_Rows = deque[tuple[deque[Waiter], Callable[[Waiter], None]]]
_rows: WeakKeyDictionary[asyncio.AbstractEventLoop, _Rows] = WeakKeyDictionary()
"""Those who are to be woken, for each loop."""


def _wake_some(loop: asyncio.AbstractEventLoop, rows: _Rows) -> None:
    left = WOKEN
    while rows and left:
        waiting, settle = rows.popleft()
        if waiting and not (waiter := waiting.popleft()).done():
            settle(waiter)
            left -= 1
        if waiting:
            rows.append((waiting, settle))
    if rows:
        loop.call_soon(_wake_some, loop, rows)
