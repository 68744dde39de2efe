"""A LangChain tool as a search provider: what it returns becomes a source with a snapshot, so that it can be cited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from langchain_core.tools import BaseTool, ToolException
from pydantic import BaseModel

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit, whole

QUERY_NAMES = ("query", "q", "question", "search", "input", "text")
"""How the argument that holds the query is usually called."""
LIST_KEYS = ("results", "documents", "items", "hits")
TEXT_KEYS = ("raw_content", "content", "text", "snippet", "body", "page_content", "description")
URL_KEYS = ("url", "link", "href", "source", "path")
TITLE_KEYS = ("title", "name", "heading")
DATE_KEYS = ("published", "published_date", "publishedDate", "publishedAt", "date")
TOLD_CHARS = 300
"""So much of a tool's error is told: enough for its first line."""
LASTING = (ValueError, TypeError, LookupError, NotImplementedError, ToolException)
"""Errors of the tool's own logic: calling it again with the same query would raise them again."""


class ToolProvider:
    """Searches by calling a tool with the query."""

    def __init__(self, tool: BaseTool) -> None:
        """Wrap a tool.

        Raises:
            ValueError: If it takes no argument that could hold a query, or demands more than a query.
        """
        self.name, self.about, self._tool = tool.name, tool.description, tool
        fields, required = _arguments(tool)
        texts = [name for name, spec in fields.items() if _takes_text(spec)]
        named = [name for name in QUERY_NAMES if name in texts]
        demanded = [name for name in texts if name in required]
        if not texts:
            raise ValueError(f"tool {tool.name} takes no text that could hold a query")
        self._argument = (named or demanded or texts)[0]
        if more := sorted(required - {self._argument}):
            raise ValueError(f"tool {tool.name} demands {', '.join(more)} besides {self._argument}: give them defaults")

    def missing(self, settings: Settings) -> str | None:
        """Nothing: it was passed in ready."""
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Call the tool."""

        async def do() -> Reply:
            try:
                return Reply(_plain(await self._tool.ainvoke({self._argument: query})))
            except Exception as error:  # a user's tool may raise anything; it costs one search
                told = " ".join(f"tool {self.name} failed: {type(error).__name__}: {error}".split())[:TOLD_CHARS]
                fault = CallFault.REQUEST if isinstance(error, LASTING) else CallFault.SERVER
                raise CallError(whole(told), fault) from error

        payload = {"tool": self.name, "arguments": {self._argument: query}}
        reply = await gateway.call(Request("tool", self.name, query, payload), do)
        return list(self._hits(reply.value))[:limit]

    def _hits(self, value: Any) -> Iterator[Hit]:
        """Read what a tool returned: a text, JSON in a text, one result, or several."""
        if isinstance(value, str):
            value = _json(value)
        if isinstance(value, dict):
            inner = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
            if inner is not None:
                yield from self._hits(inner)
            elif value:
                yield self._hit(value, _first(value, TEXT_KEYS) or _shown(value))
        elif isinstance(value, list):
            told = [item for item in value if isinstance(item, dict | list | str)]  # a score beside a text is no result
            for item in told:
                yield from self._hits(item)
            if not told and any(item is not None for item in value):
                yield self._hit({}, _shown(value))
        elif value is not None and (text := str(value)).strip():
            yield self._hit({}, text)

    def _hit(self, item: dict[str, Any], text: str) -> Hit:
        url = _first(item, URL_KEYS) or f"tool:{self.name}"
        return Hit(
            url=url,
            title=_first(item, TITLE_KEYS) or url.removeprefix("tool:"),
            kind=SourceKind.PAGE if url.startswith(("http://", "https://")) else SourceKind.TOOL,
            published=_first(item, DATE_KEYS),
            publisher=_first(item, ("publisher", "site")),
            author=_first(item, ("author",)),
            text=text,
            complete=True,  # what the tool says is what its owner wants read: nobody else is asked
            provider=self.name,
        )


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


def _takes_text(spec: dict[str, Any]) -> bool:
    """Whether an argument takes any text: not a number, and not one of a few words."""
    if "enum" in spec or "const" in spec:
        return False
    if ways := spec.get("anyOf"):
        return any(_takes_text(way) for way in ways)
    return bool(spec.get("type") == "string" or not spec.keys() & {"type", "$ref", "allOf"})


def _json(text: str) -> Any:
    """Return the object or list that a text is in JSON; any other text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _shown(value: Any) -> str:
    return whole(json.dumps(value, ensure_ascii=False, indent=1))


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    meta = item.get("metadata")
    pools = (item, meta) if isinstance(meta, dict) else (item,)
    held = (pool.get(key) for pool in pools for key in keys)
    return next((whole(str(value)) for value in held if value and isinstance(value, str | int | float)), "")


def _plain(value: Any) -> Any:
    """Return a tool's result as JSON: documents and messages become dictionaries, what is unknown its text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {whole(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "page_content"):
        return {"page_content": _plain(value.page_content), "metadata": _plain(getattr(value, "metadata", {}))}
    if hasattr(value, "content"):
        return _plain(value.content)
    return _plain(value.model_dump(mode="json")) if isinstance(value, BaseModel) else whole(str(value))
