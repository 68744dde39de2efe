"""What holds for every test: nobody's keys, nobody's data, no network beyond this machine."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import itertools
import os
import re
import signal
import socket
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import certifi
import pytest
from hypothesis import settings
from pydantic import SecretStr

from tests.patience import read_patiently
from tests.warm import Warm

if TYPE_CHECKING:
    from tests.postgres_server import Server

# The gate must give the same answer twice, and soon; looking further is the proofs' work: `make
# proof` asks them all.
settings.register_profile("gate", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("proof", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("gate")

# Started in the background by a script, we are deaf to Ctrl-C, and so would be every command that a
# test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

FOREIGN_PREFIXES = ("DEEPDIVER_", "LANGCHAIN_", "LANGSMITH_", "OTEL_", "XDG_")
FOREIGN_SUFFIXES = ("_API_KEY", "_URL", "_HOST", "_PROXY", "_proxy")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without looking for garbage.

    It took a third of 15 s, and among millions of objects there is none.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()  # what is there now stays to the end


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that wait for long, while other workers compute."""
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)


@pytest.fixture(scope="session")
def test_folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Iterator[int]]:
    """Name the folder that holds those of the tests, and their numbers."""
    root = tmp_path_factory.getbasetemp() / "tests"
    root.mkdir()
    return root, itertools.count(1)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, test_folders: tuple[Path, Iterator[int]]) -> Path:
    """Make a folder for the test.

    To find a number for it, pytest's own fixture looks through the folders of all tests before: for
    8,000 tests in one process that takes 20 s, and grows with the square.
    """
    root, numbers = test_folders
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = root / f"{next(numbers)}_{name}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the test an empty home and an environment that says nothing about providers."""
    say_nothing(monkeypatch)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DEEPDIVER_HOME", str(home / "deepdiver"))
    return home


def say_nothing(patch: pytest.MonkeyPatch) -> None:
    """Have the environment say nothing about providers, and nothing be told to any."""
    for name in os.environ:
        if name.startswith(FOREIGN_PREFIXES) or name.endswith(FOREIGN_SUFFIXES):
            patch.delenv(name)
    patch.setenv("LANGSMITH_TRACING", "false")


@pytest.fixture(autouse=True, scope="session")
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Trust one authority, here and in processes.

    Reading them all takes each client 40 ms, and no test needs one.
    """
    first, end, _ = (
        Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----\n")
    )
    file = tmp_path_factory.mktemp("authority") / "first.pem"
    file.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Refuse, loudly, every connection that would leave this machine."""

    def guarded(name: str) -> Any:
        connect = getattr(socket.socket, name)

        def connect_here(self: socket.socket, address: Any) -> Any:
            if self.family != getattr(socket, "AF_UNIX", None) and not is_loopback(str(address[0])):
                pytest.fail(f"a test tried to leave this machine: {address!r}")
            return connect(self, address)

        return connect_here

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, guarded(name))
        yield


@pytest.fixture(autouse=True, scope="session")
def patient() -> None:
    """Read documents however busy the machine is; the tests of reading itself undo this."""
    read_patiently()


@pytest.fixture(scope="session")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name the folder in which all workers of this session keep what the models said."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "readings"


@pytest.fixture(scope="module")
def read_once(readings: Path) -> Iterator[None]:
    """Have the models say again what they have said of a text."""
    from tests.readings import kept_in

    with kept_in(readings):
        yield


@pytest.fixture(scope="session")
def warm(readings: Path) -> Iterator[Warm]:
    """Give a Python that has deepdiver imported already, for what is started as a process."""
    with contextlib.ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            say_nothing(patch)  # libraries read it when they are imported
            started = stack.enter_context(Warm(readings))
        yield started


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """Start a real PostgreSQL once; skip what needs one where there is none."""
    from tests.postgres_server import NoServerError, running  # psycopg: for those who ask

    try:
        with running() as started:
            yield started
    except NoServerError as error:
        pytest.skip(f"no PostgreSQL can be had here: {error}")


@pytest.fixture
def database(postgres: Server) -> Iterator[str]:
    """The name of a database in PostgreSQL for one test alone."""
    name = postgres.new_database()
    yield name
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def shared_database(postgres: Server) -> SecretStr:
    """The address of a database in PostgreSQL for tests that do not get into each other's way."""
    return SecretStr(postgres.address(postgres.new_database()))


def is_loopback(host: str) -> bool:
    """Tell whether a host, by name or number, is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
