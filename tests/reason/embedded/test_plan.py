"""The clauses of a question become sub-problems that say what they need."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.plan import (
    MOST_PROBLEMS,
    ONE_BY_ONE,
    ONE_PART,
    as_calls,
    decompose,
    decompose_task,
    plan_research,
    time_range,
)
from deepdiver.tasks import (
    Decompose,
    DecomposeTask,
    Decomposition,
    PlanResearch,
    ResearchPlan,
    ShownTool,
)


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


# -- the plan of an investigation

SEARCH = ShownTool(name="search", about="everything", arguments=("query: words",))
CHILDREN = "How old are the children of the parents who run Acme Ltd?"


def research(
    question: str, *tools: ShownTool, objection: str = "", limit: int = 10
) -> ResearchPlan:
    task = PlanResearch(
        question=question,
        as_of="2026-11-15",
        tools=tools or (SEARCH,),
        objection=objection,
        limit=limit,
    )
    return plan_research(task)


def test_a_tool_that_is_not_there_is_not_planned_for() -> None:
    made = research("Who runs Acme Ltd?", ShownTool(name="detect_heat", about="heat", arguments=()))
    assert made.initial_queries == ()
    assert as_calls(["x"], (), "why") == ()


def test_objectives_are_the_parts_and_those_that_can_be_asked_at_once_are_asked_first() -> None:
    made = research(CHILDREN)
    assert made.objectives[0] == "Which parents run Acme Ltd?"
    assert len(made.objectives) == 3
    asked = [query.args[0].value for query in made.initial_queries]
    assert "Acme" in asked[0]
    assert len(asked) == len(set(asked)) <= 10
    assert made.priority_sources == (), "no feed suits it, and a search is not at first hand"
    assert len(research(CHILDREN, limit=2).initial_queries) == 2


def test_a_plan_that_was_rejected_gives_way_to_the_question_as_it_stands() -> None:
    assert research(CHILDREN, objection="no").objectives == (CHILDREN,)


def test_where_and_when_are_those_of_the_question() -> None:
    made = research("What burnt near Vantskär at 63.2140 N, 19.0820 E on 8 February 2026?")
    assert made.regions_of_interest == ("Vantskär",)
    assert [(area.lat, area.lon) for area in made.coordinates] == [(63.2140, 19.0820)]
    assert made.time_range == "2026-02-08"
    assert "Vantskär" in made.keywords


@pytest.mark.parametrize(
    ("question", "range_"),
    [
        ("Have strikes increased this week?", "7d"),
        ("What happened in the last 3 days?", "3d"),
        ("What changed over the past month?", "30d"),
        ("What happened between 3 May 2020 and 5 June 2021?", "2020-05-03/2021-06-05"),
        ("Who owns it?", ""),
        ("Compare the project of 2018 with what was agreed in 2021", ""),
        ("What is planned for August 2035?", ""),
    ],
)
def test_the_time_that_matters(question: str, range_: str) -> None:
    assert time_range(question) == range_


def test_sub_tasks_name_what_they_depend_on() -> None:
    made = decompose_task(DecomposeTask(question=CHILDREN, as_of="2026-11-15"))
    assert [item.id for item in made.sub_tasks] == ["subtask_1", "subtask_2", "subtask_3"]
    assert [item.dependencies for item in made.sub_tasks] == [(), ("subtask_1",), ("subtask_2",)]
    assert [item.complexity for item in made.sub_tasks] == ["simple", "moderate", "moderate"]
    assert made.sub_tasks[2].focus_area == "temporal"
    assert (made.task_complexity, made.decomposition_reasoning) == ("moderate", ONE_BY_ONE)


def test_a_plain_question_is_a_simple_task() -> None:
    made = decompose_task(DecomposeTask(question="Who runs Acme Ltd?", as_of="2026-11-15"))
    assert (made.task_complexity, made.decomposition_reasoning) == ("simple", ONE_PART)
    assert made.sub_tasks[0].focus_area == "actor"


@given(st.text(max_size=200))
def test_any_question_can_be_planned_and_taken_apart(question: str) -> None:
    made = research(question)
    assert made == research(question)
    assert made.objectives
    parts = decompose_task(DecomposeTask(question=question, as_of="2026-11-15")).sub_tasks
    known = [item.id for item in parts]
    assert all(key in known[: known.index(item.id)] for item in parts for key in item.dependencies)


def test_places_of_the_context_are_regions() -> None:
    def planned(context: str) -> tuple[str, ...]:
        task = PlanResearch(
            question="What happened?", as_of="2026-11-15", tools=(), context=context
        )
        return plan_research(task).regions_of_interest

    assert planned('{"region": "Kharkiv", "asked_by": "the desk", "days": 7}') == ("Kharkiv",)
    for odd in ("", "{}", "[1]", "not JSON", '"Kharkiv"'):
        assert planned(odd) == ()
