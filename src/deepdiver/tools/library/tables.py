"""The tables of a catalogue, and what goes into and comes out of their rows."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from deepdiver.core.text import Span
from deepdiver.tools.document import Document
from deepdiver.tools.library.documents import Stamp

APPLICATION_ID = 0x44444C42
"""Stands in the header of every catalogue ("DDLB")."""
SCHEMA = 1
"""The version of the tables below."""
TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE roots (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE left_out (url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL,
    mtime INTEGER NOT NULL, size INTEGER NOT NULL, ctime INTEGER NOT NULL,
    format TEXT NOT NULL, title TEXT NOT NULL, own_title INTEGER NOT NULL, name TEXT NOT NULL,
    author TEXT NOT NULL, publisher TEXT NOT NULL, publisher_kind TEXT NOT NULL, published TEXT NOT NULL,
    language TEXT NOT NULL, notes TEXT NOT NULL,
    first INTEGER NOT NULL, passages INTEGER NOT NULL,
    indexed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX documents_first ON documents (first);
CREATE INDEX documents_name ON documents (name);
CREATE INDEX documents_pending ON documents (id) WHERE NOT indexed;
CREATE TABLE texts (
    document INTEGER PRIMARY KEY REFERENCES documents (id) ON UPDATE CASCADE ON DELETE CASCADE,
    text BLOB NOT NULL, spans BLOB NOT NULL, marks BLOB NOT NULL
);
CREATE TABLE dropped (document INTEGER PRIMARY KEY, passages INTEGER NOT NULL);
CREATE TABLE unread (url TEXT PRIMARY KEY, reason TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
    ctime INTEGER NOT NULL, tried REAL NOT NULL) WITHOUT ROWID;
"""
FIELDS = tuple(
    "id url title format author publisher publisher_kind published language size passages".split()
)
"""What is told of every document."""


@dataclass(frozen=True, slots=True)
class Known:
    """A document as a refresh compares it with its file."""

    id: int
    """Its id."""
    hash: bytes
    """Of the file's bytes."""
    stamp: Stamp
    """Of the file."""


@dataclass(frozen=True, slots=True)
class New:
    """A document to be entered."""

    url: str
    """What it is called."""
    hash: bytes
    """Of the file's bytes."""
    stamp: Stamp
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
class Held:
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


def packed(spans: Iterable[Span]) -> bytes:
    """Return spans as bytes, four for each offset."""
    offsets = [offset for span in spans for offset in (span.start, span.end)]
    return struct.pack(f"<{len(offsets)}I", *offsets)


def unpacked(data: bytes) -> tuple[Span, ...]:
    """Return the spans that were packed."""
    return tuple(Span(start, end) for start, end in struct.iter_unpack("<2I", data))
