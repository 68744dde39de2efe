"""Connections to the PostgreSQL of the settings, and its errors as ours.

Its address may hold a password, and psycopg's errors repeat what they were given. So none of them
is shown or passed on: what is told are words of our own, and at most what the server itself said
about a statement.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from deepdiver.errors import (
    DamagedStoreError,
    SettingsError,
    StoreAccessError,
    StoreError,
    StoreFullError,
    UsageError,
)

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

SERVER_NAME = "the PostgreSQL of the settings"
"""What it is called in messages; its address is nobody's business."""
SCHEMA_NAME = "deepdiver_library"
"""Where all of our tables are."""
CONNECT_SECONDS = 10
"""How long to wait for a connection, unless the address says otherwise."""
IDLE = 8
"""Connections that are kept for the next use."""

PATH = (
    "SELECT set_config('search_path', concat_ws(', ', 'deepdiver_library', 'public', (SELECT "
    "quote_ident(nspname) "
    "FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector')), "
    "false), "
    "set_config('tcp_keepalives_idle', '60', false), set_config('tcp_keepalives_interval', '10', "
    "false), "
    "set_config('tcp_keepalives_count', '3', false), current_setting('server_encoding')"
)
"""Asked of every new connection. Some keep pgvector in a schema of its own. The server must notice
within two minutes that a machine is gone, and let go of its locks."""


def load_driver() -> ModuleType:
    """Return psycopg.

    Raises:
        UsageError: If it is not installed.
    """
    try:
        import psycopg
    except ImportError:
        raise UsageError(
            "`database` is set, and the package for PostgreSQL is not installed: "
            "pip install 'deepdiver-research[postgres]', or unset it"
        ) from None
    return psycopg


class Connections:
    """Connections that are made when needed, and kept for the next use; threads may share them."""

    def __init__(self, address: SecretStr) -> None:
        """Take an address; nothing is connected yet.

        Raises:
            SettingsError: If it is none.
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
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._open = True
        weakref.finalize(
            self, _close_all, self._idle
        )  # a provider keeps its library for as long as it lives

    def close(self) -> None:
        """Close what is not in use; nothing can be done afterwards."""
        with self._lock:
            self._open = False
            _close_all(self._idle)

    @contextmanager
    def use(self) -> Iterator[Connection]:
        """Lend a connection that works. Each statement stands alone; see `transaction`.

        Raises:
            StoreError: If none can be made, or the server could not do what was asked.
        """
        with translate_errors():
            db = self._take()
            try:
                yield db
            finally:
                self._give(db)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection that sees everything as it is at one moment."""
        with self.use() as db, transaction(db, "ISOLATION LEVEL REPEATABLE READ READ ONLY"):
            yield db

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection to do all of it, or nothing."""
        with self.use() as db, transaction(db):
            yield db

    def _take(self) -> Connection:
        while True:
            with self._lock:
                if not self._open:
                    raise ValueError("the library is closed")
                db = self._idle.pop() if self._idle else None
            if db is None:
                return self._connect()
            try:
                db.execute("")
            except load_driver().OperationalError:  # the server was started anew meanwhile
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
            # Nothing is prepared: a plan made once and for all overlooks the index of one library's
            # vectors.
            db: Connection = psycopg.connect(
                **self._address, autocommit=True, prepare_threshold=None
            )
        except psycopg.Error as error:
            raise _refused(str(error)) from None
        try:
            row = db.execute(PATH).fetchone()
            if row and row[-1] != "UTF8":
                raise StoreAccessError(
                    f"the database of {SERVER_NAME} keeps texts as {row[-1]}: make one with ENCODING "
                    "'UTF8', and name that"
                )
        except BaseException:
            db.close()
            raise
        return db


@contextmanager
def transaction(db: Connection, how: str = "") -> Iterator[None]:
    """Do all of it, or nothing."""
    db.execute(f"BEGIN {how}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if not db.closed:
            db.execute("ROLLBACK")
        raise


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn psycopg's errors into ours.

    Raises:
        StoreError: One of its kinds.
    """
    psycopg = load_driver()
    try:
        yield
    except psycopg.Error as error:
        raise _translate(
            error
        ) from None  # what it says may repeat the address, or what a document says


def _close_all(connections: list[Connection]) -> None:
    while connections:
        connections.pop().close()


def _refused(said: str) -> StoreError:
    """Return what to raise when no connection comes about.

    There is no code for it, only words: these are libpq's.
    """
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
        return StoreError(
            f"{SERVER_NAME} takes no more connections: try again later, or raise its max_connections"
        )
    if "resolve host" in said or "translate host name" in said:
        why = "its host is not known"
    elif "refused" in said:
        why = "nobody answers at its port"
    elif "timeout" in said:
        why = "no answer in time"
    elif "starting up" in said or "shutting down" in said or "recovery mode" in said:
        why = "it is starting or stopping"
    elif "SSL" in said or "certificate" in said:
        why = "no secure connection comes about"
    else:
        why = "no connection comes about"
    return StoreError(
        f"{SERVER_NAME} cannot be reached ({why}): see that it runs, and that `database` is right"
    )


def _translate(error: psycopg.Error) -> StoreError:
    code = error.sqlstate or ""
    if code in ("53100", "53200"):
        return StoreFullError(
            f"{SERVER_NAME} is out of {'disk space' if code == '53100' else 'memory'}: nothing saved is "
            "lost"
        )
    if code in ("42501", "25006"):
        return StoreAccessError(
            f"{SERVER_NAME} does not let this user do that ({_line(error)}): have it allowed"
        )
    if code.startswith("XX0") or code in ("42P01", "42703", "3F000"):
        return DamagedStoreError(
            f"{SERVER_NAME} is damaged, or its schema {SCHEMA_NAME} was changed ({_line(error)}): restore "
            "it, or drop that "
            "schema and add your documents anew"
        )
    if code.startswith(("08", "57P")) or (
        not code and isinstance(error, load_driver().OperationalError)
    ):
        return StoreError(
            f"the connection to {SERVER_NAME} was lost: what was done is kept, nothing is kept in part; "
            "try again"
        )
    if code in ("40001", "40P01", "55P03"):
        return StoreError(f"{SERVER_NAME} is busy with the same rows: try again")
    return StoreError(f"{SERVER_NAME} could not do that ({_line(error) or type(error).__name__})")


def _line(error: psycopg.Error) -> str:
    """Return what the server said, as it may stand in a line, and its code.

    Never the detail, which quotes values.
    """
    said = " ".join((error.diag.message_primary or "").split())
    return "".join(char if char.isprintable() else "?" for char in said)[:150] + (
        f", {error.sqlstate}" if error.sqlstate else ""
    )
