"""Children that read documents, and whom to ask: a hang, a crash or a bomb costs one document."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import os
import queue
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from pydantic import ValidationError

from deepdiver.core.record import Mark
from deepdiver.errors import UnreadableError
from deepdiver.tools.document import Document
from deepdiver.tools.extract.workers import frames, limits

WORKERS = 2
SECONDS = 9.5
"""The longest that a document may take from here to here. The child gives up earlier, and says why.
"""
_MODULE = "deepdiver.tools.extract.workers.worker"
START_SECONDS = 60.0
"""The longest that a child may take to start, on a machine that has much else to do."""


class _Worker:
    """One process that reads documents, one after the other."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self.late = False
        """Whether it was ended because it took too long."""
        # Nothing of the environment is passed on: keys have no business where strangers' files are
        # read.
        environment = {
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._process = subprocess.Popen(  # noqa: S603 - our own module, under our own interpreter
            [sys.executable, "-P", "-m", _MODULE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment if os.name == "posix" else None,
            start_new_session=True,  # Ctrl-C is for whoever asked; and the group is killed as one
        )
        try:
            with self._within(START_SECONDS):
                self._receive()
        except frames.BrokenFrameError:
            self.kill()
            ended = f"it ended with status {self._process.returncode}"
            raise UnreadableError(
                f"the process that reads files could not be started: {ended}"
            ) from None

    @contextlib.contextmanager
    def _within(self, seconds: float) -> Any:
        """Kill the child unless the block ends in time; a read from it then ends too."""
        timer = threading.Timer(seconds, self._overdue)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def ask(self, job: dict[str, Any], data: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Hand over a document, wait for what is in it.

        Raises:
            OSError: If the child was gone before it had the document.
            BrokenFrameError: If it went while it had it.
        """
        with self._within(seconds):
            frames.send_frame(cast("Any", self._process.stdin), job, data)
            return self._receive()

    def _receive(self) -> tuple[dict[str, Any], bytes]:
        return frames.receive_frame(cast("Any", self._process.stdout), limits.LARGEST_ANSWER)

    def _overdue(self) -> None:
        self.late = True
        self.end()

    def end(self) -> None:
        """End it and whatever it forked; whoever reads from it hears no more."""
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def kill(self) -> None:
        """End it, and take its leavings away."""
        self.end()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Extractor:
    """Takes the text out of files, in children that are started when they are needed and replaced when they die.

    It may be used from several threads at once: as many documents are read at a time as there are
    children, the others wait.
    """

    def __init__(
        self, children: int = WORKERS, *, seconds: float = SECONDS, fork: bool = True
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            children: How many documents are read at a time.
            seconds: The longest that one may take.
            fork: Whether a child forks for each document, where the system can. If not, a document
                that hangs costs its child too.
        """
        self.peak = 0
        """The most memory, in bytes, that a child has held so far; 0 where the system does not say.
        """
        self._seconds = seconds
        self._arguments = () if fork else ("--without-fork",)
        self._lock = threading.Lock()
        self._alive: set[_Worker] = set()
        self._closed = False
        # Last in, first out: one after the other is read by one child, and the others are not even
        # started.
        self._slots: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(children):
            self._slots.put(None)

    def extract(self, data: bytes, *, mime: str = "", name: str = "", url: str = "") -> Document:
        """Return the text of a file, and what it says of itself.

        Args:
            data: The file.
            mime: What the server said it is.
            name: What it is called.
            url: Where it is from; its links are made absolute by this.

        Raises:
            UnreadableError: If it gives no text; the error's text is the reason.
        """
        if len(data) > limits.LARGEST_FILE:
            raise UnreadableError(f"{len(data):,} bytes are more than {limits.LARGEST_FILE:,}")
        head, body = self._ask({"mime": mime, "name": name, "url": url}, data)
        self.peak = max(self.peak, head.get("peak", 0))
        if "reason" in head:
            raise UnreadableError(str(head["reason"]))
        return _document(head.get("told"), body)

    def _ask(self, job: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        """Have one of the children read a document.

        A child that was dead already is replaced once without a word.
        """
        child = self._slots.get()
        try:
            if child is not None:
                try:
                    return child.ask(job, data, self._seconds)
                except OSError:
                    self._bury(child)
            child = self._start()
            return child.ask(job, data, self._seconds)
        except BaseException as error:
            late = child is not None and child.late
            self._bury(child)
            child = None
            if not isinstance(error, OSError | frames.BrokenFrameError):
                raise
            reason = (
                f"it takes more than {self._seconds:g} seconds to read"
                if late
                else "its parser died"
            )
            raise UnreadableError(reason) from None
        finally:
            self._slots.put(child)

    def _start(self) -> _Worker:
        child = None if self._closed else _Worker(self._arguments)
        with self._lock:  # it may have been closed while the child started
            if child is not None and not self._closed:
                self._alive.add(child)
                return child
        if child is not None:
            child.kill()
        raise UnreadableError("deepdiver is closing")

    def _bury(self, child: _Worker | None) -> None:
        if child is not None:
            with self._lock:
                self._alive.discard(child)
            child.kill()

    def close(self) -> None:
        """End the children, also those that are reading; what they read is unreadable then."""
        with self._lock:
            self._closed = True
            alive = set(self._alive)
        for child in alive:
            child.end()  # whoever waits for one hears of it, and buries it
        idle = 0
        with contextlib.suppress(queue.Empty):
            while True:
                self._bury(self._slots.get_nowait())
                idle += 1
        for _ in range(idle):  # whoever comes now is told, and does not wait
            self._slots.put(None)


def _document(told: Any, body: bytes) -> Document:
    """Put together what a child said; it is a stranger's word, and checked as such."""
    try:
        marks = tuple(
            Mark(start=start, kind=kind, label=label) for start, kind, label in told.pop("marks")
        )
        return Document(text=body.decode("utf-8"), marks=marks, **told)
    except (ValidationError, ValueError, TypeError, KeyError, AttributeError):
        raise UnreadableError("its parser said nothing that could be understood") from None


class _Shared:
    """The extractor of this process, and threads enough to wait for its children."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.extractor = Extractor()
        self.threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="extract")
        atexit.register(self.extractor.close)


_shared: _Shared | None = None


def shared_extractor() -> Extractor:
    """Return the extractor of this process.

    Its children start with its first document and end with the process.
    """
    return _here().extractor


def _here() -> _Shared:
    global _shared  # one for the process
    if (
        _shared is None or _shared.process != os.getpid()
    ):  # a forked process must not speak through our pipes
        _shared = _Shared()
    return _shared


async def extract(data: bytes, *, mime: str = "", name: str = "", url: str = "") -> Document:
    """Return the text of a file or page, and what it says of itself.

    Args:
        data: The file.
        mime: What the server said it is.
        name: What it is called.
        url: Where it is from; its links are made absolute by this.

    Raises:
        UnreadableError: If it gives no text; the error's text is the reason.
    """
    here = _here()
    read = functools.partial(here.extractor.extract, data, mime=mime, name=name, url=url)
    return await asyncio.get_running_loop().run_in_executor(here.threads, read)
