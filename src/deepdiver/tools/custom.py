"""A LangChain tool as a search provider: what it returns becomes a source with a snapshot, so that it can be cited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from langchain_core.tools import BaseTool

from deepdiver.core.record import SourceKind
from deepdiver.core.settings import Settings
from deepdiver.errors import CallError, CallFault
from deepdiver.gateway import Gateway, Reply, Request
from deepdiver.tools.hit import Hit

TEXT_KEYS = ("raw_content", "content", "text", "snippet", "body", "page_content", "description")
URL_KEYS = ("url", "link", "href", "source", "path")
TITLE_KEYS = ("title", "name", "heading")


class ToolProvider:
    """Searches by calling a tool with the query."""

    def __init__(self, tool: BaseTool) -> None:
        """Wrap a tool.

        Raises:
            ValueError: If it takes no argument that could hold a query.
        """
        self.name, self.about, self._tool = tool.name, tool.description, tool
        fields = tool.args
        texts = [name for name, spec in fields.items() if spec.get("type", "string") == "string"]
        named = [name for name in ("query", "q", "question", "search", "input", "text") if name in texts]
        if not (named or texts):
            raise ValueError(f"tool {tool.name} takes no text that could hold a query")
        self._argument = (named or texts)[0]

    def missing(self, settings: Settings) -> str | None:
        """Nothing: it was passed in ready."""
        return None

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        """Call the tool."""

        async def do() -> Reply:
            try:
                result = await self._tool.ainvoke({self._argument: query})
            except Exception as error:  # a user's tool may raise anything; it costs one search
                told = f"tool {self.name} failed: {type(error).__name__}: {error}"
                raise CallError(told, CallFault.SERVER) from error
            return Reply(_plain(result))

        payload = {"tool": self.name, self._argument: query}
        reply = await gateway.call(Request("tool", self.name, query, payload), do)
        return list(self._hits(reply.value))[:limit]

    def _hits(self, value: Any) -> Iterator[Hit]:
        if isinstance(value, str):
            try:
                parsed = json.loads(value)
            except ValueError:
                parsed = None
            if not isinstance(parsed, dict | list):
                if value.strip():
                    yield self._hit({}, value)
                return
            value = parsed
        if isinstance(value, dict):
            inner = next((value[key] for key in ("results", "documents", "items", "hits") if key in value), None)
            if isinstance(inner, list):
                yield from self._hits(inner)
            elif (text := _first(value, TEXT_KEYS)) or value:
                yield self._hit(value, text or json.dumps(value, ensure_ascii=False, indent=1))
        elif isinstance(value, list):
            for item in value:
                yield from self._hits(item)
        elif value is not None:
            yield from self._hits(str(value))

    def _hit(self, item: dict[str, Any], text: str) -> Hit:
        url = _first(item, URL_KEYS) or f"tool:{self.name}"
        return Hit(
            url=url,
            title=_first(item, TITLE_KEYS) or url.removeprefix("tool:"),
            kind=SourceKind.PAGE if url.startswith("http") else SourceKind.TOOL,
            published=_first(item, ("published", "published_date", "date")),
            publisher=_first(item, ("publisher", "site")),
            text=text,
            provider=self.name,
        )


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    meta = item.get("metadata")
    pools = (item, meta) if isinstance(meta, dict) else (item,)
    return next((str(pool[key]) for pool in pools for key in keys if pool.get(key)), "")


def _plain(value: Any) -> Any:
    """Return a tool's result as JSON: documents and messages become dictionaries, what is unknown its text."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        value = value[0]  # content and artifact: the content is what the tool says
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if hasattr(value, "page_content"):
        return {"page_content": value.page_content, "metadata": _plain(getattr(value, "metadata", {}))}
    return str(getattr(value, "content", value))
