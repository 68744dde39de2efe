"""What is forgotten: a damaged list first, then that it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.errors import DamagedStoreError, StoreAccessError
from deepdiver.memory.forgotten import FILE, load_forgotten, save_forgotten


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"forgotten": 3}', '{"forgotten": [3]}', "[" * 100_000]
)
def test_a_damaged_list_is_an_error_and_not_an_empty_one(tmp_path: Path, text: str) -> None:
    """Else a private finding would come back because a file is broken."""
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(DamagedStoreError, match=r"forgotten\.json is damaged"):
        load_forgotten(tmp_path)


def test_a_list_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StoreAccessError):
        load_forgotten(tmp_path)
    with pytest.raises(StoreAccessError):
        save_forgotten(tmp_path, ["a"])


def test_nothing_is_forgotten_at_first(tmp_path: Path) -> None:
    assert load_forgotten(tmp_path / "new") == frozenset()


@given(st.frozensets(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5))
def test_what_is_forgotten_stays_so(
    tmp_path_factory: pytest.TempPathFactory, ids: frozenset[str]
) -> None:
    home = tmp_path_factory.getbasetemp()
    save_forgotten(home, ids)
    assert load_forgotten(home) == ids
