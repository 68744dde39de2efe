"""`deepdiver audit`: check a report that anybody wrote against what it cites."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_err, print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import clean
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.run.auditor.audit_file import ReportAudit

FALLS_SHORT = 9
"""The exit code if the report falls short of what the command line asks of it."""
PIPED_WIDTH = 100
"""Columns if the output is not a terminal."""


def audit(args: argparse.Namespace) -> int:
    """Audit a report, and return whether it is as good as was asked.

    Raises:
        UsageError: If the report or the folder of sources cannot be read.
    """
    import asyncio

    from deepdiver.cli.preflight import check_out
    from deepdiver.run.auditor.audit_file import audit_file

    check_out(args.out)
    refused = _refused_kinds(args.fail_on or [])
    tell = _say_nothing if args.quiet or args.json else print_err
    settings = settings_of(args)
    if args.model_url:
        settings = settings_of(args, served=settings.model)
    found = asyncio.run(audit_file(args.file, settings, sources=args.sources, tell=tell))
    _show(args, found)
    problems = found.problems()
    short = [f"{kind}: {many}" for kind, many in problems.items() if many and kind in refused]
    if args.require is not None and 100 * found.share < args.require:
        short.insert(0, f"supported: {found.share:.0%}, not {args.require} %")
    if short:
        print_err(f"the report falls short: {'; '.join(short)}")
    return FALLS_SHORT if short else 0


def _say_nothing(line: str) -> None:
    """Drop a line about what is being done."""


def _show(args: argparse.Namespace, found: ReportAudit) -> None:
    """Write the files of an audit if they are wanted, and print it."""
    from deepdiver.core.shown_text import to_json
    from deepdiver.report.files import write_all
    from deepdiver.run.auditor.show_audit import audit_lines, audit_page, audit_record

    if args.out:
        record = to_json(audit_record(found), indent=1) + "\n"
        write_all(args.out, {"audit.html": audit_page(found), "audit.json": record})
        print_err(f"files in {args.out}")
    if args.json:
        print_json(audit_record(found))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
    print_out(clean("\n".join(audit_lines(found, width))))


def _refused_kinds(given: list[str]) -> set[str]:
    from deepdiver.run.auditor.audit_file import PROBLEMS

    named = {name.strip() for text in given for name in text.split(",") if name.strip()}
    if named == {"any"}:
        return set(PROBLEMS)
    if unknown := sorted(named - set(PROBLEMS)):
        raise UsageError(
            f"--fail-on: there is no {unknown[0]!r}; there are any, {', '.join(PROBLEMS)}"
        )
    return named


AUDIT = Command(
    "audit",
    "check anybody's report against the pages it cites",
    audit,
    takes="FILE",
    arguments=(
        argument(
            "file",
            metavar="FILE",
            type=options.path,
            help="the report: Markdown, HTML, DOCX or PDF, with links or notes",
        ),
    ),
    options=(
        argument(
            "--sources",
            metavar="DIR",
            type=options.path,
            help="take the cited pages from this folder instead of fetching them",
        ),
        argument(
            "--require",
            metavar="PERCENT",
            type=options.whole_number("a percentage from 0 to 100", 0, 100),
            help="exit with 9 if less of what is stated is supported",
        ),
        argument(
            "--fail-on",
            metavar="KINDS",
            action="append",
            help="exit with 9 if there is a problem of a kind: any, or KIND[,KIND] of "
            "contradicted, not, partly, unreachable, uncited, dangling, invented, sums, conflicts",
        ),
        options.MODEL,
        options.MODEL_URL,
        options.BUDGET,
        options.DEADLINE,
        argument("--out", metavar="DIR", type=options.path, help="write audit.html and audit.json"),
        options.JSON,
        options.QUIET,
        options.HOME,
        options.DATABASE,
    ),
)
