"""Which tools of which servers a person has approved: as they were then, to the letter.

A definition that is not the one approved is disabled until it is approved again. So is a whole
server whose command or address is not the one it had: it is not even started. Where the settings of
a folder bring a command along, nothing of it happens before a person has looked at it.
"""

from __future__ import annotations

import difflib
import json
import os
import tempfile
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from deepdiver.core.identity import canonical, digest
from deepdiver.core.settings import McpServer
from deepdiver.errors import SettingsError
from deepdiver.tools.mcp.definitions import Definition, visible

FILE = "mcp-approved.json"


class State(StrEnum):
    """How a tool stands to what was approved."""

    APPROVED = "approved"
    """It is what was approved."""
    NEW = "new"
    """It was never approved."""
    CHANGED = "changed"
    """It was approved, and is not any more what it was."""


class _Tool(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    sha256: str
    """Hash of the definition."""
    definition: dict[str, Any]
    """The definition, to show what changed in it."""


class _Server(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    where: str
    """Hash of how it was reached."""
    tools: dict[str, _Tool]
    """What was approved of it."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    servers: dict[str, _Server]


def whereabouts(server: McpServer) -> str:
    """Return a hash of how a server is reached.

    Of its environment the names, because keys are changed now and then.
    """
    return digest(canonical([list(server.command), server.url, sorted(server.env)]))


class Approvals:
    """What was approved, in a file of the home folder."""

    def __init__(self, home: Path) -> None:
        """Read the file; where there is none, nothing was approved.

        Raises:
            SettingsError: If it cannot be read.
        """
        self._file = home / FILE
        try:
            self._held = _File.model_validate_json(self._file.read_bytes()).servers
        except (FileNotFoundError, NotADirectoryError):
            self._held = {}
        except (OSError, ValueError):
            told = (
                f"{self._file} cannot be read, so no MCP tool counts as approved: move it away and "
                "approve them anew"
            )
            raise SettingsError(told) from None

    def known(self, name: str, server: McpServer) -> bool:
        """Whether something of a server was approved, and it is reached as it was then."""
        entry = self._held.get(name)
        return entry is not None and bool(entry.tools) and entry.where == whereabouts(server)

    def moved(self, name: str, server: McpServer) -> bool:
        """Whether something of a server was approved, and it is reached in another way now."""
        return bool(self._tools(name)) and not self.known(name, server)

    def state(self, name: str, server: McpServer, definition: Definition) -> State:
        """Return how a tool stands to what was approved."""
        held = self._tools(name).get(definition.name)
        if held is None:
            return State.NEW
        same = held.sha256 == definition.hash and self.known(name, server)
        return State.APPROVED if same else State.CHANGED

    def difference(self, name: str, definition: Definition) -> str:
        """Return what changed in a definition, as lines that went and lines that came."""
        held = self._tools(name).get(definition.name)
        before, now = pretty(held.definition if held else {}), pretty(definition.json())
        lines = difflib.unified_diff(
            before.splitlines(), now.splitlines(), "approved", "now", lineterm="", n=1
        )
        return "\n".join(lines)

    def approve(self, name: str, server: McpServer, definitions: Iterable[Definition]) -> None:
        """Keep that definitions are approved, on disk before this returns.

        What was approved of the server before stays, unless it was reached in another way then.

        Raises:
            SettingsError: If the file cannot be written.
        """
        kept = self._tools(name) if self.known(name, server) else {}
        new = {each.name: _Tool(sha256=each.hash, definition=each.json()) for each in definitions}
        self._held = {**self._held, name: _Server(where=whereabouts(server), tools={**kept, **new})}
        text = _File(servers=self._held).model_dump_json(indent=1)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self._file.parent, prefix=f".{FILE}.", delete=False
            ) as draft:
                draft.write(text)
                draft.flush()
                os.fsync(draft.fileno())
            Path(draft.name).replace(self._file)
        except OSError as error:
            raise SettingsError(f"{self._file} cannot be written: {error.strerror}") from None

    def _tools(self, name: str) -> dict[str, _Tool]:
        entry = self._held.get(name)
        return entry.tools if entry else {}


def pretty(definition: dict[str, Any]) -> str:
    """Return a definition as a person reads it: nothing in it is hidden."""
    return visible(json.dumps(definition, ensure_ascii=False, indent=2, sort_keys=True))
