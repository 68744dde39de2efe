"""Rows as findings, and the answers that rows among findings give."""

from __future__ import annotations

from deepdiver.reason.embedded import cells
from deepdiver.reason.embedded.cells import answer_in_cells, rows_that_answer
from deepdiver.tasks import NumberedText, ShownFinding
from tests.reason.embedded.shown import finding
from tests.texts import shown_text

ROWS = (
    "| Farm: North Lea | Owner: A. Bream | Hectares: 4.4",
    "| Farm: South Lea | Owner: A. Bream | Hectares: 1.9",
    "| Farm: Low Barn | Owner: C. Brody | Hectares: 0.6",
)
HEADER = "| Farm | Owner | Hectares"
TOTAL = "How many hectares in total do the farms of A. Bream have?"
OWNER = "Who is the owner of Low Barn?"


def text(*rows: str) -> NumberedText:
    return shown_text(id="T1", title="Farms", text="\n".join((HEADER, *rows)))


def as_findings(*rows: str) -> tuple[ShownFinding, ...]:
    return tuple(
        finding(row.removeprefix("| "), f"F{n}", title="Farms").model_copy(update={"quote": row})
        for n, row in enumerate(rows, 1)
    )


def test_without_a_table_there_is_no_row() -> None:
    assert rows_that_answer(TOTAL, [shown_text(id="T1", title="", text="A. Bream farms.")]) == []
    assert answer_in_cells(TOTAL, [finding("A. Bream farms 6.3 hectares.")]) is None
    assert answer_in_cells(TOTAL, []) is None


def test_a_question_for_reasons_is_not_answered_by_cells() -> None:
    assert rows_that_answer("Why did A. Bream sell the farms?", [text(*ROWS)]) == []


def test_an_answer_on_too_many_rows_is_none(monkeypatch: object) -> None:
    held = cells.MOST_ROWS
    cells.MOST_ROWS = 1
    try:
        assert rows_that_answer(TOTAL, [text(*ROWS)]) == []
    finally:
        cells.MOST_ROWS = held


def test_the_rows_of_a_sum_are_findings() -> None:
    found = rows_that_answer(TOTAL, [text(*ROWS)])
    assert [item.quote for item in found] == list(ROWS[:2])
    assert {item.source for item in found} == {"T1"}


def test_rows_without_names_get_those_of_the_header() -> None:
    plain = "| Service | Owner |\n|---|---|\n| ledgerd | Ada Holm |\n| relay | Bo Lind |"
    (row,) = rows_that_answer(
        "Who is the owner of the ledgerd service?", [shown_text(id="T1", title="", text=plain)]
    )
    assert row.statement == "Service: ledgerd | Owner: Ada Holm"


def test_the_rows_among_findings_give_the_sum_again() -> None:
    found = answer_in_cells(TOTAL, [finding("Bream farms."), *as_findings(*ROWS[:2])])
    assert found is not None
    assert found.answer.result.startswith("6.3")
    assert found.answer.expression
    assert found.findings == (1, 2)


def test_one_row_answers_with_its_cell() -> None:
    found = answer_in_cells(OWNER, as_findings(ROWS[2]))
    assert found is not None
    assert found.answer.result == "C. Brody"
    assert found.findings == (0,)
