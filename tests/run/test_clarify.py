"""Asking back: questions that nobody could research, and none of the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver import sample
from deepdiver.run.clarify import clarify, with_answer


@pytest.mark.parametrize("question", ["pensions", "Volvo", "  AI  ", "the company.", "ferries?"])
def test_a_single_word_is_asked_back_about(question: str) -> None:
    back = clarify(question)
    assert back.startswith("What would you like to know about “")
    assert question.strip(" .?") in back


@pytest.mark.parametrize(
    "question",
    ["What happened?", "Tell me more", "Why?", "news", "Summarise", "hi", "help", "?", "…", "Who?"],
)
def test_a_question_without_a_subject_is_asked_back_about(question: str) -> None:
    assert clarify(question).startswith("What is your question about?")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who is he?", "he"),
        ("Why did it fail?", "it"),
        ("Compare them", "them"),
        ("What is this company?", "this"),
    ],
)
def test_a_word_that_stands_for_nothing_is_asked_back_about(question: str, word: str) -> None:
    assert clarify(question) == f"Whom or what do you mean by “{word}”?"


@pytest.mark.parametrize(
    "question",
    [
        "Who runs Svedjan Ost AB?",
        "What is GDPR?",
        "Explain photosynthesis",
        "Tell me about Volvo",
        "ferry fire",
        "CVE-2024-3094",
        "Is it safe to eat raw oysters?",
        "Wer leitet Volvo?",
        "谁是法国总统",
        "日本の首相は誰ですか",
        "นายกรัฐมนตรีคือใคร",
        "My sister works at Holm Works. Who owns it?",
    ],
)
def test_a_question_that_says_what_it_is_about_is_not(question: str) -> None:
    assert clarify(question) == ""


def test_no_question_of_the_sample_is_vague() -> None:
    assert [item.text for item in sample.questions() if clarify(item.text)] == []


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(question: str) -> None:
    assert isinstance(clarify(question), str)


def test_the_answer_completes_the_question() -> None:
    told = with_answer(" pensions? ", " how they changed in Sweden since 2010 ")
    assert told == "pensions: how they changed in Sweden since 2010"
    assert clarify(told) == ""
