"""Opposites: pairs of the list, prefixes and endings; words that only look like them are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.opposites import are_opposite, are_two_sides, poles

WORDS = st.sampled_from(
    "rise rose fell falling increase decreases more less above below before after gain loss "
    "support opposed legal illegal safe unsafe careful careless house water into to".split()
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rose", "fell"),
        ("increases", "decreasing"),
        ("more", "fewer"),
        ("before", "after"),
        ("supported", "opposes"),
        ("accepted", "rejects"),
        ("highest", "lowest"),
        ("with", "without"),
        ("legal", "illegal"),
        ("efficient", "inefficient"),
        ("approved", "unapproved"),
        ("compliant", "non-compliant"),
        ("harmful", "harmless"),
        ("hours", "minutes"),  # one of many poles
        ("always", "often"),
        ("quarterly", "yearly"),
        ("may", "must"),
    ],
)
def test_words_that_say_the_opposite(one: str, other: str) -> None:
    assert are_opposite(one, other)
    assert are_opposite(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rise", "growth"),  # the same pole
        ("falls", "fell"),
        ("rise", "rejected"),  # poles of different axes
        ("house", "water"),
        ("to", "into"),  # too short to be turned round
        ("come", "income"),
        ("side", "inside"),
        ("port", "import"),
        ("full", "less"),
        ("useful", "careless"),
        ("hours", "million"),
        ("every", "always"),
    ],
)
def test_words_that_do_not(one: str, other: str) -> None:
    assert not are_opposite(one, other)
    assert not are_opposite(other, one)


@given(WORDS, WORDS)
def test_opposition_goes_both_ways_and_never_to_itself(one: str, other: str) -> None:
    assert are_opposite(one, other) == are_opposite(other, one)
    assert not are_opposite(one, one)


def test_an_axis_may_have_many_poles() -> None:
    units = [poles(word) for word in ("second", "minute", "hour", "day", "year")]
    (axis,) = set.intersection(*({number for number, _ in found} for found in units))
    assert len({pole for found in units for number, pole in found if number == axis}) == 5


def test_most_words_have_no_pole() -> None:
    assert not poles("table")
    assert poles("Rising".lower())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("rose", "fell", False),
        ("house", "water", False),
        ("buy", "purchase", False),
        ("purchasing", "sold", True),
        ("lenders", "borrowed", True),
        ("imports", "exported", True),
    ],
)
def test_the_two_sides_of_one_event(one: str, other: str, same: bool) -> None:
    assert are_two_sides(one, other) is same
    assert are_two_sides(other, one) is same
