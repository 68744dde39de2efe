from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver import tasks
from deepdiver.core.events import Decided, FindingDropped
from deepdiver.core.record import (
    Assessment,
    CorrelationKind,
    Finding,
    Hypothesis,
    HypothesisStatus,
    Insight,
)
from deepdiver.errors import CallError, CallFault, ReasonError
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
from deepdiver.strategies.shared.room import BRIEF, FREE
from deepdiver.strategies.shared.summary import lines_of
from deepdiver.tasks.tolerance import TOLERANT
from tests.strategies.overwatch.test_execute import Broken
from tests.strategies.overwatch.test_gather import STATE as GATHERED
from tests.strategies.rig import CORPUS, QUESTION, Rig, ScriptedReasoner, call

STATE: dict[str, Any] = {
    **GATHERED,
    "insights": [],
    "untaken_insights": [],
    "crowded_out": [],
    "hypothesis_implications": [],
    "analysed": 0,
    "reflection_notes": [],
    "reflection_iterations": 0,
    "correlations": [],
    "uncertainties": [],
    "max_iterations": 10,
}


def assessed(status: HypothesisStatus, posterior: float, key: str = "h_1") -> Assessment:
    made = Hypothesis(id=key, statement=f"Claim of {key}.", supports_if="a", refutes_if="b")
    return Assessment(hypothesis=made, posterior=posterior, status=status, trials=2)


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


async def test_insights_as_plain_sentences_are_taken_if_findings_carry_them(tmp_path: Path) -> None:
    said = tasks.FindingsAnalysis.model_validate(
        {
            "key_insights": [
                "Holm Works is owned by Anna Holm",
                "News reports correlate temporally with detections",
                "Boats are expensive",
                "Boats are expensive",
            ]
        },
        context=TOLERANT,
    )
    rig, deps, state = await made(tmp_path, analyse=lambda task: said)
    update, _ = await analyse(state, deps)
    assert update["key_insights"] == ["Holm Works is owned by Anna Holm"]
    (line,) = lines_of(update["insights"])
    assert {deps.ledger.get(Finding, key).quotes[0].text for key in line.findings} == {
        "Holm Works is owned by Anna Holm.",
        "The authority confirms that Anna Holm owns Holm Works.",
    }, "and not the gazette, which names another"
    assert len(update["untaken_insights"]) == 2, "each is counted once"
    dropped = {event.statement: event.reason for event in rig.of(FindingDropped)}
    assert dropped["Boats are expensive"] == "no finding carries this insight"
    again, _ = await analyse({**state, **update, "analysed": 0}, deps)
    assert len(again["untaken_insights"]) == 2


