"""How one sentence bears on another when no value settles it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.reading import read_sentence
from deepdiver.reason.embedded.stance import likeness, opposed, share_name, telling


def alike(one: str, other: str) -> float:
    return likeness(read_sentence(one), read_sentence(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The fire was caused by a worn cable.", "The fire was caused by a worn cable."),
        (
            "The fire on the ferry was caused by a worn cable.",
            "A worn cable caused the fire on the ferry.",
        ),
        (
            "The mink were trapped and removed before the lamps.",
            "Before the lamps came, mink had been removed.",
        ),
    ],
)
def test_sentences_that_say_the_same_are_alike(one: str, other: str) -> None:
    assert alike(one, other) >= 0.6


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "The dam broke."),
        ("The dam broke.", "The dam is high."),
        # Of another company.
        (
            "Acme Ltd makes good cheese every day.",
            "Bolt Ltd makes good cheese every day.",
        ),
        # Only the name.
        (
            "Acme Ltd made 38 tonnes of cheese.",
            "The postal address of Acme Ltd is Mill Road.",
        ),
        (
            "Anyone who finds one may write to us.",
            "An inquiry found that the authors had been told.",
        ),
    ],
)
def test_sentences_about_other_things_are_not(one: str, other: str) -> None:
    assert alike(one, other) < 0.5


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("No electric car was on board.", "An electric car exploded on board.", True),
        ("No oil was seen in the harbour.", "Smoke was seen in the harbour.", False),
        ("The claim that the captain was asleep is refuted.", "The captain was asleep.", True),
        ("The captain was awake.", "The captain was asleep.", False),
        ("The captain was not asleep.", "The captain was not awake.", False),
        ("The drug did not reduce the coughs.", "The drug reduced the coughs by half.", True),
    ],
)
def test_a_denial_is_opposed_to_what_it_denies(one: str, other: str, expected: bool) -> None:
    assert opposed(read_sentence(one), read_sentence(other)) is expected
    assert opposed(read_sentence(other), read_sentence(one)) is expected


def test_the_telling_words_of_a_sentence() -> None:
    reading = read_sentence("Acme Ltd made 38 tonnes of the cheese for Ada Berg.")
    assert telling(reading) == ["acm", "ltd", "mak", "ton", "chees", "ada", "berg"]
    assert telling(reading, named=False) == ["mak", "ton", "chees"]


def test_a_shared_name_is_found_from_either_side() -> None:
    one, other = read_sentence("Ada Berg left."), read_sentence("It was the mill of Ada Berg.")
    assert share_name(one, other)
    assert share_name(other, one)
    assert not share_name(read_sentence("It rained."), one)


@given(st.text(max_size=200), st.text(max_size=200))
def test_likeness_is_a_share_and_does_not_depend_on_the_order(one: str, other: str) -> None:
    assert 0.0 <= alike(one, other) <= 1.0
    assert opposed(read_sentence(one), read_sentence(other)) == opposed(
        read_sentence(other), read_sentence(one)
    )


@given(st.text(max_size=200))
def test_no_sentence_is_opposed_to_itself(text: str) -> None:
    assert not opposed(read_sentence(text), read_sentence(text))
