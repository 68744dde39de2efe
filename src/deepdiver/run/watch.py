"""Watching a run: asking its standing queries on a schedule, and telling only if a claim moved.

A round asks (`standing_queries`), researches the question again if something stirred, and compares
the claims (`update_run`). Each step is saved before the next begins (`watch_list`):

    asked, and something stirred: the new run is named → it is made → compared: news → told

A round that was killed goes on behind its last step, and a run that was killed is resumed, so
nothing is paid for or told twice. Only who is killed in the act of telling cannot know whether it
was read: then it is told again, and says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import (
    DeepdiverError,
    ReasonError,
    StoppedError,
    UnknownNameError,
    UnreachableError,
)
from deepdiver.gateway.clock import MACHINE_CLOCK, Clock
from deepdiver.run import Outcome, research, resume
from deepdiver.run.begin import name_run
from deepdiver.run.compare_runs import load_side
from deepdiver.run.record import load_ledger
from deepdiver.run.standing_queries import ask_standing_queries
from deepdiver.run.update_run import (
    UpdatePlan,
    plan_update,
    tell_update,
    update_lines,
    update_record,
)
from deepdiver.run.watch_list import RETRY, WEEK, News, Round, Stir, Watch, WatchList, timestamp
from deepdiver.store import Store

GLANCE = 60.0
"""Seconds between two looks at the list and the clock. So a machine that slept, a run that was put
on the list and one that was taken off it are noticed soon, for next to nothing."""
KEPT = 100
"""News of a watch that stay on record."""
FAILURES: dict[RunStatus, type[DeepdiverError]] = {
    RunStatus.COULD_NOT_SEARCH: UnreachableError,
    RunStatus.MODEL_FAILED: ReasonError,
}
"""Outcomes that say nothing about the claims: it is tried again."""


Make = Callable[[Watch, UpdatePlan, str], Awaitable[Outcome | None]]
"""Makes the run of a round, by its id, or goes on with it; None: it is being made elsewhere, and
the round goes on when it is there."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one round of one watch."""

    watch: Watch
    """The watch afterwards."""
    queries: int = 0
    """How many standing queries were asked; 0 if a round was gone on with."""
    stirred: tuple[Stir, ...] = ()
    """What stirred."""
    news: tuple[News, ...] = ()
    """What was told."""
    error: DeepdiverError | None = None
    """Why it failed."""
    busy: bool = False
    """Whether another process is working on the watch, so that nothing was done."""

    @property
    def moved(self) -> bool:
        """Whether a claim moved."""
        return bool(self.news)


