"""Comma- and tab-separated values, whatever the actual separator."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator

from deepdiver.tools.extract import table
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import LARGEST_TEXT, DocumentDraft, clean_text

_DELIMITERS = ",;\t|"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LOOK = 50
"""Lines that the delimiter is detected from."""


def read_separated_values(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read separated values."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    table.add_table(draft, parse_rows(text, "\t" if format == "tsv" else ","))
    return draft


def parse_rows(text: str, likely: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a text of separated values."""
    csv.field_size_limit(LARGEST_TEXT)
    text = clean_text(text).lstrip("\ufeff")
    if text[:4].lower() == "sep=":  # how Excel declares the separator
        text = text.partition("\n")[2]
    lines = (match.group() for match in _LINE.finditer(text))
    yield from csv.reader(lines, delimiter=find_delimiter(text, likely))


def find_delimiter(text: str, likely: str = ",") -> str:
    """Return the delimiter: the character that occurs equally often in most lines."""
    lines = [line for line in text[:100_000].splitlines(keepends=True)[:_LOOK] if line.strip()]

    def fitness(mark: str) -> tuple[float, int]:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=mark) if row)
        except csv.Error:
            return (0.0, 0)
        width, times = max(
            ((width, times) for width, times in widths.items() if width > 1),
            key=lambda it: it[1],
            default=(0, 0),
        )
        return (times / max(widths.total(), 1), width)

    ranked = sorted(_DELIMITERS, key=lambda mark: (fitness(mark), mark == likely), reverse=True)
    return ranked[0] if fitness(ranked[0])[1] else likely
