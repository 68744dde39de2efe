"""Planning an investigation: what to find out, whom to ask first, in which parts and order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from deepdiver.core.text import in_brief, terms
from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.overwatch.execute import (
    LONGEST,
    ToolExecutor,
    drop_repeated_calls,
    make_calls,
    make_searches,
    make_searches_for,
)
from deepdiver.strategies.overwatch.scope import ask_first, narrow_calls, scope_of
from deepdiver.strategies.shared.base import Deps, State, Update, attempt
from deepdiver.strategies.shared.plan import PROBLEMS, Approval, drop_same
from deepdiver.strategies.shared.reading import find_nearest
from deepdiver.strategies.shared.room import BRIEF
from deepdiver.tasks import DecomposeTask, PlanResearch, ResearchPlan, SubTask, TaskDecomposition

INITIAL = 10
"""The most calls of a plan."""
CONTEXT = "What lies near it in time and place?"
"""The second sub-task of a question that has only one part. Correlating answers it; it is not
searched for."""
NAME_CHARS = 100
"""The most characters of the name of a place, or of a time. A longer text explains, and would be
added to searches, or be read as the years that it happens to mention."""
WANTED = "a person wants it"
Part = dict[str, Any]
"""A sub-task as the state carries it."""


def show_context(context: Mapping[str, Any]) -> str:
    """Return what the person says about the task besides, as a task shows it."""
    return json.dumps(context, ensure_ascii=False, sort_keys=True) if context else ""


async def plan(state: State, deps: Deps) -> tuple[Update, str]:
    """Plan the investigation.

    If none of the plan's calls can be made, the question itself is searched for.

    Returns:
        The update with the plan and its first calls, and what the reasoner thought.
    """
    question, executor = state["task"], ToolExecutor(deps, state["task"])
    task = PlanResearch(
        question=question,
        as_of=deps.as_of,
        context=show_context(state["context"]),
        tools=executor.definitions,
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
        past=show_past_runs(state["past_runs"]),
        limit=INITIAL,
    )
    answer = await attempt(deps, task)
    made = answer if answer and answer.objectives else ResearchPlan(objectives=(question,))
    made = made.model_copy(
        update={
            "objectives": tuple(in_brief(text, BRIEF) for text in made.objectives),
            "regions_of_interest": tuple(filter(_is_name, made.regions_of_interest)),
            "time_range": made.time_range if _is_name(made.time_range) else "",
        }
    )
    calls = [
        *make_calls(made.initial_queries, made.objectives, executor.names),
        *make_searches_for(made.searches, made.objectives),
    ][:INITIAL]
    plain = made.model_dump(mode="json", exclude={"searches"})
    told = {**plain, "initial_queries": [_show_call(call) for call in calls]}
    scope = scope_of(told, deps.as_of)
    tools = executor.definitions
    queries = narrow_calls(calls, scope, tools, executor.refusal)
    queries = ask_first(queries, scope, tools, executor.refusal, question)
    if all(executor.refusal(query["tool"], query["args"]) for query in queries):
        queries += make_searches([question[:LONGEST]], question, "the question itself")
    update = {"research_plan": told, "pending_queries": drop_repeated_calls(queries, ())[:INITIAL]}
    return update, answer.thought if answer else ""


def _is_name(text: str) -> bool:
    return len(text) <= NAME_CHARS


def _show_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {name: call[name] for name in ("tool", "args", "reason")}


async def decompose(state: State, deps: Deps) -> tuple[Update, str]:
    """Take the task apart.

    Returns:
        The update with the sub-tasks, each after those that it depends on, and the reasons for
        them.
    """
    task = DecomposeTask(
        question=state["task"],
        as_of=deps.as_of,
        context=show_context(state["context"]),
        objectives=tuple(state["research_plan"]["objectives"]),
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
    )
    answer = await attempt(deps, task)
    made = answer or TaskDecomposition(
        sub_tasks=(SubTask(id="subtask_1", description=state["task"]),)
    )
    for left_out in made.sub_tasks[PROBLEMS:]:
        deps.note_limit(
            f"a task has {PROBLEMS} sub-tasks at most; left out: {left_out.description}"
        )
    parts = order_parts(_label(made.sub_tasks[:PROBLEMS]))
    problems = [part["description"] for part in parts]
    update = {
        "sub_tasks": [*parts, *_near(parts)],
        "problems": problems,
        "task_complexity": made.task_complexity,
        "pending_queries": _for_parts(state["pending_queries"], problems),
    }
    return update, "\n".join(filter(None, (made.decomposition_reasoning, made.thought)))


def _label(parts: Sequence[SubTask]) -> list[Part]:
    """Return sub-tasks as the state carries them, each once and each with a label of its own."""
    listed: dict[str, SubTask] = {}
    for part in parts:
        listed.setdefault(in_brief(part.description, BRIEF), part)
    labelled: dict[str, Part] = {}
    for number, (description, part) in enumerate(listed.items(), 1):
        key = part.id if part.id and part.id not in labelled else f"subtask_{number}"
        told = {"id": key, "description": description}
        labelled[key] = {**part.model_dump(mode="json"), **told}
    keys = list(labelled)
    return [
        {**part, "dependencies": [_key_of(said, keys) for said in part["dependencies"]]}
        for part in labelled.values()
    ]


def _key_of(said: str, keys: Sequence[str]) -> str:
    """Return the label of the sub-task that is meant, by its label or by its number."""
    number = int(said) if said not in keys and said.isdecimal() else 0
    return keys[number - 1] if 0 < number <= len(keys) else said


def order_parts(parts: Sequence[Part]) -> list[Part]:
    """Return sub-tasks in waves: each comes after all that it depends on.

    Sub-tasks that depend on each other in a circle are looked into in the order in which they
    stand: the first of them does not wait.
    """
    known = {part["id"] for part in parts}
    needs = {
        part["id"]: [key for key in part["dependencies"] if key in known and key != part["id"]]
        for part in parts
    }
    left, done = list(parts), dict[str, Part]()
    wave = 0
    while left:
        ready = [part for part in left if set(needs[part["id"]]) <= done.keys()] or left[:1]
        for part in ready:
            done[part["id"]] = {**part, "dependencies": needs[part["id"]], "wave": wave}
        left = [part for part in left if part["id"] not in done]
        wave += 1
    return list(done.values())


def _near(parts: Sequence[Part]) -> list[Part]:
    if len(parts) != 1:
        return []
    near = SubTask(
        id="subtask_2", description=CONTEXT, focus_area="temporal", dependencies=(parts[0]["id"],)
    )
    return [{**near.model_dump(mode="json"), "wave": 1}]


def _for_parts(calls: Sequence[dict[str, Any]], problems: Sequence[str]) -> list[dict[str, Any]]:
    """Return calls, each for the sub-task that it shares the most words with.

    If it shares none with any of them, the objective that it was planned for decides.
    """
    asked = (" ".join((*map(str, call["args"].values()), call["reason"])) for call in calls)
    known = set(terms(" ".join(problems)))
    return [
        {
            **call,
            "about": find_nearest(text if known & set(terms(text)) else call["about"], problems),
        }
        for call, text in zip(calls, asked, strict=True)
    ]


def words_of(call: Mapping[str, Any]) -> str:
    """Return a call as a person sees and edits it: the words of its arguments."""
    return " ".join(map(str, call["args"].values()))


def apply_approval(said: Approval, calls: Sequence[Mapping[str, Any]]) -> Update:
    """Return the update for a person's word on a plan; the person's own parts are searched for.

    Args:
        said: What the person said.
        calls: The calls of the plan. Of those that the person keeps, the tool and its arguments are
            kept; what is in other words is a search.
    """
    if said.objection or (not said.edited and said.queries is None):
        return {"objection": said.objection}
    planned = {words_of(call): call for call in calls}
    chosen = [
        {**planned[item["query"]], "about": item["about"]}
        if item["query"] in planned
        else make_searches([item["query"][:LONGEST]], item["about"], WANTED)[0]
        for item in said.queries or ()
    ]
    update: Update = {"objection": "", "struck_queries": said.struck}
    if not said.edited:
        return {**update, "pending_queries": chosen}
    covered = {call["about"] for call in chosen}
    parts = [
        SubTask(id=f"subtask_{n}", description=text) for n, text in enumerate(said.problems, 1)
    ]
    own = [
        call
        for text in said.problems
        if text not in covered
        for call in make_searches(drop_same([text[:LONGEST]], said.struck), text, WANTED)
    ]
    return {
        **update,
        "problems": said.problems,
        "sub_tasks": [{**part.model_dump(mode="json"), "wave": 0} for part in parts],
        "pending_queries": [*chosen, *own],
    }
