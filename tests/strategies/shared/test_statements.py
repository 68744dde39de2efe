"""Statements compared by their words: what says the same, and what may contradict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.strategies.shared.statements import can_contradict, holds_figures, repeats

OWNED = "Holm Works is owned by Anna Holm."
ASK = "Holm Works is owned by Bertil Ask, a trader."
FOUNDED = "Holm Works was founded in 1998 in the town of Lund."
ANNA, BERTIL = "Holm Works is owned by Anna Holm.", "Holm Works is owned by Bertil Ask."


# -- repeating


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OWNED, OWNED),
        (OWNED, "holm works is owned by anna holm"),
        (FOUNDED, "Holm Works was founded in 1998."),
        ("The fire was out at 07:25.", "The fire on the ferry was out at 07:25."),
        ("", ""),
    ],
)
def test_what_says_the_same_repeats(one: str, other: str) -> None:
    assert repeats(one, other)
    assert repeats(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OWNED, ASK),
        (FOUNDED, "Holm Works was founded in 1989 in the town of Lund."),
        ("The mill is owned by the town.", "The mill is not owned by the town."),
        ("The fire on the ferry was out at 07:25.", "The fire on the ferry was out at 08:25."),
        ("It opened on 3 May 2011 in Lund.", "It opened on 4 May 2011 in Lund."),
        (OWNED, "Anna Holm likes boats and runs a bakery in the village."),
        (OWNED, ""),
    ],
)
def test_another_name_number_date_or_a_denial_is_another_statement(one: str, other: str) -> None:
    assert not repeats(one, other)
    assert not repeats(other, one)


@given(st.text(max_size=80), st.text(max_size=80))
def test_repeating_has_no_direction_and_everything_repeats_itself(one: str, other: str) -> None:
    assert repeats(one, one)
    assert repeats(one, other) == repeats(other, one)


# -- contradicting


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ANNA, ANNA),
        (ANNA, "The lake is deep and has 3 islands."),
        ("Holm Works was founded in 1998.", "Holm Works was founded in 1998 by Anna Holm."),
        ("", ""),
    ],
)
def test_what_goes_together_or_speaks_of_something_else_is_no_contradiction(
    one: str, other: str
) -> None:
    assert not can_contradict(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ANNA, BERTIL),
        ("The dairy made 38 tonnes in 2025.", "The dairy made 45 tonnes in 2025."),
        ("The dairy was closed.", "The dairy was not closed."),
        ("Alma is 17.", "Alma was born on 14 March 2011."),
    ],
)
def test_another_value_or_a_denial_is(one: str, other: str) -> None:
    assert can_contradict(one, other)
    assert can_contradict(other, one)


@given(st.text(max_size=60), st.text(max_size=60))
def test_contradicting_has_no_direction(one: str, other: str) -> None:
    assert can_contradict(one, other) == can_contradict(other, one)


# -- figures


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("", "It made 38 tonnes."),
        ("It made 38 tonnes in 2025.", "It made 45 tonnes in 2025."),
        ("It made 38 tonnes.", "It made 38 tonnes and sold 31 of them."),
        ("It made 38 tonnes.", "It made 38.9 tonnes."),
        ("It made 1,200 tonnes.", "It made 1.2 tonnes."),
    ],
)
def test_a_figure_that_a_text_does_not_have_is_missed(text: str, statement: str) -> None:
    assert not holds_figures(text, statement)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("", ""),
        ("It made much.", "It made much in 2025, as three of its 12 owners say."),
        ("It made 38 tonnes.", "It made thirty-eight tonnes on 14 March 2011."),
        ("It made 1,200,000 tonnes.", "It made 1.2 million tonnes."),
        ("It made 38.4 tonnes.", "It made some 38 tonnes."),
        ("A share of 0.43 was lost.", "43 percent was lost."),
        ("A change of -43 percent.", "It fell by 43 percent."),
    ],
)
def test_dates_counts_and_other_ways_to_say_a_figure_are_free(text: str, statement: str) -> None:
    assert holds_figures(text, statement)


@given(st.text(max_size=60))
def test_a_text_has_its_own_figures(text: str) -> None:
    assert holds_figures(text, text)
