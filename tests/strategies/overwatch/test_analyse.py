from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver import tasks
from deepdiver.core.record import CorrelationKind, Insight
from deepdiver.errors import ReasonError
from deepdiver.strategies.overwatch.analyse import (
    FOLLOW_UPS,
    TRIED,
    analyse,
    insight_id_of,
    reflect,
)
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.gather import take_turn
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.summary import lines_of
from tests.strategies.overwatch.test_gather import STATE as GATHERED
from tests.strategies.rig import CORPUS, QUESTION, Rig, ScriptedReasoner, call

STATE: dict[str, Any] = {
    **GATHERED,
    "insights": [],
    "analysed": 0,
    "reflection_notes": [],
    "reflection_iterations": 0,
    "correlations": [],
    "uncertainties": [],
    "max_iterations": 10,
}


def fail(task: Any) -> Any:
    raise ReasonError("no")


async def gathered(deps: Deps, *queries: str) -> dict[str, Any]:
    return {
        **STATE,
        **await take_turn(STATE, deps, make_searches(queries or ["Holm Works"], QUESTION, "x")),
    }


async def made(tmp_path: Path, **rules: Any) -> tuple[Rig, Deps, dict[str, Any]]:
    rig = Rig(tmp_path, ScriptedReasoner(**rules))
    deps = rig.session().deps
    return rig, deps, await gathered(deps)


# -- analysing


async def test_an_analysis_that_failed_leaves_the_findings_as_they_are(tmp_path: Path) -> None:
    _, deps, state = await made(tmp_path, analyse=fail)
    update, thinking = await analyse(state, deps)
    assert set(update["key_insights"]) <= {item["quote"] for item in state["findings"]}
    assert update["key_insights"]
    assert (update["pending_queries"], thinking) == ([], "")


