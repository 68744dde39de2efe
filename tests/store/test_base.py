"""The interface: what it promises about its own shape."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal

import pytest

from deepdiver.store import CallState, JournalRow, LimitGrant, SqliteStore, Store

METHODS = sorted(name for name in vars(Store) if not name.startswith("_"))


def test_there_are_methods_to_look_at() -> None:
    assert {"create_run", "journal_sent", "limit_take", "put_text"} <= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_sqlite_has_every_method_with_the_same_signature(name: str) -> None:
    assert inspect.signature(getattr(SqliteStore, name)) == inspect.signature(getattr(Store, name))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_what_it_promises(name: str) -> None:
    assert inspect.getdoc(getattr(Store, name))


def test_sqlite_is_a_store_for_the_type_checker(store: SqliteStore) -> None:
    held: Store = store
    assert [run.id for run in held.list_runs()] == ["r1"]


def test_a_journal_row_is_frozen_and_holds_sixteen_fields() -> None:
    row = JournalRow(
        "r",
        "k",
        CallState.SENT,
        "model",
        "p",
        "w",
        "{}",
        None,
        None,
        Decimal(1),
        Decimal(0),
        1,
        0,
        1.0,
        2.0,
        1,
    )
    assert len(fields(row)) == 16
    with pytest.raises(FrozenInstanceError):
        row.sends = 2  # type: ignore[misc]


def test_states_are_the_words_of_the_design() -> None:
    assert [state.value for state in CallState] == ["reserved", "sent", "settled", "failed"]


def test_a_grant_needs_no_wait() -> None:
    assert LimitGrant(granted=True) == LimitGrant(granted=True, wait=0.0)
