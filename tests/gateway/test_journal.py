"""The journal.

Nothing that was answered is asked again, a failure is an answer too, and a replay has nothing else.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.events import CallUncertain
from deepdiver.core.identity import canonical
from deepdiver.errors import (
    CURABLE,
    BudgetError,
    CallError,
    CallFault,
    GatewayError,
    NotJournalledError,
    UncertainCallError,
    UnknownNameError,
)
from deepdiver.gateway import Mode, Reply, Request
from deepdiver.gateway.journal import Journal, reply_from_json, reply_to_json, scrub_reply
from deepdiver.store import CallState
from deepdiver.store.sqlite import SqliteStore
from tests.gateway.rig import NOW, Clock, Door, Service, ask, fault, for_ever, leave, until

FINAL = [kind for kind in CallFault if kind not in CURABLE]


def journal(store: SqliteStore, mode: Mode = Mode.LIVE) -> Journal:
    return Journal(store, "r1", mode, Clock(), lambda text: text.replace("hush", "[secret]"))


async def fail(door: Door, request: Request, kind: CallFault) -> None:
    with pytest.raises(CallError):
        await door.call(request, Service(fault(kind, f"it said {kind}")))


async def left_as_sent(store: SqliteStore, request: Request, **settings: Any) -> None:
    """Be killed in flight, as far as the journal can tell."""
    service = Service(for_ever)
    task = asyncio.ensure_future(Door(store, **settings).call(request, service))
    await until(lambda: service.calls == 1)
    await leave(task)


# Failures are met again


@pytest.mark.parametrize("kind", sorted(CURABLE))
async def test_a_search_that_failed_is_met_again_whatever_was_wrong(
    store: SqliteStore, kind: CallFault
) -> None:
    await fail(Door(store, retries=0), ask(kind="search"), kind)
    with pytest.raises(CallError):
        await Door(store).call(ask(kind="search"), Service(Reply(1)))


@pytest.mark.parametrize("kind", FINAL)
async def test_a_failure_is_met_again_on_resume_and_nothing_is_sent(
    store: SqliteStore, kind: CallFault
) -> None:
    await fail(Door(store, retries=0), ask(), kind)
    resumed, service = Door(store), Service()
    with pytest.raises(CallError, match=f"it said {kind}") as met:
        await resumed.call(ask(), service)
    assert met.value.fault is kind
    assert service.calls == 0
    assert resumed.told == ["call_failed"]
    assert resumed.row(ask()).sends == 1


@pytest.mark.parametrize("kind", sorted(CURABLE))
async def test_a_refused_key_or_a_model_that_was_not_there_is_tried_again_on_resume(
    store: SqliteStore, kind: CallFault
) -> None:
    await fail(Door(store, retries=0), ask(), kind)
    resumed = Door(store)
    assert (await resumed.call(ask(), Service(Reply("with a new key")))).value == "with a new key"
    assert resumed.row(ask()).state is CallState.SETTLED
    assert resumed.row(ask()).sends == 2


async def test_what_was_never_sent_is_sent_on_resume(store: SqliteStore) -> None:
    await Door(store).gateway._limits.pause("p", 3_000)
    refused = Door(store)
    with pytest.raises(CallError, match="no place") as met:
        await refused.call(ask(), Service())
    assert met.value.fault is CallFault.RATE
    assert refused.row(ask()).sends == 0
    later = Door(store, clock=Clock(NOW + 10**9))
    assert (await later.call(ask(), Service())).value == {"answer": 42}


async def test_a_refusal_for_want_of_money_is_tried_again_with_more_of_it(
    store: SqliteStore,
) -> None:
    with pytest.raises(BudgetError):
        await Door(store, budget="0.01").call(ask(), Service())
    resumed, service = Door(store, budget="0.02"), Service()
    await resumed.call(ask(), service)
    assert service.calls == 1
    assert resumed.row(ask()).error is None


@pytest.mark.parametrize("why", ["auth", "budget"])
async def test_no_process_changes_its_mind_about_a_failure_of_its_own(
    store: SqliteStore, why: str
) -> None:
    """Else the journal would hold only the answer, and a replay would take another path."""
    door = Door(store, budget="0.02")
    first: GatewayError | None = None
    service = Service(fault(CallFault.AUTH, "no such key"), Reply(1))
    if why == "budget":
        slow = Service(for_ever)
        other = asyncio.ensure_future(door.call(ask("other"), slow))
        await until(lambda: slow.calls == 1)
    with pytest.raises(GatewayError) as met:
        await door.call(ask(), service)
    first = met.value
    if why == "budget":
        await leave(other)
    with pytest.raises(type(first)) as again:
        await door.call(ask(), service)
    assert str(again.value) == str(first)
    assert service.calls == (why == "auth")


# Answers are kept


async def test_a_settled_call_is_never_sent_again(store: SqliteStore) -> None:
    first = Door(store)
    bought = await first.call(ask(), Service())
    again = await first.call(ask(), Service(AssertionError()))
    resumed = Door(store)
    later = await resumed.call(ask(), Service(AssertionError()))
    assert bought == again == later == Reply({"answer": 42}, Decimal("0.01"), {"input_tokens": 7})
    assert first.told == ["call_started", "call_ended", "call_ended"]
    assert resumed.told == ["call_ended"]
    assert (first.row(ask()).sends, first.row(ask()).cost) == (1, Decimal("0.01"))


async def test_a_settled_answer_needs_no_money(store: SqliteStore) -> None:
    await Door(store).call(ask(), Service())
    assert (await Door(store, budget="0").call(ask(), Service())).value == {"answer": 42}


async def test_the_journal_of_another_run_is_no_journal(store: SqliteStore) -> None:
    await Door(store).call(ask(), Service(Reply(1)))
    assert (await Door(store, "r2").call(ask(), Service(Reply(2)))).value == 2


async def test_the_first_asker_hears_what_every_later_one_will(store: SqliteStore) -> None:
    """Tuples become lists and the keys of tables become texts at once, not only after a resume."""
    request = ask()
    first = await Door(store).call(request, Service(Reply({"pair": (1, 2), "table": {3: None}})))
    later = await Door(store).call(request, Service())
    assert first.value == later.value == {"pair": [1, 2], "table": {"3": None}}


async def test_the_row_says_what_was_asked(store: SqliteStore) -> None:
    door = Door(store, clock=Clock())
    await door.call(ask("who", what="a few words"), Service())
    row = door.row(ask())
    assert (row.kind, row.provider, row.what, row.request) == (
        "model",
        "p",
        "a few words",
        '{"q":"who"}',
    )
    assert (row.worst, row.cost, row.first, row.last) == (
        Decimal("0.02"),
        Decimal("0.01"),
        NOW,
        NOW,
    )


async def test_an_answer_that_is_no_json_is_a_fault_of_ours_and_the_call_stays_uncertain(
    store: SqliteStore,
) -> None:
    door = Door(store)
    with pytest.raises(TypeError):
        await door.call(ask(), Service(Reply(object())))
    assert door.row(ask()).state is CallState.SENT
    door.nothing_is_held()


async def test_a_run_that_is_not_there_is_an_error(store: SqliteStore) -> None:
    door, service = Door(store, "r3"), Service()
    with pytest.raises(UnknownNameError):
        await door.call(ask(), service)
    assert service.calls == 0
    assert door.gateway.budget.held == {}


# Uncertain calls


async def test_a_call_left_as_sent_is_retried_and_listed(store: SqliteStore) -> None:
    await left_as_sent(store, ask())
    resumed, service = Door(store), Service()
    assert resumed.row(ask()).state is CallState.SENT
    await resumed.call(ask(), service)
    assert service.calls == 1
    assert resumed.told == ["call_uncertain", "call_started", "call_ended"]
    met = resumed.events[0]
    assert isinstance(met, CallUncertain)
    assert (met.may_have_cost, met.action, met.call) == (Decimal("0.02"), "retried", ask().key)
    row = resumed.row(ask())
    assert (row.state, row.sends, row.uncertain) == (CallState.SETTLED, 2, 1)


async def test_a_call_left_as_sent_is_held_if_the_user_says_so(store: SqliteStore) -> None:
    await left_as_sent(store, ask())
    for _ in range(2):
        resumed, service = Door(store, hold_uncertain=True), Service()
        with pytest.raises(UncertainCallError, match="held as you asked"):
            await resumed.call(ask(), service)
        assert service.calls == 0
        assert resumed.told == ["call_uncertain"]
        assert isinstance(resumed.events[0], CallUncertain)
        assert resumed.events[0].action == "held"
        assert (resumed.row(ask()).state, resumed.row(ask()).uncertain) == (CallState.SENT, 0)


async def test_a_call_that_was_reserved_and_not_sent_is_not_uncertain(store: SqliteStore) -> None:
    await journal(store).reserve(ask())
    resumed = Door(store, hold_uncertain=True)
    await resumed.call(ask(), Service())
    assert resumed.told == ["call_started", "call_ended"]
    assert resumed.row(ask()).uncertain == 0


async def test_each_uncertain_fate_is_counted(store: SqliteStore) -> None:
    for _ in range(3):
        await left_as_sent(store, ask())
    row = Door(store).row(ask())
    assert (row.sends, row.uncertain, row.state) == (3, 2, CallState.SENT)
    assert journal(store).spent() == Decimal("0.06")


async def test_a_person_can_be_asked_again_without_any_doubt(store: SqliteStore) -> None:
    question = ask(kind="human", provider="person", worst="0")
    await left_as_sent(store, question)
    assert Door(store).row(question).state is CallState.RESERVED
    resumed = Door(store, hold_uncertain=True)
    assert (await resumed.call(question, Service(Reply({"approve": True})))).value == {
        "approve": True
    }
    assert resumed.row(question).uncertain == 0
    assert (await Door(store, mode=Mode.REPLAY).call(question, Service())).value == {
        "approve": True
    }


# Replay


async def test_a_replay_that_meets_something_new_is_an_error(store: SqliteStore) -> None:
    replay, service = Door(store, mode=Mode.REPLAY), Service()
    with pytest.raises(NotJournalledError, match="no answer to model p: asking"):
        await replay.call(ask(), service)
    assert service.calls == 0
    assert replay.events == []
    assert store.journal.rows("r1") == []


async def test_a_replay_does_not_look_into_the_cache(store: SqliteStore) -> None:
    await Door(store, "r2").call(ask(kind="search"), Service())
    with pytest.raises(NotJournalledError):
        await Door(store, mode=Mode.REPLAY).call(ask(kind="search"), Service())


@pytest.mark.parametrize("kind", list(CallFault))
async def test_a_replay_meets_every_failure_again(store: SqliteStore, kind: CallFault) -> None:
    live = Door(store, retries=0)
    await fail(live, ask(), kind)
    replay, service = Door(store, mode=Mode.REPLAY), Service()
    with pytest.raises(CallError, match=f"^it said {kind}$") as met:
        await replay.call(ask(), service)
    assert met.value.fault is kind
    assert service.calls == 0
    assert replay.events == live.events[-1:]


async def test_a_replay_meets_a_refusal_for_want_of_money_in_the_same_words(
    store: SqliteStore,
) -> None:
    with pytest.raises(BudgetError) as live:
        await Door(store, budget="0.01").call(ask(), Service())
    replay, service = Door(store, mode=Mode.REPLAY, budget="100"), Service()
    with pytest.raises(BudgetError) as replayed:
        await replay.call(ask(), service)
    assert str(replayed.value) == str(live.value)
    assert service.calls == 0
    assert replay.told == ["call_failed"]


async def test_a_replay_meets_a_held_call_in_the_same_words(store: SqliteStore) -> None:
    await left_as_sent(store, ask())
    with pytest.raises(UncertainCallError) as live:
        await Door(store, hold_uncertain=True).call(ask(), Service())
    replay, service = Door(store, mode=Mode.REPLAY), Service()
    with pytest.raises(UncertainCallError) as replayed:
        await replay.call(ask(), service)
    assert str(replayed.value) == str(live.value)
    assert service.calls == 0


async def test_a_replay_answers_and_changes_nothing(store: SqliteStore) -> None:
    await Door(store).call(ask(), Service())
    before = store.journal.rows("r1")
    replay = Door(store, mode=Mode.REPLAY, budget="0", clock=Clock(NOW + 10**6))
    assert await replay.call(ask(), Service(AssertionError())) == Reply(
        {"answer": 42}, Decimal("0.01"), {"input_tokens": 7}
    )
    assert replay.told == ["call_ended"]
    assert store.journal.rows("r1") == before


# Money, words and secrets on disk


async def test_spent_counts_answers_failures_in_doubt_and_uncertain_fates(
    store: SqliteStore,
) -> None:
    door = Door(store, retries=0)
    await door.call(
        ask("a", worst="0.5"), Service(Reply(1, Decimal("0.1234567890123456789012345678")))
    )
    await fail(door, ask("b", worst="0.25"), CallFault.TIMEOUT)
    await fail(door, ask("c", worst="1000"), CallFault.SERVER)
    await left_as_sent(store, ask("d", worst="0.125"))
    await journal(store).reserve(ask("e", worst="1000"))
    assert journal(store).spent() == Decimal("0.4984567890123456789012345678")


async def test_spent_does_not_round(store: SqliteStore) -> None:
    """The decimal module keeps 28 digits by default."""
    door = Door(store)
    await door.call(ask("a"), Service(Reply(1, Decimal("1E-28"))))
    await door.call(ask("b", worst="1E+9"), Service(Reply(1, Decimal(10) ** 9)))
    assert journal(store).spent() == Decimal("1000000000.0000000000000000000000000001")


@pytest.mark.parametrize("cost", ["-5", "NaN", "-Infinity", "Infinity"])
async def test_a_cost_that_cannot_be_and_was_booked_once_counts_as_the_worst_case(
    store: SqliteStore, cost: str
) -> None:
    """Earlier versions booked what a service said."""
    door, request = Door(store), ask(worst="0.02")
    await door.call(request, Service(Reply(1, Decimal("0.01"))))
    with sqlite3.connect(store.database.file) as db:
        db.execute("UPDATE journal SET cost = ?", (cost,))
    db.close()
    assert journal(store).spent() == Decimal("0.02")
    resumed = Door(store, budget="1")
    assert (await resumed.call(request, Service())).value == 1
    assert resumed.gateway.budget.left == Decimal("0.98")


async def test_an_error_is_kept_without_its_secret(store: SqliteStore) -> None:
    kept = journal(store)
    await kept.reserve(Request("model", "p", "say hush", {"q": ["hush", {"hush": "a hush b"}]}))
    key = Request("model", "p", "", {"q": ["hush", {"hush": "a hush b"}]}).key
    row = store.journal.get("r1", key)
    assert row is not None
    assert row.what == "say [secret]"
    assert json.loads(row.request) == {"q": ["[secret]", {"[secret]": "a [secret] b"}]}
    request = ask()
    await kept.reserve(request)
    await kept.failed(request, fault(CallFault.SERVER, 'hush "quoted"'), Decimal(0))
    row = store.journal.get("r1", request.key)
    assert row is not None
    assert row.error is not None
    assert json.loads(row.error) == {
        "type": "call",
        "fault": "server",
        "message": '[secret] "quoted"',
    }


@pytest.mark.parametrize("secret", ["null", "true", "value", "cost", '"', "0"])
def test_a_secret_that_looks_like_json_does_not_break_it(secret: str) -> None:
    """Someone's key is `null` or `true`: the text of the JSON must not be searched."""
    reply = Reply({"a": [None, True, 0, f"my {secret}"]}, Decimal(0))
    clean = scrub_reply(reply, lambda text: text.replace(secret, "[secret]"))
    assert reply_from_json(reply_to_json(clean)).value == {"a": [None, True, 0, "my [secret]"]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    JSON,
    st.decimals(0, 10**6, allow_nan=False),
    st.dictionaries(st.text(max_size=5), st.integers(0), max_size=3),
)
def test_a_reply_survives_its_json(value: Any, cost: Decimal, usage: dict[str, int]) -> None:
    reply = Reply(value, cost, usage)
    again = reply_from_json(reply_to_json(reply))
    assert canonical(again.value) == canonical(value)
    assert (str(again.cost), again.usage) == (str(cost), usage)


@given(JSON)
def test_scrubbing_changes_nothing_where_there_is_no_secret(value: Any) -> None:
    assert scrub_reply(Reply(value), lambda text: text).value == value


@given(JSON)
def test_scrubbing_reaches_every_text(value: Any) -> None:
    clean = scrub_reply(Reply(value), lambda text: "").value
    assert set(texts(clean)) <= {""}


def texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in texts(item))]
    return [text for item in value for text in texts(item)] if isinstance(value, list) else []
