"""The records that a library keeps of its documents, in whatever database."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepdiver.core.headings import headings_of, marked_headings
from deepdiver.core.record import Mark
from deepdiver.core.text import Span
from deepdiver.store.faults import damaged
from deepdiver.tools.document import Document
from deepdiver.tools.library.files import FileStamp
from deepdiver.tools.library.interface import Entry

ENTRY_FIELDS = tuple(
    "id url title format author publisher publisher_kind published language size passages".split()
)
"""The fields of an `Entry` that have a column of their own."""


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document of the library, as a refresh compares it with its file."""

    id: int
    """Its id."""
    hash: bytes
    """The hash of the file's bytes."""
    stamp: FileStamp
    """The stamp of the file."""


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to be added to the library."""

    url: str
    """Its URL."""
    hash: bytes
    """The hash of the file's bytes."""
    stamp: FileStamp
    """The stamp of the file."""
    document: Document
    """Its text and metadata, as read from the file."""
    own_title: bool
    """Whether the document has a title of its own, rather than one made from its file name."""
    name: str
    """The name by which other documents may refer to it; see `document_names`."""
    spans: tuple[Span, ...]
    """The spans of its passages."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with its text, from which the index and the vectors are made."""

    id: int
    """Its id."""
    first: int
    """The number of its first passage."""
    title: str
    """Its title."""
    own_title: bool
    """Whether that is its own; see `NewDocument`."""
    text: str
    """Its text."""
    spans: tuple[Span, ...]
    """The spans of its passages."""
    marks: tuple[Mark, ...] = ()
    """Where its parts begin."""

    def passages(self) -> Iterator[str]:
        """Yield the words by which its passages are found: each behind the heading above it.

        The second half of an answer to "Can several machines share a repository?" names neither.
        """
        headings = headings_of(self.text) or marked_headings(self.marks)
        starts = [heading.span.start for heading in headings]
        for span in self.spans:
            above, text = bisect_right(starts, span.start) - 1, span.of(self.text)
            if above >= 0 and starts[above] < span.start:
                text = f"{headings[above].span.of(self.text).strip('# ')}\n{text}"
            yield text


def marks_of(kept: str) -> tuple[Mark, ...]:
    """Return the marks of a document from the JSON that they are kept as."""
    return tuple(
        Mark(start=start, kind=kind, label=label) for start, kind, label in json.loads(kept)
    )


def entry_of(fields: Sequence[Any], notes: str, marks: str, source: Path) -> Entry:
    """Return the entry of a document from the columns of its row.

    Args:
        fields: The values of `ENTRY_FIELDS`.
        notes: Its notes, as JSON.
        marks: Its marks, as JSON.
        source: The database that they come from.

    Raises:
        DamagedStoreError: If the values are not what was written there.
    """
    try:
        return Entry(
            **dict(zip(ENTRY_FIELDS, fields, strict=True)),
            marks=marks_of(marks),
            notes=tuple(json.loads(notes)),
        )
    except ValueError as error:
        raise damaged(source, "the record of a document cannot be read") from error
