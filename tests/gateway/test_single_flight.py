"""One flight.

The same call asked for twice at once is one call, and nobody suffers from another's leaving.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Reply
from deepdiver.gateway.single_flight import SingleFlight
from tests.gateway.rig import fault, leave, settle_down
from tests.patience import PATIENCE


class Plane:
    """Something to fly: lands when told, and takes a while to come down when cancelled."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error, self.land = error, asyncio.Event()
        self.begun = self.cancelled = self.down = 0

    async def __call__(self) -> Reply:
        self.begun += 1
        try:
            await self.land.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(0.01)
            raise
        finally:
            self.down += 1
        if self.error:
            raise self.error
        return Reply("landed")


def board(
    flights: SingleFlight, plane: Callable[[], Coroutine[Any, Any, Reply]], key: str = "k"
) -> asyncio.Task[Reply]:
    return asyncio.create_task(flights.join(key, plane))


async def test_a_failure_is_delivered_to_everyone() -> None:
    flights, plane = SingleFlight(), Plane(fault(CallFault.SERVER))
    tasks = [board(flights, plane) for _ in range(3)]
    await settle_down(2)
    plane.land.set()
    for task in tasks:
        with pytest.raises(CallError, match="it failed"):
            await task
    assert plane.begun == 1


async def test_an_answer_is_delivered_to_everyone() -> None:
    flights, plane = SingleFlight(), Plane()
    tasks = [board(flights, plane) for _ in range(3)]
    await settle_down(2)
    plane.land.set()
    assert await asyncio.gather(*tasks) == [Reply("landed")] * 3
    assert plane.begun == 1


async def test_what_is_over_is_not_in_the_air() -> None:
    flights, plane = SingleFlight(), Plane(fault(CallFault.SERVER))
    plane.land.set()
    with pytest.raises(CallError):
        await flights.join("k", plane)
    plane.error = None
    assert await flights.join("k", plane) == Reply("landed")
    assert plane.begun == 2
    assert flights._flights == {}


async def test_other_calls_fly_by_themselves() -> None:
    flights, one, other = SingleFlight(), Plane(), Plane()
    tasks = board(flights, one, "a"), board(flights, other, "b")
    one.land.set()
    assert await tasks[0] == Reply("landed")
    assert not tasks[1].done()
    await leave(tasks[1])
    assert other.cancelled == 1


async def test_when_the_first_is_cancelled_the_second_gets_its_answer() -> None:
    flights, plane = SingleFlight(), Plane()
    first, second = board(flights, plane), board(flights, plane)
    await settle_down(2)
    await leave(first)
    assert plane.cancelled == 0
    plane.land.set()
    assert await second == Reply("landed")
    assert plane.begun == 1


async def test_when_the_second_is_cancelled_the_first_gets_its_answer() -> None:
    flights, plane = SingleFlight(), Plane()
    first, second = board(flights, plane), board(flights, plane)
    await settle_down(2)
    await leave(second)
    plane.land.set()
    assert await first == Reply("landed")


async def test_the_last_to_leave_leaves_when_it_is_down() -> None:
    flights, plane = SingleFlight(), Plane()
    first, second = board(flights, plane), board(flights, plane)
    await settle_down(2)
    await leave(first)
    await leave(second)
    assert (plane.cancelled, plane.down) == (1, 1)
    assert flights._flights == {}


async def test_all_leaving_at_once_brings_it_down() -> None:
    flights, plane = SingleFlight(), Plane()
    tasks = [board(flights, plane) for _ in range(3)]
    await settle_down(2)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=PATIENCE)
    assert all(task.cancelled() for task in tasks)
    assert (plane.begun, plane.cancelled, plane.down) == (1, 1, 1)


async def test_leaving_before_it_has_begun() -> None:
    flights, plane = SingleFlight(), Plane()
    task = board(flights, plane)
    await leave(task)
    assert plane.begun == plane.down
    assert flights._flights == {}
    plane.land.set()
    assert await flights.join("k", plane) == Reply("landed")


async def test_who_comes_while_it_goes_down_waits_and_flies_anew() -> None:
    flights, plane = SingleFlight(), Plane()
    leaving = board(flights, plane)
    await settle_down(2)
    leaving.cancel()
    await asyncio.sleep(0)
    late = [board(flights, plane) for _ in range(2)]
    plane.land.set()
    assert await asyncio.gather(*late) == [Reply("landed")] * 2
    assert leaving.cancelled()
    assert (plane.begun, plane.cancelled) == (2, 1)


async def test_who_comes_while_it_goes_down_may_be_cancelled_too() -> None:
    flights, plane = SingleFlight(), Plane()
    leaving = board(flights, plane)
    await settle_down(2)
    leaving.cancel()
    await asyncio.sleep(0)
    late = board(flights, plane)
    await asyncio.sleep(0)
    await leave(late)
    await asyncio.wait([leaving], timeout=PATIENCE)
    assert leaving.cancelled()
    assert plane.begun == 1


async def test_an_answer_at_the_moment_of_leaving_is_no_error() -> None:
    flights, plane = SingleFlight(), Plane()
    task = board(flights, plane)
    await settle_down(2)
    plane.land.set()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=PATIENCE)
    assert flights._flights == {}
    assert plane.down == 1


async def test_a_failure_that_nobody_waits_for_is_not_complained_about() -> None:
    """The loop's handler would be told of an exception that was never retrieved."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: complaints.append(context)
    )

    async def stubborn() -> Reply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise fault(CallFault.NETWORK) from None
        raise AssertionError

    flights = SingleFlight()
    task = board(flights, stubborn)
    await settle_down(2)
    await leave(task)
    del task, flights
    await settle_down(2)
    assert complaints == []


@settings(max_examples=60)
@example([("join", 0), ("wait", 0), ("leave", 0)])
@given(
    st.lists(st.tuples(st.sampled_from(["join", "leave", "wait"]), st.integers(0, 3)), max_size=14)
)
def test_whoever_comes_and_goes_one_flies_at_a_time_and_all_who_stay_arrive(
    moves: list[tuple[str, int]],
) -> None:
    async def play() -> None:
        flights, flying, most = SingleFlight(), 0, 0
        go = asyncio.Event()

        async def plane() -> Reply:
            nonlocal flying, most
            flying += 1
            most = max(most, flying)
            try:
                await go.wait()
            finally:
                try:
                    await asyncio.sleep(0)  # it may be called off here too
                finally:
                    flying -= 1
            return Reply("landed")

        seats: dict[int, asyncio.Task[Reply]] = {}
        for move, seat in moves:
            if move == "join" and seat not in seats:
                seats[seat] = board(flights, plane)
            elif move == "leave" and seat in seats:
                seats.pop(seat).cancel()
            else:
                await asyncio.sleep(0)
        go.set()
        assert await asyncio.gather(*seats.values()) == [Reply("landed")] * len(seats)
        await settle_down(3)
        assert most <= 1
        assert flying == 0
        assert flights._flights == {}

    asyncio.run(play())
