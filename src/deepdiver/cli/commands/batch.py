"""`deepdiver batch`: many questions from a file, and their results in another."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument
from deepdiver.cli.output import print_err
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import several
from deepdiver.core.shown_text import to_json
from deepdiver.errors import StoppedError

if TYPE_CHECKING:
    from deepdiver.core.settings import Settings
    from deepdiver.work import Queue
    from deepdiver.work.batch import Collection, Row

LOOK_SECONDS = 1.0
"""Seconds between two looks at the runs."""
SAVE_SECONDS = 10.0
"""Seconds between two times that the results are written, and between two lines of progress where
there is no terminal for a bar."""
FAILED = 1
"""The exit code where a run of the batch has no report."""

Tell = Callable[[int, str], None]
"""Receives how many runs have ended, and a line about them."""


def batch(args: argparse.Namespace) -> int:
    """Research the questions of a file, and return the exit code.

    Raises:
        UsageError: If the file cannot be read, or a line of it cannot be used.
        StoppedError: If it was stopped; the same command goes on.
    """
    import asyncio

    from deepdiver.cli.interrupts import Interrupts
    from deepdiver.store import open_store
    from deepdiver.tools.check_documents import check_documents
    from deepdiver.work import open_queue
    from deepdiver.work.batch import read_batch

    settings = settings_of(args)
    if args.model_url:
        settings = settings_of(args, served=settings.model)
    check_documents(settings.documents)
    rows = read_batch(args.file)
    out = args.out or args.file.with_name(f"{args.file.stem}.results.jsonl")
    with closing(open_store(settings)) as store:
        queue = open_queue(store)
        interrupts = Interrupts(lambda: print_err("stopping; the same command goes on"))
        with interrupts, _progress(args, len(rows)) as tell:
            try:
                done = asyncio.run(interrupts.guard(_work(args, settings, queue, rows, out, tell)))
            except asyncio.CancelledError:
                raise StoppedError(
                    "the batch was stopped; the same command goes on with it"
                ) from None
    failed = sum(done.outcomes[name] for name in ("failed", "stopped", "waiting"))
    if not args.quiet:
        counts = ", ".join(f"{count} {name}" for name, count in done.outcomes.most_common())
        print_err(f"{several(len(rows), 'question')}: {counts}; results in {out}")
    return FAILED if failed else 0


async def _work(
    args: argparse.Namespace,
    settings: Settings,
    queue: Queue,
    rows: list[Row],
    out: Path,
    tell: Tell,
) -> Collection:
    import asyncio

    from deepdiver.gateway.store_threads import in_thread
    from deepdiver.work.batch import Collection, put_batch

    fields = {"owner": args.owner, "priority": args.priority}
    name = args.name or args.file.stem
    async with _crew(args, settings, queue):
        runs: list[str] = []
        putting = put_batch(queue, rows, settings, name, **fields)
        while (run := await in_thread(next, putting, "")) != "":
            runs.append(run)
            tell(0, f"queued {len(runs):,}")
        found, saved = Collection(queue.store, rows, runs), time.monotonic()
        try:
            while True:
                done = await in_thread(found.look)
                tell(done, "researching")
                if found.complete:
                    return found
                if time.monotonic() - saved > SAVE_SECONDS:
                    await in_thread(_save, out, found)
                    saved = time.monotonic()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await in_thread(_save, out, found)


@asynccontextmanager
async def _crew(args: argparse.Namespace, settings: Settings, queue: Queue) -> AsyncIterator[None]:
    """Work on the queue meanwhile: where there is no database, nobody else may."""
    from deepdiver.work import Crew

    here = args.concurrency
    if here is None:
        here = 0 if settings.database else 4
    if not here:
        yield
        return
    async with Crew(queue, settings, concurrency=here):
        yield


def _save(out: Path, found: Collection) -> None:
    from deepdiver.store.home_file import write_home_file

    write_home_file(out, "".join(to_json(result) + "\n" for result in found.results()))


@contextmanager
def _progress(args: argparse.Namespace, total: int) -> Iterator[Tell]:
    if args.quiet:
        yield lambda done, line: None
    elif sys.stderr.isatty():
        with _bar(total) as tell:
            yield tell
    else:
        told = [time.monotonic()]

        def tell(done: int, line: str) -> None:
            if time.monotonic() - told[0] > SAVE_SECONDS:
                told[0] = time.monotonic()
                print_err(f"{line}: {done:,} of {total:,} have ended")

        yield tell


@contextmanager
def _bar(total: int) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("queueing", total=total)
        yield lambda done, line: bars.update(task, completed=done, description=line)


BATCH = Command(
    "batch",
    "research every question of a file (JSON lines or CSV)",
    batch,
    takes="FILE",
    arguments=(
        argument(
            "file",
            metavar="FILE",
            type=options.path,
            help="one question in a line, as JSON, or a CSV file with a column question",
        ),
    ),
    options=(
        argument(
            "--out",
            metavar="FILE",
            type=options.path,
            help="the results as JSON lines; default: beside FILE",
        ),
        argument("--name", metavar="NAME", help="another name asks again; default: that of FILE"),
        options.CONCURRENCY,
        options.OWNER,
        options.PRIORITY,
        *options.RESEARCH,
        *options.WRITING,
        options.HOLD_UNCERTAIN,
        options.QUIET,
        options.HOME,
        options.DATABASE,
    ),
)
