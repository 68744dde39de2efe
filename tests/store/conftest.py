"""A store in an empty place, with one run in it: in SQLite and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.postgres_server import Server
from tests.store.acts import make_run
from tests.store.places import KINDS, AnyStore, Place, PostgresPlace, SqlitePlace


def make_place(request: pytest.FixtureRequest, folder: Path) -> Place:
    """Return an empty place of the kind that a fixture is asked for."""
    if request.param == "sqlite":
        return SqlitePlace(folder)
    address: SecretStr = request.getfixturevalue("shared_database")
    return PostgresPlace(folder, address.get_secret_value()).fresh()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "deepdiver"


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return make_place(request, tmp_path)


@pytest.fixture(params=KINDS, scope="module")
def lasting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place for all examples of a property."""
    return make_place(request, tmp_path_factory.mktemp("place"))


@pytest.fixture
def store(place: Place) -> Iterator[AnyStore]:
    with closing(place.open()) as opened:
        opened.runs.create(make_run())
        yield opened


@pytest.fixture(scope="session")
def server(postgres: Server) -> Server:
    return postgres
