"""A child process that ends when its standard input does, and so even if the tests are killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]


class Child:
    """`python -m MODULE`, spoken to by lines."""

    def __init__(self, module: str, *words: str) -> None:
        """Start it."""
        command = [sys.executable, "-m", module, *words]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout

    def say(self, line: str) -> None:
        """Send a line."""
        self._in.write(line + "\n")
        self._in.flush()

    def line(self) -> str:
        """Wait for a line and return it; empty if the process has ended."""
        return self._out.readline().strip()

    def end(self) -> None:
        """Have it end, and wait for that."""
        self._in.close()
        self._process.wait(PATIENCE)
        self._out.close()
