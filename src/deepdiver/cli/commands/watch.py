"""`deepdiver watch`: ask a run's standing queries on a schedule, and tell only if a claim moved."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from contextlib import closing
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import print_err, print_error, print_items, print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import one_line, several
from deepdiver.core.shown_text import to_json
from deepdiver.errors import UsageError

if TYPE_CHECKING:
    from deepdiver.run.watch import Attempt, Watcher
    from deepdiver.run.watch_list import News, Watch
    from deepdiver.store import Store

MOVED = 10
"""The exit code if a claim moved."""
EMPTY = "nothing is watched; put a finished run on the list: deepdiver watch RUN --every 7d"
AGAIN = "told again: the process that began to tell this was killed, and may have done so"


def watch(args: argparse.Namespace) -> int:
    """Watch a run or all of them, show the list, or take a run off it; return the exit code.

    Raises:
        UsageError: If the options do not fit each other, or the run is not finished.
    """
    from deepdiver.run.watch_list import WatchList
    from deepdiver.store import open_store

    _check(args)
    settings = settings_of(args)
    with closing(open_store(settings)) as store:
        if args.list:
            return _list(args, WatchList(settings.home, store).all())
        if args.stop:
            return _stop(args, WatchList(settings.home, store))
        watcher = _watcher(args, store)
        chosen = [watcher.add(args.run, args.every)] if args.run else watcher.watches.all()
        if not chosen:
            raise UsageError(EMPTY)
        return _once(args, watcher, chosen) if args.once else _keep(args, watcher, chosen)


def _check(args: argparse.Namespace) -> None:
    given = [name for name in ("once", "list", "stop") if getattr(args, name)]
    if len(given) > 1:
        raise UsageError(f"--{given[0]} and --{given[1]} exclude each other: leave one out")
    if args.stop and not args.run:
        raise UsageError("--stop needs the RUN that is not to be watched any more")
    if args.list and args.run:
        raise UsageError("--list takes no RUN: it shows every watched run")
    if args.every and not args.run:
        raise UsageError("--every needs the RUN that is to be watched")
    if args.every and args.stop:
        raise UsageError("--every and --stop exclude each other: leave one out")


def _watcher(args: argparse.Namespace, store: Store) -> Watcher:
    from deepdiver.cli.run_views import print_wrapped
    from deepdiver.run.watch import Watcher

    settings = settings_of(args)
    named = ("model", "fast_model", "max_iterations")
    changes = {name: getattr(settings, name) for name in named if getattr(args, name)}
    note = (lambda line: None) if args.quiet else _say

    def tell(watch: Watch, news: News, again: bool) -> None:
        if args.json:
            print_out(to_json(_news_record(watch, news, again)))
        else:
            print_wrapped([*([AGAIN] if again else []), *news.lines, ""])

    return Watcher(store, settings, tell, note, changes)


def _news_record(watch: Watch, news: News, again: bool) -> dict[str, Any]:
    return {
        "watch": watch.run,
        "at": news.at,
        "stirred": [item.model_dump(mode="json") for item in news.stirred],
        **({"told_again": True} if again else {}),
        **news.record,
    }


def _once(args: argparse.Namespace, watcher: Watcher, chosen: list[Watch]) -> int:
    """Ask a run that was named now, or those that are due."""
    import asyncio

    async def work() -> list[Attempt]:
        attempts = []
        for item in chosen:
            if args.run or watcher.is_due(item):
                attempts.append(await watcher.attend(item))
                _report(args, attempts[-1])
        return attempts

    attempts = asyncio.run(work())
    failed = [attempt.error.exit_code for attempt in attempts if attempt.error]
    if failed:
        return failed[0]
    return MOVED if any(attempt.moved for attempt in attempts) else 0


def _keep(args: argparse.Namespace, watcher: Watcher, chosen: list[Watch]) -> int:
    """Ask in a loop, in the foreground, until it is stopped."""
    import asyncio

    if not args.quiet:
        for item in chosen:
            asked = options.show_period(item.every)
            _say(f"watching {item.run} every {asked}; next {_time(item.due.isoformat())}")
        print_err("Ctrl-C ends this; the list stays, and --list shows it")
    asyncio.run(
        watcher.keep_watch(
            lambda attempt: _report(args, attempt), chosen[0].run if args.run else ""
        )
    )
    return 0


def _say(line: str) -> None:
    """Print a line on standard error; on a terminal, whole words of it on each."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        line = textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False)
    print_err(line)


