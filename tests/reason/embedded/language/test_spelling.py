"""Mistakes are corrected by what the library has, and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.language.spelling import (
    Correction,
    correct,
    count_words,
    is_one_mistake,
)

LIBRARY = count_words(
    ["The deadline for the tender is Monday. Velitas signed the agreement. Mayor of Alderwick."] * 2
    + ["The requests of WB-420 go to ledgerd; a request costs nothing."]
)
ENGLISH = {"mayer": 14_000, "flour": 13_000, "gulls": 20_000, "size": 3_000, "sing": 5_000}
ENGLISH |= {"made": 2_000, "many": 2_100}


def rank(word: str) -> int | None:
    return ENGLISH.get(word)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "??",
        "the deadline",
        "DEADLNIE",
        "ledgerd",
        "deadlines for tenders",
        "WB-421",
        "deadlin_e",
        "day",
    ],
)
def test_what_is_right_or_no_word_stays(text: str) -> None:
    assert correct(text, LIBRARY, rank) == (text, ())


def test_without_a_vocabulary_nothing_is_corrected() -> None:
    assert correct("the dedline", {}, rank) == ("the dedline", ())


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("when is the dedline", "when is the deadline"),
        ("when is the deadlnie", "when is the deadline"),
        ("when is the deaddline", "when is the deadline"),
        ("who made the agreemant", "who made the agreement"),
        ("waht is the deadline", "what is the deadline"),
        ("whcih tendr", "which tender"),
        ("how many reqests", "how many requests"),
    ],
)
def test_one_mistake_is_put_right(written: str, meant: str) -> None:
    text, corrections = correct(written, LIBRARY, rank)
    assert text == meant
    assert all(one.sure for one in corrections)


def test_a_rare_word_and_a_name_are_only_offered_another() -> None:
    text, corrections = correct("was mayer of Alderwik there", LIBRARY, rank)
    assert text == "was mayer of Alderwik there"
    assert corrections == (
        Correction("mayer", "mayor", sure=False),
        Correction("Alderwik", "alderwick", sure=False),
    )


def test_a_common_word_is_never_doubted() -> None:
    assert correct("the size", {"side": 9}, rank) == ("the size", ())


def test_forms_of_english_words_are_english() -> None:
    assert correct("it singed", {"signed": 4}, rank) == ("it singed", ())


def test_another_first_letter_is_another_word() -> None:
    assert correct("a kender", LIBRARY, rank) == ("a kender", ())


def test_of_several_neighbours_the_most_frequent_is_meant() -> None:
    assert correct("the tendor", {"tender": 2, "tensor": 9}, rank)[0] == "the tensor"
    assert correct("the tendor", {"tender": 9, "tensor": 2}, rank)[0] == "the tender"


def test_words_are_counted_in_lower_case() -> None:
    assert count_words(["The mill", "the forge"]) == {"the": 2, "mill": 1, "forge": 1}


words = st.text("abcde", min_size=1, max_size=8)


@given(words, words)
def test_a_mistake_is_one_both_ways(one: str, other: str) -> None:
    assert is_one_mistake(one, other) == is_one_mistake(other, one)


@given(words)
def test_a_word_is_no_mistake_of_itself(word: str) -> None:
    assert not is_one_mistake(word, word)


@given(words, st.integers(0, 7), st.sampled_from("abcde"))
def test_every_single_change_is_one_mistake(word: str, at: int, letter: str) -> None:
    at = min(at, len(word) - 1)
    changed = {
        word[:at] + letter + word[at:],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
    }
    assert all(is_one_mistake(word, other) for other in changed - {word})


@given(words)
def test_two_added_letters_are_two_mistakes(word: str) -> None:
    assert not is_one_mistake(word, f"x{word}x")


@given(st.text(max_size=200))
def test_whatever_is_typed_is_no_error(text: str) -> None:
    corrected, corrections = correct(text, LIBRARY, rank)
    assert corrections or corrected == text
