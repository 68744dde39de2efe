"""The watched runs of a user: what is looked at again, how often, and which claims have moved.

A round of a watch researches the question again in a run of its own. That run belongs to whoever
watches, from before it begins: a purse is set aside for it first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from deepdiver.core.settings import EMBEDDED
from deepdiver.errors import LimitReachedError, UsageError
from deepdiver.run import Outcome
from deepdiver.run.compare_runs import Comparison, compare_runs, comparison_record
from deepdiver.run.update_run import UpdatePlan
from deepdiver.run.watch import Watcher
from deepdiver.run.watch_list import News, Watch, WatchList
from deepdiver.service import runs
from deepdiver.service.accounts import Account
from deepdiver.service.schemas import Moved, WatchState
from deepdiver.service.state import ServiceState

DAY = 86_400
PERIODS = {DAY: "every day", 7 * DAY: "every week", 30 * DAY: "every 30 days"}
"""How often a run can be looked at again, in seconds, and how that is called."""
MOST_WATCHES = 20
"""Watched runs of a user."""


def _adopt_nothing(watched: str, new: str) -> None:
    pass


@dataclass(frozen=True)
class OwnedWatcher(Watcher):
    """Makes rounds whose runs belong to whoever watches."""

    adopt: Callable[[str, str], None] = field(default=_adopt_nothing)
    """Is called with a watched run and the run that is about to be made for it."""

    @override
    async def _make(self, watch: Watch, plan: UpdatePlan, named: str) -> Outcome:
        await asyncio.to_thread(self.adopt, plan.run, named)
        return await super()._make(watch, plan, named)


def watcher_of(state: ServiceState) -> OwnedWatcher:
    """Return what the rounds of a service are made with."""

    def adopt(watched: str, new: str) -> None:
        state.purses.reserve(runs.owner_of(state, watched), new, None)

    return OwnedWatcher(state.store, state.settings, _tell_nobody, adopt=adopt)


def _tell_nobody(watch: Watch, news: News, again: bool) -> None:
    """Do nothing: the page of the watch list shows what has moved."""


def _list(state: ServiceState) -> WatchList:
    return WatchList(state.settings.home, state.store)


def list_watches(state: ServiceState, account: Account) -> tuple[WatchState, ...]:
    """Return the watched runs of a user, those with the latest news first."""
    own = [
        _shown(state, watch)
        for watch in _list(state).all()
        if runs.owner_of(state, watch.run) == account.name
    ]
    return tuple(sorted(own, key=lambda item: item.moved[0].at if item.moved else "", reverse=True))


def _shown(state: ServiceState, watch: Watch) -> WatchState:
    told = [*watch.told, *([watch.news] if watch.news else [])]
    return WatchState(
        run=watch.run,
        question=watch.question,
        every=watch.every,
        asked=watch.asked,
        due=watch.due.isoformat(timespec="seconds"),
        at_work=watch.round is not None,
        trouble=state.scrub(watch.trouble),
        moved=tuple(
            Moved(at=news.at, before=news.before, after=news.after, stirred=len(news.stirred))
            for news in reversed(told)
        ),
    )


def watch_run(state: ServiceState, account: Account, run: str, every: int) -> WatchState:
    """Put a finished run of a user on the watch list, or change how often it is looked at.

    Raises:
        UnknownNameError: If there is no such run.
        UsageError: If it is not finished, or looking again would cost more than the user may spend.
        LimitReachedError: If the user watches too many runs.
    """
    held = runs.find_run(state, account, run)
    if account.money is not None and held.settings.get("model", EMBEDDED) != EMBEDDED:
        raise UsageError("a watch asks a model again and again, beyond your budget")
    others = [item for item in list_watches(state, account) if item.run != held.id]
    if len(others) >= MOST_WATCHES:
        raise LimitReachedError(f"you watch {MOST_WATCHES} runs, which is the maximum")
    watch = watcher_of(state).add(held.id, every)
    state.log.add(account.name, "run.watch", held.id)
    return _shown(state, watch)


def unwatch_run(state: ServiceState, account: Account, run: str) -> None:
    """Take a run off the watch list, if it is on it; the runs of its rounds stay.

    Raises:
        UnknownNameError: If there is no such run.
    """
    held = runs.find_run(state, account, run)
    if _list(state).drop(held.id):
        state.log.add(account.name, "run.unwatch", held.id)


def is_watched(state: ServiceState, run: str) -> bool:
    """Return whether a run is on the watch list."""
    return _list(state).get(run) is not None


def compare(state: ServiceState, account: Account, one: str, other: str) -> Comparison:
    """Compare two runs of a user.

    Raises:
        UnknownNameError: If one of them is not there.
        UsageError: If one of them has no report, or both are the same run.
    """
    found = [runs.find_run(state, account, run).id for run in (one, other)]
    return asyncio.run(compare_runs(found[0], found[1], state.store))


def compare_as_json(state: ServiceState, account: Account, one: str, other: str) -> dict[str, Any]:
    """Return a comparison as values of JSON; see `compare`."""
    return comparison_record(compare(state, account, one, other))
