"""The options that several commands share, and the conversion of their values.

An option that only one command has is declared beside that command.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

from deepdiver.cli.command import argument, flag

DEADLINES = ("model", "search", "fetch", "feed", "tool", "mcp")
"""The kinds of calls that have a deadline."""
PERIODS = {"m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
"""The units of a period, in seconds."""

# Values


def dollars(text: str) -> Decimal:
    """Return an amount in US dollars."""
    with contextlib.suppress(InvalidOperation):
        amount = Decimal(text.removeprefix("$"))
        if amount.is_finite() and amount >= 0:
            return amount
    raise argparse.ArgumentTypeError(
        f"expected an amount in US dollars, such as 0.50, not {text[:80]!r}"
    )


def day(text: str) -> date:
    """Return a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a date such as 2026-11-15, not {text[:40]!r}"
        ) from None


def deadline(text: str) -> tuple[str, float]:
    """Return a kind of call and the seconds that it may take."""
    kind, _, seconds = text.partition("=")
    with contextlib.suppress(ValueError):
        if kind in DEADLINES and (amount := float(seconds)) >= 0 and math.isfinite(amount):
            return kind, amount
    raise argparse.ArgumentTypeError(
        f"expected a kind of call and seconds, such as model=3600, not {text[:80]!r}; kinds are "
        f"{', '.join(DEADLINES)}"
    )


def period(text: str) -> int:
    """Return a period in seconds: a number of minutes, hours, days or weeks, up to a year."""
    number, unit = text[:-1], text[-1:]
    if number.isdecimal() and len(number) <= 6 and unit in PERIODS:
        seconds = int(number) * PERIODS[unit]
        if 0 < seconds <= 366 * PERIODS["d"]:
            return seconds
    raise argparse.ArgumentTypeError(
        f"expected a period up to a year, such as 30m, 12h, 7d or 2w, not {text[:40]!r}"
    )


def show_period(seconds: int) -> str:
    """Return a period as it is written on a command line: in days, hours or minutes."""
    unit = next(name for name in "dhm" if seconds % PERIODS[name] == 0)
    return f"{seconds // PERIODS[unit]}{unit}"


def whole_number(what: str, least: int, most: int) -> Callable[[str], int]:
    """Return the conversion of a whole number within bounds.

    Args:
        what: What an error message says was expected.
        least: The smallest number.
        most: The largest number.
    """

    def convert(text: str) -> int:
        if text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(f"expected {what}, not {text[:80]!r}")

    return convert


def priority(text: str) -> int:
    """Return a priority in the queue, from -100 to 100."""
    digits = text.removeprefix("-")
    if digits.isdecimal() and len(digits) <= 3 and int(digits) <= 100:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a number from -100 to 100, not {text[:80]!r}")


count = whole_number("a number from 1", 1, 999_999)


port = whole_number("a port from 0 to 65535", 0, 65_535)
"""Converts the number of a port."""


def path(text: str) -> Path:
    """Return a file or folder."""
    if not text.strip() or "\0" in text:
        raise argparse.ArgumentTypeError(f"expected a file or folder, not {text[:80]!r}")
    return Path(text).expanduser()


# Which run

RUN = argument("run", metavar="RUN", help="the run's id, or the first characters of it")

# How to research

