"""Text out of the markup and the XML that services send."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from deepdiver.errors import CallError, CallFault

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LARGEST_XML = 8_000_000
"""The most characters of XML. Fifty papers with their lists of references are less than half of
it."""

_TAG = re.compile(r"</?([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
"""Looks like a tag; p<0.05 does not."""
_BREAKS = frozenset(
    "abstract br break div h1 h2 h3 h4 label li list list-item p sec section title ul ol".split()
)
"""Tags that end a line. All others are part of a line, as in CO<sub>2</sub>."""
_HEADINGS = frozenset({"abstract", "summary"})
"""First lines that only say that an abstract follows."""


def strip_markup(markup: str | None) -> str:
    """Return the text of JATS or HTML: a line for each paragraph and heading, no tags, no entities.

    Some services escape their markup once too often, so tags and entities are removed twice.
    """
    text = markup or ""
    for _ in range(2):
        text = html.unescape(_TAG.sub(_break_of, text))
    lines = [line for raw in text.split("\n") if (line := " ".join(raw.split()))]
    if len(lines) > 1 and lines[0].rstrip(":.").lower() in _HEADINGS:
        del lines[0]
    return "\n".join(lines)


def _break_of(tag: re.Match[str]) -> str:
    return "\n" if tag[1].rpartition(":")[2].lower() in _BREAKS else ""


def parse_xml(provider: str, text: str, *, dtd: bool = False) -> Element:
    """Parse XML, and refuse entities and everything else that points outside the text.

    Args:
        provider: Who sent it, for the message.
        text: The XML.
        dtd: Whether it may name its document type, as PubMed does; the type is never fetched.

    Raises:
        CallError: If it is not XML, or too large, or contains something that is refused.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    if len(text) > LARGEST_XML:
        raise CallError(
            f"{provider} answered with more than {LARGEST_XML:,} characters", CallFault.MALFORMED
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


def text_of(element: Element | None) -> str:
    """Return all the text of an element in one line; empty if there is no element."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
