"""The store in PostgreSQL, where it differs: the server, its clock, and those who come at once."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.core.record import RunStatus
from deepdiver.errors import (
    DamagedStoreError,
    NewerSchemaError,
    RunBusyError,
    StoreAccessError,
    StoreError,
    StoreUnreachableError,
    UnknownNameError,
    UsageError,
)
from deepdiver.store import CallState, postgres
from deepdiver.store.connections import MOST
from deepdiver.store.postgres import (
    MIGRATIONS,
    PostgresStore,
    _numbered,
    describe_runs,
    open_postgres,
)
from deepdiver.store.sql import PRUNED
from tests.patience import PATIENCE
from tests.postgres_server import Server, binaries
from tests.store.acts import NOW, make_run, one_line, reserve
from tests.store.places import PostgresPlace

PASSWORD = "hunter2-and-more"


@pytest.fixture
def place(tmp_path: Path, shared_database: SecretStr) -> PostgresPlace:
    return PostgresPlace(tmp_path, shared_database.get_secret_value()).fresh()


@pytest.fixture
def store(place: PostgresPlace) -> Iterator[PostgresStore]:
    """A store that goes by the clock of the server, as a run's does."""
    with closing(open_postgres(SecretStr(place.address))) as opened:
        opened.runs.create(make_run())
        yield opened


# Opening


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'deepdiver-research\[postgres\]'"):
        open_postgres(SecretStr(f"postgresql://me:{PASSWORD}@127.0.0.1/x"))


def test_a_server_that_is_not_there_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
    with pytest.raises(StoreUnreachableError, match="cannot be reached") as error:
        open_postgres(SecretStr(f"postgresql://me:{PASSWORD}@127.0.0.1:1/x"))
    assert PASSWORD not in "".join(traceback.format_exception(error.value))
    one_line(error)


def test_a_wrong_password_is_told_and_never_shown(server: Server) -> None:
    with pytest.raises(StoreAccessError, match="refuses the user or the password") as error:
        open_postgres(SecretStr(server.address(password=PASSWORD)))
    assert PASSWORD not in "".join(traceback.format_exception(error.value))


def test_tables_of_a_newer_deepdiver_are_refused(server: Server, database: str) -> None:
    address = SecretStr(server.address(database))
    open_postgres(address).close()
    server.execute("INSERT INTO deepdiver.version VALUES (99)", database)
    with pytest.raises(NewerSchemaError, match="upgrade this one") as error:
        open_postgres(address)
    assert f"version 99, this one knows {len(MIGRATIONS)}" in one_line(error)


def test_a_table_that_was_dropped_is_damage(server: Server, database: str) -> None:
    with closing(open_postgres(SecretStr(server.address(database)))) as store:
        server.execute("DROP TABLE deepdiver.events", database)
        store.runs.create(make_run())
        with pytest.raises(DamagedStoreError, match="schema deepdiver was changed") as error:
            store.records.events("r1")
        one_line(error)


def test_a_user_who_may_only_read_is_told(server: Server, database: str) -> None:
    open_postgres(SecretStr(server.address(database))).close()
    server.execute("CREATE ROLE onlooker LOGIN PASSWORD 'onlooker-password'")
    server.execute(
        "GRANT USAGE ON SCHEMA deepdiver TO onlooker; "
        "GRANT SELECT ON ALL TABLES IN SCHEMA deepdiver TO onlooker",
        database,
    )
    address = server.address(database, user="onlooker", password="onlooker-password")
    with closing(open_postgres(SecretStr(address))) as store:
        assert store.runs.list_all() == []
        with pytest.raises(StoreAccessError, match="does not let this user"):
            store.runs.create(make_run())


def test_a_store_that_was_closed_says_so_to_the_programmer(store: PostgresStore) -> None:
    store.close()
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.runs.list_all()


def test_a_store_is_described_and_nothing_is_made(server: Server, database: str) -> None:
    address = SecretStr(server.address(database))
    assert "no runs yet" in describe_runs(address)
    assert server.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'deepdiver'", database) == []
    with closing(open_postgres(address)) as store:
        store.runs.create(make_run())
    assert re.fullmatch(r"in PostgreSQL, 0\.\d MB, runs: 1", describe_runs(address))
    server.execute("INSERT INTO deepdiver.version VALUES (99)", database)
    with pytest.raises(NewerSchemaError):
        describe_runs(address)


