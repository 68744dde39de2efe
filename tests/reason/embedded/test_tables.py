"""Tables answer with cells and shown calculations, or say why they do not."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdiver.core.arithmetic import comes_out, compute
from deepdiver.core.ledger import Ledger
from deepdiver.core.numbers import numbers
from deepdiver.core.record import Derivation
from deepdiver.reason.embedded.language.form import read_question
from deepdiver.reason.embedded.table_rows import Row, Table, read_tables
from deepdiver.reason.embedded.tables import (
    Operation,
    TableAnswer,
    TableRefusal,
    answer_from,
    answer_from_tables,
    operation_of,
)
from deepdiver.strategies.shared.derive import Derivations

FARMS = """Land needed for the dam

| Farm | Owner | Hectares | In list
| Farm: Shore Farm | Owner: E. Marlowe | Hectares: 6.2 | In list: yes
| Farm: North Lea | Owner: A. Bream | Hectares: 4.4 | In list: yes
| Farm: South Lea | Owner: A. Bream | Hectares: 1.9 | In list: no
| Farm: Kiln Farm | Owner: S. Pike | Hectares: 5.1 | In list: yes
| Farm: Total | Hectares: 17.6"""
COSTS = """| Month | api | pathfinder | Remark
| Month: 2024-01 | api: 2,110 | pathfinder: 3,600
| Month: 2024-02 | api: 2,130 | pathfinder: 3,620
| Month: 2024-03 | api: 2,190 | pathfinder: 3,700 | Remark: leap year
| Month: 2024-04 | api: 2,240 | pathfinder: 3,710"""
TICKETS = """| id | title | assignee | created | closed
| id: WB-1 | title: Batch error | assignee: Ada Berg | created: 2024-06-24 | closed: 2024-07-03
| id: WB-2 | title: Typo | assignee: Tom Vale | created: 2024-07-01
| id: WB-3 | title: Slow log | assignee: Ada Berg | created: 2024-07-08 | closed: 2024-07-29"""


def table(text: str, title: str = "") -> Table:
    return read_tables(text, title)[0]


def ask(question: str, text: str, title: str = "") -> TableAnswer | TableRefusal | None:
    return answer_from(read_question(question), table(text, title))


def answer(question: str, text: str, title: str = "") -> TableAnswer:
    found = ask(question, text, title)
    assert isinstance(found, TableAnswer), found
    return found


# -- refusals


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What is the capital of Norway?",
        "Why does A. Bream lose hectares?",
        "Give me an overview of the farms of A. Bream",
        "How many hectares does Gull Farm lose to the new motorway bridge?",
        "Who owns the harbour?",
    ],
)
def test_what_a_table_does_not_bear_on_it_does_not_answer(question: str) -> None:
    assert ask(question, FARMS) is None


def test_no_tables_no_answer() -> None:
    assert answer_from_tables(read_question("Who owns Shore Farm?"), []) is None


@pytest.mark.parametrize(
    ("question", "text", "reason"),
    [
        ("How many days was WB-2 open?", TICKETS, "one of the two dates is missing"),
        (
            "What is the difference in hectares between the farms of A. Bream and S. Pike?",
            FARMS,
            "which two cells",
        ),
        (
            "What is the average cost of api and pathfinder in 2024?",
            COSTS,
            "the columns api, pathfinder fit equally well",
        ),
        (
            "How many sacks in total?",
            "| Mill | Sacks\n| Mill: A | Sacks: 5 kg\n| Mill: B | Sacks: 7 t",
            "different units",
        ),
        (
            "what was the level in 2016",
            "| Month | Level\n"
            + "\n".join(f"| Month: 2016-{m:02} | Level: {m}" for m in range(1, 13)),
            "12 rows fit equally well",
        ),
        (
            "Who has Lund?",
            "| Home | Work | Name\n| Home: Lund | Work: Ost | Name: Ada\n"
            "| Home: Ost | Work: Lund | Name: Tom",
            "Home Lund and Work Lund fit equally well",
        ),
        (
            "What are the 2 highest scores?",
            "| Name | Scores\n| Name: a | Scores: 5\n| Name: b | Scores: 4\n| Name: c | Scores: 4",
            "2 rows have the same value, 4",
        ),
    ],
)
def test_what_fits_equally_well_is_told(question: str, text: str, reason: str) -> None:
    found = ask(question, text)
    assert isinstance(found, TableRefusal), found
    assert reason in found.reason


FLIGHTS = """| Flight | From | To | Passengers
| Flight: HX1 | From: Oslo | To: Lund | Passengers: 112
| Flight: HX2 | From: Lund | To: Oslo | Passengers: 98
| Flight: HX3 | From: Oslo | To: Kiel | Passengers: 143"""
LEAGUE = """| Team | Won | Goals for | Goals against | Points
| Team: Velby | Won: 11 | Goals for: 37 | Goals against: 21 | Points: 36
| Team: Morden | Won: 9 | Goals for: 30 | Goals against: 25 | Points: 30"""


def test_the_name_before_a_value_tells_its_column() -> None:
    assert answer("How many passengers flew from Oslo?", FLIGHTS).result == "255"
    assert answer("How many passengers flew to Oslo?", FLIGHTS).result == "98"


def test_columns_that_one_word_names_are_not_added_up() -> None:
    found = ask("How many goals did all teams score together?", LEAGUE)
    assert isinstance(found, TableRefusal)
    assert "Goals for, Goals against fit equally well" in found.reason


def test_irregular_verbs_name_columns() -> None:
    assert answer("How many matches did Velby win?", LEAGUE).result == "11"


def test_a_name_or_year_that_the_table_lacks_forbids_an_answer() -> None:
    assert ask("How many points did Morden get in 2019?", LEAGUE) is None
    found = ask("How many passengers flew from Oslo to Berlin?", FLIGHTS)
    assert isinstance(found, TableRefusal)
    assert "Berlin" in found.reason


def test_a_year_of_the_title_is_explained() -> None:
    found = answer("How many points did Morden get in 2019?", LEAGUE, "League of 2019")
    assert found.result == "30"


def test_two_tables_that_differ_are_both_told() -> None:
    other = FARMS.replace("E. Marlowe", "Lady Corrigan")
    found = answer_from_tables(
        read_question("Who is the owner of Shore Farm?"), [table(FARMS), table(other)]
    )
    assert isinstance(found, TableRefusal)
    assert "E. Marlowe" in found.reason
    assert "Lady Corrigan" in found.reason


def test_two_tables_that_agree_answer() -> None:
    found = answer_from_tables(
        read_question("Who is the owner of Shore Farm?"), [table(FARMS), table(FARMS)]
    )
    assert isinstance(found, TableAnswer)
    assert found.result == "E. Marlowe"


def test_the_table_that_explains_more_answers() -> None:
    found = answer_from_tables(
        read_question("Who is the owner of Shore Farm?"),
        [
            table("| Farm | Sheep\n| Farm: Shore Farm | Sheep: 7\n| Farm: B | Sheep: 8"),
            table(FARMS),
        ],
    )
    assert isinstance(found, TableAnswer)
    assert found.result == "E. Marlowe"


# -- answers


@pytest.mark.parametrize(
    ("question", "text", "operation", "result"),
    [
        ("Who is the owner of Shore Farm?", FARMS, Operation.LOOK_UP, "E. Marlowe"),
        ("Who owns Kiln Farm?", FARMS, Operation.LOOK_UP, "S. Pike"),
        ("How many hectares does Kiln Farm have?", FARMS, Operation.LOOK_UP, "5.1"),
        ("Which farms are not in the list?", FARMS, Operation.LOOK_UP, "South Lea"),
        ("How many hectares do the farms of A. Bream lose?", FARMS, Operation.SUM, "6.3"),
        ("What is the total of hectares?", FARMS, Operation.SUM, "17.6"),
        ("How many farms have more than 5 hectares?", FARMS, Operation.COUNT, "2"),
        ("How many farms does A. Bream own?", FARMS, Operation.COUNT, "2"),
        ("How many different owners are there?", FARMS, Operation.DISTINCT, "3"),
        ("What is the average of hectares of farms?", FARMS, Operation.MEAN, "4.4"),
        (
            "How many more hectares has Shore Farm than Kiln Farm?",
            FARMS,
            Operation.DIFFERENCE,
            "1.1",
        ),
        (
            "Which farm has the most hectares?",
            FARMS,
            Operation.MAXIMUM,
            "Shore Farm (Hectares: 6.2)",
        ),
        (
            "Which farm has the fewest hectares?",
            FARMS,
            Operation.MINIMUM,
            "South Lea (Hectares: 1.9)",
        ),
        (
            "top two farms by hectares",
            FARMS,
            Operation.TOP,
            "Shore Farm (Hectares: 6.2); Kiln Farm (Hectares: 5.1)",
        ),
        ("What did the api cost in February 2024?", COSTS, Operation.LOOK_UP, "2,130"),
        (
            "How much did pathfinder cost in the first quarter of 2024?",
            COSTS,
            Operation.SUM,
            "10,920",
        ),
        ("api and pathfinder in total in January 2024", COSTS, Operation.SUM, "5,710"),
        ("How many days was WB-1 open?", TICKETS, Operation.DAYS, "9 days"),
        ("How many weeks was WB-3 open?", TICKETS, Operation.DAYS, "3 weeks"),
        ("Which ticket was created last?", TICKETS, Operation.LATEST, "2024-07-08"),
        ("Who is the assignee of the open tickets?", TICKETS, Operation.LOOK_UP, "Tom Vale"),
    ],
)
def test_answers(question: str, text: str, operation: Operation, result: str) -> None:
    found = answer(question, text, "tickets" if text is TICKETS else "costs")
    assert (found.operation, found.result) == (operation, result)


def test_a_calculation_names_its_cells() -> None:
    found = answer("How many hectares do the farms of A. Bream lose?", FARMS)
    assert found.expression == "sum(4.4, 1.9)"
    assert found.text == "Hectares (North Lea, South Lea): sum(4.4, 1.9) = 6.3."
    assert found.columns == ("Hectares",)
    lines = [FARMS[row.start : row.end] for row in found.rows]
    assert [line.split(" | ")[0] for line in lines] == ["| Farm: North Lea", "| Farm: South Lea"]


def test_a_cell_is_told_with_its_column_and_row() -> None:
    assert answer("Who owns Kiln Farm?", FARMS).text == "Owner, Kiln Farm: S. Pike."


def test_rows_that_the_question_tells_apart_are_told_apart() -> None:
    text = (
        "| run | workers | p95\n| run: a | workers: 8 | p95: 233\n| run: b | workers: 16 | p95: 270"
    )
    found = answer("is p95 lower with 8 or with 16 workers?", text)
    assert found.text == "p95, a, workers 8: 233; p95, b, workers 16: 270."


def test_where_no_column_is_meant_the_row_answers_whole() -> None:
    found = answer("Which month was the leap year?", COSTS)
    assert "pathfinder: 3,700" in found.text or found.result == "2024-03"


def test_too_many_cells_are_not_shown() -> None:
    rows = "\n".join(f"| Day: 2024-01-01 | Name: n{i} | Sacks: {10_000 + i}" for i in range(200))
    found = ask("How many sacks in total?", f"| Day | Name | Sacks\n{rows}")
    assert isinstance(found, TableRefusal)
    assert "200 rows fit, but an expression has at most" in found.reason


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("who owns it", Operation.LOOK_UP),
        ("what does soke mean", Operation.LOOK_UP),
        ("the mean yield", Operation.MEAN),
        ("how many more than 5", Operation.LOOK_UP),
        ("three largest farms", Operation.TOP),
        ("how many distinct owners", Operation.DISTINCT),
        ("in all", Operation.SUM),
        ("is it lower with 8 or with 16", Operation.LOOK_UP),
        ("the first ticket", Operation.EARLIEST),
    ],
)
def test_operations(text: str, operation: Operation) -> None:
    assert operation_of(text) is operation


def test_a_report_repeats_the_calculation() -> None:
    """The expression and the result are those that a report's own machinery accepts."""
    for question, text in (
        ("How many hectares do the farms of A. Bream lose?", FARMS),
        ("What is the average of hectares of farms?", FARMS),
        ("How much did pathfinder cost in the first quarter of 2024?", COSTS),
        ("How many days was ticket WB-1 open?", TICKETS),
    ):
        found = answer(question, text, "tickets")
        value = compute(found.expression).value
        assert comes_out(value, found.result)
        quoted = "\n".join(text[row.start : row.end] for row in found.rows)
        derived = Derivations(asked=quoted)
        made = Derivation(name="C1", expression=found.expression, result=found.result)
        assert derived.add(Ledger(), made, "2024-12-31"), derived.refused