@dataclass(frozen=True, slots=True)
class Watcher:
    """What rounds are made with."""

    store: Store
    """The store of the runs."""
    settings: Settings
    """The settings of this machine."""
    tell: Callable[[Watch, News, bool], None]
    """Tells news; is passed whether they may have been told before."""
    note: Callable[[str], None] = lambda line: None
    """Receives a line about what goes on."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings that differ from the watched run's."""
    clock: Clock = MACHINE_CLOCK
    """What time it is."""
    make: Make | None = None
    """How runs are made, if not in this process."""

    @property
    def watches(self) -> WatchList:
        """The watch list of the home, or of the database."""
        return WatchList(self.settings.home, self.store)

    def add(self, name: str, every: int | None = None) -> Watch:
        """Put a finished run on the list, or change how often it is asked for; return its watch.

        Raises:
            UnknownNameError: If there is no such run.
            UsageError: If it is not finished.
        """
        plan = plan_update(name, self.settings, self.store)
        known = self.watches.get(plan.run)
        if known is None:
            known = Watch(
                run=plan.run,
                question=plan.question,
                every=every or WEEK,
                base=plan.run,
                asked=self.store.runs.get(plan.run).created,
            )
        elif not every or every == known.every:
            return known
        watch = known.model_copy(update={"every": every or known.every})
        self.watches.put(watch)
        return watch

    async def attend(self, watch: Watch) -> Attempt:
        """Do a round of a watch, whether it is due or not; a failure is kept and tried again.

        Raises:
            StoppedError: If the process was asked to stop, or the watch was.
        """
        with self.watches.hold(watch.run) as taken:
            if not taken:
                return Attempt(watch, busy=True)
            watch = self.watches.get(watch.run) or watch
            try:
                return await self._round(watch)
            except StoppedError:
                raise
            except DeepdiverError as error:
                return Attempt(self._keep_trouble(watch, error), error=error)

    async def keep_watch(self, report: Callable[[Attempt], None], only: str = "") -> None:
        """Do every round when it is due, until nothing is watched any more.

        Args:
            report: Receives what came of each round.
            only: The one run to attend to; empty: all.
        """
        while listed := [item for item in self.watches.all() if only in ("", item.run)]:
            for watch in listed:
                if self.is_due(watch):
                    report(await self.attend(watch))
            await self.clock.sleep(GLANCE)

    def is_due(self, watch: Watch) -> bool:
        """Return whether it is time for a round."""
        return watch.due.timestamp() <= self.clock.time()

    async def _round(self, watch: Watch) -> Attempt:
        news: list[News] = []
        if watch.news is not None:  # the last round was killed before it was told
            watch = self._tell(watch, news)
            if not self.is_due(watch):
                return Attempt(watch, news=tuple(news))
        queries = 0
        if watch.round is None:
            watch, queries = await self._ask(watch)
        stirred = watch.round.stirred if watch.round else ()
        if watch.round is not None:
            watch = await self._research(watch, watch.round)
        if watch.news is not None:
            watch = self._tell(watch, news)
        return Attempt(watch, queries, stirred, tuple(news))

    async def _ask(self, watch: Watch) -> tuple[Watch, int]:
        """Ask the standing queries; if something stirred, a round begins."""
        plan = self._plan(watch)
        side = load_side(watch.base, self.store)
        asked = await ask_standing_queries(
            side.report,
            load_ledger(self.store, watch.base),
            self.store.journal.rows(watch.base),
            watch.seen,
            plan.settings,
            self.store,
        )
        # As each was seen last: what has changed back has changed.
        seen = {**watch.seen, **asked.seen}
        update: dict[str, Any] = {"seen": seen, "retry": "", "trouble": ""}
        if asked.stirred:
            named = name_run(plan.question, datetime.fromisoformat(self._now()))
            update["round"] = Round(run=named, stirred=asked.stirred)
        else:
            update["asked"] = self._now()
        return self.watches.advance(watch.model_copy(update=update)), asked.queries

    async def _research(self, watch: Watch, begun: Round) -> Watch:
        """Research the question of a round, or go on with that, and compare."""
        plan = self._plan(watch)
        self.note(f"{watch.run}: {_told(begun.stirred)}; researching the question again")
        outcome = await (self.make or self._make)(watch, plan, begun.run)
        if outcome is None:
            return self.watches.advance(watch.model_copy(update={"retry": "", "trouble": ""}))
        if outcome.error is not None:
            raise outcome.error
        status = outcome.run.status
        if outcome.report is None or status in FAILURES:
            # That run says nothing about the claims; the next attempt is another one.
            named = name_run(plan.question, datetime.fromisoformat(self._now()))
            again = begun.model_copy(update={"run": named})
            self.watches.advance(watch.model_copy(update={"round": again}))
            ending = OUTCOMES[status].headline.lower() if status in OUTCOMES else status.value
            raise FAILURES.get(status, DeepdiverError)(f"run {begun.run} ended: {ending}")
        found = await tell_update(watch.base, begun.run, self.store, plan.settings)
        now = self._now()
        update: dict[str, Any] = {"round": None, "asked": now, "retry": "", "trouble": ""}
        if found.moved:
            because = ["", "What made it look", *map(_because, begun.stirred)]
            lines = (*update_lines(found, confirmed=False), *because)
            update["news"] = News(
                at=now,
                before=watch.base,
                after=begun.run,
                stirred=begun.stirred,
                lines=lines,
                record=update_record(found),
            )
            update["base"] = begun.run
        return self.watches.advance(watch.model_copy(update=update))

    async def _make(self, watch: Watch, plan: UpdatePlan, named: str) -> Outcome:
        try:
            self.store.runs.get(named)
        except UnknownNameError:
            return await research(plan.question, plan.settings, store=self.store, named=named)
        return await resume(named, plan.settings, store=self.store)

    def _tell(self, watch: Watch, told: list[News]) -> Watch:
        news = watch.news
        if news is None:
            return watch
        again = news.telling
        telling = news.model_copy(update={"telling": True})
        self.watches.advance(watch.model_copy(update={"news": telling}))
        self.tell(watch, news, again)
        told.append(news)
        short = news.model_copy(update={"lines": (), "record": {}, "telling": False})
        kept = (*watch.told, short)[-KEPT:]
        return self.watches.advance(watch.model_copy(update={"news": None, "told": kept}))

    def _plan(self, watch: Watch) -> UpdatePlan:
        # Nobody is there to approve a plan.
        return plan_update(
            watch.base, self.settings, self.store, {"approve": False, **self.changes}
        )

    def _keep_trouble(self, watch: Watch, error: DeepdiverError) -> Watch:
        held = self.watches.get(watch.run) or watch
        retry = timestamp(self.clock.time() + min(RETRY, held.every))
        return self.watches.advance(held.model_copy(update={"retry": retry, "trouble": str(error)}))

    def _now(self) -> str:
        return timestamp(self.clock.time())


def _told(stirred: tuple[Stir, ...]) -> str:
    counts = {
        kind: sum(item.kind == kind for item in stirred) for kind in ("new", "changed", "gone")
    }
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _because(item: Stir) -> str:
    name = f"{item.title} ({item.url})" if item.title and item.title != item.url else item.url
    asked = f", found by: {item.query}" if item.query else ""
    return f"   {item.kind}: {name}{asked}"
