"""What holds for the live tests alone: they ask the real services, with the keys of who runs them.

They cost money, so they run only where `-m live` asks for them, and each is skipped where its key
is not in the environment. Everything else stays as it is for all tests: the home is empty, and no
settings file is read.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import certifi
import pytest

from deepdiver.core.record import Run
from deepdiver.core.settings import Settings, load
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway
from deepdiver.store import Store
from deepdiver.store.sqlite import open_sqlite

ENVIRONMENT = dict(os.environ)
"""The environment before any test, whose fixtures remove every key from it."""
CONNECT = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex")}
"""The ways to connect, before the fixture that lets no test leave this machine."""
ASKED = re.compile(r"(?<!not )\blive\b")
NOT_HERE = frozenset({CallFault.UNREACHED, CallFault.NETWORK})
"""Faults of the way to a service, not of the service or of what was asked."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder, and no other."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(autouse=True)
def reach_out(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test leave this machine if whoever runs it has said so, else skip it."""
    if not ASKED.search(str(request.config.option.markexpr)):
        pytest.skip("it asks real services, and costs money: run it with -m live")
    for name, connect in CONNECT.items():
        monkeypatch.setattr(socket.socket, name, connect)
    monkeypatch.setenv("SSL_CERT_FILE", ENVIRONMENT.get("SSL_CERT_FILE") or certifi.where())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with the keys, addresses and models of the environment."""
    said = {
        name: value
        for name, value in ENVIRONMENT.items()
        if name not in {"DEEPDIVER_HOME", "DEEPDIVER_DATABASE"}
    }
    flags: dict[str, Any] = {"home": tmp_path / "live", "retries": 1}
    return load(flags, environ=said, folder=tmp_path, user_file=tmp_path / "none.toml")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    with closing(open_sqlite(settings.home)) as opened:
        yield opened


@pytest.fixture
def gateway(settings: Settings, store: Store) -> Gateway:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    run = Run(id="live", question="q", strategy="popper", settings={}, created=now, version="0")
    store.runs.create(run)
    return Gateway(store, run.id, settings, lambda event: None)


@contextmanager
def skipped_where_out_of_reach(what: str) -> Iterator[None]:
    """Skip a test that cannot get through to a service; whatever the service says counts."""
    try:
        yield
    except CallError as error:
        if error.fault in NOT_HERE:
            pytest.skip(f"{what} cannot be reached from here: {error}")
        raise
