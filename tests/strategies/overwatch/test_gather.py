from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.record import Assessment, Hypothesis, HypothesisStatus, Trial
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.gather import (
    AT_ONCE,
    HYPOTHESES,
    call_up,
    put_forward,
    take_turn,
    update_hypotheses,
    waits,
)
from deepdiver.strategies.shared.base import Deps
from tests.strategies.overwatch.test_execute import NEW, OLD, News, page
from tests.strategies.rig import QUESTION, PaidReasoner, Rig, ScriptedReasoner, call, fail

STATE: dict[str, Any] = {
    "task": QUESTION,
    "problems": [QUESTION],
    "context": {},
    "past_runs": [],
    "research_plan": {},
    "sub_tasks": [],
    "task_complexity": "simple",
    "looked_into": [],
    "key_insights": [],
    "findings": [],
    "executed_queries": [],
    "pending_queries": [],
    "unmade_queries": [],
    "struck_queries": [],
    "conjectured": 0,
    "hypotheses": [],
    "trials": [],
    "evidence": [],
    "reflection_notes": [],
    "missing": [],
    "iteration": 0,
    "max_iterations": 10,
}


async def turn(deps: Deps, queries: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {**STATE, **more, **await take_turn({**STATE, **more}, deps, queries)}


# -- turns


async def test_a_turn_in_which_everything_fails_is_an_error_only_where_nothing_is_known(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    known = await turn(deps, make_searches(["Holm Works"], QUESTION, "x"))
    assert known["error"] == ""
    rig.provider.down = lambda query: True
    failed = await turn(deps, make_searches(["boats", "people"], QUESTION, "x"))
    assert failed["error"].startswith("no tool gave an answer: search failed")
    later = await turn(deps, make_searches(["trader"], QUESTION, "x"), findings=known["findings"])
    assert later["error"] == "", "what is known can be reported, whatever fails now"


async def test_an_empty_answer_and_a_refusal_are_no_error(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    empty = await turn(deps, make_searches(["zebra"], QUESTION, "x"))
    assert (empty["error"], empty["findings"]) == ("", [])
    refused = await turn(deps, [{**make_searches(["x"], QUESTION, "x")[0], "tool": "read_minds"}])
    assert refused["error"] == ""
    assert refused["executed_queries"][0]["status"] == "refused"


async def test_findings_are_entered_once_and_every_call_is_accounted_for(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    first = await turn(deps, make_searches(["Holm Works", "Works Holm owned"], QUESTION, "x"))
    assert len({item["id"] for item in first["findings"]}) == len(first["findings"]) > 0
    assert [query["status"] for query in first["executed_queries"]] == ["answered", "answered"]
    assert first["iteration"] == 1
    again = await turn(
        deps, make_searches(["Holm Works again"], QUESTION, "x"), findings=first["findings"]
    )
    assert again["findings"] == first["findings"]


async def test_only_a_call_that_was_answered_is_an_attempt_to_refute(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.down = lambda query: query == "down"
    deps = rig.session().deps
    queries = [
        *make_searches(["Holm Works"], QUESTION, "x", ["h_1", "h_2"]),
        *make_searches(["zebra", "down"], QUESTION, "x", ["h_1"]),
        *make_searches(["boats"], QUESTION, "x"),
        {**make_searches(["no"], QUESTION, "x", ["h_1"])[0], "tool": "read_minds"},
    ]
    made = await turn(deps, queries)
    trials = [deps.ledger.get(Trial, key) for key in made["trials"]]
    assert [(trial.hypothesis, trial.queries, trial.searched) for trial in trials] == [
        ("h_1", ("Holm Works",), True),
        ("h_2", ("Holm Works",), True),
        ("h_1", ("zebra",), True),
        ("h_1", ("down",), False),
    ]
    assert trials[3].failures
    assert "search failed" in trials[3].failures[0]


# -- sub-tasks in waves


def part(text: str, wave: int, complexity: str = "simple") -> dict[str, Any]:
    return {"id": text, "description": text, "wave": wave, "complexity": complexity}


def parted(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    problems = [item["description"] for item in parts]
    return {**STATE, "sub_tasks": list(parts), "problems": problems, **more}


def queries_of(calls: list[dict[str, Any]]) -> list[str]:
    return [call["args"]["query"] for call in calls]


def written(task: tasks.WriteQueries) -> tasks.Queries:
    return tasks.Queries(queries=tuple(f"{task.problem} {n}" for n in range(8)))


async def test_a_sub_task_for_which_nobody_has_a_query_is_searched_for_in_its_own_words(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(write_queries=fail)).session().deps
    update, now = await call_up(parted(part("Who runs it?", 0, "complex")), deps)
    assert queries_of(now) == ["Who runs it?"]
    assert update == {"pending_queries": [], "looked_into": ["Who runs it?"]}


@pytest.mark.parametrize(("complexity", "many"), [("simple", 1), ("moderate", 2), ("complex", 3)])
async def test_a_sub_task_gets_as_many_calls_as_its_complexity_wants(
    tmp_path: Path, complexity: str, many: int
) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(write_queries=written))
    state = parted(part("Who?", 0, complexity))
    _, now = await call_up(state, rig.session().deps)
    assert queries_of(now) == [f"Who? {n}" for n in range(many)]
    (task,) = rig.reasoner.of(tasks.WriteQueries)
    assert (task.problem, task.limit) == ("Who?", many)
    planned = {**state, "pending_queries": make_searches(["a", "b", "c"], "Who?", "x")}
    _, now = await call_up(planned, rig.session().deps)
    assert queries_of(now) == ["a", "b", "c"], "the plan has enough for it"


async def test_what_depends_on_another_waits_and_is_then_asked_with_what_was_found(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path, ScriptedReasoner(write_queries=written))
    deps = rig.session().deps
    state = parted(
        part("Who owns Holm Works?", 0),
        part("How old?", 1),
        pending_queries=[
            *make_searches(["age of the owner"], "How old?", "x"),
            *make_searches(["Holm Works"], "Who owns Holm Works?", "x"),
            *make_searches(["refute"], "Anna owns it.", "x", ["h_1"]),
        ],
    )
    update, now = await call_up(state, deps)
    assert queries_of(now) == ["Holm Works", "refute"]
    assert queries_of(update["pending_queries"]) == ["age of the owner"]
    assert waits({**state, **update})
    state = {**state, **update, **await take_turn(state, deps, now)}
    state["sub_tasks"][1]["complexity"] = "moderate"
    update, now = await call_up(state, deps)
    assert queries_of(now) == ["age of the owner", "How old? 0"]
    assert update["looked_into"] == ["Who owns Holm Works?", "How old?"]
    (task,) = rig.reasoner.of(tasks.WriteQueries)
    assert any("Anna Holm" in line for line in task.known), "what was found leads on"
    assert not waits({**state, **update})


async def test_a_wave_without_calls_does_not_cost_a_turn(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    state = parted(part("Who?", 0), part("When?", 1))
    state["executed_queries"] = [
        {**call_, "told": "", "message": ""} for call_ in make_searches(["Who?"], "Who?", "x")
    ]
    _, now = await call_up(state, rig.session().deps)
    assert queries_of(now) == ["When?"]


async def test_where_turns_are_short_nothing_waits(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    parts = (part("Who?", 0), part("When?", 1), part("Where?", 2))
    for left, asked in ((4, ["Who?"]), (3, ["Who?", "When?", "Where?"]), (1, None)):
        _, now = await call_up(parted(*parts, iteration=10 - left), deps)
        assert queries_of(now) == (asked or ["Who?", "When?", "Where?"])


async def test_a_turn_makes_five_calls_and_those_for_sub_tasks_first(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    tests = make_searches([f"refute {n}" for n in range(4)], "Anna owns it.", "x", ["h_1"])
    own = make_searches([f"own {n}" for n in range(3)], QUESTION, "x")
    state = parted(part(QUESTION, 0), pending_queries=[*tests, *own])
    update, now = await call_up(state, deps)
    assert queries_of(now) == ["own 0", "own 1", "own 2", "refute 0", "refute 1"]
    assert queries_of(update["pending_queries"]) == ["refute 2", "refute 3"]


async def test_what_would_refute_may_be_older_than_the_period(tmp_path: Path) -> None:
    rig = Rig(tmp_path, provider=News({"doc:old": page(OLD), "doc:new": page(NEW)}))
    state = {**STATE, "research_plan": {"time_range": "2026-11-10/2026-11-16"}}
    for tests, found in (([], {NEW}), (["h_1"], {OLD, NEW})):
        batch = make_searches(["depot"], QUESTION, "x", tests)
        update = await take_turn(state, rig.session().deps, batch)
        assert {item["quote"] for item in update["findings"]} == found


# -- hypotheses


async def test_hypotheses_come_with_the_calls_that_test_them(tmp_path: Path) -> None:
    def proposed(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        made = ScriptedReasoner()._hypothesise(task).hypotheses
        return tasks.HypothesisSet(
            hypotheses=tuple(
                item.model_copy(update={"test_queries": (call("Holm register"),)}) for item in made
            ),
            reasoning_chain=("Two are named.",),
        )

    deps = Rig(tmp_path, ScriptedReasoner(hypothesise=proposed)).session().deps
    update, reasoning = await put_forward(STATE, deps)
    first, second = (item["hypothesis"]["id"] for item in update["hypotheses"])
    tests = {query["args"]["query"]: query["tests"] for query in update["pending_queries"]}
    assert tests == {
        "refute: Anna Holm owns Holm Works.": [first],
        "refute: Bertil Ask owns Holm Works.": [second],
        "Holm register": [],
    }
    assert reasoning == "Two are named."
    assert update["evidence"] == []


async def test_calls_that_test_a_hypothesis_are_completed_by_the_plan_and_its_context_is_shown(
    tmp_path: Path,
) -> None:
    def proposed(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        made = tasks.Proposed(
            statement="Strikes have increased.",
            supports_if="a",
            refutes_if="b",
            test_queries=(call("strikes"),),
        )
        return tasks.HypothesisSet(hypotheses=(made,)).keep_thought("Let me see.")

    rig = Rig(tmp_path, ScriptedReasoner(hypothesise=proposed))
    state = {
        **STATE,
        "context": {"asked_by": "the desk"},
        "research_plan": {"regions_of_interest": ["Kharkiv"]},
    }
    update, thoughts = await put_forward(state, rig.session().deps)
    assert queries_of(update["pending_queries"]) == [
        "refute: Strikes have increased.",
        "strikes Kharkiv",
    ]
    assert rig.reasoner.of(tasks.Hypothesise)[0].context == '{"asked_by": "the desk"}'
    assert thoughts == "Let me see."


async def test_what_stands_is_not_put_forward_again_and_there_is_an_end_to_it(
    tmp_path: Path,
) -> None:
    numbers = iter(range(100))

    def many(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        made = [
            tasks.Proposed(
                statement=f"Claim {next(numbers)} holds.", supports_if="a", refutes_if="b"
            )
            for _ in range(8)
        ]
        return tasks.HypothesisSet(hypotheses=tuple(made))

    rig = Rig(tmp_path, ScriptedReasoner(hypothesise=many))
    deps, state = rig.session().deps, STATE
    for expected in (AT_ONCE, HYPOTHESES):
        update, _ = await put_forward(state, deps)
        state = {**state, **update}
        assert len(state["hypotheses"]) == expected
    assert await put_forward(state, deps) == ({}, "")
    assert len(rig.reasoner.of(tasks.Hypothesise)) == 2


@pytest.mark.parametrize(
    ("free", "found", "notes", "refuted", "asked"),
    [
        (False, True, [], False, 1),
        (False, True, ["bias", "gap"], False, 1),
        (False, True, ["alternative"], False, 2),
        (False, True, [], True, 2),
        (False, False, [], False, 2),
        (True, True, [], False, 2),
    ],
)
async def test_one_that_had_no_further_hypothesis_is_asked_again_with_a_reason(
    tmp_path: Path, free: bool, found: bool, notes: list[str], refuted: bool, asked: int
) -> None:
    """A hypothesis has fallen, or a critic names another explanation. Before anything was found,
    none is no answer, and a reasoner that costs nothing is always asked."""
    reasoner = (ScriptedReasoner if free else PaidReasoner)(
        hypothesise=lambda task: tasks.HypothesisSet(hypotheses=())
    )
    rig = Rig(tmp_path, reasoner)
    deps = rig.session().deps
    state = await turn(deps, make_searches(["Holm Works"], QUESTION, "x"))
    *before, _ = state["findings"]
    known = {"findings": before} if found else {"findings": [], "iteration": 0}
    update, _ = await put_forward({**state, **known}, deps)
    fallen = Assessment(
        hypothesis=Hypothesis(id="h_1", statement="x", supports_if="a", refutes_if="b"),
        posterior=0.1,
        status=HypothesisStatus.REFUTED,
        trials=1,
    )
    state = {
        **state,
        **update,
        "iteration": 2,
        "reflection_notes": [{"category": kind, "text": "t", "critical": True} for kind in notes],
        "hypotheses": [fallen.model_dump(mode="json")] if refuted else [],
    }
    await put_forward(state, deps)
    assert len(rig.reasoner.of(tasks.Hypothesise)) == asked


async def test_one_that_gave_no_answer_is_asked_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path, PaidReasoner(hypothesise=fail))
    deps = rig.session().deps
    state = await turn(deps, make_searches(["Holm Works"], QUESTION, "x"))
    update, _ = await put_forward({**state, "findings": state["findings"][:-1]}, deps)
    assert update["asked_in_vain"] == 0
    await put_forward({**state, **update}, deps)
    assert len(rig.reasoner.of(tasks.Hypothesise)) == 2


async def test_new_findings_move_belief_and_old_ones_are_not_judged_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    forward, _ = await put_forward(STATE, deps)
    gathered = await turn(deps, make_searches(["Holm Works"], QUESTION, "x"), **forward)
    update = await update_hypotheses(gathered, deps)
    assert update["weighed"] == len(gathered["findings"])
    before = {item["hypothesis"]["answer"]: item["posterior"] for item in forward["hypotheses"]}
    after = {item["hypothesis"]["answer"]: item["posterior"] for item in update["hypotheses"]}
    assert after["Anna Holm"] > before["Anna Holm"]
    assert after["Bertil Ask"] < before["Bertil Ask"]
    assert {item["status"] for item in update["hypotheses"]} == {"open", "refuted"}, (
        "nothing was tried yet"
    )
    judged = len(rig.reasoner.of(tasks.Judge))
    unmoved = await update_hypotheses({**gathered, **update}, deps)
    assert unmoved["hypotheses"] == update["hypotheses"]
    assert len(rig.reasoner.of(tasks.Judge)) == judged, "without new findings nobody is asked"


async def test_a_hypothesis_that_findings_suggest_is_weighed_with_all_of_them(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path).session().deps
    gathered = await turn(deps, make_searches(["Holm Works"], QUESTION, "x"))
    update, _ = await put_forward(gathered, deps)
    by_answer = {item["hypothesis"]["answer"]: item for item in update["hypotheses"]}
    assert by_answer["Anna Holm"]["posterior"] > 0.7
    assert by_answer["Anna Holm"]["supporting"]
    assert update["evidence"]


async def test_without_new_findings_nothing_more_is_put_forward(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    first, _ = await put_forward(STATE, deps)
    assert first["conjectured"] == 0
    again, thoughts = await put_forward({**STATE, **first, "iteration": 1}, deps)
    assert (again, thoughts) == ({}, "")
    assert len(rig.reasoner.of(tasks.Hypothesise)) == 1


async def test_a_call_that_no_tool_takes_is_no_search_for_a_sub_task(tmp_path: Path) -> None:
    part = {"id": "subtask_1", "description": QUESTION, "complexity": "simple", "wave": 0}
    refused = {
        "tool": "read_minds",
        "args": {"query": "Holm"},
        "about": QUESTION,
        "reason": "",
        "tests": [],
    }
    rig = Rig(tmp_path)
    state = {**STATE, "sub_tasks": [part], "pending_queries": [refused], "max_iterations": 5}
    update, batch = await call_up({**state, "iteration": 0}, rig.session().deps)
    assert [call["tool"] for call in batch] == ["read_minds", "search"]
    assert update["looked_into"] == [QUESTION]
