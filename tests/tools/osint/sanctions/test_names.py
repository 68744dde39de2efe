"""Names as words in Latin letters, and their folding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.osint.sanctions.names import (
    LONGEST,
    MOST_WORDS,
    fold,
    name_of,
    skeleton,
    weight,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ivan PETROV", ["ivan", "petrov"]),
        ("PETROV, Ivan", ["petrov", "ivan"]),
        ("Dr. Ivan Petrov", ["ivan", "petrov"]),
        ("General Sir Ivan Petrov", ["ivan", "petrov"]),
        ("John Major", ["john", "major"]),
        ("Major John", ["major", "john"]),
        ("Sheikh Hasina", ["sheikh", "hasina"]),
        ("V.V. Putin", ["v", "v", "putin"]),
        ("Conor O'Brien", ["conor", "obrien"]),
        ("Игорь Сечин", ["igor", "sechin"]),
        ("Bashar al-Assad", ["bashar", "al", "assad"]),
        ("刘德华", ["liu", "de", "hua"]),
        ("...", []),
        ("", []),
    ],
)
def test_words_of_a_person(text: str, words: list[str]) -> None:
    assert list(name_of(text, True).words) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Romashka LLC", ["romashka"]),
        ("OOO Romashka", ["romashka"]),
        ("ООО «Ромашка»", ["romashka"]),
        ("Общество с ограниченной ответственностью Ромашка", ["romashka"]),
        ("Romashka S.A.R.L.", ["romashka"]),
        ("Romashka Limited Liability Company", ["romashka"]),
        ("Public Joint Stock Company Romashka", ["romashka"]),
        ("J.P. Holding", ["jp", "holding"]),
        ("Company Ltd", ["company", "ltd"]),
        ("SA", ["sa"]),
        ("Dr. Oetker GmbH", ["dr", "oetker"]),
    ],
)
def test_words_of_an_organisation(text: str, words: list[str]) -> None:
    assert list(name_of(text, False).words) == words


def test_the_properties_of_a_name() -> None:
    assert name_of("محمد", True).vowelless
    assert not name_of("Mohammed", True).vowelless
    assert name_of("刘德华", True).syllabic
    assert name_of("Иван", False).script == "Cyrillic"


def test_a_very_long_name_is_cut() -> None:
    name = name_of("ab " * 10_000, True)
    assert len(name.words) == MOST_WORDS
    assert len(name_of("a" * 10_000, True).words[0]) == LONGEST


@pytest.mark.parametrize(
    "spellings",
    [
        "yuri juri iouri yuriy youri",
        "dmitry dmitri dmitriy dmitrij",
        "sergey sergei serguei",
        "aleksey alexey alexei",
        "petrov petroff petrow petrof",
        "khamid hamid",
        "chaikovskiy tchaikovsky tschaikowski chaykovsky",
        "khrushchev khrouchtchev",
        "mohamed mohammed",
        "muller mueller",
        "evgeny yevgeny evgeniy",
        "fyodor fedor fiodor",
        "abdullah abdulla",
        "aziz asis",
        "djamal jamal dzhamal",
        "qasim kasim casim",
    ],
)
def test_spellings_of_one_name_are_folded_into_one(spellings: str) -> None:
    assert len({fold(word) for word in spellings.split()}) == 1, [
        fold(word) for word in spellings.split()
    ]


@pytest.mark.parametrize(
    ("one", "other"), [("petrov", "pavlov"), ("ali", "eli"), ("li", "lu"), ("12", "13")]
)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("word", "bones"),
    [("petrov", "ptrv"), ("aia", "aia"), ("muhamad", "mhmd"), ("fatimh", "ftm"), ("oh", "h")],
)
def test_consonants(word: str, bones: str) -> None:
    assert skeleton(word) == bones


def test_common_words_weigh_little() -> None:
    assert weight("petrov", True) == 1.0
    assert weight("al", True) < weight("trading", False) < weight("romashka", False)
    assert weight("trading", True) == 1.0


@given(st.text(max_size=80), st.booleans())
def test_any_text_is_a_name(text: str, person: bool) -> None:
    for word in name_of(text, person).words:
        assert word.isalnum()
        assert word.isascii()
        assert fold(word)
        assert skeleton(fold(word))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Владимир Путин", "Vladimir Putin"),
        ("Сергей Шойгу", "Sergei Shoigu"),
        ("Юлия Тимошенко", "Yulia Tymoshenko"),
        ("Дмитрий Медведев", "Dmitry Medvedev"),
        ("Алексей Ефремов", "Alexei Efremov"),
        ("Βασίλης Νικολάου", "Vasilis Nikolaou"),
        ("习近平", "Xi Jin Ping"),
        ("Łukasz Żółć", "Lukasz Zolc"),
        ("Jörg Groß", "Jorg Gross"),
    ],
)
def test_names_in_other_scripts_fold_to_their_usual_spelling(one: str, other: str) -> None:
    mine, theirs = ([fold(word) for word in name_of(name, True).words] for name in (one, other))
    assert mine == theirs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("محمد حسين", "Mohammed Hussein"),
        ("خالد كريم", "Khalid Karim"),
        ("בנימין דיין", "Benjamin Dayan"),
    ],
)
def test_names_without_vowels_have_the_consonants_of_those_with(one: str, other: str) -> None:
    mine, theirs = (
        [skeleton(fold(word)) for word in name_of(name, True).words] for name in (one, other)
    )
    assert mine == theirs


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_folding_doubles_makes_no_difference(word: str) -> None:
    doubled = "".join(letter * 2 if letter in "lmnrst" else letter for letter in word)
    assert fold(doubled) == fold(word)


@pytest.mark.parametrize(
    ("one", "other"), [("mattsson", "matsson"), ("matthew", "mathew"), ("fritzz", "frits")]
)
def test_doubles_within_a_sound_make_no_difference_either(one: str, other: str) -> None:
    assert fold(one) == fold(other)
