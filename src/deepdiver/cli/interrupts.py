"""Ctrl-C: the first one stops the work and saves, the second one ends the process at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, NoReturn, TypeVar

from deepdiver.errors import StoppedError

T = TypeVar("T")


class Interrupts:
    """Handles SIGINT and SIGTERM while it is entered.

    It installs Python's own signal handlers, not those of the event loop: these run even while the
    loop is busy.
    """

    def __init__(self, announce: Callable[[], None]) -> None:
        """Handle interrupts.

        Args:
            announce: Called when the work is being stopped.
        """
        self._announce = announce
        self._cancel: Callable[[], object] | None = None
        self._count = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {
                number: signal.signal(number, self._on)
                for number in (signal.SIGINT, signal.SIGTERM)
            }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        if self._count > 1:
            cursor = b"\x1b[?25h\n" if sys.stderr.isatty() else b""  # the live view had hidden it
            message = b"deepdiver: stopped at once; `deepdiver runs` lists the runs to resume\n"
            os.write(2, cursor + message)
            os._exit(StoppedError.exit_code)
        if self._cancel is None:
            raise KeyboardInterrupt
        self._cancel()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, and cancel it at the first interrupt."""
        loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)

        def cancel() -> None:
            self._announce()
            task.cancel()

        self._cancel = lambda: loop.call_soon_threadsafe(cancel)
        try:
            return await task
        finally:
            self._cancel = None

    async def stop(self) -> NoReturn:
        """Stop the guarded work from within, as the first Ctrl-C does."""
        if self._cancel is not None:
            self._cancel()
        await asyncio.get_running_loop().create_future()
        raise AssertionError("the task is cancelled above")
