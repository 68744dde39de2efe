from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from deepdiver.tools.library.interface import (
    NO_FILTER,
    Library,
    Progress,
    RefreshSummary,
    SearchFilter,
    UnreadFile,
)
from deepdiver.tools.library.local.library import LocalLibrary


@pytest.mark.parametrize("what", ["added", "changed", "removed"])
def test_a_change_is_one(what: str) -> None:
    assert not replace(RefreshSummary(), **{what: ("a",)}).same  # type: ignore[arg-type]
    assert not RefreshSummary(moved=(("a", "b"),)).same


def test_what_cannot_be_read_is_no_change() -> None:
    assert RefreshSummary().same
    assert RefreshSummary(unread=(UnreadFile("a", "it is empty"),)).same


def test_everywhere_narrows_nothing() -> None:
    assert SearchFilter() == NO_FILTER
    assert SearchFilter(since=date(2026, 1, 1)) != NO_FILTER


def test_the_local_library_is_a_library(tmp_path: Path) -> None:
    library: Library = LocalLibrary(tmp_path)
    for name in (name for name in vars(Library) if not name.startswith("_")):
        assert callable(getattr(library, name))
    library.close()


def test_progress_says_where_it_is() -> None:
    assert Progress("reading", 1, 2).what == ""
