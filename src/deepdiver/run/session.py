"""One process's work on one run: lease, graph, events and outcome."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deepdiver.core.events import Event, PersonAsked, RunEnded, RunStarted
from deepdiver.core.ledger import Ledger
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import Report, Run, RunStatus, Source
from deepdiver.core.settings import Settings
from deepdiver.errors import (
    DeepdiverError,
    LostTextError,
    RunBusyError,
    StoppedError,
    UsageError,
)
from deepdiver.gateway import Mode, Reply
from deepdiver.gateway.gateway import REST_SECONDS
from deepdiver.gateway.store_threads import submit
from deepdiver.report.spending import spend, starts_of
from deepdiver.run.answers import answered_request
from deepdiver.run.assemble import OwnParts, assemble, choose_search, reach_outside, unpriced
from deepdiver.run.lease import Lease, LeaseEnd
from deepdiver.run.steering import Ear
from deepdiver.store import CallState, JournalRow, Store
from deepdiver.strategies.table import TABLE
from deepdiver.tools.mcp.toolset import McpToolset
from deepdiver.tools.registry import Choice

OnEvent = Callable[[Event], None]
Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Asks a person and returns the answer."""

STEPS_PER_ROUND = 12
"""Twice the graph steps of one round of the longest strategy."""
FLUSHED = frozenset({"phase_started", "call_started"})
"""Events that are stored at once: what follows them may take long."""
AWAITED = frozenset({"person_asked"})
"""Events after which nothing goes on until they are stored: whoever answers finds them there."""
FLUSH_SECONDS = 0.25
"""Other events are stored with the next one after that time, so that whoever follows the run from
another process sees it live."""
CANCEL_AGAIN = 0.5
"""Seconds after which work that was cancelled and goes on is cancelled again."""
MOST_QUESTIONS = 1_000
"""The most questions of a run to a person."""


