"""Planning an investigation: what to find out, whom to ask first, and in which parts."""

from __future__ import annotations

from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.overwatch.execute import (
    LONGEST,
    ToolExecutor,
    drop_repeated_calls,
    make_calls,
    make_searches,
)
from deepdiver.strategies.shared.base import Deps, State, Update, attempt
from deepdiver.strategies.shared.plan import PROBLEMS, Approval
from deepdiver.tasks import DecomposeTask, PlanResearch, ResearchPlan, SubTask, TaskDecomposition

INITIAL = 10
"""The most calls of a plan."""
CONTEXT = "What lies near it in time and place?"
"""The second sub-task of a question that has only one part. Correlating answers it; it is not
searched for."""


async def plan(state: State, deps: Deps) -> Update:
    """Return the update with the plan and its first calls.

    If none of the calls can be made, the question itself is searched for.
    """
    question, executor = state["task"], ToolExecutor(deps, state["task"])
    task = PlanResearch(
        question=question,
        as_of=deps.as_of,
        tools=executor.definitions,
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
        past=show_past_runs(state["context"]["past"]),
        limit=INITIAL,
    )
    answer = await attempt(deps, task)
    made = answer if answer and answer.objectives else ResearchPlan(objectives=(question,))
    queries = make_calls(made.initial_queries[:INITIAL], made.objectives)
    if all(executor.refusal(query["tool"], query["args"]) for query in queries):
        queries += make_searches([question[:LONGEST]], question, "the question itself")
    return {
        "research_plan": made.model_dump(mode="json"),
        "pending_queries": drop_repeated_calls(queries, ()),
    }


async def decompose(state: State, deps: Deps) -> tuple[Update, str]:
    """Return the update with the sub-tasks, and the reasons for them."""
    task = DecomposeTask(
        question=state["task"],
        as_of=deps.as_of,
        objectives=tuple(state["research_plan"]["objectives"]),
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
    )
    answer = await attempt(deps, task)
    made = answer or TaskDecomposition(
        sub_tasks=(SubTask(id="subtask_1", description=state["task"]),)
    )
    parts = [item.model_dump(mode="json") for item in made.sub_tasks[:PROBLEMS]]
    known = {part["id"] for part in parts}
    for part in parts:
        part["dependencies"] = [
            key for key in part["dependencies"] if key in known and key != part["id"]
        ]
    problems = list(dict.fromkeys(part["description"] for part in parts))
    if len(parts) == 1:
        near = SubTask(
            id="subtask_2",
            description=CONTEXT,
            focus_area="temporal",
            dependencies=(parts[0]["id"],),
        )
        parts.append(near.model_dump(mode="json"))
    update = {"sub_tasks": parts, "problems": problems, "task_complexity": made.task_complexity}
    return update, made.decomposition_reasoning


def apply_approval(said: Approval) -> Update:
    """Return the update for a person's word on a plan; the person's own parts are searched for."""
    if said.objection or not said.edited:
        return {"objection": said.objection}
    parts = [
        SubTask(id=f"subtask_{n}", description=text) for n, text in enumerate(said.problems, 1)
    ]
    return {
        "objection": "",
        "problems": said.problems,
        "sub_tasks": [part.model_dump(mode="json") for part in parts],
        "pending_queries": [
            q
            for text in said.problems
            for q in make_searches([text[:LONGEST]], text, "a person wants it")
        ],
    }
