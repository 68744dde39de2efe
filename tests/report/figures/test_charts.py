"""Charts: every value is printed with its citation, and the same report gives the same bytes."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import Day
from deepdiver.core.record import Block
from deepdiver.report.figures import charts
from deepdiver.report.figures.charts import draw_charts, nice_steps, ordinal
from deepdiver.report.figures.svg import WIDTH, Picture
from tests.report.figures.tables import EVENTS, PEOPLE, YEARS, name, report_of, table, value


def drawn(block: Block, said: str = "") -> Picture:
    made = report_of(block, said=said) if said else report_of(block)
    ((picture,),) = draw_charts(made)[0].values()
    return picture


def texts(picture: Picture) -> list[str]:
    root = ET.fromstring(picture.inline())  # noqa: S314 - our own drawing
    return ["".join(item.itertext()) for item in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_report_without_tables_has_no_charts() -> None:
    assert not any(draw_charts(report_of()))
    text = Block(kind="paragraph", rows=((value("120"),),))
    assert draw_charts(report_of(text)) == [{}]


@pytest.mark.parametrize("block", [PEOPLE, YEARS, EVENTS])
def test_the_same_report_gives_the_same_bytes_within_its_frame(block: Block) -> None:
    picture = drawn(block)
    assert picture == drawn(block)
    for x in re.findall(r'\bx="([-\d.]+)"', picture.body):
        assert 0 <= float(x) <= WIDTH
    for y in re.findall(r'\by="([-\d.]+)"', picture.body):
        assert 0 <= float(y) <= picture.height


@pytest.mark.parametrize("block", [PEOPLE, YEARS, EVENTS])
def test_everything_that_is_drawn_leads_to_its_citation(block: Block) -> None:
    picture = drawn(block)
    assert picture.body.count('href="#c1"') >= 3
    assert picture.text.count("[1]") == 3


def test_bars_are_as_long_as_their_values() -> None:
    picture = drawn(PEOPLE)
    wide = [
        float(w)
        for w in re.findall(r'class="p-news"[^>]*width="([\d.]+)" height="14"', picture.body)
    ]
    assert wide[0] == pytest.approx(3 * wide[2], rel=0.01)
    assert wide[1] == pytest.approx(2 * wide[2], rel=0.01)
    assert {"Ard", "Bo", "Cal", "120 [1]", "80 [1]", "40 [1]"} <= set(texts(picture))
    assert picture.title == "people by town"
    assert picture.text == "Ard: 120 [1]; Bo: 80 [1]; Cal: 40 [1]."


def test_a_loss_goes_to_the_left_of_zero() -> None:
    rows = [(name("a"), value("-5")), (name("b"), value("10")), (name("c"), value("5"))]
    picture = drawn(table(("x", "y"), *rows), said="-5, 10 and 5")
    starts = [float(x) for x in re.findall(r'<rect class="p-news" x="([\d.]+)"', picture.body)]
    assert starts[0] < starts[1] == starts[2]


def test_values_that_are_all_zero_can_be_drawn() -> None:
    rows = [(name(label), value("0")) for label in "abc"]
    assert "0 [1]" in texts(drawn(table(("x", "y"), *rows), said="0 and 0"))


def test_a_line_has_a_point_for_each_row_and_its_axis_begins_at_zero() -> None:
    picture = drawn(YEARS)
    assert picture.body.count("<circle") == 3
    assert {"2021", "2022", "2023", "0", "30", "10 t [1]", "25 t [1]"} <= set(texts(picture))
    assert "p-line" in picture.body


def test_events_keep_apart_however_near_they_are() -> None:
    rows = [(value(f"2001-02-0{day}"), value("closed")) for day in (3, 4, 5)]
    picture = drawn(table(("when", "what"), *rows), said="2001-02-03, 2001-02-04, 2001-02-05")
    heights = [
        float(y) for y in re.findall(r'class="p-ink p-b" x="[\d.]+" y="([\d.]+)"', picture.body)
    ]
    assert len(heights) == 3
    assert all(later - sooner >= 30 for sooner, later in pairwise(heights))


def test_a_hostile_name_is_text() -> None:
    rows = [(name(f"<script>{at}</script>"), value("120")) for at in range(3)]
    assert "<script" not in drawn(table(("<b>", "<i>"), *rows)).inline()


HUNDREDTHS = st.integers(-(10**11), 10**11).map(lambda number: number / 100)


@given(HUNDREDTHS, HUNDREDTHS)
def test_steps_enclose_what_they_are_for(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    steps = nice_steps(low, high)
    slack = 1e-6 * max(abs(low), abs(high), 1e-300) + 1e-9 * (high - low)
    assert steps[0] <= low + slack
    assert steps[-1] >= high - slack
    assert 2 <= len(steps) <= 10
    assert all(math.isfinite(step) for step in steps)


def test_a_month_begins_on_its_first_day_and_a_day_that_is_not_there_does_no_harm() -> None:
    assert ordinal(Day(2026, 3)) == ordinal(Day(2026, 3, 1)) == ordinal(Day(2026, 2, 29))
    assert ordinal(Day(2026)) == ordinal(Day(2026, 1, 1))


@pytest.mark.parametrize(
    ("heights", "place", "nth", "above"),
    [
        ((50, 20), 0, 0, False),  # it rises from its first point
        ((20, 50), 0, 0, True),
        ((20, 50), 0, 1, True),
        ((50, 20, 50), 1, 1, True),  # a peak
        ((20, 50, 20), 1, 0, False),  # a trough
        ((50, 40, 30), 1, 0, True),  # a slope
        ((50, 40, 30), 1, 1, False),
        ((40, 40, 40), 1, 0, True),  # level
        ((40, 40, 40), 1, 1, False),
    ],
)
def test_a_value_stands_where_its_line_does_not_go(
    heights: tuple[float, ...], place: int, nth: int, above: bool
) -> None:
    points = [(100.0 * at, y) for at, y in enumerate(heights)]
    _, y, anchor = charts._beside(points, place, nth)
    assert (y < heights[place]) is above
    assert anchor == ("middle" if place else "start")


def test_the_last_value_stands_to_the_right_of_its_line() -> None:
    assert charts._beside([(0, 5.0), (100.0, 40.0)], 1, 0) == (109, 44, "start")
