"""Connections to the PostgreSQL database of the settings, and the translation of its errors.

The address may contain a password, and psycopg's errors repeat what they were given, so none of
them is shown or chained. Messages are our own, with at most what the server itself said about a
statement.
"""

from __future__ import annotations

import selectors
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from deepdiver.errors import (
    DamagedStoreError,
    SettingsError,
    StoreAccessError,
    StoreError,
    StoreFullError,
    StoreUnreachableError,
    UsageError,
)

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

SERVER_NAME = "the PostgreSQL of the settings"
"""The name of the server in messages, which never show its address."""
CONNECT_SECONDS = 10
"""Seconds to wait for a connection, unless the address says otherwise."""
IDLE = 10
"""How many idle connections are kept for the next use: as many as a store has, because each new one
is a process of the server."""
MOST = 10
"""How many connections the store of one process has at a time: one for each of its threads, and two
for the leases of runs, however many it works on. Five workers without a limit had more than 60."""

ON_CONNECT = (
    "SELECT set_config('search_path', concat_ws(', ', %s::text, 'public', (SELECT "
    "quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace "
    "WHERE extname = 'vector')), false), set_config('tcp_keepalives_idle', '60', false), "
    "set_config('tcp_keepalives_interval', '10', false), set_config('tcp_keepalives_count', '3', "
    "false), current_setting('server_encoding')"
)
"""Run on every new connection. Some databases have pgvector in a schema of its own. The server must
notice within two minutes that a machine is gone, and release its locks."""


def load_driver() -> ModuleType:
    """Import psycopg.

    Raises:
        UsageError: If it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        raise UsageError(
            "`database` is set, and the package for PostgreSQL is not installed: pip install "
            "'deepdiver-research[postgres]', or unset it"
        ) from None
    return psycopg


class Connections:
    """A pool of connections, opened on demand. Threads may share one."""

    def __init__(
        self,
        address: SecretStr,
        schema: str,
        *,
        prepare: bool = False,
        most: int | None = None,
    ) -> None:
        """Parse an address. Nothing is connected yet.

        Args:
            address: The address of the database, postgresql://…
            schema: The schema whose tables the statements mean.
            prepare: Whether the server may keep the plan of a statement that comes often, whatever
                its values are.
            most: How many connections may be in use at a time; None: any number.

        Raises:
            SettingsError: If it is malformed.
            UsageError: If psycopg is not installed.
        """
        psycopg = load_driver()
        text = address.get_secret_value()
        try:
            known = psycopg.conninfo.conninfo_to_dict(text)
        except psycopg.Error:
            known = {}
        if not known or not text.startswith(("postgresql://", "postgres://")):
            raise SettingsError(
                "`database` is not an address that can be read: "
                "postgresql://USER:PASSWORD@HOST/NAME"
            )
        known.setdefault("connect_timeout", CONNECT_SECONDS)
        known |= {
            "client_encoding": "utf8",
            "application_name": known.get("application_name", "deepdiver"),
        }
        self._address: dict[str, Any] = known
        self._schema, self._prepare = schema, prepare
        self._lock = threading.Lock()
        self._places = nullcontext() if most is None else threading.Semaphore(most)
        self._idle: list[Connection] = []
        self._open = True
        # A provider keeps its library for as long as it lives, and closes nothing.
        weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close the idle connections. No connection can be used afterwards."""
        with self._lock:
            self._open = False
            _close_all(self._idle)

    @contextmanager
    def use(self, *, beyond: bool = False) -> Iterator[Connection]:
        """Lend a working connection in autocommit mode; see `transaction`.

        Args:
            beyond: Whether it may be one more than the most, because the caller has one already.

        Raises:
            StoreError: If no connection can be made, or a statement in the block fails.
        """
        with nullcontext() if beyond else self._places, translate_errors(self._schema):
            db = self._take()
            try:
                yield db
            finally:
                self._give(db)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection in a read-only transaction, which sees the state of one moment."""
        with self.use() as db, transaction(db, "ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield db

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection in a transaction."""
        with self.use() as db, transaction(db):
            yield db

    def _take(self) -> Connection:
        while True:
            with self._lock:
                if not self._open:
                    raise ValueError("the connections to the database are closed")
                db = self._idle.pop() if self._idle else None
            if db is None:
                return self._connect()
            if not _has_news(db):
                return db
            try:
                db.execute("")
            except load_driver().OperationalError:  # the server was restarted meanwhile
                db.close()
            else:
                return db

    def _give(self, db: Connection) -> None:
        psycopg = load_driver()
        with self._lock:
            ready = (
                not db.closed and db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            )
            if self._open and ready and len(self._idle) < IDLE:
                self._idle.append(db)
                return
        db.close()

    def _connect(self) -> Connection:
        psycopg = load_driver()
        try:
            db: Connection = psycopg.connect(
                **self._address, autocommit=True, prepare_threshold=5 if self._prepare else None
            )
        except psycopg.Error as error:
            raise _refused(str(error)) from None
        try:
            row = db.execute(ON_CONNECT, (self._schema,)).fetchone()
            if row and row[-1] != "UTF8":
                raise StoreAccessError(
                    f"the database of {SERVER_NAME} stores texts as {row[-1]}: create one with "
                    "ENCODING 'UTF8', and name that"
                )
        except BaseException:
            db.close()
            raise
        return db


