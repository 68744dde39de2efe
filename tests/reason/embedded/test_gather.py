"""A question is searched for as it stands; one with steps is taken apart."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded.gather import (
    LONGEST_QUERY,
    extract_findings,
    formulate,
    write_queries,
)
from deepdiver.tasks import Decompose, ExtractFindings, WriteQueries
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.shown import AS_OF
from tests.texts import parts_of, shown_text

STEPS = "Which company owns the firm that installed the plant at berth 4?"


def problems(question: str, objection: str = "") -> list[str]:
    made = formulate(Decompose(question=question, as_of=AS_OF, objection=objection))
    return [problem.question for problem in made.problems]


def queries(question: str, *, tried: tuple[str, ...] = (), limit: int = 3) -> tuple[str, ...]:
    task = WriteQueries(question=question, problem=question, tried=tried, limit=limit)
    return write_queries(task).queries


def test_a_plain_question_is_its_own_problem_without_politeness() -> None:
    assert problems("Hello! Could you tell me who chairs the board? Thanks") == [
        "who chairs the board?"
    ]


def test_a_question_with_steps_is_taken_apart() -> None:
    assert len(problems(STEPS)) == 2


def test_after_an_objection_the_question_stays_whole() -> None:
    assert len(problems(STEPS, objection="not like this")) == 1


def test_a_question_is_searched_for_as_it_stands() -> None:
    assert queries("Who chairs the board?") == ("Who chairs the board?",)


def test_a_query_is_not_made_twice_and_has_a_length() -> None:
    assert queries("Who chairs the board?", tried=("who chairs the board?",)) == ()
    assert len(queries(f"What is {'very ' * 200}long?")[0]) == LONGEST_QUERY


def test_the_things_compared_are_searched_for_too() -> None:
    found = queries("Compare Sable and Marten")
    assert {"Sable", "Marten"} <= set(found)
    assert queries("Compare Sable and Marten", limit=1) == ("Compare Sable and Marten",)


def test_steps_find_sentences_and_the_nearest_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)
    text = shown_text(
        id="T1",
        title="Award",
        text="Lodby AB installed the plant at berth 4. Lodby AB is owned by Grator AB.",
    )
    task = ExtractFindings(question=STEPS, texts=(text,), problems=parts_of(STEPS))
    found = extract_findings(task)
    assert text.plain in [item.quote for item in found.findings]
    other = extract_findings(
        task.model_copy(update={"problems": parts_of("Which company owns it?")})
    )
    assert text.plain not in [item.quote for item in other.findings]
    later = extract_findings(task.model_copy(update={"known": ("Lodby AB installed it.",)}))
    assert text.plain not in [item.quote for item in later.findings]
