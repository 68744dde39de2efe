"""Documents for a library, and a real PostgreSQL, started once, with databases in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.tools.library.harbour import write_documents
from tests.tools.library.postgres_server import NoServerError, Server, running


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Documents about a ferry; see `harbour`."""
    return write_documents(tmp_path / "docs")


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


@pytest.fixture
def bare_database(server: Server, database: str) -> str:
    """The same, as on a server where pgvector was never installed."""
    if server.execute("SELECT 1 FROM pg_settings WHERE name = 'extension_control_path'") == []:
        pytest.skip(
            "before PostgreSQL 18, an extension that is installed cannot be hidden from a database"
        )
    server.execute(f"ALTER DATABASE {database} SET extension_control_path = '/nowhere'")
    return database
