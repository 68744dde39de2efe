"""Watching a run: what fails, what is killed at every step, and when something is told."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings, load
from deepdiver.errors import StoppedError, UnknownNameError, UnreachableError, UsageError
from deepdiver.run import Outcome, research, watch
from deepdiver.run.standing_queries import Asked
from deepdiver.run.update_run import FRESH, UpdatePlan
from deepdiver.run.watch import GLANCE, KEPT, Attempt, Watcher
from deepdiver.run.watch_list import RETRY, News, Stir, Watch, WatchList, timestamp
from deepdiver.store import CallState, Store, open_store
from tests.gateway.rig import Clock
from tests.patience import PATIENCE

pytestmark = pytest.mark.usefixtures("read_once")

ROOT = Path(__file__).parents[2]
DAY = 86_400
QUESTION = "How many passengers did the ferry of Vantskär carry in 2025?"
COUNT = "The ferry of Vantskär carried 1,200 passengers in 2025."
RECOUNT = "The ferry of Vantskär carried 1,350 passengers in 2025."
STIR = Stir(kind="new", url="/papers/new.md", title="New", query="ferry")


class Killed(BaseException):
    """The process ends here."""


@dataclass
class Told:
    """What was told, and who tells."""

    news: list[News] = field(default_factory=list)
    again: list[bool] = field(default_factory=list)
    dies: str = ""

    def __call__(self, watched: Watch, news: News, again: bool) -> None:
        if self.dies == "before":
            raise Killed
        self.news.append(news)
        self.again.append(again)
        if self.dies == "after":
            raise Killed


def write(folder: Path, text: str, name: str = "count.md") -> None:
    (folder / name).write_text(f"# Count of the board\n\n{text}\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    write(made, COUNT)
    return made


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> Settings:
    given = {"home": tmp_path / "home", "documents": (folder,), "search": ["library"]}
    return load({**given, "strategy": "iterative", "max_iterations": 2, "cache": FRESH})


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with closing(open_store(settings)) as opened:
        yield opened


@pytest.fixture
async def run(settings: Settings, store: Store) -> str:
    return (await research(QUESTION, settings, store=store)).run.id


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def watcher(settings: Settings, store: Store, told: Told) -> Watcher:
    return Watcher(store, settings, told, clock=Clock())


def stand(monkeypatch: pytest.MonkeyPatch, *stirred: Stir) -> list[int]:
    """Have the standing queries find this; returns a list with an entry for each time."""
    times: list[int] = []

    async def ask(*_: Any) -> Asked:
        times.append(1)
        return Asked(3, stirred if len(times) == 1 else (), {"/papers/new.md": (str(times),)})

    monkeypatch.setattr(watch, "ask_standing_queries", ask)
    return times


# -- what cannot be watched


def test_there_is_no_such_run(watcher: Watcher) -> None:
    with pytest.raises(UnknownNameError):
        watcher.add("nothing")
    assert watcher.watches.all() == []


async def test_a_run_that_is_not_finished(watcher: Watcher, run: str, store: Store) -> None:
    store.runs.set_status(run, RunStatus.STOPPED)
    with pytest.raises(UsageError, match="not finished"):
        watcher.add(run)


async def test_a_run_is_watched_once_and_keeps_its_schedule(watcher: Watcher, run: str) -> None:
    first = watcher.add(run, 2 * DAY)
    assert (first.every, first.base, first.question) == (2 * DAY, run, QUESTION)
    assert watcher.add(run[:-2]) == first
    assert watcher.add(run, 3 * DAY).every == 3 * DAY
    assert [item.every for item in watcher.watches.all()] == [3 * DAY]


async def test_a_watched_run_was_deleted(watcher: Watcher, run: str, store: Store) -> None:
    watched = watcher.add(run)
    store.runs.delete(run, 0.0)
    attempt = await watcher.attend(watched)
    assert isinstance(attempt.error, UnknownNameError)
    assert run in attempt.watch.trouble


async def test_a_watch_that_was_stopped_meanwhile_ends(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = watcher.add(run)

    async def ask(*_: Any) -> Asked:
        watcher.watches.drop(run)
        return Asked(1, (), {})

    monkeypatch.setattr(watch, "ask_standing_queries", ask)
    with pytest.raises(StoppedError, match="not watched any more"):
        await watcher.attend(watched)
    assert watcher.watches.all() == []


async def test_another_process_works_on_it(watcher: Watcher, run: str) -> None:
    watched = watcher.add(run)
    with watcher.watches.hold(run):
        assert (await watcher.attend(watched)).busy
    assert watcher.watches.get(run) == watched


# -- failures


async def test_a_round_that_fails_is_tried_again_soon(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    watched = watcher.add(run, DAY)

    async def fail(*_: Any) -> Asked:
        raise UnreachableError("nobody answers")

    monkeypatch.setattr(watch, "ask_standing_queries", fail)
    attempt = await watcher.attend(watched)
    assert (attempt.moved, str(attempt.error)) == (False, "nobody answers")
    assert attempt.watch.due.timestamp() == watcher.clock.time() + RETRY
    assert attempt.watch.trouble == "nobody answers"
    stand(monkeypatch)
    after = (await watcher.attend(watched)).watch
    assert (after.retry, after.trouble, told.news) == ("", "", [])
    assert after.due.timestamp() == watcher.clock.time() + DAY


async def test_a_period_shorter_than_the_pause_is_kept(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Asked:
        raise UnreachableError("nobody answers")

    monkeypatch.setattr(watch, "ask_standing_queries", fail)
    attempt = await watcher.attend(watcher.add(run, 600))
    assert attempt.watch.due.timestamp() == watcher.clock.time() + 600


@pytest.mark.parametrize(
    ("status", "code"), [(RunStatus.COULD_NOT_SEARCH, 7), (RunStatus.MODEL_FAILED, 1)]
)
async def test_a_run_that_says_nothing_about_the_claims_is_made_again(
    watcher: Watcher,
    run: str,
    monkeypatch: pytest.MonkeyPatch,
    told: Told,
    status: RunStatus,
    code: int,
) -> None:
    """All claims would seem to be removed: that is no news, but a failure."""
    asked = stand(monkeypatch, STIR)
    again = research

    async def fail(question: str, settings: Settings, **how: Any) -> Outcome:
        outcome = await again(question, settings, **how)
        ended = outcome.run.model_copy(update={"status": status})
        return Outcome(ended, outcome.report, outcome.cost, ())

    monkeypatch.setattr(watch, "research", fail)
    failed = await watcher.attend(watcher.add(run))
    assert failed.error is not None
    assert failed.error.exit_code == code
    assert told.news == []
    left = failed.watch.round
    assert left is not None
    monkeypatch.setattr(watch, "research", again)
    after = await watcher.attend(failed.watch)
    assert (after.error, after.watch.round, after.watch.trouble) == (None, None, "")
    assert watcher.store.runs.get(left.run).status in {RunStatus.ANSWERED, RunStatus.PARTIAL}
    assert len(asked) == 1, "what stirred is remembered, and not asked for again"


async def test_whoever_stops_the_run_ends_the_watch_and_it_goes_on_later(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand(monkeypatch, STIR)
    again = research

    async def stop(question: str, settings: Settings, **how: Any) -> Outcome:
        outcome = await again(question, settings, **how)
        return Outcome(outcome.run, None, outcome.cost, (), StoppedError("interrupted"))

    monkeypatch.setattr(watch, "research", stop)
    with pytest.raises(StoppedError, match="interrupted"):
        await watcher.attend(watcher.add(run))
    (left,) = watcher.watches.all()
    assert left.round is not None
    assert watcher.is_due(left)
    after = await watcher.attend(left)
    assert after.watch.round is None
    assert {item.id for item in watcher.store.runs.list_all()} == {run, left.round.run}


async def test_a_run_that_is_made_elsewhere_is_waited_for_and_the_round_goes_on_with_it(
    watcher: Watcher, run: str, told: Told, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, made = stand(monkeypatch, STIR), list[str]()

    async def make(_: Watch, plan: UpdatePlan, named: str) -> Outcome | None:
        made.append(named)
        if len(made) < 3:
            return None
        return await research(plan.question, plan.settings, store=watcher.store, named=named)

    watched = watcher.add(run)
    write(folder, RECOUNT)
    elsewhere = replace(watcher, make=make)
    for _ in range(2):
        attempt = await elsewhere.attend(watched)
        assert (attempt.error, attempt.news) == (None, ())
        assert attempt.watch.round is not None
        assert elsewhere.is_due(attempt.watch)  # it is looked at again soon
    last = await elsewhere.attend(watched)
    assert last.moved
    assert len(told.news) == 1
    assert (len(asked), len(set(made))) == (1, 1)
    assert last.watch.round is None


async def test_a_run_made_elsewhere_that_failed_is_tried_again_and_the_trouble_forgotten(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand(monkeypatch, STIR)
    troubles: list[str] = []

    async def make(watched: Watch, plan: UpdatePlan, named: str) -> Outcome | None:
        troubles.append(watched.trouble)
        if len(troubles) == 1:
            raise UsageError("run x is failed")
        return None

    elsewhere = replace(watcher, make=make)
    failed = await elsewhere.attend(watcher.add(run))
    assert "run x is failed" in failed.watch.trouble
    assert not elsewhere.is_due(failed.watch)
    again = await elsewhere.attend(failed.watch)
    assert (again.watch.trouble, again.watch.retry) == ("", "")
    assert troubles == ["", "run x is failed"]


# -- killed at every step


class DyingList(WatchList):
    """A list whose process is killed at one of its saves, before or after it."""

    def __init__(self, home: Path, at: int, after: bool) -> None:
        super().__init__(home)
        self.at, self.after, self.saves = at, after, 0

    def advance(self, watched: Watch) -> Watch:
        self.saves += 1
        if self.saves == self.at and not self.after:
            raise Killed
        saved = super().advance(watched)
        if self.saves == self.at and self.after:
            raise Killed
        return saved


SAVES = 4
"""Saves of a round with news: it has begun, was compared, is being told, was told."""


async def kill_and_go_on(
    watcher: Watcher, run: str, patch: pytest.MonkeyPatch, at: int, after: bool
) -> None:
    dying = DyingList(watcher.settings.home, at, after)
    watched = watcher.add(run)
    with patch.context() as dead:
        dead.setattr(Watcher, "watches", property(lambda self: dying))
        with pytest.raises(Killed):
            await watcher.attend(watched)
    assert dying.saves == at


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, SAVES + 1))
async def test_whatever_is_killed_nothing_is_lost_or_told_or_made_twice(
    watcher: Watcher,
    run: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Told,
    at: int,
    after: bool,
) -> None:
    write(folder, RECOUNT)
    await kill_and_go_on(watcher, run, monkeypatch, at, after)
    told_before = len(told.news)
    for _ in range(2):
        await watcher.attend(watcher.watches.find(run))
    (held,) = watcher.watches.all()
    assert (held.round, held.news, len(held.told)) == (None, None, 1)
    assert len(watcher.store.runs.list_all()) == 2
    assert held.base == held.told[0].after
    # Killed between telling and saving that, it cannot know: told again, it says so.
    unsure = (at, after) == (SAVES, False)
    assert told_before == int(at == SAVES)
    assert len(told.news) == 1 + unsure
    assert told.again == ([False, True] if unsure else [(at, after) == (SAVES - 1, True)])


@pytest.mark.parametrize("dies", ["before", "after"])
async def test_killed_in_the_act_of_telling_it_tells_again_and_says_so(
    watcher: Watcher, run: str, folder: Path, told: Told, dies: str
) -> None:
    write(folder, RECOUNT)
    told.dies = dies
    with pytest.raises(Killed):
        await watcher.attend(watcher.add(run))
    told.dies = ""
    await watcher.attend(watcher.watches.find(run))
    assert told.again[-1] is True
    assert len({news.after for news in told.news}) == 1


async def test_a_process_killed_while_it_researches_goes_on_with_the_same_run(
    watcher: Watcher, run: str, folder: Path, told: Told, settings: Settings
) -> None:
    """A real process, and SIGKILL: no handler and no `finally` runs."""
    write(folder, RECOUNT)
    watcher.add(run)
    script = """
