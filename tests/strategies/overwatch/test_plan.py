from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deepdiver import tasks
from deepdiver.errors import ReasonError
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.plan import (
    CONTEXT,
    INITIAL,
    apply_approval,
    decompose,
    order_parts,
    plan,
)
from deepdiver.strategies.shared.plan import PROBLEMS, Approval
from deepdiver.strategies.shared.room import BRIEF
from tests.strategies.rig import QUESTION, Rig, ScriptedReasoner, call

STATE: dict[str, Any] = {
    "task": QUESTION,
    "objection": "",
    "context": {},
    "past_runs": [],
    "research_plan": {"objectives": [QUESTION]},
    "pending_queries": [],
}


def fail(task: Any) -> Any:
    raise ReasonError("no")


async def planned(tmp_path: Path, answer: Any) -> dict[str, Any]:
    deps = Rig(tmp_path, ScriptedReasoner(plan_research=answer)).session().deps
    return (await plan(STATE, deps))[0]


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


ESSAY = "Where the mill stands, since when and with whom. " * 20


async def test_a_plan_is_told_in_sentences_and_its_places_and_times_in_names(
    tmp_path: Path,
) -> None:
    """A text that explains would be added to searches, or be read as a period."""
    said = tasks.ResearchPlan(
        objectives=(ESSAY, "Who owns it."),
        regions_of_interest=("Lund", f"The town of Lund, where since 1850 {ESSAY}"),
        time_range=f"The question names no time; the mill is from 1850. {ESSAY}",
    )
    plan_made = (await planned(tmp_path, lambda task: said))["research_plan"]
    first, second = plan_made["objectives"]
    assert ESSAY.startswith(first)
    assert (len(first) <= BRIEF, second) == (True, "Who owns it.")
    assert (plan_made["regions_of_interest"], plan_made["time_range"]) == (["Lund"], "")
    short = said.model_copy(update={"time_range": "7d"})
    kept = await planned(tmp_path / "short", lambda task: short)
    assert kept["research_plan"]["time_range"] == "7d"


async def test_a_part_is_as_long_as_its_first_sentences(tmp_path: Path) -> None:
    part = tasks.SubTask(id="subtask_1", description=ESSAY)
    made, _ = await decomposed(tmp_path, part, part.model_copy(update={"id": "subtask_2"}))
    (problem,) = made["problems"]
    assert ESSAY.startswith(problem)
    assert len(problem) <= BRIEF
    assert [item["description"] for item in made["sub_tasks"]] == [problem, CONTEXT]


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
    rig = Rig(
        tmp_path,
        ScriptedReasoner(
            decompose_task=lambda task: tasks.TaskDecomposition(
                sub_tasks=tuple(parts), decomposition_reasoning="so"
            )
        ),
    )
    deps = rig.session().deps
    made, reasoning = await decompose(STATE, deps)
    assert sorted(deps.notes) == [
        f"a task has 5 sub-tasks at most; left out: Part {n}?" for n in (6, 7)
    ]
    assert len(made["sub_tasks"]) == len(made["problems"]) == PROBLEMS
    assert [part["dependencies"] for part in made["sub_tasks"]] == [[], *[["subtask_1"]] * 4]
    assert (made["task_complexity"], reasoning) == ("moderate", "so")


# -- the scope of a plan


async def test_a_plan_is_carried_out_as_it_says(tmp_path: Path) -> None:
    said = tasks.ResearchPlan(
        objectives=("Who owns Holm Works?",),
        regions_of_interest=("Oslo",),
        priority_sources=("corpus",),
        initial_queries=(call("Holm Works"), call("owner in Oslo", "search_corpus")),
    ).keep_thought("Let me see.")
    deps = Rig(tmp_path, ScriptedReasoner(plan_research=lambda task: said)).session().deps
    made, thoughts = await plan(STATE, deps)
    assert thoughts == "Let me see."
    assert [(query["tool"], query["args"]) for query in made["pending_queries"]] == [
        ("search", {"query": "Holm Works Oslo"}),
        ("search_corpus", {"query": "owner in Oslo"}),
    ], "both tools search the corpus, so that their order stays"
    assert made["research_plan"]["initial_queries"] == [
        {"tool": "search", "args": {"query": "Holm Works"}, "reason": "to find out"},
        {"tool": "search_corpus", "args": {"query": "owner in Oslo"}, "reason": "to find out"},
    ]
    assert made["research_plan"]["regions_of_interest"] == ["Oslo"]


async def test_the_context_of_a_task_is_shown_where_the_seed_shows_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps, state = rig.session().deps, {**STATE, "context": {"b": [1], "a": "é"}}
    await plan(state, deps)
    await decompose(state, deps)
    (first,), (second,) = rig.reasoner.of(tasks.PlanResearch), rig.reasoner.of(tasks.DecomposeTask)
    assert first.context == second.context == '{"a": "é", "b": [1]}'
    await plan(STATE, deps)
    assert "context" not in rig.reasoner.of(tasks.PlanResearch)[1].prompt().user


