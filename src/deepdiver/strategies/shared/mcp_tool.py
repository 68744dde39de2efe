"""Tools of MCP servers as tools of a strategy: their answers are read like search results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deepdiver.core.events import Searched
from deepdiver.errors import CallError, CallFault
from deepdiver.strategies.shared.base import Deps, LookResult
from deepdiver.strategies.shared.look import read_and_extract
from deepdiver.tasks import ShownTool
from deepdiver.tools.mcp.toolset import McpTool
from deepdiver.tools.search_all import SearchResults

READ_AS_JSON = frozenset({"integer", "number", "boolean", "array", "object", "null"})
"""Types of arguments that a reasoner, which gives all arguments as text, writes as JSON."""


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of an MCP server that can be called."""

    tool: McpTool
    """The tool."""

    @property
    def shown(self) -> ShownTool:
        """Its description for the reasoner."""
        return ShownTool(name=self.tool.name, about=self.tool.about, arguments=self.tool.arguments)

    def fault(self, args: Mapping[str, str]) -> str:
        """Return why it does not take these arguments, or "" if it does."""
        try:
            self.tool.checked(parse_arguments(args, self.tool.schema))
        except ValueError as error:
            return str(error)
        return ""

    async def execute(
        self, deps: Deps, args: Mapping[str, str], question: str, about: str, known: Sequence[str]
    ) -> LookResult:
        """Call it, and extract what bears on the question from its answer.

        Raises:
            GatewayError: If there is no answer, or the tool says that it failed.
        """
        result = await self.tool.call(parse_arguments(args, self.tool.schema), deps.gateway)
        if result.is_error:
            raise CallError(f"{self.tool.name} says that it failed", CallFault.REQUEST)
        asked = ", ".join(f"{name}={value}" for name, value in args.items())
        found = SearchResults(
            result.hits,
            True,
            tuple(deps.note_limit(f"{self.tool.name}: {note}") for note in result.notes),
        )
        titles = tuple(hit.title or hit.url for hit in found.hits)
        deps.emit(Searched(query=f"{self.tool.name}({asked})", titles=titles))
        looked = await read_and_extract(deps, question, about, [about], [found], known)
        return LookResult(
            looked.findings,
            looked.leads,
            (asked,),
            True,
            found.failures,
            looked.sources,
            looked.questions,
        )


def parse_arguments(args: Mapping[str, str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments given as text in the types of a schema: "7" may become a number."""
    fields = schema.get("properties")
    return {
        name: _parse_argument(value, fields.get(name) if isinstance(fields, Mapping) else None)
        for name, value in args.items()
    }


def _parse_argument(value: str, spec: Any) -> Any:
    wanted = _types_of(spec)
    if "string" in wanted or not wanted & READ_AS_JSON:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        # Checking it against the schema says what is wrong.
        return value


def _types_of(spec: Any) -> set[str]:
    if not isinstance(spec, Mapping):
        return set()
    named = spec.get("type", ())
    types = {named} if isinstance(named, str) else {name for name in named if isinstance(name, str)}
    ways = spec.get("anyOf")
    return types.union(*map(_types_of, ways)) if isinstance(ways, list) else types