@pytest.mark.slow
def test_a_dump_is_restored(server: Server, database: str, store: PostgresStore) -> None:
    """As docs/POSTGRES.md says."""
    other = server.new_database()
    with closing(open_postgres(SecretStr(server.address(database)))) as filled:
        filled.runs.create(make_run())
        reserve(filled)
        text = filled.texts.put("r1", "a page")
        dump = run_program("pg_dump", "--schema=deepdiver", server.address(database))
        run_program("psql", "-q", "-v", "ON_ERROR_STOP=1", server.address(other), given=dump)
        with closing(open_postgres(SecretStr(server.address(other)))) as restored:
            assert restored.runs.list_all() == filled.runs.list_all()
            assert restored.journal.rows("r1") == filled.journal.rows("r1")
            assert restored.texts.get(text) == "a page"
            restored.runs.create(make_run("r2"))


def run_program(name: str, *words: str, given: str = "") -> str:
    """Run a program of PostgreSQL; return what it prints."""
    program = str(binaries() / name)
    done = subprocess.run(
        [program, *words], input=given, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("query", "numbered"),
    [
        ("SELECT 1", b"SELECT 1"),
        ("a = ? AND b = ?", b"a = $1 AND b = $2"),
        ("VALUES (?1, ?2, ?1, ?10)", b"VALUES ($1, $2, $1, $10)"),
    ],
)
def test_parameters_are_numbered(query: str, numbered: bytes) -> None:
    assert _numbered(query) == numbered


def test_any_number_of_parameters_is_numbered() -> None:
    asked = ", ".join(["?"] * 250)
    assert _numbered(asked).decode().split(", ") == [f"${place}" for place in range(1, 251)]


# The clock of the server

FAR = 1e9
"""By how much the clock of a machine is wrong."""


@pytest.mark.parametrize("wrong", [-FAR, FAR])
def test_a_lease_runs_by_the_servers_clock(store: PostgresStore, wrong: float) -> None:
    store.leases.take("r1", "right", time.time(), 30)
    with pytest.raises(RunBusyError, match=r"frees itself in (30|29) s"):
        store.leases.take("r1", "wrong", time.time() + wrong, 30)
    with pytest.raises(RunBusyError):
        store.runs.delete("r1", time.time() + wrong)
    store.leases.drop("r1", "right")
    store.leases.take("r1", "wrong", time.time() + wrong, 30)
    assert store.leases.renew("r1", "wrong", time.time() + wrong, 30)
    with pytest.raises(RunBusyError, match=r"frees itself in (30|29) s"):
        store.leases.take("r1", "right", time.time(), 30)


@pytest.mark.parametrize("wrong", [-FAR, FAR])
def test_limits_hold_by_the_servers_clock(store: PostgresStore, wrong: float) -> None:
    def take(owner: str, now: float) -> bool:
        limits = store.limits
        return limits.take("p", owner, now, now + 60, rate=1, per=3_600, concurrent=9).granted

    assert take("right", time.time())
    assert not take("wrong", time.time() + wrong)
    store.limits.pause("q", time.time() + wrong, time.time() + wrong + 60)
    grant = store.limits.take("q", "right", time.time(), time.time(), rate=1, per=1, concurrent=1)
    assert 50 < grant.wait <= 60


@pytest.mark.parametrize("wrong", [-FAR, FAR])
def test_slots_and_claims_hold_by_the_servers_clock(store: PostgresStore, wrong: float) -> None:
    now, other = time.time(), time.time() + wrong
    assert store.limits.take("p", "a", now, now + 60, rate=99, per=1, concurrent=1).granted
    assert not store.limits.take("p", "b", other, other + 60, rate=99, per=1, concurrent=1).granted
    assert store.cache.claim("k", "a", now, now + 60)
    assert not store.cache.claim("k", "b", other, other + 60)


# A server that goes away


def cut(place: PostgresPlace) -> None:
    """Close all connections but our own, as a restart does."""
    place.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def test_a_lost_connection_is_replaced_and_the_work_goes_on(
    store: PostgresStore, place: PostgresPlace
) -> None:
    reserve(store)
    cut(place)
    store.journal.mark_sent("r1", "k", NOW)
    cut(place)
    assert [row.state for row in store.journal.rows("r1")] == [CallState.SENT]


