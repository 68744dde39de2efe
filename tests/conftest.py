"""What holds for every test: nobody's keys, nobody's data, no network beyond this machine."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The gate must give the same answer twice, and soon; looking further is the proofs' work: `make proof` asks them all.
settings.register_profile("gate", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("proof", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("gate")

FOREIGN_PREFIXES = ("DEEPDIVER_", "LANGCHAIN_", "LANGSMITH_", "OTEL_", "XDG_")
FOREIGN_SUFFIXES = ("_API_KEY", "_URL", "_HOST", "_PROXY", "_proxy")


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give the test an empty home and an environment that says nothing about providers."""
    for name in os.environ:
        if name.startswith(FOREIGN_PREFIXES) or name.endswith(FOREIGN_SUFFIXES):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("DEEPDIVER_HOME", str(home / "deepdiver"))
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    return home


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


def is_loopback(host: str) -> bool:
    """Tell whether a host, by name or number, is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
