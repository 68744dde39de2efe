"""Numbered texts: wrong numbers first, then that numbers lead back to the words."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.numbering import (
    GAP,
    LONGEST_UNIT,
    MOST_CITED,
    cut_pieces,
    cut_quotes,
    numbers_in,
    show_numbered,
    units_of,
)
from deepdiver.core.text import Span

TEXT = """# Permit

The permit was granted in June. An appeal is possible until 4 July.

| Year | Cases
| Year: 2019 | Cases: 7

- one item
- another item
"""
TEXTS = st.lists(
    st.sampled_from(
        ["A word.", "Two go on", "\n", "\n\n", "# Head\n", "| a | b\n", " ", "é. Ü?", "x" * 700]
    )
).map(" ".join)


@pytest.mark.parametrize("numbers", [[0], [-1], [99], []])
def test_numbers_that_do_not_exist_give_nothing(numbers: list[int]) -> None:
    assert cut_quotes(TEXT, numbers) == []
    assert cut_quotes("", [1]) == []


@pytest.mark.parametrize("said", ["", "none", "T2:", "x"])
def test_words_are_not_numbers(said: str) -> None:
    assert numbers_in([said]) == []


def test_a_range_is_bounded() -> None:
    assert numbers_in(["1-999999"]) == list(range(1, 1 + MOST_CITED))
    assert numbers_in(["9-3"]) == []
    long = "A b. " * 40
    assert len(cut_quotes(long, range(1, 40))) == 1
    assert cut_quotes(long, range(1, 40))[0].of(long).count("A b.") == MOST_CITED


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        (["7"], [7]),
        (["<7>"], [7]),
        (["7-9"], [7, 8, 9]),
        (["<7>–<9>"], [7, 8, 9]),
        (["T2:7"], [7]),
        (["7, 9"], [7, 9]),
        (["7", "7", "8"], [7, 8]),
        (["lines 7 to 8"], [7, 8]),
    ],
)
def test_numbers_are_read_as_models_write_them(said: list[str], numbers: list[int]) -> None:
    assert numbers_in(said) == numbers


def test_each_unit_has_its_number_before_it() -> None:
    assert show_numbered(TEXT, [Span(0, len(TEXT))]) == (
        "# Permit\n\n"
        "<1> The permit was granted in June. <2> An appeal is possible until 4 July.\n\n"
        "| <3> Year | Cases\n| <4> Year: 2019 | Cases: 7\n\n- <5> one item\n- <6> another item"
    )


def test_numbers_are_the_same_in_a_part() -> None:
    units = units_of(TEXT)
    part = Span(units[3].start, units[3].end)
    assert show_numbered(TEXT, [part]) == f"{GAP}\n\n<4> Year: 2019 | Cases: 7\n\n{GAP}"
    assert cut_quotes(TEXT, [4])[0].of(TEXT) == "Year: 2019 | Cases: 7"


def test_what_is_left_out_between_parts_is_marked() -> None:
    first, second = units_of(TEXT)[0], units_of(TEXT)[4]
    shown = show_numbered(TEXT, [Span(0, first.end), Span(second.start, len(TEXT))])
    assert shown == f"# Permit\n\n<1> {first.of(TEXT)}\n\n{GAP}\n\n<5> one item\n- <6> another item"
    whole = show_numbered(TEXT, [Span(0, first.end), Span(first.end, len(TEXT))])
    assert GAP not in whole


def test_neighbours_are_one_quote() -> None:
    spans = cut_quotes(TEXT, [6, 1, 2, 5])
    assert [span.of(TEXT) for span in spans] == [
        "The permit was granted in June. An appeal is possible until 4 July.",
        "one item\n- another item",
    ]


def test_a_piece_ends_before_a_heading_if_it_can() -> None:
    body = "A sentence of some length stands here. " * 3
    text = f"# One\n\n{body}\n\n{body}\n\n# Two\n\n{body}\n\n{body}"
    pieces = cut_pieces(text, 300)
    assert [piece.of(text).strip()[:5] for piece in pieces] == ["# One", "# Two"]
    assert all("\n\n" not in piece.of(text).strip()[-20:] for piece in pieces)
    rows = "".join(f"| row {n} | {n}\n" for n in range(100))
    assert all(piece.of(rows).strip().startswith("| row") for piece in cut_pieces(rows, 200))


@given(TEXTS)
def test_numbers_lead_back_to_the_words(text: str) -> None:
    units = units_of(text)
    assert all(span.end - span.start <= LONGEST_UNIT for span in units)
    assert list(units) == sorted(units)
    assert all(one.end <= other.start for one, other in itertools.pairwise(units))
    for number, unit in enumerate(units, 1):
        assert cut_quotes(text, [number]) == [unit]
    shown = show_numbered(text, [Span(0, len(text))])
    for number, unit in enumerate(units, 1):
        assert f"<{number}> {' '.join(unit.of(text).split())}" in " ".join(shown.split())


@given(TEXTS, st.integers(10, 2000))
def test_pieces_hold_every_unit_once(text: str, most: int) -> None:
    pieces = cut_pieces(text, most)
    assert all(one.end <= other.start for one, other in itertools.pairwise(pieces))
    for unit in units_of(text):
        holding = [piece for piece in pieces if piece.start <= unit.start and unit.end <= piece.end]
        assert len(holding) == 1
    longest = max((unit.end - unit.start for unit in units_of(text)), default=0)
    if longest + 10 < most:
        assert all(len(piece.of(text).strip()) <= most for piece in pieces)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("       OPTION     what   it  does   \n", "<1> OPTION  what  it  does"),
        ("def f():\n    if x:\n        return\n", "<1> def f():\n  if x:\n    return"),
        ("Name\t\tJohn Smith\t12", "<1> Name  John Smith  12"),
        ("One.\n\n\n       Two.", "<1> One.\n\n\n    <2> Two."),
    ],
)
def test_what_is_shown_has_few_blanks_and_keeps_its_order(text: str, shown: str) -> None:
    assert show_numbered(text, [Span(0, len(text))]) == shown


@pytest.mark.parametrize(
    ("text", "cited", "quotes"),
    [
        ("SIGKILL ends it. It cannot be caught.", [2], ["SIGKILL ends it. It cannot be caught."]),
        ("SIGKILL ends it. Nobody catches it.", [2], ["Nobody catches it."]),
        ("wait()\n\nThis method may hang.", [2], ["wait()\n\nThis method may hang."]),
        ("# wait()\n\nThis method may hang.", [1], ["This method may hang."]),
        ("A ends.\n\n## B\n\nIt begins.", [2], ["It begins."]),
        ("One. Two. These hold.", [1, 3], ["One. Two. These hold."]),
        ("It was Monday. Itself it is.", [1, 2], ["It was Monday. Itself it is."]),
    ],
)
def test_a_unit_that_points_back_is_quoted_with_the_one_before(
    text: str, cited: list[int], quotes: list[str]
) -> None:
    assert [span.of(text) for span in cut_quotes(text, cited)] == quotes


def test_a_unit_that_points_back_at_a_long_one_stands_alone() -> None:
    text = f"{'word ' * (LONGEST_UNIT // 5 - 2)}ends. It begins."
    assert [span.of(text) for span in cut_quotes(text, [2])] == ["It begins."]
