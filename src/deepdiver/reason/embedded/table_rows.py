"""Reads tables out of a text: lines of cells that name their columns (`tools/extract/table.py`).

    | Farm | Owner | Hectares
    | Farm: Shore Farm | Owner: E. Marlowe | Hectares: 6.2

A passage may begin in the middle of a table. Then the names in its cells are all there is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from deepdiver.core.dates import MONTHS, Day, dated
from deepdiver.core.numbers import number
from deepdiver.core.text import stem
from deepdiver.reason.embedded.language.statement import base_form

MOSTLY = 0.6
"""The share of a column's cells that must be numbers or dates for it to count as such a column."""
LONGEST_NAME = 80
"""Characters of the longest name of a column."""
LONGEST_CAPTION = 200
"""Characters of the line above a table that count as its title."""
_LINE = re.compile(r"^\|[ \t]+(?![-:][-:| \t]*$)(?P<cells>.*\S)[ \t]*$", re.MULTILINE)
_CELL_END = re.compile(r"\s+\|(?:\s+|$)")
_RULE = re.compile(r"\n\|[ \t]*:?-[- \t:|]*\n")
"""The line of dashes below the names of the columns of a table in Markdown."""
_NAMED = re.compile(rf"(?P<name>[^:|]{{1,{LONGEST_NAME}}}): (?P<value>.*)", re.DOTALL)
_QUANTITY = re.compile(
    r"(?P<before>[£$€]|[A-Z]{3}\s)?\s*(?P<number>[-−+]?(?:\d[\d,.\u00a0\u2009\u202f ]*\d|\d))\s*"
    r"(?P<after>%|[^\W\d][\w²³/°.%]*(?: [^\W\d][\w²³/°.]*){0,2})?"
)
_TOTAL = frozenset("total totals sum overall altogether subtotal all".split())
_PART = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    cells: tuple[str, ...]
    """The cells, one for each column; empty where the table has none."""
    start: int
    """Where its line begins in the text."""
    end: int
    """Where its line ends."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, as a text has it."""

    columns: tuple[str, ...]
    """The names of its columns; a column without one is called by its number."""
    rows: tuple[Row, ...]
    """Its rows."""
    title: str = ""
    """What stands above it, and the title of its document."""

    def column(self, at: int) -> tuple[str, ...]:
        """Return the cells of a column."""
        return tuple(row.cells[at] for row in self.rows)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    value: Decimal
    """The number."""
    unit: str = ""
    """What stands beside it; empty if nothing does."""


def word_stems(text: str) -> list[str]:
    """Return the stems of the words of a name or question: requests_per_s has three."""
    return [word_stem(part) for part in _PART.findall(text)]


def word_stem(word: str) -> str:
    """Return the stem of a word; that of "won" is win."""
    return stem(base_form(word.lower()))


def read_tables(text: str, title: str = "") -> list[Table]:
    """Return the tables of a text in order.

    Args:
        text: The text of a document or a passage.
        title: The title of the document.
    """
    lines = list(_LINE.finditer(text))
    starts = [at for at in range(len(lines)) if not at or _parted(text, lines[at - 1], lines[at])]
    found = []
    for start, end in pairwise([*starts, len(lines)]):
        above = text[: lines[start].start()].rstrip().rpartition("\n")[2]
        caption = "" if above.startswith("|") else above[:LONGEST_CAPTION]
        found += _tables_of(lines[start:end], " ".join(filter(None, (title, caption))))
    return found


def _parted(text: str, line: re.Match[str], after: re.Match[str]) -> bool:
    """Return whether lines of cells belong to different tables: more than a line end parts them."""
    between = text[line.end() : after.start()]
    if _RULE.fullmatch(between):
        return False
    return between.count("\n") > 1 or bool(between.strip())


def _tables_of(lines: Sequence[re.Match[str]], title: str) -> list[Table]:
    cells = [_CELL_END.split(line["cells"].removesuffix(" |")) for line in lines]
    header = 0 if _is_ruled(lines) else _header(cells)
    if header is None:
        names = _names_in(cells)
        body, own = list(zip(lines, cells, strict=True)), names
    else:
        own = tuple(cells[header])
        body = list(zip(lines, cells, strict=True))[header + 1 :]
        title = " ".join((title, *(cell for row in cells[:header] for cell in row))).strip()
    if not own or not body:
        return []
    rows = tuple(Row(_aligned(row, own), line.start(), line.end()) for line, row in body)
    return [Table(own, rows, title)]


def _is_ruled(lines: Sequence[re.Match[str]]) -> bool:
    """Return whether a line of dashes stands below the first line."""
    return len(lines) > 1 and bool(
        _RULE.fullmatch(lines[0].string, lines[0].end(), lines[1].start())
    )


