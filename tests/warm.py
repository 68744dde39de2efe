"""A Python that starts warm: processes forked from one that has everything imported.

with Warm() as warm, started("--sample", "Who runs Svedjan Ost AB?", program=warm.command) as
process:
    ...

Importing takes two to three seconds of the processor, which is most of what a short command takes.
What is started in place of `python -m deepdiver` is a caller of 20 ms: it hands its words,
environment, folder and open files to the warm process, passes signals on, and ends as the command
ends. The command runs as under Python itself, in a session of its own, on the caller's terminal if
it has one. Tests of starting itself use `tests.terminal.COMMAND`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the caller imports nothing that it does not need
    from pathlib import Path
    from types import TracebackType

LOADED = (
    "deepdiver.cli.live_run",
    "deepdiver.cli.preflight",
    "deepdiver.mcp_server.transports",
    "deepdiver.reason.embedded",
    "deepdiver.run",
    "deepdiver.strategies.navigator.graph",
    "deepdiver.strategies.popper",
    "deepdiver.tools.library.files",
    "mcp.server.mcpserver",
)
"""What is imported only when a command needs it; nothing that starts a thread, as numpy and
onnxruntime do: no thread is there in a fork."""
PASSED_ON = (signal.SIGINT, signal.SIGTERM)
"""The signals that a caller passes on to its command."""


class Warm:
    """The process that is forked, for as long as the `with` block lasts."""

    def __init__(self, readings: Path | None = None) -> None:
        """Choose the folder in which its forks keep what the models said (`tests.readings`)."""
        self._kept = [] if readings is None else [str(readings)]

    def __enter__(self) -> Warm:
        """Start it; the first caller waits until it is warm."""
        import tempfile

        from tests.child import Child

        # The name of a socket may have 100 characters.
        self._folder = tempfile.TemporaryDirectory(prefix="warm")
        door = f"{self._folder.name}/door"
        self._child = Child("tests.warm", "--serve", door, *self._kept)
        self.python = (sys.executable, "-I", "-S", __file__, door)
        self.command = (*self.python, "-m", "deepdiver")
        if self._child.line() != "ready":
            self.__exit__(None, None, None)
            raise RuntimeError("the process that is forked did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it; commands end with their callers."""
        self._child.end()
        self._folder.cleanup()


def call(door: str, words: list[str]) -> int:
    """Have a command run on this process's open files.

    Returns its exit code, negative for a signal.
    """
    job = {"words": words, "environment": dict(os.environ), "folder": os.getcwd()}
    with socket.socket(socket.AF_UNIX) as wire, wire.makefile("rb") as replies:
        wire.connect(door)
        socket.send_fds(wire, [b"\n"], [0, 1, 2])
        wire.sendall(json.dumps(job).encode() + b"\n")
        number = int(replies.readline())
        for one in PASSED_ON:
            signal.signal(one, lambda one, _: _send(number, one))
        # Whoever waits for the end of a stream waits for the command alone.
        with open(os.devnull, "r+b") as nothing:
            for at in range(3):
                os.dup2(nothing.fileno(), at)
        return int(replies.readline())


def serve(door: str) -> dict[str, Any] | None:
    """Fork for each caller until standard input ends; in a fork, returns what to run.

    None at the end.
    """
    import gc
    import importlib

    from tests.patience import read_patiently

    for name in LOADED:
        importlib.import_module(name)
    read_patiently()
    gc.freeze()  # a collection in a fork would write to, and so copy, all that is here
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(door)
        listening.listen()
        os.write(1, b"ready\n")
        while 0 not in select.select([listening.fileno(), 0], [], [])[0]:
            caller, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                return _forked(caller)
            caller.close()
            _take_away()
    return None


def _take_away() -> None:
    """Take away what is left of those who have watched to the end."""
    with contextlib.suppress(ChildProcessError):  # none is left
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _forked(caller: socket.socket) -> dict[str, Any]:
    """Become two processes.

    The command, in which alone this returns, and the one that watches it and its caller.
    """
    _, files, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile("rb") as lines:
        job: dict[str, Any] = json.loads(lines.readline())
    if number := os.fork():
        for file in files:
            os.close(file)
        _watch(number, caller)
    caller.close()
    for at, file in enumerate(files):
        os.dup2(file, at)
        os.close(file)
    return job


def _watch(number: int, caller: socket.socket) -> None:
    """Tell the caller how the command ended; a command whose caller was killed is killed."""
    import threading

    def end_with_caller() -> None:
        with contextlib.suppress(ConnectionError):  # it was killed before it had heard all
            caller.recv(1)
        _send(number, signal.SIGKILL)

    def tell(what: int) -> None:
        with contextlib.suppress(ConnectionError):  # nobody is there to be told
            caller.sendall(b"%d\n" % what)

    threading.Thread(target=end_with_caller, daemon=True).start()
    tell(number)
    _, status = os.waitpid(number, 0)
    tell(os.waitstatus_to_exitcode(status))
    os._exit(0)


def _send(number: int, one: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended of itself
        os.kill(number, one)


def become(job: dict[str, Any]) -> None:
    """Be what Python is with these words, `-m MODULE`, `-c CODE` or `FILE` first.

    In its place, on its streams.
    """
    import fcntl
    import termios

    os.setsid()
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    ours = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    theirs = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [job["folder"], *theirs, *(path for path in sys.path[1:] if path not in ours)]
    streams: list[Any] = [open(at, mode, closefd=False) for at, mode in enumerate("rww")]  # noqa: SIM115
    streams[2].reconfigure(errors="backslashreplace", line_buffering=True)
    sys.stdin, sys.stdout, sys.stderr = streams
    _run(job["words"])


def _run(words: list[str]) -> None:
    import runpy

    if words[0] == "-m":
        sys.argv[:] = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv[:] = ["-c", *words[2:]]
        exec(words[1], {"__name__": "__main__"})  # noqa: S102 - as Python does
    else:
        sys.argv[:] = words
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


def _keeping(folders: list[str]) -> contextlib.AbstractContextManager[None]:
    if not folders:
        return contextlib.nullcontext()
    from pathlib import Path

    from tests.readings import kept_in

    return kept_in(Path(folders[0]))


def main() -> None:
    """Be the one that is forked, or a caller."""
    where, *words = sys.argv[1:]
    if where == "--serve":
        door, *kept = words
        with _keeping(kept):
            if (job := serve(door)) is not None:
                become(job)
        return
    code = call(where, words)
    if code < 0:  # end as the command did
        if -code in PASSED_ON:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
