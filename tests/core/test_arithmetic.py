"""Arithmetic of reports: what is refused first, then what comes out."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.arithmetic import (
    DEEPEST,
    LONGEST,
    NEARLY,
    ArithmeticFaultError,
    comes_out,
    compute,
    rounding_of,
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the end stands"),
        ("   ", "the end stands"),
        ("1 +", "the end stands"),
        ("1 2", "2 stands where"),
        ("(1, 2)", ", stands where"),
        ("1 + * 2", "stands where"),
        ("(1 + 2", "the end stands"),
        ("1 + 2)", "stands where"),
        ("1 / 0", "divides by zero"),
        ("ratio(1, 0)", "divides by zero"),
        ("change(0, 5)", "divides by zero"),
        ("ratio(1, 2, 3)", "takes two"),
        ("mean()", "stands where"),
        ("sqrt(4)", "no function sqrt"),
        ("C9 + 1", "no calculation C9"),
        ("__import__('os')", "is not arithmetic"),
        ("2 ** 9999", "stands where"),
        ("2 ^ 3", "is not arithmetic"),
        ("1e9", "e9 stands"),
        ("9" * 50, "too large"),
        ("1+" * LONGEST, "at most"),
        ("(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1), "nested more"),
        ("x" * 40, "no calculation"),
        ("years(2011-03-14)", "stands where"),
        ("years(2011-03-14, 12)", "stands where"),
        ("years(2011-02-30, 2026-11-16)", "is not a date"),
        ("2011-03-14 + 1", "stands where"),
    ],
)
def test_what_is_not_arithmetic_is_refused(text: str, why: str) -> None:
    with pytest.raises(ArithmeticFaultError, match=why.replace("(", r"\(").replace("*", r"\*")):
        compute(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("(0.15*100+0.25*135+0.10*95)/(100+135+95) = 58.25/330", "17.7%"),
        ("(15% * 100 + 25 % × 135 + 10% · 95) ÷ (100 + 135 + 95)", "17.7 %"),
        ("330 − 58.25", "271.75 h"),
        ("330 - 58.25", "272"),
        ("1,250 + 750", "2,000"),
        ("1,250 + 750", "2 000"),
        ("mean(12, 14, 13)", "13"),
        ("percent(36, 120)", "30%"),
        ("percent(36, 120)", "30 percent"),
        ("change(80, 60)", "-25%"),
        ("45 - 30", "15%"),
        ("min(3; 2; 9)", "2"),
        ("Max(3, 2, 9)", "9"),
        ("count(3, 3, 9)", "3"),
        ("difference(9, 2)", "7"),
        ("-(2 - 5)", "3"),
        ("-" * 599 + "3", "-3"),
        ("1200000 + 34000", "1.2 million"),
        ("2/3", "0.667"),
        ("2/3", "about 67%"),
        ("1.2 million / 8", "$150,000"),
        ("3 bn - 500m", "2.5 billion"),
        ("years(2011-03-14, 2026-03-13)", "14 years"),
        ("years(2011-03-14, 2026-03-14)", "15"),
        ("months(2026-11-19, 2028-07-20)", "20 months"),
        ("months(2026-11-19, 2028-07-18)", "19"),
        ("months(2026-01-31, 2026-02-28)", "0"),
        ("days(2024-02-28, 2024-03-01) / 2", "1"),
    ],
)
def test_what_comes_out(text: str, result: str) -> None:
    assert comes_out(compute(text).value, result)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("330 - 58.25", "271.6"),
        ("330 - 58.25", "58.25"),
        ("percent(36, 120)", "31%"),
        ("percent(36, 120)", "30"),
        ("1200000 + 34000", "1.3 million"),
        ("2/3", "0.66"),
        ("2 + 2", "four or five"),
        ("2 + 2", ""),
        ("2 + 2", "many"),
        ("1 - 3", "2"),
    ],
)
def test_what_does_not(text: str, result: str) -> None:
    assert not comes_out(compute(text).value, result)


@pytest.mark.parametrize(
    ("text", "result", "roughly"),
    [
        ("15,168.5 + 0", "$15,000 a quarter", True),
        ("2000000 / 600", "about 3,300 MB/s", True),
        ("1,970 + 0", "2,000", True),
        ("12,345 * 100", "1,230,000", True),
        ("1.97 million + 0", "2 million", True),
        ("15,168.5 + 0", "16,000", False),
        ("15,168.5 + 0", "15,100", False),
        ("12,500 + 0", "10,000", False),
        ("1,940 + 0", "2,000", False),
        ("98 + 0", "100", False),
        ("percent(98, 100)", "100%", False),
    ],
)
def test_noughts_may_stand_for_a_rounding(text: str, result: str, roughly: bool) -> None:
    value = compute(text).value
    assert comes_out(value, result, roughly=True) is roughly
    assert not roughly or result == "2 million" or not comes_out(value, result)


@given(st.integers(-(10**9), 10**9))
def test_a_rounding_is_small_and_never_less_than_half(whole: int) -> None:
    margin = rounding_of(whole)
    assert margin >= Fraction(1, 2)
    assert margin == Fraction(1, 2) or margin <= NEARLY * abs(whole)
    assert rounding_of(-whole) == margin


def test_the_numbers_and_names_are_listed() -> None:
    made = compute("(C1 + 25% * 1,350) / C2", {"C1": Fraction(10), "C2": Fraction(3)})
    assert made.numbers == (Decimal(25), Decimal(1350))
    assert made.names == ("C1", "C2")
    assert made.value == Fraction(10 + Fraction(1350, 4)) / 3


NUMBERS = st.decimals(0, 10**6, places=2)


@given(NUMBERS, NUMBERS)
def test_signs_mean_what_they_mean(one: Decimal, other: Decimal) -> None:
    first, second = Fraction(one), Fraction(other)
    assert compute(f"{one} + {other}").value == first + second
    assert compute(f"{one} - {other} * 2").value == first - second * 2
    assert compute(f"({one} - {other}) * 2").value == (first - second) * 2
    if second:
        assert compute(f"{one}/{other}").value == first / second
    assert compute(f"mean({one}, {other})").value == (first + second) / 2


@given(st.fractions(-(10**6), 10**6), st.integers(0, 4))
def test_a_value_comes_out_as_it_is_rounded(value: Fraction, places: int) -> None:
    shown = f"{round(Decimal(value.numerator) / Decimal(value.denominator), places):f}"
    assert comes_out(value, shown)
    assert not comes_out(value + Fraction(2, 10**places), shown)


@given(st.text(alphabet="0123456789.,+-*/()% abcC=", max_size=40))
def test_any_text_is_computed_or_refused(text: str) -> None:
    with contextlib.suppress(ArithmeticFaultError):
        compute(text)
