"""A store in an empty home, with one run in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.store.acts import make_run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "deepdiver"


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(home)) as opened:
        opened.runs.create(make_run())
        yield opened
