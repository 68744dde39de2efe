"""The fixed words of a report are there in every language, and English where one is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import HypothesisStatus
from deepdiver.report.kinds import CAUTION_NOTE, KIND_NOTES
from deepdiver.report.markdown import BOTTOM_LINE, JOURNEY, STANDINGS
from deepdiver.report.rivals import COLUMN_NAMES
from deepdiver.report.words import ENGLISH, Words, table, words_in, words_of
from deepdiver.tools.credibility import table as kinds_of_sources
from tests.report.test_markdown import report

SRC = Path(__file__).parents[2] / "src" / "deepdiver"
CODES = sorted(table())
GERMAN = words_in("de")


def test_a_language_that_is_not_there_stays_english() -> None:
    for code in ("", "en", "sv", "xx", "\ud800"):
        assert words_in(code) is ENGLISH
    assert ENGLISH("Sources") == "Sources"
    assert ENGLISH("more rows: {}", 3) == "more rows: 3"


def test_a_phrase_that_a_language_lacks_stays_english() -> None:
    held = Words("de", {"Sources": "Quellen"})
    assert held("Sources") == "Quellen"
    assert held("Pictures") == "Pictures"
    assert held.quoted("x") == "“x”"


def test_these_languages_are_there_and_have_the_same_phrases() -> None:
    assert {*"de es fr it ja nl pt zh".split()} <= {*CODES}
    for code in CODES:
        assert {*words_in(code).phrases} == {*GERMAN.phrases}, code


@pytest.mark.parametrize("code", CODES)
def test_a_phrase_has_the_same_gaps_in_every_language(code: str) -> None:
    for phrase, said in words_in(code).phrases.items():
        assert said.strip() or not phrase.strip()
        assert re.findall(r"{.*?}", said) == re.findall(r"{.*?}", phrase), phrase


def test_every_phrase_is_one_that_the_code_says() -> None:
    files = [*SRC.rglob("*.py"), SRC / "tools" / "credibility.toml"]
    said = " ".join(path.read_text(encoding="utf-8") for path in files)
    flat = re.sub(r"\"\s*\n\s*f?\"", "", said)
    made = re.compile(r"{[^{}]*}")
    patterns = made.sub("{}", flat)
    composed = {"other independent", " old, and the question is about now", "The audit cut"}
    composed |= {"in another language than", "Not answered: "}
    for phrase in GERMAN.phrases:
        literal = phrase in flat or phrase in patterns
        assert literal or any(part in phrase and part in flat for part in composed), phrase


def test_what_a_report_says_by_itself_is_in_the_table() -> None:
    fixed = {BOTTOM_LINE, JOURNEY, CAUTION_NOTE, *COLUMN_NAMES, *STANDINGS.values()}
    fixed |= {*KIND_NOTES.values()}
    fixed |= {text for ending in OUTCOMES.values() for text in (ending.headline, ending.lead)}
    kinds = [*kinds_of_sources().kinds.values(), *kinds_of_sources().unknown.values()]
    fixed |= {text for kind in kinds for text in (kind.says, kind.standing)}
    assert fixed - {""} <= {*GERMAN.phrases}
    assert {*STANDINGS} == {*HypothesisStatus}


def test_numbers_choose_their_form() -> None:
    forms = ("{} attempt to refute", "{} attempts to refute")
    assert ENGLISH.many(1, *forms) == "1 attempt to refute"
    assert ENGLISH.many(0, *forms) == "0 attempts to refute"
    assert GERMAN.many(1, *forms) == "1 Widerlegungsversuch"
    assert GERMAN.many(2, *forms) == "2 Widerlegungsversuche"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("your document", "Ihr Dokument"),
        ("3 other independent sources agree", "3 weitere unabhängige Quellen stimmen überein"),
        ("7 years old, and the question is about now", "7 Jahre alt, die Frage gilt dem Heute"),
        ("Not answered: What is {x}: 3?", "Nicht beantwortet: What is {x}: 3?"),
        ("retracted: see “A notice”", "retracted: see “A notice”"),
        ("{} {0}", "{} {0}"),
        ("", ""),
    ],
)
def test_texts_of_the_record_are_told_if_they_are_phrases(text: str, said: str) -> None:
    assert GERMAN.recorded(text) == said
    assert ENGLISH.recorded(text) == text


def test_places_and_lists() -> None:
    assert GERMAN.place("page 3") == "Seite 3"
    assert GERMAN.place("sheet page 1") == "Tabelle page 1"
    assert GERMAN.place("") == ""
    assert ENGLISH.listed(["a"]) == "a"
    assert ENGLISH.listed(["a", "b", "c"]) == "a, b and c"
    assert words_in("ja").listed(["a", "b", "c"]) == "a、b、c"


def test_a_report_has_the_words_of_its_language() -> None:
    assert words_of(report(language="fr")).code == "fr"
    assert words_of(report()) is ENGLISH


@given(st.sampled_from(CODES), st.text(max_size=40))
def test_whatever_the_record_says_can_be_told(code: str, text: str) -> None:
    say = words_in(code)
    assert isinstance(say.recorded(text), str)
    assert text in say.quoted(text)
