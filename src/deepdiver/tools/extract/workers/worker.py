"""The process that reads documents for another one, with a fork for each document.

    python -m deepdiver.tools.extract.workers.worker

It stays alive, so that the parsers are loaded once. Each fork is confined (`limits`), reads one
document, and exits, so a document can harm neither the next one nor the process that asked. On
systems without fork, the worker reads documents itself, and the process that asked kills it when
one takes too long.
"""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import select
import signal
import sys
import time
import warnings
from typing import Any, BinaryIO, NoReturn

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import read_document
from deepdiver.tools.extract.workers import frames, limits

FORKS = sys.platform == "linux"
"""On macOS a forked process must not use the system's frameworks; Windows has no fork."""

_REFUSED = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "ctypes.dlopen",
)
_NO_MEMORY = 3
_TOO_LARGE = f"it takes more than {limits.MEMORY >> 20} MB to read"
_TOLD = {_NO_MEMORY: _TOO_LARGE}
if FORKS:
    _TOLD[-signal.SIGXCPU] = f"it takes more than {limits.CPU_SECONDS} seconds to read"
    _TOLD[-signal.SIGKILL] = "it was ended from outside: the system may be out of memory"
"""The reasons for the exit codes of a fork."""


def main(arguments: list[str]) -> int:
    """Read documents until the input ends."""
    warnings.simplefilter("ignore")
    logging.disable()
    # openpyxl imports numpy if it is there, which takes 20 MB and starts threads, and does not need
    # it for reading.
    sys.modules["numpy"] = None  # type: ignore[assignment]
    source, to = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing that a parser prints mixes with the answers
    forks = FORKS and "--without-fork" not in arguments
    if hasattr(os, "nice"):
        os.nice(limits.NICENESS)
    if not forks:
        sys.addaudithook(refuse_event)
    frames.send_frame(to, {"ready": os.getpid()})
    while True:
        try:
            job, data = frames.receive_frame(source, limits.LARGEST_FILE)
        except frames.BrokenFrameError:
            return 0  # the process that asked is gone
        head, body = answer_in_fork(job, data, source) if forks else answer_job(job, data)
        frames.send_frame(to, head, body)
        del job, data, head, body


def refuse_event(event: str, arguments: Any) -> None:
    """Refuse to open a socket, start a program or write a file; an audit hook."""
    if event.startswith(_REFUSED) or (
        event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
    ):
        raise PermissionError(f"a parser tried {event}")


def answer_job(job: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Read one document, and return its metadata and text, or the reason that it is unreadable."""
    try:
        draft = read_document.read_document(
            data, mime=job["mime"], name=job["name"], url=job["url"], links=job.get("links", False)
        )
        return {"metadata": draft.metadata()}, draft.text.encode("utf-8", "replace")
    except UnreadableError as error:
        return {"reason": str(error)}, b""
    except MemoryError:
        return {"reason": _TOO_LARGE}, b""
    except Exception as error:  # noqa: BLE001 - a parser may raise anything at a broken file; it becomes the reason
        return {"reason": f"it is damaged: {type(error).__name__}: {error}"[:300]}, b""


def answer_in_fork(
    job: dict[str, Any], data: bytes, source: BinaryIO
) -> tuple[dict[str, Any], bytes]:
    """Read one document in a fork, and return its answer if it is complete and in time."""
    with contextlib.suppress(UnreadableError):  # the fork will say so
        format = read_document.detect_format(data, job["mime"], job["name"], job["url"])
        read_document.load_reader(format, job["url"], links=job.get("links", False))
    ours, theirs = os.pipe()
    worker = os.getpid()
    pid = os.fork()
    if not pid:
        os.close(ours)
        _read_and_exit(job, data, theirs, worker)
    os.close(theirs)
    frame, late = _collect(ours, source.fileno())
    os.close(ours)
    if late:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    peak = usage.ru_maxrss * 1024
    if late:
        return {"reason": late, "peak": peak}, b""
    if status:
        ended = os.waitstatus_to_exitcode(status)
        return {
            "reason": _TOLD.get(ended) or f"its parser died ({_name(ended)})",
            "peak": peak,
        }, b""
    try:
        head, body = frames.receive_frame(io.BytesIO(frame), limits.LARGEST_ANSWER)
    except frames.BrokenFrameError:
        return {"reason": "its parser said nothing that could be understood", "peak": peak}, b""
    return {**head, "peak": peak}, body


def _name(ended: int) -> str:
    return signal.Signals(-ended).name if ended < 0 else f"exit status {ended}"


def _read_and_exit(job: dict[str, Any], data: bytes, to: int, worker: int) -> NoReturn:
    """Read one document as the fork: confine it, send the answer, exit without any clean-up."""
    limits.die_with_parent()
    if os.getppid() != worker:  # it was killed before that
        os._exit(1)
    os.close(0)
    pipe = os.fdopen(to, "wb")
    try:
        gc.disable()  # it reads one document and exits
        limits.confine()
        sys.addaudithook(refuse_event)
        frames.send_frame(pipe, *answer_job(job, data))
        os._exit(0)
    except MemoryError:
        os._exit(_NO_MEMORY)
    finally:
        os._exit(1)  # a fork must never go on as if it were its parent


def _collect(pipe: int, source: int) -> tuple[bytearray, str]:
    """Return what a fork writes until it closes its end, and why that was given up if it was.

    The process that asked writes nothing while it waits. If its pipe becomes readable, it is gone.
    """
    frame = bytearray()
    until = time.monotonic() + limits.WALL_SECONDS
    while (left := until - time.monotonic()) > 0:
        ready, _, _ = select.select([pipe, source], [], [], left)
        if source in ready:
            return frame, "nobody waits for it"
        if pipe in ready:
            part = os.read(pipe, 1 << 20)
            if not part:
                return frame, ""
            frame += part
            if len(frame) > limits.LARGEST_ANSWER:
                return frame, "its parser said more than a document holds"
    return frame, f"it takes more than {limits.WALL_SECONDS:g} seconds to read"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
