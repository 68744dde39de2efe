"""Questions within a question: which phrase is asked first, and where it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.inner import innermost

# -- none


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "the",
        "Who owns Holm Works?",
        "How old are the children of the parents who run the farm?",
        "What happened at the harbour on the morning of the storm?",
        "Who is the wife of Bo Lind?",
        "Who designed the village of Morden?",
        "When was the live album Morden Nights recorded?",
        "Which was founded first, the Morden Terns or the Quill Foxes?",
        "Where is the district?",
    ],
)
def test_there_is_none(question: str) -> None:
    assert innermost(question) is None


# -- told by a name


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What country was the author of Brand a citizen of?", "Who is the author of Brand?"),
        ("Who is the sibling of the performer of Ten Days?", "Who is the performer of Ten Days?"),
        (
            "What kind of school did the author of Ada and the Long, Wet, Very Cold Day attend?",
            "Who is the author of Ada and the Long, Wet, Very Cold Day?",
        ),
        ("Which sea is near the birthplace of Ada Berg?", "What is the birthplace of Ada Berg?"),
        ("What kind of plane flew over Ada Berg's birthplace?", "What is Ada Berg's birthplace?"),
        ("What river flows by Ada Berg's city of birth?", "What is Ada Berg's city of birth?"),
        ("Who is married to Long Eye's main director?", "Who is Long Eye's main director?"),
        ("When did the spouse of Ada Berg sing The Last Ferry?", "Who is the spouse of Ada Berg?"),
    ],
)
def test_a_phrase_that_a_name_tells(question: str, asked: str) -> None:
    inner = innermost(question)
    assert inner is not None
    assert inner.asked == asked


# -- told by a clause


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Who was the first president of the association which published Tern Studies?",
            "What is the association which published Tern Studies?",
        ),
        (
            "What county borders the county in which Morden, Westland is located?",
            "What is the county in which Morden, Westland is located?",
        ),
        (
            "Who was president when the area where Holm Wind Farm is located became a state?",
            "What is the area where Holm Wind Farm is located?",
        ),
        (
            "When did the country where the village of Morden is located, join the union?",
            "What is the country where the village of Morden is located?",
        ),
        ("What currency came before in the country Bo Lind is from?", "What is the country Bo Lind is from?"),
        (
            "Who runs for governor in the state the Battle of Morden was fought?",
            "What is the state the Battle of Morden was fought?",
        ),
        ("What is spoken by the person who wrote Brand?", "Who is the person who wrote Brand?"),
    ],
)
def test_a_phrase_that_a_clause_tells(question: str, asked: str) -> None:
    inner = innermost(question)
    assert inner is not None
    assert inner.asked == asked


# -- the innermost


def test_the_innermost_is_asked_first_and_its_answer_opens_the_next() -> None:
    question = "Who was in charge of the country where the composer of Aska was a citizen?"
    first = innermost(question)
    assert first is not None
    assert first.asked == "Who is the composer of Aska?"
    assert question[first.start : first.end] == "the composer of Aska"
    second = innermost(f"{question[: first.start]}Bo Lind{question[first.end :]}")
    assert second is not None
    assert second.asked == "What is the country where Bo Lind was a citizen?"


def test_three_lie_within_each_other() -> None:
    question = "How many shops are in the state that borders the state where Long Eye's performer lived when he died?"
    asked = []
    while (inner := innermost(question)) is not None:
        asked.append(inner.asked)
        question = f"{question[: inner.start]}Xanten{question[inner.end :]}"
    assert asked == [
        "Who is Long Eye's performer?",
        "What is the state where Xanten lived when he died?",
        "What is the state that borders Xanten?",
    ]


# -- whatever is asked

PIECES = ["the", "of", "where", "who", "Ada", "Berg's", "city", "was", "born", ",", "?", "in", "which", '"Aska"', "a"]


@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join)))
def test_a_phrase_stands_in_its_question(question: str) -> None:
    inner = innermost(question)
    if inner is None:
        return
    assert 0 <= inner.start < inner.end <= len(question)
    assert inner.asked.endswith(f" is {question[inner.start : inner.end]}?")
    assert any(char.isupper() or char.isdigit() or char == '"' for char in question[inner.start : inner.end])


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_putting_answers_in_comes_to_an_end(question: str) -> None:
    for _ in range(40):
        inner = innermost(question)
        if inner is None:
            return
        question = f"{question[: inner.start]}Xanten{question[inner.end :]}"
    pytest.fail(f"it goes on and on: {question}")


def test_an_endless_question_is_taken_apart_in_no_time() -> None:
    assert innermost("Who is " + "the city where Ada Berg was born near " * 400 + "?") is not None
