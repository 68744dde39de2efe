"""Connections to PostgreSQL: whatever goes wrong is told in our words, and the address never is."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest
from pydantic import SecretStr

from deepdiver.errors import (
    DamagedStoreError,
    DeepdiverError,
    SettingsError,
    StoreAccessError,
    StoreError,
    StoreFullError,
    StoreUnreachableError,
    UsageError,
)
from deepdiver.store import connections as connections_module
from deepdiver.store.connections import MOST, Connections, transaction
from tests.patience import PATIENCE
from tests.postgres_server import Server

PASSWORD = "hunter2-and-more"


def connect(address: str) -> None:
    connections = Connections(SecretStr(address), "deepdiver_test")
    try:
        with connections.use() as db:
            db.execute("SELECT 1")
    finally:
        connections.close()


def failure(address: str) -> DeepdiverError:
    """Return what is raised, after a look at all that a traceback would print of it."""
    with pytest.raises(DeepdiverError) as raised:
        connect(address)
    shown = "".join(traceback.format_exception(raised.value))
    assert PASSWORD not in shown
    assert "127.0.0.1" not in shown
    assert "postgresql://" not in str(raised.value).replace(
        "postgresql://USER:PASSWORD@HOST/NAME", ""
    )
    return raised.value


@pytest.fixture
def connections(shared_database: SecretStr) -> Iterator[Connections]:
    made = Connections(shared_database, "deepdiver_test")
    yield made
    made.close()


# -- no connection


@pytest.mark.parametrize(
    "address",
    [
        "",
        f"{PASSWORD}",
        f"mysql://me:{PASSWORD}@127.0.0.1/x",
        f"host=127.0.0.1 password={PASSWORD}",
        f"postgresql://me:{PASSWORD}%zz@127.0.0.1/x",
        f"postgresql://me:{PASSWORD}@127.0.0.1/x?unknown=1",
        f"postgresql://me:{PASSWORD}@[127.0.0.1/x",
    ],
)
def test_an_address_that_is_none_is_told_without_repeating_it(address: str) -> None:
    assert isinstance(failure(address), SettingsError)


@pytest.mark.parametrize("port", ["1", "1a", "99999"])
def test_a_server_that_is_not_there(port: str) -> None:
    found = failure(f"postgresql://me:{PASSWORD}@127.0.0.1:{port}/x")
    assert type(found) is StoreUnreachableError
    assert "cannot be reached" in str(found)


def test_a_wrong_password_is_never_shown(server: Server) -> None:
    found = failure(server.address(password=PASSWORD))
    assert isinstance(found, StoreAccessError)
    assert "refuses the user or the password" in str(found)
    assert isinstance(
        failure(server.address(user="nobody_here", password=PASSWORD)), StoreAccessError
    )


def test_a_database_that_is_not_there(server: Server) -> None:
    assert "no database of that name" in str(failure(server.address("absent")))


def test_a_database_that_does_not_keep_utf_8(server: Server) -> None:
    server.execute(
        "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    found = failure(server.address("latin"))
    assert isinstance(found, StoreAccessError)
    assert "LATIN1" in str(found)


@pytest.mark.parametrize(
    ("said", "kind", "told"),
    [
        ("FATAL:  no pg_hba.conf entry for host", StoreAccessError, "user or the password"),
        ("fe_sendauth: no password supplied", StoreAccessError, "user or the password"),
        ("FATAL:  sorry, too many clients already", StoreUnreachableError, "no more connections"),
        (
            "failed to resolve host 'db.internal': [Errno -2]",
            StoreUnreachableError,
            "host is unknown",
        ),
        ("connection timeout expired", StoreUnreachableError, "no answer in time"),
        (
            "FATAL:  the system is starting up",
            StoreUnreachableError,
            "starting or stopping",
        ),
        ("SSL error: certificate verify failed", StoreUnreachableError, "no secure connection"),
        ("something else at db.internal", StoreUnreachableError, "no connection can be made"),
    ],
)
def test_what_libpq_says_becomes_what_to_do(said: str, kind: type[StoreError], told: str) -> None:
    found = connections_module._refused(said)
    assert type(found) is kind
    assert told in str(found)
    assert "db.internal" not in str(found)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'deepdiver-research\[postgres\]'") as raised:
        Connections(SecretStr(f"postgresql://me:{PASSWORD}@127.0.0.1/x"), "deepdiver_test")
    assert PASSWORD not in str(raised.value)


# -- errors of the server


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("53100", StoreFullError),
        ("53200", StoreFullError),
        ("42501", StoreAccessError),
        ("25006", StoreAccessError),
        ("XX001", DamagedStoreError),
        ("42P01", DamagedStoreError),
        ("57P01", StoreUnreachableError),
        ("08006", StoreUnreachableError),
        ("40P01", StoreError),
        ("22012", StoreError),
    ],
)
def test_each_error_is_one_of_ours(
    connections: Connections, code: str, kind: type[StoreError]
) -> None:
    raising = (
        f"DO $$ BEGIN RAISE EXCEPTION 'no %', 'way' USING ERRCODE = '{code}', DETAIL = "
        f"'{PASSWORD}'; END $$"
    )
    with pytest.raises(StoreError) as raised, connections.use() as db:
        db.execute(raising)
    assert type(raised.value) is kind
    assert PASSWORD not in "".join(traceback.format_exception(raised.value))
    assert "\n" not in str(raised.value)


def test_what_the_server_says_is_one_printable_line(connections: Connections) -> None:
    with pytest.raises(StoreError) as raised, connections.use() as db:
        db.execute("DO $$ BEGIN RAISE EXCEPTION E'one\\ntwo\\x1b[31m three'; END $$")
    assert "one two?[31m three, P0001" in str(raised.value)


# -- connections in use


def test_a_connection_is_used_again(connections: Connections) -> None:
    pids = set()
    for _ in range(3):
        with connections.use() as db:
            pids.add(db.info.backend_pid)
    assert len(pids) == 1
    with connections.use() as one, connections.use() as two:
        assert one is not two


def test_a_connection_that_was_lost_while_idle_is_replaced(
    connections: Connections, server: Server
) -> None:
    with connections.use() as db:
        gone = db.info.backend_pid
    assert server.execute(f"SELECT pg_terminate_backend({gone}, 5000)") == [(True,)]
    with connections.use() as db:
        assert db.execute("SELECT 1").fetchone() == (1,)
        assert db.info.backend_pid != gone


def test_what_was_begun_on_a_lost_connection_is_not_kept(
    connections: Connections, server: Server
) -> None:
    with connections.use() as db:
        db.execute("CREATE TABLE IF NOT EXISTS public.kept (n int)")

    def lose() -> None:
        with connections.writing() as db:
            db.execute("INSERT INTO public.kept VALUES (1)")
            server.execute(f"SELECT pg_terminate_backend({db.info.backend_pid}, 5000)")
            db.execute("INSERT INTO public.kept VALUES (2)")

    with pytest.raises(StoreUnreachableError, match="was lost"):
        lose()
    with connections.use() as db:
        assert db.execute("SELECT * FROM public.kept").fetchall() == []


def test_a_transaction_is_done_or_not_done(connections: Connections) -> None:
    with connections.use() as db:
        db.execute("CREATE TABLE IF NOT EXISTS public.whole (n int)")

    def fail(statement: str) -> None:
        with connections.writing() as db:
            db.execute("INSERT INTO public.whole VALUES (1)")
            db.execute(statement)
            raise KeyError

    with pytest.raises(KeyError):
        fail("SELECT 1")
    with pytest.raises(StoreError):
        fail("SELECT 1 / 0")
    with connections.writing() as db:
        db.execute("INSERT INTO public.whole VALUES (3)")
    with connections.use() as db:
        assert db.execute("SELECT n FROM public.whole").fetchall() == [(3,)]
        assert db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_a_reader_sees_one_moment_and_changes_nothing(connections: Connections) -> None:
    with connections.use() as db:
        db.execute("CREATE TABLE IF NOT EXISTS public.moment (n int)")
    with connections.reading() as reader:
        assert reader.execute("SELECT count(*) FROM public.moment").fetchone() == (0,)
        with connections.writing() as writer:
            writer.execute("INSERT INTO public.moment VALUES (1)")
        assert reader.execute("SELECT count(*) FROM public.moment").fetchone() == (0,)
    with pytest.raises(StoreAccessError), connections.reading() as reader:
        reader.execute("INSERT INTO public.moment VALUES (2)")


def test_a_connection_left_in_a_transaction_is_not_lent_again(connections: Connections) -> None:
    with connections.use() as db:
        left = db.info.backend_pid
        db.execute("BEGIN")
    with connections.use() as db:
        assert db.info.backend_pid != left


def test_what_is_closed_stays_closed(connections: Connections) -> None:
    with connections.use() as lent:
        connections.close()
    assert lent.closed
    with pytest.raises(ValueError, match="closed"), connections.use():
        pass


def test_connections_that_nobody_closes_are_closed_when_they_go(shared_database: SecretStr) -> None:
    made = Connections(shared_database, "deepdiver_test")
    with made.use() as db:
        assert not db.closed
    del made
    gc.collect()
    assert db.closed


def test_only_few_are_kept(connections: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections_module, "IDLE", 1)
    with connections.use() as one, connections.use() as two:
        pass
    assert not two.closed
    assert one.closed


def test_a_store_keeps_all_that_it_may_use(shared_database: SecretStr) -> None:
    with closing(Connections(shared_database, "public", most=MOST)) as connections:
        for _ in range(2):
            with ExitStack() as stack:
                used = [stack.enter_context(connections.use()) for _ in range(MOST)]
        assert not any(db.closed for db in used)
        assert set(map(id, connections._idle)) == set(map(id, used))


def test_the_path_leads_to_ours_first(connections: Connections) -> None:
    with connections.use() as db, transaction(db):
        (path,) = db.execute("SELECT current_setting('search_path')").fetchone() or ("",)
        assert path.startswith("deepdiver_test, public")


def test_no_more_connections_are_used_than_the_most(shared_database: SecretStr) -> None:
    with closing(Connections(shared_database, "public", most=2)) as connections:
        waits, third = threading.Event(), threading.Event()

        def use() -> None:
            waits.set()
            with connections.use():
                third.set()

        with connections.use():
            with connections.use():
                thread = threading.Thread(target=use)
                thread.start()
                assert waits.wait(PATIENCE)
                assert not third.wait(0.2)
                with connections.use(beyond=True) as db:  # who has one may need another
                    assert db.execute("SELECT 1").fetchall() == [(1,)]
            assert third.wait(PATIENCE)
        thread.join()
