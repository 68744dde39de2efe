"""Roots bring the forms of a word together and keep different words apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.word_roots import IRREGULAR, MEANINGS, root, synonyms


@pytest.mark.parametrize(
    "family",
    [
        "install installs installed installing installation",
        "retract retracts retracted retraction",
        "supply supplies supplied supplier",
        "insure insures insured insurer insurance",
        "own owns owned owner owners owning",
        "make makes made making maker",
        "win wins won winner winning",
        "sink sinks sank sunk sinking",
        "write writes wrote written writing writer",
        "child children",
        "person people persons",
        "invent invents invented inventor invention",
        "manage manages managed manager managing management",
        "hold holds held holder holding",
        "cause causes caused causing",
        "company companies",
        "die dies died dying",
        "lead leads led leader leading",
        "inspect inspects inspected inspector inspection",
    ],
)
def test_the_forms_of_a_word_share_a_root(family: str) -> None:
    assert len({root(word) for word in family.split()}) == 1, {
        word: root(word) for word in family.split()
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("found", "founded"),  # who found it did not found it
        ("foundation", "founder"),
        ("station", "state"),
        ("person", "persist"),
        ("paper", "pap"),
        ("number", "numb"),
        ("water", "wat"),
        ("order", "ord"),
        ("ferry", "fern"),
        ("mink", "min"),
        ("action", "act"),
    ],
)
def test_different_words_keep_different_roots(one: str, other: str) -> None:
    assert root(one) != root(other)


@pytest.mark.parametrize("word", ["dog's", "dog"])
def test_a_possessive_is_no_other_word(word: str) -> None:
    assert root(word) == "dog"


@given(st.text(max_size=30))
def test_any_text_has_a_root_and_the_root_is_no_longer(word: str) -> None:
    low = word.lower()
    assert len(root(low)) <= max(len(low), max(map(len, IRREGULAR.values())))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("run", "director"),
        ("own", "subsidiary"),
        ("own", "holder"),
        ("child", "daughter"),
        ("injured", "hurt"),
        ("caused", "reason"),
        ("founded", "established"),
        ("founder", "established"),
        ("retracted", "withdrawn"),
        ("chair", "president"),
        ("out", "extinguished"),
        ("died", "killed"),
        ("supply", "deliver"),
    ],
)
def test_words_of_like_meaning_share_a_meaning(one: str, other: str) -> None:
    assert set(MEANINGS[root(one)]) & set(MEANINGS[root(other)])


@pytest.mark.parametrize(
    ("one", "other"), [("run", "own"), ("child", "brother"), ("rise", "fall"), ("birth", "death")]
)
def test_words_of_other_meaning_do_not(one: str, other: str) -> None:
    assert not set(MEANINGS[root(one)]) & set(MEANINGS[root(other)])


def test_a_word_may_have_two_meanings() -> None:
    assert set(MEANINGS["parent"]) == {"own", "family"}


def test_the_likes_of_a_word_do_not_repeat_it() -> None:
    assert "establish" in synonyms(root("founded"))
    assert root("run") not in map(root, synonyms(root("run")))
    assert synonyms("zebra") == []
