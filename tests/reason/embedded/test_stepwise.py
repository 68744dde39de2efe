"""A question is asked step by step, and its likelihood includes every step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.reader_answers import Passage, ReaderAnswer
from deepdiver.reason.embedded.stepwise import (
    AS_IT_STANDS,
    LEAST,
    MOST_STEPS,
    STEP,
    StepwiseAnswers,
    agreement,
    ask_stepwise,
    chance_right,
)
from tests.reason.embedded.reader import teach

QUESTION = "What is the population of the city where Ada Berg was born?"
BORN = Passage("Ada Berg", "Ada Berg was born in Morden.")
MORDEN = Passage("Morden", "Morden is a city. It has 459 people.")
KNOWN: dict[tuple[str, ...], tuple[str, float]] = {
    ("Ada Berg was born", "Morden"): ("Morden", 0.6),
    ("Morden is a city", "459"): ("459 people", 0.5),
}


def put(question: str, *passages: Passage, known: int = 0) -> StepwiseAnswers:
    return ask_stepwise(question, analyse_question(question).chains[-1][-1], passages, known)


# -- none


def test_nothing_is_answered_by_nothing() -> None:
    made = put(QUESTION)
    assert (made.answers, made.steps, made.left) == ((), (), 1)


def test_a_question_without_another_in_it_is_asked_as_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"459 people": 0.5})
    made = put("What is the population of Morden?", MORDEN)
    assert (made.steps, made.left, made.question) == ((), 0, "What is the population of Morden?")
    assert made.answers[0].text == "459 people"
    assert made.likelihood(0.5) == chance_right(0.5)


def test_an_unlikely_step_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {}, whole={("Ada Berg was born",): ("Morden", LEAST - 0.01)})
    made = put(QUESTION, BORN, MORDEN)
    assert (made.steps, made.left, made.question) == ((), 1, QUESTION)


def test_words_of_the_question_are_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {}, whole={("Ada Berg was born",): ("Ada Berg", 0.9)})
    assert put(QUESTION, BORN).steps == ()


# -- steps


def test_the_answer_within_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {}, whole=KNOWN)
    made = put(QUESTION, BORN, MORDEN)
    assert made.question == "What is the population of Morden?"
    assert [(step.text, step.passage) for step in made.steps] == [("Morden", 0)]
    assert (made.answers[0].text, made.answers[0].passage) == ("459 people", 1)
    assert made.likelihood(0.5) == pytest.approx(chance_right(0.5) * chance_right(0.6) ** STEP)


def test_what_is_known_may_answer_a_step_but_not_the_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {}, whole=KNOWN)
    made = put(QUESTION, MORDEN, Passage("", BORN.text), known=1)
    assert [step.passage for step in made.steps] == [1]
    assert made.answers[0].text == "459 people"
    assert {told.passage for told in made.answers if told.by < 0} == {0}


def test_an_answer_that_skips_the_steps_counts_less(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Passage("Quorn", "Quorn has 7,000 people.")
    plain = [ReaderAnswer("7,000 people", 0.5, 1, 0)]
    monkeypatch.setattr(
        "deepdiver.reason.embedded.stepwise.find_answers",
        lambda question, clause, passages, known: (
            plain if question == QUESTION else [ReaderAnswer("459 people", 0.3, 1, 0)]
        ),
    )
    teach(monkeypatch, {}, whole={("Ada Berg was born",): ("Morden", 0.6)})
    told = put(QUESTION, BORN, other).answers
    assert [(item.text, item.score) for item in told] == [
        ("459 people", 0.3),
        ("7,000 people", 0.5 * AS_IT_STANDS),
    ]


def test_a_step_on_the_way_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Morden": 0.6})
    made = put("Who ruled for long the city where Ada Berg was born?", BORN)
    assert [step.text for step in made.steps] == ["Morden"]
    assert all(told.score < 0.6 for told in made.answers)


def test_no_more_than_three_steps_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(f"Xan{number}" for number in range(40))
    monkeypatch.setattr(
        "deepdiver.reason.embedded.stepwise.best_single_answer",
        lambda question, clause, passages: ReaderAnswer(next(names), 0.5, 0, 0),
    )
    question = "Who led " + "the city near " * 9 + "Morden, and what was built there by others?"
    assert len(put(question, BORN).steps) == MOST_STEPS


# -- how sure


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_agreement_is_never_less_likely(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert chance_right(0.0) <= chance_right(low) <= chance_right(high) < 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_both_signs_are_needed_to_agree(score: float, shared: float) -> None:
    assert min(score, shared) <= agreement(score, shared) + 1e-12
    assert agreement(score, shared) <= max(score, shared) + 1e-12
    assert agreement(score, 0.0) == agreement(0.0, shared) == 0.0


def test_a_sure_reader_and_a_sentence_with_all_words_make_a_sure_answer() -> None:
    assert chance_right(agreement(1.0, 1.0)) > 0.9
    assert chance_right(agreement(1.0, 0.0)) < 0.15


@given(st.lists(st.floats(0, 1), max_size=3), st.floats(0, 1), st.integers(0, 1))
def test_every_step_makes_the_whole_less_likely(
    scores: list[float], agreed: float, left: int
) -> None:
    steps = tuple(ReaderAnswer("x", value, 0, 0) for value in scores)
    whole = StepwiseAnswers((), steps, "", left).likelihood(agreed)
    assert 0 < whole <= chance_right(agreed)
    more = (*steps, ReaderAnswer("y", 1.0, 0, 0))
    assert StepwiseAnswers((), more, "", left).likelihood(agreed) < whole


def test_an_answer_that_is_mentioned_more_often_is_likelier() -> None:
    once, twice, often = (chance_right(0.5, number) for number in (0, 1, 8))
    assert chance_right(0.5) == once < twice < often < 1
    assert StepwiseAnswers(()).likelihood(0.5, 1) == twice
