"""The tools that a person has approved, with their exact definitions.

A tool whose definition differs from the approved one is disabled until it is approved again. A
server whose command or address differs is not even started. So if the settings of a folder bring a
command along, nothing happens before a person has looked at it.
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
from deepdiver.tools.mcp.definitions import ToolDefinition, visible

FILE = "mcp-approved.json"


class ApprovalState(StrEnum):
    """Whether a tool is approved."""

    APPROVED = "approved"
    """Its definition is the approved one."""
    NEW = "new"
    """It was never approved."""
    CHANGED = "changed"
    """It was approved, and its definition or its server has changed since."""


class _ApprovedTool(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    sha256: str
    """Hash of the definition."""
    definition: dict[str, Any]
    """The definition, for showing what has changed."""


class _ApprovedServer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    where: str
    """Hash of its command or address."""
    tools: dict[str, _ApprovedTool]
    """Its approved tools."""


class _ApprovalFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    servers: dict[str, _ApprovedServer]


def endpoint_hash(server: McpServer) -> str:
    """Return a hash of a server's command, address and names of environment variables.

    The values of these variables do not count, because keys change now and then.
    """
    return digest(canonical([list(server.command), server.url, sorted(server.env)]))


class Approvals:
    """The approved tools, in a file of the home folder."""

    def __init__(self, home: Path) -> None:
        """Read the file; without one, nothing is approved.

        Raises:
            SettingsError: If it cannot be read.
        """
        self._file = home / FILE
        try:
            self._held = _ApprovalFile.model_validate_json(self._file.read_bytes()).servers
        except (FileNotFoundError, NotADirectoryError):
            self._held = {}
        except (OSError, ValueError):
            raise SettingsError(
                f"{self._file} cannot be read, so no MCP tool counts as approved: move it away and "
                "approve the tools again"
            ) from None

    def known(self, name: str, server: McpServer) -> bool:
        """Whether a tool of a server is approved, and the server is reached in the same way."""
        entry = self._held.get(name)
        return entry is not None and bool(entry.tools) and entry.where == endpoint_hash(server)

    def moved(self, name: str, server: McpServer) -> bool:
        """Whether a tool of a server was approved, and the server is reached in another way now."""
        return bool(self._tools(name)) and not self.known(name, server)

    def state(self, name: str, server: McpServer, definition: ToolDefinition) -> ApprovalState:
        """Return whether a tool is approved, new or changed."""
        held = self._tools(name).get(definition.name)
        if held is None:
            return ApprovalState.NEW
        same = held.sha256 == definition.hash and self.known(name, server)
        return ApprovalState.APPROVED if same else ApprovalState.CHANGED

    def difference(self, name: str, definition: ToolDefinition) -> str:
        """Return what has changed in a definition, as a unified diff."""
        held = self._tools(name).get(definition.name)
        before, now = (
            definition_text(held.definition if held else {}),
            definition_text(definition.json()),
        )
        lines = difflib.unified_diff(
            before.splitlines(), now.splitlines(), "approved", "now", lineterm="", n=1
        )
        return "\n".join(lines)

    def approve(self, name: str, server: McpServer, definitions: Iterable[ToolDefinition]) -> None:
        """Approve definitions, and write this to disk.

        Tools of the server that were approved before stay approved, unless it was reached in
        another way then.

        Raises:
            SettingsError: If the file cannot be written.
        """
        kept = self._tools(name) if self.known(name, server) else {}
        new = {
            each.name: _ApprovedTool(sha256=each.hash, definition=each.json())
            for each in definitions
        }
        self._held = {
            **self._held,
            name: _ApprovedServer(where=endpoint_hash(server), tools={**kept, **new}),
        }
        text = _ApprovalFile(servers=self._held).model_dump_json(indent=1)
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

    def _tools(self, name: str) -> dict[str, _ApprovedTool]:
        entry = self._held.get(name)
        return entry.tools if entry else {}


def definition_text(definition: dict[str, Any]) -> str:
    """Return a definition for a person to read, with hidden characters made visible."""
    return visible(json.dumps(definition, ensure_ascii=False, indent=2, sort_keys=True))
