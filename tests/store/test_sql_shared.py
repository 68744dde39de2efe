"""What runs and processes share.

Limits, leases and claims, in one process by arithmetic and in several for real.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.store import LimitGrant
from deepdiver.store.sql import CLOCK_GRAIN
from tests.store.acts import (
    NOW,
    call_in_turn,
    claim_all,
    hold_in_turn,
    make_run,
    meet_at,
    open_and_close,
)
from tests.store.places import AnyStore, Place, SqlitePlace

PROCESSES = 4
Job = TypeVar("Job")
Result = TypeVar("Result")


def in_processes(act: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
    """Do jobs side by side, one process each, all at the same moment."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(len(jobs), meet_at, (context.Barrier(len(jobs)),)) as pool:
        results = pool.map_async(act, jobs, chunksize=1).get(120)
        pool.close()
        pool.join()
    return results


def take(
    store: AnyStore,
    owner: str = "me",
    now: float = NOW,
    rate: float = 2.0,
    per: float = 1.0,
    concurrent: int = 100,
) -> LimitGrant:
    return store.limits.take("web", owner, now, now + 60, rate=rate, per=per, concurrent=concurrent)


# Limits


def test_an_empty_bucket_says_how_long_to_wait(store: AnyStore) -> None:
    assert take(store, "a") == take(store, "b") == LimitGrant(granted=True)
    assert take(store, "c") == LimitGrant(granted=False, wait=0.5)
    assert take(store, "c", NOW + 0.25) == LimitGrant(granted=False, wait=0.25)
    assert take(store, "c", NOW + 0.5).granted
    assert not take(store, "d", NOW + 0.5).granted


def test_a_bucket_never_holds_more_than_a_burst(store: AnyStore) -> None:
    assert [take(store, str(n), NOW + 1_000_000).granted for n in range(3)] == [True, True, False]
    assert [take(store, str(n), NOW + 2_000_000).granted for n in range(3)] == [True, True, False]


def test_less_than_one_call_a_period_still_lets_one_through(store: AnyStore) -> None:
    assert take(store, "a", rate=0.1, per=1).granted
    assert take(store, "b", rate=0.1, per=1) == LimitGrant(granted=False, wait=10.0)
    assert take(store, "b", NOW + 10, rate=0.1, per=1).granted


def test_providers_do_not_wait_for_each_other(store: AnyStore) -> None:
    for provider in ("web", "library", "web"):
        assert store.limits.take(
            provider, provider, NOW, NOW + 9, rate=2, per=1, concurrent=2
        ).granted


def test_slots_are_given_back_or_run_out(store: AnyStore) -> None:
    assert take(store, "a", rate=100, concurrent=2).granted
    assert take(store, "b", rate=100, concurrent=2).granted
    refusal = take(store, "c", rate=100, concurrent=2)
    assert not refusal.granted
    assert 0 < refusal.wait <= 0.1
    store.limits.give("web", "nobody")
    store.limits.give("library", "a")
    assert not take(store, "c", rate=100, concurrent=2).granted
    store.limits.give("web", "a")
    assert take(store, "c", rate=100, concurrent=2).granted
    assert not take(store, "d", NOW + 59.99, rate=100, concurrent=2).granted
    assert take(
        store, "d", NOW + 60, rate=100, concurrent=2
    ).granted  # b and c never gave theirs back.
    assert store.database.rows("SELECT owner FROM slots") == [("d",)]


def test_one_owner_holds_one_slot_and_pays_for_each_call(store: AnyStore) -> None:
    assert take(store, concurrent=1).granted
    assert take(store, concurrent=1).granted  # A retry: the same slot.
    assert not take(store, concurrent=1).granted  # But the bucket is empty.


def test_a_refusal_takes_nothing(store: AnyStore) -> None:
    assert take(store, "a", concurrent=1).granted
    for _ in range(10):
        assert not take(store, "b", concurrent=1).granted
    store.limits.give("web", "a")
    assert take(store, "b", concurrent=1).granted


def test_a_pause_holds_for_everybody_and_the_longest_counts(store: AnyStore) -> None:
    store.limits.pause("web", NOW, NOW + 30)
    store.limits.pause("web", NOW, NOW + 10)
    assert take(store) == LimitGrant(granted=False, wait=30.0)
    assert store.limits.take("library", "me", NOW, NOW + 9, rate=1, per=1, concurrent=1).granted
    assert take(store, "a", NOW + 30).granted
    store.limits.pause("web", NOW, NOW + 40)
    assert take(store, "b", NOW + 31) == LimitGrant(granted=False, wait=9.0)
    assert [take(store, name, NOW + 40).granted for name in "cde"] == [True, True, False]


def test_a_clock_that_was_set_back_does_not_block_for_as_long(store: AnyStore) -> None:
    assert [take(store, name, NOW + 3600).granted for name in "ab"] == [True, True]
    for n in range(60):
        store.limits.give("web", "ab"[n % 2])
    assert not take(store, "c", NOW).granted
    assert take(store, "c", NOW + 0.5).granted


def test_times_in_the_wrong_order_do_not_fill_the_bucket_twice(store: AnyStore) -> None:
    granted = sum(take(store, str(n), NOW + (0 if n % 2 else 1)).granted for n in range(100))
    assert granted == 2


