from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.cli.terminal_text import (
    clean,
    clock_time,
    money,
    one_line,
    plan_lines,
    several,
)

HOSTILE = "evil\x1b[2J\x1b]0;title\x07 \u202etext\r\nsecond\x00line\x9b31m"


@pytest.mark.parametrize("text", [HOSTILE, "\x1b", "a\x7fb", "a\u200bb", "\u2066x\u2069"])
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    assert all(c.isprintable() or c in "\n\t" for c in clean(text))
    assert one_line(text).isprintable()


@given(st.text())
def test_whatever_the_text_a_line_is_a_line(text: str) -> None:
    told = one_line(text, 20)
    assert len(told) <= 20
    assert told.isprintable() or not told


def test_what_would_steer_is_spelt_out() -> None:
    assert clean("a\u202eb\x1b[2J\r\nc\u200bd") == "a\\u202eb\\u001b[2J \nc\\u200bd"
    assert one_line("a\u2028b\u00adc") == "a bc"


def test_text_that_steers_nothing_is_left_alone() -> None:
    assert clean("Ägare: Tyra Kvarnlöf\n\t日本語") == "Ägare: Tyra Kvarnlöf\n\t日本語"
    assert clean("a\u00a0b") == "a b"
    assert one_line("  a \n b  ") == "a b"
    assert one_line("abcdef", 4) == "abc…"


def test_a_plan_says_what_comes_after_what() -> None:
    problems = ["Who owns it?", "Since\nwhen?", "Where does the owner live?"]
    needs = {problems[2]: [problems[0], problems[1], "gone"], "gone": [problems[0]]}
    assert list(plan_lines(problems, needs)) == [
        "1. Who owns it?",
        "2. Since when?",
        "3. Where does the owner live? (after 1, 2)",
    ]
    assert list(plan_lines(["a" * 9], {}, 4)) == ["1. aaa…"]


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        ("0", "$0"),
        ("0.00", "$0"),
        ("0.00001", "less than $0.0001"),
        ("0.0021", "$0.0021"),
        ("0.42", "$0.42"),
        ("1234.5", "$1234.50"),
    ],
)
def test_money(amount: str, told: str) -> None:
    assert money(Decimal(amount)) == told


def test_times_and_numbers() -> None:
    assert [clock_time(seconds) for seconds in (0, 59.9, 61, 3_661)] == [
        "0:00",
        "0:59",
        "1:01",
        "1:01:01",
    ]
    assert several(1, "call") == "1 call"
    assert several(0, "call") == "0 calls"
    assert several(1_200, "call") == "1,200 calls"
    assert several(2, "hypothesis", "hypotheses") == "2 hypotheses"
