"""Numbers: read as a person reads them, in figures and in words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.dates import dates
from deepdiver.core.numbers import ROUNDED_FROM, ROUNDED_TO, figures_in, is_rounded, number, numbers
from tests.core.texts import PHRASES, REPEATED, TEXTS, seconds_for_long_text

NUMBERS = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=2)


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

    def test_two_or_three_dots_stand_between_numbers(self) -> None:
        for dots in ("..", "...", "…"):
            assert numbers(f"a score of 0.5{dots}10.0 or 1{dots}5") == [
                Decimal("0.5"),
                Decimal("10.0"),
                Decimal(1),
                Decimal(5),
            ]

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


@pytest.mark.parametrize("part", REPEATED)
def test_long_texts_take_time_in_proportion(part: str) -> None:
    assert seconds_for_long_text(part, numbers) < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("上限は16384エントリーで、約160バイト", ["16384", "160"]),
        ("约有12个，共3.5米", ["12", "3.5"]),
        ("版は5.1より前", ["5.1"]),
        ("see read(2), printf(3p) and epoll_wait(2)", []),
        ("the reply (2) and the rows(12)", ["2", "12"]),
        ("Zero-emission cars, zero-trust and a zero-day", []),
        ("zero, and a two-year plan", ["0", "2"]),
    ],
)
def test_figures_beside_other_scripts_count_and_sections_of_manuals_do_not(
    text: str, expected: list[str]
) -> None:
    assert numbers(text) == [Decimal(value) for value in expected]


@pytest.mark.parametrize(
    ("said", "exact", "rounded"),
    [
        ("18700000", "18675000", True),
        ("12.5", "12.48", True),
        ("12.50", "12.48", False),
        ("-18.7", "-18.66", True),
        ("18600000", "18675000", False),
        ("19000000", "18675000", False),
        ("15000", "15168.5", False),
        ("2020", "2024", False),
        ("1230", "1234", False),
        ("101", "100.6", False),
        ("12.5", "12500000", False),
        ("0", "0.4", False),
    ],
)
def test_a_rounded_number_has_three_digits_and_is_no_count(
    said: str, exact: str, rounded: bool
) -> None:
    assert is_rounded(Decimal(said), Decimal(exact)) is rounded


@given(st.decimals(10_000, 10**9, places=2), st.integers(3, 6))
def test_what_is_rounded_to_three_digits_or_more_is_rounded(exact: Decimal, digits: int) -> None:
    said = Decimal(f"{exact:.{digits - 1}e}")
    if len(said.normalize().as_tuple().digits) >= ROUNDED_TO and said >= ROUNDED_FROM:
        assert is_rounded(said, exact)
        assert not is_rounded(said, exact * 2)


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("", []),
        ("Two records of 2024 agree, one of three on 3 May 2023.", []),
        ("It cost $1.2 million in 2024, 45% of 2,000 and of 2001.5.", [1_200_000, 45, 2001.5]),
        ("Two of 12 in read(2).", [12]),
    ],
)
def test_figures_are_neither_years_nor_counts_in_words(text: str, figures: list[float]) -> None:
    assert sorted(figures_in(text)) == sorted(Decimal(str(value)) for value in figures)
