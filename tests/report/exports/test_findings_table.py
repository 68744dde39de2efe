"""The table of findings: every quote is in it, and no cell is a formula."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.report.exports.findings_table import COLUMNS, render_findings, safe_cell
from tests.report.exports.making import PAYLOADS, TEXTS, hostile, many_payloads, saved


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@given(st.text())
def test_no_cell_begins_like_a_formula(text: str) -> None:
    assert not safe_cell(text).lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1", "\t=1", " =1", "＝1", "\n=1"])
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


def test_other_texts_stay_as_they_are() -> None:
    assert safe_cell("300 people, “owned”\nby Anna") == "300 people, “owned”\nby Anna"
    assert safe_cell("") == ""


def test_every_quote_has_a_row_that_leads_to_its_place() -> None:
    header, *rows = read(render_findings(saved()))
    assert tuple(header) == COLUMNS
    assert len(rows) == 6
    for row in (dict(zip(COLUMNS, cells, strict=True)) for cells in rows):
        text = TEXTS[row["snapshot"]]
        quote = row["quote"].removeprefix("'")
        assert text[int(row["start"]) : int(row["end"])] == quote
    assert {row[COLUMNS.index("cited as")] for row in rows} >= {"[1]", "[2]"}


def test_spreadsheets_are_told_that_it_is_utf_8() -> None:
    assert render_findings(saved()).startswith("\ufeff")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_is_a_formula_or_another_row(payload: str) -> None:
    rows = read(render_findings(hostile(payload)))
    assert len(rows) == 2
    assert all(len(row) == len(COLUMNS) for row in rows)
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for row in rows for cell in row)


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_is_a_formula_or_another_row(payload)