async def test_findings_may_be_named_by_number(tmp_path: Path) -> None:
    def count(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        first, *_ = task.findings
        insight = tasks.KeyInsight(statement=first.quote, finding_ids=("0",))
        return tasks.FindingsAnalysis(key_insights=(insight,))

    _, deps, state = await made(tmp_path, analyse=count)
    update, _ = await analyse(state, deps)
    assert update["key_insights"] == [state["findings"][0]["quote"]]


async def test_insights_without_room_are_counted_and_stay_on_record(tmp_path: Path) -> None:
    def many(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        first, *_ = task.findings
        # Each shares its words with the finding, and is yet another statement.
        own = first.quote.replace(",", "").rstrip(".").split()[-4:]
        told = [
            f"{' '.join(own)} mast{number} keel{number} hull{number} sail{number}."
            for number in range(40)
        ]
        return tasks.FindingsAnalysis(
            key_insights=tuple(
                tasks.KeyInsight(statement=text, finding_ids=(first.id,)) for text in told
            )
        )

    _, deps, state = await made(tmp_path, analyse=many)
    update, _ = await analyse(state, deps)
    assert len(update["insights"]) == FREE.most_lines
    assert len(update["crowded_out"]) == 40 - (FREE.most_lines or 0)
    assert all(isinstance(deps.ledger.get(Insight, key), Insight) for key in update["crowded_out"])


async def test_what_the_analysis_says_of_hypotheses_is_logged_and_doubted_where_evidence_differs(
    tmp_path: Path,
) -> None:
    def imply(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        said = [
            ("h1", "refuting", "The gazette says otherwise."),
            ("H2", "supporting", "The gazette says so."),
            ("H7", "supporting", "Nobody knows which."),
        ]
        return tasks.FindingsAnalysis(
            thinking="First I look.",
            key_insights=(),
            hypothesis_implications=tuple(
                tasks.Implication.model_validate(
                    {"hypothesis_id": key, "evidence_type": way, "explanation": why}
                )
                for key, way, why in said
            ),
            uncertainties=("Who is right is open.",),
        ).keep_thought("<hm>")

    rig, deps, state = await made(tmp_path, analyse=imply)
    standing = [
        assessed(HypothesisStatus.SUPPORTED, 0.8),
        assessed(HypothesisStatus.OPEN, 0.5, "h_2"),
    ]
    state["hypotheses"] = [item.model_dump(mode="json") for item in standing]
    state["uncertainties"] = ["It was open before."]
    update, thoughts = await analyse(state, deps)
    assert rig.reasoner.of(tasks.Analyse)[0].uncertainties == ("It was open before.",)
    assert [item["hypothesis_id"] for item in update["hypothesis_implications"]] == ["h_1", "h_2"]
    assert update["uncertainties"] == [
        "Who is right is open.",
        "The analysis takes the findings to speak against this, but the evidence weighs for it: "
        "Claim of h_1.",
    ]
    assert thoughts.splitlines() == [
        "First I look.",
        "<hm>",
        "refuting “Claim of h_1.”: The gazette says otherwise.",
        "supporting “Claim of h_2.”: The gazette says so.",
    ]


async def test_follow_ups_are_narrowed_to_the_scope_of_the_plan(tmp_path: Path) -> None:
    asked = tasks.FindingsAnalysis(key_insights=(), follow_up_queries=(call("new boats"),))
    _, deps, state = await made(tmp_path, analyse=lambda task: asked)
    state["research_plan"] = {"regions_of_interest": ["Oslo"]}
    update, _ = await analyse(state, deps)
    assert [query["args"]["query"] for query in update["pending_queries"]] == ["new boats Oslo"]


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


async def test_what_is_shown_again_is_told_in_a_sentence_or_two(tmp_path: Path) -> None:
    essay = "One source alone says so. " * 40
    rig, deps, state = await made(
        tmp_path,
        analyse=lambda task: tasks.FindingsAnalysis(key_insights=(), uncertainties=(essay,)),
        reflect=lambda task: tasks.Reflection(sufficient=False, missing=(essay,)),
    )
    notes = [{"category": "bias", "text": essay, "critical": True}]
    update, _ = await analyse({**state, "reflection_notes": notes}, deps)
    looked, *_ = await reflect({**state, **update}, deps)
    (task,) = rig.reasoner.of(tasks.Analyse)
    (note,), (doubt,), (missing,) = task.notes, update["uncertainties"], looked["missing"]
    assert note == doubt == missing
    assert essay.startswith(note)
    assert 0 < len(note) <= BRIEF


async def test_follow_ups_are_new_and_few(tmp_path: Path) -> None:
    def ask(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        wanted = (call("Works Holm"), *(call(f"new {n}") for n in range(9)))
        return tasks.FindingsAnalysis(key_insights=(), follow_up_queries=wanted)

    _, deps, state = await made(tmp_path, analyse=ask)
    update, _ = await analyse(state, deps)
    queries = [query["args"]["query"] for query in update["pending_queries"]]
    assert queries == [f"new {n}" for n in range(FOLLOW_UPS["simple"] - 1)], (
        "the first was made before"
    )
    hard, _ = await analyse({**state, "task_complexity": "complex"}, deps)
    assert len(hard["pending_queries"]) == FOLLOW_UPS["complex"] - 1, "a hard task may ask more"


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
    rig, deps, state = await made(tmp_path, reflect=fail)
    update, queries, critical, _ = await reflect(state, deps)
    assert [(event.decision, event.by) for event in rig.of(Decided)] == [("correlating", "rule")]
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
    update, queries, *_ = await reflect(state, deps)
    assert [query["args"]["query"] for query in queries] == ["founder"]
    assert queries[0]["about"] == QUESTION
    assert update["missing"] == ["Who founded it?"]
    enough = said.model_copy(update={"sufficient": True})
    _, deps, state = await made(tmp_path / "b", reflect=lambda task: enough)
    assert (await reflect(state, deps))[1] == [], "where it is enough nothing is searched"


async def test_a_reflection_may_call_feeds(tmp_path: Path) -> None:
    said = tasks.Reflection(
        sufficient=False,
        investigation_queries=(
            tasks.ToolQuery(tool="detect_heat", args=(tasks.Argument(name="latitude", value="1"),)),
            tasks.ToolQuery(tool="boats of Holm"),
        ),
        queries=("founder",),
    ).keep_thought("Let me see.")
    rig, deps, state = await made(tmp_path, reflect=lambda task: said)
    deps.tools = (Broken(CallError("no", CallFault.SERVER)),)
    looked = await reflect(state, deps)
    assert [(query["tool"], query["args"]) for query in looked.queries] == [
        ("detect_heat", {"latitude": "1"}),
        ("search", {"query": "boats of Holm"}),
        ("search", {"query": "founder"}),
    ]
    assert looked.thoughts == "Let me see."
    (task,) = rig.reasoner.of(tasks.Reflect)
    assert [tool.name for tool in task.tools] == ["detect_heat"]
    assert "`tools`" in task.prompt().system


async def test_a_critical_remark_counts_when_it_is_new(tmp_path: Path) -> None:
    note = tasks.Note(category="bias", text="One side only.", critical=True)
    said = tasks.Reflection(sufficient=True, reason="r", notes=(note,))
    _, deps, state = await made(tmp_path, reflect=lambda task: said)
    update, _, critical, _ = await reflect(state, deps)
    assert critical
    again, _, repeated, _ = await reflect({**state, **update}, deps)
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
        "implications": [],
    }
    told = {
        "correlation_type": "causal",
        "measured": "",
        "description": "The blast lit the depot.",
        "finding_ids": [],
        "implications": ["It was no accident.", "More may burn."],
    }
    await reflect({**state, "correlations": [near, told]}, deps)
    (asked,) = rig.reasoner.of(tasks.Reflect)
    assert asked.correlations == (
        "temporal: 5 minutes apart",
        "causal: The blast lit the depot. (it would follow: It was no accident.; More may burn.)",
    )
