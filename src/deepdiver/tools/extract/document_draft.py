"""A document while it is being read: blocks of text, and marks at the offsets where parts begin."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any, Literal

from deepdiver.core.record import Mark
from deepdiver.tools.document import Document

Kind = Literal["page", "slide", "sheet", "heading", "message"]

LARGEST_TEXT = 8_000_000
"""Bytes of text in UTF-8, some 4,000 pages. A character takes four bytes of memory at worst, so a
text and the bytes that it was made from stay below 40 MB."""
SECONDS = 5.0
"""Seconds of computing, or of waiting and one more. Then the part of a long document that was read
is kept, before the worker is killed."""
MOST_MARKS = 20_000
LONGEST_LABEL = 200
LONGEST_FIELD = 500
MOST_LINKS = 200
MOST_NOTES = 50

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufffe\uffff]")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\x85\x0c]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class DraftFullError(Exception):
    """The draft has reached its largest size or its time limit.

    Its argument is the draft, with everything that was added until now.
    """


def clean_text(text: str) -> str:
    """Return a text with plain line ends, without control characters and lone surrogates."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", _LINE_END.sub("\n", text)))


def one_line(text: str, longest: int = LONGEST_FIELD) -> str:
    """Return a text on one line, cut to the longest length of a field."""
    return " ".join(clean_text(text[: 8 * longest]).split())[:longest]


class DocumentDraft:
    """Collects the text of a document block by block, and its metadata."""

    def __init__(self, format: str) -> None:
        """Start an empty draft.

        Args:
            format: The format of the file, one of `FORMATS`.
        """
        self.format = format
        self.title = self.author = self.publisher = self.publisher_kind = self.published = (
            self.language
        ) = ""
        self.links: list[str] = []
        self._parts: list[str] = []
        self._length = self._bytes = 0
        self._marks: list[tuple[int, str, str]] = []
        self._pending: list[tuple[str, str]] = []
        self._notes: dict[str, None] = {}
        self._until = time.monotonic() + SECONDS + 1, time.process_time() + SECONDS

    @property
    def text(self) -> str:
        """The text until now."""
        return "".join(self._parts)

    @property
    def length(self) -> int:
        """The length of the text until now, in characters."""
        return self._length

    @property
    def empty(self) -> bool:
        """Whether there is no text yet."""
        return not self._parts

    def heading_within(self, end: int) -> str:
        """Return the first heading, if it is before an offset of the text."""
        marks = (mark for mark in self._marks if mark[1] == "heading")
        return next((label for start, _, label in marks if start <= end), "")

    def note(self, text: str) -> None:
        """Add a note on what was left out or is unreadable. Repeated or empty ones are ignored."""
        if text and len(self._notes) < MOST_NOTES:
            self._notes[one_line(text)] = None

    def mark_next(self, kind: Kind, label: str) -> None:
        """Mark the beginning of a part at the next block that is added."""
        self._pending.append((kind, one_line(label, LONGEST_LABEL)))

    def add(self, text: str, gap: str = "\n\n") -> None:
        """Add a block without the white space around it, separated by `gap` from the text before.

        Raises:
            FullError: If the text has reached its largest size, or reading it takes too long.
        """
        self.put(clean_text(text).strip(), gap)

    def put(self, text: str, gap: str = "\n\n") -> None:
        """Add a block as it is, including white space at its ends."""
        if not text:
            return
        if self.seconds_left() < 0:
            self.note(f"it takes more than {SECONDS:g} seconds to read; the rest was left out")
            raise DraftFullError(self)
        text = _SURROGATE.sub("\ufffd", text)
        left = LARGEST_TEXT - self._bytes - len(gap)
        cut = len(text) > left or len(text.encode()) > left
        if cut:
            text = text.encode()[: max(left, 0)].decode("utf-8", "ignore")
            self.note(f"the text is longer than {LARGEST_TEXT:,} bytes; the rest was left out")
        if text:
            if self._parts:
                self._parts.append(gap)
                self._length += len(gap)
            self._marks += [(self._length, *pending) for pending in self._pending]
            self._pending = []
            self._parts.append(text)
            self._length += len(text)
            self._bytes += len(text.encode()) + len(gap)
        if cut:
            raise DraftFullError(self)

    def seconds_left(self) -> float:
        """Return the seconds until nothing more can be added."""
        return min(self._until[0] - time.monotonic(), self._until[1] - time.process_time())

    def add_heading(self, text: str, gap: str = "\n\n") -> None:
        """Add a heading, and mark it."""
        if text.strip():
            self.mark_next("heading", text)
            self.add(text, gap)

    def mark_at(self, start: int, kind: Kind, label: str) -> None:
        """Mark the beginning of a part at an offset of the text."""
        self._marks.append((start, kind, one_line(label, LONGEST_LABEL)))

    def metadata(self) -> dict[str, Any]:
        """Return everything except the text, as values of JSON."""
        marks = sorted(
            (mark for mark in self._marks if mark[0] < self._length), key=lambda mark: mark[0]
        )
        if len(marks) > MOST_MARKS:
            self.note(
                f"more than {MOST_MARKS:,} parts are marked in it; the first {MOST_MARKS:,} were "
                "kept"
            )
        names = ("title", "author", "publisher", "publisher_kind", "published", "language")
        return {
            "format": self.format,
            **{name: one_line(getattr(self, name)) for name in names},
            "marks": marks[:MOST_MARKS],
            "links": [clean_text(link) for link in dict.fromkeys(self.links) if len(link) < 2_000][
                :MOST_LINKS
            ],
            "notes": list(self._notes),
        }


def assemble_document(text: str, metadata: Mapping[str, Any]) -> Document:
    """Return the document of a text and the metadata of its draft.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: If the metadata is not that of a draft.
    """
    marks = tuple(
        Mark(start=start, kind=kind, label=label) for start, kind, label in metadata["marks"]
    )
    return Document(text=text, **{**metadata, "marks": marks})
