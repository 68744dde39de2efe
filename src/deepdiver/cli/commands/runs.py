"""The commands about runs on record: `deepdiver runs`, `show`, `stop` and `delete`."""

from __future__ import annotations

import argparse
import os
import time
from contextlib import closing
from typing import TYPE_CHECKING

from deepdiver.cli import options
from deepdiver.cli.command import Command, argument, flag
from deepdiver.cli.output import (
    confirm,
    print_err,
    print_json,
    print_report,
    print_table,
)
from deepdiver.cli.settings import settings_of
from deepdiver.errors import DeepdiverError, RunBusyError, UsageError

if TYPE_CHECKING:
    from deepdiver.core.record import Run
    from deepdiver.store import Store

STOP_SECONDS = 10.0
"""How long `stop` waits: a run checks every three seconds whether it was asked to stop."""


def list_runs(args: argparse.Namespace) -> int:
    """List all runs."""
    from deepdiver.store import open_store

    with closing(open_store(settings_of(args))) as store:
        runs = store.runs.list_all()
    if args.json:
        print_json({"runs": [run.model_dump(mode="json") for run in runs]})
    elif runs:
        print_table((run.id, run.status.value, run.question) for run in runs)
    else:
        print_err('there are no runs yet; start one: deepdiver --sample "Who runs Svedjan Ost AB?"')
    return 0


def show(args: argparse.Namespace) -> int:
    """Print the report of a run, and write its files if asked to.

    Raises:
        UsageError: If there is no report yet.
    """
    from deepdiver.cli.live_run import command_for
    from deepdiver.cli.preflight import check_out
    from deepdiver.core.record import Report
    from deepdiver.report.files import run_summary
    from deepdiver.report.spending import spending_of
    from deepdiver.store import open_store

    if args.why or args.egress:
        from deepdiver.cli import run_views

        return run_views.print_view(args)
    check_out(args.out)
    with closing(open_store(settings_of(args))) as store:
        run = store.runs.get(args.run)
        text = store.records.report(run.id)
        report = Report.model_validate_json(text) if text else None
        rows, cost = store.journal.rows(run.id), spending_of(store, run.id)
        if report is None and (args.out or not args.json):
            raise UsageError(
                f"run {run.id} is {run.status.value} and has no report yet; continue with: "
                f"{command_for(args, 'resume', run.id)}"
            )
        if report is not None and args.out:
            from deepdiver.run.files import write_outcome
            from deepdiver.run.record import load_outcome

            write_outcome(load_outcome(run, store), store, settings_of(args), args.out)
            print_err(f"files in {args.out}")
    if args.json:
        print_json(run_summary(run, report, rows, cost))
    elif report is not None:
        print_report(report)
    return 0


def stop(args: argparse.Namespace) -> int:
    """Stop a run that another process is working on.

    Raises:
        DeepdiverError: If it has not stopped in time.
    """
    from deepdiver.cli.live_run import command_for
    from deepdiver.core.record import FINISHED, RunStatus
    from deepdiver.store import open_store

    with closing(open_store(settings_of(args))) as store:
        run, was_running = _stop(store, args.run)
    if run.status is RunStatus.RUNNING:
        raise DeepdiverError(
            f"run {run.id} was asked to stop but is still running: its process is busy and will "
            "stop soon; if that process has died, the run can be resumed within 30 s"
        )
    if args.json:
        print_json({"id": run.id, "status": run.status.value, "was_running": was_running})
        return 0
    how = "" if was_running else "no process was working on it; "
    after = (
        "it is finished"
        if run.status in FINISHED
        else f"continue with: {command_for(args, 'resume', run.id)}"
    )
    print_err(f"run {run.id} is {run.status.value}: {how}{after}")
    return 0


def _stop(store: Store, name: str) -> tuple[Run, bool]:
    """Stop a run; returns the run as it is then, and whether a process was working on it."""
    from deepdiver.core.record import RunStatus

    run, owner = store.runs.get(name), f"stop:{os.getpid()}"
    try:
        store.leases.take(run.id, owner, time.time(), STOP_SECONDS)
    except RunBusyError:
        store.leases.ask_to_stop(run.id)
        ends = time.monotonic() + STOP_SECONDS
        while run.status is RunStatus.RUNNING and time.monotonic() < ends:
            time.sleep(0.1)
            run = store.runs.get(run.id)
        return run, True
    if run.status is RunStatus.QUEUED:
        from deepdiver.work import open_queue

        open_queue(store).cancel(run.id)
        run = store.runs.get(run.id)
    if run.status is RunStatus.RUNNING:  # its process died without setting a status
        store.runs.set_status(run.id, RunStatus.STOPPED)
        run = store.runs.get(run.id)
    store.leases.drop(run.id, owner)
    return run, False


def delete(args: argparse.Namespace) -> int:
    """Delete a run and its files."""
    from deepdiver.report.removal import remove_run
    from deepdiver.store import open_store

    settings = settings_of(args)
    with closing(open_store(settings)) as store:
        run = store.runs.get(args.run)
        question = " ".join(run.question.split())[:60]
        if not args.yes and not confirm(f"Delete run {run.id} ({question})? [y/N] "):
            print_err(f"run {run.id} was not deleted")
            return 0
        remove_run(run.id, settings, store)
    if args.json:
        print_json({"id": run.id, "deleted": True})
    else:
        print_err(f"run {run.id} was deleted")
    return 0


_OUTPUT = (options.JSON, options.HOME, options.DATABASE)
RUNS = Command("runs", "list all runs, newest first", list_runs, options=_OUTPUT)
SHOW = Command(
    "show",
    "print the report of a run; --out writes its files again",
    show,
    takes="RUN",
    arguments=(options.RUN,),
    options=(
        argument(
            "--why",
            metavar="N",
            help="show everything behind sentence N; `list` shows the numbers",
        ),
        flag("--egress", "show what the run sent out: hosts, queries, bytes, passages"),
        options.OUT,
        *_OUTPUT,
    ),
)
STOP = Command(
    "stop",
    "stop a run that another process is working on",
    stop,
    takes="RUN",
    arguments=(options.RUN,),
    options=_OUTPUT,
)
DELETE = Command(
    "delete",
    "delete a run and its files",
    delete,
    takes="RUN",
    arguments=(options.RUN,),
    options=(options.YES, *_OUTPUT),
)
