"""Which questions need several steps."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded.steps import has_steps


@pytest.mark.parametrize(
    "question",
    [
        "Who chairs the club?",
        "Did the club sign the contract?",
        "Why did the club close?",
        "Give me an overview of the club that won the cup.",
        "Which clubs won? Do the sources agree?",
        "How old was Cleo Berg when she won?",
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
