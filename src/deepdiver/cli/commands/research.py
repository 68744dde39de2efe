"""The commands that work on a run: `deepdiver ask`, `resume`, `deepen` and `replay`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Coroutine
from contextlib import closing
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import print_err, print_json, print_out
from deepdiver.cli.settings import settings_of
from deepdiver.errors import StoppedError, UsageError

if TYPE_CHECKING:
    from deepdiver.cli.live_run import LiveRun
    from deepdiver.core.settings import Settings
    from deepdiver.run import Outcome

LONGEST_INPUT = 4_000_000
"""Bytes that are read from standard input: more than any question has, and little enough that a
mistake does no harm."""


def ask(args: argparse.Namespace) -> int:
    """Research a question, print the report, and return the exit code."""
    question = _read_question() if args.question == "-" else args.question
    settings = settings_of(args)
    if args.model_url:
        settings = settings_of(args, served=settings.model)
    from deepdiver.cli.live_run import work_on_run
    from deepdiver.cli.preflight import check_out
    from deepdiver.store import open_store
    from deepdiver.tools.check_documents import check_documents

    check_documents(settings.documents)
    check_out(args.out)
    if not args.json:
        question = _complete(question)
    if args.queue:
        return _queue(args, question, settings)

    def begin(live: LiveRun) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import research

        more: dict[str, Any] = {"out": args.out, "store": store, "ask": live.asker()}
        work = research(question, settings, on_event=live.take, **more)
        return live.with_language_note(work, question, settings)

    with closing(open_store(settings)) as store:
        return work_on_run(args, settings, store, begin)


def _queue(args: argparse.Namespace, question: str, settings: Settings) -> int:
    """Put a question into the queue, and print the id of its run."""
    from deepdiver.store import open_store
    from deepdiver.work import open_queue, order_of

    if args.out:
        raise UsageError("--out and --queue exclude each other: a worker writes the files")
    with closing(open_store(settings)) as store:
        fields = {"owner": args.owner, "priority": args.priority}
        run = open_queue(store).put(order_of(question, settings, **fields))
    if args.json:
        print_json({"id": run, "status": "queued"})
    else:
        print_out(run)
        if not args.quiet:
            print_err("it waits for a worker (deepdiver worker); deepdiver show RUN has the report")
    return 0


def _complete(question: str) -> str:
    """Return a question with what the person at the terminal says when it is asked back about."""
    import asyncio

    from deepdiver.cli import dialogue

    if not question.strip() or not dialogue.is_somebody_there():
        return question
    try:
        return asyncio.run(dialogue.complete_question(question, print_err, dialogue.read_line))
    except dialogue.PersonLeftError:
        raise StoppedError("stopped before the run began") from None


def _read_question() -> str:
    raw = sys.stdin.buffer.read(LONGEST_INPUT + 1) if sys.stdin else b""
    if len(raw) > LONGEST_INPUT:
        raise UsageError(
            "standard input is far too long for a question: put long material into a file and "
            "search it with --in"
        )
    return raw.decode("utf-8", "replace")


def resume(args: argparse.Namespace) -> int:
    """Continue a run, print the report, and return the exit code."""
    from deepdiver.cli.live_run import work_on_run
    from deepdiver.cli.preflight import check_out
    from deepdiver.store import open_store

    settings = settings_of(args)
    check_out(args.out)

    def begin(live: LiveRun) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import resume

        more: dict[str, Any] = {"out": args.out, "store": store}
        return resume(args.run, moved, on_event=live.take, ask=live.asker(), **more)

    with closing(open_store(settings)) as store:
        model = str(store.runs.get(args.run).settings.get("model", "embedded"))
        moved = settings_of(args, served=model) if args.model_url else settings
        return work_on_run(args, settings, store, begin)


def deepen(args: argparse.Namespace) -> int:
    """Research a section of a report further in a new run, and return the exit code."""
    from deepdiver.cli.live_run import work_on_run
    from deepdiver.cli.preflight import check_out
    from deepdiver.run.deepen import plan_deeper_look
    from deepdiver.store import open_store

    settings = settings_of(args)
    check_out(args.out)
    named = ("strategy", "model", "fast_model", "max_iterations", "approve")
    changes = {name: getattr(settings, name) for name in named if getattr(args, name)}

    def begin(live: LiveRun) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import research

        more: dict[str, Any] = {"out": args.out, "store": store, "deepens": deeper.run}
        work = research(
            deeper.question, deeper.settings, on_event=live.take, ask=live.asker(), **more
        )
        return live.with_news(work, deeper.run, store)

    with closing(open_store(settings)) as store:
        deeper = plan_deeper_look(args.run, args.section, settings, store, changes)
        if args.model_url:
            settings = settings_of(args, served=deeper.settings.model)
            deeper = plan_deeper_look(args.run, args.section, settings, store, changes)
        return work_on_run(args, settings, store, begin)


def replay(args: argparse.Namespace) -> int:
    """Run a finished run again from its journal, compare the reports, and return the exit code."""
    from deepdiver.cli.live_run import work_on_run
    from deepdiver.store import open_store

    settings = settings_of(args)

    def begin(live: LiveRun) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import replay

        return replay(args.run, settings, on_event=live.take, store=store)

    with closing(open_store(settings)) as store:
        code = work_on_run(args, settings, store, begin)
    if not args.quiet:
        print_err("the replay gave the report on record, byte for byte")
    return code


_SHOWN = (options.JSON, options.VERBOSE, options.QUIET, options.HOME, options.DATABASE)
_FILTERS = (
    argument(
        "--include",
        metavar="DOMAIN",
        action="append",
        help="only pages of this domain; may be repeated",
    ),
    argument(
        "--exclude",
        metavar="DOMAIN",
        action="append",
        help="no pages of this domain; may be repeated",
    ),
    argument("--language", metavar="LL", help="search in this language, such as en"),
    argument("--region", metavar="CC", help="search for this country, such as SE"),
    options.SINCE,
    options.UNTIL,
    argument(
        "--safe",
        metavar="LEVEL",
        choices=("off", "moderate", "strict"),
        help="safe search: off, moderate or strict; default: moderate",
    ),
    argument(
        "--results",
        metavar="N",
        type=options.whole_number("a number of results from 1 to 50", 1, 50),
        help="results for each query, 1 to 50; default: 6",
    ),
    flag("--no-pages", "do not fetch pages; read only the providers' extracts"),
)
ASK = Command(
    "ask",
    "research a question; the word ask may be left out",
    ask,
    takes="QUESTION",
    arguments=(
        argument(
            "question",
            metavar="QUESTION",
            help="the question to research; - reads it from standard input",
        ),
    ),
    options=(
        *options.RESEARCH,
        *options.WRITING,
        argument(
            "--as-of",
            metavar="DATE",
            type=options.day,
            help="research as if this were today's date, YYYY-MM-DD",
        ),
        options.APPROVE,
        options.OUT,
        flag("--past", "use the findings of past runs as hints"),
        options.HOLD_UNCERTAIN,
        flag("--queue", "put the question into the queue, and do not wait"),
        options.OWNER,
        options.PRIORITY,
        *_FILTERS,
        *_SHOWN,
    ),
)
RESUME = Command(
    "resume",
    "continue a run that stopped, failed or waits for you",
    resume,
    takes="RUN",
    arguments=(options.RUN,),
    options=(
        options.MODEL_URL,
        options.BUDGET,
        options.DEADLINE,
        options.OUT,
        options.HOLD_UNCERTAIN,
        *_SHOWN,
    ),
)
DEEPEN = Command(
    "deepen",
    "research section N of a report further, in a new run",
    deepen,
    takes="RUN N",
    arguments=(
        options.RUN,
        argument(
            "section",
            metavar="N",
            type=options.whole_number("the number of a section, from 1", 1, 999),
            help="number of the section, from 1",
        ),
    ),
    options=(
        options.STRATEGY,
        options.MODEL,
        options.FAST_MODEL,
        options.MODEL_URL,
        options.MAX_ITERATIONS,
        options.BUDGET,
        options.DEADLINE,
        *options.WRITING,
        options.APPROVE,
        options.OUT,
        options.HOLD_UNCERTAIN,
        *_SHOWN,
    ),
)
REPLAY = Command(
    "replay",
    "repeat a finished run from its journal, and compare",
    replay,
    takes="RUN",
    arguments=(options.RUN,),
    options=_SHOWN,
)
