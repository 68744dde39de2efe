"""The tables in PostgreSQL.

Made once, whoever comes first; by no older deepdiver; with or without pgvector.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.encoders import MODEL
from deepdiver.errors import DamagedStoreError, NewerSchemaError, StoreAccessError
from deepdiver.store.connections import Connections
from deepdiver.store.migrate import schema_version
from deepdiver.tools.library import terms
from deepdiver.tools.library.postgres import schema
from deepdiver.tools.library.postgres.schema import (
    MIGRATIONS,
    SCHEMA,
    lacks_vectors,
    pgvector_versions,
    prepare_schema,
)
from tests.postgres_server import Server


@contextmanager
def connected(address: str) -> Iterator[psycopg.Connection[Any]]:
    connections = Connections(SecretStr(address), SCHEMA)
    try:
        with connections.use() as db:
            yield db
    finally:
        connections.close()


def test_tables_of_a_newer_deepdiver_are_left_alone(server: Server, database: str) -> None:
    with connected(server.address(database)) as db:
        prepare_schema(db)
        db.execute("INSERT INTO version VALUES (99)")
        with pytest.raises(NewerSchemaError, match="upgrade"):
            prepare_schema(db)
        assert schema_version(db, SCHEMA) == 99


def test_a_user_who_may_make_nothing_is_told(server: Server, database: str) -> None:
    server.execute("CREATE ROLE reader LOGIN PASSWORD 'reader-password'")
    with (
        pytest.raises(StoreAccessError, match="does not let this user"),
        connected(server.address(database, user="reader", password="reader-password")) as db,
    ):
        prepare_schema(db)
    with connected(server.address(database)) as db:
        assert schema_version(db, SCHEMA) == 0


def test_tables_that_were_dropped_are_told(server: Server, database: str) -> None:
    with connected(server.address(database)) as db:
        prepare_schema(db)
        db.execute("DROP TABLE postings")
    with (
        pytest.raises(DamagedStoreError, match="deepdiver_library"),
        connected(server.address(database)) as db,
    ):
        db.execute("SELECT * FROM postings")


def test_all_of_a_migration_or_nothing(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(server.address(database)) as db:
        prepare_schema(db)
        broken = "CREATE TABLE half (n int); SELECT 1 / 0"
        monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, broken))
        with pytest.raises(Exception, match="division by zero"):
            prepare_schema(db)
        assert schema_version(db, SCHEMA) == len(MIGRATIONS)
        assert db.execute("SELECT to_regclass('deepdiver_library.half')").fetchone() == (None,)
        monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE half (n int)"))
        prepare_schema(db)
        assert schema_version(db, SCHEMA) == len(MIGRATIONS) + 1
        assert db.execute("SELECT count(*) FROM half").fetchone() == (0,)


def test_an_index_of_vectors_that_was_made_before_is_dropped(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connected(server.address(database)) as db:
        monkeypatch.setattr(schema, "MIGRATIONS", MIGRATIONS[:1])
        prepare_schema(db)
        db.execute("INSERT INTO libraries (name, embedded) VALUES ('old', true)")
        db.execute(
            "CREATE INDEX passages_vector_1 ON passages USING hnsw (vector vector_ip_ops) WHERE "
            "library = 1"
        )
        monkeypatch.undo()
        prepare_schema(db)
        listed = {
            row[0]
            for row in db.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'passages'")
        }
        assert "passages_vector_1" not in listed
        assert "passages_pending" in listed
        assert db.execute("SELECT name FROM libraries").fetchall() == [("old",)]
        with pytest.raises(psycopg.errors.UndefinedColumn):
            db.execute("SELECT embedded FROM libraries")


def test_many_who_come_first_make_it_once(server: Server, database: str) -> None:
    notes: list[str] = []
    ready = threading.Barrier(6)

    def open_() -> None:
        with connected(server.address(database)) as db:
            ready.wait()
            notes.append(prepare_schema(db))

    threads = [threading.Thread(target=open_) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert notes == [""] * 6
    with connected(server.address(database)) as db:
        assert db.execute("SELECT number FROM version").fetchall() == [
            (number + 1,) for number in range(len(MIGRATIONS))
        ]
        assert not lacks_vectors(db)
        assert prepare_schema(db) == ""


# -- with and without pgvector


def test_a_server_without_pgvector_says_so_and_takes_it_up_later(
    server: Server, bare_database: str
) -> None:
    with connected(server.address(bare_database)) as db:
        note = prepare_schema(db)
        assert "has no pgvector" in note
        assert "by their words only" in note
        assert "\n" not in note
        assert pgvector_versions(db) == ("", "")
        assert lacks_vectors(db)
    server.execute(f"ALTER DATABASE {bare_database} RESET extension_control_path")
    with connected(server.address(bare_database)) as db:
        assert prepare_schema(db) == ""
        assert not lacks_vectors(db)
        has, could = pgvector_versions(db)
        assert has == could != ""


def test_a_pgvector_that_is_too_old_is_not_used(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "OLDEST", (99, 0))
    with connected(server.address(database)) as db:
        assert "is older than" in prepare_schema(db)
        assert lacks_vectors(db)


def test_a_user_who_may_not_set_up_pgvector_works_without(server: Server, database: str) -> None:
    server.execute("CREATE ROLE worker LOGIN PASSWORD 'worker-password'")
    server.execute(f"GRANT CREATE ON DATABASE {database} TO worker")
    address = server.address(database, user="worker", password="worker-password")
    with connected(address) as db:
        note = prepare_schema(db)
        assert "CREATE EXTENSION vector" in note
        assert schema_version(db, SCHEMA) == len(MIGRATIONS)
    server.execute("CREATE SCHEMA elsewhere; GRANT USAGE ON SCHEMA elsewhere TO worker", database)
    server.execute("CREATE EXTENSION vector SCHEMA elsewhere", database)  # as some hosts keep it
    with connected(address) as db:
        assert prepare_schema(db) == ""
        assert not lacks_vectors(db)


def test_another_model_or_other_words_need_a_migration() -> None:
    """What was made by another cut of words, or another model, does not fit.

    Raise all three together.
    """
    assert (terms.VERSION, MODEL, len(MIGRATIONS)) == (1, "all-MiniLM-L6-v2-int8-437d4392e75f", 2)
