"""`deepdiver update`: research a question again, and say what has changed, claim by claim."""

from __future__ import annotations

import argparse
from collections.abc import Coroutine
from contextlib import closing
from typing import TYPE_CHECKING, Any

from deepdiver.cli import options
from deepdiver.cli.command import Command
from deepdiver.cli.output import print_json
from deepdiver.cli.settings import settings_of

if TYPE_CHECKING:
    from deepdiver.cli.live_run import LiveRun
    from deepdiver.run.session import Outcome


def update(args: argparse.Namespace) -> int:
    """Research a finished run's question again, print what has changed, and return the exit code.

    Raises:
        UsageError: If the run is not finished.
    """
    import asyncio

    from deepdiver.cli.live_run import work_on_run
    from deepdiver.cli.preflight import check_out
    from deepdiver.cli.run_views import print_wrapped
    from deepdiver.run.update_run import plan_update, tell_update, update_lines, update_record
    from deepdiver.store import open_store

    settings = settings_of(args)
    check_out(args.out)
    named = ("model", "fast_model", "max_iterations")
    changes = {name: getattr(settings, name) for name in named if getattr(args, name)}

    def begin(live: LiveRun) -> Coroutine[Any, Any, Outcome]:
        from deepdiver.run import research

        more: dict[str, Any] = {"out": args.out, "store": store}
        return research(plan.question, plan.settings, on_event=live.take, ask=live.asker(), **more)

    def show(outcome: Outcome) -> None:
        if outcome.report is None:
            return
        found = asyncio.run(tell_update(plan.run, outcome.run.id, store, plan.settings))
        if args.json:
            print_json(update_record(found))
        else:
            print_wrapped(update_lines(found))

    with closing(open_store(settings)) as store:
        plan = plan_update(args.run, settings, store, changes)
        if args.model_url:
            settings = settings_of(args, served=plan.settings.model)
            plan = plan_update(args.run, settings, store, changes)
        return work_on_run(args, settings, store, begin, show)


UPDATE = Command(
    "update",
    "research a question again, and say which claims changed",
    update,
    takes="RUN",
    arguments=(options.RUN,),
    options=(
        options.MODEL,
        options.FAST_MODEL,
        options.MODEL_URL,
        options.MAX_ITERATIONS,
        options.BUDGET,
        options.DEADLINE,
        options.OUT,
        options.HOLD_UNCERTAIN,
        options.JSON,
        options.VERBOSE,
        options.QUIET,
        options.HOME,
        options.DATABASE,
    ),
)
