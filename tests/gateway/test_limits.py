"""A place among a provider's calls: shared by everybody, obeyed by everybody, and never lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.settings import Limit, Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Reply
from deepdiver.gateway.clock import MACHINE_CLOCK
from deepdiver.gateway.clock import Clock as MachineClock
from deepdiver.gateway.limits import LONGEST_PAUSE_OF_A_PROVIDER, LONGEST_WAIT, Limits
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.gateway.acts import call_many, meet_at
from tests.gateway.rig import (
    NOW,
    Clock,
    Door,
    Service,
    StandingClock,
    ask,
    cancel_during,
    fault,
    for_ever,
    leave,
    make_run,
    rows,
    settle_down,
    until,
)
from tests.patience import PATIENCE

PAID = Reply("paid")


def limits(store: SqliteStore, clock: MachineClock, **limit: float) -> Limits:
    return Limits(store, Settings(limits={"p": Limit.model_validate(limit)}), clock)


async def enter(place: Limits, clock: Clock, seconds: float = 60.0) -> float:
    """Take a place, give it back, and say when it was had."""
    async with place.place("p", seconds):
        return clock.now


# There is none


async def test_a_provider_that_rests_for_too_long_is_not_waited_for(
    store: SqliteStore, clock: Clock
) -> None:
    place = limits(store, clock)
    await place.pause("p", 61)
    with pytest.raises(
        CallError, match=r"p has no place for a call in time \(the next in 61.0 s\)"
    ) as met:
        await enter(place, clock, 60)
    assert met.value.fault is CallFault.RATE
    assert clock.slept == []
    assert rows(store, "slots") == []
    assert await enter(place, clock, 61) == pytest.approx(NOW + 61, abs=0.01)


async def test_a_place_that_comes_after_the_end_is_not_waited_for(
    store: SqliteStore, clock: Clock
) -> None:
    place = limits(store, clock, rate=1, per=10)
    await enter(place, clock)
    with pytest.raises(CallError, match=r"the next in 10.0 s"):
        async with place.place("p", 60, ends=NOW + 10):
            raise AssertionError("there was none")
    async with place.place("p", 60, ends=NOW + 10.1):
        assert clock.now < NOW + 10.1


async def test_a_place_after_the_end_is_not_even_asked_for(
    store: SqliteStore, clock: Clock
) -> None:
    place = limits(store, clock)
    with pytest.raises(CallError):
        async with place.place("p", 60, ends=NOW):
            raise AssertionError("it is too late")
    assert rows(store, "buckets") == []


async def test_a_queue_is_waited_for_however_long_it_is(store: SqliteStore) -> None:
    """Only rest is refused: that others are before us says nothing about the provider."""
    clock = StandingClock()
    place = limits(store, clock, rate=1_000, concurrent=1)
    async with place.place("p", 600):
        waiting = asyncio.create_task(enter(place, clock, 2))
        for _ in range(50):
            await clock.asleep()
            clock.advance(LONGEST_WAIT)
        await clock.asleep()
    clock.advance(LONGEST_WAIT)
    assert await asyncio.wait_for(waiting, PATIENCE) == NOW + 51 * LONGEST_WAIT


# Rate


async def test_calls_are_started_evenly_after_a_burst(store: SqliteStore, clock: Clock) -> None:
    place = limits(store, clock, rate=2, per=1)
    times = [await enter(place, clock) - NOW for _ in range(6)]
    assert times == pytest.approx([0, 0, 0.5, 1.0, 1.5, 2.0], abs=0.02)


async def test_another_gateway_on_the_same_store_meets_the_same_rate(
    store: SqliteStore, clock: Clock
) -> None:
    one, other = limits(store, clock, rate=1), limits(store, clock, rate=1)
    times = [await enter(place, clock) - NOW for place in (one, other, one, other)]
    assert times == pytest.approx([0, 1, 2, 3], abs=0.02)


async def test_a_provider_without_a_setting_has_the_default(
    store: SqliteStore, clock: Clock
) -> None:
    place = Limits(store, Settings(), clock)
    times = []
    for _ in range(12):
        async with place.place("unheard of", 60):
            times.append(clock.now - NOW)
    assert times[:10] == [0.0] * 10
    assert times[10:] == pytest.approx([0.1, 0.2], abs=0.02)


@settings(max_examples=25)
@given(rate=st.integers(1, 5), per=st.floats(0.5, 20), calls=st.integers(1, 12))
def test_no_window_holds_more_than_a_burst_and_its_share(rate: int, per: float, calls: int) -> None:
    async def play(place: Limits, clock: Clock) -> list[float]:
        return [await enter(place, clock) for _ in range(calls)]

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_sqlite(Path(folder))) as store,
    ):
        clock = Clock()
        times = asyncio.run(play(limits(store, clock, rate=rate, per=per), clock))
    for first, start in enumerate(times):
        for last in range(first, calls):
            assert last - first + 1 <= rate + rate * (times[last] - start) / per + 1e-3


# Concurrency


async def test_no_more_than_the_limit_are_in_flight(store: SqliteStore) -> None:
    door = Door(store, limits={"p": {"rate": 1e6, "concurrent": 2}})
    inside, most = 0, 0

    async def work() -> Reply:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await settle_down(5)
        inside -= 1
        return PAID

    replies = await asyncio.gather(*(door.call(ask(str(n)), Service(work)) for n in range(8)))
    assert replies == [PAID] * 8
    assert most == 2
    door.nothing_is_held()


async def test_the_first_to_come_is_the_first_served(store: SqliteStore) -> None:
    place = limits(store, MACHINE_CLOCK, rate=1_000, concurrent=1)
    served: list[int] = []

    async def come(number: int) -> None:
        async with place.place("p", 600):
            served.append(number)

    await asyncio.wait_for(asyncio.gather(*(come(number) for number in range(6))), PATIENCE)
    assert served == list(range(6))


async def test_those_in_line_do_not_all_ask_the_store(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    take = store.limits.take

    def watched(provider: str, owner: str, *args: float, **kwargs: float) -> object:
        asked.append(owner)
        return take(provider, owner, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(store.limits, "take", watched)
    clock = StandingClock()
    place = limits(store, clock, rate=1_000, concurrent=1)
    async with place.place("p", 60):
        waiting = [asyncio.create_task(enter(place, clock)) for _ in range(20)]
        for _ in range(3):
            await clock.asleep()
            clock.advance(LONGEST_WAIT)
        await clock.asleep()
        assert len(set(asked)) == 2  # the one inside and the first in line
        assert len(asked) == 5
    async with asyncio.timeout(PATIENCE):
        while not all(task.done() for task in waiting):
            clock.advance(LONGEST_WAIT)
            await settle_down(1)


def test_a_run_may_go_on_in_another_event_loop(store: SqliteStore) -> None:
    """A graph that waits for a person is invoked again, often by another asyncio.run."""
    door = Door(store, limits={"p": {"rate": 1e6, "concurrent": 1}})

    async def crowd(name: str) -> list[Reply]:
        async def work() -> Reply:
            await settle_down(5)
            return PAID

        return await asyncio.gather(
            *(door.call(ask(f"{name}{n}"), Service(work)) for n in range(4))
        )

    assert asyncio.run(crowd("first")) == asyncio.run(crowd("second")) == [PAID] * 4


async def test_other_providers_have_places_of_their_own(store: SqliteStore) -> None:
    clock = Clock()
    place = Limits(
        store, Settings(limits={"p": Limit(concurrent=1), "q": Limit(concurrent=1)}), clock
    )
    async with place.place("p", 60), asyncio.timeout(PATIENCE), place.place("q", 60):
        assert len(rows(store, "slots")) == 2


# A place is given back


@pytest.mark.parametrize(
    "error", [fault(CallFault.AUTH), fault(CallFault.MALFORMED), RuntimeError("a bug")]
)
async def test_a_failed_call_gives_its_place_back(store: SqliteStore, error: Exception) -> None:
    door = Door(store, limits={"p": {"concurrent": 1}})
    with pytest.raises(type(error)):
        await door.call(ask("a"), Service(error))
    async with asyncio.timeout(PATIENCE):
        await door.call(ask("b"), Service())
    door.nothing_is_held()


async def test_a_cancelled_call_gives_its_place_back(store: SqliteStore) -> None:
    door, service = Door(store, limits={"p": {"concurrent": 1}}), Service(for_ever)
    task = asyncio.ensure_future(door.call(ask("a"), service))
    await until(lambda: service.calls == 1)
    assert len(rows(store, "slots")) == 1
    await leave(task)
    door.nothing_is_held()


async def test_who_is_cancelled_in_line_takes_no_place(store: SqliteStore) -> None:
    clock = StandingClock()
    place = limits(store, clock, rate=1_000, concurrent=1)
    async with place.place("p", 60):
        tasks = [asyncio.create_task(enter(place, clock)) for _ in range(3)]
        await clock.asleep()
        for task in tasks:
            await leave(task)
        assert len(rows(store, "slots")) == 1
    assert rows(store, "slots") == []
    await asyncio.wait_for(enter(place, clock), PATIENCE)


async def test_who_is_cancelled_while_the_place_is_being_granted_leaves_none_behind(
    store: SqliteStore,
) -> None:
    """The thread that takes the place cannot be cancelled.

    The place must be given back after it was taken.
    """
    await cancel_during("limits.take", store, enter(limits(store, Clock()), Clock()))
    assert rows(store, "buckets") != []  # it was granted
    assert rows(store, "slots") == []  # and given back


async def test_a_place_whose_holder_was_killed_is_free_when_it_runs_out(
    store: SqliteStore, clock: Clock
) -> None:
    assert store.limits.take("p", "the dead", NOW, NOW + 30, rate=10, per=1, concurrent=1).granted
    assert await enter(limits(store, clock, concurrent=1), clock) == pytest.approx(
        NOW + 30, abs=0.1
    )
    assert rows(store, "slots") == []


async def test_who_takes_up_the_work_of_the_dead_takes_their_place_at_once(
    store: SqliteStore, clock: Clock
) -> None:
    assert store.limits.take("p", "r1 call", NOW, NOW + 3_000, rate=10, per=1, concurrent=1).granted
    async with limits(store, clock, concurrent=1).place("p", 60, owner="r1 call"):
        assert clock.now == NOW
        assert rows(store, "slots") == [("p", "r1 call", NOW + 60)]
    assert rows(store, "slots") == []


# Rest


async def test_a_slip_in_a_header_does_not_shut_a_provider_out_for_a_year(
    store: SqliteStore, clock: Clock
) -> None:
    place = limits(store, clock)
    await place.pause("p", 365 * 86_400.0)
    assert await enter(place, clock, LONGEST_PAUSE_OF_A_PROVIDER) == pytest.approx(
        NOW + LONGEST_PAUSE_OF_A_PROVIDER, abs=0.1
    )


async def test_rest_is_for_one_provider(store: SqliteStore, clock: Clock) -> None:
    place = limits(store, clock)
    await place.pause("p", 50)
    async with place.place("q", 60):
        assert clock.now == NOW
    assert await enter(place, clock) == pytest.approx(NOW + 50, abs=0.01)


async def test_waiting_is_looked_after_every_second(store: SqliteStore, clock: Clock) -> None:
    place = limits(store, clock)
    await place.pause("p", 3.5)
    await enter(place, clock)
    assert clock.slept == pytest.approx([1.0, 1.0, 1.0, 0.5], abs=0.01)


# Across processes


@pytest.mark.slow
def test_processes_share_rate_and_concurrency(store: SqliteStore, home: Path) -> None:
    """3 processes × 7 calls at 10 a second with a burst of 10, 2 at a time."""
    store.runs.create(make_run("r3"))
    context = multiprocessing.get_context("spawn")
    limit = {"rate": 10.0, "concurrent": 2}
    jobs = [(home, run, 7, limit) for run in ("r1", "r2", "r3")]
    with context.Pool(3, meet_at, (context.Barrier(3),)) as pool:
        made = pool.map_async(call_many, jobs, chunksize=1).get(120)
        pool.close()
        pool.join()
    times = [pair for calls, _ in made for pair in calls]
    granted = [now for _, grants in made for now in grants]
    assert len(times) == len(granted) == 21
    changes = sorted([(began, 1) for began, _ in times] + [(ended, -1) for _, ended in times])
    inside = [sum(change for _, change in changes[: n + 1]) for n in range(len(changes))]
    assert max(inside) <= 2
    assert max(granted) - min(granted) >= (21 - 10) / 10 - 1e-3
    assert rows(store, "slots") == []
