"""A lead: something promising that a run came across and did not follow."""

from __future__ import annotations

from typing import Literal

from deepdiver.core.identity import content_id
from deepdiver.core.record import Record


class Lead(Record):
    """Something to look into when everything else was tried. It is a direction, never evidence."""

    id: str
    """Content id over kind and text."""
    kind: Literal["name", "query", "url"]
    """A name to look up, words to search for, or an address to read. An address always stood in a
    search result, in a page that was read, or in the words of the person."""
    text: str
    """What to look into."""

    @classmethod
    def of(cls, kind: Literal["name", "query", "url"], text: str) -> Lead:
        """Make a lead."""
        return cls(id=content_id("lead", kind, text), kind=kind, text=text)
