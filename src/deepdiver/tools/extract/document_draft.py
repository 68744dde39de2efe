"""A document while it is being read.

Blocks of text, and marks that point at exactly where they begin.
"""

from __future__ import annotations

import re
import time
from typing import Any, Literal

Kind = Literal["page", "slide", "sheet", "heading", "message"]

LARGEST_TEXT = 8_000_000
"""Bytes of text in UTF-8, some 4,000 pages. In memory a character takes four bytes at worst, so
that a text and the bytes it came in stay below 40 MB."""
SECONDS = 5.0
"""Of computing, or six of waiting: then what there is of a long document is kept, before the child
is ended."""
MOST_MARKS = 20_000
LONGEST_LABEL = 200
LONGEST_FIELD = 500
MOST_LINKS = 200
MOST_NOTES = 50

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufffe\uffff]")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\x85\x0c]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class DraftFullError(Exception):
    """The text is as long as a text may be.

    Its argument is the draft, with what was added so far.
    """


def clean_text(text: str) -> str:
    """Return a text with plain line ends, and without control characters and halves of characters."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", _LINE_END.sub("\n", text)))


def one_line(text: str, longest: int = LONGEST_FIELD) -> str:
    """Return a text on one line, cut to a length that a field may have."""
    return " ".join(clean_text(text[: 8 * longest]).split())[:longest]


class DocumentDraft:
    """Collects the text of a document, block by block, and what it says of itself."""

    def __init__(self, format: str) -> None:
        """Begin an empty one.

        Args:
            format: What it is taken from, one of `FORMATS`.
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
        """All of it so far."""
        return "".join(self._parts)

    @property
    def length(self) -> int:
        """Characters so far."""
        return self._length

    @property
    def empty(self) -> bool:
        """Whether there is no text yet."""
        return not self._parts

    @property
    def heading(self) -> str:
        """The first heading."""
        return next((label for _, kind, label in self._marks if kind == "heading"), "")

    def note(self, text: str) -> None:
        """Say what was left out or could not be read; twice the same is said once."""
        if text and len(self._notes) < MOST_NOTES:
            self._notes[one_line(text)] = None

    def mark_next(self, kind: Kind, label: str) -> None:
        """Let a part begin with the next block that is added."""
        self._pending.append((kind, one_line(label, LONGEST_LABEL)))

    def add(self, text: str, gap: str = "\n\n") -> None:
        """Add a block, apart from what is there by `gap`. White space around it is no part of it.

        Raises:
            FullError: If the text has reached its largest size, or reading it takes too long.
        """
        self.put(clean_text(text).strip(), gap)

    def put(self, text: str, gap: str = "\n\n") -> None:
        """Add a block as it is: white space at its ends counts."""
        if not text:
            return
        if time.monotonic() > self._until[0] or time.process_time() > self._until[1]:
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

    def add_heading(self, text: str, gap: str = "\n\n") -> None:
        """Add a heading, and mark it."""
        if text.strip():
            self.mark_next("heading", text)
            self.add(text, gap)

    def mark_at(self, start: int, kind: Kind, label: str) -> None:
        """Mark a part that begins at an offset of the text there is."""
        self._marks.append((start, kind, one_line(label, LONGEST_LABEL)))

    def metadata(self) -> dict[str, Any]:
        """Return everything but the text, such that JSON can hold it."""
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
