"""The interface: what it promises about its own shape."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import SecretStr

from deepdiver.core.settings import Settings
from deepdiver.store import CallState, JournalRow, LimitGrant, Store, base, open_store, sql, sqlite
from deepdiver.store.postgres import PostgresStore
from tests.postgres_server import Server
from tests.store.places import AnyStore

PARTS = {
    field.name: getattr(base, str(field.type)) for field in fields(Store) if field.name != "close"
}
METHODS = [
    (part, name)
    for part, protocol in PARTS.items()
    for name in vars(protocol)
    if not name.startswith("_")
]


def test_a_store_has_seven_parts_of_a_few_methods_each() -> None:
    assert list(PARTS) == ["runs", "leases", "journal", "records", "texts", "cache", "limits"]
    assert {("runs", "create"), ("journal", "mark_sent"), ("limits", "take")} <= set(METHODS)
    counts = Counter(part for part, _ in METHODS)
    assert max(counts.values()) <= 7


@pytest.mark.parametrize(("part", "name"), METHODS)
def test_every_method_is_there_with_the_same_signature(part: str, name: str) -> None:
    ours = getattr(sql, f"Sql{part.capitalize()}")
    assert inspect.signature(getattr(ours, name)) == inspect.signature(getattr(PARTS[part], name))
    assert name in vars(ours), "inherited from the protocol, it would do nothing"


@pytest.mark.parametrize(("part", "name"), METHODS)
def test_every_method_says_what_it_promises(part: str, name: str) -> None:
    assert inspect.getdoc(getattr(PARTS[part], name))


@pytest.mark.parametrize("part", PARTS)
def test_every_part_says_where_the_cut_is(part: str) -> None:
    assert "The cut: " in (inspect.getdoc(PARTS[part]) or "")


def test_each_is_a_store_for_the_type_checker(store: AnyStore) -> None:
    held: Store = store
    assert [run.id for run in held.runs.list_all()] == ["r1"]


def test_the_settings_say_which_store_is_opened(tmp_path: Path) -> None:
    with closing(open_store(Settings(home=tmp_path))) as opened:
        assert opened.runs.list_all() == []
    assert (tmp_path / sqlite.FILE_NAME).exists()


def test_a_database_in_the_settings_is_the_store(
    tmp_path: Path, server: Server, database: str
) -> None:
    settings = Settings(home=tmp_path / "dd", database=SecretStr(server.address(database)))
    with closing(open_store(settings)) as opened:
        assert isinstance(opened, PostgresStore)
        assert opened.runs.list_all() == []
    assert not (tmp_path / "dd").exists()


def test_a_store_in_sqlite_needs_no_package_for_postgresql(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from deepdiver.core.settings import Settings; "
        "from deepdiver.store import open_store; open_store(Settings(home=Path(sys.argv[1]))); "
        "sys.exit(any(name.startswith('psycopg') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)


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