STRATEGY = argument(
    "--strategy", metavar="NAME", help="research strategy, or auto; see `deepdiver strategies`"
)
MODEL = argument(
    "--model", metavar="NAME", help="PROVIDER:MODEL to judge and write; default: embedded"
)
FAST_MODEL = argument(
    "--fast-model", metavar="NAME", help="PROVIDER:MODEL for queries and reading; default: --model"
)
MAX_ITERATIONS = argument(
    "--max-iterations",
    metavar="N",
    type=whole_number("a number of rounds from 1 to 100", 1, 100),
    help="maximum number of research rounds",
)
LENGTH = argument(
    "--length",
    metavar="SIZE",
    choices=("brief", "standard", "long"),
    help="brief, standard or long: about 300, 1,200 or 4,000 words",
)
FORMAT = argument(
    "--format",
    metavar="NAME",
    choices=("auto", "report", "memo", "comparison", "timeline", "howto"),
    help="report, memo, comparison, timeline, howto, or auto: as suits the question",
)
AUDIENCE = argument("--audience", metavar="TEXT", help="for whom the report is written")
WRITE_IN = argument(
    "--write-in",
    metavar="LANG",
    dest="report_language",
    help="language of the report; default: that of the question",
)
MODEL_URL = argument(
    "--model-url", metavar="URL", help="address of the model's server, such as http://host:8000/v1"
)
DEADLINE = argument(
    "--deadline",
    metavar="KIND=S",
    action="append",
    type=deadline,
    help="seconds for a call of a KIND: model, search, fetch, feed, tool or mcp",
)
BUDGET = argument(
    "--budget",
    metavar="USD",
    type=dollars,
    help="spending limit; a call that could exceed it is not sent",
)
APPROVE = flag("--approve", "show the plan and wait until you accept or edit it")
HOLD_UNCERTAIN = flag("--hold-uncertain", "do not repeat calls that were sent but never answered")

# Where to search

SEARCH = argument(
    "--search",
    metavar="NAMES",
    action="append",
    help="search providers, NAME[,NAME]; see `deepdiver providers`",
)
FEEDS = argument(
    "--feeds",
    metavar="NAMES",
    action="append",
    help="intelligence feeds, NAME[,NAME], auto or none; see `deepdiver feed`",
)
IN = argument(
    "--in",
    metavar="PATH",
    action="append",
    type=path,
    dest="documents",
    help="search this file or folder; may be repeated",
)
SAMPLE = flag("--sample", "search the bundled sample library")
SINCE = argument(
    "--since", metavar="DATE", type=day, help="only sources published on or after this date"
)
UNTIL = argument(
    "--until", metavar="DATE", type=day, help="only sources published on or before this date"
)

# What several commands take together

RESEARCH = (
    *(STRATEGY, MODEL, FAST_MODEL, MODEL_URL),
    *(SEARCH, FEEDS, IN, SAMPLE),
    *(MAX_ITERATIONS, BUDGET, DEADLINE),
)
"""How to research: for who asks a question, or many."""
SERVED_RESEARCH = (IN, SAMPLE, STRATEGY, MODEL, FAST_MODEL, SEARCH, FEEDS, BUDGET)
"""The same for a server, whose clients ask the questions."""
WRITING = (LENGTH, FORMAT, AUDIENCE, WRITE_IN)
"""How the report is written."""

# In the queue

CONCURRENCY = argument(
    "--concurrency",
    metavar="N",
    type=whole_number("a number of runs from 0 to 200", 0, 200),
    help="runs at a time in this process; default: 4, of a batch with a database 0",
)
OWNER = argument("--owner", metavar="NAME", default="", help="who asks, for fair shares in a queue")
PRIORITY = argument(
    "--priority",
    metavar="N",
    type=priority,
    default=0,
    help="in a queue: from -100 to 100, higher ones first; default: 0",
)

# What is shown and where files are

OUT = argument("--out", metavar="DIR", type=path, help="write the files of the run to this folder")
JSON = flag("--json", "print one JSON object instead of text")
VERBOSE = flag("--verbose", "show the prompt and answer of each task, and each call")
QUIET = flag("--quiet", "show no progress")
HOME = argument(
    "--home", metavar="DIR", type=path, help="folder of the database; default: DEEPDIVER_HOME"
)
DATABASE = argument(
    "--database",
    metavar="URL",
    help="a PostgreSQL database instead, postgresql://…; default: DEEPDIVER_DATABASE",
)
YES = flag("--yes", "do not ask for confirmation")
