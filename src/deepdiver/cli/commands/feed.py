"""`deepdiver feed`: list the intelligence feeds, or query one of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_err, print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import one_line
from deepdiver.errors import NoEvidenceError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings
    from deepdiver.tools.osint.feed import FeedResult, ServiceAnswer

ANSWERED, IN_PART = 0, 3
"""Exit codes."""
NO_DATA = "No data available"
LONGEST_ROW = 2_000
"""Characters of a row that are shown: a row is one sentence."""


def feed(args: argparse.Namespace) -> int:
    """List the feeds, or query one, and return the exit code.

    Raises:
        UsageError: If the feed does not exist, cannot be used, or does not take these arguments.
        GatewayError: If none of its services answered.
        NoEvidenceError: If the services answered without any data.
    """
    settings = settings_of(args)
    if not args.name:
        return _list_feeds(args, settings)
    told = _query(args.name, arguments_of_words(args.given), settings)
    if args.json:
        print_json(told.model_dump(mode="json"))
    else:
        for answer in told.answers:
            _print_answer(answer)
    for line in told.failures:
        print_err(one_line(line, LONGEST_ROW))
    if told.failures:
        return IN_PART
    if not any(answer.rows for answer in told.answers):
        raise NoEvidenceError(f"{NO_DATA}: {args.name} answered, but has nothing on this")
    return ANSWERED


def _list_feeds(args: argparse.Namespace, settings: Settings) -> int:
    from deepdiver.tools.osint.feed import shown_arguments
    from deepdiver.tools.osint.registry import feeds

    lacking = {name: feed.missing(settings) for name, feed in feeds().items()}
    if args.json:
        listed = [
            {
                "name": name,
                "about": feed.about,
                "kind": feed.kind.value,
                "ready": lacking[name] is None,
                "missing": lacking[name],
                "arguments": list(shown_arguments(feed)),
            }
            for name, feed in feeds().items()
        ]
        print_json({"feeds": listed})
        return ANSWERED
    for name, feed in feeds().items():
        lines = [f"{name} ({lacking[name] or 'ready'})", f"  {feed.about}"]
        print_out("\n".join([*lines, *(f"    {line}" for line in shown_arguments(feed)), ""]))
    if not feeds():
        print_err("no feeds are installed")
    return ANSWERED


def arguments_of_words(words: Sequence[str]) -> dict[str, str]:
    """Return the arguments for a feed, from words such as `country_code=UA`.

    Raises:
        UsageError: If a word is not of that form, or an argument is given twice.
    """
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(
                f"{one_line(word)!r} is not an argument: write NAME=VALUE, such as country_code=UA"
            )
        if name in given:
            raise UsageError(f"the argument {name} is given twice")
        given[name] = value
    return given


def _query(name: str, given: dict[str, str], settings: Settings) -> FeedResult:
    import asyncio

    from deepdiver.tools.osint.feed import arguments_of
    from deepdiver.tools.osint.registry import call_feed, named_feed

    try:
        arguments_of(named_feed(name), given)
    except ValueError as error:
        raise UsageError(f"{name}: {error} (see deepdiver feed)") from None

    async def call() -> FeedResult:
        from deepdiver.run.detached import detached_gateway

        async with detached_gateway(settings) as gateway:
            return await call_feed(name, given, gateway)

    return asyncio.run(call())


def _print_answer(answer: ServiceAnswer) -> None:
    """Print the answer of a service: as a table on a terminal, as lines elsewhere."""
    head = one_line(f"{answer.service}: {answer.title}", LONGEST_ROW)
    rows = [(row.when, row.confidence, one_line(row.sentence, LONGEST_ROW)) for row in answer.rows]
    if rows and sys.stdout.isatty():
        print_out(_table(head, rows))
    else:
        print_out("\n".join([head, *(f"- {sentence}" for _, _, sentence in rows)]))
    if not rows:
        print_out(NO_DATA)
    more = answer.total - len(answer.rows)
    notes = [f"{more} more rows are not shown" if more > 0 else "", answer.summary, answer.note]
    print_out("\n".join([*(one_line(note, LONGEST_ROW) for note in notes if note), ""]))


def _table(head: str, rows: Sequence[tuple[str, str, str]]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(head), title_justify="left", show_lines=False)
    for column in ("when", "confidence", "what"):
        table.add_column(column, no_wrap=column != "what", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")


FEED = Command(
    "feed",
    "list the intelligence feeds, or query one of them",
    feed,
    takes="[NAME]",
    arguments=(
        argument(
            "name",
            metavar="NAME",
            nargs="?",
            default="",
            help="the feed to query; without it, all feeds are listed",
        ),
        argument("given", metavar="ARGUMENT=VALUE", nargs="*", help="the arguments of the feed"),
    ),
    options=(options.JSON, options.HOME, options.DATABASE),
    intermixed=True,
)
