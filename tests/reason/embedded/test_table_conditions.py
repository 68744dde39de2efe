"""A question names columns by their words, and rows by values, bounds, dates, yes and no."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import Day
from deepdiver.reason.embedded.table_conditions import Named, Period, is_within, period_of
from deepdiver.reason.embedded.table_rows import Row, Table


def made(columns: str, *rows: str, title: str = "") -> Table:
    return Table(
        tuple(columns.split("|")), tuple(Row(tuple(r.split("|")), 0, 0) for r in rows), title
    )


TICKETS = made(
    "id|title|assignee|priority|urgent|created|closed|hours",
    "WB-1|Batch returns an error|Ada Berg|P1|yes|2024-01-05|2024-01-09|4",
    "WB-2|Typo on the page|Ada Berg|P2|no|2024-02-05||12",
    "WB-3|Error in the log|Tom Vale|P1|yes|2024-02-07|2024-03-01|30",
    "Total|||||||46",
    title="Tickets of 2024",
)


def rows_of(question: str, table: Table = TICKETS) -> dict[str, list[int]]:
    named = Named(question, table)
    return {table.columns[one.column]: sorted(one.rows) for one in named.conditions}


@pytest.mark.parametrize("question", ["", "?", "who is she", "the weather of Lund", "12"])
def test_what_names_nothing_has_no_condition(question: str) -> None:
    named = Named(question, TICKETS)
    assert named.conditions == []
    assert named.columns == {}
    assert named.coverage() == 0


@pytest.mark.parametrize(
    ("question", "conditions"),
    [
        ("Who has WB-2?", {"id": [1]}),
        ("what does ada berg do", {"assignee": [0, 1]}),
        ("tickets of Berg", {"assignee": [0, 1]}),
        ("all P1 tickets", {"priority": [0, 2]}),
        ("P1 tickets of Tom Vale", {"priority": [0, 2], "assignee": [2]}),
        ("the ticket on the batch returns", {"title": [0]}),
        ("tickets with more than 10 hours", {"hours": [1, 2]}),
        ("tickets with at most 12 hours", {"hours": [0, 1]}),
        ("tickets created in February 2024", {"created": [1, 2]}),
        ("tickets created before 6 February 2024", {"created": [0, 1]}),
        ("tickets created after 5 February 2024", {"created": [2]}),
        ("tickets created since 5 February 2024", {"created": [1, 2]}),
        ("urgent tickets", {"urgent": [0, 2]}),
        ("tickets that are not urgent", {"urgent": [1]}),
        ("open tickets", {"closed": [1, 3]}),
    ],
)
def test_conditions(question: str, conditions: dict[str, list[int]]) -> None:
    assert rows_of(question) == conditions


def test_a_number_counts_only_beside_its_column() -> None:
    table = made("run|workers|errors", "a|8|1", "b|16|8")
    assert rows_of("the errors with 8 workers", table) == {"workers": [0]}
    assert len(Named("is it faster with 8 or with 16 workers", table).conditions) == 2
    assert rows_of("all 8 of them", table) == {}


def test_a_common_word_is_no_part_of_a_cell() -> None:
    assert rows_of("is there an error") == {}


def test_a_whole_cell_is_surer_than_a_part_of_another() -> None:
    table = made("name|remark", "Shore|sold to Heron", "Heron|none")
    assert rows_of("who owns Heron", table) == {"name": [1]}


def test_longer_words_beat_shorter_ones() -> None:
    table = made("farm|owner", "Upper Marsh Farm|Bream", "Marsh|Tuck")
    assert rows_of("the owner of Upper Marsh Farm", table) == {"farm": [0]}


def test_a_total_is_no_row() -> None:
    assert 3 not in rows_of("more than 10 hours")["hours"]


def test_a_period_that_no_row_has_excludes_them_all() -> None:
    assert rows_of("tickets created in 2019") == {"created": []}


def test_a_period_of_the_title_excludes_none() -> None:
    table = made("ward|checked", "A|2023-03-01", title="Count of 1999")
    assert rows_of("wards in 1999", table) == {}


def test_two_date_columns_may_both_be_meant() -> None:
    assert rows_of("tickets in January 2024") == {"created": [0], "closed": [0]}


def test_columns_by_half_of_their_words() -> None:
    table = made("Planned EUR|Actual EUR|lowest_flow_m3_s", "1|2|3")
    assert list(Named("what was planned", table).columns) == [0]
    assert list(Named("the actual EUR", table).columns) == [0, 1]
    assert list(Named("the lowest flow", table).columns) == [2]


def test_coverage_counts_title_columns_and_conditions() -> None:
    named = Named("How many hours did Ada Berg need for the tickets in Lund?", TICKETS)
    assert named.coverage() == pytest.approx(3 / 5)
    assert named.unexplained() == ["need", "Lund"]


def test_names_and_numbers_that_nothing_explains() -> None:
    named = Named("Did Ada Berg need 12 hours for WB-9 in Lund?", TICKETS)
    assert named.unexplained_names() == ["WB-9", "Lund"]


def test_an_abbreviated_column_is_named_by_the_whole_word() -> None:
    table = made("Day|Max temp C|Wind", "1|21|weak", "2|25|weak")
    assert list(Named("the temperature", table).columns) == [1]
    assert Named("the temperature", table).said_of(1) == {"temp"}
    assert list(Named("the temples", table).columns) == []


def test_a_small_word_before_a_value_tells_its_column() -> None:
    table = made("From|To", "Oslo|Lund", "Lund|Oslo")
    assert rows_of("all from Oslo", table) == {"From": [0]}
    assert rows_of("all of Oslo", table) == {"From": [0], "To": [1]}


def test_free_columns_are_asked_for_their_own_sake() -> None:
    named = Named("How many hours did tickets with priority P1 take?", TICKETS)
    assert named.free_columns() == [7]
    assert named.share_said(7) == 1


# -- periods


@pytest.mark.parametrize("text", ["", "may it be", "in the spring", "room 12345", "v2.1"])
def test_no_period(text: str) -> None:
    assert period_of(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in 2019", Day(2019), Day(2019)),
        ("in March 2019", Day(2019, 3), Day(2019, 3)),
        ("on 5 March 2019", Day(2019, 3, 5), Day(2019, 3, 5)),
        ("on 23 December", Day(0, 12, 23), Day(0, 12, 23)),
        ("first quarter of 2024", Day(2024, 1), Day(2024, 3)),
        ("Q4 2024", Day(2024, 10), Day(2024, 12)),
        ("2024 Q2", Day(2024, 4), Day(2024, 6)),
        ("second half of 2024", Day(2024, 7), Day(2024, 12)),
        ("from 2016 to 2018", Day(2016), Day(2018)),
        ("between March 2016 and May 2016", Day(2016, 3), Day(2016, 5)),
        ("before 2020", Day(), Day(2019)),
        ("before 1 March 2020", Day(), Day(2020, 2)),
        ("until 2020", Day(), Day(2020)),
        ("after 2020", Day(2021), Day(9999, 12, 31)),
        ("since May 2020", Day(2020, 5), Day(9999, 12, 31)),
    ],
)
def test_periods(text: str, first: Day, last: Day) -> None:
    found = period_of(text)
    assert found is not None
    assert (found.first, found.last) == (first, last)


days = st.dates(date(1900, 1, 1), date(2099, 12, 31))


def as_day(day: date) -> Day:
    return Day(day.year, day.month, day.day)


@given(days, days)
def test_before_and_after_are_what_the_calendar_says(day: date, edge: date) -> None:
    for word, expected in (("before", day < edge), ("after", day > edge), ("since", day >= edge)):
        period = period_of(f"all {word} {edge.isoformat()}")
        assert period is not None
        assert period.has(as_day(day)) is expected


@given(days)
def test_a_day_is_in_its_month_and_year(day: date) -> None:
    for text in (f"{day:%Y}", f"{day:%Y-%m}", f"{day:%Y-%m-%d}"):
        period = period_of(text)
        assert period is not None
        assert period.has(as_day(day))
        assert not period.has(as_day(day + timedelta(days=366)))


@given(days)
def test_every_day_is_in_one_quarter_and_half(day: date) -> None:
    quarters = [period_of(f"Q{number} {day.year}") for number in range(1, 5)]
    halves = [period_of(f"H{number} {day.year}") for number in range(1, 3)]
    for periods in (quarters, halves):
        assert sum(period.has(as_day(day)) for period in periods if period) == 1


def test_a_month_is_not_within_a_day() -> None:
    assert not Period(Day(2024, 1, 5), Day(2024, 1, 5), 0, 0).has(Day(2024, 1))
    assert Period(Day(2024), Day(2024), 0, 0).has(Day(2024, 1))


numbers = st.decimals(-1000, 1000, places=1)


@given(numbers, numbers)
def test_bounds(value: Decimal, limit: Decimal) -> None:
    assert is_within(value, "at least", limit) is (value >= limit)
    assert is_within(value, "at most", limit) is (value <= limit)
    assert is_within(value, "more than", limit) is (value > limit)
    assert is_within(value, "below", limit) is (value < limit)


@given(st.text(max_size=200))
def test_whatever_is_asked_is_no_error(question: str) -> None:
    named = Named(question, TICKETS)
    assert 0 <= named.coverage() <= 1
    assert all(number < 4 for one in named.conditions for number in one.rows)
