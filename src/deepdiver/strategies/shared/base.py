"""What every strategy builds on: dependencies of nodes, and nodes for async and sync callers."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from langchain_core.runnables import RunnableLambda
from langgraph.graph import StateGraph
from langgraph.runtime import get_runtime

from deepdiver.core.events import (
    Event,
    FindingAdded,
    Limited,
    PhaseStarted,
    Searched,
    SourceRead,
)
from deepdiver.core.ledger import Entry, Ledger
from deepdiver.core.readings import Readings
from deepdiver.core.record import Finding, Report, Run, RunStatus, Source
from deepdiver.core.settings import Settings
from deepdiver.core.steering import Steering
from deepdiver.errors import (
    CURABLE,
    CallError,
    GatewayError,
    NotJournalledError,
    PromptTooLongError,
    ReasonError,
)
from deepdiver.gateway import Gateway
from deepdiver.store import Store
from deepdiver.tasks import Answer, Reasoner, ShownTool, Task
from deepdiver.tools.address import canonical
from deepdiver.tools.registry import Provider

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
State = Mapping[str, Any]
Update = dict[str, Any]
ROUNDS = ("current_iteration", "iteration", "search_iterations")
"""The state keys that the design documents use for the number of the round."""
PARTING_SECONDS = 5.0
"""How long an interrupted coroutine may take to end."""


class NodeFunction(Protocol):
    """A node of a graph."""

    __name__: str

    def __call__(self, state: Any, deps: Deps, /) -> Awaitable[Update]:
        """Return the changes to the state."""


@dataclass(frozen=True, slots=True)
class LookResult:
    """The result of looking into something."""

    findings: tuple[str, ...] = ()
    """Ids of the findings, in the order of the search results."""
    leads: tuple[str, ...] = ()
    """Names to look up next."""
    queries: tuple[str, ...] = ()
    """The queries that were made."""
    searched: bool = False
    """Whether at least one search had an answer."""
    limits: tuple[str, ...] = ()
    """Notes on searches that could not be made."""
    sources: tuple[str, ...] = ()
    """Ids of the sources that were read, in the order of the search results."""
    questions: tuple[str, ...] = ()
    """Questions that are open now: those still open, and those that the texts raise."""
    sure: Mapping[str, str] = field(default_factory=dict)
    """How sure a tool is of each finding (high, medium, low), if the tool says so."""


def _hear_nothing(step: int) -> Sequence[Steering]:
    return ()


class Tool(Protocol):
    """Something that can be called with arguments."""

    @property
    def shown(self) -> ShownTool:
        """Its description for the reasoner."""

    def fault(self, args: Mapping[str, str]) -> str:
        """Return why it does not take these arguments, or "" if it does. Sends nothing."""

    async def execute(
        self, deps: Deps, args: Mapping[str, str], question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        """Call it, read the answer, and enter what bears on the question into the ledger.

        Raises:
            GatewayError: If there is no answer.
        """


@dataclass(slots=True)
class Deps:
    """Everything that a node may use. The state holds ids and small facts; bodies are here."""

    run: Run
    """The run."""
    settings: Settings
    """Its settings."""
    store: Store
    """Where the run is kept."""
    gateway: Gateway
    """The door to everything outside the process."""
    reasoner: Reasoner
    """The reasoner that performs tasks."""
    providers: Sequence[Provider]
    """The providers to search."""
    emit: Callable[[Event], None]
    """Receives events."""
    tools: Sequence[Tool] = ()
    """Further tools: feeds, and tools of MCP servers that take more than a query."""
    max_iterations: int = 3
    """The hard stop."""
    approve: bool = False
    """Whether a person wants to approve the plan first."""
    ceiling: Decimal | None = None
    """The most that the run can cost, in US dollars; None if a price is not known."""
    ledger: Ledger = field(default_factory=Ledger)
    """Everything found. Nodes look up the ids of their state in it and never iterate over it: the
    ledger of a resumed run may hold more than its state, and the run must take the same path."""
    notes: set[str] = field(default_factory=set)
    """What could not be done. The report lists it alphabetically, whatever happened first."""
    unread: set[str] = field(default_factory=set)
    """Pages that could not be read. The report names some and counts the rest."""
    searched: bool = False
    """Whether a search, feed or tool has answered. If none has, nobody knows what there is."""
    done: set[str] = field(default_factory=set)
    """Names of the tasks that the reasoner has performed at least once."""
    task_failures: dict[str, Exception] = field(default_factory=dict)
    """The failures of tasks, one for each name: of several, the first by its words."""
    dropped: set[str] = field(default_factory=set)
    """Ids of statements that were refused because the source does not hold their quotes. The report
    says how many."""
    readings: Readings = field(default_factory=Readings)
    """Which parts of which texts were read. It is part of the state: a node begins with what the
    nodes before it have read."""
    report: Report | None = None
    """The report, once written."""
    step: int = 0
    """How many nodes have begun."""
    hear: Callable[[int], Sequence[Steering]] = _hear_nothing
    """Returns what a person has said that is to be heeded before a step."""
    session_says: bool = False
    """Whether a session runs the graph, which says itself that the run has ended, together with the
    event that tells how, or that it waits for a person, after the question is on record: whoever
    answered before would answer the question before."""
    ignored: set[str] = field(default_factory=set)
    """Addresses of sources that a person wants left out, in the form in which they are compared."""

    def is_ignored(self, url: str) -> bool:
        """Return whether a person wants the source at an address left out."""
        return bool(self.ignored) and canonical(url) in self.ignored

    def without_ignored(self, findings: Iterable[str]) -> list[str]:
        """Return the findings that quote no source which a person wants left out."""
        if not self.ignored:
            return list(findings)
        return [key for key in findings if not any(map(self.is_ignored, self._sources_of(key)))]

    def _sources_of(self, finding: str) -> Iterable[str]:
        quotes = self.ledger.get(Finding, finding).quotes
        return (self.ledger.get(Source, quote.source).url for quote in quotes)

    @property
    def as_of(self) -> str:
        """The run's date, the only clock that research uses."""
        return self.settings.as_of.isoformat() if self.settings.as_of else self.run.created[:10]

    def add(self, *entries: Entry) -> None:
        """Enter records into the ledger and the store, and announce new sources and findings.

        Of records with one id the first is kept, such as the finding of the look that made it
        first. So whoever works side by side must enter what it finds in an order of its own.
        """
        first: dict[str, Entry] = {}
        for entry in entries:
            if entry.id not in self.ledger:
                first.setdefault(entry.id, entry)
        new = list(first.values())
        if not new:
            return
        self.ledger = self.ledger.add(*new)
        self.store.records.add(
            self.run.id, [(type(e).__name__.lower(), e.id, e.model_dump_json()) for e in new]
        )
        for entry in new:
            if isinstance(entry, Source):
                score = entry.credibility.score
                self.emit(
                    SourceRead(source=entry.id, title=entry.title, url=entry.url, credibility=score)
                )
            elif isinstance(entry, Finding):
                source = entry.quotes[0].source
                self.emit(FindingAdded(finding=entry.id, statement=entry.statement, source=source))

    def finish(self, report: Report, waiting: bool = False) -> None:
        """Save the report. The run is then over, unless it waits for a person's review.

        A session says so itself, together with the event that tells how it ended or what is asked.
        """
        self.report = report
        self.store.records.save_report(self.run.id, report.model_dump_json())
        if not self.session_says:
            self.store.runs.set_status(self.run.id, RunStatus.WAITING if waiting else report.status)

    def note_search(self, query: str, titles: Iterable[str]) -> None:
        """Announce that a search, feed or tool has answered, with the titles of what it found."""
        self.searched = True
        self.emit(Searched(query=query, titles=tuple(titles)))

    def note_failure(self, task: str, error: Exception) -> str:
        """Announce that a task could not be performed, and return it for the report's limits."""
        held = self.task_failures.get(task)
        if held is None or str(error) < str(held):
            self.task_failures[task] = error
        return self.note_limit(f"{task.replace('_', ' ')} failed: {error}")

    def note_limit(self, what: str) -> str:
        """Announce something that could not be done, and return it for the report's limits."""
        return self._announce(what, self.notes)

    def note_unread(self, what: str) -> str:
        """Announce a page that could not be read."""
        return self._announce(what, self.unread)

    def _announce(self, what: str, noted: set[str]) -> str:
        if what not in noted:
            noted.add(what)
            self.emit(Limited(what=what))
        return what


