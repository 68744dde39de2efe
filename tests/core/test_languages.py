"""Languages are told by letters and common words, and where they cannot be told nothing is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.languages import CODES, COMMON, NAMES, SCRIPTS, code_named, code_of, language_of

GERMAN = (
    "Der Hafen von Lund wurde im Jahr 1904 eröffnet. Die Baukosten betrugen 3,2 Millionen Kronen."
)
RUSSIAN = "Порт в городе Лунд был открыт в 1904 году."
CHINESE = "隆德港于1904年开放。建设费用为320万克朗。"
ENGLISH = "The harbour of Lund was opened in 1904, and the mayor was Karl Berg."
ASKED = "When was the harbour of Lund opened?"


@pytest.mark.parametrize(
    "text", ["", " \n", "1904 38 %", "🙂🙂", "Lund", "Svedjan Ost AB", "x" * 10_000, "\ud800"]
)
def test_what_cannot_be_told_is_not_guessed(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ENGLISH, "English"),
        (ASKED, "English"),
        (GERMAN, "German"),
        ("Le port de Lund est ouvert et les navires sont dans la rade pour la nuit.", "French"),
        (
            "El puerto de Lund fue abierto en 1904 y los barcos llegan por la noche con el correo.",
            "Spanish",
        ),
        ("Hamnen i Lund är öppen och det är många som kommer till den med tåg.", "Swedish"),
        (RUSSIAN, "Cyrillic letters"),
        (CHINESE, "Chinese characters"),
        ("ルンドの港は1904年に開かれた。", "Japanese characters"),
        ("룬드 항구는 1904년에 열렸다.", "Korean letters"),
        ("افتتح ميناء لوند عام 1904.", "Arabic letters"),
        ("Το λιμάνι άνοιξε το 1904.", "Greek letters"),
        (f"{RUSSIAN} Karl Berg.", "Cyrillic letters"),
    ],
)
def test_languages_and_scripts(text: str, expected: str) -> None:
    assert language_of(text) == expected


@given(st.text(st.characters(codec=None), max_size=300))
def test_whatever_is_written_is_one_of_these(text: str) -> None:
    assert language_of(text) in {"", *COMMON, *SCRIPTS.values()}


def test_japanese_among_latin_names_is_japanese() -> None:
    assert language_of("epollとinotifyとfanotifyをどう使い分けるか") == "Japanese characters"
    assert language_of("The word 猫 is Japanese for cat, and that is all of it.") == "English"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", ""),
        ("Klingon", ""),
        ("German", "de"),
        ("deutsch", "de"),
        ("DE", "de"),
        ("pt-BR", "pt"),
        ("Brazilian Portuguese", "pt"),
        ("plain English, please", "en"),
        ("日本語", "ja"),
        ("español", "es"),
    ],
)
def test_a_language_is_found_by_what_people_call_it(name: str, code: str) -> None:
    assert code_named(name) == code


def test_codes_are_those_of_what_can_be_told() -> None:
    assert {*CODES} <= {*COMMON, *SCRIPTS.values()}
    assert {*COMMON} <= {*CODES}
    assert {*NAMES.values()} == {*CODES.values()}
    assert code_of(GERMAN) == "de"
    assert code_of(CHINESE) == "zh"
    assert code_of(RUSSIAN) == "", "several languages are written so"


def test_addresses_say_nothing_about_the_language() -> None:
    head = "From: Anna <anna@holm.com>\nTo: bo@holm.com, eva@holm.com\nDate: 2024-04-15"
    assert language_of(head) != "Portuguese"
    assert language_of(f"{head}\nThe works have been sold to the county.") == "English"
    assert language_of("https://a.com/de/um and www.a.com/de/com are the pages that have it") == (
        "English"
    )
