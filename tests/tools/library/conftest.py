"""Documents for a library, and a database without pgvector."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.postgres_server import Server
from tests.tools.library.harbour import write_documents


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Documents about a ferry; see `harbour`."""
    return write_documents(tmp_path / "docs")


@pytest.fixture
def bare_database(server: Server, database: str) -> str:
    """The name of a database for one test, on a server where pgvector was never installed."""
    if server.execute("SELECT 1 FROM pg_settings WHERE name = 'extension_control_path'") == []:
        pytest.skip(
            "before PostgreSQL 18, an extension that is installed cannot be hidden from a database"
        )
    server.execute(f"ALTER DATABASE {database} SET extension_control_path = '/nowhere'")
    return database


@pytest.fixture(scope="session")
def server(postgres: Server) -> Server:
    return postgres
