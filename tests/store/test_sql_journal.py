"""The journal: every path a call can take, against a model, and killed at every step."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import tempfile
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule
from pydantic import SecretStr

from deepdiver.store import CallState, JournalRow
from deepdiver.store.blobs import make_storable
from tests.store.acts import NOW, die_after, die_before_commit, make_run, reserve
from tests.store.places import AnyStore, Place, PostgresPlace, SqlitePlace
from tests.store.test_blobs import ANY_TEXT

FORBIDDEN = {
    "sent": [CallState.SETTLED, CallState.FAILED],
    "settled": [CallState.SETTLED, CallState.FAILED],
    "failed": [CallState.SETTLED, CallState.FAILED],
    "reserved": [CallState.SETTLED],
    "declined": [CallState.RESERVED, CallState.SETTLED, CallState.FAILED],
}


def bring_to(store: AnyStore, state: CallState) -> None:
    reserve(store)
    if state is not CallState.RESERVED:
        store.journal.mark_sent("r1", "k", NOW + 1)
    if state is CallState.SETTLED:
        store.journal.settle("r1", "k", '{"answer":1}', Decimal("0.01"), NOW + 2)
    if state is CallState.FAILED:
        store.journal.fail("r1", "k", "HTTP 500", Decimal("0.003"), NOW + 2)


def move(store: AnyStore, to: str) -> None:
    match to:
        case "reserved":
            reserve(store, now=NOW + 9)
        case "sent":
            store.journal.mark_sent("r1", "k", NOW + 9)
        case "settled":
            store.journal.settle("r1", "k", '{"answer":2}', Decimal("0.02"), NOW + 9)
        case "failed":
            store.journal.fail("r1", "k", "again", Decimal("0.001"), NOW + 9)
        case "declined":
            store.journal.mark_declined("r1", "k", NOW + 9)


@pytest.mark.parametrize(
    ("to", "state"), [(to, state) for to, states in FORBIDDEN.items() for state in states]
)
def test_a_step_that_is_not_allowed_changes_nothing(
    store: AnyStore, to: str, state: CallState
) -> None:
    bring_to(store, state)
    before = store.journal.rows("r1")
    word = "reserved" if to == "declined" else to
    with pytest.raises(ValueError, match=f"call k of run r1 is {state}: it cannot be {word}"):
        move(store, to)
    assert store.journal.rows("r1") == before


@pytest.mark.parametrize("to", ["sent", "settled", "failed", "declined"])
def test_a_call_that_was_never_reserved_cannot_move(store: AnyStore, to: str) -> None:
    with pytest.raises(ValueError, match="call k of run r1 is not known"):
        move(store, to)
    assert store.journal.rows("r1") == []
    assert store.journal.get("r1", "k") is None


def test_a_call_from_reservation_to_answer(store: AnyStore) -> None:
    reserve(store)
    row = JournalRow(
        run="r1",
        key="k",
        state=CallState.RESERVED,
        kind="search",
        provider="library",
        what="who runs it",
        request='{"q":"who"}',
        reply=None,
        error=None,
        worst=Decimal("0.02"),
        cost=Decimal(0),
        sends=0,
        uncertain=0,
        first=NOW,
        last=NOW,
        order=1,
    )
    assert store.journal.get("r1", "k") == row
    store.journal.mark_sent("r1", "k", NOW + 1)
    row = replace(row, state=CallState.SENT, sends=1, last=NOW + 1)
    assert store.journal.get("r1", "k") == row
    store.journal.settle("r1", "k", '{"hits":[]}', Decimal("0.0100"), NOW + 2)
    row = replace(
        row, state=CallState.SETTLED, reply='{"hits":[]}', cost=Decimal("0.01"), last=NOW + 2
    )
    assert store.journal.rows("r1") == [row]


def test_a_call_left_as_sent_is_uncertain_when_it_is_reserved_again(store: AnyStore) -> None:
    bring_to(store, CallState.SENT)
    reserve(store, now=NOW + 50, worst="0.03")
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.state, row.sends, row.uncertain) == (CallState.RESERVED, 1, 1)
    assert (row.first, row.last, row.worst, row.order) == (NOW, NOW + 50, Decimal("0.03"), 1)
    reserve(store)  # It was not sent since: nothing more is uncertain.
    store.journal.mark_sent("r1", "k", NOW)
    # A retry within one process: it knows what became of the first.
    store.journal.mark_sent("r1", "k", NOW)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.sends, row.uncertain) == (3, 1)


def test_a_declined_call_is_in_no_doubt_and_may_be_sent_again(store: AnyStore) -> None:
    bring_to(store, CallState.SENT)
    store.journal.mark_declined("r1", "k", NOW + 2)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.state, row.sends, row.uncertain, row.cost) == (CallState.RESERVED, 1, 0, Decimal(0))
    assert (row.first, row.last, row.order) == (NOW, NOW + 2, 1)
    reserve(store, now=NOW + 50)  # by whoever goes on after a crash
    store.journal.mark_sent("r1", "k", NOW + 51)
    store.journal.settle("r1", "k", "{}", Decimal("0.01"), NOW + 52)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.sends, row.uncertain, row.cost) == (2, 0, Decimal("0.01"))


def test_a_failed_call_is_not_uncertain_and_what_it_cost_stays_in_the_sum(
    store: AnyStore,
) -> None:
    bring_to(store, CallState.FAILED)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.error, row.cost) == ("HTTP 500", Decimal("0.003"))
    reserve(store)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.state, row.error, row.uncertain, row.cost) == (
        CallState.RESERVED,
        None,
        0,
        Decimal("0.003"),
    )
    store.journal.mark_sent("r1", "k", NOW)
    store.journal.settle("r1", "k", "{}", Decimal("0.01"), NOW)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert (row.cost, row.sends) == (Decimal("0.013"), 2)


def test_money_is_exact(store: AnyStore) -> None:
    for _ in range(10):
        reserve(store, worst="0.1")
        store.journal.fail("r1", "k", "e", Decimal("0.1"), NOW)
    row = store.journal.get("r1", "k")
    assert row is not None
    assert row.cost == 1
    assert row.worst == Decimal("0.1")
    # 35 digits together.
    large, small = (
        Decimal("123456789"),
        Decimal("0.00000000000000000000000001"),
    )
    reserve(store, "other")
    store.journal.fail("r1", "other", "e", large, NOW)
    reserve(store, "other")
    store.journal.settle("r1", "other", "{}", small, NOW)
    row = store.journal.get("r1", "other")
    assert row is not None
    assert str(row.cost) == "123456789.00000000000000000000000001"


def test_calls_are_listed_by_first_reservation_each_run_by_itself(store: AnyStore) -> None:
    store.runs.create(make_run("r2"))
    for key in ("z", "a", "m"):
        reserve(store, key)
    reserve(store, "z", now=NOW + 99)
    reserve(store, "a", run="r2")
    assert [(row.key, row.order) for row in store.journal.rows("r1")] == [
        ("z", 1),
        ("a", 2),
        ("m", 3),
    ]
    assert [(row.key, row.order) for row in store.journal.rows("r2")] == [("a", 1)]
    assert store.journal.rows("r9") == []


# Killed


def run_and_lose(place: Place, step: str) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=die_before_commit if step == "half" else die_after,
        args=(place,) if step == "half" else (place, step),
    )
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    process.close()


@pytest.mark.slow
@pytest.mark.parametrize("step", ["sent", "settled", "failed", "reserved", "declined"])
def test_what_was_journalled_survives_a_kill(place: Place, step: str) -> None:
    with closing(place.open()) as store:
        store.runs.create(make_run())
        if step != "reserved":
            reserve(store)
        if step == "declined":
            store.journal.mark_sent("r1", "k", NOW + 1)
    run_and_lose(place, step)
    with closing(place.open()) as store:
        (row,) = store.journal.rows("r1")
    assert row.state == ("reserved" if step == "declined" else step)
    assert row.sends == (step in ("sent", "declined"))
    if step == "settled":
        assert (row.reply, row.cost) == ('{"answer":42}', Decimal("0.01"))


@pytest.mark.slow
@pytest.mark.parametrize(("step", "records"), [("text", 0), ("records", 100), ("half", 0)])
def test_a_kill_leaves_all_of_a_write_or_none(place: Place, step: str, records: int) -> None:
    with closing(place.open()) as store:
        store.runs.create(make_run())
    run_and_lose(place, step)
    with closing(place.open()) as store:
        assert len(store.records.ledger("r1")) == records
        if step == "text":
            assert store.texts.get(store.texts.put("r1", "a page")) == "a page"
        store.records.add("r1", [("finding", "after", "{}")])


# Against a model


class Journal(RuleBasedStateMachine):
    """Random lives of calls.

    The model is a dictionary of rows; opening the store again must change nothing.
    """

    keys = Bundle("keys")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.place = self.make_place()
        self.store = self.place.open()
        self.store.runs.create(make_run())
        self.rows: dict[str, JournalRow] = {}
        self.now = NOW

    def make_place(self) -> Place:
        return SqlitePlace(self.folder)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    def tick(self) -> float:
        self.now += 1.0
        return self.now

    @rule(target=keys, key=st.sampled_from("abc"))
    def name(self, key: str) -> str:
        return key

    @rule(key=keys, what=ANY_TEXT, request=ANY_TEXT, worst=st.decimals(0, 10, places=6))
    def reserve(self, key: str, what: str, request: str, worst: Decimal) -> None:
        now = self.tick()
        old = self.rows.get(key)

        def act() -> None:
            self.store.journal.reserve(
                "r1",
                key,
                kind="model",
                provider="p",
                what=what,
                request=request,
                worst=worst,
                now=now,
            )

        if old is not None and old.state is CallState.SETTLED:
            with pytest.raises(ValueError, match="settled"):
                act()
            return
        act()
        self.rows[key] = JournalRow(
            run="r1",
            key=key,
            state=CallState.RESERVED,
            kind="model",
            provider="p",
            what=make_storable(what),
            request=request,
            reply=None,
            error=None,
            worst=worst,
            cost=old.cost if old else Decimal(0),
            sends=old.sends if old else 0,
            uncertain=old.uncertain + (old.state is CallState.SENT) if old else 0,
            first=old.first if old else now,
            last=now,
            order=old.order if old else len(self.rows) + 1,
        )

    def is_open(self, key: str) -> bool:
        return key in self.rows and self.rows[key].state in (CallState.RESERVED, CallState.SENT)

    @rule(key=keys)
    def send(self, key: str) -> None:
        now = self.tick()
        if not self.is_open(key):
            with pytest.raises(ValueError, match=f"call {key} of run r1"):
                self.store.journal.mark_sent("r1", key, now)
            return
        self.store.journal.mark_sent("r1", key, now)
        row = self.rows[key]
        self.rows[key] = replace(row, state=CallState.SENT, sends=row.sends + 1, last=now)

    @rule(key=keys)
    def decline(self, key: str) -> None:
        now = self.tick()
        if key not in self.rows or self.rows[key].state is not CallState.SENT:
            with pytest.raises(ValueError, match=f"call {key} of run r1"):
                self.store.journal.mark_declined("r1", key, now)
            return
        self.store.journal.mark_declined("r1", key, now)
        self.rows[key] = replace(self.rows[key], state=CallState.RESERVED, last=now)

    @rule(key=keys, reply=ANY_TEXT, cost=st.decimals(0, 10, places=6))
    def settle(self, key: str, reply: str, cost: Decimal) -> None:
        now = self.tick()
        if not self.is_open(key):
            with pytest.raises(ValueError, match=f"call {key} of run r1"):
                self.store.journal.settle("r1", key, reply, cost, now)
            return
        self.store.journal.settle("r1", key, reply, cost, now)
        row = self.rows[key]
        self.rows[key] = replace(
            row, state=CallState.SETTLED, reply=reply, cost=row.cost + cost, last=now
        )

    @rule(key=keys, error=ANY_TEXT, cost=st.decimals(0, 10, places=6))
    def fail(self, key: str, error: str, cost: Decimal) -> None:
        now = self.tick()
        if not self.is_open(key):
            with pytest.raises(ValueError, match=f"call {key} of run r1"):
                self.store.journal.fail("r1", key, error, cost, now)
            return
        self.store.journal.fail("r1", key, error, cost, now)
        row = self.rows[key]
        self.rows[key] = replace(
            row, state=CallState.FAILED, error=make_storable(error), cost=row.cost + cost, last=now
        )

    @precondition(lambda self: self.rows)
    @rule()
    def open_again(self) -> None:
        self.store.close()
        self.store = self.place.open()

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert self.store.journal.rows("r1") == list(self.rows.values())
        for key in "abc":
            assert self.store.journal.get("r1", key) == self.rows.get(key)


class PostgresJournal(Journal):
    """The same in PostgreSQL."""

    address = ""

    def make_place(self) -> Place:
        return PostgresPlace(self.folder, self.address).fresh()


@pytest.fixture(scope="module")
def known_address(shared_database: SecretStr) -> None:
    PostgresJournal.address = shared_database.get_secret_value()


TestJournal = pytest.mark.slow(Journal.TestCase)
TestJournal.settings = settings(max_examples=60, stateful_step_count=25)
TestPostgresJournal = pytest.mark.slow(
    pytest.mark.usefixtures("known_address")(PostgresJournal.TestCase)
)
TestPostgresJournal.settings = settings(max_examples=20, stateful_step_count=25)
