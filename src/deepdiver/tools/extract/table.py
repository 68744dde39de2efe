"""Tables as lines of text in which each cell names its column: `| Region: North | Sales: 1,200`.

A passage contains some ten rows of a table, and seldom its header. A number is worth citing only
with what it counts, so each row names its columns. The header itself appears once, as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from deepdiver.tools.extract.document_draft import DocumentDraft

LONGEST_NAME = 80
"""A longer cell is not the name of a column."""
_VALUE = re.compile(r"(?=\D*\d)[^A-Za-zÀ-ɏͰ-ӿ\u0590-\u1fff\u3040-\ud7ff]+")
"""A number, an amount or a date: digits without letters."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/]\d\d)?")
"""A year may be the name of a column."""
_SPACE = re.compile(r"\s+")


def add_table(
    draft: DocumentDraft, rows: Iterable[list[str]], *, head: bool = False, marked: bool = False
) -> None:
    """Add a table to a draft, a line for each row.

    Args:
        draft: The draft.
        rows: The rows of the table.
        head: Whether the first row is known to be a header. Otherwise that is judged by its look.
        marked: Whether the format can mark a header: then a first row that is none of values is one
            only above values.
    """
    gap = "\n\n"
    names: list[str] = []
    first = open_ = True
    for row, after in pairwise(_with_end(rows)):
        cells = [cell for cell in row if cell]
        if not cells:
            gap = "\n\n"
            open_ = True
            continue
        if len(cells) == 1 and len(row) == 1 and not names:
            draft.add(cells[0])  # a caption, not a row
            gap = "\n\n"
            continue
        if (first and head) or (open_ and is_header(row, after, first=first and not marked)):
            names = row
            draft.add("| " + " | ".join(cells), gap)
        else:
            draft.add("| " + " | ".join(_named(names, row)), gap)
        first = open_ = False
        gap = "\n"


def is_header(row: list[str], after: list[str], *, first: bool) -> bool:
    """Whether a row looks like a header: words above values, or words at the top of a table."""
    cells = [cell for cell in row if cell]
    if len(cells) < 2 or any(len(cell) > LONGEST_NAME for cell in cells):  # one name is a caption
        return False
    if any(_VALUE.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in cells):
        return False
    if all(map(_YEAR.fullmatch, cells)) and len(cells) == len(row):
        return False
    values = any(_VALUE.fullmatch(cell) for cell in after)
    return (
        values and len(after) > 1 if not first else len(cells) > len(row) // 2 and bool(any(after))
    )


def _named(names: list[str], row: list[str]) -> Iterator[str]:
    for at, cell in enumerate(row):
        if cell:
            name = names[at] if at < len(names) else ""
            yield f"{name}: {cell}" if name and name != cell else cell


def _with_end(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield rows with cells on one line and without empty cells at the end, then an empty row."""
    for row in rows:
        cells = [_SPACE.sub(" ", cell).strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        yield cells
    yield []