def _header(cells: Sequence[Sequence[str]]) -> int | None:
    """Return the place of the line that names the columns; None if there is none.

    Either the next line repeats its names, or it has words alone above a line of as many values.
    """
    for at in range(min(3, len(cells) - 1)):
        row, after = cells[at], cells[at + 1]
        if len(set(row)) == len(row) and any(
            cell.startswith(f"{name}: ") for name in row for cell in after
        ):
            return at
    for at in range(min(3, len(cells) - 1)):
        row, after = cells[at], cells[at + 1]
        alike = len(row) == len(after) > 1 and len(set(row)) == len(row)
        if alike and not any(map(_is_value, row)) and any(map(_is_value, after)):
            return at
    return None


def _names_in(cells: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the names that the cells of most lines begin with, in their order."""
    named = [
        match["name"]
        for row in cells
        for cell in row
        if (match := _NAMED.fullmatch(cell)) is not None
    ]
    counted = Counter(named)
    return tuple(name for name in dict.fromkeys(named) if 2 * counted[name] > len(cells))


def _aligned(cells: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Put the cells of a line under their columns: empty ones were left out of it."""
    found = [""] * len(names)
    at = 0
    for cell in cells:
        named = next((i for i in range(len(names)) if cell.startswith(f"{names[i]}: ")), None)
        if named is not None:
            found[named] = cell[len(names[named]) + 2 :]
            at = named + 1
        elif cell in names and not found[names.index(cell)]:  # a cell that is called as its column
            found[names.index(cell)] = cell
            at = names.index(cell) + 1
        elif at < len(names):
            found[at] = cell
            at += 1
    return tuple(found)


# -- values


def _is_value(cell: str) -> bool:
    return quantity_in(cell) is not None or day_in(cell) is not None


def quantity_in(cell: str) -> Quantity | None:
    """Return the number that a cell is, with its unit; None if it is anything else."""
    match = _QUANTITY.fullmatch(cell.strip())
    if match is None or day_in(cell) is not None:
        return None
    value = number(match["number"])
    unit = (match["before"] or match["after"] or "").strip()
    return None if value is None else Quantity(value, unit)


def day_in(cell: str) -> Day | None:
    """Return the date that a cell is, perhaps with a time or a weekday; None if it is not one."""
    found = dated(cell)
    if len(found) != 1:
        return None
    day, start, end = found[0]
    rest = re.sub(
        r"[\d:.,TZ]|\b[A-Za-z]{3,9}day\b|\b[A-Z][a-z]{2}\b", "", cell[:start] + cell[end:]
    )
    return day if not rest.strip() else None


def numeric_columns(table: Table) -> list[int]:
    """Return the places of the columns that hold numbers, but not those that hold years."""
    return [
        at
        for at, name in enumerate(table.columns)
        if _mostly(table.column(at), quantity_in)
        and not ("year" in word_stems(name) and all(map(_is_year, table.column(at))))
    ]


def date_columns(table: Table) -> list[int]:
    """Return the places of the columns that hold dates."""
    return [at for at in range(len(table.columns)) if _mostly(table.column(at), day_in)]


def _is_year(cell: str) -> bool:
    return not cell or bool(re.fullmatch(r"[12]\d{3}", cell.strip()))


def _mostly(cells: Sequence[str], reads: Callable[[str], object]) -> bool:
    held = [cell for cell in cells if cell]
    fit = sum(reads(cell) is not None for cell in held)
    return bool(held) and fit >= MOSTLY * len(held)


def days_of_rows(table: Table) -> dict[int, tuple[Day | None, ...]]:
    """Return the dates of each row, by the column that has them.

    Columns for year and month make one date; it counts as that of the year's column.
    """
    found = {at: tuple(day_in(cell) for cell in table.column(at)) for at in date_columns(table)}
    names = [name.lower() for name in table.columns]
    if "year" in names:
        year = names.index("year")
        month = names.index("month") if "month" in names else None
        found[year] = tuple(_composed(row, year, month) for row in table.rows)
    return found


def _composed(row: Row, year: int, month: int | None) -> Day | None:
    told = row.cells[year].strip()
    if not re.fullmatch(r"\d{4}", told):
        return None
    named = row.cells[month].strip().lower().rstrip(".") if month is not None else ""
    place = MONTHS.get(named, int(named) if named.isdigit() and 1 <= int(named) <= 12 else 0)
    return Day(int(told), place)


def is_total(row: Row) -> bool:
    """Return whether a row sums up the others: its first words say so."""
    first = next((cell for cell in row.cells if cell), "")
    words = [part.lower() for part in _PART.findall(first)]
    return bool(words) and (words[0] in _TOTAL or words[-1] in _TOTAL - {"all"})
