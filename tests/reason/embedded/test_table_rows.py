"""Tables are read back from the lines that the readers of documents made of them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import Day
from deepdiver.reason.embedded.table_rows import (
    Quantity,
    Row,
    Table,
    date_columns,
    day_in,
    days_of_rows,
    is_total,
    numeric_columns,
    quantity_in,
    read_tables,
    word_stems,
)
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.table import add_table

FARMS = """Land needed for the dam

| Farm | Owner | Hectares
| Farm: Shore Farm | Owner: E. Marlowe | Hectares: 6.2
| Farm: Heron Farm | Hectares: 1.1
| Farm: Total | Hectares: 7.3

The list was made in 2018."""


@pytest.mark.parametrize(
    "text", ["", "no table", "|", "||", "| ", "a | b", "| only one line", "| a | b\n\n| c | d"]
)
def test_what_is_no_table_gives_none(text: str) -> None:
    assert read_tables(text) == []


def test_a_table_has_columns_rows_and_a_title() -> None:
    (table,) = read_tables(FARMS, "Survey")
    assert table.columns == ("Farm", "Owner", "Hectares")
    assert [row.cells for row in table.rows] == [
        ("Shore Farm", "E. Marlowe", "6.2"),
        ("Heron Farm", "", "1.1"),
        ("Total", "", "7.3"),
    ]
    assert table.title == "Survey Land needed for the dam"
    assert table.column(2) == ("6.2", "1.1", "7.3")


def test_a_row_knows_its_line() -> None:
    (table,) = read_tables(FARMS)
    lines = [FARMS[row.start : row.end] for row in table.rows]
    assert lines[1] == "| Farm: Heron Farm | Hectares: 1.1"


def test_a_passage_from_the_middle_is_read_by_its_names() -> None:
    (table,) = read_tables("| Farm: A | Hectares: 1\n| Farm: B | Hectares: 2 | Remark: wet")
    assert table.columns == ("Farm", "Hectares")
    assert [row.cells for row in table.rows] == [("A", "1"), ("B", "2")]


def test_a_header_that_the_rows_do_not_repeat_is_known_by_its_look() -> None:
    (table,) = read_tables(
        "| Levels | from the log\n| Year | Level m\n| 2016 | 407.6\n| 2017 | 408"
    )
    assert table.columns == ("Year", "Level m")
    assert table.title == "Levels from the log"
    assert table.rows[0].cells == ("2016", "407.6")


def test_an_empty_line_parts_two_tables() -> None:
    text = "| A | B\n| A: 1 | B: 2\n\n| C | D\n| C: 3 | D: 4\ntext\n| E | F\n| E: 5 | F: 6"
    assert [table.columns for table in read_tables(text)] == [("A", "B"), ("C", "D"), ("E", "F")]


def test_a_colon_inside_a_cell_stays() -> None:
    (table,) = read_tables("| Task | Note\n| Task: T1 | Note: see: the log\n| Task: T2 | Note: x")
    assert table.column(1) == ("see: the log", "x")


def test_a_cell_that_is_called_as_its_column() -> None:
    (table,) = read_tables("| Item | Total\n| Item: rye | Total: 2\n| Total | Total: 3")
    assert table.rows[0].cells == ("rye", "2")
    assert table.rows[1].cells == ("", "3")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("12", Quantity(Decimal(12))),
        ("1,200", Quantity(Decimal(1200))),
        ("1 200", Quantity(Decimal(1200))),
        ("3.5", Quantity(Decimal("3.5"))),
        ("-4", Quantity(Decimal(-4))),
        ("€ 30", Quantity(Decimal(30), "€")),
        ("EUR 30", Quantity(Decimal(30), "EUR")),
        ("12 %", Quantity(Decimal(12), "%")),
        ("640 MB", Quantity(Decimal(640), "MB")),
        ("90 seconds", Quantity(Decimal(90), "seconds")),
        ("", None),
        ("about 640 MB", None),
        ("4.7.0", None),
        ("2024-01-05", None),
        ("5 March 2024", None),
        ("K01", None),
        ("3 of 4", None),
    ],
)
def test_quantities(cell: str, expected: Quantity | None) -> None:
    assert quantity_in(cell) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2024-01-05", Day(2024, 1, 5)),
        ("2024-01", Day(2024, 1)),
        ("5 March 2024", Day(2024, 3, 5)),
        ("2023-05-25 16:02", Day(2023, 5, 25)),
        ("Monday, 5 March 2024", Day(2024, 3, 5)),
        ("", None),
        ("2024", None),
        ("before 5 March 2024", None),
        ("2024-01-05 to 2024-02-05", None),
    ],
)
def test_days(cell: str, expected: Day | None) -> None:
    assert day_in(cell) == expected


def made(columns: tuple[str, ...], *rows: tuple[str, ...]) -> Table:
    return Table(columns, tuple(Row(row, 0, 0) for row in rows))


def test_columns_are_numbers_or_dates_if_most_cells_are() -> None:
    table = made(
        ("Item", "Price", "Year", "USD per year", "Bought"),
        ("a", "1", "2016", "10", "2016-01-02"),
        ("b", "2", "2017", "20", ""),
        ("c", "n/a", "2018", "30", "2018-01-02"),
    )
    assert numeric_columns(table) == [1, 3]
    assert date_columns(table) == [4]


def test_year_and_month_make_a_date() -> None:
    table = made(("Year", "Month"), ("2016", "Jan"), ("2016", "12"), ("x", "Feb"), ("2017", ""))
    assert days_of_rows(table)[0] == (Day(2016, 1), Day(2016, 12), None, Day(2017))


@pytest.mark.parametrize(
    ("first", "total"),
    [("Total", True), ("TOTAL", True), ("Grand total", True), ("Totaline", False), ("", False)],
)
def test_rows_that_sum_up(first: str, total: bool) -> None:
    assert is_total(Row((first, "3"), 0, 0)) is total


def test_names_of_columns_are_words() -> None:
    assert word_stems("requests_per_s") == ["request", "per", "s"]
    assert word_stems("") == []


cells = st.text("abcxyz 123.", min_size=1, max_size=8).map(str.strip).filter(bool)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6))
def test_what_the_extraction_writes_is_read_back(rows: list[tuple[str, str, str]]) -> None:
    draft = DocumentDraft("csv")
    add_table(draft, [["Name", "Size", "Kind"], *map(list, rows)], head=True)
    (table,) = read_tables(draft.text)
    spaced = [tuple(" ".join(cell.split()) for cell in row) for row in rows]
    assert [row.cells for row in table.rows] == spaced


@given(st.text(max_size=300))
def test_whatever_stands_there_is_no_error(text: str) -> None:
    for table in read_tables(text):
        assert all(len(row.cells) == len(table.columns) for row in table.rows)


@given(st.integers(-(10**9), 10**9), st.sampled_from(["", " kg", " %"]))
def test_every_number_is_read_with_its_unit(value: int, unit: str) -> None:
    assert quantity_in(f"{value:,}{unit}") == Quantity(Decimal(value), unit.strip())


@pytest.mark.parametrize("rule", ["|---|---|", "| --- | :---: |", "|:--|--:|"])
def test_a_table_in_markdown_has_its_names_above_a_line_of_dashes(rule: str) -> None:
    rows = "| ledgerd | Ada Holm |\n| relay |  |"
    text = f"Who owns what\n\n| Service | Owner |\n{rule}\n{rows}\n\nEnd."
    (table,) = read_tables(text)
    assert table.columns == ("Service", "Owner")
    assert [row.cells for row in table.rows] == [("ledgerd", "Ada Holm"), ("relay", "")]
    assert text[table.rows[0].start : table.rows[0].end] == "| ledgerd | Ada Holm |"


def test_a_line_of_dashes_within_a_table_is_no_row() -> None:
    (table,) = read_tables("| Farm | Hectares\n| Lea | 4.4\n| --- | ---\n| Shore | 6.2")
    assert [row.cells[0] for row in table.rows][:1] == ["Lea"]
    assert not any("---" in cell for row in table.rows for cell in row.cells)
