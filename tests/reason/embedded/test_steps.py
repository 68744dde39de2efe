"""Which questions need several steps."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded.steps import by_sentence, has_steps
from tests.reason.embedded.shown import finding


@pytest.mark.parametrize(
    "question",
    [
        "Who chairs the club?",
        "Did the club sign the contract?",
        "Why did the club close?",
        "Give me an overview of the club that won the cup.",
        "Which clubs won? Do the sources agree?",
        "How old was Cleo Berg when she won?",
        "How can lessons from the strike, which ended in May, guide the plan for 2030?",
        "What should the harbour do to prepare for the storms which the forecasts promise?",
        "",
    ],
)
def test_a_plain_question_has_none(question: str) -> None:
    assert not has_steps(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which company owns the firm that installed the plant at berth 4?",
        "How old are the children of the parents who run Svedjan Ost AB?",
        "How old is Cleo Berg?",
        "When was the failover tested and how long did it take?",
    ],
)
def test_a_question_within_a_question_is_a_step(question: str) -> None:
    assert has_steps(question)


def test_a_passage_is_read_sentence_by_sentence_under_its_own_label() -> None:
    long = finding("Ada was born in 1951. She lives by the sea. Her shop is old.", "F1")
    short = finding("Bo is her son. He is 40.", "F2")
    parts = by_sentence((long, short))
    assert [(part.id, part.statement) for part in parts] == [
        ("F1", "Ada was born in 1951."),
        ("F1", "She lives by the sea."),
        ("F1", "Her shop is old."),
        ("F2", short.statement),
    ]
    assert all(part.quote in long.quote for part in parts[:3])
    assert parts[0].source == long.source


def test_nothing_is_nothing() -> None:
    assert by_sentence(()) == ()
