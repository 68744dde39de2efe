"""A question is searched for as it stands; one with steps is taken apart."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded import gather as module
from deepdiver.reason.embedded.gather import (
    LONGEST_QUERY,
    extract_findings,
    formulate,
    write_queries,
)
from deepdiver.tasks import Decompose, Extracted, ExtractFindings, Extraction, WriteQueries
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


def test_what_a_message_says_of_its_subject_is_searched_for_too() -> None:
    message = "The server asks for the password of its key at boot. How can a start go unattended?"
    part = "How can a start go unattended?"
    assert problems(message) == [part]
    task = WriteQueries(question=message, problem=part, limit=1)
    assert write_queries(task).queries == (
        "How can a start go unattended? The server asks for the password of its key at boot.",
    )
    other = WriteQueries(question=message, problem="What is a key?", limit=1)
    assert write_queries(other).queries == ("What is a key?",)


def test_a_query_is_not_made_twice_and_has_a_length() -> None:
    assert queries("Who chairs the board?", tried=("who chairs the board?",)) == ()
    assert len(queries(f"What is {'very ' * 200}long?")[0]) == LONGEST_QUERY


def test_the_things_compared_are_searched_for_too() -> None:
    found = queries("Compare Sable and Marten")
    assert {"Sable", "Marten"} <= set(found)
    assert queries("Compare Sable and Marten", limit=1) == ("Compare Sable and Marten",)


def test_steps_find_sentences_and_the_nearest_passages_around_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rate_by_words(monkeypatch)
    installed, near = "Lodby AB installed the plant at berth 4.", "The plant is grey."
    text = shown_text(
        id="T1", title="Award", text=f"{installed} {near} Lodby AB is owned by Grator AB."
    )
    passages = [near, f"{installed} {near}"]
    found_near = tuple(Extracted(statement=p, source="T1", quote=p) for p in passages)
    monkeypatch.setattr(module, "find", lambda _: Extraction(findings=found_near))
    task = ExtractFindings(question=STEPS, texts=(text,), problems=parts_of(STEPS))

    def quotes(**changes: object) -> list[str]:
        found = extract_findings(task.model_copy(update=changes))
        return [item.quote for item in found.findings]

    assert installed in quotes()
    assert near in quotes()
    assert passages[1] not in quotes(), "its sentence was found by itself"
    assert near not in quotes(problems=parts_of("Which company owns it?"))
    assert near not in quotes(known=("Lodby AB installed it.",))