import asyncio, os, signal, sys
from deepdiver.core.settings import load
from deepdiver.run.watch import Watcher
from deepdiver.store import open_store
from deepdiver.store.sql import SqlJournal

settle, last = SqlJournal.settle, []
def die(self, run, *rest):
    settle(self, run, *rest)
    if last and run == last[0].run and len(self.rows(run)) >= 2:
        os.kill(os.getpid(), signal.SIGKILL)
SqlJournal.settle = die

settings = load({"home": sys.argv[1]})
watcher = Watcher(open_store(settings), settings, print, lambda line: last.append(
    watcher.watches.all()[0].round))
asyncio.run(watcher.attend(watcher.watches.all()[0]))
"""
    process = subprocess.run(  # noqa: ASYNC221  nothing else is to happen meanwhile
        [sys.executable, "-c", script, str(settings.home)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=dict(os.environ),
    )
    assert process.returncode == -signal.SIGKILL, process.stderr
    (left,) = watcher.watches.all()
    assert left.round is not None
    unfinished = watcher.store.runs.get(left.round.run)
    assert unfinished.status is RunStatus.RUNNING
    rows = watcher.store.journal.rows(unfinished.id)
    bought = {row.key: row.sends for row in rows if row.state is CallState.SETTLED}
    assert bought
    after = await watcher.attend(left)
    assert after.error is None
    assert [news.after for news in told.news] == [unfinished.id]
    assert {item.id for item in watcher.store.runs.list_all()} == {run, unfinished.id}
    sends = {row.key: row.sends for row in watcher.store.journal.rows(unfinished.id)}
    assert bought.items() <= sends.items()


# -- what is told


async def test_nothing_has_stirred_and_no_run_is_made(
    watcher: Watcher, run: str, told: Told, store: Store
) -> None:
    attempt = await watcher.attend(watcher.add(run, DAY))
    assert (attempt.moved, attempt.stirred, attempt.error) == (False, (), None)
    assert attempt.queries > 0
    assert [item.id for item in store.runs.list_all()] == [run]
    assert told.news == []
    assert attempt.watch.asked == timestamp(watcher.clock.time())


async def test_something_stirred_and_no_claim_moved(
    watcher: Watcher, run: str, folder: Path, told: Told, store: Store
) -> None:
    write(folder, "Rye bread for the passengers of the ferry needs a day.", "bread.md")
    first = await watcher.attend(watcher.add(run))
    assert [item.kind for item in first.stirred] == ["new"]
    if not first.moved:
        assert (told.news, first.watch.base) == ([], run)
        assert len(store.runs.list_all()) == 2
    again = await watcher.attend(first.watch)
    assert (again.stirred, again.moved) == ((), False)
    assert len(store.runs.list_all()) == 2


async def test_a_claim_moved_and_is_told_once(
    watcher: Watcher, run: str, folder: Path, told: Told
) -> None:
    write(folder, RECOUNT)
    first = await watcher.attend(watcher.add(run))
    (news,) = told.news
    assert first.moved
    assert first.news == (news,)
    assert (news.before, news.after) == (run, first.watch.base)
    assert news.record["changed"][0]["after"]["text"] == RECOUNT
    assert json.loads(json.dumps(news.record)) == news.record
    assert any(RECOUNT in line for line in news.lines)
    assert "What made it look" in news.lines
    assert "Confirmed" not in news.lines
    again = await watcher.attend(first.watch)
    assert (again.moved, len(told.news)) == (False, 1)
    assert [(item.after, item.lines) for item in again.watch.told] == [(news.after, ())]


async def test_the_next_news_are_against_what_was_told_last(
    watcher: Watcher, run: str, folder: Path, told: Told
) -> None:
    watched = watcher.add(run)
    for text in (RECOUNT, COUNT):
        write(folder, text)
        watched = (await watcher.attend(watched)).watch
    one, two = told.news
    assert (two.before, two.record["changed"][0]["after"]["text"]) == (one.after, COUNT)


async def test_a_claim_that_moves_back_is_told_however_long_it_was_quiet(
    watcher: Watcher, run: str, folder: Path, told: Told
) -> None:
    watched = watcher.add(run)
    for text in (COUNT, RECOUNT, COUNT):
        write(folder, text)
        for _ in range(2):
            watched = (await watcher.attend(watched)).watch
    changed = [news.record["changed"][0]["after"]["text"] for news in told.news]
    assert changed == [RECOUNT, COUNT]


async def test_a_source_is_gone(watcher: Watcher, run: str, folder: Path, told: Told) -> None:
    write(folder, "The ferry of Vantskär leaves at eight.", "time.md")
    (folder / "count.md").unlink()
    attempt = await watcher.attend(watcher.add(run))
    assert "gone" in [item.kind for item in attempt.stirred]
    (news,) = told.news
    assert [item["text"] for item in news.record["source_gone"]] == [COUNT]


async def test_old_news_do_not_fill_the_file(
    watcher: Watcher, run: str, folder: Path, told: Told
) -> None:
    news = News(at=timestamp(0), before="a", after="b", stirred=())
    watcher.watches.put(watcher.add(run).model_copy(update={"told": (news,) * KEPT}))
    write(folder, RECOUNT)
    kept = (await watcher.attend(watcher.watches.find(run))).watch.told
    assert len(kept) == KEPT
    assert kept[-1].after == told.news[0].after


# -- the loop


async def keep(
    watcher: Watcher, until: Callable[[list[Attempt]], bool], only: str = ""
) -> list[Attempt]:
    """Let the loop go on until something is so; it takes no time."""
    attempts: list[Attempt] = []

    def stop(seconds: float) -> None:
        assert seconds <= GLANCE
        if until(attempts):
            raise Killed

    assert isinstance(watcher.clock, Clock)
    watcher.clock.on_sleep = stop
    with pytest.raises(Killed):
        await watcher.keep_watch(attempts.append, only)
    return attempts


async def test_rounds_are_a_period_apart(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stand(monkeypatch)
    watcher.add(run, DAY)
    began = watcher.clock.time()
    attempts = await keep(watcher, lambda done: len(done) == 4)
    assert len(asked) == 4
    times = [datetime_of(item) - began for item in attempts]
    assert times[0] <= GLANCE
    assert all(DAY <= b - a <= DAY + GLANCE for a, b in itertools.pairwise(times))


def datetime_of(attempt: Attempt) -> float:
    return attempt.watch.due.timestamp() - attempt.watch.every


async def test_a_machine_that_slept_for_a_month_asks_once(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stand(monkeypatch)
    watcher.add(run, DAY)
    assert isinstance(watcher.clock, Clock)
    await keep(watcher, lambda done: len(done) == 1)
    watcher.clock.now += 30 * DAY
    ends = watcher.clock.now + DAY / 2
    await keep(watcher, lambda done: watcher.clock.time() > ends)
    assert len(asked) == 2


async def test_the_loop_ends_when_nothing_is_watched(watcher: Watcher, run: str) -> None:
    await watcher.keep_watch(lambda attempt: None)
    watcher.add(run, DAY)
    watcher.watches.drop(run)
    await watcher.keep_watch(lambda attempt: None, run)
    assert isinstance(watcher.clock, Clock)
    assert watcher.clock.slept == []


async def test_a_failure_does_not_end_the_loop(
    watcher: Watcher, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Asked:
        raise UnreachableError("nobody answers")

    monkeypatch.setattr(watch, "ask_standing_queries", fail)
    watcher.add(run, DAY)
    began = watcher.clock.time()
    attempts = await keep(watcher, lambda done: len(done) == 3)
    assert all(attempt.error for attempt in attempts)
    assert 2 * RETRY <= watcher.clock.time() - began <= 2 * RETRY + 4 * GLANCE


async def test_one_run_of_several_is_attended_to(
    watcher: Watcher, run: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = stand(monkeypatch)
    other = (await research(QUESTION, settings, store=watcher.store)).run.id
    for name in (run, other):
        watcher.add(name, DAY)
    only = await keep(watcher, lambda done: watcher.clock.time() > 0 and len(done) == 1, other)
    assert [attempt.watch.run for attempt in only] == [other]
    assert len(asked) == 1
