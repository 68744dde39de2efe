"""The argument of a tool, LangChain's or an MCP server's, that takes the query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUERY_NAMES = ("query", "q", "question", "search", "input", "text")
"""Usual names of the argument that takes the query."""


def query_argument(tool: str, fields: Mapping[str, Any], required: set[str]) -> str:
    """Return the argument of a tool that takes the query.

    Args:
        tool: The name of the tool, for messages.
        fields: The JSON schema of each argument.
        required: The arguments that must be given.

    Raises:
        ValueError: If no argument can take it, or others are required too.
    """
    texts = [name for name, spec in fields.items() if takes_text(spec)]
    named = [name for name in QUERY_NAMES if name in texts]
    demanded = [name for name in texts if name in required]
    if not texts:
        raise ValueError(f"tool {tool} takes no text that could be a query")
    argument = (named or demanded or texts)[0]
    if more := sorted(required - {argument}):
        raise ValueError(
            f"tool {tool} requires {', '.join(more)} besides {argument}: give them defaults"
        )
    return argument


def takes_text(spec: Any) -> bool:
    """Whether an argument takes any text: neither a number nor one of a few words."""
    if not isinstance(spec, Mapping):
        return spec is True  # a JSON schema of `true` takes anything
    if "enum" in spec or "const" in spec:
        return False
    ways = spec.get("anyOf")
    if isinstance(ways, list) and ways:
        return any(takes_text(way) for way in ways)
    kind = spec.get("type")
    text = "string" in kind if isinstance(kind, list) else kind == "string"
    return bool(text or not spec.keys() & {"type", "$ref", "allOf"})
