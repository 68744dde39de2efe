"""Calculations: code repeats them, and nothing strange gets through."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.calculation import is_correct
from deepdiver.core.numbers import number
from deepdiver.core.record import Calculation
from tests.core.texts import TEXTS

NUMBERS = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=2)
DATES = st.dates(date(1000, 1, 1))


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
        assert is_correct(Calculation(kind=kind, inputs=inputs, result=result))

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
        assert not is_correct(Calculation(kind=kind, inputs=inputs, result=result))

    KINDS = get_args(Calculation.model_fields["kind"].annotation)

    @given(
        st.sampled_from(KINDS),
        st.lists(TEXTS | st.sampled_from(["1", "2020-01-01", "sNaN"]), max_size=3),
        TEXTS,
    )
    def test_no_input_is_too_strange(self, kind: Any, inputs: list[str], result: str) -> None:
        sum_ = Calculation(kind=kind, inputs=tuple(inputs), result=result)
        assert not is_correct(sum_) or (inputs and number(result) is not None)

    @given(st.lists(NUMBERS, min_size=1, max_size=5))
    def test_a_sum_is_the_sum(self, values: list[Decimal]) -> None:
        texts = tuple(map(str, values))
        assert is_correct(Calculation(kind="sum", inputs=texts, result=str(sum(values))))
        assert not is_correct(
            Calculation(kind="sum", inputs=texts, result=str(sum(values) + Decimal("0.01")))
        )

    @given(NUMBERS, NUMBERS)
    def test_a_difference_and_a_sum_undo_each_other(self, one: Decimal, other: Decimal) -> None:
        assert is_correct(
            Calculation(kind="difference", inputs=(str(one), str(other)), result=str(one - other))
        )
        assert is_correct(
            Calculation(kind="sum", inputs=(str(one - other), str(other)), result=str(one))
        )

    @given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(0, 40_000))
    def test_an_age_grows_on_the_birthday_and_on_no_other_day(self, born: date, lived: int) -> None:
        day = born + timedelta(days=lived)
        (age,) = [
            n
            for n in range(120)
            if is_correct(Calculation(kind="years", inputs=(str(born), str(day)), result=str(n)))
        ]
        before = [(y, born.month, born.day) for y in range(born.year + 1, day.year + 1)]
        assert age == sum(birthday <= (day.year, day.month, day.day) for birthday in before)
        assert is_correct(Calculation(kind="days", inputs=(str(born), str(day)), result=str(lived)))
