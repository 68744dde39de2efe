"""Servers for the tests: real programs on this machine, and their approved tools."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deepdiver.core.settings import Deadlines, Mcp, McpServer, Settings
from deepdiver.tools.mcp.approval import Approvals
from deepdiver.tools.mcp.definitions import ToolDefinition
from tests.patience import PATIENCE
from tests.processes import until
from tests.servers.mcp_scripted import QUERY, TOOLS

SERVERS = Path(__file__).parents[2] / "servers"
SCRIPTED = SERVERS / "mcp_scripted.py"
HONEST = SERVERS / "mcp_honest.py"
DEFINED = {name: ToolDefinition(name, f"Tool {name}.", QUERY, {}) for name in TOOLS}
"""What the scripted server says of its tools."""

Made = Callable[..., Settings]


def scripted(*options: str, **fields: Any) -> McpServer:
    """Describe a scripted server that is started."""
    return McpServer(command=(sys.executable, str(SCRIPTED), *options), **fields)


@contextmanager
def on_http(*options: str) -> Iterator[str]:
    """Run a scripted server over HTTP; gives its address."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPTED), "--http", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


@pytest.fixture(autouse=True)
def _as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the end of a server however busy the machine is."""
    monkeypatch.setattr("deepdiver.tools.mcp.stdio.ENDED", PATIENCE)
    monkeypatch.setattr("deepdiver.tools.mcp.connection.CLOSING", PATIENCE)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Give settings with servers of which tools are approved."""

    def make(
        approved: Iterable[str] = TOOLS, *, seconds: float = PATIENCE, **servers: McpServer
    ) -> Settings:
        home = tmp_path / "mcp-home"
        for name, server in servers.items():
            if definitions := [DEFINED[tool] for tool in approved]:
                Approvals(home).approve(name, server, definitions)
        return Settings(
            home=home, mcp=Mcp(servers=servers), deadlines=Deadlines(mcp=seconds), retries=0
        )

    return make


def read_pids(file: Path, within: float = PATIENCE) -> list[int]:
    """Wait for the numbers that a server writes down."""
    until(file.exists, within)
    numbers: list[int] = json.loads(file.read_text(encoding="utf-8"))
    return numbers


def defined(folder: Path, *definitions: dict[str, Any]) -> tuple[str, str]:
    """Return the options of a scripted server that lists these definitions."""
    file = folder / "tools.json"
    file.write_text(json.dumps(definitions), encoding="utf-8")
    return "--tools", str(file)
