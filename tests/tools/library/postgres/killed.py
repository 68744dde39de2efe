"""A process that fills a library in PostgreSQL and kills itself before its Nth statement.

python killed.py NAME DOCUMENTS STEP, with the address as a line on its standard input
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import psycopg
from pydantic import SecretStr

from deepdiver.tools.library import refresh
from deepdiver.tools.library.postgres.library import PostgresLibrary

left = int(sys.argv[3])
refresh.BATCH = 2


class Counting(psycopg.Cursor[Any]):
    """Counts what is sent."""

    def execute(self, *args: Any, **more: Any) -> Any:
        step()
        return super().execute(*args, **more)

    def copy(self, *args: Any, **more: Any) -> Any:
        step()
        return super().copy(*args, **more)


def step() -> None:
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)


library = PostgresLibrary(SecretStr(sys.stdin.readline().strip()), sys.argv[1])
connect = psycopg.connect
psycopg.connect = lambda **given: connect(**given, cursor_factory=Counting)
library._connections.close()
library._connections._open = True
library.refresh([Path(sys.argv[2])])
library.embed()
library.close()
