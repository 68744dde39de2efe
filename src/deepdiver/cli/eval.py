"""`deepdiver eval`.

How good a strategy and a model are on a set of questions, in figures that code computes.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdiver.cli.library import Voice
from deepdiver.cli.words import one_line
from deepdiver.errors import StoppedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepdiver.core.settings import Settings

DONE, BELOW, IN_PART = 0, 1, 3
SECONDS = 10.0
"""Between two lines of progress."""
LOSSES = 5
"""Kinds of loss that are shown; the page has all."""


def do(args: argparse.Namespace, settings: Settings, voice: Voice) -> int:
    """Evaluate, say the figures, and return the exit code.

    3 where cases failed, 1 where a floor was not reached.

    Raises:
        UsageError: If there is no such set or no data.
    """
    # Surfaces do not import each other; this one is found by its name.
    measuring = import_module("deepdiver.evals.measuring")
    if settings.strategy == "auto":
        raise UsageError("an evaluation is of one strategy: give --strategy NAME")
    wish = measuring.Wish(
        args.set,
        data=(args.data or Path(measuring.DATA)).absolute(),
        limit=args.limit,
        jobs=args.jobs or 1,
        out=args.out,
        judge=args.judge or "",
    )
    code = DONE
    results = []
    try:
        for result, folder in measuring.measure(
            wish, settings, _said(args, voice), _counter(args, voice)
        ):
            results.append({**result, "folder": str(folder)})
            code = max(code, _code(result, measuring.missed))
            if not args.json:
                _show(result, folder, measuring.bounds, voice)
    except KeyboardInterrupt:
        raise StoppedError("stopped; what is done is kept, and the same command goes on") from None
    if args.json:
        voice.json(results[0] if len(results) == 1 else results)
    return code


def _code(result: dict[str, Any], missed: Callable[[str, dict[str, float]], list[str]]) -> int:
    if result["counts"]["failed"]:
        return IN_PART
    return BELOW if result["compared"] and missed(result["set"], result["figures"]) else DONE


def _said(args: argparse.Namespace, voice: Voice) -> Callable[[str], None]:
    return (lambda _: None) if args.quiet else lambda text: voice.err(one_line(text, 1_000))


def _counter(args: argparse.Namespace, voice: Voice) -> Callable[[str, int, int], None]:
    """Return what tells how far it is: now and then, and at the end."""
    last = time.monotonic()

    def counted(name: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if not args.quiet and (done == total or now - last >= SECONDS):
            last = now
            voice.err(f"{one_line(name)}: {done:,} of {total:,} cases")

    return counted


def _show(
    result: dict[str, Any], folder: Path, bounds: Callable[[str], list[Any]], voice: Voice
) -> None:
    """Say the figures of a set, with what is wanted of them."""
    wanted: dict[str, list[str]] = {}
    for bound in bounds(result["set"]) if result["compared"] else ():
        if bound.figure in result["figures"]:
            reached = "reached" if bound.met(result["figures"][bound.figure]) else "not reached"
            wanted.setdefault(bound.figure, []).append(f"{bound}: {reached}")
    voice.out(f"{one_line(result['set'])}: {result['made_by']}")
    rows = [
        (f"  {name}", f"{value:.3f}", "; ".join(wanted.get(name, ())))
        for name, value in result["figures"].items()
    ]
    rows += [(f"  {name}", str(count), "") for name, count in result["counts"].items()]
    voice.table(rows)
    for name, count in list(result["losses"].items())[:LOSSES]:
        voice.out(f"  lost {count}: {one_line(name)}")
    link = folder / "page.html"
    voice.out(f"  {link.as_uri() if sys.stdout.isatty() else link}\n")
