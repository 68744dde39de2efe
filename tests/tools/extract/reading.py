"""Reads in this process, for tests of what comes out.

The tests of the pool cover reading in a worker.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import read_document


@dataclass(frozen=True)
class Read:
    """What was read, for looking at."""

    text: str
    format: str
    title: str
    author: str
    publisher: str
    publisher_kind: str
    published: str
    language: str
    links: list[str]
    notes: list[str]
    marks: list[tuple[int, str, str]]

    def marked(self, *kinds: str) -> list[tuple[str, str, str]]:
        """Return the marks: kind, label, and the line of the text that stands there."""
        chosen = [mark for mark in self.marks if not kinds or mark[1] in kinds]
        return [
            (kind, label, self.text[start:].partition("\n")[0]) for start, kind, label in chosen
        ]


def read(
    data: bytes | str, name: str = "", mime: str = "", url: str = "", *, links: bool = False
) -> Read:
    draft = read_document.read_document(
        data.encode() if isinstance(data, str) else data, mime=mime, name=name, url=url, links=links
    )
    return Read(text=draft.text, **draft.metadata())


def reason(data: bytes | str, name: str = "", mime: str = "", url: str = "") -> str:
    with pytest.raises(UnreadableError) as error:
        read(data, name, mime, url)
    return str(error.value)


def format_or_reason(data: bytes | str, name: str) -> str:
    """Return the format under which a file is read, or the reason why it is not."""
    try:
        return read(data, name).format
    except UnreadableError as error:
        return str(error)
