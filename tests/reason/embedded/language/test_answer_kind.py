"""What a question asks for is told by its asking word and its noun."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.language.answer_kind import VALUES, AnswerKind, Sought, sought_by


@pytest.mark.parametrize(
    "text", ["", "?", "mill", "tell me about the mill", "what", "how", "which"]
)
def test_what_says_nothing_asks_for_an_account(text: str) -> None:
    assert sought_by(text) == Sought(AnswerKind.ACCOUNT)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who owns the mill?", AnswerKind.PERSON),
        ("To whom was it sold?", AnswerKind.PERSON),
        ("When did it burn?", AnswerKind.DATE),
        ("where is it", AnswerKind.PLACE),
        ("Why did it burn?", AnswerKind.ACCOUNT),
        ("Is it open?", AnswerKind.YES_NO),
        ("How old is the miller?", AnswerKind.AGE),
        ("How often did it burn?", AnswerKind.COUNT),
        ("How long did it burn?", AnswerKind.DURATION),
        ("how high is the wheel", AnswerKind.AMOUNT),
        ("How do I grease it?", AnswerKind.ACCOUNT),
        ("What happened?", AnswerKind.ACCOUNT),
        ("What became of it?", AnswerKind.ACCOUNT),
        ("What do the ledgers say?", AnswerKind.ACCOUNT),
    ],
)
def test_kinds_by_the_asking_word(text: str, kind: AnswerKind) -> None:
    assert sought_by(text).kind is kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How many sacks were ground?", Sought(AnswerKind.COUNT, "sacks")),
        ("How many hectares burned?", Sought(AnswerKind.AMOUNT, "hectares", "hectares")),
        ("How many days did it burn?", Sought(AnswerKind.DURATION, "days", "days")),
        ("how much did it cost", Sought(AnswerKind.AMOUNT)),
        ("In which year did it burn?", Sought(AnswerKind.DATE, "year")),
        ("Which town has the mill?", Sought(AnswerKind.PLACE, "town")),
        ("What is the price of rye?", Sought(AnswerKind.AMOUNT, "price")),
        ("what's the number of sacks", Sought(AnswerKind.COUNT, "number")),
        ("What percentage was rye?", Sought(AnswerKind.SHARE, "percentage", "%")),
        ("Which lawyer was paid?", Sought(AnswerKind.PERSON, "lawyer")),
        ("Which company built it?", Sought(AnswerKind.ORGANISATION, "company")),
        ("Which companies are left?", Sought(AnswerKind.ORGANISATION, "companies", several=True)),
        ("Which wheel broke?", Sought(AnswerKind.THING, "wheel broke")),
        ("Which wheels are broken?", Sought(AnswerKind.THING, "wheels", several=True)),
        ("Who are the owners?", Sought(AnswerKind.PERSON, several=True)),
        ("rye price 1904", Sought(AnswerKind.AMOUNT, "price")),
        ("tell me the date of the fire", Sought(AnswerKind.DATE, "date")),
    ],
)
def test_nouns_units_and_plurals(text: str, expected: Sought) -> None:
    assert sought_by(text) == expected


@given(st.text(max_size=200))
def test_whatever_is_asked_has_a_kind(text: str) -> None:
    found = sought_by(text)
    assert found.kind in AnswerKind
    assert not found.unit or found.kind in VALUES
