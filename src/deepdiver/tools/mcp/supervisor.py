"""A program that starts an MCP server and makes sure that none of its processes is left.

It is started as the leader of a new session, with the server's pipes and one end of a lifeline.
When the lifeline is cut, because the run closes it or because the run's process is gone, however
that ended, the whole process group is ended. The same happens to processes that the server leaves
behind when it ends by itself. On Linux this includes processes that left the group: those whose
parents died become children of this one.

It imports little, because it is started for each server, and only from the standard library,
because it runs without our packages: `python -I -S supervisor.py LIFELINE COMMAND …`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
LAST = 2.0
"""Seconds for ending processes that go on forking."""
STEP = 0.01
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux."""
NOT_STARTED = 126
"""The exit status if the server could not be started, as in shells."""


def main(arguments: list[str]) -> int:
    """Start a server, wait until it or the lifeline ends, and end all of its processes.

    Returns:
        The exit status.
    """
    lifeline = int(arguments[0])
    os.set_inheritable(lifeline, False)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which the server would inherit
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)
    try:
        server = subprocess.Popen(arguments[1:])  # noqa: S603 - the command of the user's settings file
    except OSError:
        return NOT_STARTED
    _close_pipes()
    while server.poll() is None:
        ready, _, _ = select.select([lifeline, wake], [], [])
        if lifeline in ready:
            break
        os.read(wake, 512)
    status = server.returncode
    _end_all(server)
    return status if status is not None and status >= 0 else 1


def _close_pipes() -> None:
    """Leave the pipes to the server: otherwise nobody would notice that it closed them."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for held in range(3):
        os.dup2(nowhere, held)


def _end_all(server: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(os.getpgrp(), signal.SIGTERM)
    asked = time.monotonic()
    while (left := _left(server)) and time.monotonic() < asked + GRACE + LAST:
        if time.monotonic() > asked + GRACE:
            for process in left:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
        time.sleep(STEP)
    if left or sys.platform != "linux":
        os.killpg(os.getpgrp(), signal.SIGKILL)  # and us with them


def _left(server: subprocess.Popen[bytes]) -> list[int]:
    """Return our living children: on Linux finally all processes, elsewhere only the server."""
    with contextlib.suppress(ChildProcessError):
        server.poll()
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listed:
            return [int(process) for process in listed.read().split()]
    except OSError:
        return [server.pid] if server.poll() is None else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
