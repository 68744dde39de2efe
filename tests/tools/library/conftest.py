"""A real PostgreSQL, started once where one can be had, and databases in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from tests.tools.library.postgres_server import NoServerError, Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    try:
        with running() as started:
            yield started
    except NoServerError as error:
        pytest.skip(f"no PostgreSQL can be had here: {error}")


@pytest.fixture(scope="session")
def shared_database(server: Server) -> SecretStr:
    """A database for tests that take a library of their own in it."""
    return SecretStr(server.address(server.new_database()))


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """The name of a database for one test alone."""
    name = server.new_database()
    yield name
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")
