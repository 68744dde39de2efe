"""The shared cache: fresh for a time, fetched once whoever asks, and never stuck on the dead."""

from __future__ import annotations

import asyncio
import dataclasses
import multiprocessing
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import CallEnded
from deepdiver.core.settings import Settings
from deepdiver.errors import BudgetError, CallError, CallFault
from deepdiver.gateway import Reply
from deepdiver.gateway.cache import (
    POLL_SECONDS,
    Cache,
    CacheEntry,
    normal_address,
    shared_key,
)
from deepdiver.gateway.gateway import CLAIM_SECONDS
from deepdiver.store import CallState
from deepdiver.store.sqlite import SqliteStore
from tests.gateway.acts import SHARED, ask_together, die_in_flight, meet_at
from tests.gateway.rig import (
    KEY,
    NOW,
    Clock,
    Door,
    Service,
    StandingClock,
    ask,
    cancel_during,
    everything_on_disk,
    fault,
    for_ever,
    leave,
    make_run,
    rows,
    settle_down,
    until,
)
from tests.patience import PATIENCE

FOUND = ask(kind="search")


def cache(store: SqliteStore, clock: Clock | None = None) -> Cache:
    return Cache(store, clock or StandingClock(), lambda text: text.replace("hush", "[secret]"))


async def fetch(held: Cache, value: object, lifetime: float = 60.0) -> CacheEntry:
    async with held.entry(FOUND, lifetime, 15) as entry:
        if entry.cached is None:
            entry.fetched = Reply(value)
    return entry


class SlowService(Service):
    """A service that answers when `answer` is set."""

    def __init__(self) -> None:
        super().__init__(self._work)
        self.answer = asyncio.Event()

    async def _work(self) -> Reply:
        await self.answer.wait()
        return Reply("slow", Decimal("0.01"))


# What goes wrong


async def test_when_the_leader_fails_the_next_one_tries(store: SqliteStore) -> None:
    go = asyncio.Event()

    async def fail() -> Reply:
        await go.wait()
        raise fault(CallFault.REQUEST, "refused")

    leader, follower = Door(store), Door(store, "r2")
    failing, working = Service(fail), Service(Reply("good"))
    first = asyncio.ensure_future(leader.call(FOUND, failing))
    await until(lambda: failing.calls == 1)
    second = asyncio.ensure_future(follower.call(FOUND, working))
    await settle_down(20)
    assert working.calls == 0
    go.set()
    with pytest.raises(CallError, match="refused"):
        await first
    assert (await second).value == "good"
    assert (failing.calls, working.calls) == (1, 1)
    follower.nothing_is_held()


async def test_when_the_leader_has_no_money_the_next_one_tries(store: SqliteStore) -> None:
    with pytest.raises(BudgetError):
        await Door(store, budget="0").call(FOUND, Service())
    assert rows(store, "cache_claims") == []
    assert (await Door(store, "r2").call(FOUND, Service(Reply("good")))).value == "good"


async def test_when_the_leader_is_cancelled_the_next_one_tries(store: SqliteStore) -> None:
    stuck, working = Service(for_ever), Service(Reply("good"))
    first = asyncio.ensure_future(Door(store).call(FOUND, stuck))
    await until(lambda: stuck.calls == 1)
    second = asyncio.ensure_future(Door(store, "r2").call(FOUND, working))
    await settle_down(20)
    assert working.calls == 0
    await leave(first)
    assert (await asyncio.wait_for(second, PATIENCE)).value == "good"
    assert rows(store, "cache_claims") == []


async def test_who_is_cancelled_while_waiting_for_another_leaves_the_claim_alone(
    store: SqliteStore,
) -> None:
    stuck = Service(for_ever)
    first = asyncio.ensure_future(Door(store).call(FOUND, stuck))
    await until(lambda: stuck.calls == 1)
    second = asyncio.ensure_future(Door(store, "r2").call(FOUND, Service()))
    await settle_down(20)
    claim = rows(store, "cache_claims")
    await leave(second)
    assert rows(store, "cache_claims") == claim
    await leave(first)
    assert rows(store, "cache_claims") == []


async def test_who_is_cancelled_while_claiming_leaves_no_claim_behind(store: SqliteStore) -> None:
    await cancel_during("cache.claim", store, Door(store).call(FOUND, Service()))
    assert rows(store, "cache_claims") == []


async def test_a_claim_that_nobody_renews_is_taken_over(store: SqliteStore) -> None:
    clock = StandingClock()
    assert store.cache.claim(FOUND.key, "the dead", NOW, NOW + 15)
    door, service = Door(store, clock=clock), Service()
    task = asyncio.ensure_future(door.call(FOUND, service))
    for seconds in (14.75, 0.125):
        await clock.asleep()
        clock.advance(seconds)
    await clock.asleep()
    assert service.calls == 0
    clock.advance(0.125)
    assert (await asyncio.wait_for(task, PATIENCE)).value == {"answer": 42}
    assert service.calls == 1


async def test_the_living_renew_their_claim_however_long_it_takes(store: SqliteStore) -> None:
    clock, leader, follower = StandingClock(), SlowService(), Service()
    door = Door(store, clock=clock, deadlines={"search": 600})
    first = asyncio.ensure_future(door.call(FOUND, leader))
    await until(lambda: leader.calls == 1)
    second = asyncio.ensure_future(Door(store, "r2", clock=clock).call(FOUND, follower))
    for _ in range(12):
        await clock.asleep(2)  # the one renews its claim, the other looks for the answer
        clock.advance(CLAIM_SECONDS / 3)
    await clock.asleep(2)
    leader.answer.set()
    assert (await first).value == "slow"
    clock.advance(POLL_SECONDS)
    assert (await asyncio.wait_for(second, PATIENCE)).value == "slow"
    assert (leader.calls, follower.calls) == (1, 0)
    assert rows(store, "cache_claims") == []


async def test_a_claim_is_not_renewed_after_it_was_given_back(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that renews may be at it when the call ends."""
    renewing, go_on = threading.Event(), threading.Event()
    claim, claims = store.cache.claim, 0

    def slow(*args: Any) -> bool:
        nonlocal claims
        claims += 1
        if claims == 2:
            renewing.set()
            assert go_on.wait(PATIENCE)
        return claim(*args)

    monkeypatch.setattr(store.cache, "claim", slow)
    clock = StandingClock()

    async def fetch_slowly() -> None:
        async with cache(store, clock).entry(FOUND, 60, 15) as entry:
            await clock.asleep()
            clock.advance(5)
            await until(renewing.is_set)
            entry.fetched = Reply(1)

    task = asyncio.create_task(fetch_slowly())
    await until(renewing.is_set)
    await settle_down(20)
    go_on.set()
    await asyncio.wait_for(task, PATIENCE)
    await settle_down(20)
    assert rows(store, "cache_claims") == []
    assert len(rows(store, "cache")) == 1


async def test_an_answer_brought_between_the_look_and_the_claim_is_not_fetched_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = cache(store)
    get, looks = store.cache.get, 0

    def late(key: str, now: float) -> str | None:
        nonlocal looks
        looks += 1
        found = get(key, now)
        if looks == 1:
            assert found is None
            store.cache.put(key, '{"value":"brought","cost":"0","usage":{}}', now + 60)
        return found

    monkeypatch.setattr(store.cache, "get", late)
    assert (await fetch(other, "mine")).cached == Reply("brought")
    assert rows(store, "cache_claims") == []


# Time to live


async def test_an_answer_is_fresh_for_its_time_and_not_longer(store: SqliteStore) -> None:
    clock = StandingClock()
    held = cache(store, clock)
    await fetch(held, "old", lifetime=60)
    clock.now = NOW + 59.9
    assert (await fetch(held, "new")).cached == Reply("old")
    clock.now = NOW + 60
    assert (await fetch(held, "new")).cached is None
    assert (await fetch(held, "newer")).cached == Reply("new")


async def test_each_kind_has_its_own_time(store: SqliteStore) -> None:
    clock = StandingClock()
    times = {"search": 100.0, "fetch": 200.0, "feed": 0.0, "model": 50.0}
    asked: dict[str, int] = {}
    for later in (0, 49, 99, 199):
        for kind in times:
            service = Service(Reply(later))
            run = f"{kind}{later}"
            store.runs.create(make_run(run))
            clock.now = NOW + later
            await Door(store, run, clock=clock, cache=times).call(ask(kind=kind), service)  # type: ignore[arg-type]
            asked[kind] = asked.get(kind, 0) + service.calls
    assert asked == {"search": 2, "fetch": 1, "feed": 4, "model": 3}


async def test_models_are_not_shared_unless_someone_says_so(store: SqliteStore) -> None:
    services = Service(), Service()
    for run, service in zip(("r1", "r2"), services, strict=True):
        await Door(store, run).call(ask(kind="model"), service)
    assert [service.calls for service in services] == [1, 1]
    assert rows(store, "cache") == []


async def test_a_person_is_never_shared(store: SqliteStore) -> None:
    services = Service(), Service()
    for run, service in zip(("r1", "r2"), services, strict=True):
        await Door(store, run).call(ask(kind="human", worst="0"), service)
    assert [service.calls for service in services] == [1, 1]


async def test_fresh_neither_takes_nor_leaves_anything(store: SqliteStore) -> None:
    await Door(store).call(FOUND, Service(Reply("shared")))
    fresh = ask(kind="search", fresh=True)
    assert (await Door(store, "r2").call(fresh, Service(Reply("fresh")))).value == "fresh"
    store.runs.create(make_run("r3"))
    assert (await Door(store, "r3").call(FOUND, Service())).value == "shared"


async def test_fresh_does_not_wait_for_another(store: SqliteStore) -> None:
    stuck = Service(for_ever)
    task = asyncio.ensure_future(Door(store).call(FOUND, stuck))
    await until(lambda: stuck.calls == 1)
    async with asyncio.timeout(PATIENCE):
        await Door(store, "r2").call(ask(kind="search", fresh=True), Service())
    await leave(task)


async def test_a_time_of_0_shares_nothing(store: SqliteStore) -> None:
    await fetch(cache(store), "mine", lifetime=0)
    assert rows(store, "cache") == rows(store, "cache_claims") == []


# What is taken over


async def test_what_another_run_paid_for_costs_nothing_and_is_ours_for_ever(
    store: SqliteStore,
) -> None:
    clock = StandingClock()
    await Door(store, clock=clock).call(FOUND, Service())
    door, service = Door(store, "r2", budget="0", clock=clock), Service()
    reply = await door.call(FOUND, service)
    assert (reply.value, reply.cost, reply.usage) == (
        {"answer": 42},
        Decimal(0),
        {"input_tokens": 7},
    )
    assert service.calls == 0
    assert door.told == ["call_ended"]
    ended = door.events[0]
    assert isinstance(ended, CallEnded)
    assert (ended.origin, ended.cost) == ("cache", Decimal(0))
    row = door.row(FOUND)
    assert (row.state, row.sends, row.cost) == (CallState.SETTLED, 0, Decimal(0))
    assert door.gateway.budget.spent == 0
    clock.now += 10**7
    assert await Door(store, "r2", clock=clock).call(FOUND, Service(AssertionError())) == reply


async def page_of(store: SqliteStore, run: str, text: str) -> Reply:
    hash_ = await Door(store, run).gateway.save_text(text)
    return Reply({"snapshot": hash_}, texts=(hash_,))


async def test_a_text_goes_with_the_run_that_fetched_it_and_is_then_fetched_again(
    store: SqliteStore,
) -> None:
    await Door(store).call(FOUND, Service(await page_of(store, "r1", "a page")))
    store.runs.delete("r1", NOW)
    door, service = Door(store, "r2"), Service(await page_of(store, "r2", "the page as it is now"))
    reply = await door.call(FOUND, service)
    assert service.calls == 1
    assert store.texts.get(reply.value["snapshot"]) == "the page as it is now"
    store.runs.create(make_run("r3"))
    # And shared again.
    assert await Door(store, "r3").call(FOUND, Service(AssertionError())) == reply


async def test_who_takes_an_answer_over_keeps_its_texts(store: SqliteStore) -> None:
    first = await Door(store).call(FOUND, Service(await page_of(store, "r1", "a page")))
    second = await Door(store, "r2").call(FOUND, Service(AssertionError()))
    assert second.texts == first.texts
    store.runs.delete("r1", NOW)
    assert store.texts.get(second.value["snapshot"]) == "a page"
    # From the journal.
    assert await Door(store, "r2").call(FOUND, Service(AssertionError())) == second


async def test_a_hit_leaves_no_claim_and_takes_no_place(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Door(store).call(FOUND, Service())

    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError("nobody needs this")

    for name in ("cache.claim", "cache.release", "limits.take", "journal.mark_sent"):
        part, _, method = name.partition(".")
        monkeypatch.setattr(getattr(store, part), method, never)
    assert (await Door(store, "r2").call(FOUND, Service())).value == {"answer": 42}


async def test_secrets_are_not_shared(store: SqliteStore, home: Path) -> None:
    await fetch(cache(store), {"say hush": ["hush", 'in "hush" quotes']})
    assert (await fetch(cache(store), None)).cached == Reply(
        {"say [secret]": ["[secret]", 'in "[secret]" quotes']}
    )
    await Door(store, keys={"p": KEY}).call(
        ask("leak", kind="search"), Service(Reply(f"the key is {KEY}"))
    )
    other = await Door(store, "r2").call(ask("leak", kind="search"), Service())
    assert other.value == "the key is [secret]"
    assert KEY not in everything_on_disk(home)


# Single flight


async def ask_at_once(doors: list[Door], service: SlowService, clock: StandingClock) -> list[Reply]:
    """Have all wait for the answer that one of them fetches."""
    calls = [asyncio.ensure_future(door.call(FOUND, service)) for door in doors]
    await until(lambda: service.calls == 1)
    await clock.asleep(len(doors))  # the one renews its claim, the others look for the answer
    service.answer.set()
    await asyncio.wait(calls, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    clock.advance(POLL_SECONDS)
    return await asyncio.gather(*calls)


async def test_two_runs_that_ask_at_once_buy_once(store: SqliteStore) -> None:
    service, clock = SlowService(), StandingClock()
    doors = [Door(store, clock=clock), Door(store, "r2", clock=clock)]
    replies = await ask_at_once(doors, service, clock)
    assert service.calls == 1
    assert [reply.value for reply in replies] == ["slow", "slow"]
    assert sorted(reply.cost for reply in replies) == [Decimal(0), Decimal("0.01")]
    assert sorted(door.told[-1] for door in doors) == ["call_ended", "call_ended"]
    for door in doors:
        door.nothing_is_held()


async def test_many_runs_that_ask_at_once_buy_once(store: SqliteStore) -> None:
    service, clock = SlowService(), StandingClock()
    names = [f"many{n}" for n in range(8)]
    for name in names:
        store.runs.create(make_run(name))
    doors = [Door(store, name, clock=clock) for name in names]
    await ask_at_once(doors, service, clock)
    assert service.calls == 1


@pytest.mark.slow
def test_processes_that_ask_at_once_buy_once(store: SqliteStore, home: Path) -> None:
    context = multiprocessing.get_context("spawn")
    jobs = [(home, run, 0.3) for run in ("r1", "r2")]
    with context.Pool(2, meet_at, (context.Barrier(2),)) as pool:
        origins = pool.map_async(ask_together, jobs, chunksize=1).get(120)
        pool.close()
        pool.join()
    assert sorted(origins) == ["cache", "live"]
    assert len((home / "asked").read_text().split()) == 1


@pytest.mark.slow
async def test_a_killed_process_is_succeeded_by_its_own_run_at_once(
    store: SqliteStore, home: Path
) -> None:
    """Others wait for its claim to run out.

    The run itself, taken up again, finds its claim and its place.
    """
    process = multiprocessing.get_context("spawn").Process(
        target=die_in_flight, args=(home, 3_600.0, 1)
    )
    process.start()
    await asyncio.to_thread(process.join, 60)
    assert process.exitcode == -9
    assert len(rows(store, "cache_claims")) == len(rows(store, "slots")) == 1

    stranger, service = Door(store, "r2", limits={"p": {"concurrent": 9}}), Service()
    waiting = asyncio.ensure_future(stranger.call(SHARED, service))
    await settle_down(20)
    assert service.calls == 0

    resumed = Door(store, limits={"p": {"concurrent": 1}}, budget="1")
    assert resumed.gateway.budget.spent == Decimal("0.02")
    succeeding = Service(Reply("resumed", Decimal("0.01")))
    reply = await asyncio.wait_for(resumed.call(SHARED, succeeding), PATIENCE)
    assert reply.value == "resumed"
    assert resumed.told == ["call_uncertain", "call_started", "call_ended"]
    assert (resumed.row(SHARED).uncertain, resumed.row(SHARED).sends) == (1, 2)
    assert resumed.gateway.budget.spent == Decimal("0.03")
    assert (await asyncio.wait_for(waiting, PATIENCE)).value == "resumed"
    assert service.calls == 0
    resumed.nothing_is_held()


@pytest.mark.slow
async def test_a_killed_process_that_nobody_takes_up_is_succeeded_when_its_claim_runs_out(
    store: SqliteStore, home: Path
) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=die_in_flight, args=(home, 1.0, 9)
    )
    process.start()
    await asyncio.to_thread(process.join, 60)
    assert process.exitcode == -9
    service = Service(Reply("succeeded"))
    assert (
        await asyncio.wait_for(Door(store, "r2").call(SHARED, service), PATIENCE)
    ).value == "succeeded"
    assert service.calls == 1


# Whose answer it is


@pytest.mark.parametrize(
    ("provider", "one", "other"),
    [
        ("searxng", {"urls": {"searxng": "http://a"}}, {"urls": {"searxng": "http://b"}}),
        ("searxng", {}, {"urls": {"searxng": "http://b"}}),
        ("openai:m", {"urls": {"openai": "http://a/v1"}}, {"urls": {"openai": "http://a/v2"}}),
        (
            "mcp:notes",
            {"mcp": {"servers": {"notes": {"command": ["notes"]}}}},
            {"mcp": {"servers": {"notes": {"command": ["notes", "--other"]}}}},
        ),
        (
            "mcp:notes",
            {"mcp": {"servers": {"notes": {"url": "http://a/mcp"}}}},
            {"mcp": {"servers": {"notes": {"url": "http://b/mcp"}}}},
        ),
    ],
)
def test_the_address_of_a_service_is_part_of_the_name(
    provider: str, one: dict[str, Any], other: dict[str, Any]
) -> None:
    request = ask(kind="search", provider=provider)
    names = [shared_key(request, Settings.model_validate(made)) for made in (one, other)]
    assert len(set(names)) == 2
    again = ask(kind="search", provider=provider)
    assert shared_key(again, Settings.model_validate(one)) == names[0]
    assert again.key == request.key, "the journal knows both by one name"


def test_other_addresses_do_not_matter() -> None:
    request = ask(kind="search", provider="searxng")
    assert shared_key(request, Settings()) == request.key
    assert shared_key(request, Settings(urls={"tavily": "http://a"})) == request.key


def test_the_address_that_a_request_names_wins() -> None:
    at = [dataclasses.replace(FOUND, address=where) for where in ("http://a", "http://b", "A")]
    names = [shared_key(each, Settings(urls={FOUND.provider: "http://c"})) for each in at]
    assert names[0] != names[1]
    assert names[0] == names[2]


@pytest.mark.parametrize(
    ("address", "normal"),
    [
        ("HTTP://Example.ORG:80/v1/", "http://example.org/v1"),
        ("https://example.org:443", "https://example.org"),
        ("https://example.org.:8443//", "https://example.org:8443"),
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://[::1]:80/", "http://[::1]"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://a/Path?Query=1#part", "http://a/Path?Query=1"),
        ("http://a:port", "http://a:port"),
        ("http://[", "http://["),
        ("", ""),
    ],
)
def test_one_address_is_spelt_in_many_ways(address: str, normal: str) -> None:
    assert normal_address(address) == normal
    assert normal_address(normal) == normal


@given(st.text(max_size=30), st.text("/abc.:?#[]@%", max_size=20))
def test_spelling_an_address_plainly_twice_changes_nothing(host: str, rest: str) -> None:
    once = normal_address(f"http://{host}{rest}")
    assert normal_address(once) == once


async def test_two_services_do_not_get_each_others_answers(store: SqliteStore) -> None:
    request = ask(kind="search", provider="searxng")
    one, other = Service(Reply("of one")), Service(Reply("of the other"))
    first = Door(store, urls={"searxng": "http://one:8080"})
    assert (await first.call(request, one)).value == "of one"
    second = Door(store, "r2", urls={"searxng": "http://other:8080"})
    assert (await second.call(request, other)).value == "of the other"
    store.runs.create(make_run("r3"))
    third = Door(store, "r3", urls={"searxng": "http://one:8080/"})
    assert (await third.call(request, Service())).value == "of one"
