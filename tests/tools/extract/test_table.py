"""Rows: each names its columns, the head is there once, and what only looks like a head is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.table import add_table, is_header


def lines(rows: list[list[str]], *, head: bool = False) -> str:
    draft = DocumentDraft("csv")
    add_table(draft, rows, head=head)
    return draft.text


def test_rows_name_their_columns() -> None:
    rows = [
        ["Region", "Sales", "Note"],
        ["North", "1,200", ""],
        ["South", "", "closed"],
        ["East", "7", "x", "beyond"],
    ]
    assert lines(rows) == (
        "| Region | Sales | Note\n"
        "| Region: North | Sales: 1,200\n"
        "| Region: South | Note: closed\n"
        "| Region: East | Sales: 7 | Note: x | beyond"
    )


def test_captions_stand_above_their_table() -> None:
    rows = [["Sales by region"], [], ["Region", "2024", "2025"], ["North", "1", "2"]]
    assert (
        lines(rows)
        == "Sales by region\n\n| Region | 2024 | 2025\n| Region: North | 2024: 1 | 2025: 2"
    )


def test_a_second_table_has_its_own_head() -> None:
    rows = [["a", "b"], ["1", "2"], [], ["c", "d"], ["3", "4"], ["", ""], ["5", "6"]]
    assert lines(rows) == "| a | b\n| a: 1 | b: 2\n\n| c | d\n| c: 3 | d: 4\n\n| c: 5 | d: 6"


def test_rows_without_a_head() -> None:
    assert lines([["1", "2"], ["3", "4"]]) == "| 1 | 2\n| 3 | 4"
    assert lines([["Anna", "42"], ["Lars", "43"]]) == "| Anna | 42\n| Lars | 43"
    assert lines([["x" * 90, "y"], ["a", "b"]]) == f"| {'x' * 90} | y\n| a | b"


def test_a_head_that_is_known_counts_whatever_it_looks_like() -> None:
    assert lines([["2024", "2025"], ["1", "2"]], head=True) == "| 2024 | 2025\n| 2024: 1 | 2025: 2"
    assert (
        lines([["", "Ferries"], ["Spring", "3"]], head=True) == "| Ferries\n| Spring | Ferries: 3"
    )


def test_words_below_words_go_under_the_first() -> None:
    rows = [["Name", "Role"], ["Anna Berg", "Captain"], ["Lars Holm", "Owner"]]
    assert lines(rows).splitlines()[1:] == [
        "| Name: Anna Berg | Role: Captain",
        "| Name: Lars Holm | Role: Owner",
    ]


def test_cells_are_on_one_line() -> None:
    assert lines([["a", "b"], ["one\n two", " 1 "]]) == "| a | b\n| a: one two | b: 1"


@pytest.mark.parametrize(
    ("row", "after", "first", "expected"),
    [
        (["Name", "Age"], ["Anna", "42"], True, True),
        (["Name", "Age"], ["Anna", "42"], False, True),
        (["Name", "Role"], ["Anna", "Captain"], False, False),
        (["Name", "Role"], [], True, False),
        (["Name"], ["Anna", "42"], True, False),
        (["Name", "42"], ["Anna", "43"], True, False),
        (["Total", "2024", "2025"], ["x", "1", "2"], True, True),
        (["2024", "2025"], ["1", "2"], True, False),
        (["Region", "2024/25"], ["x", "1"], True, True),
        (["Date", "$ 5"], ["x", "1"], True, False),
        (["", "", "", "Name", "Age"], ["1", "2", "3", "4", "5"], True, False),
        (["名前", "年齢"], ["田中", "42"], True, True),
    ],
)
def test_heads(row: list[str], after: list[str], first: bool, expected: bool) -> None:
    assert is_header(row, after, first=first) is expected


@given(
    st.lists(st.lists(st.text(st.sampled_from("ab1 \n漢"), max_size=5), max_size=4), max_size=6),
    st.booleans(),
)
def test_no_cell_is_lost(rows: list[list[str]], head: bool) -> None:
    text = lines(rows, head=head)
    for row in rows:
        for cell in row:
            assert " ".join(cell.split()) in text
