"""Words in their places: tokens, families, neighbours and clauses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.report.clauses import (
    Vocabulary,
    adjacent,
    agreement,
    akin,
    around,
    beside,
    clauses,
    is_english,
    is_negated,
    read_unit,
    read_units,
    scope,
    shared,
)


def place(text: str, word: str) -> int:
    """Return where a word is in a sentence."""
    return [token.word for token in read_unit(text)].index(word)


def test_tokens_are_words_numbers_and_marks() -> None:
    unit = read_unit("A2A v1.0 didn't cost $1,250 — or 3.5 %; it’s well-known.")
    assert [token.word for token in unit] == (
        "a2a v1 0 didn't cost $ 1,250 ; or 3.5 % ; it well - known".split()
    )
    assert [token.word for token in unit if token.is_number] == ["0", "1,250", "3.5"]
    assert [token.word for token in unit if token.negates] == ["didn't"]
    assert [token.word for token in unit if token.breaks] == [";", ";"]
    assert [token.word for token in unit if token.joins] == ["-"]
    assert unit[0].is_word
    assert unit[0].raw == "A2A"


def test_only_words_that_say_something_count() -> None:
    unit = read_unit("The harbour was not closed by a storm in 2026.")
    assert [token.word for token in unit if token.counts] == ["harbour", "closed", "storm", "2026"]


def test_units_are_sentences_headings_and_rows() -> None:
    text = "# Ferries\n\nOne burnt. Two sank.\n\n| Ejdervik | 12 |\n| Maja | 15 |"
    assert [" ".join(token.raw for token in unit) for unit in read_units(text)] == [
        "Ferries",
        "One burnt",
        "Two sank",
        "Ejdervik | 12 |",
        "Maja | 15 |",
    ]


def test_an_empty_text_has_no_units() -> None:
    assert read_units("") == ()
    assert read_unit("…") == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("deliver", "deliveri"), ("fail", "failur"), ("volatil", "volatility"), ("ship", "ship")],
)
def test_words_of_a_family(one: str, other: str) -> None:
    assert akin(one, other)
    assert akin(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("contract", "contribut"), ("car", "cargo"), ("ship", "shop"), ("", "ship")]
)
def test_words_of_different_families(one: str, other: str) -> None:
    assert not akin(one, other)


def test_a_vocabulary_knows_families_and_has_words() -> None:
    known = Vocabulary(read_units("Irregular deliveries failed."))
    assert known.knows(read_unit("delivered")[0])
    assert not known.knows(read_unit("harbour")[0])
    assert known.has(["failed", "other"])
    assert not known.has(["fail"])


def test_neighbours_are_the_next_words_that_count() -> None:
    text = "The harbour was closed by a storm."
    unit = read_unit(text)
    at = place(text, "closed")
    assert (beside(unit, at, -1), beside(unit, at, 1)) == ("harbour", "storm")
    assert (beside(unit, 0, -1), beside(unit, len(unit) - 1, 1)) == ("", "")
    assert around(unit, at) == {"harbour", "storm"}
    assert around(unit, at, 0) == frozenset()


def test_places_agree_by_their_neighbours() -> None:
    one, other = "Exports of steel rose sharply.", "Exports of steel fell sharply."
    near, far = read_unit(one), read_unit(other)
    there = place(other, "fell")
    assert adjacent(near, place(one, "rose"), far, there)
    assert agreement(near, place(one, "rose"), far, there) > agreement(near, 0, far, there)
    assert not adjacent(near, place(one, "rose"), read_unit("Nothing fell."), 1)


def test_a_number_may_stand_on_the_other_side() -> None:
    one, other = "Sales fell by 12 %.", "It saw a 12 % increase."
    assert adjacent(read_unit(one), place(one, "fell"), read_unit(other), place(other, "increase"))


def test_shared_stems_are_counted_by_family() -> None:
    assert shared(["deliver", "harbour"], ["deliveri", "ship"]) == 1
    assert shared([], ["ship"]) == 0


def test_clauses_end_at_marks_and_joints() -> None:
    unit = read_unit("Costs: rent rose, while wages fell and rents did not; all paid.")
    said = [" ".join(unit[at].word for at in clause) for clause in clauses(unit)]
    assert said == ["costs", "rent rose", "wages fell", "rents did not", "all paid"]


def test_a_word_is_negated_by_an_odd_number_of_negations() -> None:
    text = "It was not never closed, and it did not open."
    unit = read_unit(text)
    assert is_negated(unit, place(text, "open"))
    assert not is_negated(unit, place(text, "closed"))


def test_the_scope_of_a_word_ends_at_a_mark() -> None:
    unit = read_unit("It did not open; ships waited.")
    assert scope(unit, 2) == 3
    assert scope(unit, 3) is None
    assert scope(unit, 2, skip=("open",)) is None


@pytest.mark.parametrize(
    "text",
    [
        "Die Preise sind im Jahr 2025 nicht gestiegen, und die Kosten fielen.",
        "Los precios no subieron en 2025 y las ventas cayeron.",
        "Les prix n'ont pas augmenté dans la région.",
        "De prijzen zijn in 2025 niet gestegen en het aanbod is van de markt.",
        "価格は2025年に上昇しなかった。",
        "",
    ],
)
def test_other_languages_are_told_from_english(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    ["Prices did not rise in 2025.", "KEDA scales down 5 minutes after the schedule ends."],
)
def test_english_is_known_by_its_function_words(text: str) -> None:
    assert is_english(text)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for unit in (read_unit(text), *read_units(text)):
        assert all(token.word for token in unit)
        assert sum(map(len, clauses(unit))) <= len(unit)
