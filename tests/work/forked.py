"""A worker in a process that was forked from one with everything imported (see `fleet.Forked`)."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from deepdiver.cli import main
from deepdiver.core.settings import load
from deepdiver.work.ahead import load_ahead

for _name in ("cli.commands.worker", "run.watch", "work.health", "work.postgres", "work.rounds"):
    importlib.import_module(f"deepdiver.{_name}")
load_ahead(load({"keys": {"openai": "a-scripted-key"}}, environ={}))


def run(words: list[str], environ: dict[str, str], file: Path) -> None:
    """Be `deepdiver WORDS`, with what it says in a file."""
    with file.open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.environ.clear()
    os.environ.update(environ)
    sys.exit(main(words))