@st.composite
def timelines(draw: st.DrawFn) -> tuple[float, float, list[float]]:
    rate = draw(st.floats(0.05, 50))
    per = draw(st.floats(0.1, 100))
    steps = draw(st.lists(st.floats(0, 3) | st.just(0.0), min_size=1, max_size=60))
    scale = per / max(1.0, rate)  # So that steps are of the order of a token.
    times, now = [], NOW
    for step in steps:
        now += step * scale
        times.append(now)
    return rate, per, times


@pytest.fixture(scope="module")
def shared(lasting: Place) -> Iterator[AnyStore]:
    with closing(lasting.open()) as opened:
        yield opened


def forget(store: AnyStore) -> None:
    with store.database.write() as db:
        db.execute("DELETE FROM buckets")
        db.execute("DELETE FROM slots")


@given(timeline=timelines())
def test_in_no_window_more_than_a_burst_and_the_refill(
    shared: AnyStore, timeline: tuple[float, float, list[float]]
) -> None:
    rate, per, times = timeline
    forget(shared)
    granted = [
        now
        for n, now in enumerate(times)
        if take(shared, str(n), now, rate, per, concurrent=1000).granted
    ]
    assert granted[:1] == times[:1]  # A full bucket to begin with.
    for first in range(len(granted)):
        for last in range(first, len(granted)):
            allowed = max(1.0, rate) + rate / per * (granted[last] - granted[first] + CLOCK_GRAIN)
            assert last - first + 1 <= allowed + 1e-9


@given(timeline=timelines())
def test_who_waits_as_told_gets_through(
    shared: AnyStore, timeline: tuple[float, float, list[float]]
) -> None:
    rate, per, times = timeline
    forget(shared)
    now = times[0]
    for n in range(20):
        grant = take(shared, str(n), now, rate, per, concurrent=1000)
        if not grant.granted:
            assert 0 < grant.wait <= per / rate + 0.002
            now += grant.wait
            assert take(shared, str(n), now, rate, per, concurrent=1000).granted


@given(
    acts=st.lists(
        st.tuples(st.sampled_from(["take", "give"]), st.integers(0, 5), st.floats(0, 20)),
        max_size=60,
    ),
    concurrent=st.integers(1, 4),
)
def test_never_more_slots_than_allowed(
    shared: AnyStore, acts: list[tuple[str, int, float]], concurrent: int
) -> None:
    forget(shared)
    now, held = NOW, dict[str, float]()
    for act, number, step in acts:
        now += step
        owner = str(number)
        if act == "give":
            shared.limits.give("web", owner)
            held.pop(owner, None)
            continue
        others = sum(until > now for name, until in held.items() if name != owner)
        grant = take(shared, owner, now, rate=1e6, concurrent=concurrent)
        assert grant.granted == (others < concurrent)
        if grant.granted:
            held[owner] = now + 60


# Several processes


@pytest.mark.slow
def test_processes_that_open_a_new_home_at_once_all_get_in(tmp_path: Path) -> None:
    homes = [SqlitePlace(tmp_path / str(n)) for n in range(50)]
    assert in_processes(open_and_close, [homes] * PROCESSES) == [0] * PROCESSES


@pytest.mark.slow
def test_a_lease_has_one_holder_among_processes(place: Place) -> None:
    with closing(place.open()) as store:
        store.runs.create(make_run())
    clashes = in_processes(hold_in_turn, [(place, f"p{n}", 15) for n in range(PROCESSES)])
    assert clashes == [0] * PROCESSES
    with closing(place.open()) as store:
        store.leases.take("r1", "me", NOW, 30)


@pytest.mark.slow
def test_a_claim_has_one_winner_among_processes(place: Place) -> None:
    won = in_processes(claim_all, [(place, f"p{n}", 100) for n in range(PROCESSES)])
    assert sorted(key for keys in won for key in keys) == list(range(100))


@pytest.mark.slow
def test_processes_together_keep_to_the_limits(place: Place) -> None:
    times, rate, concurrent = 15, 40.0, 2
    calls = [
        call
        for process in in_processes(
            call_in_turn, [(place, f"p{n}", times, rate, concurrent) for n in range(PROCESSES)]
        )
        for call in process
    ]
    assert len(calls) == times * PROCESSES
    # A process that has read the clock may wait for another's transaction, for as long as the
    # machine is busy. So a call counts as within a window if it asked and was granted within.
    for start, _, _ in calls:
        for _, end, _ in calls:
            within = sum(start <= asked and granted <= end for asked, granted, _ in calls)
            assert within <= rate + rate * max(end - start, 0.0) + 1e-3
    asked = [now for now, _, _ in calls]
    # 60 calls, 40 at once: half a second for the other 20.
    assert max(asked) - min(asked) >= (len(calls) - rate) / rate - 1e-3
    edges = sorted([(began, 1) for _, began, _ in calls] + [(ended, -1) for _, _, ended in calls])
    inside = most = 0
    for _, change in edges:
        inside += change
        most = max(most, inside)
    assert 1 <= most <= concurrent