def _report(args: argparse.Namespace, attempt: Attempt) -> None:
    """Say on standard error what came of a round; a failure even if --quiet."""
    run = attempt.watch.run
    if attempt.error is not None:
        print_error(f"{run}: {attempt.error} (next try {_time(attempt.watch.retry)})")
    elif attempt.busy:
        if not args.quiet:
            _say(f"{run}: another process is working on it")
    elif not args.quiet:
        asked = [f"asked {several(attempt.queries, 'standing query', 'standing queries')}"]
        found = "a claim moved" if attempt.moved else "no claim moved"
        if not attempt.stirred and not attempt.moved:
            found = "nothing new"
        told = ", ".join([*(asked if attempt.queries else []), found])
        _say(f"{run}: {told}; next {_time(attempt.watch.due.isoformat())}")


def _time(at: str) -> str:
    return f"{at[:10]} {at[11:16]} UTC"


def _list(args: argparse.Namespace, watches: list[Watch]) -> int:
    if args.json:
        print_json({"watches": [_watch_record(item) for item in watches]})
    elif not watches:
        print_err(EMPTY)
    else:
        print_items([_row(item) for item in watches])
    return 0


def _row(item: Watch) -> tuple[str, str, str]:
    moved = f", last {_time(item.told[-1].at)}" if item.told else ""
    state = [
        f"every {options.show_period(item.every)}",
        f"next {_time(item.due.isoformat())}",
        f"moved {several(len(item.told), 'time')}{moved}",
        *([f"trouble: {one_line(item.trouble)}"] if item.trouble else []),
    ]
    return item.run, "; ".join(state), item.question


def _watch_record(item: Watch) -> dict[str, Any]:
    kept = ("run", "question", "every", "base", "asked", "trouble")
    told = [{"at": news.at, "before": news.before, "after": news.after} for news in item.told]
    return {
        **{name: getattr(item, name) for name in kept},
        "next": item.due.isoformat(),
        "unfinished": item.round.run if item.round else "",
        "told": told,
    }


def _stop(args: argparse.Namespace, watches: Any) -> int:
    run = watches.find(args.run).run
    watches.drop(run)
    if args.json:
        print_json({"run": run, "watched": False})
    else:
        print_err(f"run {run} is not watched any more; its runs and reports stay")
    return 0


WATCH = Command(
    "watch",
    "ask again on a schedule, and tell only if a claim moved",
    watch,
    takes="[RUN]",
    arguments=(
        argument(
            "run",
            metavar="RUN",
            nargs="?",
            default="",
            help="the finished run to watch; without it, every run on the list",
        ),
    ),
    options=(
        argument(
            "--every",
            metavar="PERIOD",
            type=options.period,
            help="how often to ask, such as 30m, 12h, 7d or 2w; default: 7d",
        ),
        flag("--once", "ask RUN now, or every run that is due, and end; for a timer or cron"),
        flag("--list", "show the watched runs"),
        flag("--stop", "watch RUN no longer"),
        options.MODEL,
        options.FAST_MODEL,
        options.MAX_ITERATIONS,
        options.BUDGET,
        options.DEADLINE,
        flag("--json", "print news as JSON, one object in a line; of a list, one object"),
        options.QUIET,
        options.HOME,
        options.DATABASE,
    ),
)