async def test_calls_of_the_plan_belong_to_sub_tasks(tmp_path: Path) -> None:
    parts = (
        tasks.SubTask(id="a", description="When was the fire?"),
        tasks.SubTask(id="b", description="Who owns Holm Works?"),
    )
    rule = tasks.TaskDecomposition(sub_tasks=parts)
    deps = Rig(tmp_path, ScriptedReasoner(decompose_task=lambda task: rule)).session().deps
    calls = make_searches(["Holm Works owner", "fire date"], QUESTION, "x")
    made, _ = await decompose({**STATE, "pending_queries": calls}, deps)
    assert [query["about"] for query in made["pending_queries"]] == [
        "Who owns Holm Works?",
        "When was the fire?",
    ]


# -- the order of sub-tasks


def parts_of(needs: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    return [{"id": key, "description": key, "dependencies": list(on)} for key, on in needs.items()]


def waves_of(parts: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {part["id"]: part["wave"] for part in parts}


def test_a_sub_task_comes_after_those_it_depends_on() -> None:
    made = order_parts(parts_of({"c": ["b"], "a": [], "b": ["a", "a", "x", "b"], "d": []}))
    assert [part["id"] for part in made] == ["a", "d", "b", "c"]
    assert waves_of(made) == {"a": 0, "d": 0, "b": 1, "c": 2}
    assert made[2]["dependencies"] == ["a", "a"]


def test_a_circle_is_begun_with_its_first() -> None:
    assert waves_of(order_parts(parts_of({"a": ["b"], "b": ["a"]}))) == {"a": 0, "b": 1}


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdefx"), max_size=4), max_size=6
    )
)
def test_every_sub_task_has_a_wave_and_waits_for_no_later_one_without_a_circle(
    needs: dict[str, list[str]],
) -> None:
    made = order_parts(parts_of(needs))
    waves = waves_of(made)
    assert sorted(waves) == sorted(needs)
    assert sorted(set(waves.values())) == list(range(len(set(waves.values()))))
    assert [part["wave"] for part in made] == sorted(waves.values())
    keys = list(needs)
    forward = {key: [on for on in needs[key] if on in keys[: keys.index(key)]] for key in keys}
    for part in order_parts(parts_of(forward)):
        assert all(
            waves_of(order_parts(parts_of(forward)))[on] < part["wave"]
            for on in forward[part["id"]]
        )


async def test_sub_tasks_without_labels_and_said_twice_are_told_apart(tmp_path: Path) -> None:
    made, _ = await decomposed(
        tmp_path,
        tasks.SubTask(description="Who?"),
        tasks.SubTask(id="x", description="When?"),
        tasks.SubTask(id="x", description="Where?", dependencies=("subtask_1",)),
        tasks.SubTask(id="y", description="Who?"),
    )
    assert [(part["id"], part["description"], part["wave"]) for part in made["sub_tasks"]] == [
        ("subtask_1", "Who?", 0),
        ("x", "When?", 0),
        ("subtask_3", "Where?", 1),
    ]


def test_what_a_person_says_is_obeyed() -> None:
    assert apply_approval(Approval([QUESTION]), ()) == {"objection": ""}
    assert apply_approval(Approval([], objection="too broad"), ()) == {"objection": "too broad"}
    made = apply_approval(Approval(["Who founded it?", "When?"], edited=True), ())
    assert made["problems"] == ["Who founded it?", "When?"]
    assert [part["id"] for part in made["sub_tasks"]] == ["subtask_1", "subtask_2"]
    assert [query["args"]["query"] for query in made["pending_queries"]] == made["problems"]


def test_calls_that_a_person_keeps_stay_calls_and_other_words_are_searches() -> None:
    feed = {"tool": "quakes", "args": {"place": "Holm", "since": "2026"}, "reason": "x"}
    calls = [{**feed, "about": QUESTION, "tests": []}]
    wanted = [
        {"query": "Holm ledger", "about": QUESTION},
        {"query": "Holm 2026", "about": QUESTION},
    ]
    made = apply_approval(Approval([QUESTION], queries=wanted, struck=["gone"]), calls)
    assert [call["tool"] for call in made["pending_queries"]] == ["search", "quakes"]
    assert made["pending_queries"][1]["args"] == feed["args"]
    assert made["struck_queries"] == ["gone"]
    assert "sub_tasks" not in made, "the parts are as they were"


def test_a_part_without_a_call_is_searched_for_in_its_own_words_unless_they_were_struck() -> None:
    wanted = [{"query": "Holm ledger", "about": "Who?"}]
    said = Approval(["Who?", "When was it?", "Where?"], True, "", wanted, ["was it when"])
    made = apply_approval(said, ())
    assert [call["args"]["query"] for call in made["pending_queries"]] == ["Holm ledger", "Where?"]