class Heed(Protocol):
    """How a strategy heeds what a person says while it is under way."""

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes before which a person is heard; one of them comes before every report."""

    async def __call__(self, state: State, deps: Deps, said: Sequence[Steering]) -> Update:
        """Do what a person says, and return the changes to the state."""


Provide = Callable[[State, str], Deps]
"""Finds the dependencies of a graph that was called without a context, from its state and the name
of the node."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How often a strategy may do each thing. The cost ceiling is computed from it."""

    tasks: Mapping[type[Task[Any]], int]
    """The most performances of each task; a reasoner's worst case includes asking again."""
    searches: int
    """The most queries to each provider."""

    def ceiling(
        self, reasoner: Reasoner, search_prices: Sequence[Decimal | None]
    ) -> Decimal | None:
        """Return the most that a run can cost, in US dollars; None if a price is not known."""
        parts: list[Decimal | None] = [
            None if (worst := reasoner.worst_case(task)) is None else worst * count
            for task, count in self.tasks.items()
        ]
        parts += [None if price is None else price * self.searches for price in search_prices]
        known = [part for part in parts if part is not None]
        return sum(known, Decimal(0)) if len(known) == len(parts) else None


def unite(*lists: Iterable[str]) -> list[str]:
    """Return the items of several lists, each once, in the order of their first occurrence."""
    return list(dict.fromkeys(itertools.chain.from_iterable(lists)))