@contextmanager
def transaction(db: Connection, how: str = "") -> Iterator[None]:
    """Run a transaction: all changes in the block, or none."""
    db.execute(f"BEGIN {how}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if not db.closed:
            db.execute("ROLLBACK")
        raise


@contextmanager
def translate_errors(schema: str) -> Iterator[None]:
    """Translate psycopg's errors into ours.

    Args:
        schema: The schema of the tables, for messages about damage.

    Raises:
        StoreError: One of its kinds.
    """
    psycopg = load_driver()
    try:
        yield
    except psycopg.Error as error:
        # Not chained: its message may repeat the address, or the text of a document.
        raise _translate(error, schema) from None


def _has_news(db: Connection) -> bool:
    """Return whether the server said something to an idle connection, such as farewell."""
    with selectors.DefaultSelector() as selector:
        selector.register(db.fileno(), selectors.EVENT_READ)
        return bool(selector.select(0))


def _close_all(connections: list[Connection]) -> None:
    while connections:
        connections.pop().close()


_UNREACHED = {
    ("resolve host", "translate host name"): "its host is unknown",
    ("refused",): "nothing answers at its port",
    ("timeout",): "no answer in time",
    ("starting up", "shutting down", "recovery mode"): "it is starting or stopping",
    ("SSL", "certificate"): "no secure connection can be made",
}
"""Why a server cannot be reached, by words of libpq's messages; the first that fits counts."""


def _refused(said: str) -> StoreError:
    """Return the error for a failed connection, by what libpq said: there are no codes for it."""
    if "authentication failed" in said or "no password supplied" in said or "pg_hba.conf" in said:
        return StoreAccessError(
            f"{SERVER_NAME} refuses the user or the password: correct `database`"
        )
    if "database" in said and "does not exist" in said:
        return StoreAccessError(
            f"{SERVER_NAME} has no database of that name: make it (createdb), or correct `database`"
        )
    if (
        "too many clients" in said
        or "remaining connection slots" in said
        or "too many connections" in said
    ):
        return StoreUnreachableError(
            f"{SERVER_NAME} takes no more connections: try again later, or raise its "
            "max_connections"
        )
    found = (why for words, why in _UNREACHED.items() if any(word in said for word in words))
    why = next(found, "no connection can be made")
    return StoreUnreachableError(
        f"{SERVER_NAME} cannot be reached ({why}): see that it runs, and that `database` is right"
    )


def _translate(error: psycopg.Error, schema: str) -> StoreError:
    code = error.sqlstate or ""
    if code in ("53100", "53200"):
        what = "disk space" if code == "53100" else "memory"
        return StoreFullError(f"{SERVER_NAME} is out of {what}: nothing saved is lost")
    if code in ("42501", "25006"):
        return StoreAccessError(
            f"{SERVER_NAME} does not let this user do that ({_line(error)}): have it allowed"
        )
    if code.startswith("XX0") or code in ("42P01", "42703", "3F000"):
        return DamagedStoreError(
            f"{SERVER_NAME} is damaged, or its schema {schema} was changed ({_line(error)}): "
            "restore it from a copy"
        )
    if code.startswith(("08", "57P")) or (
        not code and isinstance(error, load_driver().OperationalError)
    ):
        return StoreUnreachableError(
            f"the connection to {SERVER_NAME} was lost: completed changes are kept, and none is "
            "kept in part; try again"
        )
    if code in ("40001", "40P01", "55P03"):
        return StoreError(f"{SERVER_NAME} is busy with the same rows: try again")
    return StoreError(f"{SERVER_NAME} could not do that ({_line(error) or type(error).__name__})")


def _line(error: psycopg.Error) -> str:
    """Return what the server said, as one printable line, with its code.

    The detail is left out, since it quotes values.
    """
    said = " ".join((error.diag.message_primary or "").split())
    return "".join(char if char.isprintable() else "?" for char in said)[:150] + (
        f", {error.sqlstate}" if error.sqlstate else ""
    )
