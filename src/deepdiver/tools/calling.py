"""What any tool has in common, LangChain's or an MCP server's.

What it can be asked, and what its answer says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from deepdiver.core.record import SourceKind
from deepdiver.tools.hit import Hit, whole

QUERY_NAMES = ("query", "q", "question", "search", "input", "text")
"""How the argument that holds the query is usually called."""
LIST_KEYS = ("results", "documents", "items", "hits")
TEXT_KEYS = ("raw_content", "content", "text", "snippet", "body", "page_content", "description")
URL_KEYS = ("url", "link", "href", "source", "path")
TITLE_KEYS = ("title", "name", "heading")
DATE_KEYS = ("published", "published_date", "publishedDate", "publishedAt", "date")


@dataclass(frozen=True, slots=True)
class Teller:
    """Who says what a result says."""

    name: str
    """The tool as it is called among the providers."""
    url: str
    """Where its own words are found, where a result names no address."""
    owned: bool
    """Whether it belongs to the caller, who wants its word taken: of what stands where. The word of
    a stranger is taken for the address of a page, which is then read, and for nothing else."""


def query_argument(tool: str, fields: Mapping[str, Any], required: set[str]) -> str:
    """Return the argument of a tool that holds the query.

    Args:
        tool: Its name, for messages.
        fields: The JSON schema of each argument.
        required: Which of them must be given.

    Raises:
        ValueError: If there is none that could, or it demands more than a query.
    """
    texts = [name for name, spec in fields.items() if takes_text(spec)]
    named = [name for name in QUERY_NAMES if name in texts]
    demanded = [name for name in texts if name in required]
    if not texts:
        raise ValueError(f"tool {tool} takes no text that could hold a query")
    argument = (named or demanded or texts)[0]
    if more := sorted(required - {argument}):
        raise ValueError(
            f"tool {tool} demands {', '.join(more)} besides {argument}: give them defaults"
        )
    return argument


def takes_text(spec: Any) -> bool:
    """Whether an argument takes any text: not a number, and not one of a few words."""
    if not isinstance(spec, Mapping):
        return spec is True  # JSON schema's way to say: anything
    if "enum" in spec or "const" in spec:
        return False
    ways = spec.get("anyOf")
    if isinstance(ways, list) and ways:
        return any(takes_text(way) for way in ways)
    kind = spec.get("type")
    text = "string" in kind if isinstance(kind, list) else kind == "string"
    return bool(text or not spec.keys() & {"type", "$ref", "allOf"})


def hits_of(value: Any, teller: Teller) -> Iterator[Hit]:
    """Read what a tool returned: a text, JSON in a text, one result, or several."""
    if isinstance(value, str):
        value = _json(value)
    if isinstance(value, dict):
        inner = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
        if inner is not None:
            yield from hits_of(inner, teller)
        elif value:
            yield _hit(value, _first(value, TEXT_KEYS) or shown(value), teller)
    elif isinstance(value, list):
        told = [
            item for item in value if isinstance(item, dict | list | str)
        ]  # a score beside a text is no result
        for item in told:
            yield from hits_of(item, teller)
        if not told and any(item is not None for item in value):
            yield _hit({}, shown(value), teller)
    elif value is not None and (text := str(value)).strip():
        yield _hit({}, text, teller)


def _hit(item: dict[str, Any], text: str, teller: Teller) -> Hit:
    claimed = _first(item, URL_KEYS)
    page = claimed.startswith(("http://", "https://"))
    return Hit(
        url=claimed if claimed and (page or teller.owned) else teller.url,
        title=_first(item, TITLE_KEYS) or claimed or teller.name,
        kind=SourceKind.PAGE if page else SourceKind.TOOL,
        published=_first(item, DATE_KEYS),
        publisher=_first(item, ("publisher", "site")),
        author=_first(item, ("author",)),
        text=text,
        complete=teller.owned
        or not page,  # what the tool itself says is all there is: nobody else is asked
        provider=teller.name,
    )


def _json(text: str) -> Any:
    """Return the object or list that a text is in JSON; any other text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def shown(value: Any) -> str:
    """Return a value as JSON that people can read."""
    return whole(json.dumps(value, ensure_ascii=False, indent=1))


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    meta = item.get("metadata")
    pools = (item, meta) if isinstance(meta, dict) else (item,)
    held = (pool.get(key) for pool in pools for key in keys)
    return next(
        (whole(str(value)) for value in held if value and isinstance(value, str | int | float)), ""
    )


def plain(value: Any) -> Any:
    """Return a tool's result as JSON.

    Documents and messages become dictionaries, what is unknown its text.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {whole(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "page_content"):
        return {
            "page_content": plain(value.page_content),
            "metadata": plain(getattr(value, "metadata", {})),
        }
    if hasattr(value, "content"):
        return plain(value.content)
    return (
        plain(value.model_dump(mode="json")) if isinstance(value, BaseModel) else whole(str(value))
    )
