"""`deepdiver doctor`: check whether a run could start, and what is missing."""

from __future__ import annotations

import argparse

from deepdiver.cli import options
from deepdiver.cli.command import Command, flag
from deepdiver.cli.output import print_json, print_out
from deepdiver.cli.settings import settings_of


def doctor(args: argparse.Namespace) -> int:
    """Print what was checked; returns the exit code that a run would end with, or 0."""
    from deepdiver.service.examination import examine

    found = examine(settings_of(args), offline=args.offline, home=args.home)
    if args.json:
        print_json(found.as_json())
    else:
        print_out(found.as_text())
    return found.exit_code


DOCTOR = Command(
    "doctor",
    "check what is set up and reachable, and what is missing",
    doctor,
    options=(
        options.STRATEGY,
        options.MODEL,
        options.FAST_MODEL,
        options.SEARCH,
        options.IN,
        options.SAMPLE,
        flag("--offline", "do not try to reach any service"),
        options.JSON,
        options.HOME,
        options.DATABASE,
    ),
)
