"""Taking a run out of a store and into another: the same run, and nothing slipped in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.record import RunStatus
from deepdiver.errors import StoreFullError, UnknownNameError, UsageError
from deepdiver.report.exports.package import journal_hash
from deepdiver.run.transfer import put_in, take_out
from deepdiver.store import CallState, JournalRow
from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.report.exports.making import ROWS, UNCITED_TEXT, saved

WHOLE = saved()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(tmp_path / "home")) as opened:
        yield opened


def test_a_run_that_is_not_there_or_not_finished_cannot_be_taken_out(store: SqliteStore) -> None:
    with pytest.raises(UnknownNameError):
        take_out("nobody", store)
    store.runs.create(WHOLE.run.model_copy(update={"status": RunStatus.STOPPED}))
    with pytest.raises(UsageError, match="deepdiver resume"):
        take_out(WHOLE.run.id, store)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"id": "../../home"}, "not the id of a run"),
        ({"id": ""}, "not the id of a run"),
        ({"id": "a/b"}, "not the id of a run"),
        ({"strategy": "unheard"}, "not known here"),
        ({"status": RunStatus.RUNNING}, "only a finished run"),
    ],
)
def test_a_run_that_deepdiver_did_not_make_is_refused(
    store: SqliteStore, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        put_in(replace(WHOLE, run=WHOLE.run.model_copy(update=changes)), store)
    assert store.runs.list_all() == []


def test_another_run_of_the_same_id_is_not_overwritten(store: SqliteStore) -> None:
    put_in(WHOLE, store)
    other = replace(WHOLE, report=WHOLE.report.model_copy(update={"confidence": 0.1}))
    with pytest.raises(UsageError, match="delete it first"):
        put_in(other, store)
    assert take_out(WHOLE.run.id, store).report == WHOLE.report


def test_the_same_run_twice_is_one(store: SqliteStore) -> None:
    assert put_in(WHOLE, store) == put_in(WHOLE, store)
    assert len(store.runs.list_all()) == 1


def test_a_disk_that_fills_up_leaves_nothing_behind(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreFullError("full")

    monkeypatch.setattr(type(store.records), "save_report", full)
    with pytest.raises(StoreFullError):
        put_in(WHOLE, store)
    assert store.runs.list_all() == []


def test_the_addresses_of_a_stranger_are_left_behind(store: SqliteStore) -> None:
    settings = {
        "urls": {"openai": "https://evil.example"},
        "deadlines": {"model": 9},
        "length": "brief",
    }
    run = WHOLE.run.model_copy(update={"settings": settings})
    assert put_in(replace(WHOLE, run=run), store).settings == {"length": "brief"}


def test_a_run_goes_in_and_comes_out_the_same(store: SqliteStore) -> None:
    put_in(WHOLE, store)
    out = take_out(WHOLE.run.id, store)
    assert out == WHOLE
    assert UNCITED_TEXT in out.texts.values()


def test_a_text_that_is_lost_is_left_out(store: SqliteStore) -> None:
    lost = next(iter(WHOLE.texts))
    put_in(replace(WHOLE, texts={k: v for k, v in WHOLE.texts.items() if k != lost}), store)
    assert lost not in take_out(WHOLE.run.id, store).texts


@pytest.mark.parametrize("state", CallState)
@pytest.mark.parametrize(("sends", "uncertain"), [(0, 0), (1, 0), (3, 0), (2, 2), (4, 2)])
def test_every_state_of_a_call_comes_back_with_its_counts(
    store: SqliteStore, state: CallState, sends: int, uncertain: int
) -> None:
    if state is CallState.SENT and sends == uncertain:
        return  # a sent call has been sent once more than anybody gave up on it
    row = JournalRow(
        run=WHOLE.run.id,
        key="k",
        state=state,
        kind="model",
        provider="p",
        what="w",
        request="{}",
        reply='{"value":1,"cost":"0","usage":{}}' if state is CallState.SETTLED else None,
        error="no" if state is CallState.FAILED else None,
        worst=Decimal("1.50"),
        cost=Decimal("0.25") if state in (CallState.SETTLED, CallState.FAILED) else Decimal(0),
        sends=sends,
        uncertain=uncertain,
        first=5.0,
        last=5.0,
        order=1,
    )
    put_in(replace(WHOLE, rows=(row,), journal=journal_hash([row])), store)
    assert store.journal.rows(WHOLE.run.id) == [row]


def test_the_journal_keeps_its_order_and_its_hash(store: SqliteStore) -> None:
    put_in(WHOLE, store)
    assert tuple(store.journal.rows(WHOLE.run.id)) == ROWS
    assert journal_hash(store.journal.rows(WHOLE.run.id)) == WHOLE.journal
