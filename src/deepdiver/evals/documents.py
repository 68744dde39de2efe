"""The documents of an evaluation, and how they are written as files for a library to read."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

_PLAIN = re.compile(r"[A-Za-z0-9][\w.\-]{0,79}")


@dataclass(frozen=True, slots=True)
class Document:
    """A document that is searched."""

    id: str
    """Its id, unique among the documents that are searched together."""
    title: str
    """Its title; empty: none."""
    text: str
    """Its text."""


def file_name(key: str) -> str:
    """Return the name, without suffix, of the file for the document with this id."""
    if _PLAIN.fullmatch(key):
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:24]


def write_document(document: Document, folder: Path) -> None:
    """Write a document as a Markdown file.

    A file that has this content already is left alone, so that a library need not read it again.
    """
    title = " ".join(document.title.split())
    text = f"---\ntitle: {title}\n---\n{document.text}" if title else document.text
    file = folder / f"{file_name(document.id)}.md"
    data = text.encode("utf-8", "replace")
    if not file.is_file() or file.read_bytes() != data:
        file.write_bytes(data)
