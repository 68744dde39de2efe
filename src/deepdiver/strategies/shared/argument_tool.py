"""Tools that take arguments, of MCP servers and of the caller, as tools of a strategy.

Their answers are read like search results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway
from deepdiver.strategies.shared.base import Deps, LookResult
from deepdiver.strategies.shared.reading import read_and_extract
from deepdiver.tasks import ShownTool
from deepdiver.tools.hit import Hit
from deepdiver.tools.search_all import SearchResults

READ_AS_JSON = frozenset({"integer", "number", "boolean", "array", "object", "null"})
"""Types of arguments that a reasoner, which gives all arguments as text, writes as JSON."""


class CallResult(Protocol):
    """The result of a call."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Its texts, each ready to become a source."""

    @property
    def is_error(self) -> bool:
        """Whether the tool says that it failed."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for each kind of thing that was left out."""


class CallableTool(Protocol):
    """A tool that is called with arguments."""

    @property
    def name(self) -> str:
        """Its name among the tools of a run."""

    @property
    def about(self) -> str:
        """What it does, in one line."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON schema of its arguments."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """A line for each argument."""

    def checked(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call.

        Raises:
            ValueError: If it does not take them; says why in one line.
        """

    async def call(self, args: Mapping[str, Any], gateway: Gateway) -> CallResult:
        """Call it.

        Raises:
            GatewayError: If there is no answer.
        """


@dataclass(frozen=True, slots=True)
class ArgumentTool:
    """A tool of an MCP server or of the caller that can be called."""

    tool: CallableTool
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
        deps.note_search(f"{self.tool.name}({asked})", titles)
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
