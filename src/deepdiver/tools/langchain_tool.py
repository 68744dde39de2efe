"""A LangChain tool, to search with or to call with arguments: its results can be cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel, ValidationError

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit, whole
from deepdiver.tools.mcp.definitions import ToolDefinition
from deepdiver.tools.tool_argument import query_argument
from deepdiver.tools.tool_result import ToolOrigin, hits_of, to_json

LONGEST_ERROR = 300
"""The most characters of a tool's error that are shown: enough for its first line."""
LASTING = (ValueError, TypeError, LookupError, NotImplementedError, ToolException)
"""Errors of the tool's own logic: calling it again with the same query would raise them again."""


class LangChainProvider:
    """Searches by calling a tool with the query."""

    def __init__(self, tool: BaseTool) -> None:
        """Wrap a tool.

        Raises:
            ValueError: If no argument can take a query, or others are required too.
        """
        self.name, self.about, self._tool = tool.name, tool.description, tool
        held = _definition(tool)
        self._argument = query_argument(tool.name, held.fields, held.required)
        self._origin = ToolOrigin(tool.name, f"tool:{tool.name}", owned=True)

    def missing(self, settings: Settings) -> str | None:
        """Return None: the tool is ready."""
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Call the tool."""
        value = await _call(self._tool, {self._argument: query}, query, gateway)
        return list(hits_of(value, self._origin))[:limit]


@dataclass(frozen=True, slots=True)
class LangChainResult:
    """The result of a call."""

    hits: tuple[Hit, ...]
    """Its texts, each ready to become a source."""
    is_error: bool = False
    """False: a tool that fails raises."""
    notes: tuple[str, ...] = ()
    """Empty: nothing is left out."""


class LangChainTool:
    """A tool of the caller, for calling with arguments."""

    def __init__(self, tool: BaseTool) -> None:
        """Wrap a tool."""
        self._tool, self._definition = tool, _definition(tool)
        self._origin = ToolOrigin(tool.name, f"tool:{tool.name}", owned=True)
        self.name, self.about = tool.name, self._definition.line
        self.schema: Mapping[str, Any] = self._definition.schema
        """JSON schema of its arguments."""
        self.arguments = self._definition.arguments()
        """A line for each argument."""

    def checked(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call.

        Raises:
            ValueError: If the tool does not take them; says why in one line.
        """
        if extra := sorted(args.keys() - self._definition.fields.keys()):
            raise ValueError(f"it takes no argument {extra[0]!r}")
        if lacking := sorted(self._definition.required - args.keys()):
            raise ValueError(f"its argument {lacking[0]!r} is missing")
        schema: Any = self._tool.tool_call_schema
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            try:
                schema.model_validate(args)
            except ValidationError as error:
                first = error.errors(include_url=False, include_context=False)[0]
                name = ".".join(map(str, first["loc"]))
                raise ValueError(f"its argument {name!r}: {first['msg']}") from None
        return dict(args)

    async def call(self, args: Mapping[str, Any], gateway: Gateway) -> LangChainResult:
        """Call the tool.

        Raises:
            ValueError: If it does not take these arguments; nothing was sent.
            GatewayError: If there is no answer.
        """
        given = self.checked(args)
        what = ", ".join(f"{name}={value}" for name, value in given.items())
        return LangChainResult(
            tuple(hits_of(await _call(self._tool, given, what, gateway), self._origin))
        )


async def _call(tool: BaseTool, args: dict[str, Any], what: str, gateway: Gateway) -> Any:
    """Call a tool through the gateway, and return its result as JSON."""

    async def do() -> Reply:
        try:
            return Reply(to_json(await tool.ainvoke(args)))
        except Exception as error:  # a user's tool may raise anything; it costs one call
            said = f"tool {tool.name} failed: {type(error).__name__}: {error}"
            told = " ".join(said.split())[:LONGEST_ERROR]
            fault = CallFault.REQUEST if isinstance(error, LASTING) else CallFault.SERVER
            raise CallError(whole(told), fault) from error

    payload = {"tool": tool.name, "arguments": args}
    return (await gateway.call(Request("tool", tool.name, what, payload), do)).value


def _definition(tool: BaseTool) -> ToolDefinition:
    """Return the definition of a tool, without the arguments that the frame gives it."""
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        fields = schema.get("properties", {})
    else:
        fields = tool.args
        schema = schema.model_json_schema() if issubclass(schema, BaseModel) else schema.schema()
    required = sorted(fields.keys() & set(schema.get("required", ())))
    own = {**schema, "properties": fields, "required": required}
    return ToolDefinition(tool.name, tool.description, own, {})
