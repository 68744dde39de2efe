"""Names of other scripts in Latin letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.osint.sanctions.transliterate import latin, script


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ivan Petrov", "Latin"),
        ("", "Latin"),
        ("42 !", "Latin"),
        ("Müller", "Latin"),
        ("Иван Петров", "Cyrillic"),
        ("Иван P.", "Cyrillic"),
        ("Γιώργος", "Greek"),
        ("محمد", "Arabic"),
        ("כהן", "Hebrew"),
        ("刘德华", "Chinese"),
        ("김정은", "Korean"),
        ("さくら", "Japanese"),
    ],
)
def test_the_script_that_most_letters_are_in(text: str, name: str) -> None:
    assert script(text) == name


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ivan PETROV", "ivan petrov"),
        ("Щербаков", "shcherbakov"),
        ("Юрий", "yuriy"),
        ("Łukasz Müller", "lukasz muller"),
        ("ﬁrm", "firm"),
        ("Παπαδόπουλος", "papadopoulos"),
        ("Ευάγγελος", "evangelos"),
        ("Μπάμπης Ντόρα Γκίκας", "bampis dora gikas"),
        ("الأسد", "al"),
        ("عبدالله", "allah"),
    ],
)
def test_latin_letters(text: str, written: str) -> None:
    assert written in latin(text)


def test_syllables_are_separated() -> None:
    assert latin("刘德华").split() == ["liu", "de", "hua"]


def test_consonants_of_scripts_without_vowels_do_not_run_into_one_another() -> None:
    assert latin("تسط") == "tasata"  # t and s, not ts
    assert latin("כהן") == "qhana"  # k and h, not kh


def test_a_letter_may_be_a_consonant_first_and_a_vowel_later() -> None:
    assert latin("وليد").startswith("w")
    assert "w" not in latin("محمود")
    assert latin("דוד").count("v") == 0


def test_marks_of_vowels_change_nothing() -> None:
    assert latin("مُحَمَّد") == latin("محمد")


@given(st.text(max_size=60))
def test_any_text_becomes_ascii_in_lower_case(text: str) -> None:
    written = latin(text)
    assert written.isascii()
    assert written == written.lower()
    assert isinstance(script(text), str)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_ascii_stays_as_it_is(text: str) -> None:
    assert latin(text) == text.lower()
    assert script(text) == "Latin"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("بن لادن", "bana ladana"),
        ("الحديد", "al hadayada"),
        ("نور", "naura"),
        ("فاطمة", "fatamaa"),
        ("שלום", "shlauma"),
        ("משה", "mashah"),
        ("פרץ", "pratsa"),
        ("김정은", " gim  jeong  eun "),
        ("Ivan Иван 伊万", "ivan ivan  yi  wan "),
    ],
)
def test_whole_words(text: str, written: str) -> None:
    assert latin(text) == written


@pytest.mark.parametrize("text", ["\u202eIvan", "Iv\u00adan", "Ivan\u200b", "\ufeffIvan"])
def test_invisible_marks_do_not_become_letters(text: str) -> None:
    assert "".join(latin(text).split()).strip("-") in ("ivan", "iv-an")


def test_presentation_forms_are_the_letters_they_stand_for() -> None:
    assert latin("ﻣﺤﻤﺪ") == latin("محمد")
    assert latin("Ｉｖａｎ") == "ivan"
