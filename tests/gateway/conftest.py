"""A store with two runs in it, and a clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.store.sqlite import SqliteStore, open_sqlite
from tests.gateway.rig import Clock, make_run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "deepdiver"


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    with closing(open_sqlite(home)) as opened:
        opened.runs.create(make_run("r1"))
        opened.runs.create(make_run("r2"))
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()
