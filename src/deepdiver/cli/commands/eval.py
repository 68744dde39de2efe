"""`deepdiver eval`: measure a strategy and a model on a set of questions."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_err, print_json, print_out, print_table
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import one_line
from deepdiver.errors import StoppedError, UsageError
from deepdiver.strategies.table import AUTO

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepdiver.evals.evaluate_sets import EvalRequest

DONE, BELOW_FLOOR, CASES_FAILED = 0, 1, 3
"""Exit codes."""
PROGRESS_SECONDS = 10.0
"""Time between two lines of progress."""
SHOWN_LOSSES = 5
"""Kinds of loss that are printed; the page has all of them."""


def evaluate(args: argparse.Namespace) -> int:
    """Evaluate, print the figures, and return the exit code.

    Returns:
        3 if cases failed, 1 if a floor was not reached, else 0.

    Raises:
        UsageError: If the set does not exist or its data is missing.
    """
    from deepdiver.evals.evaluate_sets import evaluate_sets

    settings = settings_of(args)
    if args.strategy == AUTO:
        raise UsageError("an evaluation needs one strategy: give --strategy NAME")
    if settings.strategy == AUTO:
        # Figures are of one strategy, and the floors are those of this one.
        settings = settings.model_copy(update={"strategy": "popper"})
    code = DONE
    results = []
    try:
        for result, folder in evaluate_sets(
            _request_of(args), settings, _announcer(args), _counter(args)
        ):
            results.append({**result, "folder": str(folder)})
            code = max(code, _exit_code(result))
            if not args.json:
                _print_result(result, folder)
    except KeyboardInterrupt:
        raise StoppedError(
            "stopped; finished cases are kept, run the same command to continue"
        ) from None
    if args.json:
        print_json(results[0] if len(results) == 1 else results)
    return code


def _request_of(args: argparse.Namespace) -> EvalRequest:
    from deepdiver.evals.cases import Part
    from deepdiver.evals.evaluate_sets import EvalRequest
    from deepdiver.evals.public_sets import DATA

    return EvalRequest(
        args.set,
        data=(args.data or DATA).absolute(),
        limit=args.limit,
        part=Part(args.part or Part.REPORT),
        jobs=args.jobs or 1,
        out=args.out,
        judge=args.judge or "",
    )


def _exit_code(result: dict[str, Any]) -> int:
    from deepdiver.evals.floors import missed

    if result["counts"]["failed"]:
        return CASES_FAILED
    return BELOW_FLOOR if result["compared"] and missed(result["set"], result["figures"]) else DONE


def _announcer(args: argparse.Namespace) -> Callable[[str], None]:
    return (lambda _: None) if args.quiet else lambda text: print_err(one_line(text, 1_000))


def _counter(args: argparse.Namespace) -> Callable[[str, int, int], None]:
    """Return a function that prints progress every few seconds and at the end."""
    last = time.monotonic()

    def count(name: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if not args.quiet and (done == total or now - last >= PROGRESS_SECONDS):
            last = now
            print_err(f"{one_line(name)}: {done:,} of {total:,} cases")

    return count


def _print_result(result: dict[str, Any], folder: Path) -> None:
    """Print the figures of a set, with the floors and aims that apply to them."""
    wanted = _bounds_in_words(result)
    print_out(f"{one_line(result['set'])}: {result['made_by']}")
    rows = [
        (f"  {name}", f"{value:.3f}", "; ".join(wanted.get(name, ())))
        for name, value in result["figures"].items()
    ]
    rows += [(f"  {name}", str(count), "") for name, count in result["counts"].items()]
    print_table(rows)
    for name, count in list(result["losses"].items())[:SHOWN_LOSSES]:
        print_out(f"  lost {count}: {one_line(name)}")
    link = folder / "page.html"
    print_out(f"  {link.as_uri() if sys.stdout.isatty() else link}\n")


def _bounds_in_words(result: dict[str, Any]) -> dict[str, list[str]]:
    """Return the floors and aims by figure, each with whether it was reached."""
    from deepdiver.evals.floors import bounds

    wanted: dict[str, list[str]] = {}
    for bound in bounds(result["set"]) if result["compared"] else ():
        if bound.figure in result["figures"]:
            reached = "reached" if bound.met(result["figures"][bound.figure]) else "not reached"
            wanted.setdefault(bound.figure, []).append(f"{bound}: {reached}")
    return wanted


EVAL = Command(
    "eval",
    "measure a strategy and a model on a set of questions",
    evaluate,
    takes="SET",
    arguments=(
        argument(
            "set",
            metavar="SET",
            help="such as multihop/hotpotqa, multihop or drbench; or a file of JSON lines "
            "(docs/EVALUATION.md)",
        ),
    ),
    options=(
        options.STRATEGY,
        options.MODEL,
        options.FAST_MODEL,
        argument(
            "--limit", metavar="N", type=options.count, help="only the first N cases; default: all"
        ),
        argument(
            "--part",
            metavar="PART",
            choices=("report", "choose", "all"),
            help="report (default): the half on which nothing was chosen; choose: the other half; "
            "all",
        ),
        argument(
            "--jobs",
            metavar="N",
            type=options.count,
            help="number of parallel processes; default: 1",
        ),
        argument(
            "--out", metavar="DIR", type=options.path, help="write the results to this folder"
        ),
        argument(
            "--judge",
            metavar="MODEL",
            help="PROVIDER:MODEL that judges the reports as well; named with its figures",
        ),
        argument(
            "--data",
            metavar="DIR",
            type=options.path,
            help="folder of the public sets; default: ../shared/data",
        ),
        options.JSON,
        options.QUIET,
        options.HOME,
    ),
)
