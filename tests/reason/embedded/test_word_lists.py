"""The word lists are well formed, and hearsay is told from knowledge."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded import word_lists
from deepdiver.reason.embedded.word_lists import HEARSAY


@pytest.mark.parametrize(
    "text",
    [
        "so this is from memory: ada is 17",
        "i heard that the dam broke",
        "people on the bank say that a lorry did it",
        "some say the captain was drunk",
        "it is said here that she sank",
        "a friend of a friend works there",
        "there is a rumour about the cheese",
        "everybody knows that",
        "according to people in the queue it makes 45 tonnes",
        "the mayor allegedly knew",
    ],
)
def test_hearsay_is_known(text: str) -> None:
    assert HEARSAY.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "six people were injured in the fire",
        "according to the register the firm has two owners",
        "the police say that two people died",
        "some of them were carried down ladders",
        "many passengers left early",
        "they have three children",
    ],
)
def test_what_a_source_knows_itself_is_no_hearsay(text: str) -> None:
    assert not HEARSAY.search(text)


def test_the_sets_of_words_are_lower_case_and_not_empty() -> None:
    sets = {
        name: value
        for name, value in vars(word_lists).items()
        if name.isupper() and isinstance(value, frozenset)
    }
    assert len(sets) > 20
    for name, words in sets.items():
        assert words, name
        assert all(word == word.lower() for word in words), name


def test_negations_are_not_silent() -> None:
    """Words that negate and words that say nothing are different lists."""
    assert "out" not in word_lists.SILENT
    assert "the" in word_lists.SILENT
    assert word_lists.NEGATIONS.isdisjoint(word_lists.DENIALS)
