from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver import tasks
from deepdiver.core.record import Trial
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.gather import (
    AT_ONCE,
    HYPOTHESES,
    put_forward,
    take_turn,
    update_hypotheses,
)
from deepdiver.strategies.shared.base import Deps
from tests.strategies.rig import QUESTION, Rig, ScriptedReasoner, call

STATE: dict[str, Any] = {
    "task": QUESTION,
    "problems": [QUESTION],
    "context": {"past": []},
    "key_insights": [],
    "findings": [],
    "executed_queries": [],
    "pending_queries": [],
    "hypotheses": [],
    "trials": [],
    "evidence": [],
    "missing": [],
    "iteration": 0,
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
    assert reasoning == ("Two are named.",)
    assert update["evidence"] == []


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
    assert await put_forward(state, deps) == ({}, ())
    assert len(rig.reasoner.of(tasks.Hypothesise)) == 2


async def test_new_findings_move_belief_and_old_ones_are_not_judged_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    forward, _ = await put_forward(STATE, deps)
    gathered = await turn(deps, make_searches(["Holm Works"], QUESTION, "x"), **forward)
    new = [item["id"] for item in gathered["findings"]]
    update = await update_hypotheses(gathered, deps, new)
    before = {item["hypothesis"]["answer"]: item["posterior"] for item in forward["hypotheses"]}
    after = {item["hypothesis"]["answer"]: item["posterior"] for item in update["hypotheses"]}
    assert after["Anna Holm"] > before["Anna Holm"]
    assert after["Bertil Ask"] < before["Bertil Ask"]
    assert {item["status"] for item in update["hypotheses"]} == {"open", "refuted"}, (
        "nothing was tried yet"
    )
    judged = len(rig.reasoner.of(tasks.Judge))
    unmoved = await update_hypotheses({**gathered, **update}, deps, [])
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