STEPS: dict[str, Callable[[PostgresStore], object]] = {
    "create": lambda store: store.runs.create(make_run("r2")),
    "events": lambda store: store.records.add_events("r1", iter(["{}", "{}"])),
    "records": lambda store: store.records.add("r1", iter([("finding", "f", "{}")])),
    "sent": lambda store: store.journal.mark_sent("r1", "k", NOW),
    "settled": lambda store: store.journal.settle("r1", "k", "{}", Decimal("0.1"), NOW),
    "failed": lambda store: store.journal.fail("r1", "k", "e", Decimal("0.1"), NOW),
    "declined": lambda store: store.journal.mark_declined("r1", "sent", NOW),
    "text": lambda store: store.texts.put("r1", "text"),
    "lease": lambda store: store.leases.take("r1", "me", time.time(), 30),
}


def test_a_commit_that_the_server_refuses_leaves_its_connection_fit_for_use(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_MARK", "INSERT INTO marks VALUES ({}, {}, 1 / 0)")
    with pytest.raises(StoreError):
        reserve(store)
    monkeypatch.undo()
    assert store.journal.rows("r1") == [], "nothing of it is there"
    reserve(store)
    assert len(store.journal.rows("r1")) == 1


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("step", STEPS)
def test_a_connection_lost_at_the_commit_loses_nothing_and_repeats_nothing(
    store: PostgresStore,
    place: PostgresPlace,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    committed: bool,
) -> None:
    """Nobody knows then whether it was committed, and the server is asked."""
    reserve(store)
    reserve(store, "sent")
    store.journal.mark_sent("r1", "sent", NOW)
    left = iter([True])
    execute = psycopg.Connection.execute

    def lose(db: psycopg.Connection, query: str, *values: Any, **more: Any) -> Any:
        if query.endswith("COMMIT") and next(left, False):
            if committed:
                execute(db, query)
            db.close()
            raise psycopg.OperationalError("the connection is lost")
        return execute(db, query, *values, **more)

    monkeypatch.setattr(psycopg.Connection, "execute", lose)
    STEPS[step](store)
    monkeypatch.undo()
    assert next(left, None) is None, "nothing was lost"
    assert len(store.runs.list_all()) == (2 if step == "create" else 1)
    assert len(store.records.events("r1")) == (2 if step == "events" else 0)
    assert len(store.records.ledger("r1")) == (step == "records")
    one, other = store.journal.rows("r1")
    states = {"sent": CallState.SENT, "settled": CallState.SETTLED, "failed": CallState.FAILED}
    assert one.state == states.get(step, CallState.RESERVED)
    assert one.sends == (step == "sent")
    assert one.cost == (Decimal("0.1") if step in ("settled", "failed") else 0)
    assert (other.state, other.sends, other.uncertain) == (
        CallState.RESERVED if step == "declined" else CallState.SENT,
        1,
        0,
    )
    assert store.leases.holder("r1") == ("me" if step == "lease" else "")


TRIPS: dict[str, tuple[int, Callable[[PostgresStore], object]]] = {
    "find": (1, lambda store: store.runs.get("r1")),
    "status": (3, lambda store: store.runs.set_status("r1", RunStatus.STOPPED)),
    "text": (4, STEPS["text"]),
    "lease": (5, STEPS["lease"]),
    "sent": (4, STEPS["sent"]),
}


@pytest.mark.parametrize("step", TRIPS)
def test_a_step_asks_the_server_seldom(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Each time, its thread waits for its turn among those that compute."""
    reserve(store)
    most, act = TRIPS[step]
    act(store)  # the first step of a connection forgets old marks
    asked = 0
    wait = psycopg.Connection.wait

    def count(db: psycopg.Connection, *given: Any, **more: Any) -> Any:
        nonlocal asked
        asked += 1
        return wait(db, *given, **more)

    monkeypatch.setattr(psycopg.Connection, "wait", count)
    act(store)
    assert asked == most


def test_who_waits_for_a_turn_keeps_no_connection(store: PostgresStore) -> None:
    """Else those who wait for a provider have all of them, and no other step goes on."""
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with store.database.write(alone="tavily"):
            begun.set()
            assert go_on.wait(PATIENCE)

    def take(owner: str) -> None:
        store.limits.take("tavily", owner, NOW, NOW + 60, rate=100, per=1, concurrent=100)

    waiting = [threading.Thread(target=take, args=(str(number),)) for number in range(2 * MOST)]
    holding = threading.Thread(target=hold)
    holding.start()
    assert begun.wait(PATIENCE)
    for thread in waiting:
        thread.start()
    # A step that needs a connection gets one, and so does one of another provider.
    assert store.runs.get("r1").id == "r1"
    assert store.limits.take("other", "me", NOW, NOW + 60, rate=100, per=1, concurrent=100).granted
    assert all(thread.is_alive() for thread in waiting)
    go_on.set()
    for thread in (holding, *waiting):
        thread.join(PATIENCE)
        assert not thread.is_alive()


@pytest.mark.parametrize("name", ["r'1", "r\\1", 'r"1; SELECT 1', "r\0", "r%s", "é😀"])
def test_the_name_of_a_run_is_never_a_statement(store: PostgresStore, name: str) -> None:
    with pytest.raises(UnknownNameError):
        store.records.add_events(name, ["{}"])
    store.limits.take(name, "me", NOW, NOW + 60, rate=100, per=1, concurrent=1)
    assert store.runs.get("r1").id == "r1"


def test_a_server_that_stays_away_is_told_in_the_end(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "PATIENCE", 0.3)
    monkeypatch.setattr(postgres, "PAUSE", 0.05)
    tried = 0

    def refuse(**given: object) -> None:
        nonlocal tried
        tried += 1
        raise psycopg.OperationalError("connection refused")

    monkeypatch.setattr(psycopg, "connect", refuse)
    while store.database._connections._idle:
        store.database._connections._idle.pop().close()
    with pytest.raises(StoreUnreachableError, match="nothing answers at its port"):
        store.runs.list_all()
    assert tried > 1


def test_a_server_that_comes_back_is_waited_for(
    store: PostgresStore, place: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(range(3))
    connect = psycopg.connect

    def refuse_thrice(**given: object) -> object:
        if next(left, None) is not None:
            raise psycopg.OperationalError("the database system is starting up")
        return connect(**given)  # type: ignore[arg-type]

    cut(place)
    monkeypatch.setattr(postgres, "PAUSE", 0.01)
    monkeypatch.setattr(psycopg, "connect", refuse_thrice)
    assert [run.id for run in store.runs.list_all()] == ["r1"]
    assert next(left, None) is None


def test_a_number_that_was_given_again_does_not_pass_for_a_commit(store: PostgresStore) -> None:
    """After a crash, another transaction may have the number, or none may have it yet."""
    with store.database.write("r1") as db:
        (number,) = db.execute("SELECT pg_current_xact_id()::text").fetchone()
    with store.database.read() as db:
        found = "SELECT client, mark FROM marks ORDER BY made DESC LIMIT 1"
        client, mark = db.execute(found).fetchone()
    ahead = str(int(number) + 1_000_000)
    asked = store.database._is_committed
    assert asked(number, (client, mark))
    assert not asked(number, (client, "another"))
    assert not asked(number, ("another", mark))
    assert not asked(ahead, ("another", "another"))


def test_a_connection_keeps_one_mark_however_much_it_writes(
    store: PostgresStore, place: PostgresPlace
) -> None:
    counted = "SELECT count(*) FROM deepdiver.marks"
    store.records.add_events("r1", ["{}"])
    before = place.execute(counted)
    for _ in range(5):
        store.records.add_events("r1", ["{}"])
    assert place.execute(counted) == before


def test_the_marks_of_yesterday_are_forgotten(place: PostgresPlace) -> None:
    place.execute(
        "INSERT INTO deepdiver.marks VALUES ('old', 'x', now() - interval '25 hours') RETURNING 1"
    )
    with closing(place.open()) as store:
        store.runs.create(make_run("r7"))
    assert place.execute("SELECT 1 FROM deepdiver.marks WHERE client = 'old'") == []


@pytest.mark.slow
def test_a_crash_of_the_server_in_the_middle_loses_nothing_and_repeats_nothing(
    store: PostgresStore, place: PostgresPlace
) -> None:
    """A process of the server is killed: it drops all connections, and recovers from its log."""
    calls, workers = 60, 4
    midway = threading.Event()

    def work(name: int) -> None:
        for n in range(calls):
            key = f"{name}:{n}"
            reserve(store, key)
            store.journal.mark_sent("r1", key, NOW)
            store.journal.settle("r1", key, "{}", Decimal("0.01"), NOW)
            store.records.add_events("r1", ["{}"])
            if n == calls // 4:
                midway.set()

    def crash() -> None:
        assert midway.wait(PATIENCE)
        with psycopg.connect(place.address) as victim:
            os.kill(victim.info.backend_pid, signal.SIGKILL)

    witness = psycopg.connect(place.address)
    results = at_once(crash, *(functools.partial(work, name) for name in range(workers)))
    assert results == [None] * (workers + 1)
    with pytest.raises(psycopg.OperationalError):
        witness.execute("SELECT 1")
    rows = store.journal.rows("r1")
    assert [row.order for row in rows] == list(range(1, workers * calls + 1))
    assert {(row.state, row.sends, row.uncertain, row.cost) for row in rows} == {
        (CallState.SETTLED, 1, 0, Decimal("0.01"))
    }
    assert len(store.records.events("r1")) == workers * calls


# Those who come at once


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Do things side by side; return what each gave or raised."""
    results: list[object] = [None] * len(acts)
    ready = threading.Barrier(len(acts))

    def do(place: int, act: Callable[[], object]) -> None:
        ready.wait()
        try:
            results[place] = act()
        except Exception as error:  # noqa: BLE001 looked at by the test
            results[place] = error

    threads = [threading.Thread(target=do, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.slow
def test_a_text_is_never_deleted_under_a_run_that_has_just_got_it(store: PostgresStore) -> None:
    store.runs.create(make_run("keeper"))
    for n in range(40):
        run, text = f"gone{n}", f"a text {n}"
        store.runs.create(make_run(run))
        key = store.texts.put(run, text)

        def keep(n: int = n, key: str = key, text: str = text) -> bool:
            if n % 2:
                return store.texts.hold("keeper", key)
            return bool(store.texts.put("keeper", text))

        def delete(run: str = run) -> None:
            store.runs.delete(run, time.time())

        held, deleted = at_once(keep, delete)
        assert deleted is None
        assert held in (True, False)
        if held:
            assert store.texts.get(key) == text


def test_a_clean_up_keeps_its_limit_whatever_plan_is_taken(place: PostgresPlace) -> None:
    # With these off, PostgreSQL would choose the rows again for every row that it looks at.
    off = ("hashjoin", "mergejoin", "hashagg", "sort", "material", "indexscan", "bitmapscan")
    switches = " ".join(f"-c enable_{kind}=off" for kind in off)
    slow = replace(place, address=f"{place.address}?options={quote(switches)}")
    with closing(slow.open()) as store:
        for n in range(2 * PRUNED):
            assert store.cache.claim(f"old{n}", "gone", NOW, NOW + 1)
        assert store.cache.claim("new", "me", NOW + 500, NOW + 510)
    assert place.execute("SELECT count(*) FROM cache_claims") == [(PRUNED + 1,)]


def test_a_claim_does_not_wait_for_rows_that_others_are_about_to_delete(
    store: PostgresStore, place: PostgresPlace
) -> None:
    """Or two that each wait for the other's would lock each other out."""
    for n in range(3):
        store.cache.put(f"old{n}", "v", 1.0)
        place.execute("INSERT INTO cache_claims VALUES (?, 'gone', 1)", (f"old{n}",))
    impatient = SecretStr(f"{place.address}?options=-c%20lock_timeout%3D3000")
    with closing(open_postgres(impatient)) as other, store.database.write() as db:
        db.execute("DELETE FROM cache_claims WHERE key = 'old0'")
        db.execute("DELETE FROM cache WHERE key = 'old1'")
        assert other.cache.claim("mine", "me", time.time(), time.time() + 60)
        with pytest.raises(StoreError, match="busy with the same rows"):
            other.cache.claim("old0", "me", time.time(), time.time() + 60)
    assert place.execute("SELECT key FROM cache_claims") == [("mine",)]
    assert place.execute("SELECT key FROM cache") == []
