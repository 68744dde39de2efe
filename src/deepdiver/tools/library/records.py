"""The tables of a catalogue, and what goes into and comes out of their rows."""

from __future__ import annotations

from dataclasses import dataclass

from deepdiver.core.text import Span
from deepdiver.tools.document import Document
from deepdiver.tools.library.files import FileStamp

ENTRY_FIELDS = tuple(
    "id url title format author publisher publisher_kind published language size passages".split()
)
"""What is told of every document."""


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document as a refresh compares it with its file."""

    id: int
    """Its id."""
    hash: bytes
    """Of the file's bytes."""
    stamp: FileStamp
    """Of the file."""


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to be entered."""

    url: str
    """What it is called."""
    hash: bytes
    """Of the file's bytes."""
    stamp: FileStamp
    """Of the file."""
    document: Document
    """What was read."""
    own_title: bool
    """Whether its title is its own and not its file's name."""
    name: str
    """By what other documents may name it."""
    spans: tuple[Span, ...]
    """Its passages."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with its text, as index and vectors are made from it."""

    id: int
    """Its id."""
    first: int
    """Number of its first passage."""
    title: str
    """Its title."""
    own_title: bool
    """Whether that is its own."""
    text: str
    """Its text."""
    spans: tuple[Span, ...]
    """Its passages."""