# -- arithmetic

values = st.lists(
    st.decimals(0, 10_000, places=2, allow_nan=False, allow_infinity=False), min_size=2, max_size=12
)


def sheet(listed: list[Decimal]) -> Table:
    rows = tuple(Row((f"mill {i}x", f"{value:f}"), 0, 0) for i, value in enumerate(listed))
    return Table(("Mill", "Sacks"), (*rows, Row(("Total", "99999"), 0, 0)))


TOTAL = read_question("How many sacks in total?")
MEAN = read_question("What is the average of sacks?")
MOST = read_question("Which mill has the most sacks?")


@settings(deadline=None)
@given(values)
def test_sums_and_means_are_those_of_the_cells(listed: list[Decimal]) -> None:
    total, mean = answer_from(TOTAL, sheet(listed)), answer_from(MEAN, sheet(listed))
    assert isinstance(total, TableAnswer)
    assert isinstance(mean, TableAnswer)
    exact = sum(map(Fraction, listed), Fraction(0))
    assert compute(total.expression).value == exact
    assert compute(mean.expression).value == exact / len(listed)
    assert abs(Fraction(numbers(total.result)[0]) - exact) <= Fraction(1, 200)
    assert len(total.rows) == len(mean.rows) == len(listed)


@settings(deadline=None)
@given(values)
def test_the_highest_is_highest(listed: list[Decimal]) -> None:
    found = answer_from(MOST, sheet(listed))
    highest = max(listed)
    if isinstance(found, TableRefusal):
        assert listed.count(highest) > 1
        return
    assert found is not None
    assert f"(Sacks: {highest:f})" in found.result
    assert compute(found.expression).value == Fraction(highest)


@settings(deadline=None)
@given(values, st.integers(0, 10_000))
def test_counts_are_those_of_the_rows(listed: list[Decimal], limit: int) -> None:
    asked = read_question(f"How many mills have more than {limit} sacks?")
    found = answer_from(asked, sheet(listed))
    above = sum(value > limit for value in listed)
    if above:
        assert isinstance(found, TableAnswer)
        assert found.result == str(above)
    else:
        assert found is None
