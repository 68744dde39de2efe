"""Values: dates, numbers and names read as a person reads them, and sums that code repeats."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import Calculation
from deepdiver.core.values import MONTHS, Day, dated, dates, holds, names, number, numbers
from tests.patience import in_proportion

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
NUMBERS = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=2)
HOSTILE = "aBÅ 1290.,-−+/:T\n\u00a0\u2009’'&$kmMarchMay hundred-and two"
TEXTS = st.text(st.sampled_from(HOSTILE) | st.characters(exclude_categories=()), max_size=60)
WORDS = (
    "12 31 99 2014 2,000 0 may May March mar. of st Dr. J. Berg van der Ost AB two hundred and "
    "million - . ,"
).split()
PHRASES = st.lists(st.sampled_from([*WORDS, "\n\n"]), max_size=12).map(" ".join)


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


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("7", "7"),
            ("007", "7"),
            ("1,250", "1250"),
            ("1 250", "1250"),
            ("1\u00a0250", "1250"),
            ("1\u202f250", "1250"),
            ("1,250,000.75", "1250000.75"),
            ("12 345,67", "12345.67"),
            ("1.250.000", "1250000"),
            ("1.250.000,5", "1250000.5"),
            ("1.250", "1.250"),
            ("3.5", "3.5"),
            ("3,5", "3.5"),
            ("0,500", "0.5"),
            ("1111,222", "1111.222"),
            (".5", "0.5"),
            ("-5", "-5"),
            ("−5", "-5"),
            ("+5", "5"),
            (" 12 ", "12"),
            ("٣", "3"),
        ],
    )
    def test_are_read_as_written(self, text: str, value: str) -> None:
        assert number(text) == Decimal(value)
        assert numbers(f"There were {text.strip()} of them") == [Decimal(value)]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "twelve",
            "NaN",
            "Infinity",
            "-inf",
            "sNaN",
            "1e5",
            "0x10",
            "1_000",
            "--5",
            "5%",
            "1.2.3",
            "1,2,3",
            "12 years",
            "1 25",
        ],
    )
    def test_what_is_no_number_is_none(self, text: str) -> None:
        assert number(text) is None

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("15, 12 and 8", [15, 12, 8]),
            ("two or three, twenty-one, ninety nine", [2, 3, 21, 99]),
            ("Seventeen and seven and seventy", [17, 7, 70]),
            ("two hundred", [200]),
            ("a hundred and ten", [110]),
            ("three hundred and fifty thousand", [350_000]),
            ("two million three hundred thousand and five", [2_300_005]),
            ("twelve hundred", [1200]),
            (
                "5 million, 1.5 billion, 2-million, 3bn",
                [5_000_000, 1_500_000_000, 2_000_000, 3_000_000_000],
            ),
            ("$5m, €2.5m and £3k", [5_000_000, 2_500_000, 3_000]),
            ("a wave of 5 m, 5m deep, and $5 more", [5, 5, 5]),
            ("38 thousand", [38_000]),
            ("a ten-year-old and a 10-year-old", [10, 10]),
            ("from 2014-2015 and 5–6", [2014, 2015, 5, 6]),
            ("COVID-19 and A4 and 4x4", [19, 4]),
            ("on 12 March 2014 there were 3", [3]),
            ("in 2014 there were 250", [2014, 250]),
            ("Småten, someone, weight, tone, often", []),
            ("the 3rd of 1st", [3, 1]),
            ("-5 to −3 degrees", [-5, -3]),
            ("It ended in 1999.", [1999]),
            ("zero", [0]),
            ("TWENTY", [20]),
            ("one\n\nhundred", [1, 100]),
        ],
    )
    def test_of_a_text(self, text: str, values: list[int]) -> None:
        assert numbers(text) == values

    @given(NUMBERS)
    def test_any_number_is_read_however_it_is_grouped(self, value: Decimal) -> None:
        for text in (
            f"{value}",
            f"{value:,}",
            f"{value:,}".replace(",", "\u00a0"),
            f"{value}".replace(".", ","),
        ):
            assert number(text) == value, text

    @given(st.integers(0, 999_999))
    def test_any_number_in_words_is_the_number(self, value: int) -> None:
        assert numbers(f"about {spelled(value)} people") == [value]
        assert numbers(f"{spelled(value, dash=' ')} ships") == [value]

    @given(TEXTS | PHRASES)
    def test_no_text_is_too_strange(self, text: str) -> None:
        assert all(value.is_finite() for value in numbers(text))
        assert number(text) is None or number(text) in numbers(text) or dates(text)

    def test_a_number_of_ten_thousand_digits(self) -> None:
        assert number("9" * 10_000) == Decimal("9" * 10_000)
        assert len(numbers("9" * 10_000 + " million")) == 1


def spelled(value: int, dash: str = "-") -> str:
    """Write a number in words."""
    units = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen "
        "seventeen eighteen nineteen"
    ).split()
    tens = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
    if value < 20:
        return units[value]
    if value < 100:
        return tens[value // 10] + (dash + units[value % 10] if value % 10 else "")
    if value < 1_000:
        return (
            units[value // 100]
            + " hundred"
            + (f" and {spelled(value % 100, dash)}" if value % 100 else "")
        )
    rest = value % 1_000
    joint = " and " if 0 < rest < 100 else " "
    return (
        spelled(value // 1_000, dash) + " thousand" + (joint + spelled(rest, dash) if rest else "")
    )


class TestNames:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("We met Anna Berg in Oslo.", ["Anna Berg", "Oslo"]),
            ("He lives in Stockholm. Karin lives in Oslo.", ["Stockholm", "Oslo"]),
            ("The company is Svedjan Ost AB.", ["Svedjan Ost AB"]),
            ("Dr. Anna Berg and Prof. Holm met Mayor Lind.", ["Anna Berg", "Holm", "Lind"]),
            (
                "It was J. R. R. Tolkien, not J.R.R. Tolkien or A. Berg.",
                ["J. R. R. Tolkien", "J.R.R. Tolkien", "A. Berg"],
            ),
            (
                "She saw Ludwig van der Rohe at the Bank of Sweden.",
                ["Ludwig van der Rohe", "Bank of Sweden"],
            ),
            ("They shop at Marks & Spencer.", ["Marks & Spencer"]),
            ("He saw Karin's farm and the Joneses' car.", ["Karin", "Joneses"]),
            ("He saw Karin’s farm.", ["Karin"]),
            ("They met O'Brien and Jean-Luc.", ["O'Brien", "Jean-Luc"]),
            (
                "Then Łukasz Żak met Čapek and Анна Каренина.",
                ["Łukasz Żak", "Čapek", "Анна Каренина"],
            ),
            ("The ferry of Åland and Örebro.", ["Åland", "Örebro"]),
            ("Karin\nBerg runs Svedjan\nOst AB.", ["Karin Berg", "Svedjan Ost AB"]),
            ("In March Karin Berg left. On Monday Anna Holm came.", ["Karin Berg", "Anna Holm"]),
            ("Yesterday Karin Berg spoke. Two Swedish ferries sank.", ["Karin Berg", "Swedish"]),
            ("I think I'm in the U.S. now.", ["U.S."]),
            ("In St. Petersburg it snowed.", ["St. Petersburg"]),
            ("# Nickel in the lake\nKarin Berg said so.", ["Karin Berg"]),
            ("# Svedjan Ost\nKarin left.", ["Svedjan Ost"]),
            ("He said “Karin left” and went.", []),
            ("Karin Berg met Karin Berg.", ["Karin Berg"]),
            ("Nobody was hurt. Nothing happened.", []),
            ("", []),
            ("漢字の名前。", []),
        ],
    )
    def test_of_a_text(self, text: str, expected: list[str]) -> None:
        assert names(text) == expected

    @given(TEXTS | PHRASES)
    def test_stand_in_the_text_with_a_capital(self, text: str) -> None:
        whole = " ".join(text.split())
        found = names(text)
        assert len(set(found)) == len(found)
        for name in found:
            assert name
            assert name in whole or name.rstrip("'’-") in whole
            assert any(char.isupper() for char in name)

    def test_never_cross_the_end_of_a_paragraph(self) -> None:
        assert names("They met Anna\n\nBerg was there too, said Holm.") == ["Anna", "Holm"]


class TestSums:
    @pytest.mark.parametrize(
        ("kind", "inputs", "result"),
        [
            ("years", ("2014-03-12", "2026-11-15"), "12"),
            ("years", ("2014-03-12", "2026-03-12"), "12"),
            ("years", ("2014-03-12", "2026-03-11"), "11"),
            ("years", ("2012-02-29", "2026-02-28"), "13"),
            ("years", ("2012-02-29", "2026-03-01"), "14"),
            ("years", ("2012-02-29", "2024-02-29"), "12"),
            ("years", ("2020-01-01", "2020-01-01"), "0"),
            ("days", ("2024-02-28", "2024-03-01"), "2"),
            ("days", ("2023-02-28", "2023-03-01"), "1"),
            ("days", ("2023-03-01", "2023-02-28"), "1"),
            ("difference", ("45", "38"), "7"),
            ("difference", ("38", "45"), "-7"),
            ("difference", ("1,250", "3,5"), "1246.5"),
            ("sum", ("0.1", "0.2"), "0.3"),
            ("sum", ("12",), "12"),
            ("sum", ("1 250", "1,250"), "2500"),
            ("sum", ("9" * 40, "1"), "1" + "0" * 40),
            ("count", ("Alma", "Hjalmar", "Siri"), "3"),
            ("count", ("12", "12"), "2.0"),
        ],
    )
    def test_that_come_out(self, kind: Any, inputs: tuple[str, ...], result: str) -> None:
        assert holds(Calculation(kind=kind, inputs=inputs, result=result))

    @pytest.mark.parametrize(
        ("kind", "inputs", "result"),
        [
            ("years", ("2014-03-12", "2026-11-15"), "13"),
            ("years", ("2014-03-12",), "12"),
            ("years", ("2014-03-12", "2026-11-15", "2026-11-15"), "12"),
            ("years", ("2014", "2026"), "12"),
            ("years", ("12 March 2014", "15 November 2026"), "12"),
            ("years", ("2023-02-29", "2026-11-15"), "3"),
            ("years", ("", ""), "0"),
            ("years", (), "0"),
            ("days", ("2024-02-28", "2024-03-01"), "1"),
            ("days", ("yesterday", "today"), "1"),
            ("difference", ("45", "38"), "8"),
            ("difference", ("45",), "45"),
            ("difference", ("45", "38", "1"), "7"),
            ("difference", ("many", "few"), "7"),
            ("sum", ("0.1", "0.2"), "0.30000000000000004"),
            ("sum", (), "0"),
            ("sum", ("NaN",), "NaN"),
            ("sum", ("Infinity", "1"), "Infinity"),
            ("sum", ("1e999999999", "1e999999999"), "2e999999999"),
            ("sum", ("1" + "0" * 40, "1"), "1" + "0" * 40),
            ("sum", ("1", "two"), "3"),
            ("count", (), "0"),
            ("count", ("Alma", "Siri"), "3"),
            ("count", ("Alma", "Siri"), "two"),
            ("count", ("Alma",), ""),
        ],
    )
    def test_that_do_not(self, kind: Any, inputs: tuple[str, ...], result: str) -> None:
        assert not holds(Calculation(kind=kind, inputs=inputs, result=result))

    KINDS = get_args(Calculation.model_fields["kind"].annotation)

    @given(
        st.sampled_from(KINDS),
        st.lists(TEXTS | st.sampled_from(["1", "2020-01-01", "sNaN"]), max_size=3),
        TEXTS,
    )
    def test_no_input_is_too_strange(self, kind: Any, inputs: list[str], result: str) -> None:
        sum_ = Calculation(kind=kind, inputs=tuple(inputs), result=result)
        assert not holds(sum_) or (inputs and number(result) is not None)

    @given(st.lists(NUMBERS, min_size=1, max_size=5))
    def test_a_sum_is_the_sum(self, values: list[Decimal]) -> None:
        texts = tuple(map(str, values))
        assert holds(Calculation(kind="sum", inputs=texts, result=str(sum(values))))
        assert not holds(
            Calculation(kind="sum", inputs=texts, result=str(sum(values) + Decimal("0.01")))
        )

    @given(NUMBERS, NUMBERS)
    def test_a_difference_and_a_sum_undo_each_other(self, one: Decimal, other: Decimal) -> None:
        assert holds(
            Calculation(kind="difference", inputs=(str(one), str(other)), result=str(one - other))
        )
        assert holds(
            Calculation(kind="sum", inputs=(str(one - other), str(other)), result=str(one))
        )

    @given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(0, 40_000))
    def test_an_age_grows_on_the_birthday_and_on_no_other_day(self, born: date, lived: int) -> None:
        day = born + timedelta(days=lived)
        (age,) = [
            n
            for n in range(120)
            if holds(Calculation(kind="years", inputs=(str(born), str(day)), result=str(n)))
        ]
        before = [(y, born.month, born.day) for y in range(born.year + 1, day.year + 1)]
        assert age == sum(birthday <= (day.year, day.month, day.day) for birthday in before)
        assert holds(Calculation(kind="days", inputs=(str(born), str(day)), result=str(lived)))


LONG = {
    "dates": "2014-01-01 ",
    "stopwords": "The ",
    "number words": "two hundred and ",
    "digits": "9",
    "groups": ",111",
    "initials": "A.",
    "days without a month": "12 ",
    "particles": " of",
    "month names": "May ",
    "spaces": " ",
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts_take_time_in_proportion(name: str) -> None:
    text = "A1" + LONG[name] * (100_000 // len(LONG[name]))
    with in_proportion():
        dates(text)
        numbers(text)
        names(text)
