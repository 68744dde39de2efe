"""Plain words of a query, plain text of markup, and trees of XML that hide nothing."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING

from deepdiver.errors import CallError, CallFault

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

INNER = "'’-."
"""What may stand inside a word, as in it's, heat-bath and 3.5; at its ends it belongs to a query
language."""
OPERATORS = frozenset({"AND", "ANDNOT", "NEAR", "NOT", "OR"})
"""Words that are commands to a query language where they are written in capitals, and only there.
"""
LARGEST_TREE = 8_000_000
"""Characters of XML: fifty papers with their lists of references are less than half of it."""

_TAG = re.compile(r"</?([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
"""Looks like a tag; p<0.05 does not."""
_BREAKS = frozenset(
    "abstract br break div h1 h2 h3 h4 label li list list-item p sec section title ul ol".split()
)
"""Tags that end a line. All others stand within one, as in CO<sub>2</sub>."""
_HEADINGS = frozenset({"abstract", "summary"})
"""First lines that only say that an abstract is one."""


def words(provider: str, query: str, inner: str = INNER) -> list[str]:
    """Return the words of a query, with nothing in them that a query language could take for its own.

    Args:
        provider: Who is to be asked, for the message.
        query: What a person or a reasoner wrote.
        inner: What may stand inside a word; elsewhere it parts two.

    Raises:
        CallError: If there are none: such a query finds everything or is refused.
    """
    whole = unicodedata.normalize("NFC", query)
    kept = "".join(
        char if char in inner or unicodedata.category(char)[0] in "LMN" else " " for char in whole
    )
    part = rf"[^\s{re.escape(inner)}]+" if inner else r"\S+"
    pattern = rf"{part}(?:[{re.escape(inner)}]{part})*" if inner else part
    listed = [word.lower() if word in OPERATORS else word for word in re.findall(pattern, kept)]
    if not listed:
        raise CallError(f"{provider} was not asked: the query holds no word", CallFault.REQUEST)
    return listed


def plain(markup: str | None) -> str:
    """Return the text of JATS or HTML: a line for each paragraph and heading, no tags, no entities.

    Services also send markup that was escaped once too often, so both are taken off twice.
    """
    text = markup or ""
    for _ in range(2):
        text = html.unescape(_TAG.sub(_space, text))
    lines = [line for raw in text.split("\n") if (line := " ".join(raw.split()))]
    if len(lines) > 1 and lines[0].rstrip(":.").lower() in _HEADINGS:
        del lines[0]
    return "\n".join(lines)


def _space(tag: re.Match[str]) -> str:
    return "\n" if tag[1].rpartition(":")[2].lower() in _BREAKS else ""


def tree(provider: str, text: str, *, dtd: bool = False) -> Element:
    """Read XML. Entities and whatever else points outside are refused.

    Args:
        provider: Who sent it, for the message.
        text: The XML.
        dtd: Whether it may name its document type, as PubMed does; the type is never fetched.

    Raises:
        CallError: If it is not XML, or is too large, or holds what is refused.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    if len(text) > LARGEST_TREE:
        raise CallError(
            f"{provider} answered with more than {LARGEST_TREE:,} characters", CallFault.MALFORMED
        )
    try:
        root: Element = fromstring(
            text, forbid_dtd=not dtd, forbid_entities=True, forbid_external=True
        )
    except (ParseError, DefusedXmlException, ValueError):
        raise CallError(
            f"{provider} answered with something that is not its XML", CallFault.MALFORMED
        ) from None
    return root


def flat(element: Element | None) -> str:
    """Return all the text of an element in one line."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
