from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.cli.options import (
    PERIODS,
    count,
    day,
    dollars,
    path,
    period,
    show_period,
    whole_number,
)

port = whole_number("a port from 0 to 65535", 0, 65_535)


@pytest.mark.parametrize(
    ("convert", "text", "says"),
    [
        (dollars, "lots", "an amount in US dollars, such as 0.50, not 'lots'"),
        (dollars, "-1", "not '-1'"),
        (dollars, "nan", "not 'nan'"),
        (dollars, "inf", "not 'inf'"),
        (day, "2026-13-01", "a date such as 2026-11-15, not '2026-13-01'"),
        (day, "x" * 1_000, f"not '{'x' * 40}'"),
        (path, " ", "a file or folder, not ' '"),
        (path, "a\0b", "a file or folder"),
        (count, "0", "a number from 1, not '0'"),
        (count, "1" * 1_000_000, f"not '{'1' * 80}'"),
        (port, "65536", "a port from 0 to 65535, not '65536'"),
        (port, "-1", "not '-1'"),
        (port, "1.5", "not '1.5'"),
        (period, "", "such as 30m, 12h, 7d or 2w, not ''"),
        (period, "7", "not '7'"),
        (period, "d", "not 'd'"),
        (period, "0h", "not '0h'"),
        (period, "1.5d", "not '1.5d'"),
        (period, "367d", "up to a year"),
        (period, "9" * 1_000_000 + "d", f"not '{'9' * 40}'"),
    ],
)
def test_a_value_that_cannot_be_used(convert: Callable[[str], Any], text: str, says: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        convert(text)
    assert str(caught.value).startswith("expected ")
    assert says in str(caught.value)


def test_values_that_can_be_used() -> None:
    assert (dollars("$0.25"), dollars("0")) == (Decimal("0.25"), Decimal(0))
    assert day("2026-11-15") == date(2026, 11, 15)
    assert path("~/x") == Path.home() / "x"
    assert (port("0"), port("65535"), count("999999")) == (0, 65_535, 999_999)


@given(st.text(max_size=10))
def test_a_whole_number_is_within_its_bounds_or_refused(text: str) -> None:
    if text.isdecimal() and len(text) <= 5 and int(text) <= 65_535:
        assert port(text) == int(text)
    else:
        with pytest.raises(argparse.ArgumentTypeError, match=r"^expected a port"):
            port(text)


@pytest.mark.parametrize(
    ("text", "seconds", "shown"),
    [
        ("90m", 5_400, "90m"),
        ("24h", 86_400, "1d"),
        ("2w", 1_209_600, "14d"),
        ("36h", 129_600, "36h"),
    ],
)
def test_a_period_is_shown_in_the_largest_unit_up_to_days(
    text: str, seconds: int, shown: str
) -> None:
    assert period(text) == seconds
    assert show_period(seconds) == shown


@given(st.integers(1, 999), st.sampled_from("mhd"))
def test_a_period_that_was_shown_is_read_again(number: int, unit: str) -> None:
    seconds = number * PERIODS[unit]
    if seconds <= 366 * PERIODS["d"]:
        assert period(show_period(seconds)) == period(f"{number}{unit}") == seconds
