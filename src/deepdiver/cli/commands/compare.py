"""`deepdiver compare`: two runs side by side."""

from __future__ import annotations

import argparse
from contextlib import closing

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_items, print_json
from deepdiver.cli.settings import settings_of


def compare(args: argparse.Namespace) -> int:
    """Print what two runs both support, where they part, and at what cost."""
    import asyncio

    from deepdiver.cli.run_views import print_wrapped
    from deepdiver.run.compare_runs import (
        compare_runs,
        comparison_head,
        comparison_lines,
        comparison_record,
        comparison_rows,
    )
    from deepdiver.store import open_store

    with closing(open_store(settings_of(args))) as store:
        found = asyncio.run(compare_runs(args.run, args.other, store))
    if args.json:
        print_json(comparison_record(found))
        return 0
    print_wrapped(comparison_head(found))
    print_items(comparison_rows(found))
    print_wrapped(comparison_lines(found))
    return 0


COMPARE = Command(
    "compare",
    "compare two runs: where they agree and part, the cost",
    compare,
    takes="RUN RUN",
    arguments=(
        options.RUN,
        argument("other", metavar="RUN", help="the other run"),
    ),
    options=(options.JSON, options.HOME, options.DATABASE),
)
