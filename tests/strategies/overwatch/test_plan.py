from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver import tasks
from deepdiver.errors import ReasonError
from deepdiver.strategies.overwatch.plan import CONTEXT, INITIAL, apply_approval, decompose, plan
from deepdiver.strategies.shared.plan import PROBLEMS, Approval
from tests.strategies.rig import QUESTION, Rig, ScriptedReasoner, call

STATE: dict[str, Any] = {
    "task": QUESTION,
    "objection": "",
    "context": {"past": []},
    "research_plan": {"objectives": [QUESTION]},
}


def fail(task: Any) -> Any:
    raise ReasonError("no")


async def planned(tmp_path: Path, answer: Any) -> dict[str, Any]:
    deps = Rig(tmp_path, ScriptedReasoner(plan_research=answer)).session().deps
    return await plan(STATE, deps)


async def test_a_plan_that_failed_or_aims_at_nothing_gives_way_to_the_question(
    tmp_path: Path,
) -> None:
    for name, answer in {"a": fail, "b": lambda task: tasks.ResearchPlan(objectives=())}.items():
        made = await planned(tmp_path / name, answer)
        assert made["research_plan"]["objectives"] == [QUESTION]
        assert [query["args"] for query in made["pending_queries"]] == [{"query": QUESTION}]


async def test_a_plan_of_calls_that_cannot_be_made_searches_for_the_question_too(
    tmp_path: Path,
) -> None:
    made = await planned(
        tmp_path,
        lambda task: tasks.ResearchPlan(
            objectives=("x",), initial_queries=(call("x", "read_minds"),)
        ),
    )
    assert [query["tool"] for query in made["pending_queries"]] == ["read_minds", "search"]


async def test_a_plan_has_so_many_calls_and_none_twice(tmp_path: Path) -> None:
    many = (*(call(f"q {n}") for n in range(9)), call("8 q"))
    made = await planned(
        tmp_path, lambda task: tasks.ResearchPlan(objectives=("x",), initial_queries=many)
    )
    assert len(made["pending_queries"]) == 9 < INITIAL


async def decomposed(tmp_path: Path, *parts: tasks.SubTask) -> tuple[dict[str, Any], str]:
    answer = (
        tasks.TaskDecomposition(sub_tasks=parts, decomposition_reasoning="so") if parts else None
    )
    rule = (lambda task: answer) if answer else fail
    return await decompose(
        STATE, Rig(tmp_path, ScriptedReasoner(decompose_task=rule)).session().deps
    )


async def test_a_task_that_cannot_be_taken_apart_is_one_part_and_its_surroundings(
    tmp_path: Path,
) -> None:
    made, reasoning = await decomposed(tmp_path)
    assert [part["description"] for part in made["sub_tasks"]] == [QUESTION, CONTEXT]
    assert made["problems"] == [QUESTION], "the surroundings are correlated and not searched for"
    assert reasoning == ""


async def test_at_most_five_parts_are_taken_and_they_depend_on_parts_that_there_are(
    tmp_path: Path,
) -> None:
    parts = [
        tasks.SubTask(
            id=f"subtask_{n}",
            description=f"Part {n}?",
            dependencies=("subtask_1", "nowhere", f"subtask_{n}"),
        )
        for n in range(1, 8)
    ]
    made, reasoning = await decomposed(tmp_path, *parts)
    assert len(made["sub_tasks"]) == len(made["problems"]) == PROBLEMS
    assert [part["dependencies"] for part in made["sub_tasks"]] == [[], *[["subtask_1"]] * 4]
    assert (made["task_complexity"], reasoning) == ("moderate", "so")


def test_what_a_person_says_is_obeyed() -> None:
    assert apply_approval(Approval([QUESTION])) == {"objection": ""}
    assert apply_approval(Approval([], objection="too broad")) == {"objection": "too broad"}
    made = apply_approval(Approval(["Who founded it?", "When?"], edited=True))
    assert made["problems"] == ["Who founded it?", "When?"]
    assert [part["id"] for part in made["sub_tasks"]] == ["subtask_1", "subtask_2"]
    assert [query["args"]["query"] for query in made["pending_queries"]] == made["problems"]
