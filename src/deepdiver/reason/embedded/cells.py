"""Rows of tables as findings, and the answer that the rows among findings give.

A row becomes a finding whose statement names each cell's column, so that whoever sees the finding
alone can read it as a table of one row, and rows of one source as a table again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deepdiver.reason.embedded.asked import understand
from deepdiver.reason.embedded.table_rows import Table, read_tables
from deepdiver.reason.embedded.tables import FORMS, TableAnswer, answer_from_tables
from deepdiver.tasks import Extracted, NumberedText, ShownFinding

MOST_ROWS = 24
"""Rows that an answer stands on; with more, nobody would check them."""


@dataclass(frozen=True, slots=True)
class FoundInCells:
    """An answer from rows."""

    answer: TableAnswer
    """What the table answers."""
    findings: tuple[int, ...]
    """The findings that are its rows."""


def rows_that_answer(question: str, texts: Sequence[NumberedText]) -> list[Extracted]:
    """Return the rows of the table that answers a question as findings; none if no table does."""
    asked = understand(question)
    if asked.form not in FORMS:
        return []
    tables = {id(t): (t, text) for text in texts for t in read_tables(text.plain, text.title)}
    found = answer_from_tables(asked, [table for table, _ in tables.values()])
    if not isinstance(found, TableAnswer) or len(found.rows) > MOST_ROWS:
        return []
    text = tables[id(found.table)][1]
    return [
        Extracted(
            statement=_named_cells(found.table, row.cells),
            source=text.id,
            quote=text.plain[row.start : row.end],
        )
        for row in found.rows
    ]


def _named_cells(table: Table, cells: Sequence[str]) -> str:
    return " | ".join(
        f"{name}: {cell}" for name, cell in zip(table.columns, cells, strict=True) if cell
    )


def answer_in_cells(question: str, findings: Sequence[ShownFinding]) -> FoundInCells | None:
    """Return the answer that the rows among findings give; None if they give none."""
    asked = understand(question)
    by_source: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        if finding.quote.startswith("|") and " | " in finding.statement:
            by_source.setdefault(finding.source, []).append(number)
    tables = [
        (table, numbers)
        for source, numbers in by_source.items()
        for table in read_tables("\n".join(f"| {findings[n].statement}" for n in numbers), source)
    ]
    found = answer_from_tables(asked, [table for table, _ in tables])
    if not isinstance(found, TableAnswer):
        return None
    numbers = next(numbers for table, numbers in tables if table is found.table)
    places = {row.start: number for row, number in zip(found.table.rows, numbers, strict=False)}
    return FoundInCells(
        found, tuple(places[row.start] for row in found.rows if row.start in places)
    )
