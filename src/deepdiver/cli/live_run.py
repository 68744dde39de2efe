"""Working on a run from a terminal: progress, Ctrl-C, questions to the person, the outcome."""

from __future__ import annotations

import argparse
import asyncio
import functools
import shlex
import sys
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from deepdiver.cli.dialogue import (
    PersonLeftError,
    Say,
    ask_person,
    discard_typed_ahead,
    is_somebody_there,
    read_line,
)
from deepdiver.cli.interrupts import Interrupts
from deepdiver.cli.output import SAVED, print_err, print_error, print_json, print_report
from deepdiver.cli.preflight import language_note
from deepdiver.cli.progress import View, open_view
from deepdiver.cli.terminal_text import money, one_line, spent_money
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import FINISHED, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import LostTextError, RunBusyError, StoppedError
from deepdiver.gateway.trace import export_spans
from deepdiver.report.files import run_summary
from deepdiver.report.spending import Spending

if TYPE_CHECKING:
    from deepdiver.core.events import Event
    from deepdiver.run import Ask, Outcome
    from deepdiver.store import Store

T = TypeVar("T")

WAITING = OUTCOMES[RunStatus.PARTIAL].exit_code
"""The exit code of a run that waits for a person."""


class LiveRun:
    """One run that is being worked on, shown in a view."""

    def __init__(self, view: View, say: Say) -> None:
        """Show the run in a view.

        Args:
            view: Shows events.
            say: Shows the lines of a dialogue with the person, while the view is closed.
        """
        self._view, self._say = view, say
        self._interrupts = Interrupts(self._stopping)
        self._asking = False
        self.run = ""
        """The run's id, once it is known."""

    def take(self, event: Event) -> None:
        """Show an event, and remember the id of the run."""
        if event.type == "run_started":
            self.run = event.run
        self._view.take(event)

    def do(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do the work and return its outcome.

        Args:
            begin: Returns the work; it may take a while, because the view is open already.

        Raises:
            StoppedError: If it was stopped before there was a run.
        """
        with self._interrupts:
            self._view.open()
            try:
                return asyncio.run(self._interrupts.guard(begin()))
            except asyncio.CancelledError:
                raise StoppedError("stopped before the run began") from None
            finally:
                self._view.close()

    async def with_language_note(
        self, work: Coroutine[Any, Any, T], question: str, settings: Settings
    ) -> T:
        """Do the work, then warn if the documents are in another language than the question."""
        outcome = await work
        if note := await asyncio.to_thread(language_note, question, settings):
            self._view.note(note)
        return outcome

    async def with_news(
        self, work: Coroutine[Any, Any, Outcome], before: str, store: Store
    ) -> Outcome:
        """Do the work, then say whether it has found more than an earlier run had."""
        from deepdiver.run.deepen import tell_news

        outcome = await work
        if outcome.report is not None:
            self._view.note(tell_news(outcome.report, before, store))
        return outcome

    def asker(self) -> Ask | None:
        """Return the function that asks the person at this terminal, or None if there is nobody."""
        if not is_somebody_there():
            return None

        async def ask(shown: dict[str, Any]) -> dict[str, Any]:
            self._view.close()
            self._asking = True
            discard_typed_ahead()
            try:
                return await ask_person(shown, self._say, read_line)
            except PersonLeftError:
                await self._interrupts.stop()
            finally:
                self._asking = False
                self._view.open()

        return ask

    def _stopping(self) -> None:
        if self._asking:
            self._say("")  # the terminal shows ^C behind the prompt
        self._view.note("stopping and saving; press Ctrl-C again to stop at once")


def work_on_run(
    args: argparse.Namespace,
    settings: Settings,
    store: Store,
    begin: Callable[[LiveRun], Coroutine[Any, Any, Outcome]],
    show: Callable[[Outcome], None] | None = None,
) -> int:
    """Work on a run, print its outcome, and return the exit code.

    Args:
        args: The command line.
        settings: Its settings.
        store: Where the run is saved.
        begin: Returns the work.
        show: Prints the outcome; by default its report, or its summary as JSON.
    """
    began = time.monotonic()
    view = open_view(sys.stderr, quiet=args.quiet, verbose=settings.verbose)
    live = LiveRun(view, print_err)
    try:
        with export_spans(settings):
            outcome = live.do(lambda: begin(live))
    except Exception as error:
        if live.run:
            error.add_note(f"{SAVED}{command_for(args, 'resume', live.run)}")
        raise
    (show or functools.partial(_print_outcome, args, store))(outcome)
    return _finish(args, outcome, time.monotonic() - began)


def command_for(args: argparse.Namespace, name: str, run: str) -> str:
    """Return the command line that does something with a run of the same home and database.

    The address of a database may contain a password, so the user is left to repeat it.
    """
    home = ["--home", str(args.home)] if args.home else []
    database = ["--database", "URL"] if args.database else []
    return shlex.join(["deepdiver", name, run, *home, *database])


def _print_outcome(args: argparse.Namespace, store: Store, outcome: Outcome) -> None:
    if args.json:
        spent = Spending(outcome.cost, outcome.unpriced, *outcome.tokens)
        rows = store.journal.rows(outcome.run.id)
        print_json(run_summary(outcome.run, outcome.report, rows, spent))
    elif outcome.report is not None:
        print_report(outcome.report)


def _finish(args: argparse.Namespace, outcome: Outcome, seconds: float) -> int:
    """Print how a run ended and how to continue, and return the exit code."""
    run = outcome.run
    if not args.quiet:
        _print_account(outcome, seconds)
    how_to_continue = f"continue with: {command_for(args, 'resume', run.id)}"
    if outcome.error is not None:
        error = str(outcome.error)
        says_itself = isinstance(outcome.error, RunBusyError | LostTextError)
        over = says_itself or run.status in FINISHED
        print_error(error if over else f"{error}; {how_to_continue}")
        return outcome.error.exit_code
    if run.status is RunStatus.WAITING:
        what = "approve its plan" if outcome.report is None else "review its answer"
        print_error(f"run {run.id} waits for you to {what}; in a terminal, {how_to_continue}")
        return WAITING
    return OUTCOMES[run.status].exit_code if run.status in OUTCOMES else 1


def _print_account(outcome: Outcome, seconds: float) -> None:
    """Print where the files are, cost, tokens and time, and which calls may have cost more."""
    for row in outcome.uncertain:
        if row.kind != "human":
            what = f"{row.kind} {row.provider}: {one_line(row.what)}"
            unpriced = row.provider in outcome.unpriced
            worst = "an unknown amount" if unpriced else money(row.worst)
            print_err(f"uncertain: {what} was sent and never answered; it may have cost {worst}")
    files = [f"files in {outcome.folder}"] if outcome.folder else []
    cost = spent_money(outcome.cost, unpriced=bool(outcome.unpriced))
    read, written = outcome.tokens
    tokens = [f"{read:,} tokens in, {written:,} out"] if read or written else []
    print_err(" · ".join([*files, f"cost {cost}", *tokens, f"{seconds:.1f} s"]))
