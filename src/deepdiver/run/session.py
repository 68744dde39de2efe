"""One process's work on one run: its dependencies, its lease, its graph, its events."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deepdiver.core.events import Event, PersonAsked, RunEnded, RunStarted
from deepdiver.core.identity import digest
from deepdiver.core.record import Report, Run, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import DeepdiverError, NoEvidenceError, RunBusyError, StoppedError, UsageError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.reason.choose import choose_reasoner
from deepdiver.store import CallState, JournalRow, Store
from deepdiver.strategies.shared.base import Deps, Tool
from deepdiver.strategies.shared.feed_tool import FeedTool, over_mcp
from deepdiver.strategies.shared.mcp_tool import ServerTool
from deepdiver.strategies.table import TABLE
from deepdiver.tools.mcp.provider import Connected, connect
from deepdiver.tools.osint.registry import ask_feed, choose_feeds, usable_feeds
from deepdiver.tools.registry import Choice, Provider, choose, prepare, price_of, reached

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from deepdiver.tasks import Reasoner

OnEvent = Callable[[Event], None]
Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Puts something before a person and returns what the person says."""

NOTHING = (
    "there is nothing to search: give documents with --in PATH, set up a provider (deepdiver "
    "doctor says how), "
    "or try the bundled sample with --sample."
)
LEASE_SECONDS = 30.0
"""A process that has not been heard of for this long has lost its run."""
HEARTBEAT_SECONDS = 3.0
"""Also how soon a run notices that it was asked to stop."""
STEPS_PER_ROUND = 12
"""Graph steps that one round of the longest strategy takes, doubled."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of working on a run."""

    run: Run
    """The run, with where it stands now."""
    report: Report | None
    """Its report, if it has one."""
    cost: Decimal
    """What it has cost in all."""
    uncertain: tuple[JournalRow, ...]
    """Calls that were sent and whose fate was never learnt."""
    error: DeepdiverError | None = None
    """What ended it, if it did not end by itself."""
    folder: Path | None = None
    """Where its files lie."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """What the strategy's graph held at the end, where it was run to its end just now."""


