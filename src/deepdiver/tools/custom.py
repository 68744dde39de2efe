"""A LangChain tool as a search provider.

What it returns becomes a source with a snapshot, so that it can be cited.
"""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel

from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.calling import Teller, hits_of, plain, query_argument
from deepdiver.tools.hit import Hit, whole

TOLD_CHARS = 300
"""So much of a tool's error is told: enough for its first line."""
LASTING = (ValueError, TypeError, LookupError, NotImplementedError, ToolException)
"""Errors of the tool's own logic: calling it again with the same query would raise them again."""


class ToolProvider:
    """Searches by calling a tool with the query."""

    def __init__(self, tool: BaseTool) -> None:
        """Wrap a tool.

        Raises:
            ValueError: If it takes no argument that could hold a query, or demands more than a
                query.
        """
        self.name, self.about, self._tool = tool.name, tool.description, tool
        self._argument = query_argument(tool.name, *_arguments(tool))
        self._teller = Teller(tool.name, f"tool:{tool.name}", owned=True)

    def missing(self, settings: Settings) -> str | None:
        """Nothing: it was passed in ready."""
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Call the tool."""

        async def do() -> Reply:
            try:
                return Reply(plain(await self._tool.ainvoke({self._argument: query})))
            except Exception as error:  # a user's tool may raise anything; it costs one search
                told = " ".join(
                    f"tool {self.name} failed: {type(error).__name__}: {error}".split()
                )[:TOLD_CHARS]
                fault = CallFault.REQUEST if isinstance(error, LASTING) else CallFault.SERVER
                raise CallError(whole(told), fault) from error

        payload = {"tool": self.name, "arguments": {self._argument: query}}
        reply = await gateway.call(Request("tool", self.name, query, payload), do)
        return list(hits_of(reply.value, self._teller))[:limit]


def _arguments(tool: BaseTool) -> tuple[dict[str, Any], set[str]]:
    """Return a tool's arguments, and which of them must be given."""
    schema: Any = tool.tool_call_schema
    if isinstance(schema, dict):
        schema = {"properties": {}, **schema}
        fields = schema["properties"]
    else:
        fields = tool.args
        schema = schema.model_json_schema() if issubclass(schema, BaseModel) else schema.schema()
    return fields, fields.keys() & set(schema.get("required", ()))
