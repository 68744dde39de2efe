"""Following a run: every listener gets every event once, in order, whenever it comes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import Settings
from deepdiver.errors import StoreUnreachableError
from deepdiver.service.feed import BATCH, KEPT, Feed
from deepdiver.service.joined import WOKEN
from deepdiver.store import Store, open_store
from tests.store.acts import make_run

RUN = "a-run"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(Settings(home=tmp_path))) as opened:
        opened.runs.create(make_run(RUN))
        yield opened


def add(store: Store, first: int, last: int) -> None:
    store.records.add_events(RUN, [f'{{"n": {n}}}' for n in range(first, last + 1)])


async def collect(feed: Feed, after: int = 0) -> list[int]:
    return [number async for number, _ in feed.follow(RUN, after)]


async def test_a_run_that_is_not_there_gives_nothing(store: Store) -> None:
    assert [item async for item in Feed(store).follow("nobody")] == []


@pytest.mark.parametrize("status", [RunStatus.ANSWERED, RunStatus.STOPPED, RunStatus.WAITING])
async def test_a_run_that_rests_gives_what_it_has_and_ends(store: Store, status: RunStatus) -> None:
    add(store, 1, 5)
    store.runs.set_status(RUN, status)
    assert await collect(Feed(store)) == [1, 2, 3, 4, 5]
    assert await collect(Feed(store), after=3) == [4, 5]
    assert await collect(Feed(store), after=9) == []


async def test_listeners_of_all_kinds_get_each_event_once(store: Store) -> None:
    feed, total = Feed(store, period=0.01), 3 * KEPT

    async def comes_and_goes() -> list[int]:
        got: list[int] = []
        while len(got) < total:
            async for number, _ in feed.follow(RUN, got[-1] if got else 0):
                got.append(number)
                if number % 100 == 0:
                    break
        return got

    async def comes_late() -> list[int]:
        await asyncio.sleep(0.1)
        return await collect(feed)

    listening = [asyncio.create_task(collect(feed)) for _ in range(50)]
    listening += [asyncio.create_task(comes_and_goes()), asyncio.create_task(comes_late())]
    for first in range(1, total + 1, 97):
        await asyncio.to_thread(add, store, first, min(first + 96, total))
        await asyncio.sleep(0.005)
    store.runs.set_status(RUN, RunStatus.ANSWERED)
    for got in await asyncio.gather(*listening):
        assert got == list(range(1, total + 1))


async def test_many_listeners_cost_as_much_as_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    read = store.records.events

    def counted(run: str, after: int = 0) -> Any:
        nonlocal reads
        reads += 1
        return read(run, after)

    monkeypatch.setattr(store.records, "events", counted)
    feed = Feed(store, period=0.01)
    listening = [asyncio.create_task(collect(feed)) for _ in range(1_000)]
    await asyncio.sleep(0.05)
    add(store, 1, 20)
    await asyncio.sleep(0.05)
    store.runs.set_status(RUN, RunStatus.ANSWERED)
    assert all(got == list(range(1, 21)) for got in await asyncio.gather(*listening))
    assert reads < 500, "one task looks for all of them"


async def test_batches_are_small_and_have_every_event_once(store: Store) -> None:
    add(store, 1, 3 * BATCH + 1)
    store.runs.set_status(RUN, RunStatus.ANSWERED)
    got = [
        [number for number, _ in batch]
        async for batch in Feed(store, period=0.01).follow_by_batches(RUN, 1)
    ]
    assert [number for batch in got for number in batch] == list(range(2, 3 * BATCH + 2))
    assert max(map(len, got)) <= BATCH


async def test_a_batch_is_empty_where_nothing_happens(store: Store) -> None:
    feed = Feed(store, period=0.01)
    got = []
    async for batch in feed.follow_by_batches(RUN, 0, 0.02):
        got.append(batch)
        if len(got) == 2:
            store.runs.set_status(RUN, RunStatus.STOPPED)
    assert got[:2] == [[], []]


async def test_the_loop_has_its_turn_between_listeners(store: Store) -> None:
    feed, heard, turns = Feed(store, period=0.01), list[int](), list[int]()

    async def listen() -> None:
        async for number, _ in feed.follow(RUN):
            heard.append(number)

    listening = [asyncio.create_task(listen()) for _ in range(4 * WOKEN)]
    await asyncio.sleep(0.1)
    add(store, 1, 1)
    while len(heard) < 4 * WOKEN:
        turns.append(len(heard))
        await asyncio.sleep(0)
    steps = [after - before for before, after in itertools.pairwise([*turns, len(heard)])]
    assert max(steps) <= 2 * WOKEN, "what is handed on between two turns of another task"
    store.runs.set_status(RUN, RunStatus.ANSWERED)
    await asyncio.gather(*listening)


async def test_who_waits_in_vain_leaves_nothing_behind_either(store: Store) -> None:
    feed = Feed(store, period=0.01)
    async with contextlib.aclosing(feed.follow_by_batches(RUN, 0, 0.005)) as batches:
        for _ in range(20):
            assert await anext(batches) == []
        assert len(feed._channels[RUN]._waiting) <= 1


async def test_a_silent_run_is_told_to_be_alive(store: Store) -> None:
    feed = Feed(store, period=0.01)
    told = []
    async for number, text in feed.follow(RUN, 0, idle=0.02):
        told.append((number, text))
        if len(told) == 2:
            store.runs.set_status(RUN, RunStatus.ANSWERED)
    assert told[:2] == [(0, ""), (0, "")]


async def test_closing_ends_all_who_listen(store: Store) -> None:
    add(store, 1, 3)
    feed = Feed(store, period=0.01)
    listening = [asyncio.create_task(collect(feed)) for _ in range(3)]
    await asyncio.sleep(0.1)
    await feed.close()
    async with asyncio.timeout(30):
        assert await asyncio.gather(*listening) == [[1, 2, 3]] * 3


async def test_a_database_that_is_away_for_a_while_costs_no_event_and_no_listener(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    read, asked, loop = store.runs.get, 0, asyncio.get_running_loop()
    reached = {3: asyncio.Event(), 6: asyncio.Event()}

    def away(run: str) -> Any:
        nonlocal asked
        asked += 1
        if asked in reached:
            loop.call_soon_threadsafe(reached[asked].set)
        if 2 <= asked <= 4:
            raise StoreUnreachableError("the server is away")
        return read(run)

    monkeypatch.setattr(store.runs, "get", away)
    feed = Feed(store, period=0.01)
    listening = [asyncio.create_task(collect(feed)) for _ in range(3)]
    add(store, 1, 2)
    await reached[3].wait()
    add(store, 3, 4)
    await reached[6].wait()
    store.runs.set_status(RUN, RunStatus.ANSWERED)
    assert await asyncio.gather(*listening) == [[1, 2, 3, 4]] * 3
    assert caplog.text.count("cannot be read: the server is away") == 3


async def test_a_run_that_is_deleted_while_it_is_followed_ends_there(store: Store) -> None:
    add(store, 1, 2)
    feed = Feed(store, period=0.01)
    listening = asyncio.create_task(collect(feed))
    await asyncio.sleep(0.05)
    store.runs.delete(RUN, 0.0)
    assert await listening == [1, 2]


async def test_what_is_secret_is_taken_out_once_for_all(store: Store) -> None:
    cleaned: list[str] = []

    def clean(text: str) -> str:
        cleaned.append(text)
        return text.replace("sesame", "[secret]")

    store.records.add_events(RUN, ['{"word": "sesame"}'])
    feed = Feed(store, clean, period=0.01)

    async def texts() -> list[str]:
        return [text async for _, text in feed.follow(RUN)]

    listening = [asyncio.create_task(texts()) for _ in range(5)]
    await asyncio.sleep(0.05)
    store.runs.set_status(RUN, RunStatus.ANSWERED)
    assert await asyncio.gather(*listening) == [['{"word": "[secret]"}']] * 5
    assert len(cleaned) == 1


async def test_who_leaves_leaves_nothing_behind(store: Store) -> None:
    feed = Feed(store, period=0.01)
    listening = asyncio.create_task(collect(feed))
    await asyncio.sleep(0.05)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert not feed._channels