class Leave(asyncio.Event):
    """Once it is set, a run makes no further call, and stops when what it sent is answered."""

    patience: float = REST_SECONDS
    """Seconds for which it waits for these answers."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of work on a run."""

    run: Run
    """The run with its present status."""
    report: Report | None
    """Its report, if it has one."""
    cost: Decimal
    """Its total cost."""
    uncertain: tuple[JournalRow, ...]
    """Calls that were sent and may or may not have been answered."""
    error: DeepdiverError | None = None
    """The error that ended it, if any."""
    folder: Path | None = None
    """The folder of its files."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """The final state of the graph, if it has just run to its end."""
    ledger: Ledger = field(default_factory=Ledger)
    """Everything that it found."""
    unpriced: tuple[str, ...] = ()
    """What it has called that has no known price, so that it has cost more."""
    tokens: tuple[int, int] = (0, 0)
    """The tokens that models read, and those that they wrote."""

    @property
    def headline(self) -> str:
        """How it ended, in words: "Answered", "Could not search"; empty: it has not."""
        ending = OUTCOMES.get(self.run.status)
        return ending.headline if ending else ""

    @property
    def limits(self) -> tuple[str, ...]:
        """What could not be searched, read, afforded or answered, and the error that ended it."""
        told = self.report.limits if self.report else ()
        return (*told, str(self.error)) if self.error else told


def _end_of(heart: asyncio.Future[LeaseEnd] | None) -> LeaseEnd | None:
    """Return why a lease is not kept any longer; None if it is, or if there is none."""
    if heart is None or not heart.done() or heart.cancelled() or heart.exception() is not None:
        return None
    return heart.result()


class Recorder:
    """Passes events on and stores them.

    They are stored in a thread, a batch at a time and in their order, and the run goes on. Fifty
    runs on PostgreSQL stored 3,400 batches in a minute, which took 80 ms each, for which a run
    heard of no stop.
    """

    def __init__(self, store: Store | None, run: str, on_event: OnEvent | None) -> None:
        """Keep events in a store, or not at all for a replay, whose events are known."""
        self._store, self._run, self._on_event = store, run, on_event
        self._lock = threading.Lock()
        self._pending: list[str] = []
        self._flushed = 0.0
        self._writing: Future[None] | None = None
        self._busy = False
        """Whether a thread will look for pending events once more."""

    def __call__(self, event: Event) -> None:
        """Take an event.

        Raises:
            StoreError: If events before it could not be stored.
        """
        event = self._note(event)
        due = time.monotonic() - self._flushed >= FLUSH_SECONDS
        if event.type in AWAITED:
            self.flush()
        elif due or len(self._pending) >= 64 or event.type in FLUSHED:
            self._write_soon()
        self._pass_on(event)

    def end(self, event: Event, status: RunStatus) -> None:
        """Take the last event, and store it together with the status that it tells.

        So whoever sees that the run has ended finds all of its events.
        """
        event = self._note(event)
        if self._writing is not None:
            wait([self._writing])  # what it could not store is pending again
        with self._lock:
            pending, self._pending = self._pending, []
        if self._store is not None:
            self._store.runs.set_status(self._run, status, pending)
        self._pass_on(event)

    def _note(self, event: Event) -> Event:
        """Return an event with the time, which is to be stored."""
        event = event.model_copy(
            update={"at": datetime.now(UTC).isoformat(timespec="milliseconds")}
        )
        with self._lock:
            self._pending.append(event.model_dump_json())
        return event

    def _pass_on(self, event: Event) -> None:
        if self._on_event:
            self._on_event(event)

    def leave(self) -> None:
        """Store no more events, because another process has taken the run."""
        with self._lock:
            self._store, self._pending = None, []

    def flush(self) -> None:
        """Store pending events, and return when they are.

        Raises:
            StoreError: If they cannot be.
        """
        while self._pending or self._busy:
            self._write_soon()
            if (writing := self._writing) is not None:
                writing.result()
            if self._store is None:
                return

    def _write_soon(self) -> None:
        """Have pending events stored; what is being stored now takes them along.

        Raises:
            StoreError: If those before could not be stored.
        """
        with self._lock:
            if self._busy:
                return
            last, self._writing = self._writing, None
            error = last.exception() if last is not None else None
            if error is None:
                self._writing = submit(self._write)
                self._busy, self._flushed = True, time.monotonic()
        if error is not None:
            raise error

    def _write(self) -> None:
        """Store pending events until there are none, in a thread."""
        while True:
            with self._lock:
                store, batch = self._store, self._pending
                if store is None or not batch:
                    self._busy = False
                    return
                self._pending = []
            try:
                store.records.add_events(self._run, batch)
            except BaseException:
                with self._lock:
                    self._pending = [*batch, *self._pending]
                    self._busy = False
                raise


class Session:
    """One process's work on one run."""

    def __init__(
        self,
        run: Run,
        settings: Settings,
        store: Store,
        *,
        on_event: OnEvent | None = None,
        because: str = "",
        mode: Mode = Mode.LIVE,
        own: OwnParts | None = None,
        choice: Choice | None = None,
    ) -> None:
        """Assemble the dependencies of the run, without any call and without writing.

        Args:
            run: The run.
            settings: Its settings.
            store: Where it is kept.
            on_event: Receives all events.
            because: Why its strategy was picked, if the question decided.
            mode: Whether it is run or replayed.
            own: The caller's own model and tools.
            choice: The providers to search, if they are already chosen.

        Raises:
            NoEvidenceError: If there is nothing to search.
            UsageError: If a model or provider was named that cannot be used.
        """
        self.run, self.store, self.mode, self._because = run, store, mode, because
        self._own = own or OwnParts()
        self._choice = choice or choose_search(settings, self._own, mode)
        self.emit = Recorder(store if mode is Mode.LIVE else None, run.id, on_event)
        self.deps = assemble(run, settings, store, self.emit, self._choice, self._own, mode)
        self.deps.hear = Ear(run.id, store, mode)
        self._state: Mapping[str, Any] = {}
        self._servers: McpToolset | None = None

    async def prepare(self) -> None:
        """Find out once what there is to search; the report lists what cannot be searched.

        Raises:
            NoEvidenceError: If there is nothing to search.
            UsageError: If a folder that was named does not exist.
        """
        if self._servers is None:
            self._servers = await reach_outside(self.deps, self._choice, self._own)

    async def close(self) -> None:
        """Close the reasoner and the MCP servers of the run."""
        if close := getattr(self.deps.reasoner, "close", None):
            await close()
        if self._servers is not None:
            await self._servers.close()
            self._servers = None

    async def work(
        self, ask: Ask | None, resumed: bool, leave: asyncio.Event | None = None
    ) -> Outcome:
        """Run the graph to its end, or until it must stop.

        Args:
            ask: Asks a person, if there is one.
            resumed: Whether the run has begun before.
            leave: Once it is set, no further call is made, and the run stops when those that were
                sent are answered.

        Raises:
            RunBusyError: If another process works on the run.
        """
        lease = Lease(self.run, self.store) if self.mode is Mode.LIVE else None
        if lease:
            lease.take()
            self.store.runs.set_status(self.run.id, RunStatus.RUNNING)
        self._announce(resumed)
        status = RunStatus.FAILED
        error: DeepdiverError | None = None
        work = asyncio.ensure_future(self._run_graph(ask))
        heart = asyncio.ensure_future(lease.keep()) if lease else None
        leaving = asyncio.ensure_future(self._leave(leave, work)) if leave else None

        def stop(ended: asyncio.Future[LeaseEnd]) -> None:
            if _end_of(ended) is not None:
                work.cancel()

        if heart:
            heart.add_done_callback(stop)
        try:
            status = await work
        except asyncio.CancelledError:
            error = self._tell_stop(lease, _end_of(heart))
            status = RunStatus.STOPPED
        except LostTextError as caught:
            error = self._name_source(caught)
        except DeepdiverError as caught:
            error = caught
        finally:
            work.cancel()
            for other in (heart, leaving):
                if other:
                    other.cancel()
            await self.close()
            outcome = self._end(status, error)
            if lease:
                lease.drop()
        return outcome

    async def _leave(self, leave: asyncio.Event, work: asyncio.Future[RunStatus]) -> None:
        """Stop the work, once somebody wants that, when nothing is under way that was paid for."""
        await leave.wait()
        await self.deps.gateway.rest(getattr(leave, "patience", REST_SECONDS))
        # Again where somebody has swallowed it: a call that is not sent any more waits forever.
        while not work.done():
            work.cancel()
            await asyncio.wait({work}, timeout=CANCEL_AGAIN)

    def _tell_stop(self, lease: Lease | None, end: LeaseEnd | None) -> DeepdiverError:
        """Return the reason why the work was cancelled."""
        if lease and end is LeaseEnd.LOST:
            return lease.loss()
        reason = "interrupted" if end is None else "it was asked to stop"
        return StoppedError(f"run {self.run.id} stopped: {reason}")

    def _announce(self, resumed: bool) -> None:
        deps = self.deps
        rows = self.store.journal.rows(self.run.id) if resumed else ()
        self.emit(
            RunStarted(
                run=self.run.id,
                question=self.run.question,
                strategy=self.run.strategy,
                because=self._because,
                reasoner=deps.reasoner.description,
                providers=tuple(provider.name for provider in deps.providers),
                left_out=self._choice.left_out,
                ceiling=deps.ceiling,
                unpriced=unpriced(deps.settings, self._choice) if deps.ceiling is None else (),
                spent=sum((row.cost for row in rows), Decimal(0)),
                budget=deps.settings.budget,
                resumed=resumed,
            )
        )

    async def _run_graph(self, ask: Ask | None) -> RunStatus:
        graph = TABLE[self.run.strategy].build().compile(checkpointer=InMemorySaver())
        config = {
            "configurable": {"thread_id": self.run.id},
            "recursion_limit": 20 + STEPS_PER_ROUND * self.deps.max_iterations,
        }
        await self.prepare()
        self.deps.session_says = True
        given: Any = {"messages": [{"role": "user", "content": self.run.question}]}
        for asked in range(MOST_QUESTIONS):
            result = await graph.ainvoke(given, cast("Any", config), context=self.deps)
            waiting = result.get("__interrupt__")
            if not waiting:
                break
            reply = await self._ask(waiting[0].value, asked, ask)
            if reply is None and self._ends_at(waiting[0].value):
                break
            if reply is None:
                return RunStatus.WAITING
            given = Command(resume=reply)
        self._state = result
        if self.deps.report is None:
            raise DeepdiverError(f"run {self.run.id} ended without a report")
        return self.deps.report.status

    async def _ask(
        self, shown: dict[str, Any], asked: int, ask: Ask | None
    ) -> dict[str, Any] | None:
        """Ask a person; the answer is journalled, so nobody is asked twice."""
        request, answered = answered_request(self.run.id, shown, asked, self.store)
        if ask is None and not answered and (self.mode is Mode.LIVE or self._ends_at(shown)):
            if not self._ends_at(shown):  # whoever looks at the run later can answer it
                self.emit(PersonAsked(question=shown, number=asked))
            return None

        async def do() -> Reply:
            self.emit(PersonAsked(question=shown, number=asked))
            self.store.runs.set_status(self.run.id, RunStatus.WAITING)
            said = await ask(shown) if ask else None
            self.store.runs.set_status(self.run.id, RunStatus.RUNNING)
            if not isinstance(said, dict) or not said:
                raise UsageError(
                    f"the answer to {shown.get('ask')} must be an object that says what to do, "
                    f"not {said!r}"
                )
            return Reply(said)

        return cast("dict[str, Any]", (await self.deps.gateway.call(request, do)).value)

    def _ends_at(self, shown: dict[str, Any]) -> bool:
        """Return whether a run ends at a question that nobody answers.

        It does if it asks for a review of its answer and nobody wanted to review.
        """
        asks = shown.get("ask") == "review_answer"
        return asks and not self.deps.approve and self.deps.report is not None

    def _name_source(self, error: LostTextError) -> LostTextError:
        """Return the error with the source whose text is lost, if it is on record."""
        for kind, _, text in self.store.records.ledger(self.run.id):
            if kind == "source" and (source := Source.model_validate_json(text)).snapshot == (
                error.text
            ):
                named = f"{source.title} ({source.url})"
                return LostTextError(f"{named} cannot be read again: {error}", error.text)
        return error

    def _end(self, status: RunStatus, error: DeepdiverError | None) -> Outcome:
        rows = self.store.journal.rows(self.run.id)
        uncertain = tuple(row for row in rows if row.uncertain or row.state is CallState.SENT)
        cost = sum((row.cost for row in rows), Decimal(0))
        report = self.deps.report
        taken = isinstance(error, RunBusyError)
        if taken:
            # The run is another process's now: its status, its events and its files are, too.
            report = None
            self.emit.leave()
        ended = RunEnded(
            run=self.run.id,
            status=status,
            cost=cost,
            report_hash=report.hash if report else "",
            error=str(error) if error else "",
        )
        try:
            self.emit.end(ended, status)
        except DeepdiverError as trouble:
            # A full disk must not hide what ended the run.
            error = error or trouble
        if taken:
            status = self.store.runs.get(self.run.id).status
        run = self.run.model_copy(update={"status": status})
        spent = spend(rows, starts_of(self.store, self.run.id))
        return Outcome(
            run,
            report,
            cost,
            uncertain,
            error,
            state=self._state,
            ledger=self.deps.ledger,
            unpriced=spent.unpriced,
            tokens=(spent.tokens_in, spent.tokens_out),
        )