async def test_an_insight_without_a_finding_is_not_taken_and_a_twisted_one_gives_way_to_the_quote(
    tmp_path: Path,
) -> None:
    def invent(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        said = (
            tasks.KeyInsight(statement="Nobody says this.", finding_ids=()),
            tasks.KeyInsight(statement="Or this.", finding_ids=("F77",)),
            tasks.KeyInsight(
                statement="Anna Holm owns 44 boats.", finding_ids=(task.findings[0].id,)
            ),
        )
        return tasks.FindingsAnalysis(key_insights=said)

    _, deps, state = await made(tmp_path, analyse=invent)
    update, _ = await analyse(state, deps)
    (only,) = update["key_insights"]
    assert any(only in text for _, _, text in CORPUS.values())


async def test_insights_are_on_record_and_what_was_analysed_is_not_shown_again(
    tmp_path: Path,
) -> None:
    rig, deps, state = await made(tmp_path)
    update, thinking = await analyse(state, deps)
    lines = lines_of(update["insights"])
    assert [deps.ledger.get(Insight, insight_id_of(line)).statement for line in lines] == update[
        "key_insights"
    ]
    assert thinking == "step by step"
    assert update["analysed"] == len(state["findings"])
    again, _ = await analyse({**state, **update}, deps)
    assert again["insights"] == update["insights"]
    first, second = rig.reasoner.of(tasks.Analyse)
    assert first.findings
    assert second.findings == ()
    assert [line.text for line in second.insights] == update["key_insights"]


async def test_an_analysis_is_told_of_tools_that_brought_nothing_and_of_remarks(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    rig.provider.down = lambda query: query == "boats"
    deps = rig.session().deps
    state = await gathered(deps, "Holm Works", "boats", "zebra")
    notes = [
        {"category": "bias", "text": "a", "critical": True},
        {"category": "gap", "text": "b", "critical": False},
    ]
    await analyse({**state, "reflection_notes": notes}, deps)
    (task,) = rig.reasoner.of(tasks.Analyse)
    assert [line.split("): ")[1].split(":")[0] for line in task.reports] == [
        "search failed",
        "No data available",
    ]
    assert task.notes == ("a",)
    assert {item.type for item in task.findings} == {"register", "news", "official"}


async def test_follow_ups_are_new_and_few(tmp_path: Path) -> None:
    def ask(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        wanted = (call("Works Holm"), *(call(f"new {n}") for n in range(9)))
        return tasks.FindingsAnalysis(key_insights=(), follow_up_queries=wanted)

    _, deps, state = await made(tmp_path, analyse=ask)
    update, _ = await analyse(state, deps)
    queries = [query["args"]["query"] for query in update["pending_queries"]]
    assert queries == [f"new {n}" for n in range(FOLLOW_UPS - 1)], "the first was made before"


async def test_a_cause_that_the_reasoner_sees_needs_two_origins(tmp_path: Path) -> None:
    def see(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        one = tasks.Correlated(
            finding_ids=("F1",),
            correlation_type=CorrelationKind.CAUSAL,
            description="One may follow from the other.",
        )
        return tasks.FindingsAnalysis(
            key_insights=(),
            correlations=(one, one.model_copy(update={"finding_ids": ("F1", "F2")})),
        )

    _, deps, state = await made(tmp_path, analyse=see)
    update, _ = await analyse(state, deps)
    assert [len(item["finding_ids"]) for item in update["correlations"]] == [2]


# -- reflecting


async def test_without_a_reflection_it_goes_on(tmp_path: Path) -> None:
    _, deps, state = await made(tmp_path, reflect=fail)
    update, queries, critical = await reflect(state, deps)
    assert (queries, critical) == ([], False)
    assert update["reflection_iterations"] == 1
    assert not update["needs_more_reflection"]


async def test_what_is_missing_is_searched_for_unless_it_was(tmp_path: Path) -> None:
    said = tasks.Reflection(
        sufficient=False,
        reason="r",
        missing=("Who founded it?",),
        queries=("Works Holm", "founder"),
    )
    _, deps, state = await made(tmp_path, reflect=lambda task: said)
    update, queries, _ = await reflect(state, deps)
    assert [query["args"]["query"] for query in queries] == ["founder"]
    assert queries[0]["about"] == QUESTION
    assert update["missing"] == ["Who founded it?"]
    enough = said.model_copy(update={"sufficient": True})
    _, deps, state = await made(tmp_path / "b", reflect=lambda task: enough)
    assert (await reflect(state, deps))[1] == [], "where it is enough nothing is searched"


async def test_a_critical_remark_counts_when_it_is_new(tmp_path: Path) -> None:
    note = tasks.Note(category="bias", text="One side only.", critical=True)
    said = tasks.Reflection(sufficient=True, reason="r", notes=(note,))
    _, deps, state = await made(tmp_path, reflect=lambda task: said)
    update, _, critical = await reflect(state, deps)
    assert critical
    again, _, repeated = await reflect({**state, **update}, deps)
    assert not repeated
    assert len(again["reflection_notes"]) == 1
    assert again["reflection_iterations"] == 2


async def test_a_reflection_sees_what_is_weak_and_the_last_calls(tmp_path: Path) -> None:
    rig, deps, state = await made(tmp_path)
    update, _ = await analyse(state, deps)
    calls = [
        {**query, "status": "answered", "told": "", "message": ""}
        for query in make_searches([f"q{n}" for n in range(40)], "x", "y")
    ]
    await reflect(
        {**state, **update, "uncertainties": ["One source says so."], "executed_queries": calls},
        deps,
    )
    (task,) = rig.reasoner.of(tasks.Reflect)
    assert task.tried == tuple(f"q{n}" for n in range(40 - TRIED, 40))
    assert "One source says so." in task.uncertainties
    weak = [line.text for line in lines_of(update["insights"]) if line.weak]
    assert set(weak) <= set(task.uncertainties)
    assert task.known == tuple(update["key_insights"])


async def test_a_reflection_sees_what_goes_together(tmp_path: Path) -> None:
    rig, deps, state = await made(tmp_path)
    near = {
        "correlation_type": "temporal",
        "measured": "5 minutes apart",
        "description": "",
        "finding_ids": [],
    }
    told = {
        "correlation_type": "causal",
        "measured": "",
        "description": "The blast lit the depot.",
        "finding_ids": [],
    }
    await reflect({**state, "correlations": [near, told]}, deps)
    (asked,) = rig.reasoner.of(tasks.Reflect)
    assert asked.correlations == ("temporal: 5 minutes apart", "causal: The blast lit the depot.")
