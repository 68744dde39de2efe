"""Backup, restore and upgrade of a database with a queue, as docs/DEPLOY.md says."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.core.record import RunStatus
from deepdiver.core.settings import load
from deepdiver.run import replay, research
from deepdiver.store import postgres as module
from deepdiver.store.migrate import migrate
from deepdiver.store.postgres import SCHEMA, open_postgres
from deepdiver.work import open_queue
from deepdiver.work.order import Order
from deepdiver.work.postgres import QUEUE_SCHEMA
from tests.cli.command_line import QUESTION, SMALL
from tests.postgres_server import Server, binaries
from tests.store.acts import make_run

SCHEMAS = (SCHEMA, "deepdiver_library", QUEUE_SCHEMA)


def program(name: str, *words: str) -> None:
    """Run one of PostgreSQL's own programs."""
    if not (binaries() / name).exists():
        pytest.skip(f"there is no {name} here")
    done = subprocess.run(
        [str(binaries() / name), *words], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
async def test_a_dump_is_restored_with_its_runs_and_its_queue(
    postgres: Server, database: str, tmp_path: Path
) -> None:
    address, copy = postgres.address(database), postgres.new_database()
    settings = load(
        {"home": tmp_path, "documents": (Path(SMALL[1]),), "database": address}, folder=tmp_path
    )
    with closing(open_postgres(SecretStr(address))) as store:
        outcome = await research(QUESTION, settings, store=store)
        waits = open_queue(store).put(Order(question="Who?", owner="ann"))
        dead = open_queue(store).hire("dead")
        assert dead.take() is not None
    dump = str(tmp_path / "deepdiver.dump")
    named = [f"--schema={name}" for name in SCHEMAS]
    program("pg_dump", "--format=custom", "--extension=vector", *named, f"--file={dump}", address)
    program("pg_restore", "--exit-on-error", f"--dbname={postgres.address(copy)}", dump)
    with closing(open_postgres(SecretStr(postgres.address(copy)))) as store:
        again = await replay(outcome.run.id, settings, store=store)
        assert again.report is not None
        assert outcome.report is not None
        assert again.report.hash == outcome.report.hash
        queue = open_queue(store)
        dead_since = (
            "UPDATE deepdiver_queue.procrastinate_workers SET last_heartbeat = '2020-01-01'"
        )
        postgres.execute(dead_since, copy)
        worker = queue.hire("w")
        worker.beat()
        taken = worker.take()
        assert taken is not None
        assert (taken.run, taken.owner, taken.attempts) == (waits, "ann", 2)
    postgres.execute(f"DROP DATABASE {copy} WITH (FORCE)")


@pytest.mark.parametrize("version", range(1, len(module.MIGRATIONS)))
def test_a_database_of_an_earlier_version_is_upgraded_with_its_runs(
    postgres: Server, database: str, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    address = SecretStr(postgres.address(database))
    earlier: Sequence[str] = module.MIGRATIONS[:version]
    with psycopg.connect(address.get_secret_value(), autocommit=True) as db:
        db.execute(f"SET search_path TO {SCHEMA}")
        migrate(db, SCHEMA, earlier, module.LOCK)
        db.execute(
            "INSERT INTO runs (id, created, status, json) SELECT 'old', '2026', 'answered', ''"
        )
    with closing(open_postgres(address)) as store:  # while others may use it
        store.runs.create(make_run("new"))
        queue = open_queue(store)
        queue.put(Order(question="Who?"))
        store.runs.delete("old", 0.0)
        assert {run.status for run in store.runs.list_all()} >= {RunStatus.QUEUED}
