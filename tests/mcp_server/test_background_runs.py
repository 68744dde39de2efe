"""Runs in threads of their own: how they fail, how they are stopped, and what is told of them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import closing
from decimal import Decimal
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import (
    EVENT,
    Event,
    FindingAdded,
    HypothesisTested,
    Limited,
    PhaseStarted,
    RunEnded,
    RunStarted,
    Searched,
    SourceRead,
)
from deepdiver.core.record import HypothesisStatus, RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import NoEvidenceError, StoppedError, UsageError
from deepdiver.mcp_server.background_runs import MOST_RUNS, BackgroundRuns, RunTally
from deepdiver.run import OnEvent, Outcome, research, resume
from deepdiver.store.sqlite import open_sqlite
from tests.patience import PATIENCE

QUESTION = "How many tonnes of cheese did Svedjan Ost AB make in 2025?"
Work = Callable[[OnEvent], Coroutine[Any, Any, Outcome]]


@pytest.fixture
async def runs() -> AsyncIterator[BackgroundRuns]:
    made = BackgroundRuns()
    yield made
    await made.close()


def working(settings: Settings) -> Work:
    return lambda on_event: research(QUESTION, settings, on_event=on_event)


async def test_a_run_that_cannot_begin_says_why(runs: BackgroundRuns, settings: Settings) -> None:
    nothing = settings.model_copy(update={"documents": (), "search": ("library",)})
    underway = runs.begin(working(nothing))
    with pytest.raises((UsageError, NoEvidenceError), match="documents"):
        await underway.begun
    with pytest.raises((UsageError, NoEvidenceError)):
        await underway.ended


async def test_a_fault_of_our_own_is_logged_and_told(
    runs: BackgroundRuns, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(on_event: OnEvent) -> Outcome:
        raise RuntimeError("a bug")

    underway = runs.begin(broken)
    with caplog.at_level(logging.ERROR), pytest.raises(RuntimeError, match="a bug"):
        await underway.begun
    assert "because of a bug in deepdiver" in caplog.text


async def test_too_many_at_a_time_are_refused_until_one_ends(runs: BackgroundRuns) -> None:
    async def waits(on_event: OnEvent) -> Outcome:
        await asyncio.sleep(600)
        raise AssertionError("it was not stopped")

    held = [runs.begin(waits) for _ in range(MOST_RUNS)]
    with pytest.raises(UsageError, match=f"{MOST_RUNS} runs are in progress"):
        runs.begin(waits)
    await held[0].stop_and_wait()
    assert isinstance(held[0].ended.exception(), StoppedError)
    runs.begin(waits)


async def test_one_that_is_stopped_before_it_began_leaves_nothing(
    runs: BackgroundRuns, endless: Settings
) -> None:
    underway = runs.begin(working(endless))
    underway.stop()  # its thread may not have begun yet
    await asyncio.wait({underway.ended}, timeout=PATIENCE)
    error = underway.ended.exception()
    with closing(open_sqlite(endless.home)) as store:
        listed = store.runs.list_all()
    assert (isinstance(error, StoppedError) and listed == []) or [run.status for run in listed] == [
        RunStatus.STOPPED
    ]


async def test_a_stopped_run_is_saved_and_can_be_gone_on_with(
    runs: BackgroundRuns, endless: Settings
) -> None:
    underway = runs.begin(working(endless))
    run = await underway.begun
    assert runs.of(run) is underway
    await asyncio.wait_for(underway.stop_and_wait(), PATIENCE)
    outcome = underway.ended.result()
    assert isinstance(outcome.error, StoppedError)
    await asyncio.sleep(0)
    assert runs.of(run) is None
    with closing(open_sqlite(endless.home)) as store:
        assert store.runs.get(run).status is RunStatus.STOPPED
    # So the lease is free.
    again = runs.begin(lambda on_event: resume(run, endless, on_event=on_event))
    assert await again.begun == run
    await again.stop_and_wait()


async def test_stopping_twice_does_not_disturb_the_saving(
    runs: BackgroundRuns, endless: Settings
) -> None:
    underway = runs.begin(working(endless))
    run = await underway.begun
    for _ in range(5):
        underway.stop()
        await asyncio.sleep(0.005)
    await asyncio.wait({underway.ended}, timeout=PATIENCE)
    assert isinstance(underway.ended.result().error, StoppedError)
    with closing(open_sqlite(endless.home)) as store:
        assert store.runs.get(run).status is RunStatus.STOPPED


async def test_who_is_cancelled_while_waiting_waits_for_the_saving(
    runs: BackgroundRuns, endless: Settings
) -> None:
    underway = runs.begin(working(endless))
    await underway.begun
    with anyio.move_on_after(0.01) as scope:
        try:
            await anyio.sleep(PATIENCE)
        finally:
            await underway.stop_and_wait()
            assert underway.ended.done()
    assert scope.cancelled_caught


async def test_closing_stops_them_all(endless: Settings) -> None:
    runs = BackgroundRuns()
    held = [runs.begin(working(endless)) for _ in range(2)]
    names = [await underway.begun for underway in held]
    await runs.close()
    with closing(open_sqlite(endless.home)) as store:
        assert {store.runs.get(name).status for name in names} == {RunStatus.STOPPED}


async def test_the_loop_answers_while_a_run_computes(runs: BackgroundRuns) -> None:
    computing, heard = threading.Event(), threading.Event()

    async def computes(on_event: OnEvent) -> Outcome:
        computing.set()
        assert heard.wait(PATIENCE), "the loop was blocked: nobody could set it"
        raise NoEvidenceError("nothing")

    underway = runs.begin(computes)
    await asyncio.to_thread(computing.wait, PATIENCE)
    heard.set()
    with pytest.raises(NoEvidenceError):
        await underway.ended


async def test_a_run_ends_and_is_told_of(runs: BackgroundRuns, settings: Settings) -> None:
    underway = runs.begin(working(settings))
    run = await underway.begun
    outcome = await underway.ended
    await asyncio.sleep(0)
    assert outcome.run.id == run
    assert outcome.run.status is RunStatus.ANSWERED
    assert underway.tally.sources > 5
    assert underway.tally.findings > 3
    assert underway.tally.line == "ended: answered"


TOLD: list[tuple[Event, str]] = [
    (PhaseStarted(phase="gather_information", iteration=0), "gather information"),
    (PhaseStarted(phase="verify_hypothesis", iteration=2), "verify hypothesis, round 2"),
    (SourceRead(source="s", title="The fire", url="u", credibility=0.5), "read The fire"),
    (FindingAdded(finding="f", statement="It burnt.", source="s"), "found: It burnt."),
    (
        HypothesisTested(
            hypothesis="h",
            statement="It was arson.",
            posterior=0.2,
            status=HypothesisStatus.REFUTED,
            searched=True,
        ),
        "refuted (0.20): It was arson.",
    ),
    (Limited(what="tavily was down"), "tavily was down"),
    (RunEnded(run="r", status=RunStatus.FAILED, cost=Decimal(0), error="the key"), "ended: failed"),
]


@pytest.mark.parametrize(("event", "line"), TOLD, ids=[event.type for event, _ in TOLD])
def test_what_is_told_of_an_event(event: Event, line: str) -> None:
    tally = RunTally()
    tally.take(event)
    assert (tally.line, tally.steps) == (line, 1)


def test_an_error_is_forgotten_when_the_run_goes_on() -> None:
    tally = RunTally()
    tally.take(RunEnded(run="r", status=RunStatus.FAILED, cost=Decimal(0), error="the key"))
    assert tally.error == "the key"
    tally.take(
        RunStarted(
            run="r", question="?", strategy="popper", reasoner="e", providers=(), ceiling=None
        )
    )
    assert tally.error == ""


@given(
    st.lists(
        st.sampled_from([*[event for event, _ in TOLD], Searched(query="q", titles=())]),
        max_size=30,
    )
)
def test_steps_never_go_back_and_figures_are_counts(events: list[Event]) -> None:
    tally, steps = RunTally(), 0
    for event in events:
        tally.take(EVENT.validate_json(event.model_dump_json()))
        assert tally.steps in (steps, steps + 1)
        steps = tally.steps
    assert tally.sources == sum(event.type == "source_read" for event in events)
    assert tally.findings == sum(event.type == "finding_added" for event in events)
