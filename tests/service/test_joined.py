"""Looks that are taken together: once for those who wait, never for those who come later."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

import pytest

from deepdiver.errors import UnknownNameError
from deepdiver.service.joined import WOKEN, Joined, wake
from tests.patience import PATIENCE


class Looks:
    """Looks that take as long as a test wants, and are counted."""

    def __init__(self, threads: int = 1) -> None:
        self.joined, self.go = Joined(threads, "test"), threading.Event()
        self.begun = threading.Semaphore(0)
        self.taken: list[str] = []
        self.error: Exception | None = None

    def step(self, what: str) -> Callable[[], str]:
        def look() -> str:
            self.taken.append(what)
            self.begun.release()
            assert self.go.wait(PATIENCE)
            if self.error is not None:
                raise self.error
            return f"{what} {len(self.taken)}"

        return look

    def ask(self, what: str) -> asyncio.Task[str]:
        return asyncio.create_task(self.joined.look(what, self.step(what)))

    async def begins(self) -> None:
        assert await asyncio.to_thread(self.begun.acquire, timeout=PATIENCE)


async def test_an_error_is_told_to_everybody_who_waits_and_to_nobody_later() -> None:
    looks = Looks()
    first = looks.ask("run")
    await looks.begins()
    others = [looks.ask("run") for _ in range(3)]
    await asyncio.sleep(0)
    looks.error = UnknownNameError("there is no such run")
    looks.go.set()
    for asked in (first, *others):
        with pytest.raises(UnknownNameError, match="no such run"):
            await asked
    assert looks.taken == ["run", "run"]
    looks.error = None
    assert await looks.ask("run") == "run 3"


async def test_those_who_come_before_a_look_begins_share_it() -> None:
    looks = Looks()
    first = looks.ask("a")
    await looks.begins()
    later = [looks.ask("a") for _ in range(50)]
    other = looks.ask("b")
    await asyncio.sleep(0)
    assert looks.taken == ["a"]
    looks.go.set()
    assert await first == "a 1"
    assert {await asked for asked in later} == {"a 2"}, "the first had begun before they came"
    assert await other == "b 3"
    assert looks.taken == ["a", "a", "b"]


async def test_who_leaves_does_not_keep_the_others_from_their_answer() -> None:
    looks = Looks()
    first = looks.ask("a")
    await looks.begins()
    leaving, staying = looks.ask("a"), looks.ask("a")
    await asyncio.sleep(0)
    leaving.cancel()
    first.cancel()
    looks.go.set()
    assert await staying == "a 2"
    for gone in (leaving, first):
        with pytest.raises(asyncio.CancelledError):
            await gone


def test_a_loop_that_closes_meanwhile_is_not_told() -> None:
    looks = Looks()

    async def begin_and_leave() -> None:
        asked = looks.ask("a")
        await looks.begins()
        asked.cancel()

    asyncio.run(begin_and_leave())
    looks.go.set()

    async def ask_again() -> str:
        return await looks.ask("a")

    assert asyncio.run(ask_again()) == "a 2", "its thread goes on"


async def test_a_few_go_on_at_each_turn_of_the_loop() -> None:
    looks, gone_on, steps = Looks(), 0, list[int]()

    async def wait() -> None:
        nonlocal gone_on
        await looks.joined.look("a", looks.step("a"))
        gone_on += 1

    first = asyncio.create_task(wait())
    await looks.begins()
    waiting = [asyncio.create_task(wait()) for _ in range(4 * WOKEN)]
    await asyncio.sleep(0)
    looks.go.set()
    while gone_on < 4 * WOKEN + 1:
        before = gone_on
        await asyncio.sleep(0)
        steps.append(gone_on - before)
    await asyncio.gather(first, *waiting)
    assert looks.taken == ["a", "a"]
    assert max(steps) <= 2 * WOKEN, "what happens between two turns of another task"


async def test_nobody_who_is_gone_is_woken() -> None:
    loop = asyncio.get_running_loop()
    gone, there = loop.create_future(), loop.create_future()
    gone.cancel()
    wake(deque([gone, there]), lambda waiter: waiter.set_result("now"))
    assert await there == "now"
    wake(deque(), lambda waiter: waiter.set_result("never"))


async def test_who_is_alone_is_not_woken_behind_a_crowd() -> None:
    loop = asyncio.get_running_loop()
    order: list[str] = []

    def settle(name: str) -> Callable[[asyncio.Future[None]], None]:
        def note(waiter: asyncio.Future[None]) -> None:
            order.append(name)
            waiter.set_result(None)

        return note

    crowd = [loop.create_future() for _ in range(10 * WOKEN)]
    wake(deque(crowd), settle("crowd"))
    assert order == ["crowd"] * WOKEN, "the others go on at the next turns"
    alone = loop.create_future()
    wake(deque([alone]), settle("alone"))
    await alone
    assert len(order) <= 2 * WOKEN + 1
    await asyncio.gather(*crowd)
    assert order.count("crowd") == 10 * WOKEN


async def test_several_crowds_together_are_no_more_at_a_turn_than_one() -> None:
    loop = asyncio.get_running_loop()
    woken = 0

    def settle(waiter: asyncio.Future[None]) -> None:
        nonlocal woken
        woken += 1
        waiter.set_result(None)

    crowds = [[loop.create_future() for _ in range(4 * WOKEN)] for _ in range(5)]
    for crowd in crowds:
        wake(deque(crowd), settle)
    steps = list[int]()
    while woken < 20 * WOKEN:
        before = woken
        await asyncio.sleep(0)
        steps.append(woken - before)
    assert max(steps) <= WOKEN
    assert all(waiter.done() for crowd in crowds for waiter in crowd)
