"""The scripted server with its brain in a process of its own, for measurements that must not count the server's work.

with ServerApart(delay=1.0) as server:
    ...
    calls = server.log()
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.servers.brain import made_page, made_search, popper_brain
from tests.servers.scripted import ScriptedServer

ROOT = Path(__file__).parents[2]


class ServerApart:
    """Runs `python -m tests.servers.apart` for as long as the `with` block lasts."""

    def __init__(self, *, delay: float = 0.0, rounds: int = 2, local: bool = False) -> None:
        """Take what the brain and the search are made with."""
        self._arguments = ["--delay", str(delay), "--rounds", str(rounds), *(["--local"] if local else [])]

    def __enter__(self) -> ServerApart:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.apart", *self._arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("the scripted server did not start")
        self.openai = f"{self.url}/v1"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()  # it ends when this end goes, so it ends even if we are killed
        self._process.wait(10)
        self._process.stdout.close()

    def log(self) -> list[dict[str, Any]]:
        """Return what the server met: the fields of `Logged`."""
        with urllib.request.urlopen(f"{self.url}/log", timeout=10) as reply:  # noqa: S310 - an address of this machine
            entries: list[dict[str, Any]] = json.load(reply)
        return entries


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--local", action="store_true")
    chosen = parser.parse_args()
    brain = popper_brain(delay=chosen.delay, rounds=chosen.rounds)
    search = made_search(delay=chosen.delay, local=chosen.local)
    with ScriptedServer(brain, search, made_page()) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
