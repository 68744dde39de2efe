"""The gateway's clock, and the clocks that take its place in the tests."""

from __future__ import annotations

import asyncio
import time

import pytest

from deepdiver.gateway.clock import MACHINE_CLOCK
from tests.gateway.rig import NOW, Clock, StandingClock, settle_down
from tests.patience import PATIENCE


async def test_a_block_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        async with MACHINE_CLOCK.timeout(0.01):
            await asyncio.sleep(PATIENCE)


async def test_a_block_that_ends_in_time_is_left_alone() -> None:
    async with MACHINE_CLOCK.timeout(PATIENCE):
        await MACHINE_CLOCK.sleep(0)


async def test_it_tells_the_time_of_the_machine_and_sleeps() -> None:
    before = time.time()
    assert before <= MACHINE_CLOCK.time() <= time.time()
    began = time.monotonic()
    await MACHINE_CLOCK.sleep(0.02)
    assert time.monotonic() - began >= 0.019


@pytest.mark.parametrize("clock", [Clock(), StandingClock()])
async def test_a_clock_for_tests_ends_a_block_when_its_time_is_up(clock: Clock) -> None:
    async def work() -> None:
        async with clock.timeout(10):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await settle_down(2)
    clock.advance(9)
    await settle_down(2)
    assert not task.done()
    clock.advance(1)
    with pytest.raises(TimeoutError):
        await task
    async with clock.timeout(5):
        pass
    clock.advance(5)  # the block was left long ago
    with pytest.raises(TimeoutError):
        async with clock.timeout(0):
            await asyncio.Event().wait()


async def test_sleeping_moves_the_clock_of_the_tests_on() -> None:
    clock = Clock()
    await clock.sleep(3_600)
    assert (clock.time(), clock.slept) == (NOW + 3_600, [3_600])


async def test_who_sleeps_by_a_standing_clock_wakes_when_the_test_says_so() -> None:
    clock = StandingClock()
    sleepers = [asyncio.create_task(clock.sleep(seconds)) for seconds in (1, 5, 5)]
    await clock.asleep(3)
    clock.advance(1)
    await sleepers[0]
    sleepers[1].cancel()
    await clock.asleep(1)
    assert not sleepers[2].done()
    clock.advance(4)
    await sleepers[2]
