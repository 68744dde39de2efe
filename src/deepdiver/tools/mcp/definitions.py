"""The definition of a tool: the words and the schema that a person approves and a reasoner sees.

All of it is foreign text. It is data, shown clipped and within marked blocks, and never obeyed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deepdiver.core.identity import canonical, digest
from deepdiver.tools.tool_result import to_json

if TYPE_CHECKING:
    from mcp.types import Tool

NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
"""Names that a tool may have, as the protocol recommends."""
LONGEST = 64_000
"""Characters of a definition, as JSON."""
LINE = 300
"""Characters of a description that a reasoner is shown."""
ARGUMENT_LINE = 200
"""Characters of an argument's description."""
HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Unicode categories of characters that a terminal obeys or that cannot be seen."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """The definition of a tool, as its server gives it."""

    name: str
    """Its name."""
    description: str
    """Its purpose, in the server's words."""
    schema: dict[str, Any]
    """JSON schema of its arguments."""
    annotations: dict[str, Any]
    """The server's hints at its effects; not trusted, but approved like the rest."""

    @classmethod
    def from_tool(cls, tool: Tool) -> ToolDefinition:
        """Return the definition of a tool that a server lists.

        Raises:
            ValueError: If the tool cannot be called.
        """
        notes = (
            tool.annotations.model_dump(by_alias=True, exclude_none=True, mode="json")
            if tool.annotations
            else {}
        )
        return cls.from_json(
            {
                "name": tool.name,
                "description": tool.description or "",
                "inputSchema": tool.input_schema,
                "annotations": notes,
            }
        )

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> ToolDefinition:
        """Return a definition from JSON.

        Raises:
            ValueError: If the tool cannot be called.
        """
        name, description, schema, notes = (
            to_json(given.get(key)) for key in ("name", "description", "inputSchema", "annotations")
        )
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"a tool cannot be called {visible(str(name))[:80]!r}")
        if (
            not isinstance(schema, dict)
            or not isinstance(description, str)
            or not isinstance(notes, dict)
        ):
            raise ValueError(f"the definition of {name} is not in the form of the protocol")
        definition = cls(name, description, schema, notes)
        if len(canonical(definition.json())) > LONGEST:
            raise ValueError(f"the definition of {name} has more than {LONGEST:,} characters")
        return definition

    def json(self) -> dict[str, Any]:
        """Return the definition as JSON, as it is approved."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": self.annotations,
        }

    @property
    def hash(self) -> str:
        """SHA-256 of the definition as JSON."""
        return digest(canonical(self.json()))

    @property
    def line(self) -> str:
        """Its description in one line."""
        return one_line(self.description, LINE) or "it does not say what it does"

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON schema of each argument."""
        held = self.schema.get("properties")
        return held if isinstance(held, dict) else {}

    @property
    def required(self) -> set[str]:
        """The arguments that must be given."""
        held = self.schema.get("required")
        return {name for name in held if isinstance(name, str)} if isinstance(held, list) else set()

    def arguments(self) -> tuple[str, ...]:
        """Return a line for each argument, as a reasoner is shown it."""
        return tuple(
            one_line(
                f"{name}{'' if name in self.required else ' (optional)'}: {_meaning(spec)}",
                ARGUMENT_LINE,
            )
            for name, spec in self.fields.items()
        )


def _meaning(spec: Any) -> str:
    held = spec if isinstance(spec, dict) else {}
    kind, about, ways = held.get("type"), held.get("description"), held.get("enum")
    parts = [about if isinstance(about, str) else "", kind if isinstance(kind, str) else ""]
    if isinstance(ways, list):
        parts.append(f"one of {', '.join(map(str, ways[:20]))}")
    return ", ".join(filter(None, parts)) or "any"


def one_line(text: str, most: int) -> str:
    """Return a text on one line of at most `most` characters, without hidden ones."""
    seen = "".join(
        " " if unicodedata.category(sign) in HIDDEN else sign for sign in text[: 20 * most]
    )
    line = " ".join(seen.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def visible(text: str) -> str:
    r"""Return a text with hidden characters made visible, as `\u200b`, for a person to judge."""
    return "".join(
        _escaped(sign) if unicodedata.category(sign) in HIDDEN and sign != "\n" else sign
        for sign in text
    )


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
