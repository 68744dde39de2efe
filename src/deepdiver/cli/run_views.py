"""What `deepdiver show` shows besides a report: the trail of a sentence, and what was sent out."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from deepdiver.cli.output import print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import clean
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.core.record import Report, Run
    from deepdiver.store import Store

PIPED_WIDTH = 100
"""Columns if the output is not a terminal."""


def print_view(args: argparse.Namespace) -> int:
    """Print what stands behind a sentence, or what a run sent out.

    Raises:
        UsageError: If the run has no report yet, or no such sentence.
    """
    from deepdiver.store import open_store

    if args.why and args.egress:
        raise UsageError("--why and --egress exclude each other: leave one out")
    with closing(open_store(settings_of(args))) as store:
        run = store.runs.get(args.run)
        if args.egress:
            _print_egress(args, run, store)
        elif args.why == "list":
            _print_numbers(args, _report_of(run, store))
        else:
            _print_trail(args, run, store)
    return 0


def _report_of(run: Run, store: Store) -> Report:
    from deepdiver.core.record import Report

    text = store.records.report(run.id)
    if text is None:
        raise UsageError(f"run {run.id} is {run.status.value} and has no report yet")
    return Report.model_validate_json(text)


def print_wrapped(lines: Iterable[str]) -> None:
    """Print lines, wrapped to the terminal with their indents kept."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    shown: list[str] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        wrapped = textwrap.wrap(
            clean(line.strip()), width, initial_indent=indent, subsequent_indent=f"{indent}  "
        )
        shown += wrapped or [""]
    print_out("\n".join(shown))


def _print_numbers(args: argparse.Namespace, report: Report) -> None:
    from deepdiver.report.sentence_trail import placed_sentences

    listed = placed_sentences(report)
    if args.json:
        print_json(
            {
                "sentences": [
                    {"number": item.number, "section": item.section, "text": item.sentence.text}
                    for item in listed
                ]
            }
        )
    else:
        print_wrapped(f"{item.number}. {item.sentence.text}" for item in listed)


def _print_trail(args: argparse.Namespace, run: Run, store: Store) -> None:
    from deepdiver.report.sentence_trail import follow_sentence, trail_lines, trail_record
    from deepdiver.report.spending import spending_of
    from deepdiver.run.record import load_ledger

    if not args.why.isdecimal() or len(args.why) > 6:
        raise UsageError(f"--why takes the number of a sentence, or list, not {args.why[:40]!r}")
    trail = follow_sentence(
        _report_of(run, store),
        int(args.why),
        load_ledger(store, run.id),
        store.journal.rows(run.id),
        store.texts.get,
        spending_of(store, run.id).unpriced,
    )
    if args.json:
        print_json(trail_record(trail))
    else:
        print_wrapped(trail_lines(trail))


def _print_egress(args: argparse.Namespace, run: Run, store: Store) -> None:
    from deepdiver.report.files import write_all
    from deepdiver.run.egress import egress_lines, egress_page, make_receipt

    receipt = make_receipt(run, store, settings_of(args))
    if args.out:
        write_all(args.out, {"egress.html": egress_page(receipt)})
    if args.json:
        print_json(receipt)
    else:
        print_wrapped(egress_lines(receipt))
