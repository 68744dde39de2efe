"""Servers for the tests: real programs on this machine, and what is approved of them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from deepdiver.core.parts import Deadlines, Mcp, McpServer
from deepdiver.core.settings import Settings
from deepdiver.tools.mcp.approval import Approvals
from deepdiver.tools.mcp.definitions import Definition
from tests.servers.mcp_scripted import QUERY, TOOLS

SERVERS = Path(__file__).parents[2] / "servers"
SCRIPTED = SERVERS / "mcp_scripted.py"
HONEST = SERVERS / "mcp_honest.py"
DEFINED = {name: Definition(name, f"Tool {name}.", QUERY, {}) for name in TOOLS}
"""What the scripted server says of its tools."""

Made = Callable[..., Settings]


def scripted(*options: str, **fields: Any) -> McpServer:
    """Describe a scripted server that is started."""
    return McpServer(command=(sys.executable, str(SCRIPTED), *options), **fields)


@contextmanager
def on_http(*options: str) -> Iterator[str]:
    """Run a scripted server over HTTP; gives its address."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPTED), "--http", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Give settings with servers of which tools are approved."""

    def make(approved: Iterable[str] = TOOLS, *, seconds: float = 20.0, **servers: McpServer) -> Settings:
        home = tmp_path / "mcp-home"
        for name, server in servers.items():
            if definitions := [DEFINED[tool] for tool in approved]:
                Approvals(home).approve(name, server, definitions)
        return Settings(home=home, mcp=Mcp(servers=servers), deadlines=Deadlines(mcp=seconds), retries=0)

    return make


def gone(numbers: Iterable[int], within: float = 5.0) -> bool:
    """Tell whether processes are no more, or dead and not yet taken away by whoever has to."""
    ends = time.monotonic() + within
    while left := [number for number in numbers if lives(number)]:
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return not left


def lives(number: int) -> bool:
    try:
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def read_pids(file: Path, within: float = 20.0) -> list[int]:
    """Wait for the numbers that a server writes down."""
    ends = time.monotonic() + within
    while not file.exists():
        assert time.monotonic() < ends, "the server wrote no numbers"
        time.sleep(0.02)
    numbers: list[int] = json.loads(file.read_text(encoding="utf-8"))
    return numbers


def started_by_us() -> set[int]:
    """Return all processes that descend from this one."""
    return {child.pid for child in psutil.Process().children(recursive=True) if lives(child.pid)}
