"""Words in their places: tokens, families, neighbours and clauses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.report.clauses import (
    Vocabulary,
    akin,
    around,
    clauses,
    is_english,
    is_german,
    read_unit,
    read_units,
    shared,
)


def test_tokens_are_words_numbers_and_marks() -> None:
    unit = read_unit("A2A v1.0 didn't cost $1,250 — or 3.5 %; it’s well-known.")
    assert [token.word for token in unit] == (
        "a2a v1 0 didn't cost $ 1,250 ; or 3.5 % ; it well - known".split()
    )
    assert [token.word for token in unit if token.is_number] == ["0", "1,250", "3.5"]
    assert [token.word for token in unit if token.negates] == ["didn't"]
    assert [token.word for token in unit if token.breaks] == [";", ";"]
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


def test_a_vocabulary_knows_families() -> None:
    known = Vocabulary(read_units("Irregular deliveries failed."))
    assert known.knows(read_unit("delivered")[0])
    assert not known.knows(read_unit("harbour")[0])


def test_around_a_word_are_the_nearest_that_count() -> None:
    unit = read_unit("The harbour was closed by a storm.")
    at = [token.word for token in unit].index("closed")
    assert around(unit, at) == {"harbour", "storm"}
    assert around(unit, 0, 1) == {"harbour"}
    assert around(unit, at, 0) == frozenset()
    assert around(read_unit("storm"), 0) == frozenset()


@pytest.mark.parametrize("word", ["not", "didn't", "lacks", "without", "unavailable", "useless"])
def test_words_that_may_carry_a_negation(word: str) -> None:
    assert read_unit(word)[0].may_negate


@pytest.mark.parametrize("word", ["unit", "understand", "until", "harbour", "disruption", "12"])
def test_words_that_carry_none(word: str) -> None:
    assert not read_unit(word)[0].may_negate


def test_shared_stems_are_counted_by_family() -> None:
    assert shared(["deliver", "harbour"], ["deliveri", "ship"]) == 1
    assert shared([], ["ship"]) == 0


def test_clauses_end_at_marks_and_joints() -> None:
    unit = read_unit("Costs: rent rose, while wages fell and rents did not; all paid.")
    said = [" ".join(unit[at].word for at in clause) for clause in clauses(unit)]
    assert said == ["costs", "rent rose", "wages fell", "rents did not", "all paid"]


@pytest.mark.parametrize(
    "text",
    [
        "Die Preise sind im Jahr 2025 nicht gestiegen, und die Kosten fielen.",
        "Los precios no subieron en 2025 y las ventas cayeron.",
        "Les prix n'ont pas augmenté dans la région.",
        "De prijzen zijn in 2025 niet gestegen en het aanbod is van de markt.",
    ],
)
def test_other_languages_are_told_from_english(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Prices did not rise in 2025.",
        "KEDA scales down 5 minutes after the schedule ends.",
        "Ad hoc messages lack consistent checks.",  # no function word at all
        "",
    ],
)
def test_english_is_known_by_its_function_words_or_by_having_none(text: str) -> None:
    assert is_english(text)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for unit in (read_unit(text), *read_units(text)):
        assert all(token.word for token in unit)
        assert sum(map(len, clauses(unit))) <= len(unit)


@pytest.mark.parametrize(
    ("text", "german"),
    [
        ("Wie richten wir die Unit-Datei ein?", True),
        ("Neustart nach einem Fehler", True),
        ("The unit file is set up by the administrator.", False),
        ("¿Cómo se guarda una copia?", False),
        ("", False),
    ],
)
def test_german_is_told_by_its_little_words(text: str, german: bool) -> None:
    assert is_german(text) is german
