"""`deepdiver worker`: work on the runs that wait in the queue, several at a time."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import print_err, print_error, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.cli.terminal_text import clean, several
from deepdiver.errors import StoreUnreachableError, UsageError

if TYPE_CHECKING:
    import asyncio

    from deepdiver.core.settings import Settings
    from deepdiver.run.watch_list import News, Watch
    from deepdiver.work import Crew, Queue

CONCURRENCY = 4
"""Runs at a time, where nobody says."""
RETRY_SECONDS = 1.0
"""Seconds between two attempts to reach the database at the start."""
LOOK_SECONDS = 0.5
"""Seconds between two looks whether anything is left to do."""


def worker(args: argparse.Namespace) -> int:
    """Work on queued runs until SIGTERM or Ctrl-C, or until none is left.

    Raises:
        UsageError: If the place for its health cannot be listened at.
    """
    if args.concurrency == 0:
        raise UsageError("a worker works on one run at a time at least: --concurrency 1")
    import asyncio

    from deepdiver.gateway.trace import export_spans
    from deepdiver.work import Crew
    from deepdiver.work.ahead import load_ahead

    settings = settings_of(args)
    load_ahead(settings)
    logging.basicConfig(level=logging.INFO if args.verbose else logging.WARNING, stream=sys.stderr)
    queue = _open(settings)
    with closing(queue.store), export_spans(settings):
        asyncio.run(_work(args, settings, queue, Crew))
    return 0


def _open(settings: Settings) -> Queue:
    """Open the queue; a server that cannot be reached is waited for, as later on."""
    from deepdiver.store import open_store
    from deepdiver.work import open_queue

    said = False
    while True:
        try:
            return open_queue(open_store(settings))
        except StoreUnreachableError as error:
            if not said:
                print_error(f"{error}; waiting for it")
            said = True
            time.sleep(RETRY_SECONDS)


async def _work(
    args: argparse.Namespace, settings: Settings, queue: Queue, make: type[Crew]
) -> None:
    import asyncio

    slots = args.concurrency or CONCURRENCY
    # Signals first: a worker that has taken an order gives it back, however early it is stopped.
    async with _signals() as asked, make(queue, settings, concurrency=slots) as crew:
        with ExitStack() as stack, ExitStack() as watching:
            place = _listen(args, crew, queue, stack)
            if not args.no_watch:
                watching.enter_context(_watches(settings, queue))
            if not args.quiet:
                runs = several(slots, "run")
                print_err(f"worker {crew.name}: {runs} at a time{place}; Ctrl-C drains it")
            await _wait(args, crew, queue, asked)
            if not args.quiet and crew.running:
                count = several(len(crew.running), "run")
                print_err(f"stopping: {count} will be gone on with; Ctrl-C again ends it at once")
            await asyncio.gather(crew.drain(), asyncio.to_thread(watching.close))
    if not args.quiet:
        done, back = crew.counts["ended"], crew.counts["given_back"]
        print_err(f"worker {crew.name}: ended {several(done, 'run')}, gave back {back}")


def _listen(args: argparse.Namespace, crew: Crew, queue: Queue, stack: ExitStack) -> str:
    """Serve the worker's health, and return where, for people."""
    from deepdiver.work.health import HOST, PORT, serving

    if args.no_health:
        return ""
    if args.health is not None:
        host, port = args.health
        port = stack.enter_context(serving(crew, queue, host, port))
        return f"; health at {host}:{port}"
    for port in (PORT, 0):  # another worker of this machine may have the usual one
        with suppress(UsageError):
            return f"; health at {HOST}:{stack.enter_context(serving(crew, queue, HOST, port))}"
    return ""


def _watches(settings: Settings, queue: Queue) -> AbstractContextManager[None]:
    """Attend to watched runs when they are due; what moved is printed on standard output."""
    from deepdiver.run.watch import Watcher
    from deepdiver.work.rounds import attending, order_runs

    def tell(watch: Watch, news: News, again: bool) -> None:
        print_out("\n".join(clean(line) for line in news.lines))

    return attending(Watcher(queue.store, settings, tell, make=order_runs(queue)))


@asynccontextmanager
async def _signals() -> AsyncIterator[asyncio.Event]:
    """Give an event that the first SIGTERM or Ctrl-C sets; the second one ends the process."""
    import asyncio

    asked, loop = asyncio.Event(), asyncio.get_running_loop()

    def stop() -> None:
        asked.set()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield asked
    finally:
        stop()


async def _wait(args: argparse.Namespace, crew: Crew, queue: Queue, asked: asyncio.Event) -> None:
    """Wait until somebody asks to stop or, where that is wanted, until nothing is left to do."""
    import asyncio

    from deepdiver.gateway.store_threads import in_thread

    if not args.once:
        await asked.wait()
    while not asked.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), LOOK_SECONDS)
        if not crew.running and not await in_thread(queue.owners):
            return


def _place(text: str) -> tuple[str, int]:
    """Return a host and a port."""
    from deepdiver.work.health import HOST

    host, _, port = text.rpartition(":")
    if port.isdecimal() and len(port) <= 5 and int(port) < 65_536:
        return host.strip("[]") or HOST, int(port)
    raise argparse.ArgumentTypeError(f"expected [HOST:]PORT, not {text[:80]!r}")


WORKER = Command(
    "worker",
    "work on the runs that wait in the queue",
    worker,
    options=(
        options.CONCURRENCY,
        flag("--once", "end when nothing waits any more"),
        argument(
            "--health",
            metavar="[HOST:]PORT",
            type=_place,
            help="where to serve /healthz, /readyz and /metrics; default: 127.0.0.1:8766",
        ),
        flag("--no-health", "serve none of these"),
        flag("--no-watch", "attend to no watched run"),
        options.VERBOSE,
        options.QUIET,
        options.HOME,
        options.DATABASE,
    ),
)
