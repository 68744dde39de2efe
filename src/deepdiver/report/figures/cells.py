"""The values of a report that may be drawn: cells of its tables that their citations carry.

A cell is drawn only if code finds its value again: a fact's in the quote that it cites, a
calculation's by computing it once more. A column is drawn whole or not at all, because a chart
without one of its rows would say something else than the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deepdiver.core.arithmetic import ArithmeticFaultError, comes_out, compute
from deepdiver.core.dates import Day, dated, dates
from deepdiver.core.numbers import numbers
from deepdiver.core.record import Block, Citation, Report, Sentence, SentenceKind

LEAST = 3
"""A chart has at least that many rows: two values compare themselves."""
MOST_BARS, MOST_POINTS = 16, 60
"""The most rows of a chart of bars, and of one over time."""
_YEAR = re.compile(r"(?:1[0-9]|20)\d{2}(?!\d)")
"""A year. It is not drawn as a value: nobody compares years by the lengths of bars."""
_FIGURES = re.compile(r"[-−+]?\d[\d.,\u00a0\u2009\u202f]*(?: \d{3})*")


@dataclass(frozen=True, slots=True)
class Cell:
    """A value with the citation that carries it."""

    value: float
    """What is drawn."""
    text: str
    """What the table says."""
    number: int
    """Number of the citation."""
    mark: str
    """What the report prints for it."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of values in one unit."""

    name: str
    """Its head."""
    unit: str
    """What its cells say besides the number."""
    cells: tuple[Cell, ...]
    """A cell for each row."""


@dataclass(frozen=True, slots=True)
class Values:
    """The columns of a table that have one unit."""

    over: str
    """Head of the first column, which names the rows."""
    labels: tuple[str, ...]
    """The names of the rows."""
    days: tuple[Day, ...]
    """The dates that the rows are named by, one after another; empty: they are not."""
    columns: tuple[Column, ...]
    """The columns."""


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that a report dates."""

    day: Day
    """When."""
    text: str
    """What."""
    number: int
    """Number of the citation that has the date."""
    mark: str
    """What the report prints for it."""


def comparable_values(report: Report, block: Block) -> list[Values]:
    """Return the values of a table that can be compared, the columns of each unit together."""
    rows = block.rows
    if block.kind != "table" or len(rows) < LEAST or any(len(row) != len(rows[0]) for row in rows):
        return []
    labels = tuple(row[0].text.strip() for row in rows)
    days = _days(labels)
    if len(set(labels)) < len(labels) or len(rows) > (MOST_POINTS if days else MOST_BARS):
        return []
    carried = _Carried(report)
    by_unit: dict[str, list[Column]] = {}
    for name, cells in zip(block.header[1:], list(zip(*rows, strict=True))[1:], strict=False):
        if column := _column(name, cells, carried):
            by_unit.setdefault(column.unit.casefold(), []).append(column)
    return [Values(block.header[0], labels, days, tuple(columns)) for columns in by_unit.values()]


def dated_rows(report: Report, block: Block) -> list[Happening]:
    """Return what a table or list tells by date, in the order of time; empty: it does not."""
    if block.kind not in ("table", "list", "steps") or not LEAST <= len(block.rows) <= MOST_BARS:
        return []
    carried = _Carried(report)
    found = [_happening(row, carried, block.kind == "table") for row in block.rows]
    happened = [item for item in found if item]
    if len(happened) < len(found):
        return []
    return sorted(happened, key=lambda item: item.day)


def _days(labels: Sequence[str]) -> tuple[Day, ...]:
    """Return the dates that labels consist of, if they rise; else nothing."""
    found = [_opening_date(label) for label in labels]
    days = tuple(
        one[0] for one, label in zip(found, labels, strict=True) if one and one[1] == len(label)
    )
    return days if len(days) == len(labels) and list(days) == sorted(set(days)) else ()


def _opening_date(text: str) -> tuple[Day, int] | None:
    """Return the date that a text begins with, and where it ends; None: it has none, or no year."""
    opening = [(day, end) for day, start, end in dated(text) if start == 0 and day.year]
    if opening:
        return opening[0]
    year = _YEAR.match(text)
    return (Day(int(year[0])), year.end()) if year else None


def _column(name: str, cells: Sequence[Sentence], carried: _Carried) -> Column | None:
    found = [carried.cell(cell) for cell in cells]
    units = {_unit(cell.text) for cell in cells}
    if len(units) > 1 or not all(found) or all(_YEAR.fullmatch(cell.text) for cell in cells):
        return None
    return Column(name, units.pop(), tuple(cell for cell in found if cell))


def _unit(text: str) -> str:
    return _FIGURES.sub("", text, count=1).strip(" .~≈").casefold()


def _happening(row: Sequence[Sentence], carried: _Carried, table: bool) -> Happening | None:
    """Return a row that begins with a date, if a citation of it has the date too."""
    if not (opening := _opening_date(row[0].text)):
        return None
    day, end = opening
    rest = [row[0].text[end:], *(item.text for item in row[1 : 2 if table else None])]
    said = " ".join(rest).strip(" :,–—-.|")
    cited = carried.dated(row, day)
    return Happening(day, said, cited.number, cited.mark) if cited and said else None


class _Carried:
    """The values of a report, as its citations and calculations have them."""

    def __init__(self, report: Report) -> None:
        self._citations = {item.number: item for item in report.citations}
        self._derived = dict(_computed_again(report))

    def cell(self, sentence: Sentence) -> Cell | None:
        """Return the value of a cell, if code finds it again."""
        said = numbers(sentence.text)
        cited = [self._citations[n] for n in sentence.citations if n in self._citations]
        if len(said) != 1 or not cited:
            return None
        if sentence.kind is SentenceKind.FACT:
            having = [item for item in cited if said[0] in numbers(item.quote)]
        elif sentence.kind is SentenceKind.CALCULATION and self._comes_out(sentence):
            having = cited
        else:
            return None
        if not having:
            return None
        first = having[0]
        return Cell(float(said[0]), sentence.text.strip(), first.number, first.mark)

    def _comes_out(self, sentence: Sentence) -> bool:
        values = [self._derived[name] for name in sentence.derived if name in self._derived]
        return any(comes_out(value, sentence.text, roughly=True) for value in values)

    def dated(self, row: Sequence[Sentence], day: Day) -> Citation | None:
        """Return the first citation of a row whose quote has a date."""
        cited = (self._citations.get(n) for item in row for n in item.citations)
        return next(
            (item for item in cited if item and _has_date(item.quote, day)),
            None,
        )


def _has_date(quote: str, day: Day) -> bool:
    said = (*dates(quote), *(Day(int(year)) for year in _YEAR.findall(quote)))
    return any(own.covers(day) for own in said)


def _computed_again(report: Report) -> Iterator[tuple[str, Fraction]]:
    """Yield the calculations of a report that come out, by their names."""
    known: dict[str, Fraction] = {}
    for made in report.derivations:
        value = _value(made.expression, known)
        if value is not None and comes_out(value, made.result, roughly=True):
            known[made.name] = value
            yield made.name, value


def _value(expression: str, known: Mapping[str, Fraction]) -> Fraction | None:
    try:
        return compute(expression, known).value
    except ArithmeticFaultError:
        return None
