"""A LangChain tool as a search provider: its results become sources that can be cited."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit, whole
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
        self._argument = query_argument(tool.name, *_arguments(tool))
        self._origin = ToolOrigin(tool.name, f"tool:{tool.name}", owned=True)

    def missing(self, settings: Settings) -> str | None:
        """Return None: the tool is ready."""
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Call the tool."""

        async def do() -> Reply:
            try:
                return Reply(to_json(await self._tool.ainvoke({self._argument: query})))
            except Exception as error:  # a user's tool may raise anything; it costs one search
                said = f"tool {self.name} failed: {type(error).__name__}: {error}"
                told = " ".join(said.split())[:LONGEST_ERROR]
                fault = CallFault.REQUEST if isinstance(error, LASTING) else CallFault.SERVER
                raise CallError(whole(told), fault) from error

        payload = {"tool": self.name, "arguments": {self._argument: query}}
        reply = await gateway.call(Request("tool", self.name, query, payload), do)
        return list(hits_of(reply.value, self._origin))[:limit]


def _arguments(tool: BaseTool) -> tuple[dict[str, Any], set[str]]:
    """Return the arguments of a tool, and those of them that must be given."""
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        schema = {"properties": {}, **schema}
        fields = schema["properties"]
    else:
        fields = tool.args
        schema = schema.model_json_schema() if issubclass(schema, BaseModel) else schema.schema()
    return fields, fields.keys() & set(schema.get("required", ()))