async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
    """Run coroutines side by side and return their results in order. An error ends them all."""
    try:
        async with asyncio.TaskGroup() as group:
            started = [group.create_task(item) for item in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in started]


class _Background:
    """One event loop on one thread, for callers that have no loop or are blocking theirs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="deepdiver", daemon=True
                ).start()
            return self._loop

    def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine to its end, in the caller's context (LangGraph keeps its runtime there).

        An interrupt stops the coroutine, which has some seconds to leave things in order.
        """
        loop, context, outcome = self._running(), contextvars.copy_context(), Future[T]()
        started: list[asyncio.Task[T]] = []

        def start() -> None:
            started.append(loop.create_task(make(), context=context))
            started[0].add_done_callback(finish)

        def finish(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                outcome.cancel()
                outcome.set_running_or_notify_cancel()  # else who waits for it is not woken
            elif (error := task.exception()) is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(task.result())

        try:
            loop.call_soon_threadsafe(start)
            return outcome.result()
        except KeyboardInterrupt:
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in started])
            wait([outcome], PARTING_SECONDS)
            raise


_BACKGROUND = _Background()


def run_from_sync(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end for a sync caller, also while an event loop is running."""
    return _BACKGROUND.run(make)


def add_nodes(
    graph: StateGraph[Any, Any, Any, Any],
    provide: Provide | None,
    *functions: NodeFunction,
    logged: Mapping[str, str] | None = None,
    heed: Heed | None = None,
) -> None:
    """Add functions to a graph as nodes of the same names.

    Args:
        graph: The graph.
        provide: Finds the dependencies if the graph is called without a context.
        functions: Each takes state and dependencies, and returns the update.
        logged: The phases under which the log has the nodes, if they have names of their own.
        heed: How the strategy heeds what a person says while it is under way.
    """
    for function in functions:
        name = function.__name__
        heard = heed if heed is not None and name in heed.nodes else None
        graph.add_node(name, _node(name, function, provide, (logged or {}).get(name, ""), heard))


def _node(
    name: str, function: NodeFunction, provide: Provide | None, logged: str, heed: Heed | None
) -> RunnableLambda[Any, Any]:
    """Return an async function as a node that sync and async code can call."""

    async def run(state: State) -> Update:
        # None if the graph was called without one.
        context: Any = get_runtime().context
        deps = context or (provide(state, name) if provide else None)
        if not isinstance(deps, Deps):
            raise TypeError("the graph was called without dependencies: pass context=Deps(...)")
        rounds = next((int(state[key]) for key in ROUNDS if key in state), 0)
        deps.emit(PhaseStarted(phase=name, iteration=rounds, logged=logged))
        before = state.get("readings") or {}
        deps.readings = Readings(before)
        deps.step += 1
        heeded = Update()
        if heed is not None and (said := deps.hear(deps.step)):
            heeded = await heed(state, deps, said)
        update = {**heeded, **await function({**state, **heeded}, deps)}
        held = deps.readings.held
        # Which reading ended first does not matter.
        return update if held == before else {**update, "readings": dict(sorted(held.items()))}

    def run_sync(state: State) -> Update:
        return _BACKGROUND.run(lambda: run(state))

    return RunnableLambda(run_sync, afunc=run, name=name)


async def attempt(deps: Deps, task: Task[A]) -> A | None:
    """Perform a task. A failure is announced and returns None: the strategy goes on without."""
    return (await attempt_to_decide(deps, task))[0]


async def attempt_to_decide(deps: Deps, task: Task[A]) -> tuple[A | None, str]:
    """Perform a task whose answer decides how a run goes on.

    Without an answer a rule decides, and never the reasoner: the event says so, with the reason.

    Returns:
        The answer, or None and why there is none.
    """
    try:
        answer = await deps.reasoner.perform(task)
    except NotJournalledError:
        raise
    except PromptTooLongError as error:
        return await _attempt_shorter(deps, task, error)
    except (ReasonError, GatewayError) as error:
        if isinstance(error, CallError) and error.fault in CURABLE:
            # The key was refused, or the model is not there. The user acts, then resumes.
            raise
        return None, deps.note_failure(task.name(), error)
    deps.done.add(task.name())
    return answer, ""


async def _attempt_shorter(
    deps: Deps, task: Task[A], error: PromptTooLongError
) -> tuple[A | None, str]:
    """Perform a task in parts, or without the least of its input, because it is too long."""
    parts = task.shorter()
    if not parts:
        return None, deps.note_failure(task.name(), error)
    if len(parts) == 1:
        deps.note_limit(
            f"{task.name().replace('_', ' ')} was too long for the model and was asked with a part "
            "of what was found, the most important first"
        )
    tried = [await attempt_to_decide(deps, part) for part in parts]
    answers = [answer for answer, _ in tried if answer is not None]
    return (task.join(answers), "") if answers else (None, tried[0][1])
