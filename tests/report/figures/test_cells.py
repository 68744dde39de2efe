"""What may be drawn: cells that their citations carry, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Block, Derivation, SentenceKind
from deepdiver.report.figures.cells import comparable_values, dated_rows
from tests.report.figures.tables import EVENTS, PEOPLE, YEARS, name, report_of, table, value


def first(block: Block, **more: object) -> list[float]:
    """Return the values of the first column that would be drawn."""
    made = report_of(block, **more)  # type: ignore[arg-type]
    found = comparable_values(made, made.sections[0].blocks[0])
    return [cell.value for cell in found[0].columns[0].cells] if found else []


def with_last(cell: object) -> Block:
    return PEOPLE.model_copy(update={"rows": (*PEOPLE.rows[:2], (name("Cal"), cell))})


@pytest.mark.parametrize(
    "cell",
    [
        name("40"),  # cites nothing
        value("41"),  # is not in the quote
        value("40 km"),  # is in another unit
        value("40 of 80"),  # has two values
        value("few"),  # has none
        value("40", kind=SentenceKind.JUDGEMENT),
        value("40", kind=SentenceKind.CALCULATION),  # comes out of nothing
        value("40", kind=SentenceKind.CALCULATION, derived=("C9",)),
    ],
)
def test_a_column_with_a_cell_that_nothing_carries_is_not_drawn(cell: object) -> None:
    assert first(with_last(cell)) == []


def test_two_rows_rows_of_one_name_and_other_blocks_are_not_drawn() -> None:
    assert first(PEOPLE.model_copy(update={"rows": PEOPLE.rows[:2]})) == []
    assert first(PEOPLE.model_copy(update={"rows": (*PEOPLE.rows, PEOPLE.rows[0])})) == []
    assert first(PEOPLE.model_copy(update={"kind": "list"})) == []


def test_a_column_of_facts_is_drawn_with_its_citations() -> None:
    made = report_of(PEOPLE)
    (values,) = comparable_values(made, made.sections[0].blocks[0])
    assert (values.over, values.labels, values.days) == ("town", ("Ard", "Bo", "Cal"), ())
    (column,) = values.columns
    assert (column.name, column.unit) == ("people", "")
    assert [(cell.value, cell.text, cell.number, cell.mark) for cell in column.cells] == [
        (120.0, "120", 1, "1"),
        (80.0, "80", 1, "1"),
        (40.0, "40", 1, "1"),
    ]


@pytest.mark.parametrize(("result", "drawn"), [("40", True), ("41", False)])
def test_a_calculation_is_computed_again(result: str, drawn: bool) -> None:
    cell = value(result, kind=SentenceKind.CALCULATION, derived=("C1",))
    made = Derivation(name="C1", expression="120 - 80", result=result, findings=("f_1",))
    assert bool(first(with_last(cell), derivations=(made,))) is drawn


def test_a_calculation_that_cannot_be_computed_is_not_drawn() -> None:
    cell = value("40", kind=SentenceKind.CALCULATION, derived=("C1",))
    made = Derivation(name="C1", expression="120 / (", result="40", findings=("f_1",))
    assert first(with_last(cell), derivations=(made,)) == []


def test_rows_of_years_are_dates_if_they_rise() -> None:
    made = report_of(YEARS)
    (values,) = comparable_values(made, made.sections[0].blocks[0])
    assert [day.year for day in values.days] == [2021, 2022, 2023]
    assert values.columns[0].unit == "t"
    turned = YEARS.model_copy(update={"rows": YEARS.rows[::-1]})
    (values,) = comparable_values(report_of(turned), report_of(turned).sections[0].blocks[0])
    assert values.days == ()


def test_columns_of_one_unit_are_drawn_together() -> None:
    block = table(
        ("town", "people", "more", "cheese"),
        (name("Ard"), value("120"), value("80"), value("10 t")),
        (name("Bo"), value("80"), value("40"), value("30 t")),
        (name("Cal"), value("40"), value("120"), value("25 t")),
    )
    found = comparable_values(report_of(block), report_of(block).sections[0].blocks[0])
    assert [[column.name for column in values.columns] for values in found] == [
        ["people", "more"],
        ["cheese"],
    ]


def test_what_is_dated_is_put_in_the_order_of_time() -> None:
    made = report_of(EVENTS)
    found = dated_rows(made, made.sections[0].blocks[0])
    assert [(item.day.iso(), item.text, item.mark) for item in found] == [
        ("1911-05-03", "founded", "1"),
        ("1950", "sold", "1"),
        ("2001-02-03", "closed", "1"),
    ]


def test_a_list_that_begins_with_dates_is_one_of_events() -> None:
    points = [(value(f"{day}: it happened."),) for day in ("1911", "1950", "2001")]
    block = table((), *points, kind="list")
    made = report_of(block)
    found = dated_rows(made, made.sections[0].blocks[0])
    assert [item.text for item in found] == ["it happened"] * 3


@pytest.mark.parametrize("opening", ["1951", "someday", "May"])
def test_a_date_that_no_quote_has_leaves_nothing_to_draw(opening: str) -> None:
    rows = (*EVENTS.rows[:2], (value(opening), value("closed")))
    block = EVENTS.model_copy(update={"rows": rows})
    assert dated_rows(report_of(block), report_of(block).sections[0].blocks[0]) == []


@given(st.lists(st.integers(0, 10**6), min_size=3, max_size=9))
def test_every_value_that_is_drawn_is_in_its_quote(drawn: list[int]) -> None:
    rows = [(name(f"Row {place}"), value(str(one))) for place, one in enumerate(drawn)]
    block = table(("row", "value"), *rows)
    said = "; ".join(f"value {one}" for one in drawn)
    assert first(block, said=said) == [float(one) for one in drawn]
    assert first(block, said=said.replace(str(drawn[-1]), "none")) == []


def test_years_are_no_values() -> None:
    rows = [
        (name(town), value(year)) for town, year in (("A", "1911"), ("B", "1950"), ("C", "2001"))
    ]
    assert first(table(("town", "founded"), *rows)) == []