class Recorder:
    """Passes events on, and keeps them."""

    def __init__(self, store: Store | None, run: str, on_event: OnEvent | None) -> None:
        """Keep events in a store, or nowhere (a replay has told them before)."""
        self._store, self._run, self._on_event = store, run, on_event
        self._pending: list[str] = []

    def __call__(self, event: Event) -> None:
        """Take an event."""
        event = event.model_copy(
            update={"at": datetime.now(UTC).isoformat(timespec="milliseconds")}
        )
        self._pending.append(event.model_dump_json())
        if len(self._pending) >= 64 or event.type in {"phase_started", "run_ended", "person_asked"}:
            self.flush()
        if self._on_event:
            self._on_event(event)

    def flush(self) -> None:
        """Bring what is pending to the store."""
        pending, self._pending = self._pending, []
        if self._store is not None and pending:
            self._store.add_events(self._run, pending)


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
        models: Mapping[str, BaseChatModel] | None = None,
        reasoner: Reasoner | None = None,
        providers: Sequence[Provider] | None = None,
    ) -> None:
        """Put together what the run's nodes need.

        Raises:
            NoEvidenceError: If there is nothing to search.
            UsageError: If a model or provider was named that cannot be used.
        """
        entry, live = TABLE[run.strategy], mode is Mode.LIVE
        # A run knows one day: what it asks for "the last week" must be the same when it is resumed
        # or replayed.
        settings = settings.model_copy(
            update={"as_of": settings.as_of or date.fromisoformat(run.created[:10])}
        )
        self.run, self.settings, self.store, self.mode, self._because = (
            run,
            settings,
            store,
            mode,
            because,
        )
        self.emit = Recorder(store if live else None, run.id, on_event)
        gateway = Gateway(store, run.id, settings, self.emit, mode=mode)
        self._choice = Choice(tuple(providers)) if providers is not None else choose(settings, live)
        chosen = self._choice.providers
        if not chosen and not self._choice.mcp:
            raise NoEvidenceError(f"{NOTHING} {'; '.join(self._choice.left_out)}".strip())
        # Who passes in what is to be searched has said what may be asked: feeds only if they are
        # named too.
        self._outside = providers is None and self._choice.outside
        if entry.calls_tools and live:
            choose_feeds(
                settings, outside=self._outside
            )  # says now what is wrong with a feed that was named
        rounds = settings.max_iterations or entry.max_iterations
        self.deps = Deps(
            run=run,
            settings=settings,
            store=store if live else cast("Store", ReadOnly(store)),
            gateway=gateway,
            reasoner=reasoner or choose_reasoner(settings, gateway, self.emit, models),
            providers=chosen,
            emit=self.emit,
            max_iterations=rounds,
            approve=settings.approve,
        )
        prices = [price_of(provider, settings) for provider in chosen]
        self.ceiling = entry.allowance(rounds, settings.filters.results).ceiling(
            self.deps.reasoner, prices
        )
        self.deps.ceiling = f"${self.ceiling:.4f}" if self.ceiling is not None else "not known"
        if self.ceiling is None and settings.budget is not None and live:
            raise UsageError(
                f"a budget needs prices, and one of {settings.model}, "
                f"{', '.join(p.name for p in chosen)} has none: "
                "set it under [prices] in deepdiver.toml, or run without --budget"
            )
        self._state: Mapping[str, Any] = {}
        self._servers: Connected | None = None
        self._owner = f"{platform.node()}:{os.getpid()}:{secrets.token_hex(3)}"

    async def prepare(self) -> None:
        """Look at what there is to search; what cannot be searched will stand in the report.

        Raises:
            NoEvidenceError: If there is nothing.
            UsageError: If a folder that was named is not there.
        """
        gateway = self.deps.gateway
        if self._servers is None:
            self._servers = await connect(self.settings, gateway)
        found, absent = await reached(self._choice, gateway)
        asked = [
            provider for provider in self._servers.providers if self._choice.takes(provider.name)
        ]
        self.deps.providers, absent = [*found, *asked], [*absent, *self._servers.limits]
        if not self.deps.providers:
            raise NoEvidenceError(f"{NOTHING} {'; '.join(absent)}")
        if TABLE[self.run.strategy].calls_tools:
            self.deps.tools, lacking = await self._tools(self._servers)
            absent += [f"feed not asked: {line}" for line in lacking]
        for line in [*absent, *await prepare(self.deps.providers, gateway)]:
            self.deps.limited(line)

    async def _tools(self, servers: Connected) -> tuple[list[Tool], tuple[str, ...]]:
        """Return the feeds and those tools of MCP servers that are no searches.

        And what feeds are left out.
        """
        over = {tool.tool for tool in servers.tools if tool.server == self.settings.mcp.feeds}
        usable = await usable_feeds(self._outside, self.deps.gateway, over)
        door = over_mcp(servers, usable.over) if usable.over else ask_feed
        searches = {provider.name for provider in self.deps.providers}
        others = [
            tool
            for tool in servers.tools
            if self._choice.takes(tool.name) and tool.name not in searches
        ]
        own = [tool for tool in others if tool.server != usable.over]
        return [
            *(FeedTool(feed, door) for feed in usable.feeds),
            *map(ServerTool, own),
        ], usable.left_out

    async def close(self) -> None:
        """End what the run has started besides itself: the programs of MCP servers."""
        if self._servers is not None:
            await self._servers.close()
            self._servers = None

    async def work(self, ask: Ask | None, resumed: bool) -> Outcome:
        """Run the graph to its end, or to where it must stop.

        Raises:
            RunBusyError: If another process works on the run.
        """
        live = self.mode is Mode.LIVE
        if live:
            self._take_lease()
            self.store.set_status(self.run.id, RunStatus.RUNNING)
        self._announce(resumed)
        status = RunStatus.FAILED
        error: DeepdiverError | None = None
        work = asyncio.ensure_future(self._graph(ask))
        heart = asyncio.ensure_future(self._beat(work)) if live else None
        try:
            status = await work
        except asyncio.CancelledError:
            reason = "it was asked to stop" if heart and heart.done() else "interrupted"
            status, error = RunStatus.STOPPED, StoppedError(f"run {self.run.id} stopped: {reason}")
        except DeepdiverError as caught:
            error = caught
        finally:
            work.cancel()
            if heart:
                heart.cancel()
            if close := getattr(self.deps.reasoner, "close", None):
                await close()
            await self.close()
            outcome = self._end(status, error)
            if live:
                with contextlib.suppress(DeepdiverError):
                    self.store.drop_lease(self.run.id, self._owner)
        return outcome

    def _take_lease(self) -> None:
        """Take the run.

        A holder that was a process of this machine and is no more has lost it already.
        """
        try:
            self.store.take_lease(self.run.id, self._owner, time.time(), LEASE_SECONDS)
        except RunBusyError as busy:
            host, _, process = busy.holder.rpartition(":")[0].rpartition(":")
            if host != platform.node() or not process.isdigit() or _is_running(int(process)):
                raise
            self.store.drop_lease(self.run.id, busy.holder)
            self.store.take_lease(self.run.id, self._owner, time.time(), LEASE_SECONDS)

    def _announce(self, resumed: bool) -> None:
        self.emit(
            RunStarted(
                run=self.run.id,
                question=self.run.question,
                strategy=self.run.strategy,
                because=self._because,
                reasoner=self.deps.reasoner.description,
                providers=tuple(provider.name for provider in self.deps.providers),
                ceiling=self.ceiling,
                budget=self.settings.budget,
                resumed=resumed,
            )
        )

    async def _graph(self, ask: Ask | None) -> RunStatus:
        graph = TABLE[self.run.strategy].build().compile(checkpointer=InMemorySaver())
        config = {
            "configurable": {"thread_id": self.run.id},
            "recursion_limit": 20 + STEPS_PER_ROUND * self.deps.max_iterations,
        }
        await self.prepare()
        given: Any = {"messages": [{"role": "user", "content": self.run.question}]}
        for asked in range(1_000):
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
        """Put a question before a person; the answer is journalled, so it is never asked twice."""
        request = Request(
            "human", "person", str(shown.get("ask", "question")), {"number": asked, "shown": shown}
        )
        known = self.store.journal_get(self.run.id, request.key)
        answered = known is not None and known.state is CallState.SETTLED
        if ask is None and not answered and (self.mode is Mode.LIVE or self._ends_at(shown)):
            return None

        async def do() -> Reply:
            self.emit(PersonAsked(question=shown))
            said = await ask(shown) if ask else None
            if not isinstance(said, dict) or not said:
                raise UsageError(
                    f"{shown.get('ask')} is answered with an object that says what to do, not "
                    f"{said!r}"
                )
            return Reply(said)

        return cast("dict[str, Any]", (await self.deps.gateway.call(request, do)).value)

    def _ends_at(self, shown: dict[str, Any]) -> bool:
        """Whether a run that nobody answers is over where it would ask this.

        An answer that nobody wants to review.
        """
        return (
            shown.get("ask") == "review_answer"
            and not self.settings.approve
            and self.deps.report is not None
        )

    async def _beat(self, work: asyncio.Future[RunStatus]) -> None:
        """Keep the lease; stop the work if someone asks, or if the lease was lost."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            kept = await asyncio.to_thread(
                self.store.renew_lease, self.run.id, self._owner, time.time(), LEASE_SECONDS
            )
            if not kept or await asyncio.to_thread(self.store.asked_to_stop, self.run.id):
                work.cancel()
                return

    def _end(self, status: RunStatus, error: DeepdiverError | None) -> Outcome:
        rows = self.store.journal_list(self.run.id)
        uncertain = tuple(row for row in rows if row.uncertain or row.state is CallState.SENT)
        cost = sum((row.cost for row in rows), Decimal(0))
        report = self.deps.report
        ended = RunEnded(
            run=self.run.id,
            status=status,
            cost=cost,
            report_hash=report.hash if report else "",
            error=str(error) if error else "",
        )
        try:
            if self.mode is Mode.LIVE:
                self.store.set_status(self.run.id, status)
            self.emit(ended)
        except DeepdiverError as trouble:  # a full disk must not hide what ended the run
            error = error or trouble
        run = self.run.model_copy(update={"status": status})
        return Outcome(run, report, cost, uncertain, error, state=self._state)


class ReadOnly:
    """A store for replays: texts are read, nothing is written."""

    def __init__(self, store: Store) -> None:
        """Look at a store."""
        self._store = store

    def put_text(self, run: str, text: str) -> str:
        """Return the hash that a text would have."""
        return digest(text)

    def get_text(self, key: str) -> str:
        """Return a text, of this replay or of the run."""
        return self._store.get_text(key)

    def add_records(self, run: str, records: Any) -> None:
        """Keep nothing: the run has kept it."""

    def save_report(self, run: str, report: str) -> None:
        """Keep nothing."""

    def set_status(self, run: str, status: RunStatus) -> None:
        """Change nothing."""


def _is_running(process: int) -> bool:
    """Whether a process of this number lives on this machine.

    Where that cannot be asked safely, it counts as alive.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it lives, and is not ours to signal
    return True
