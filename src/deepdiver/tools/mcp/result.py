"""The result of a tool: texts that can be cited, and notes on what was left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from deepdiver.core.identity import canonical
from deepdiver.core.record import SourceKind
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.hit import Hit
from deepdiver.tools.tool_result import LIST_KEYS, ToolOrigin, hits_of, json_text, to_json

if TYPE_CHECKING:
    from mcp.types import CallToolResult

    from deepdiver.gateway import Gateway

LARGEST = 1_000_000
"""Characters that a result may have, not counting pictures and the like."""
INLINE = 8_000
"""Characters of a text that is journalled; a longer one is saved by itself, and the journal holds
its hash."""
NOT_TEXT = {
    "image": "a picture was left out",
    "audio": "a sound was left out",
    "resource": "a file that is no text was left out",
    "resource_link": "a link to something of the server's own was not followed",
}


class McpResult(BaseModel):
    """The result of an MCP tool. All of it is the server's word: data, never instruction."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    hits: tuple[Hit, ...] = ()
    """Its texts, each ready to become a source. The tool's own words are of the kind `tool`, at
    `mcp:SERVER/TOOL`; a result that names a page is that page, which is still to be read. A long
    text is saved: `Hit.snapshot`."""
    structured: Any = None
    """The same as JSON for programs, if the tool gives it."""
    is_error: bool = False
    """Whether the tool reports a failure; the texts say why."""
    notes: tuple[str, ...] = ()
    """A line for each kind of thing that was left out."""


def read_result(answer: CallToolResult, server: str, tool: str) -> McpResult:
    """Return the result of a tool from its answer.

    Raises:
        CallError: If it is too long.
    """
    texts, left_out = _parts(answer)
    structured = to_json(answer.structured_content)
    length = sum(map(len, texts)) + (len(canonical(structured)) if structured is not None else 0)
    if length > LARGEST:
        raise CallError(
            f"MCP server {server} answered {tool} with {length:,} characters, more than "
            f"{LARGEST:,}",
            CallFault.MALFORMED,
        )
    notes = tuple(
        f"{what} ({count} times)" if count > 1 else what for what, count in left_out.items()
    )
    teller = ToolOrigin(f"{server}.{tool}", f"mcp:{server}/{tool}", owned=False)
    said = _results(structured) or texts or ([json_text(structured)] if structured else [])
    hits = tuple(hits_of(said, teller))
    return McpResult(hits=hits, structured=structured, is_error=bool(answer.is_error), notes=notes)


def _parts(answer: CallToolResult) -> tuple[list[str], Counter[str]]:
    """Return the texts of an answer, and the number of each other kind of content."""
    texts: list[str] = []
    left_out: Counter[str] = Counter()
    for part in answer.content:
        if part.type == "text":
            texts.append(to_json(part.text))
        elif part.type == "resource" and hasattr(part.resource, "text"):
            texts.append(to_json(part.resource.text))
        else:
            left_out[NOT_TEXT[part.type]] += 1
    return texts, left_out


def _results(structured: Any) -> list[Any] | None:
    """Return the list of results in structured content; each of them is a hit of its own."""
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        structured = structured["result"]  # servers wrap what is not an object
    if isinstance(structured, dict):
        structured = next(
            (structured[key] for key in LIST_KEYS if isinstance(structured.get(key), list)), None
        )
    rows = isinstance(structured, list) and all(isinstance(item, dict) for item in structured)
    return structured if rows else None


async def save_long_texts(result: McpResult, gateway: Gateway) -> tuple[McpResult, tuple[str, ...]]:
    """Save the long texts of a result; return it with hashes in their place, and the hashes.

    The text of a hit that is a page stays: the page is still to be read.
    """
    hits: list[Hit] = []
    kept: list[str] = []
    for hit in result.hits:
        if hit.kind is SourceKind.TOOL and len(hit.text) > INLINE:
            kept.append(await gateway.save_text(hit.text))
            hit = hit.model_copy(update={"text": "", "snapshot": kept[-1]})
        hits.append(hit)
    if len(kept) > 1:  # two hits with one address and no text would be taken for one
        hits = [_apart(hit) for hit in hits]
    return result.model_copy(update={"hits": tuple(hits)}), tuple(dict.fromkeys(kept))


def _apart(hit: Hit) -> Hit:
    return hit.model_copy(update={"url": f"{hit.url}#{hit.snapshot[:8]}"}) if hit.snapshot else hit
