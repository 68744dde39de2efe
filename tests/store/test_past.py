"""Finished runs as a later one sees them.

Those begun before it, newest first, with the records asked for.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.record import FINISHED, RunStatus
from deepdiver.errors import DamagedStoreError
from deepdiver.store import PastRun
from tests.store.acts import make_run
from tests.store.places import AnyStore, Place, SqlitePlace

QUESTION = "Who runs Svedjan Ost AB?"


def add(
    store: AnyStore, id_: str, created: str = "2027-01-01T00:00:00+00:00", *records: str
) -> None:
    store.runs.create(make_run(id_, created, RunStatus.ANSWERED))
    store.records.add(id_, [("hypothesis", key, f'{{"id":"{key}"}}') for key in records])


def ids(store: AnyStore, run: str = "r1", beginning: str = "h_") -> list[str]:
    return [past.id for past in store.runs.list_past(run, beginning)]


# `r1`, begun on 2027-01-15, is in every store of these tests.


def test_before_a_run_that_is_not_there_nothing_was(store: AnyStore) -> None:
    add(store, "early")
    assert store.runs.list_past("nobody", "h_") == []


def test_the_first_run_has_no_past(store: AnyStore) -> None:
    assert store.runs.list_past("r1", "h_") == []


@pytest.mark.parametrize("column", [b"\0", b"\xff", "text", 7])
@pytest.mark.parametrize("table", ["runs", "records"])
def test_what_is_damaged_is_said_to_be(
    store: AnyStore, place: Place, table: str, column: object
) -> None:
    if table == "records" and column == b"\0":
        pytest.skip("any UTF-8 is a text to the store, which does not look inside")
    if not isinstance(column, bytes) and not isinstance(place, SqlitePlace):
        pytest.skip("PostgreSQL keeps to the type of a column")
    add(store, "early", "2027-01-01T00:00:00+00:00", "h_1")
    place.execute(f"UPDATE {table} SET json = ?", (column,))  # noqa: S608
    with pytest.raises(DamagedStoreError):
        store.runs.list_past("r1", "h_")


@pytest.mark.parametrize("text", ["[]", "{}", "null", "not JSON"])
def test_a_run_without_a_question_is_damage(store: AnyStore, place: Place, text: str) -> None:
    from deepdiver.store.blobs import pack

    add(store, "early")
    place.execute("UPDATE runs SET json = ? WHERE id = 'early'", (pack(text),))
    with pytest.raises(DamagedStoreError, match="run early cannot be read"):
        store.runs.list_past("r1", "h_")


@pytest.mark.parametrize("status", list(RunStatus), ids=lambda status: status.value)
def test_only_finished_runs_are_past(store: AnyStore, status: RunStatus) -> None:
    add(store, "early")
    store.runs.set_status("early", status)
    assert ids(store) == (["early"] if status in FINISHED else [])


def test_a_run_comes_with_its_question_and_the_records_asked_for(store: AnyStore) -> None:
    add(
        store,
        "early",
        "2027-01-01T00:00:00+00:00",
        "h_1",
        "h_2",
        "f_1",
        "e_9",
        "i_1",
        "g_\U0010ffff",
        "h",
    )
    (past,) = store.runs.list_past("r1", "h_")
    assert past == PastRun("early", "2027-01-01T00:00:00+00:00", QUESTION, past.records)
    assert sorted(past.records) == ['{"id":"h_1"}', '{"id":"h_2"}']
    assert store.runs.list_past("r1", "nothing")[0].records == ()


def test_records_of_others_are_not_mixed_in(store: AnyStore) -> None:
    add(store, "a", "2027-01-01T00:00:00+00:00", "h_1")
    add(store, "b", "2027-01-02T00:00:00+00:00", "h_2", "h_3")
    store.records.add("r1", [("hypothesis", "h_4", "{}")])
    held = {past.id: sorted(past.records) for past in store.runs.list_past("r1", "h_")}
    assert held == {"b": ['{"id":"h_2"}', '{"id":"h_3"}'], "a": ['{"id":"h_1"}']}


def test_of_the_same_second_those_entered_before_are_past(store: AnyStore) -> None:
    for name in ("one", "two", "three"):
        add(store, name, "2027-03-01T00:00:00+00:00")
    assert ids(store, "one") == []
    assert ids(store, "two") == ["one"]
    assert ids(store, "three") == ["two", "one"]


def test_a_deleted_run_is_past_no_more(store: AnyStore) -> None:
    add(store, "early", "2027-01-01T00:00:00+00:00", "h_1")
    store.runs.delete("early", 0.0)
    assert ids(store) == []


@settings(max_examples=30)
@given(st.lists(st.integers(1, 28), min_size=1, max_size=8), st.integers(0, 7))
def test_whatever_the_order_they_come_newest_first_and_all_before(
    lasting: Place, days: list[int], which: int
) -> None:
    store = lasting.fresh().open()
    made = [(f"2027-02-{day:02}T00:00:00+00:00", number) for number, day in enumerate(days)]
    for created, number in made:
        add(store, f"n{number}", created)
    mine = made[which % len(made)]
    assert ids(store, f"n{mine[1]}") == [
        f"n{number}" for _, number in sorted(made, reverse=True) if (_, number) < mine
    ]
    store.close()
