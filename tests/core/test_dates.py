"""Dates: read as a person reads them, and never more precise than the text."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import MONTHS, Day, dated, dates
from deepdiver.core.numbers import numbers
from tests.core.texts import PHRASES, REPEATED, TEXTS, seconds_for_long_text

DAY = Day(2014, 3, 12)
DATES = st.dates(date(1000, 1, 1))
LONG_NAMES = {n: name for name, n in reversed(MONTHS.items())}
FORMATS = (
    "{d} {month} {y}",
    "{d:02d} {month} {y}",
    "{d}th {month} {y}",
    "{d} of {month}, {y}",
    "{month} {d}, {y}",
    "{month} {d} {y}",
    "{y:04d}-{m:02d}-{d:02d}",
    "{y:04d}/{m:02d}/{d:02d}",
    "{d:02d}.{m:02d}.{y}",
    "{d}\n{month} {y}",
    "{d}\u00a0{month}\u00a0{y}",
)


class TestDates:
    @pytest.mark.parametrize(
        "text",
        [
            "12 March 2014",
            "12 Mar 2014",
            "12 Mar. 2014",
            "12 MARCH 2014",
            "12 march 2014",
            "12th March 2014",
            "12th of March, 2014",
            "March 12, 2014",
            "March 12th, 2014",
            "Mar. 12 2014",
            "2014-03-12",
            "2014-03-12T10:00:00Z",
            "2014/03/12",
            "2014/3/12",
            "12.03.2014",
            "12.3.2014",
            "12\nMarch 2014",
            "12 March\n  2014",
            "12\u00a0March\u00a02014",
            "born 12 March 2014, in Ost",
            "(12 March 2014)",
        ],
    )
    def test_in_many_forms(self, text: str) -> None:
        assert dates(text) == [DAY]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("March 2014", [Day(2014, 3)]),
            ("2014-03", [Day(2014, 3)]),
            ("12 March", [Day(0, 3, 12)]),
            ("March 12", [Day(0, 3, 12)]),
            ("on 1 May and 2 May 2020", [Day(0, 5, 1), Day(2020, 5, 2)]),
            ("29 February", [Day(0, 2, 29)]),
            ("29 February 2024", [Day(2024, 2, 29)]),
            ("Sept. 3, 2020; 3 Sep 2020", [Day(2020, 9, 3), Day(2020, 9, 3)]),
            ("between 2020-01-05 and 6 January 2020", [Day(2020, 1, 5), Day(2020, 1, 6)]),
            ("on 12 March. 2014 people came", [Day(0, 3, 12)]),
            ("February to April 2027", [Day(2027, 2), Day(2027, 4)]),
            ("in May and June 2021", [Day(2021, 5), Day(2021, 6)]),
            (
                "Feb.–Apr. 2027; March/April 2020",
                [Day(2027, m) for m in (2, 4)] + [Day(2020, 3), Day(2020, 4)],
            ),
            ("it may or March 2024 will tell", [Day(2024, 3)]),
            ("from March to 2024", []),
        ],
    )
    def test_are_as_precise_as_the_text(self, text: str, expected: list[Day]) -> None:
        assert dates(text) == expected

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "2014",
            "the 20 may be lost",
            "3 march on the capital",
            "may 5 people come",
            "12 Marching bands",
            "2025-13-01",
            "2025-00-10",
            "2025-02-30",
            "0000-01-01",
            "99.99.2014",
            "2025/13/40",
            "May 10,000 people",
            "32 people in a decade",
            "12\n\nMarch",
            "1234567-01-012",
            "version 1.2.3",
        ],
    )
    def test_are_not_seen_where_there_are_none(self, text: str) -> None:
        assert dates(text) == []

    @pytest.mark.parametrize(
        "text",
        ["31 April 2025", "29 February 2023", "April 31, 2025", "0 April 2025", "99 April 2025"],
    )
    def test_a_day_that_does_not_exist_is_not_read(self, text: str) -> None:
        assert all(day.day == 0 and day.year in (2023, 2025) for day in dates(text))
        assert int(
            text.split()[0] if text[0].isdigit() else text.split()[1].rstrip(",")
        ) in numbers(text)

    @given(DATES, st.sampled_from(FORMATS))
    def test_every_day_can_be_read_in_every_form(self, day: date, form: str) -> None:
        text = form.format(
            y=day.year, m=day.month, d=day.day, month=LONG_NAMES[day.month].capitalize()
        )
        assert dates(f"It was on {text} that it happened.") == [Day(day.year, day.month, day.day)]

    @given(TEXTS | PHRASES)
    def test_lie_in_the_text_in_order_and_exist(self, text: str) -> None:
        end = 0
        for day, start, stop in dated(text):
            assert end <= start < stop <= len(text)
            end = stop
            assert 1 <= day.month <= 12
            assert Day(day.year or 2000, day.month, day.day or 1).exact() is not None
        assert dates(text) == [day for day, _, _ in dated(text)]


@pytest.mark.parametrize("text", ["on 3 May 1911", f"on 3 May 1911{' ' * 2_000}"])
def test_what_is_remembered_is_not_changed_by_those_who_asked(text: str) -> None:
    first = dated(text)
    first.clear()
    assert dated(text) == [(Day(1911, 5, 3), 3, 13)]


class TestDay:
    def test_covers_what_it_says(self) -> None:
        for other in (DAY, Day(2014, 3), Day(2014), Day(0, 3, 12), Day(0, 3), Day()):
            assert DAY.covers(other)

    def test_does_not_cover_what_it_does_not_say(self) -> None:
        for other in (Day(2014, 3, 13), Day(2014, 4), Day(2015), Day(0, 4), Day(2015, 3, 12)):
            assert not DAY.covers(other)
        assert not Day(2014, 3).covers(DAY)
        assert not Day(2014).covers(Day(2014, 3))
        assert not Day().covers(Day(2014))

    PARTS = st.builds(
        Day,
        st.sampled_from([0, 2013, 2014]),
        st.sampled_from([0, 3, 4]),
        st.sampled_from([0, 12, 13]),
    )

    @given(PARTS, PARTS, PARTS)
    def test_covering_is_an_order(self, one: Day, other: Day, third: Day) -> None:
        assert one.covers(one)
        if one.covers(other) and other.covers(one):
            assert one == other
        if one.covers(other) and other.covers(third):
            assert one.covers(third)

    @pytest.mark.parametrize(
        ("day", "iso"),
        [
            (DAY, "2014-03-12"),
            (Day(2014, 3), "2014-03"),
            (Day(2014), "2014"),
            (Day(0, 3, 12), "--03-12"),
            (Day(987, 1, 2), "0987-01-02"),
        ],
    )
    def test_iso_form_is_as_long_as_it_is_known(self, day: Day, iso: str) -> None:
        assert day.iso() == iso

    @given(DATES)
    def test_iso_form_and_calendar_agree(self, day: date) -> None:
        made = Day(day.year, day.month, day.day)
        assert made.iso() == day.isoformat()
        assert made.exact() == day
        assert dates(made.iso()) == [made]

    @pytest.mark.parametrize(
        "day", [Day(), Day(2014), Day(2014, 3), Day(0, 3, 12), Day(2023, 2, 29), Day(2014, 13, 1)]
    )
    def test_what_is_not_known_to_the_day_is_no_calendar_date(self, day: Day) -> None:
        assert day.exact() is None


@pytest.mark.parametrize("part", REPEATED)
def test_long_texts_take_time_in_proportion(part: str) -> None:
    assert seconds_for_long_text(part, dates) < 10
