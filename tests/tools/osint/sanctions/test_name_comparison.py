"""How alike names are, and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.osint.sanctions.name_comparison import (
    CONSONANTS,
    FOLDED,
    INITIAL,
    ONE_WORD,
    compare_names,
    word_likeness,
)
from deepdiver.tools.osint.sanctions.names import PARTICLES, name_of


def score(one: str, other: str, person: bool = True) -> float:
    return compare_names(name_of(one, person), name_of(other, person)).score


def reasons(one: str, other: str, person: bool = True) -> tuple[str, ...]:
    return compare_names(name_of(one, person), name_of(other, person)).reasons()


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Ivan Petrov", "Ivan PETROV", ("the same name",)),
        ("Ivan Petrov", "Иван Петров", ("transliterated from Cyrillic",)),
        ("Giorgos Papadopoulos", "Γιώργος Παπαδόπουλος", ("transliterated from Greek",)),
        ("Petrov Ivan", "Ivan Petrov", ("word order",)),
        ("Ivan Petroff", "Ivan Petrov", ("spelling variant",)),
        ("Mohammed Hassan", "محمد حسن", ("transliterated from Arabic", "compared by consonants")),
        ("Yitzhak Cohen", "יצחק כהן", ("transliterated from Hebrew", "compared by consonants")),
        ("Liu Dehua", "刘德华", ("transliterated from Chinese", "words joined or parted")),
        ("Abd al Rahman Hasan", "Abdalrahman Hasan", ("words joined or parted",)),
        (
            "Abdul Rahman Nuri",
            "Abd al-Rahman Nuri",
            ("words joined or parted", "one letter differs"),
        ),
        ("Sergei Ivanov", "Sergei Ivanof", ("spelling variant",)),
        ("Ivan Petrov", "Ivan Petrav", ("one letter differs",)),
        ("Mohammed Hamidi", "Muhammad Hamidi", ("2 letters differ",)),
    ],
)
def test_names_that_are_the_same(one: str, other: str, why: tuple[str, ...]) -> None:
    assert score(one, other) >= 0.9
    assert reasons(one, other) == why


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("V. Petrov", "Vladimir Petrov", ("an initial stands for a word",)),
        ("Ivan Petrov", "Ivan Sergeevich Petrov", ("sergeevich stands only on the list",)),
        ("Ivan Sergeevich Petrov", "Ivan Petrov", ("sergeevich stands only in the name asked",)),
        ("Ivan Petrov", "Ivan Pevrov", ("one letter differs",)),
        ("Petrov", "Ivan Petrov", ("ivan stands only on the list", "one word alone")),
        ("Hassan", "Hassan", ("one word alone",)),
    ],
)
def test_names_that_may_be_the_same(one: str, other: str, why: tuple[str, ...]) -> None:
    assert 0.7 <= score(one, other) < 0.92
    assert reasons(one, other) == why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ivan Petrov", "Ivan Ivanov"),
        ("Ivan Petrov", "Oleg Petrov"),
        ("Mohammed Ali Khan", "Mohammed Ali Sadr"),
        ("Ali Hassan", "Eli Hassan"),
        ("Ivan Petrov", ""),
        ("", ""),
        ("al", "Ivan Petrov"),
        ("محمد حسن", "Ahmed Karimi"),
    ],
)
def test_names_that_are_different(one: str, other: str) -> None:
    assert score(one, other) < 0.7


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Romashka Trading LLC", "OOO Romashka Trading", True),
        ("Alfa Trading", "Beta Trading", False),
        ("Alfa Shipping", "Alfa Trading", False),
        ("Starlight", "Star Light", True),
        ("5th Brigade", "6th Brigade", False),
        ("Plant 512", "Plant 513", False),
    ],
)
def test_organisations_are_known_by_their_rare_words(one: str, other: str, alike: bool) -> None:
    assert (score(one, other, person=False) >= 0.75) is alike


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        ("petrov", "petrov", 1.0),
        ("petroff", "petrov", FOLDED),
        ("v", "vladimir", INITIAL),
        ("v", "ivan", 0.0),
        ("v", "b", 0.0),
        ("ali", "eli", 0.0),
        ("petrov", "pevrov", pytest.approx(0.79, abs=0.02)),
        ("512", "513", 0.0),
        ("kuznetsov", "sobolev", 0.0),
    ],
)
def test_words(one: str, other: str, likeness: float) -> None:
    assert word_likeness(one, other) == likeness
    assert word_likeness(other, one) == likeness


def test_a_consonant_says_more_than_a_vowel() -> None:
    assert word_likeness("petrov", "pevrov") <= CONSONANTS < word_likeness("petrov", "petrav")


def test_without_vowels_consonants_must_agree() -> None:
    assert word_likeness("mahamada", "mohammed", loose=True) > 0.9
    # Nobody can tell them apart in that script.
    assert word_likeness("mahamada", "mahmoudi", loose=True) > 0.9
    assert word_likeness("mahamada", "hassan", loose=True) == 0.0


def test_a_person_is_not_known_by_one_word() -> None:
    assert score("Hassan", "Hassan") == ONE_WORD
    assert score("Rosneft", "Rosneft", person=False) == 1.0


NAMES = st.text(alphabet="abeiklmnoprstuvyz -.'ИПвантероу", min_size=0, max_size=30)


@given(NAMES, NAMES, st.booleans())
def test_the_order_of_the_names_makes_no_difference(one: str, other: str, person: bool) -> None:
    assert score(one, other, person) == pytest.approx(score(other, one, person))
    assert 0.0 <= score(one, other, person) <= 1.0


@given(NAMES, st.booleans())
def test_a_name_is_most_like_itself(name: str, person: bool) -> None:
    words = name_of(name, person).words
    telling = [word for word in words if word not in PARTICLES]
    if words:
        assert score(name, name, person) == (1.0 if not person or len(telling) > 1 else ONE_WORD)


@given(st.permutations(["Ivan", "Sergeevich", "Kuznetsov"]))
def test_the_order_of_words_costs_nothing(words: list[str]) -> None:
    assert score(" ".join(words), "Ivan Sergeevich Kuznetsov") == 1.0


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("Ivan Petrov", "Ivan Petrov", 1.0, 1.0),
        ("Ivan Petrov", "Petrov, Ivan", 1.0, 1.0),
        ("Ivan Petrov", "Ivan Petroff", 0.98, 0.99),
        ("Ivan Petrov", "Ivan Petrav", 0.93, 0.97),
        ("Ivan Petrov", "Ivan Pevrov", 0.88, 0.91),
        ("Ivan Petrov", "Ivan S. Petrov", 0.8, 0.9),
        ("Ivan Petrov", "Ivan Sergeevich Petrov", 0.84, 0.86),
        ("V. V. Petrov", "Vladimir Vladimirovich Petrov", 0.7, 0.75),
        ("Ivan Petrov", "Petr Ivanov", 0.0, 0.5),
        ("Ivan bin Petrov", "Ivan Petrov", 0.95, 0.97),
        ("Bashar al-Assad", "Bashar Assad", 0.95, 0.97),
        ("Bashar al-Assad", "Bashar Alassad", 0.98, 1.0),
        ("Jean-Pierre Dupont", "Jeanpierre Dupont", 1.0, 1.0),
    ],
)
def test_the_scale(one: str, other: str, least: float, most: float) -> None:
    assert least <= round(score(one, other), 2) <= most


def test_each_word_has_one_partner() -> None:
    laid = compare_names(name_of("Ali Ali Hassan", True), name_of("Ali Hassan Hassan", True))
    assert len(laid.pairs) == 2
    assert len({i for i, _, _ in laid.pairs}) == len({j for _, j, _ in laid.pairs}) == 2
    assert laid.alone == (["ali"], ["hassan"])


def test_the_most_similar_partner_is_taken() -> None:
    laid = compare_names(name_of("Petrov Petrova", True), name_of("Petrova Petrov", True))
    assert sorted((i, j) for i, j, _ in laid.pairs) == [(0, 1), (1, 0)]
    assert laid.score == 1.0


def test_neighbours_are_joined_only_if_the_other_name_joins_them() -> None:
    laid = compare_names(name_of("Abd al Rahman al Nuri", True), name_of("Abdurrahman Nuri", True))
    assert laid.theirs == ("abdurrahman", "nuri")
    apart = compare_names(name_of("Ivan Petrov", True), name_of("Oleg Sidorov", True))
    assert apart.mine == ("ivan", "petrov")


@pytest.mark.parametrize(
    "name", ["Ivan Sergeevich Kuznetsov", "Mohammed Abdulrahman Hassan", "Giorgos Papadopoulos"]
)
@given(data=st.data())
def test_one_slip_of_the_pen_leaves_a_name_possible(name: str, data: st.DataObject) -> None:
    places = [at for at in range(1, len(name) - 1) if name[at - 1 : at + 2].isalpha()]
    at = data.draw(st.sampled_from(places))
    letter = data.draw(st.sampled_from("aeiounrstlmk"))
    for slip in (
        name[:at] + name[at + 1 :],
        name[:at] + letter + name[at:],
        name[:at] + letter + name[at + 1 :],
    ):
        assert score(slip, name) >= 0.7, slip
