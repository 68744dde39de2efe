"""The clauses of a question become sub-problems that say what they need."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.plan import MOST_PROBLEMS, decompose
from deepdiver.tasks import Decompose, Decomposition


def plan(question: str, objection: str = "") -> Decomposition:
    return decompose(Decompose(question=question, as_of="2026-11-15", objection=objection))


def test_a_plain_question_is_one_problem() -> None:
    made = plan("Who runs Acme Ltd?")
    assert [problem.question for problem in made.problems] == ["Who runs Acme Ltd?"]
    assert made.problems[0].needs == ()
    assert made.sought == "a person"


def test_each_problem_needs_the_one_before_it_word_for_word() -> None:
    made = plan("How old are the children of the parents who run Acme Ltd?")
    first, second, third = made.problems
    assert first.needs == ()
    assert second.needs == (first.question,)
    assert third.needs == (second.question,)
    assert made.sought == "an age"


def test_two_things_asked_share_what_comes_first() -> None:
    made = plan("Which company owns the firm that built the bridge at Morden, and when?")
    asked = [problem.question for problem in made.problems]
    assert asked.count("Which firm built the bridge at Morden?") == 1


def test_a_rejected_plan_gives_way_to_the_question_as_it_stands() -> None:
    question = "How old are the children of the parents who run Acme Ltd?"
    made = plan(question, objection="too many parts")
    assert [problem.question for problem in made.problems] == [question]


@pytest.mark.parametrize("question", ["", "?", "x" * 1_000_000, "who " * 1_000])
def test_odd_questions_have_a_plan_too(question: str) -> None:
    assert plan(question).problems
    assert plan(question, objection="no").problems


@given(st.text(max_size=200))
def test_a_plan_has_at_most_so_many_problems_each_once(question: str) -> None:
    asked = [problem.question for problem in plan(question).problems]
    assert 1 <= len(asked) <= MOST_PROBLEMS
    assert len(set(asked)) == len(asked)
