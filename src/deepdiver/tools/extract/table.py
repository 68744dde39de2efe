"""Rows of cells as lines of text that stand for themselves: `| Region: North | Sales: 1,200`.

A passage holds some ten rows of a table and seldom its head. A number is worth citing only with
what it counts, so each row names its columns; the head itself is there once, as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from deepdiver.tools.extract.document_draft import DocumentDraft

LONGEST_NAME = 80
"""A longer cell is no name of a column."""
_VALUE = re.compile(r"(?=\D*\d)[^A-Za-zÀ-ɏͰ-ӿ\u0590-\u1fff\u3040-\ud7ff]+")
"""A number, an amount, a date: figures, and no letters."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/]\d\d)?")
"""A year may well be the name of a column."""
_SPACE = re.compile(r"\s+")


def add_table(draft: DocumentDraft, rows: Iterable[list[str]], *, head: bool = False) -> None:
    """Put a table into a draft, a line for each row.

    Args:
        draft: What it is added to.
        rows: Its rows.
        head: Whether the first row is known to name the columns. Otherwise it is judged by what it
            looks like.
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
        if (first and head) or (open_ and is_header(row, after, first=first)):
            names = row
            draft.add("| " + " | ".join(cells), gap)
        else:
            draft.add("| " + " | ".join(_named(names, row)), gap)
        first = open_ = False
        gap = "\n"


def is_header(row: list[str], after: list[str], *, first: bool) -> bool:
    """Judge whether a row names the columns: words over values, or words at the top of a table."""
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
    """Give the rows with their cells on one line each and without empty cells at their ends.

    An empty row ends it.
    """
    for row in rows:
        cells = [_SPACE.sub(" ", cell).strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        yield cells
    yield []
