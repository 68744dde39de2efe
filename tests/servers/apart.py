"""The scripted server in a process of its own, so that measurements do not count its work.

with ServerApart(delay=1.0) as server:
    ...
    calls = server.log()
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from types import TracebackType
from typing import Any

from tests.child import Child
from tests.patience import PATIENCE
from tests.servers.brain import made_page, made_search, popper_brain
from tests.servers.scripted import ScriptedServer


class ServerApart:
    """Runs `python -m tests.servers.apart` for as long as the `with` block lasts."""

    def __init__(
        self, *, delay: float = 0.0, spread: float = 0.0, rounds: int = 2, local: bool = False
    ) -> None:
        """Take what the brain and the search are made with."""
        self._arguments = [
            "--delay",
            str(delay),
            "--spread",
            str(spread),
            "--rounds",
            str(rounds),
            *(["--local"] if local else []),
        ]

    def __enter__(self) -> ServerApart:
        self._child = Child("tests.servers.apart", *self._arguments)
        self.url = self._child.line()
        if not self.url:
            raise RuntimeError("the scripted server did not start")
        self.openai = f"{self.url}/v1"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.end()

    def log(self) -> list[dict[str, Any]]:
        """Return what the server met: the fields of `Logged`."""
        with urllib.request.urlopen(f"{self.url}/log", timeout=PATIENCE) as reply:  # noqa: S310 - here
            entries: list[dict[str, Any]] = json.load(reply)
        return entries


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--spread", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--local", action="store_true")
    chosen = parser.parse_args()
    brain = popper_brain(delay=chosen.delay, spread=chosen.spread, rounds=chosen.rounds)
    search = made_search(delay=chosen.delay, local=chosen.local)
    with ScriptedServer(brain, search, made_page()) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
