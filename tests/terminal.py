"""The real command, as a person or a program meets it.

Started as a process, on a terminal or without one.

with Terminal("--sample", "Who runs Svedjan Ost AB?") as terminal:
    terminal.wait_for("answered")
    assert terminal.leave() == 0
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from tests import warm
from tests.patience import PATIENCE

COMMAND = (sys.executable, "-m", "deepdiver")
# Makes the terminal the controlling one, as a login does: without that, typing Ctrl-C sends no
# signal.
_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], "
    "sys.argv[1:])"
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def run(
    *words: str,
    given: str | bytes | None = None,
    env: dict[str, str] | None = None,
    program: tuple[str, ...] = COMMAND,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end without a terminal."""
    done = subprocess.run(
        [*program, *words],
        input=given.encode() if isinstance(given, str) else given or b"",
        env={**os.environ, **(env or {})},
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@contextmanager
def started(
    *words: str, program: tuple[str, ...] = COMMAND, **options: int
) -> Iterator[subprocess.Popen[str]]:
    """Start the command without a terminal; what is left of it in the end is killed."""
    pipes = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        **options,
    }
    process = subprocess.Popen([*program, *words], text=True, **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def wait_for_line(process: subprocess.Popen[str], text: str) -> str:
    """Read a process's standard error up to the line that holds a text.

    Returns all that was read.
    """
    assert process.stderr is not None
    seen = ""
    for line in process.stderr:
        seen += line
        if text in line:
            return seen
    raise AssertionError(f"{text!r} was never said, but:\n{seen}")


class Terminal:
    """The command on a terminal of its own."""

    def __init__(
        self,
        *words: str,
        columns: int = 100,
        lines: int = 40,
        program: tuple[str, ...] = COMMAND,
        term: str = "xterm",
    ) -> None:
        """Start it when the `with` block begins."""
        self._words, self._program = words, program
        self._size = struct.pack("HHHH", lines, columns, 0, 0)
        self._env = {
            name: text
            for name, text in os.environ.items()
            if name not in {"COLUMNS", "LINES", "NO_COLOR"}
        }
        self._env["TERM"] = term
        self.raw = ""

    def __enter__(self) -> Terminal:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, self._size)
        # A warm one does.
        taking = () if warm.__file__ in self._program else (sys.executable, "-c", _TAKE_TERMINAL)
        self.process = subprocess.Popen(
            [*taking, *self._program, *self._words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=self._env,
            start_new_session=True,
        )
        os.close(theirs)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)

    @property
    def text(self) -> str:
        """All that was shown, without colours and cursor movements."""
        return _ESCAPES.sub("", self.raw).replace("\r", "")

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read until a text has been shown so many times."""
        ends = time.monotonic() + PATIENCE
        while self.text.count(text) < times:
            if time.monotonic() > ends or not self._read():
                raise AssertionError(f"{text!r} was not shown {times} times, but:\n{self.text}")

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._ours, text.encode())

    def leave(self) -> int:
        """Read to the end and return the exit code."""
        ends = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < ends, f"it does not end:\n{self.text}"
        return self.process.wait(PATIENCE)

    def _read(self) -> bool:
        """Read what there is; False at the end."""
        ready, _, _ = select.select([self._ours], [], [], 1.0)
        if not ready:
            return True
        try:
            raw = os.read(self._ours, 65_536)
        except OSError:  # how Linux says that the other side has closed
            return False
        self.raw += raw.decode("utf-8", "replace")
        return bool(raw)


class Stream(io.StringIO):
    """A stream that is a terminal, or is not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal
