"""The gateway as a whole: money, time, repeats, events and secrets, over the real store."""

from __future__ import annotations

import asyncio
import base64
import json
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.events import CallEnded, CallFailed, CallStarted
from deepdiver.core.settings import Filters
from deepdiver.errors import (
    RETRYABLE,
    BudgetError,
    CallError,
    CallFault,
    GatewayError,
    NotJournalledError,
    StoreFullError,
    UncertainCallError,
)
from deepdiver.gateway import Mode, Reply, Request
from deepdiver.gateway.gateway import FIRST_PAUSE, IN_DOUBT, LONGEST_PAUSE, booked
from deepdiver.gateway.limits import LONGEST_WAIT
from deepdiver.store import CallState
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.gateway.rig import (
    KEY,
    NOW,
    WIDE,
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
    told_texts,
    until,
)

PAID = Reply("paid", Decimal("0.01"))


def again(kind: CallFault = CallFault.SERVER) -> CallError:
    """A failure after which asking at once is allowed."""
    return fault(kind, retry_after=0.0)


# Money: what does not fit is not sent


async def test_a_call_that_does_not_fit_is_not_sent(store: SqliteStore) -> None:
    door, service = Door(store, budget="0.0199"), Service()
    with pytest.raises(
        BudgetError, match=r"asking \(p\) may cost up to \$0.02 and \$0.0199 .* it was not sent"
    ):
        await door.call(ask(), service)
    assert service.calls == 0
    row = door.row(ask())
    assert (row.state, row.sends, row.cost) == (CallState.FAILED, 0, Decimal(0))
    assert row.error is not None
    assert '"type":"budget"' in row.error
    assert door.told == ["call_failed"]
    assert door.gateway.budget.spent == 0
    door.nothing_is_held()


async def test_a_call_that_just_fits_is_sent(store: SqliteStore) -> None:
    door = Door(store, budget="0.02")
    await door.call(ask(), Service(Reply(1, Decimal("0.02"))))
    assert door.gateway.budget.left == 0


async def test_what_is_in_flight_counts(store: SqliteStore) -> None:
    door, slow = Door(store, budget="0.03"), Service(for_ever)
    task = asyncio.ensure_future(door.call(ask("slow"), slow))
    await until(lambda: slow.calls == 1)
    with pytest.raises(BudgetError, match=r"\$0.01 of the budget is left"):
        await door.call(ask("other"), Service())
    await leave(task)


async def test_what_an_answer_did_not_cost_can_be_spent(store: SqliteStore) -> None:
    door = Door(store, budget="0.03")
    await door.call(ask("a"), Service(Reply(1, Decimal("0.005"))))
    await door.call(ask("b"), Service(Reply(1, Decimal("0.005"))))
    assert door.gateway.budget.spent == Decimal("0.010")
    await door.call(ask("c"), Service(Reply(1, Decimal("0.02"))))
    with pytest.raises(BudgetError, match=r"\$0 of the budget"):
        await door.call(ask("d"), Service())


async def test_a_free_call_passes_when_nothing_is_left(store: SqliteStore) -> None:
    door = Door(store, budget="0")
    assert (await door.call(ask(worst="0"), Service(Reply("free")))).value == "free"
    dear = Door(store, "r2", budget="0.01")
    await dear.call(ask(worst="0.01"), Service(Reply(1, Decimal("0.01"))))
    assert dear.gateway.budget.left == 0
    assert (await dear.call(ask("free", worst="0"), Service(Reply("free")))).value == "free"
    with pytest.raises(BudgetError, match=r"\$0 of the budget is left"):
        await dear.call(ask("paid"), Service())


@pytest.mark.parametrize("said", ["-5", "5", "NaN", "sNaN", "Infinity", "-Infinity", "-1E-9"])
async def test_a_cost_that_cannot_be_is_the_worst_case(store: SqliteStore, said: str) -> None:
    door, request = Door(store, budget="1"), ask(worst="0.03")
    reply = await door.call(request, Service(Reply("good", Decimal(said))))
    assert (reply.value, reply.cost) == ("good", Decimal("0.03"))
    assert door.gateway.budget.spent == door.row(request).cost == Decimal("0.03")
    again = Door(store, budget="1")
    assert (await again.call(request, Service())).cost == Decimal("0.03")
    assert again.gateway.budget.left == Decimal("0.97")


@given(
    st.decimals() | st.decimals(0, 2, places=3),
    st.decimals(0, 1, places=3),
)
def test_what_is_booked_was_reserved(cost: Decimal, worst: Decimal) -> None:
    assert 0 <= booked(cost, worst) <= worst
    if cost.is_finite() and 0 <= cost <= worst:
        assert booked(cost, worst) == cost


async def test_without_a_limit_everything_is_sent_and_still_counted(store: SqliteStore) -> None:
    door = Door(store)
    await door.call(ask(worst="1000000"), Service(Reply(1, Decimal("123456.789"))))
    assert door.gateway.budget.spent == Decimal("123456.789")


async def test_costs_are_exact(store: SqliteStore) -> None:
    door = Door(store, budget="1")
    for n in range(10):
        await door.call(ask(str(n), worst="0.1"), Service(Reply(n, Decimal("0.1"))))
    assert door.gateway.budget.left == 0  # ten times 0.1 is 1, which floats deny
    assert Door(store).gateway.budget.spent == 1


@pytest.mark.parametrize("kind", list(CallFault))
async def test_a_failure_is_charged_at_its_worst_where_the_work_may_have_been_done(
    store: SqliteStore, kind: CallFault
) -> None:
    door = Door(store, retries=0, budget="1")
    with pytest.raises(CallError):
        await door.call(ask(), Service(fault(kind)))
    owed = Decimal("0.02") if kind in IN_DOUBT else Decimal(0)
    assert door.gateway.budget.spent == door.row(ask()).cost == owed
    assert Door(store).gateway.budget.spent == owed
    door.nothing_is_held()


async def test_each_attempt_in_doubt_is_charged_and_counted(store: SqliteStore) -> None:
    door = Door(store, budget="1")
    await door.call(
        ask(),
        Service(again(CallFault.NETWORK), again(CallFault.SERVER), again(CallFault.TIMEOUT), PAID),
    )
    assert door.gateway.budget.spent == Decimal("0.05")
    row = door.row(ask())
    assert (row.state, row.sends, row.uncertain, row.cost) == (
        CallState.SETTLED,
        4,
        2,
        Decimal("0.01"),
    )
    assert Door(store).gateway.budget.spent == Decimal("0.05")


async def test_a_call_in_doubt_is_not_repeated_beyond_the_budget(store: SqliteStore) -> None:
    door, service = Door(store, budget="0.05"), Service(again(CallFault.NETWORK))
    with pytest.raises(CallError, match="it failed"):
        await door.call(ask(), service)
    assert service.calls == 2
    assert door.gateway.budget.spent == Decimal("0.04")
    assert Door(store).gateway.budget.spent == Decimal("0.04")


async def test_a_free_call_in_doubt_is_no_uncertain_expense(store: SqliteStore) -> None:
    door = Door(store, budget="0")
    await door.call(ask(worst="0"), Service(again(CallFault.NETWORK), Reply(1)))
    assert door.row(ask()).uncertain == 0


async def test_after_a_resume_answers_and_uncertain_fates_are_counted(store: SqliteStore) -> None:
    first = Door(store, budget="1")
    await first.call(ask("a"), Service(PAID))
    stuck = Service(for_ever)
    task = asyncio.ensure_future(first.call(ask("b", worst="0.5"), stuck))
    await until(lambda: stuck.calls == 1)
    await leave(task)
    assert first.gateway.budget.spent == Decimal("0.51")  # nobody will ever know what b cost

    resumed = Door(store, budget="1")
    assert resumed.gateway.budget.spent == Decimal("0.51")
    with pytest.raises(BudgetError, match=r"\$0.49 of the budget"):
        await resumed.call(ask("b", worst="0.5"), Service())
    richer = Door(store, budget="1.01")
    await richer.call(ask("b", worst="0.5"), Service(Reply(1, Decimal("0.4"))))
    assert richer.gateway.budget.spent == Door(store).gateway.budget.spent == Decimal("0.91")


async def test_a_bug_in_a_call_leaves_it_uncertain_and_charged(store: SqliteStore) -> None:
    door = Door(store, budget="1")
    with pytest.raises(ZeroDivisionError):
        await door.call(ask(), Service(ZeroDivisionError()))
    assert door.row(ask()).state is CallState.SENT
    assert door.gateway.budget.spent == Door(store).gateway.budget.spent == Decimal("0.02")
    door.nothing_is_held()


@dataclass(frozen=True)
class Plan:
    """What becomes of one call."""

    worst: Decimal
    share: Decimal
    """What the answer costs, as a share of the worst case."""
    failures: tuple[CallFault, ...]
    """What happens before it."""
    hangs: bool
    """Whether it never comes and is cancelled."""


MONEY = st.decimals(0, 1, places=6)
PLANS = st.builds(
    Plan,
    worst=MONEY,
    share=st.decimals(0, 1, places=4),
    failures=st.lists(st.sampled_from(list(CallFault)), max_size=3).map(tuple),
    hangs=st.integers(0, 9).map(lambda n: n == 0),
)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    plans=st.lists(PLANS, min_size=1, max_size=8),
    limit=st.decimals(0, 3, places=4),
    places=st.integers(1, 8),
)
def test_calls_side_by_side_never_exceed_the_budget(
    plans: list[Plan], limit: Decimal, places: int
) -> None:
    """Whatever happens, what is spent and held fits whenever something is sent.

    And the journal knows.
    """

    def service(door: Door, plan: Plan) -> Service:
        def checked(outcome: Reply | CallError | None) -> Callable[[], Any]:
            async def act() -> Reply:
                budget = door.gateway.budget
                assert budget.spent + budget.reserved <= limit
                await asyncio.sleep(0)
                if outcome is None:
                    return await for_ever()
                if isinstance(outcome, CallError):
                    raise outcome
                return outcome

            return act

        reply = None if plan.hangs else Reply("paid", plan.worst * plan.share)
        return Service(*(checked(again(kind)) for kind in plan.failures), checked(reply))

    async def play(store: SqliteStore) -> None:
        door = Door(store, budget=limit, limits={"p": {**WIDE, "concurrent": places}}, retries=4)
        requests = [ask(str(n), worst=str(plan.worst)) for n, plan in enumerate(plans)]
        calls = [
            asyncio.ensure_future(door.call(request, service(door, plan)))
            for request, plan in zip(requests, plans, strict=True)
        ]
        hanging = sum(plan.hangs for plan in plans)
        await until(lambda: sum(not call.done() for call in calls) <= hanging or places <= hanging)
        await settle_down(5)
        for call in calls:
            call.cancel()
        for result in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(result, Reply | GatewayError | asyncio.CancelledError), repr(result)
        budget = door.gateway.budget
        assert budget.spent <= limit
        assert Door(store).gateway.budget.spent == budget.spent
        door.nothing_is_held()

    with tempfile.TemporaryDirectory() as folder, closing(open_sqlite(Path(folder))) as store:
        store.runs.create(make_run("r1"))
        asyncio.run(play(store))


# One flight


async def test_the_same_call_made_twice_at_once_is_one_call(store: SqliteStore) -> None:
    door, service = Door(store, budget="0.02"), Service(Reply("one", Decimal("0.02")))
    replies = await asyncio.gather(*(door.call(ask(), service) for _ in range(5)))
    assert replies == [Reply("one", Decimal("0.02"))] * 5
    assert service.calls == 1
    assert door.told == ["call_started", "call_ended"]


async def test_its_failure_is_everybodys(store: SqliteStore) -> None:
    door, service = Door(store), Service(fault(CallFault.REQUEST))
    results = await asyncio.gather(
        *(door.call(ask(), service) for _ in range(3)), return_exceptions=True
    )
    assert [str(result) for result in results] == ["it failed"] * 3
    assert service.calls == 1


async def test_the_second_is_answered_although_the_first_was_cancelled(store: SqliteStore) -> None:
    go = asyncio.Event()

    async def wait() -> Reply:
        await go.wait()
        return PAID

    door, service = Door(store), Service(wait)
    first, second = (asyncio.ensure_future(door.call(ask(), service)) for _ in range(2))
    await until(lambda: service.calls == 1)
    await leave(first)
    go.set()
    assert await second == PAID
    assert service.calls == 1
    assert (door.row(ask()).state, door.row(ask()).sends) == (CallState.SETTLED, 1)


async def test_a_cancelled_call_asked_for_again_is_uncertain_and_not_confused(
    store: SqliteStore,
) -> None:
    door, service = Door(store, budget="1"), Service(for_ever, PAID)
    first = asyncio.ensure_future(door.call(ask(), service))
    await until(lambda: service.calls == 1)
    first.cancel()
    await asyncio.sleep(0)
    assert await door.call(ask(), service) == PAID  # asked for while the first is still going down
    assert first.cancelled()
    assert door.told == ["call_started", "call_uncertain", "call_started", "call_ended"]
    assert door.gateway.budget.spent == Door(store).gateway.budget.spent == Decimal("0.03")
    door.nothing_is_held()


# Cancellation


@pytest.mark.parametrize("kind", ["model", "search"])
async def test_a_call_cancelled_in_flight_stays_sent_and_holds_nothing(
    store: SqliteStore, kind: Any
) -> None:
    door, service = Door(store, budget="1"), Service(for_ever)
    task = asyncio.ensure_future(door.call(ask(kind=kind), service))
    await until(lambda: service.calls == 1)
    await leave(task)
    assert door.row(ask(kind=kind)).state is CallState.SENT
    door.nothing_is_held()


@pytest.mark.parametrize(
    "step",
    [
        "journal.get",
        "cache.get",
        "cache.claim",
        "journal.reserve",
        "limits.take",
        "journal.mark_sent",
    ],
)
async def test_a_call_cancelled_at_any_step_before_it_goes_out_holds_nothing(
    store: SqliteStore, step: str
) -> None:
    door, service = Door(store, budget="1"), Service()
    await cancel_during(step, store, door.call(ask(kind="search"), service))
    assert service.calls == 0
    door.nothing_is_held()
    assert Door(store).gateway.budget.spent == door.gateway.budget.spent


async def test_an_answer_is_kept_although_its_asker_was_cancelled_while_it_was_written_down(
    store: SqliteStore,
) -> None:
    door = Door(store, budget="1")
    await cancel_during("journal.settle", store, door.call(ask(), Service(PAID)))
    assert door.row(ask()).state is CallState.SETTLED
    assert door.gateway.budget.spent == Door(store).gateway.budget.spent == Decimal("0.01")
    assert await Door(store).call(ask(), Service(AssertionError())) == PAID


async def test_a_call_cancelled_between_two_attempts_holds_nothing(store: SqliteStore) -> None:
    door, service = Door(store, budget="1"), Service(fault(CallFault.SERVER, retry_after=60))
    task = asyncio.ensure_future(door.call(ask(), service))
    await until(lambda: "call_failed" in door.told)
    await settle_down(5)
    await leave(task)
    door.nothing_is_held()
    assert service.calls == 1
    assert door.gateway.budget.spent == Door(store).gateway.budget.spent == 0


@pytest.mark.parametrize("step", ["journal.mark_declined", "limits.give"])
@pytest.mark.parametrize("kind", sorted(set(CallFault) - IN_DOUBT))
async def test_a_call_that_surely_had_no_effect_leaves_no_doubt_however_early_it_is_cancelled(
    store: SqliteStore, clock: Clock, kind: CallFault, step: str
) -> None:
    door = Door(store, budget="1", clock=clock)
    await cancel_during(step, store, door.call(ask(), Service(fault(kind, retry_after=60))))
    row, heir = door.row(ask()), Door(store, budget="1", hold_uncertain=True, clock=clock)
    assert (row.state, row.sends, row.uncertain) == (CallState.RESERVED, 1, 0)
    assert heir.gateway.budget.spent == door.gateway.budget.spent == 0
    assert await heir.call(ask(), Service(PAID)) == PAID
    assert "call_uncertain" not in heir.told


async def test_a_full_disk_after_the_answer_is_told_and_nothing_is_held(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise StoreFullError("the disk is full")

    monkeypatch.setattr(store.journal, "settle", full)
    door = Door(store, budget="1")
    with pytest.raises(StoreFullError):
        await door.call(ask(), Service(PAID))
    assert door.gateway.budget.spent == Decimal("0.01")
    assert door.row(ask()).state is CallState.SENT
    door.nothing_is_held()


async def test_what_is_not_on_record_is_not_sent(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise StoreFullError("the disk is full")

    for step in ("journal.mark_sent", "journal.reserve"):
        part, _, method = step.partition(".")
        monkeypatch.setattr(getattr(store, part), method, full)
        door, service = Door(store, budget="1"), Service()
        with pytest.raises(StoreFullError):
            await door.call(ask(), service)
        assert service.calls == 0
        door.nothing_is_held()


# Deadlines


async def test_a_call_that_takes_too_long_is_given_up_and_charged(store: SqliteStore) -> None:
    clock = StandingClock()
    door = Door(store, budget="1", clock=clock, deadlines={"model": 2.5})
    service = Service(for_ever)
    call = asyncio.ensure_future(door.call(ask(), service))
    await until(lambda: service.calls == 1)
    clock.advance(2.4)
    await settle_down(5)
    assert not call.done()
    clock.advance(0.1)
    with pytest.raises(CallError, match=r"p gave no answer within 2.5 s") as met:
        await call
    assert met.value.fault is CallFault.TIMEOUT
    assert service.calls == 1  # there is no time left to ask again
    assert door.row(ask()).state is CallState.FAILED
    assert door.row(ask()).cost == door.gateway.budget.spent == Decimal("0.02")
    door.nothing_is_held()


async def test_the_deadline_is_for_all_attempts_together(store: SqliteStore, clock: Clock) -> None:
    async def slow() -> Reply:
        clock.now += 4
        raise fault(CallFault.SERVER, retry_after=2)

    door, service = Door(store, clock=clock, deadlines={"model": 15}, retries=20), Service(slow)
    with pytest.raises(CallError):
        await door.call(ask(), service)
    # 4 + 2 + 4 + 2 + 4 = 16: the third attempt ends after the deadline, and no fourth begins
    assert service.calls == 3
    assert clock.now == NOW + 16


async def test_each_attempt_has_what_is_left_of_the_deadline(store: SqliteStore) -> None:
    clock = StandingClock()
    door = Door(store, clock=clock, deadlines={"model": 40}, retries=1)
    service = Service(fault(CallFault.SERVER, retry_after=20), for_ever)
    call = asyncio.ensure_future(door.call(ask(), service))
    await clock.asleep()
    clock.advance(20)
    await until(lambda: service.calls == 2)
    clock.advance(19)
    await settle_down(5)
    assert not call.done()
    clock.advance(1)
    with pytest.raises(CallError, match="gave no answer within 40 s"):
        await call
    assert service.calls == 2


async def test_a_deadline_of_0_is_none(store: SqliteStore, clock: Clock) -> None:
    async def slow() -> Reply:
        clock.now += 80_000
        return PAID

    assert await Door(store, clock=clock, deadlines={"model": 0}).call(ask(), Service(slow)) == PAID


async def test_waiting_for_a_place_is_not_counted(store: SqliteStore) -> None:
    """Four calls of 20 s, one at a time, within deadlines of 30 s."""
    clock = StandingClock()
    limits = {"p": {"rate": 1_000, "concurrent": 1}}
    door = Door(store, clock=clock, deadlines={"model": 30}, limits=limits)
    answers = [asyncio.Event() for _ in range(4)]

    async def take_20_seconds() -> Reply:
        await answers[service.calls - 1].wait()
        return PAID

    service = Service(take_20_seconds)
    calls = [asyncio.ensure_future(door.call(ask(str(n)), service)) for n in range(4)]

    def served(number: int) -> Callable[[], bool]:
        return lambda: service.calls == number

    def ended(number: int) -> Callable[[], bool]:
        return lambda: sum(call.done() for call in calls) == number

    for number, answer in enumerate(answers, start=1):
        waiting = number < 4  # the next in line looks for a place again and again
        await until(served(number))
        await clock.asleep(waiting)
        clock.advance(20)
        await clock.asleep(waiting)
        answer.set()
        await until(ended(number))
        clock.advance(LONGEST_WAIT)
    assert await asyncio.gather(*calls) == [PAID] * 4
    assert clock.now > NOW + 80


async def test_a_person_may_take_their_time(store: SqliteStore, clock: Clock) -> None:
    async def ponder() -> Reply:
        clock.now += 10**7
        return Reply({"approve": True})

    limits = {"person": {"rate": 0.001, "concurrent": 1}}
    doors = [Door(store, run, clock=clock, limits=limits) for run in ("r1", "r2")]
    for n in range(3):
        for door in doors:
            await door.call(
                ask(str(n), kind="human", provider="person", worst="0"), Service(ponder)
            )
    assert clock.slept == []
    assert doors[0].told == ["call_started", "call_ended"] * 3


async def test_a_timeout_of_the_clients_own_is_asked_again_while_there_is_time(
    store: SqliteStore,
) -> None:
    door, service = Door(store), Service(again(CallFault.TIMEOUT), TimeoutError(), PAID)
    assert await door.call(ask(worst="1"), service) == PAID
    assert service.calls == 3


# Repeats


@pytest.mark.parametrize("kind", sorted(set(CallFault) - RETRYABLE))
async def test_what_asking_again_cannot_cure_is_asked_once(
    store: SqliteStore, clock: Clock, kind: CallFault
) -> None:
    door, service = Door(store, clock=clock), Service(fault(kind, retry_after=1.0))
    with pytest.raises(CallError) as met:
        await door.call(ask(), service)
    assert met.value.fault is kind
    assert service.calls == 1
    assert clock.slept == []


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
async def test_what_asking_again_may_cure_is_asked_again(
    store: SqliteStore, clock: Clock, kind: CallFault
) -> None:
    door, service = Door(store, clock=clock), Service(fault(kind), fault(kind), PAID)
    assert await door.call(ask(), service) == PAID
    assert service.calls == 3
    assert clock.now == pytest.approx(NOW + FIRST_PAUSE * 3, abs=0.05)


async def test_pauses_double_up_to_a_bound(store: SqliteStore, clock: Clock) -> None:
    door, service = (
        Door(store, clock=clock, retries=9, deadlines={"model": 1e6}),
        Service(fault(CallFault.SERVER)),
    )
    with pytest.raises(CallError):
        await door.call(ask(), service)
    assert clock.slept == [
        0.5,
        1.0,
        2.0,
        4.0,
        8.0,
        16.0,
        LONGEST_PAUSE,
        LONGEST_PAUSE,
        LONGEST_PAUSE,
    ]
    assert service.calls == 10


async def test_no_retries_means_none(store: SqliteStore, clock: Clock) -> None:
    door, service = (
        Door(store, clock=clock, retries=0),
        Service(fault(CallFault.RATE, retry_after=0.1)),
    )
    with pytest.raises(CallError):
        await door.call(ask(), service)
    assert service.calls == 1
    assert clock.slept == []


async def test_retries_end_with_the_last_failure(store: SqliteStore, clock: Clock) -> None:
    failures = [fault(CallFault.SERVER, f"failure {n}") for n in range(4)]
    door, service = Door(store, clock=clock, retries=2), Service(*failures)
    with pytest.raises(CallError, match="failure 2"):
        await door.call(ask(), service)
    assert [event.retry_in for event in door.events if isinstance(event, CallFailed)] == [
        0.5,
        1.0,
        None,
    ]
    assert door.row(ask()).sends == 3


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
async def test_retry_after_is_obeyed_to_the_second(
    store: SqliteStore, clock: Clock, kind: CallFault
) -> None:
    times: list[float] = []

    async def asked() -> Reply:
        times.append(clock.now)
        if len(times) == 1:
            raise fault(kind, retry_after=12.5)
        return PAID

    assert await Door(store, clock=clock).call(ask(), Service(asked)) == PAID
    assert times == [NOW, NOW + 12.5]
    assert clock.slept == [12.5]


async def test_retry_after_0_means_at_once(store: SqliteStore, clock: Clock) -> None:
    await Door(store, clock=clock).call(
        ask(), Service(fault(CallFault.RATE, retry_after=0.0), PAID)
    )
    assert clock.slept == [0.0]


@pytest.mark.parametrize("seconds", [60.0, 61.0, 1e9, float("inf"), float("nan")])
async def test_retry_after_beyond_the_deadline_gives_up_at_once(
    store: SqliteStore, clock: Clock, seconds: float
) -> None:
    door = Door(store, clock=clock, deadlines={"model": 60})
    service = Service(fault(CallFault.SERVER, retry_after=seconds))
    with pytest.raises(CallError):
        await door.call(ask(), service)
    assert service.calls == 1
    assert clock.slept == []
    assert door.row(ask()).state is CallState.FAILED


async def test_everybody_rests_when_a_provider_asks_one_of_us_to(
    store: SqliteStore, clock: Clock
) -> None:
    hasty = Door(store, clock=clock, deadlines={"model": 5})
    with pytest.raises(CallError):
        await hasty.call(ask("a"), Service(fault(CallFault.RATE, retry_after=7)))
    assert clock.now == NOW

    unsent = Service()
    with pytest.raises(
        CallError, match=r"no place for a call in time \(the next in 7.0 s\)"
    ) as met:
        await hasty.call(ask("b"), unsent)
    assert met.value.fault is CallFault.RATE
    assert unsent.calls == 0
    assert hasty.row(ask("b")).sends == 0
    assert hasty.told == ["call_started", "call_failed", "call_failed"]

    patient = Door(store, "r2", clock=clock)
    await patient.call(ask("c"), Service())
    assert clock.now == pytest.approx(NOW + 7, abs=0.01)


async def test_others_rest_while_one_waits_to_ask_again(store: SqliteStore, clock: Clock) -> None:
    waits: list[float] = []

    def look(seconds: float) -> None:
        if not waits:
            grant = store.limits.take(
                "p", "another", clock.now, clock.now + 60, rate=1e6, per=1, concurrent=9
            )
            waits.append(grant.wait)

    clock.on_sleep = look
    await Door(store, clock=clock).call(ask(), Service(fault(CallFault.RATE, retry_after=7), PAID))
    assert waits == [pytest.approx(7)]


async def test_a_server_that_fails_does_not_make_others_rest(
    store: SqliteStore, clock: Clock
) -> None:
    await Door(store, clock=clock).call(
        ask(), Service(fault(CallFault.SERVER, retry_after=7), PAID)
    )
    assert all(paused == 0 for *_, paused in rows(store, "buckets"))


async def test_the_place_is_free_while_a_call_rests(store: SqliteStore, clock: Clock) -> None:
    taken: list[int] = []
    clock.on_sleep = lambda seconds: taken.append(len(rows(store, "slots")))
    await Door(store, clock=clock).call(ask(), Service(fault(CallFault.SERVER), PAID))
    assert taken == [0]


async def test_a_repeat_that_finds_no_place_in_time_is_given_up_unsent(
    store: SqliteStore, clock: Clock
) -> None:
    def others_come(seconds: float) -> None:
        store.limits.pause("p", clock.now, clock.now + 100)

    clock.on_sleep = others_come
    door, service = (
        Door(store, clock=clock, deadlines={"model": 30}, budget="1"),
        Service(fault(CallFault.NETWORK)),
    )
    with pytest.raises(CallError, match="no place"):
        await door.call(ask(), service)
    assert service.calls == 1
    row = door.row(ask())
    assert (row.state, row.sends, row.uncertain, row.cost) == (CallState.FAILED, 1, 1, Decimal(0))
    assert door.gateway.budget.spent == Door(store).gateway.budget.spent == Decimal("0.02")


# Events


async def test_an_answer_is_told_from_beginning_to_end(store: SqliteStore, clock: Clock) -> None:
    async def slow() -> Reply:
        clock.now += 1.23456
        return PAID

    door = Door(store, clock=clock)
    await door.call(ask(what="a few words"), Service(slow))
    who: dict[str, Any] = {
        "call": ask().key,
        "kind": "model",
        "provider": "p",
        "what": "a few words",
    }
    assert door.events == [
        CallStarted(**who),
        CallEnded(**who, origin="live", cost=Decimal("0.01"), seconds=1.235),
    ]


async def test_every_attempt_is_told(store: SqliteStore, clock: Clock) -> None:
    door = Door(store, clock=clock)
    await door.call(ask(), Service(fault(CallFault.RATE, "too many", retry_after=3), PAID))
    who: dict[str, Any] = {"call": ask().key, "kind": "model", "provider": "p", "what": "asking"}
    assert door.events[:3] == [
        CallStarted(**who),
        CallFailed(**who, error="too many", retry_in=3),
        CallStarted(**who),
    ]
    assert door.told[3:] == ["call_ended"]


async def test_a_failure_is_told_with_its_words(store: SqliteStore) -> None:
    door = Door(store)
    with pytest.raises(CallError):
        await door.call(ask(), Service(fault(CallFault.REQUEST, "no such model")))
    failed = door.events[-1]
    assert isinstance(failed, CallFailed)
    assert (failed.error, failed.retry_in) == ("no such model", None)


async def test_an_answer_of_the_journal_is_told_as_such(store: SqliteStore) -> None:
    await Door(store).call(ask(), Service())
    door = Door(store)
    await door.call(ask(), Service())
    (ended,) = door.events
    assert isinstance(ended, CallEnded)
    assert (ended.origin, ended.cost, ended.seconds) == ("journal", Decimal(0), 0.0)


# Secrets


def spread(key: str) -> tuple[Request, Reply]:
    request = Request(
        "search", "p", f"with {key}", {"key": key, "nested": [{key: f"<{key}>"}]}, Decimal("0.02")
    )
    return request, Reply({"echo": key, "deep": [{f"k-{key}": f"a{key}b"}]}, Decimal("0.01"))


AWKWARD = 'pa"ss\\wörd+/= 1'
"""A secret that JSON and addresses spell otherwise."""


@pytest.mark.parametrize("key", [KEY, AWKWARD])
async def test_a_secret_reaches_neither_disk_nor_events_nor_answers(
    store: SqliteStore, home: Path, key: str
) -> None:
    request, reply = spread(key)
    door = Door(store, keys={"p": key}, verbose=True)
    answer = await door.call(request, Service(again(), reply))
    await door.gateway.save_text(f"a page with {key} in it")
    assert answer.value == {"echo": "[secret]", "deep": [{"k-[secret]": "a[secret]b"}]}
    assert "with [secret]" in told_texts(door.events)
    nowhere(key, everything_on_disk(home), told_texts(door.events))


@pytest.mark.parametrize("key", [KEY, AWKWARD])
async def test_a_secret_reaches_no_failure(store: SqliteStore, home: Path, key: str) -> None:
    request, _ = spread(key)
    error = fault(
        CallFault.SERVER, f"bad key {key} at http://x/?key={quote(key, safe='')}", retry_after=0
    )
    door = Door(store, keys={"p": key}, retries=1)
    with pytest.raises(CallError, match=r"bad key \[secret\] at http://x/\?key=\[secret\]") as met:
        await door.call(request, Service(error))
    with pytest.raises(CallError) as again_met:
        await Door(store, mode=Mode.REPLAY, keys={"p": key}).call(request, Service())
    nowhere(
        key, everything_on_disk(home), told_texts(door.events), str(met.value), str(again_met.value)
    )
    assert met.value.__suppress_context__


async def test_a_secret_reaches_no_refusal(store: SqliteStore, home: Path) -> None:
    request, _ = spread(KEY)
    keys = {"p": KEY}
    texts: list[str] = []

    async def refused(door: Door, error: type[GatewayError]) -> None:
        with pytest.raises(error) as met:
            await door.call(request, Service())
        assert "with [secret]" in str(met.value)
        texts.extend([str(met.value), told_texts(door.events)])

    await refused(Door(store, mode=Mode.REPLAY, keys=keys), NotJournalledError)
    await refused(Door(store, budget="0", keys=keys), BudgetError)
    stuck = Service(for_ever)
    task = asyncio.ensure_future(Door(store, keys=keys).call(request, stuck))
    await until(lambda: stuck.calls == 1)
    await leave(task)
    await refused(Door(store, hold_uncertain=True, keys=keys), UncertainCallError)
    nowhere(KEY, everything_on_disk(home), *texts)


@pytest.mark.parametrize(
    "spell",
    [
        lambda key: key[::-1],
        lambda key: base64.b64encode(b"u:" + key.encode()).decode(),
        lambda key: key.encode().hex(),
        lambda key: " ".join(key.upper()),
    ],
    ids=["backwards", "base64", "hexadecimal", "spaced out"],
)
async def test_a_secret_in_other_spellings_reaches_nothing_either(
    store: SqliteStore, home: Path, spell: Callable[[str], str]
) -> None:
    spelt = spell(KEY)
    request, reply = spread(spelt)
    door = Door(store, keys={"p": KEY}, verbose=True)
    answer = await door.call(request, Service(reply))
    await door.gateway.save_text(f"a page with {spelt} in it")
    assert "[secret]" in answer.value["echo"]
    other = Request("search", "p", f"again {spelt}", {"query": spelt})
    with pytest.raises(CallError) as met:
        await door.call(other, Service(fault(CallFault.REQUEST, f"bad key {spelt}")))
    store.close()
    nowhere(spelt, everything_on_disk(home), told_texts(door.events), str(met.value))


async def test_a_secret_within_another_leaves_nothing_over(store: SqliteStore) -> None:
    door = Door(store, keys={"a": "sk-short", "b": "sk-short-and-long"})
    assert door.gateway.scrub("sk-short-and-long sk-short") == "[secret] [secret]"


async def test_without_secrets_nothing_is_touched(store: SqliteStore) -> None:
    assert Door(store).gateway.scrub(KEY) == KEY


async def test_the_scan_for_secrets_would_find_one(store: SqliteStore, home: Path) -> None:
    """The checks above are worth something.

    Without the settings that name the secret it lies everywhere.
    """
    request, reply = spread(KEY)
    door = Door(store)
    await door.call(request, Service(reply))
    await door.gateway.save_text(KEY)
    store.close()
    assert everything_on_disk(home).count(KEY) >= 8
    assert KEY in told_texts(door.events)
    with pytest.raises(AssertionError):
        nowhere(KEY, everything_on_disk(home))


def nowhere(key: str, *texts: str) -> None:
    in_json = json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]
    spelt = {key, *in_json, quote(key, safe=""), quote_plus(key)}
    for text in texts:
        assert not [way for way in spelt if way in text]


# The whole


async def test_texts_are_kept_once_and_by_their_hash(store: SqliteStore) -> None:
    door = Door(store)
    first, second = await door.gateway.save_text("a page"), await door.gateway.save_text("a page")
    assert first == second
    assert store.texts.get(first) == "a page"
    assert len(rows(store, "blobs")) == 1


async def test_a_gateway_says_what_it_stands_for(store: SqliteStore) -> None:
    live, replay = (
        Door(store, budget="1").gateway,
        Door(store, mode=Mode.REPLAY, budget="1").gateway,
    )
    assert (live.mode, live.budget.limit) == (Mode.LIVE, Decimal(1))
    assert (replay.mode, replay.budget.limit) == (Mode.REPLAY, None)
    assert live.settings.budget == Decimal(1)


async def test_many_different_calls_side_by_side_all_arrive(store: SqliteStore) -> None:
    door = Door(store, budget="1000")
    numbers = range(60)
    replies = await asyncio.gather(
        *(door.call(ask(str(n)), Service(Reply(n, Decimal("0.001")))) for n in numbers)
    )
    assert [reply.value for reply in replies] == list(numbers)
    assert door.gateway.budget.spent == Decimal("0.060")
    assert {row.state for row in store.journal.rows("r1")} == {CallState.SETTLED}
    door.nothing_is_held()


# What outlives an answer, and rest that a provider asks for


async def test_what_is_remembered_outlives_the_answer_and_the_run(store: SqliteStore) -> None:
    clock = Clock()
    kept = await Door(store, clock=clock).gateway.save_text("the text of a page")
    await Door(store, clock=clock).gateway.remember(
        "a page", Reply({"etag": "1"}, texts=(kept,)), 30.0
    )
    clock.now += 29.0
    recalled = await Door(store, "r2", clock=clock).gateway.recall("a page")
    assert recalled == Reply({"etag": "1"}, texts=(kept,))
    store.runs.delete("r1", clock.now)
    assert store.texts.get(kept) == "the text of a page"  # whoever recalls it keeps it
    clock.now += 1.0
    assert await Door(store, "r2", clock=clock).gateway.recall("a page") is None


async def test_what_refers_to_a_text_that_is_gone_is_forgotten(store: SqliteStore) -> None:
    door = Door(store)
    kept = await door.gateway.save_text("the text of a page")
    await door.gateway.remember("a page", Reply({}, texts=(kept,)), 1e6)
    store.runs.delete("r1", NOW)
    assert await Door(store, "r2").gateway.recall("a page") is None


async def test_what_was_never_remembered_and_what_holds_a_secret(
    store: SqliteStore, home: Path
) -> None:
    gateway = Door(store, keys={"p": KEY}).gateway
    assert await gateway.recall("nothing") is None
    await gateway.remember("a page", Reply({"title": f"it is {KEY}"}), 1e6)
    recalled = await gateway.recall("a page")
    assert recalled is not None
    assert recalled.value == {"title": "it is [secret]"}
    assert KEY not in everything_on_disk(home)


async def test_what_is_remembered_is_no_answer_to_a_call(store: SqliteStore) -> None:
    """Names and calls do not meet, though they lie in one table."""
    door, service = Door(store), Service()
    request = ask(kind="search")
    await door.gateway.remember(request.key, PAID, 1e6)
    assert (await door.call(request, service)).value == {"answer": 42}
    assert service.calls == 1


async def test_a_provider_that_asks_for_rest_gets_it(store: SqliteStore, clock: Clock) -> None:
    door = Door(store, clock=clock)
    await door.gateway.pause("p", 7.0)
    await Door(store, "r2", clock=clock).call(ask(), Service())
    assert clock.now >= NOW + 7.0
    before = clock.now
    await door.call(ask(provider="other"), Service())
    assert clock.now == before


# Other filters


async def test_a_gateway_with_other_filters_shares_everything_else(store: SqliteStore) -> None:
    door, service = Door(store, budget="0.03"), Service(PAID)
    narrowed = door.gateway.with_filters(Filters(until=date(2021, 12, 31)))
    assert narrowed.settings.filters.until == date(2021, 12, 31)
    assert door.gateway.settings.filters.until is None
    await narrowed.call(ask(), service)
    assert door.gateway.budget.spent == Decimal("0.01"), "one budget for both"
    await door.call(ask(), service)
    assert service.calls == 1, "and one journal"


# Rest: what is in flight is answered, and nothing else is sent


async def test_a_gateway_at_rest_lets_what_was_sent_be_answered_and_sends_nothing(
    store: SqliteStore,
) -> None:
    door, landed = Door(store), asyncio.Event()

    async def slow() -> Reply:
        await landed.wait()
        return PAID

    sent = asyncio.create_task(door.call(ask(), Service(slow)))
    await until(lambda: door.told == ["call_started"])
    resting = asyncio.create_task(door.gateway.rest())
    await settle_down(3)
    service = Service()
    late = asyncio.create_task(door.call(ask("another"), service))
    await settle_down(3)
    assert not resting.done()
    landed.set()
    await resting
    assert (await sent).value == "paid"
    assert not late.done()
    assert service.calls == 0
    await leave(late)
    assert door.row(ask("another")).sends == 0
    assert (door.row(ask()).state, door.row(ask()).uncertain) == (CallState.SETTLED, 0)
