"""`deepdiver feed`: the intelligence feeds and what they need; or one of them, asked by itself."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from deepdiver.cli.library import Voice
from deepdiver.cli.words import one_line
from deepdiver.errors import NoEvidenceError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings
    from deepdiver.tools.osint.feed import FeedResult, ServiceAnswer

ANSWERED, IN_PART = 0, 3
NOTHING = "No data available"
SENTENCE = 2_000
"""Characters of a row that are shown: a row is one sentence."""


def do(args: argparse.Namespace, settings: Settings, voice: Voice) -> int:
    """List the feeds, or ask one; returns the exit code.

    Raises:
        UsageError: If there is no such feed, it cannot be used, or does not take these arguments.
        GatewayError: If none of its services answered.
        NoEvidenceError: If they answered that there is nothing.
    """
    if not args.name:
        return _list(args, settings, voice)
    told = _asked(args.name, arguments(args.given), settings)
    if args.json:
        voice.json(told.model_dump(mode="json"))
    else:
        for answer in told.answers:
            _show(answer, voice)
    for line in told.failures:
        voice.err(one_line(line, SENTENCE))
    if told.failures:
        return IN_PART
    if not any(answer.rows for answer in told.answers):
        raise NoEvidenceError(f"{NOTHING}: {args.name} was answered, and there is nothing")
    return ANSWERED


def _list(args: argparse.Namespace, settings: Settings, voice: Voice) -> int:
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
        voice.json({"feeds": listed})
        return ANSWERED
    for name, feed in feeds().items():
        lines = [f"{name} ({lacking[name] or 'ready'})", f"  {feed.about}"]
        voice.out("\n".join([*lines, *(f"    {line}" for line in shown_arguments(feed)), ""]))
    if not feeds():
        voice.err("no feeds are installed")
    return ANSWERED


def arguments(words: list[str]) -> dict[str, str]:
    """Return what a feed is asked, from words such as `country_code=UA`.

    Raises:
        UsageError: If a word is none of that kind, or names an argument twice.
    """
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(
                f"{one_line(word)!r} is no argument: write it as NAME=VALUE, such as "
                "country_code=UA"
            )
        if name in given:
            raise UsageError(f"the argument {name} is given twice")
        given[name] = value
    return given


def _asked(name: str, given: dict[str, str], settings: Settings) -> FeedResult:
    from deepdiver.tools.osint.feed import arguments_of
    from deepdiver.tools.osint.registry import call_feed, named_feed

    try:
        arguments_of(named_feed(name), given)
    except ValueError as error:
        raise UsageError(f"{name}: {error} (see deepdiver feed)") from None

    async def ask() -> FeedResult:
        from deepdiver.run.detached import detached_gateway

        async with detached_gateway(settings) as gateway:
            return await call_feed(name, given, gateway)

    return asyncio.run(ask())


def _show(answer: ServiceAnswer, voice: Voice) -> None:
    """Show what a service answered: a table where a person looks at it, lines elsewhere."""
    head = one_line(f"{answer.service}: {answer.title}", SENTENCE)
    rows = [(row.when, row.confidence, one_line(row.sentence, SENTENCE)) for row in answer.rows]
    if rows and sys.stdout.isatty():
        voice.out(_table(head, rows))
    else:
        voice.out("\n".join([head, *(f"- {sentence}" for _, _, sentence in rows)]))
    if not rows:
        voice.out(NOTHING)
    more = answer.total - len(answer.rows)
    notes = [f"{more} more rows are not shown" if more > 0 else "", answer.summary, answer.note]
    voice.out("\n".join([*(one_line(note, SENTENCE) for note in notes if note), ""]))


def _table(head: str, rows: Sequence[tuple[str, str, str]]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(head), title_justify="left", show_lines=False)
    for column in ("when", "sure", "what"):
        table.add_column(column, no_wrap=column != "what", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console()
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip("\n")
