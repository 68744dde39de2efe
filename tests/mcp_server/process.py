"""`deepdiver mcp` as a process, as clients start it or reach it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp import StdioServerParameters

from deepdiver.core.record import Run
from deepdiver.store.sqlite import open_sqlite
from tests.mcp_server.tides import KEY
from tests.terminal import COMMAND, wait_for_line


@dataclass(frozen=True, slots=True)
class Place:
    """Where servers of one test live."""

    home: Path
    """The home, whose runs can be looked at."""
    elsewhere: Path
    """A folder with an installed feed."""
    program: tuple[str, ...] = COMMAND
    """What is started."""

    def env(self, **more: str) -> dict[str, str]:
        """Return what a server's environment holds besides the usual."""
        path = os.pathsep.join(
            [str(self.elsewhere), *filter(None, [os.environ.get("PYTHONPATH", "")])]
        )
        held = {"DEEPDIVER_HOME": str(self.home), "PYTHONPATH": path, "DEEPDIVER_TIDES_KEY": KEY}
        return {**held, "DEEPDIVER_FEEDS": "watch_tides", **more}

    def stdio(self, *words: str, **more: str) -> StdioServerParameters:
        """Return how a client starts a server."""
        command, *first = self.program
        return StdioServerParameters(
            command=command, args=[*first, "mcp", *words], env=self.env(**more)
        )

    @contextmanager
    def started(self, *words: str, **more: str) -> Iterator[subprocess.Popen[str]]:
        """Start a server by hand."""
        process = subprocess.Popen(
            [*self.program, "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.env(**more)},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None and not stream.closed:
                    stream.close()

    @contextmanager
    def http(self, *words: str, **more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
        """Start a server on a free port; gives its address."""
        with self.started("--http", "--port", "0", *words, **more) as process:
            line = wait_for_line(process, "listening on ").splitlines()[-1]
            yield line.partition("listening on ")[2].strip(), process

    def runs(self) -> list[Run]:
        """Return the runs on record."""
        with closing(open_sqlite(self.home)) as store:
            return store.runs.list_all()

    def working(self) -> bool:
        """Whether a run has come to its first phase."""
        with closing(open_sqlite(self.home)) as store:
            return any(store.records.events(run.id) for run in store.runs.list_all())
