"""A queue in an empty place, in each kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deepdiver.work import Queue, open_queue
from tests.store.conftest import make_place
from tests.store.places import KINDS, AnyStore, Place


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return make_place(request, tmp_path)


@pytest.fixture
def store(place: Place) -> Iterator[AnyStore]:
    with closing(place.open()) as opened:
        yield opened


@pytest.fixture
def queue(store: AnyStore) -> Queue:
    return open_queue(store)
