"""The result of a tool, LangChain's or an MCP server's: as JSON, and as hits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from deepdiver.core.record import SourceKind
from deepdiver.tools.hit import Hit, whole

LIST_KEYS = ("results", "documents", "items", "hits")
TEXT_KEYS = ("raw_content", "content", "text", "snippet", "body", "page_content", "description")
URL_KEYS = ("url", "link", "href", "source", "path")
TITLE_KEYS = ("title", "name", "heading")
DATE_KEYS = ("published", "published_date", "publishedDate", "publishedAt", "date")


@dataclass(frozen=True, slots=True)
class ToolOrigin:
    """The tool that a result comes from."""

    name: str
    """The name of the tool among the providers."""
    url: str
    """The address of a result that names none."""
    owned: bool
    """Whether the tool belongs to the caller, who wants it to be believed about what is where. Of
    any other tool only the address of a page is believed, and the page is then read."""


def hits_of(value: Any, origin: ToolOrigin) -> Iterator[Hit]:
    """Yield the hits of a tool's result: a text, JSON in a text, one result, or several."""
    if isinstance(value, str):
        value = _parsed(value)
    if isinstance(value, dict):
        yield from _hits_of_dict(value, origin)
    elif isinstance(value, list):
        yield from _hits_of_list(value, origin)
    elif value is not None and (text := str(value)).strip():
        yield _hit({}, text, origin)


def _hits_of_dict(value: dict[str, Any], origin: ToolOrigin) -> Iterator[Hit]:
    inner = next((value[key] for key in LIST_KEYS if isinstance(value.get(key), list)), None)
    if inner is not None:
        yield from hits_of(inner, origin)
    elif value:
        yield _hit(value, _first(value, TEXT_KEYS) or json_text(value), origin)


def _hits_of_list(values: list[Any], origin: ToolOrigin) -> Iterator[Hit]:
    # A score beside a text is not a result.
    results = [value for value in values if isinstance(value, dict | list | str)]
    for result in results:
        yield from hits_of(result, origin)
    if not results and any(value is not None for value in values):
        yield _hit({}, json_text(values), origin)


def _hit(item: dict[str, Any], text: str, origin: ToolOrigin) -> Hit:
    claimed = _first(item, URL_KEYS)
    page = claimed.startswith(("http://", "https://"))
    return Hit(
        url=claimed if claimed and (page or origin.owned) else origin.url,
        title=_first(item, TITLE_KEYS) or claimed or origin.name,
        kind=SourceKind.PAGE if page else SourceKind.TOOL,
        published=_first(item, DATE_KEYS),
        publisher=_first(item, ("publisher", "site")),
        author=_first(item, ("author",)),
        text=text,
        complete=origin.owned or not page,  # a tool's own words are all there is to read
        provider=origin.name,
    )


def _parsed(text: str) -> Any:
    """Return the object or list that a text is in JSON; any other text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _first(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first of some fields that is set, in a result or its metadata."""
    meta = item.get("metadata")
    pools = (item, meta) if isinstance(meta, dict) else (item,)
    held = (pool.get(key) for pool in pools for key in keys)
    return next(
        (whole(str(value)) for value in held if value and isinstance(value, str | int | float)), ""
    )


def json_text(value: Any) -> str:
    """Return a value as JSON that people can read."""
    return whole(json.dumps(value, ensure_ascii=False, indent=1))


def to_json(value: Any) -> Any:
    """Return a tool's result as JSON.

    Documents and messages become dictionaries; objects of unknown classes become their text.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {whole(str(key)): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return _object_to_json(value)


def _object_to_json(value: Any) -> Any:
    if hasattr(value, "page_content"):
        return {
            "page_content": to_json(value.page_content),
            "metadata": to_json(getattr(value, "metadata", {})),
        }
    if hasattr(value, "content"):
        return to_json(value.content)
    if isinstance(value, BaseModel):
        return to_json(value.model_dump(mode="json"))
    return whole(str(value))
