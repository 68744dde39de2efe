"""A pool of workers that read documents: a hang, a crash or a bomb costs only one document."""

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

from deepdiver.errors import UnreadableError
from deepdiver.tools.document import Document
from deepdiver.tools.extract.document_draft import assemble_document
from deepdiver.tools.extract.workers import frames, limits

WORKERS = 2
SECONDS = 9.5
"""The longest time for a document, as seen from here. The worker gives up earlier, with a
reason."""
_MODULE = "deepdiver.tools.extract.workers.worker"
START_SECONDS = 60.0
"""The longest time for a worker to start, on a busy machine."""


class _Worker:
    """A process that reads documents, one after the other."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        self.late = False
        """Whether it was killed because it took too long."""
        # The environment is not passed on: it may contain keys, and the files are untrusted.
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
            start_new_session=True,  # unaffected by Ctrl-C, and killed with all of its forks
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
        """Kill the worker unless the block ends in time, which also ends a read from it."""
        timer = threading.Timer(seconds, self._overdue)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def ask(self, job: dict[str, Any], data: bytes, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Send a document, and return the answer.

        Raises:
            OSError: If the worker ended before it had received the document.
            BrokenFrameError: If it ended afterwards.
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
        """Kill it and its forks, which ends any read from it."""
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def kill(self) -> None:
        """Kill it, wait for its end, and close its pipes."""
        self.end()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Extractor:
    """Extracts the text of files in worker processes.

    Workers are started on demand, and replaced when they die. Threads may share an extractor: it
    reads as many documents at a time as it has workers, and the others wait.
    """

    def __init__(
        self, workers: int = WORKERS, *, seconds: float = SECONDS, fork: bool = True
    ) -> None:
        """Set up the pool. Nothing is started yet.

        Args:
            workers: How many documents are read at a time.
            seconds: The longest time for one document.
            fork: Whether a worker forks for each document, if the system can. Otherwise a document
                that hangs costs its worker, too.
        """
        self.peak = 0
        """The most memory in bytes that a worker has used until now; 0 if the system does not
        say."""
        self._seconds = seconds
        self._arguments = () if fork else ("--without-fork",)
        self._lock = threading.Lock()
        self._alive: set[_Worker] = set()
        self._closed = False
        # Last in, first out: documents that come one at a time are read by one worker, and the
        # others are not even started.
        self._slots: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(workers):
            self._slots.put(None)

    def extract(
        self, data: bytes, *, mime: str = "", name: str = "", url: str = "", links: bool = False
    ) -> Document:
        """Return the text and metadata of a file.

        Args:
            data: The bytes of the file.
            mime: The MIME type that the server gave.
            name: The name of the file.
            url: The address that it came from, by which its links are made absolute.
            links: Whether links and notes are kept in their places, as Markdown has them.

        Raises:
            UnreadableError: If it has no text that can be read; the message is the reason.
        """
        if len(data) > limits.LARGEST_FILE:
            raise UnreadableError(f"{len(data):,} bytes are more than {limits.LARGEST_FILE:,}")
        head, body = self._ask({"mime": mime, "name": name, "url": url, "links": links}, data)
        self.peak = max(self.peak, head.get("peak", 0))
        if "reason" in head:
            raise UnreadableError(str(head["reason"]))
        return _document(head.get("metadata"), body)

    def _ask(self, job: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        """Have one of the workers read a document. A worker found dead is replaced once."""
        worker = self._slots.get()
        try:
            if worker is not None:
                try:
                    return worker.ask(job, data, self._seconds)
                except OSError:
                    self._bury(worker)
            worker = self._start()
            return worker.ask(job, data, self._seconds)
        except BaseException as error:
            late = worker is not None and worker.late
            self._bury(worker)
            worker = None
            if not isinstance(error, OSError | frames.BrokenFrameError):
                raise
            reason = (
                f"it takes more than {self._seconds:g} seconds to read"
                if late
                else "its parser died"
            )
            raise UnreadableError(reason) from None
        finally:
            self._slots.put(worker)

    def _start(self) -> _Worker:
        worker = None if self._closed else _Worker(self._arguments)
        with self._lock:  # it may have been closed while the worker started
            if worker is not None and not self._closed:
                self._alive.add(worker)
                return worker
        if worker is not None:
            worker.kill()
        raise UnreadableError("deepdiver is closing")

    def _bury(self, worker: _Worker | None) -> None:
        if worker is not None:
            with self._lock:
                self._alive.discard(worker)
            worker.kill()

    def close(self) -> None:
        """Kill the workers, including busy ones, whose documents become unreadable."""
        with self._lock:
            self._closed = True
            alive = set(self._alive)
        for worker in alive:
            worker.end()  # the thread that waits for it notices, and buries it
        idle = 0
        with contextlib.suppress(queue.Empty):
            while True:
                self._bury(self._slots.get_nowait())
                idle += 1
        for _ in range(idle):  # so that later calls fail instead of waiting
            self._slots.put(None)


def _document(metadata: Any, body: bytes) -> Document:
    """Return the document that a worker sent, which is as untrusted as the file."""
    try:
        return assemble_document(body.decode("utf-8"), metadata)
    except (ValidationError, ValueError, TypeError, KeyError, AttributeError):
        raise UnreadableError("its parser said nothing that could be understood") from None


class _Shared:
    """The extractor of this process, and enough threads to wait for its workers."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.extractor = Extractor()
        self.threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="extract")
        atexit.register(self.extractor.close)


_shared: _Shared | None = None


def shared_extractor() -> Extractor:
    """Return the extractor of this process.

    Its workers start with its first document and end with the process.
    """
    return _here().extractor


def _here() -> _Shared:
    global _shared  # one for the process
    # A forked process must not use the pipes of its parent.
    if _shared is None or _shared.process != os.getpid():
        _shared = _Shared()
    return _shared


async def extract(
    data: bytes, *, mime: str = "", name: str = "", url: str = "", links: bool = False
) -> Document:
    """Return the text and metadata of a file or page, as `Extractor.extract` does."""
    here = _here()
    read = functools.partial(
        here.extractor.extract, data, mime=mime, name=name, url=url, links=links
    )
    return await asyncio.get_running_loop().run_in_executor(here.threads, read)
