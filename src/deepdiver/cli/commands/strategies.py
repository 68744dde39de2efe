"""`deepdiver strategies`: list the research strategies."""

from __future__ import annotations

import argparse

from deepdiver.cli import options
from deepdiver.cli.command import Command
from deepdiver.cli.output import print_json, print_out


def list_strategies(args: argparse.Namespace) -> int:
    """List the strategies, each with when to choose it and what its loop is."""
    from deepdiver.strategies.table import TABLE

    if args.json:
        listed = [
            {
                "name": name,
                "loop": entry.loop,
                "choose": entry.choose,
                "max_iterations": entry.max_iterations,
            }
            for name, entry in TABLE.items()
        ]
        print_json({"strategies": listed})
        return 0
    for name, entry in TABLE.items():
        print_out(f"{name}\n  {entry.choose}\n  {entry.loop}\n")
    return 0


STRATEGIES = Command(
    "strategies",
    "list the research strategies",
    list_strategies,
    options=(options.JSON, options.HOME),
)
