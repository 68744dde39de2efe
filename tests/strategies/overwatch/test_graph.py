from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from deepdiver import sample, tasks
from deepdiver.core.events import Decided, PlanProposed, Reasoned
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import (
    CorrelationKind,
    HypothesisStatus,
    RunStatus,
    SentenceKind,
    VerdictKind,
)
from deepdiver.core.settings import load
from deepdiver.errors import UsageError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.reason.embedded.account import UNSURE
from deepdiver.reason.models import name_of
from deepdiver.report.audit import quote_stands
from deepdiver.run import Outcome, Session, replay, research
from deepdiver.run.assemble import OwnParts
from deepdiver.run.begin import new_run
from deepdiver.run.record import load_ledger
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.overwatch import graph as overwatch
from deepdiver.strategies.overwatch.execute import NO_DATA
from deepdiver.strategies.overwatch.graph import route_next_step
from deepdiver.strategies.shared.feed_tool import FeedTool
from deepdiver.strategies.table import TABLE
from deepdiver.tools.hit import Hit
from deepdiver.tools.osint.feed import FeedResult, IntelligenceType, Row, ServiceAnswer
from deepdiver.tools.osint.registry import named_feed
from tests.servers.brain import popper_brain
from tests.servers.scripted import Answer
from tests.strategies.drafts import Draft, DraftSection, say_all, told
from tests.strategies.rig import (
    CORPUS,
    QUESTION,
    CorpusProvider,
    Rig,
    ScriptedReasoner,
    call,
    ends_at_a_refused_key,
    fail,
    goes_on_without,
    refuse,
    used,
)

pytestmark = pytest.mark.usefixtures("read_once")

SEEDS = Path(__file__).resolve().parents[3].parent / "shared" / "seeds"
"""The design documents, beside the repository."""
BEGIN = ["initialize", "plan_research", "decompose_task", "approve_plan", "generate_hypotheses"]
GATHER, ANALYZE, REFLECT = "gather_intelligence", "analyze_findings", "reflect_on_analysis"
CORRELATE, VERIFY, SYNTHESIZE = "correlate_findings", "verify_conclusions", "synthesize_report"
END = [CORRELATE, VERIFY, SYNTHESIZE]
SEED_FIELDS = (
    "task context current_phase iteration max_iterations research_plan sub_tasks task_complexity "
    "pending_queries "
    "executed_queries hypotheses findings key_insights correlations uncertainties reasoning_trace "
    "chain_of_thought "
    "reflection_notes reflection_iterations verification_results verified_insights "
    "verified_correlations "
    "executive_summary detailed_report recommendations confidence_assessment methodology_note error"
).split()


def rig_of(home: Path, reasoner: ScriptedReasoner | None = None, **more: Any) -> Rig:
    return Rig(home, reasoner, strategy="overwatch", **more)


def once(*answers: Any) -> Callable[[Any], Any]:
    """Give the answers one after another, then the last again."""
    left = list(answers)
    return lambda task: left.pop(0) if len(left) > 1 else left[0]


def reflection(**more: Any) -> tasks.Reflection:
    return tasks.Reflection(**{"sufficient": False, "reason": "a thing is open", **more})


def analysis(task: tasks.Analyse, **more: Any) -> tasks.FindingsAnalysis:
    return ScriptedReasoner()._analyse(task).model_copy(update=more)


async def state_of(rig: Rig, question: str = QUESTION) -> dict[str, Any]:
    graph = TABLE[rig.run.strategy].build().compile()
    result: dict[str, Any] = await graph.ainvoke(
        {"messages": [HumanMessage(question)]}, {"recursion_limit": 200}, context=rig.session().deps
    )
    return result


# -- what goes wrong


async def test_a_run_without_a_question_is_refused(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    with pytest.raises(UsageError, match="the question is empty"):
        await state_of(rig, "  ")


@pytest.mark.parametrize("task", [task.name() for task in tasks.TASKS])
async def test_no_single_task_is_indispensable(tmp_path: Path, task: str) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(**{task: fail}))
    await goes_on_without(task, rig)
    assert rig.path[-1] == SYNTHESIZE


async def test_a_run_in_which_every_task_fails_ends_with_a_report_that_says_so(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(**{task.name(): fail for task in tasks.TASKS}))
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.MODEL_FAILED
    assert outcome.report is not None
    assert any("plan research failed" in line for line in outcome.report.limits)
    assert any(f"search(query={QUESTION}): {NO_DATA}" in line for line in outcome.report.limits)


async def test_a_refused_key_ends_the_run_at_once(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(plan_research=refuse))
    await ends_at_a_refused_key(rig)
    assert rig.path == BEGIN[:2]


async def test_tools_that_all_fail_are_an_error_that_ends_cleanly(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    rig = rig_of(tmp_path, provider=provider)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, GATHER, SYNTHESIZE], "an error leads to a report of what there is"
    assert outcome.run.status is RunStatus.COULD_NOT_SEARCH
    assert outcome.report is not None
    assert any(
        line.startswith("It ended early: no tool gave an answer: search failed")
        for line in outcome.report.limits
    )
    (last,) = [event for event in rig.of(Reasoned) if event.phase == "gathering"]
    assert "search failed: corpus could not search: corpus is down" in last.observation
    assert [event.by for event in rig.of(Decided)] == ["rule"]


async def test_a_tool_that_fails_beside_others_is_told_as_failed_everywhere(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: query == "the boats"
    plan = tasks.ResearchPlan(
        objectives=("x",), initial_queries=(call(QUESTION), call("the boats"), call("zebra"))
    )
    rig = rig_of(tmp_path, ScriptedReasoner(plan_research=lambda task: plan), provider=provider)
    state = await state_of(rig)
    failed, empty = (
        next(q for q in state["executed_queries"] if q["args"]["query"] == text)
        for text in ("the boats", "zebra")
    )
    assert (failed["status"], failed["findings"]) == ("failed", 0)
    assert "corpus is down" in failed["message"]
    assert (empty["status"], empty["message"]) == ("empty", NO_DATA)
    reports = rig.reasoner.of(tasks.Analyse)[0].reports
    assert any("the boats): search failed" in line for line in reports)
    assert f"search(query=zebra): {NO_DATA}" in reports
    observed = " ".join(entry["observation"] for entry in state["reasoning_trace"])
    assert "search failed" in observed
    assert NO_DATA in observed
    assert "Limited by 1 call of" in state["confidence_assessment"]
    assert "Ask search again: it gave no answer." in state["recommendations"]


async def test_unknown_tools_and_bad_arguments_are_refused_before_any_call(tmp_path: Path) -> None:
    wrong = tasks.ToolQuery(tool="search", args=(tasks.Argument(name="url", value="doc:register"),))
    plan = tasks.ResearchPlan(
        objectives=("x",), initial_queries=(call("x", "read_minds"), wrong, call(" "))
    )
    rig = rig_of(tmp_path, ScriptedReasoner(plan_research=lambda task: plan))
    state = await state_of(rig)
    refused = [query for query in state["executed_queries"] if query["status"] == "refused"]
    assert [query["tool"] for query in refused] == ["read_minds", "search", "search"]
    assert [query for query in rig.provider.queries if not query.startswith("refute:")] == [
        QUESTION
    ]
    assert "read_minds was not called: there is no such tool" in state["detailed_report"]


async def test_nothing_is_reported_that_no_tool_returned(tmp_path: Path) -> None:
    def invent(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        made = tasks.KeyInsight(statement="Carl Dahl owns Holm Works.", finding_ids=("F99",))
        twisted = tasks.KeyInsight(statement="Dora Ek owns 77 boats.", finding_ids=("F1",))
        own = tasks.Correlated(
            finding_ids=("F1", "F2"),
            correlation_type=CorrelationKind.CAUSAL,
            description="Eva Flod did it in 1931.",
        )
        near = own.model_copy(
            update={"correlation_type": CorrelationKind.TEMPORAL, "description": "close"}
        )
        return tasks.FindingsAnalysis(key_insights=(made, twisted), correlations=(own, near))

    rig = rig_of(tmp_path, ScriptedReasoner(analyse=invent))
    state = await state_of(rig)
    assert "Carl Dahl" not in str(state)
    assert "Dora Ek" not in str(state), (
        "an insight whose values its findings do not hold gives way to the quote"
    )
    assert "Eva Flod" not in state["detailed_report"]
    assert {item["correlation_type"] for item in state["correlations"]} <= {"causal"}, (
        "closeness is measured, not said"
    )


# -- the paths of the seed


async def test_the_path_is_that_of_the_seed(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, GATHER, ANALYZE, REFLECT, *END]
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert "Anna Holm" in outcome.report.answer[0].text


async def test_gathering_goes_on_while_queries_wait_five_a_turn(tmp_path: Path) -> None:
    many = tuple(call(f"Holm Works part {n}") for n in range(10))
    plan = tasks.ResearchPlan(objectives=("x",), initial_queries=many)
    none = tasks.HypothesisSet(hypotheses=())
    rig = rig_of(
        tmp_path, ScriptedReasoner(plan_research=lambda task: plan, hypothesise=lambda task: none)
    )
    await rig.work()
    assert rig.path == [*BEGIN, GATHER, GATHER, ANALYZE, REFLECT, *END]
    assert len(rig.provider.queries) == 10


async def test_follow_up_queries_lead_from_analysing_back_to_gathering(tmp_path: Path) -> None:
    def follow(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        wanted = (call("Holm Works founded"),) if "Holm Works founded" not in task.tried else ()
        return analysis(task, follow_up_queries=wanted)

    rig = rig_of(tmp_path, ScriptedReasoner(analyse=follow))
    await rig.work()
    assert rig.path == [*BEGIN, GATHER, ANALYZE, GATHER, ANALYZE, REFLECT, *END]
    assert "Holm Works founded" in rig.provider.queries


async def test_a_follow_up_that_was_made_is_not_made_again(tmp_path: Path) -> None:
    rig = rig_of(
        tmp_path,
        ScriptedReasoner(analyse=lambda task: analysis(task, follow_up_queries=(call(QUESTION),))),
    )
    await rig.work()
    assert rig.path == [*BEGIN, GATHER, ANALYZE, REFLECT, *END]


async def test_reflection_returns_to_gathering_twice_at_most(tmp_path: Path) -> None:
    numbers = iter(range(100))
    rig = rig_of(
        tmp_path,
        ScriptedReasoner(reflect=lambda task: reflection(queries=(f"Holm {next(numbers)}",))),
    )
    outcome = await rig.work()
    again = [GATHER, ANALYZE, REFLECT]
    assert rig.path == [*BEGIN, *again, *again, *again, *END]
    assert outcome.report is not None
    state = await state_of(
        rig_of(tmp_path / "b", ScriptedReasoner(reflect=lambda task: reflection()))
    )
    assert state["reflection_iterations"] == 1, "without queries it goes on"


async def test_a_critical_remark_leads_back_to_analysing_and_is_shown_there(tmp_path: Path) -> None:
    note = tasks.Note(category="bias", text="Only one side was heard.", critical=True)
    rig = rig_of(
        tmp_path, ScriptedReasoner(reflect=lambda task: reflection(sufficient=True, notes=(note,)))
    )
    await rig.work()
    assert rig.path == [*BEGIN, GATHER, ANALYZE, REFLECT, ANALYZE, REFLECT, *END], (
        "the same remark counts once"
    )
    first, second = rig.reasoner.of(tasks.Analyse)
    assert (first.notes, second.notes) == ((), ("Only one side was heard.",))


async def test_what_is_not_ready_is_reflected_on_again_twice_at_most(tmp_path: Path) -> None:
    def unready(task: tasks.VerifyConclusions) -> tasks.Verifications:
        return (
            ScriptedReasoner()
            ._verify_conclusions(task)
            .model_copy(update={"ready_for_synthesis": False})
        )

    rig = rig_of(tmp_path, ScriptedReasoner(verify_conclusions=unready))
    await rig.work()
    again = [REFLECT, CORRELATE, VERIFY]
    assert rig.path == [*BEGIN, GATHER, ANALYZE, *again, *again, *again, SYNTHESIZE]


async def test_every_loop_ends_at_max_iterations(tmp_path: Path) -> None:
    numbers = iter(range(1_000))

    def endless(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        return analysis(task, follow_up_queries=(call(f"Holm {next(numbers)}"),))

    rig = rig_of(tmp_path, ScriptedReasoner(analyse=endless), max_iterations=4)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, *([GATHER, ANALYZE] * 3), GATHER, SYNTHESIZE]
    assert outcome.report is not None
    assert outcome.report.answer
    assert [event.reason for event in rig.of(Decided)] == ["turn 4 is the last allowed"]
    told = next(
        section for section in outcome.report.sections if section.heading == "Confidence and method"
    )
    assert "It ended at the last turn allowed (4)." in told.sentences[0].text


async def test_critical_remarks_that_are_always_new_end_too(tmp_path: Path) -> None:
    numbers = iter(range(1_000))

    def critic(task: tasks.Reflect) -> tasks.Reflection:
        note = tasks.Note(category="gap", text=f"Remark {next(numbers)}.", critical=True)
        return reflection(sufficient=True, notes=(note,))

    rig = rig_of(tmp_path, ScriptedReasoner(reflect=critic), max_iterations=9)
    outcome = await rig.work()
    again = [ANALYZE, REFLECT] * 2  # once more: then there was nothing new to analyse
    assert rig.path == [*BEGIN, GATHER, *again, CORRELATE, VERIFY, SYNTHESIZE]
    assert outcome.report is not None


async def test_a_remark_and_a_failed_call_are_told_to_one_analysis(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: query == "broken"
    notes = iter([(tasks.Note(category="gap", text="One side only.", critical=True),), (), ()])
    rig = rig_of(tmp_path, provider=provider, max_iterations=9)
    rig.reasoner.rules["reflect"] = lambda task: reflection(
        queries=("broken", f"Holm Works register {task.iteration}"), notes=next(notes, ())
    )
    await rig.work()
    asked = rig.reasoner.of(tasks.Analyse)
    assert [task.notes for task in asked].count(("One side only.",)) == 1
    told = [task.reports for task in asked if task.reports]
    assert len(told) == 1
    assert "broken" in told[0][0]


async def test_hypotheses_are_weighed_when_no_call_waits_by_all_that_was_found(
    tmp_path: Path,
) -> None:
    many = tuple(
        f"Holm Works {word}" for word in "register gazette notice owner trader boat".split()
    )

    def planned(task: tasks.PlanResearch) -> tasks.ResearchPlan:
        return tasks.ResearchPlan(objectives=(QUESTION,), searches=many)

    def early(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        proposed = tasks.Proposed(
            statement="Anna Holm owns Holm Works.",
            answer="Anna Holm",
            supports_if="a register names her",
            refutes_if="a register names another",
        )
        return tasks.HypothesisSet(hypotheses=() if task.findings else (proposed,))

    rig = rig_of(tmp_path, ScriptedReasoner(hypothesise=early, plan_research=planned))
    state = await state_of(rig)
    assert rig.path.count(GATHER) == 2, "six searches and one that would refute are two turns"
    (judged,) = rig.reasoner.of(tasks.Judge)
    assert len(judged.findings) == len(state["findings"]) > 1
    assert state["weighed"] == len(state["findings"])
    assert {*many} <= {*rig.provider.queries}


async def test_hypotheses_are_weighed_in_the_last_turn_too_and_none_is_put_forward(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, max_iterations=1)
    state = await state_of(rig)
    assert rig.path == [*BEGIN, GATHER, SYNTHESIZE]
    assert state["weighed"] == len(state["findings"]) > 0
    (only,) = rig.reasoner.of(tasks.Hypothesise)
    assert only.findings == (), "what is put forward in the last turn can never be tested"


async def test_what_was_not_verified_is_marked_so(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, max_iterations=2)
    rig.reasoner.rules["reflect"] = lambda task: reflection(queries=("Holm Works founded",))
    outcome = await rig.work()
    assert rig.path == [*BEGIN, GATHER, ANALYZE, REFLECT, GATHER, SYNTHESIZE]
    assert outcome.report is not None
    insights = next(
        section for section in outcome.report.sections if section.heading == "Key insights"
    )
    assert {sentence.mark for sentence in insights.sentences} == {"not verified"}


@pytest.mark.parametrize(
    ("state", "node"),
    [
        ({"iteration": 10, "current_phase": "gathering", "error": ""}, SYNTHESIZE),
        ({"iteration": 10, "current_phase": "gathering", "error": "x"}, SYNTHESIZE),
        ({"iteration": 9, "current_phase": "gathering", "error": "x"}, SYNTHESIZE),
        *(
            ({"iteration": 9, "current_phase": phase, "error": ""}, node)
            for phase, node in overwatch.PHASES.items()
        ),
    ],
)
def test_the_rules_of_routing(state: Any, node: str) -> None:
    whole: Any = {**state, "max_iterations": 10}
    assert route_next_step(whole) == node


def test_every_phase_can_be_reached_and_every_way_leads_to_one() -> None:
    graph = overwatch.build().compile().get_graph()
    ways = {(edge.source, edge.target) for edge in graph.edges}
    assert {target for _, target in ways} >= set(overwatch.PHASES.values())
    loops = {
        (GATHER, ANALYZE),
        (ANALYZE, GATHER),
        (GATHER, GATHER),
        (REFLECT, GATHER),
        (REFLECT, ANALYZE),
    }
    assert ways >= loops | {
        (VERIFY, REFLECT),
        (VERIFY, SYNTHESIZE),
        ("approve_plan", "plan_research"),
    }
    assert all((node, SYNTHESIZE) in ways for node in overwatch.WAYS)


# -- what the phases do


async def test_the_state_has_the_fields_of_the_seed_and_no_text_of_a_source(tmp_path: Path) -> None:
    filler = "This sentence fills the page and must not travel with the state. " * 400
    corpus = {
        **CORPUS,
        "doc:long": ("Long", "register", f"Holm Works is owned by Anna Holm. {filler}"),
    }
    rig = rig_of(tmp_path, provider=CorpusProvider(corpus))
    state = await state_of(rig)
    assert set(SEED_FIELDS) <= state.keys()
    assert "fills the page" not in str(state)
    plain = {name: value for name, value in state.items() if name != "messages"}
    assert json.loads(json.dumps(plain)) == plain, "plain JSON, and nothing else"
    assert state["current_phase"] == "complete"
    assert "Anna Holm" in state["executive_summary"]
    assert isinstance(state["messages"][-1], AIMessage)
    assert state["messages"][-1].text == state["detailed_report"]


async def test_findings_are_typed(tmp_path: Path) -> None:
    state = await state_of(rig_of(tmp_path))
    by_url = {item["url"]: item for item in state["findings"]}
    assert {url: item["source_type"] for url, item in by_url.items()} == {
        "doc:register": "register",
        "doc:gazette": "news",
        "doc:notice": "official",
    }
    for item in state["findings"]:
        assert item["quote"] in CORPUS[item["url"]][2]
        assert 0.0 < item["relevance_score"] <= 1.0
        assert item["confidence"] in {"high", "medium", "low"}
        assert item["timestamp"] == "2026-01-01", "without a time of its own, when it was published"
        assert item["location"]["places"] == []


async def test_a_question_of_one_part_has_a_second_sub_task_that_correlating_looks_into(
    tmp_path: Path,
) -> None:
    state = await state_of(rig_of(tmp_path))
    assert [item["id"] for item in state["sub_tasks"]] == ["subtask_1", "subtask_2"]
    assert state["sub_tasks"][1]["dependencies"] == ["subtask_1"]
    assert state["problems"] == [QUESTION]


async def test_hypotheses_may_come_before_findings_and_bring_their_tests(tmp_path: Path) -> None:
    def early(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        if task.findings:
            return tasks.HypothesisSet(hypotheses=())
        proposed = tasks.Proposed(
            statement="Anna Holm owns Holm Works.",
            answer="Anna Holm",
            supports_if="a register names her",
            refutes_if="a register names another",
            prior=0.6,
            test_queries=(call("Holm Works register", "search_corpus"),),
        )
        return tasks.HypothesisSet(hypotheses=(proposed,), reasoning_chain=("It bears her name.",))

    rig = rig_of(tmp_path, ScriptedReasoner(hypothesise=early))
    state = await state_of(rig)
    first = rig.reasoner.of(tasks.Hypothesise)[0]
    assert (first.tools[0].name, first.early, first.searched) == ("search", True, True)
    assert "Holm Works register" in rig.provider.queries
    assert "refute: Anna Holm owns Holm Works." in rig.provider.queries
    assert "It bears her name." in state["chain_of_thought"]
    (held,) = state["hypotheses"]
    assert (held["status"], held["trials"]) == ("supported", 1)
    assert held["hypothesis"]["prior"] == 0.6


async def test_what_would_refute_is_searched_for_as_it_was_put_forward_and_nobody_is_asked_again(
    tmp_path: Path,
) -> None:
    def early(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        proposed = tasks.Proposed(
            statement="Anna Holm owns Holm Works.",
            answer="Anna Holm",
            supports_if="a register names her",
            refutes_if="a register names another",
            searches=("Holm Works owner gazette",),
        )
        return tasks.HypothesisSet(hypotheses=() if task.findings else (proposed,))

    rig = rig_of(tmp_path, ScriptedReasoner(hypothesise=early))
    state = await state_of(rig)
    assert "Holm Works owner gazette" in rig.provider.queries
    assert rig.reasoner.of(tasks.RefuteQueries) == []
    (held,) = state["hypotheses"]
    assert held["trials"] == 1


async def test_belief_is_moved_by_evidence_and_arithmetic_alone(tmp_path: Path) -> None:
    state = await state_of(rig_of(tmp_path))
    posteriors = {item["hypothesis"]["answer"]: item["posterior"] for item in state["hypotheses"]}
    assert posteriors["Anna Holm"] > 0.7 > 0.3 > posteriors["Bertil Ask"]
    confidences = [entry["confidence"] for entry in state["reasoning_trace"]]
    assert confidences[0] == 0.0
    assert confidences[-1] > 0.7


async def test_nothing_is_accepted_while_refutation_cannot_be_searched(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: query.startswith("refute:")
    outcome = await rig_of(tmp_path, provider=provider).work()
    assert outcome.report is not None
    assert {item.status.value for item in outcome.report.hypotheses} == {"open", "refuted"}
    assert outcome.run.status is not RunStatus.ANSWERED


def verdicts(**kinds: VerdictKind) -> Callable[[tasks.VerifyConclusions], tasks.Verifications]:
    """Give verdicts by the kind of conclusion; those of other kinds pass."""

    def verify(task: tasks.VerifyConclusions) -> tasks.Verifications:
        return tasks.Verifications(
            verifications=tuple(
                tasks.Verification(
                    id=item.id,
                    verdict=kinds.get(item.kind, VerdictKind.PASS),
                    reason="by the script",
                    adjusted_confidence=0.99 if item.kind == "temporal" else 0.2,
                )
                for item in task.conclusions
            )
        )

    return verify


async def test_what_is_rejected_never_reaches_the_report(tmp_path: Path) -> None:
    both = {"insight": VerdictKind.REJECT, "hypothesis": VerdictKind.REJECT}
    rules: dict[str, Any] = {"verify_conclusions": verdicts(**both), "write_report": say_all}
    rig = rig_of(tmp_path, ScriptedReasoner(**rules))
    state = await state_of(rig)
    assert state["verified_insights"] == []
    assert not [
        section for section in state["detailed_report"].splitlines() if section == "## Key insights"
    ]
    assert "Anna Holm owns Holm Works." not in state["executive_summary"]
    assert "**supported**" not in state["detailed_report"]
    for text in ("Anna Holm owns Holm Works.", CORPUS["doc:gazette"][2].split(" He likes")[0]):
        why = f"Verification rejected “{text}”, which is not reported: by the script"
        assert why in state["detailed_report"]
    shown = {item.quote for item in rig.reasoner.of(tasks.WriteReport)[0].findings}
    assert shown, "the refuted hypothesis stands on them"
    body = state["detailed_report"].split("## Hypotheses")[0]
    assert not [text for text in shown if text in body]
    assert state["executive_summary"] == OUTCOMES[RunStatus.UNDECIDED].lead
    assert {item["verdict"] for item in state["verification_results"]} == {"REJECT"}


async def test_what_is_flagged_is_marked(tmp_path: Path) -> None:
    both = {"insight": VerdictKind.FLAG, "hypothesis": VerdictKind.FLAG}
    rig = rig_of(tmp_path, ScriptedReasoner(verify_conclusions=verdicts(**both)))
    outcome = await rig.work()
    assert outcome.report is not None
    (insights,) = [
        section for section in outcome.report.sections if section.heading == "Key insights"
    ]
    assert {sentence.mark for sentence in insights.sentences} == {"flagged: by the script"}
    assert (
        "Verification flagged “Anna Holm owns Holm Works.”: by the script" in outcome.report.limits
    )
    assert outcome.run.status is RunStatus.ANSWERED


async def test_what_is_adjusted_is_stated_with_less_confidence_and_never_with_more(
    tmp_path: Path,
) -> None:
    rig = rig_of(
        tmp_path, ScriptedReasoner(verify_conclusions=verdicts(hypothesis=VerdictKind.ADJUST))
    )
    outcome = await rig.work()
    assert outcome.report is not None
    lowered = next(
        item for item in outcome.report.hypotheses if item.hypothesis.answer == "Anna Holm"
    )
    assert (lowered.posterior, lowered.status.value) == (0.2, "undecided"), (
        "a verdict takes acceptance away"
    )
    assert outcome.run.status is not RunStatus.ANSWERED
    raised = rig_of(
        tmp_path / "b", ScriptedReasoner(verify_conclusions=verdicts(temporal=VerdictKind.ADJUST))
    )
    state = await state_of(raised)
    assert all(
        item["stated_confidence"] <= item["confidence"] for item in state["verification_results"]
    )


async def test_what_the_verifier_leaves_out_is_flagged(tmp_path: Path) -> None:
    silent = tasks.Verifications(verifications=())
    state = await state_of(
        rig_of(tmp_path, ScriptedReasoner(verify_conclusions=lambda task: silent))
    )
    assert {item["verdict"] for item in state["verification_results"]} == {"FLAG"}
    assert all("says nothing" in item["reason"] for item in state["verification_results"])


async def test_the_trace_has_the_fields_of_the_seed_and_reaches_the_log(tmp_path: Path) -> None:
    state = await state_of(rig_of(tmp_path))
    keys = [
        "step_number",
        "phase",
        "thought",
        "action",
        "observation",
        "conclusion",
        "confidence",
        "timestamp",
    ]
    assert all(list(entry) == keys for entry in state["reasoning_trace"])
    assert [entry["step_number"] for entry in state["reasoning_trace"]] == list(range(1, 10))
    assert [entry["phase"] for entry in state["reasoning_trace"]] == list(overwatch.PHASES)
    assert state["reasoning_trace"][-1]["conclusion"] == "the research is complete"
    assert "answered, confidence 0." in state["reasoning_trace"][-1]["observation"]
    assert state["reasoning_depth"] == 9
    assert "step by step" in state["chain_of_thought"]


async def test_notes_about_the_research_are_computed_and_state_no_fact(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work()
    assert outcome.report is not None
    by_heading = {section.heading: section for section in outcome.report.sections}
    assert "Recommendations" not in by_heading, "nothing is left to be done"
    for heading in ("What is uncertain", "Confidence and method"):
        assert {sentence.kind for sentence in by_heading[heading].sentences} == {SentenceKind.FRAME}
    sure, method = (sentence.text for sentence in by_heading["Confidence and method"].sentences)
    assert sure.startswith(
        f"High confidence ({outcome.report.confidence:.2f}). Of 2 hypotheses: 1 supported, 1 "
        "refuted."
    )
    assert "1 reflection and 4 verification checks (4 PASS)" in method
    assert "3 calls of tools (3 answered) in 1 turn." in method


async def test_contradictions_are_on_record_and_in_the_report(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    state = await state_of(rig)
    assert state["contradictions"], "Anna Holm and Bertil Ask cannot both own it"
    assert "## Contradictions" in state["detailed_report"]
    held = {item["findings"][0] for item in state["contradictions"]}
    assert held <= {item["id"] for item in state["findings"]}


# -- task and context as input


async def test_task_and_context_are_the_input_of_the_graph(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    graph = TABLE["overwatch"].build().compile()
    given = {"task": QUESTION, "context": {"asked_by": "the desk", "region": "Oslo"}}
    state = await graph.ainvoke(given, {"recursion_limit": 200}, context=rig.session().deps)
    assert state["task"] == QUESTION
    assert state["context"] == given["context"]
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert state["messages"][0].text == QUESTION
    shown = '{"asked_by": "the desk", "region": "Oslo"}'
    for kind in (tasks.PlanResearch, tasks.DecomposeTask, tasks.Hypothesise):
        assert all(task.context == shown for task in rig.reasoner.of(kind))


async def test_without_task_and_message_it_is_refused(tmp_path: Path) -> None:
    graph = TABLE["overwatch"].build().compile()
    for given in ({"task": "  "}, {"context": {"x": 1}}):
        with pytest.raises(UsageError, match="the question is empty"):
            await graph.ainvoke(given, context=rig_of(tmp_path).session().deps)


async def test_the_context_of_a_run_is_replayed_with_it(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    rig.run = new_run(QUESTION, rig.settings, rig.store, context={"region": "Oslo"})
    first = await rig.work()
    assert rig.reasoner.of(tasks.PlanResearch)[0].context == '{"region": "Oslo"}'
    rig.run = rig.store.runs.get(rig.run.id)
    again = await rig.work(Mode.REPLAY)
    assert first.report is not None
    assert again.report is not None
    assert again.report.hash == first.report.hash
    assert rig.reasoner.of(tasks.PlanResearch)[1].context == '{"region": "Oslo"}'


# -- a model that answers in the seed's own words


WORDS: dict[str, str] = {
    "plan_research": """{
        "objectives": ["Identify military activity patterns", "Track infrastructure damage"],
        "regions_of_interest": ["Ukraine", "Kharkiv Oblast"],
        "keywords": ["military", "strike", "explosion"],
        "coordinates": [{"lat": 49.99, "lon": 36.23, "radius_km": 50}],
        "time_range": "7d",
        "priority_sources": ["news", "satellite", "cyber"],
        "initial_queries": [
            {"tool": "search_news",
             "args": {"keywords": "military strike", "country_code": "UA"}}
        ]
    }""",
    "decompose_task": """{
        "task_complexity": "moderate",
        "decomposition_reasoning": "Several regions and a time.",
        "sub_tasks": [
            {"id": "subtask_1", "description": "Identify thermal anomalies in Kharkiv region",
             "focus_area": "geographic", "dependencies": [], "complexity": "simple"},
            {"id": "subtask_2", "description": "Correlate thermal events with news reports",
             "focus_area": "thematic", "dependencies": ["subtask_1"], "complexity": "moderate"}
        ]
    }""",
    "hypothesise": """{
        "reasoning_chain": ["First, I observe that the task mentions military activity"],
        "hypotheses": [{
            "id": "h1",
            "statement": "Military strikes have increased in Kharkiv region in the past 7 days",
            "supporting_evidence_criteria": ["Multiple thermal anomalies detected"],
            "refuting_evidence_criteria": ["No thermal anomalies", "Reports indicate ceasefire"],
            "initial_confidence": 0.6,
            "test_queries": [{"tool": "detect_thermal_anomalies",
                "args": {"latitude": 49.99, "longitude": 36.23, "radius_km": 50},
                "reason": "Check for fire/explosion signatures"}]
        }]
    }""",
    "analyse": """```thinking
First, I observe 2 news articles about explosions.
```
{
    "key_insights": [
        "Thermal anomalies cluster around industrial areas in Kharkiv",
        "News reports correlate temporally with FIRMS detections"
    ],
    "hypothesis_implications": [
        {"hypothesis_id": "h1", "evidence_type": "supporting", "explanation": "Anomalies."}
    ],
    "correlations": [
        {"finding_ids": [0, 1, 2], "correlation_type": "temporal",
         "description": "A news report matches a thermal anomaly", "confidence": "high",
         "implications": ["Confirms active military engagement"]}
    ],
    "uncertainties": ["Unable to determine if fires are military or industrial"],
    "follow_up_queries": [
        {"tool": "check_connectivity", "args": {"country_code": "UA"},
         "reason": "Check for infrastructure disruption"}
    ]
}""",
    "reflect": """{
        "reflection_notes": [
            {"category": "Bias Check", "note": "Only fires were looked at.",
             "severity": "minor", "action_required": false}
        ],
        "needs_investigation": true,
        "investigation_queries": [
            {"tool": "search_events", "args": {"country_code": "UA", "keywords": "shelling"},
             "reason": "Look for other reports"}
        ]
    }""",
    "verify_conclusions": """{
        "verification_results": [
            {"conclusion": "Thermal anomalies cluster around industrial areas in Kharkiv",
             "status": "pass", "explanation": "FIRMS says so."}
        ],
        "overall": {"ready_for_synthesis": true}
    }""",
}
"""Answers of the seed's form, with its keys and its kinds of values."""
SEED_TASK = "Has military activity in the Kharkiv region increased in the last 7 days?"
ROWS = {
    "search_news": (
        "GDELT",
        IntelligenceType.NEWS,
        (
            "2026-11-14 14:00 UTC: Explosions were reported in Kharkiv at 49.99 N, 36.23 E.",
            "2026-11-14 14:20 UTC: Military strikes hit Kharkiv at 49.98 N, 36.24 E.",
        ),
    ),
    "detect_thermal_anomalies": (
        "NASA FIRMS",
        IntelligenceType.SATELLITE,
        (
            "2026-11-14 14:05 UTC: Thermal anomalies cluster around industrial areas in Kharkiv "
            "at 49.99 N, 36.23 E.",
        ),
    ),
    "check_connectivity": ("IODA", IntelligenceType.CONNECTIVITY, ()),
    "search_events": ("ReliefWeb", IntelligenceType.EVENT, ()),
    "search_cyber": ("CISA", IntelligenceType.CYBER, ()),
}


class Feeds:
    """Feeds of the real kinds that answer with made rows, and keep what they were asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def door(self, name: str, args: Mapping[str, Any], gateway: Gateway) -> FeedResult:
        service, kind, sentences = ROWS[name]

        async def do() -> Reply:
            self.asked.append((name, dict(args)))
            rows = tuple(Row(sentence=text, when=text[:10]) for text in sentences)
            url = f"https://{name.replace('_', '-')}.example/"
            answer = ServiceAnswer(service=service, url=url, title="rows", kind=kind, rows=rows)
            return Reply(FeedResult(answers=(answer,)).model_dump(mode="json"))

        request = Request("feed", name, name, dict(args))
        return FeedResult.model_validate((await gateway.call(request, do)).value)


class SeedModel(BaseChatModel):
    """A model that answers some tasks in given words, and the others as `popper_brain` does."""

    words: dict[str, str]

    @property
    def _llm_type(self) -> str:
        return "seed"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        roles = {"human": "user", "ai": "assistant"}
        body = {
            "messages": [{"role": roles.get(m.type, m.type), "content": m.text} for m in messages]
        }
        directions = {name: [Answer(text=text)] for name, text in self.words.items()}
        said = popper_brain(directions=directions)(body, 1)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said.text))])


async def in_the_words_of_the_seed(
    home: Path, words: Mapping[str, str]
) -> tuple[dict[str, Any], Feeds, list[Any], Outcome]:
    model, feeds = SeedModel(words=dict(words)), Feeds()
    own = OwnParts({name_of(model): model}, providers=[CorpusProvider()])
    flags = {"strategy": "overwatch", "model": name_of(model), "as_of": "2026-11-15"}
    settings = load({"home": home, "retries": 0, **flags})
    store = open_sqlite(home)
    events: list[Any] = []
    session = Session(
        new_run(SEED_TASK, settings, store), settings, store, on_event=events.append, own=own
    )
    await session.prepare()
    session.deps.tools = tuple(FeedTool(named_feed(name), feeds.door) for name in ROWS)
    outcome = await session.work(None, resumed=False)
    store.close()
    return dict(outcome.state), feeds, events, outcome


async def test_a_model_that_answers_in_the_seeds_form_is_understood_in_every_phase(
    tmp_path: Path,
) -> None:
    state, feeds, events, outcome = await in_the_words_of_the_seed(tmp_path, WORDS)
    assert outcome.error is None
    assert not [event for event in events if event.type == "task_performed" and event.error]
    plan = state["research_plan"]
    assert plan["objectives"] == [
        "Identify military activity patterns",
        "Track infrastructure damage",
    ]
    assert plan["initial_queries"][0]["args"] == {
        "keywords": "military strike",
        "country_code": "UA",
    }
    asked = dict(feeds.asked)
    assert asked["search_news"] == {
        "keywords": "military strike",
        "country_code": "UA",
        "days": "7",
    }, "the time of the plan is added"
    assert asked["detect_thermal_anomalies"]["latitude"] == "49.99"
    assert asked["check_connectivity"]["country_code"] == "UA", "a follow-up"
    assert asked["search_events"]["keywords"] == "shelling", "a query of the reflection"
    assert [part["id"] for part in state["sub_tasks"]] == ["subtask_1", "subtask_2"]
    assert state["hypotheses"][0]["hypothesis"]["refutes_if"] == (
        "No thermal anomalies; Reports indicate ceasefire"
    )
    assert state["key_insights"] == ["Thermal anomalies cluster around industrial areas in Kharkiv"]
    assert len(state["untaken_insights"]) == 1
    assert "1 insight of the analysis was not taken" in state["detailed_report"]
    assert "Unable to determine if fires are military or industrial" in state["detailed_report"]
    assert {note["category"] for note in state["reflection_notes"]} == {"bias"}
    assert state["verified_insights"] == state["key_insights"]
    near = [item for item in state["correlations"] if item["correlation_type"] == "temporal"]
    assert near[0]["measured"].startswith(("5 minutes", "15 minutes", "20 minutes"))
    assert any("First, I observe 2 news articles" in text for text in state["chain_of_thought"])
    thought = [event.thinking for event in events if event.type == "reasoned"]
    assert any("First, I observe 2 news articles" in text for text in thought)
    for key in SEED_RESULT:
        assert state[key], key
    assert {item["source"] for item in state["findings"]} >= {"GDELT", "NASA FIRMS"}


SEED_RESULT = (
    "executive_summary",
    "detailed_report",
    "confidence_assessment",
    "methodology_note",
    "recommendations",
)


async def test_the_blocks_of_the_seed_are_understood_word_for_word(tmp_path: Path) -> None:
    if not SEEDS.is_dir():
        pytest.skip("the design documents are not here (shared/seeds beside the repository)")
    (text,) = [path.read_text(encoding="utf-8") for path in SEEDS.glob("002_*.txt")]
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    names = ("plan_research", "decompose_task", "hypothesise", "analyse")
    verbatim = {**WORDS, **dict(zip(names, blocks, strict=False))}
    assert "supporting_evidence_criteria" in verbatim["hypothesise"]
    state, feeds, events, outcome = await in_the_words_of_the_seed(tmp_path, verbatim)
    assert outcome.error is None
    assert not [event for event in events if event.type == "task_performed" and event.error]
    told = json.loads(blocks[0])
    for name in ("objectives", "regions_of_interest", "keywords", "time_range", "priority_sources"):
        assert state["research_plan"][name] == told[name]
    parts = json.loads(blocks[1])["sub_tasks"]
    assert [part["description"] for part in state["sub_tasks"]] == [
        part["description"] for part in parts
    ]
    (claim,) = json.loads(blocks[2])["hypotheses"]
    assert state["hypotheses"][0]["hypothesis"]["statement"] == claim["statement"]
    said = json.loads(blocks[3])
    assert said["key_insights"][0] in state["key_insights"]
    assert set(said["uncertainties"]) <= set(state["uncertainties"])
    assert any(said["thinking"] in text for text in state["chain_of_thought"])
    assert "check_connectivity" in dict(feeds.asked)


# -- the person


async def test_a_plan_is_shown_with_objectives_sub_tasks_and_queries(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    answers = [{"action": "reject", "reason": "too broad"}, {"action": "accept"}]

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        seen.append(shown)
        return answers.pop(0)

    rig = rig_of(tmp_path, approve=True)
    await rig.work(ask=ask)
    # A node that asked is entered again with the answer.
    path = [node for node, _ in itertools.groupby(rig.path)]
    assert path[:8] == [*BEGIN[:4], *BEGIN[1:4], "generate_hypotheses"], (
        "a rejected plan is made anew"
    )
    assert seen[0]["objectives"] == seen[0]["problems"] == seen[0]["queries"] == [QUESTION]
    assert [task.objection for task in rig.reasoner.of(tasks.PlanResearch)] == ["", "too broad"]
    assert [task.objection for task in rig.reasoner.of(tasks.DecomposeTask)] == ["", "too broad"]
    assert rig.of(PlanProposed)[0].objectives == (QUESTION,)


async def test_an_edited_plan_is_obeyed(tmp_path: Path) -> None:
    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        return {"action": "edit", "problems": ["Who founded Holm Works?"]}

    rig = rig_of(tmp_path, approve=True)
    await rig.work(ask=ask)
    assert "Who founded Holm Works?" in rig.provider.queries
    assert QUESTION not in rig.provider.queries
    assert rig.reasoner.of(tasks.Analyse)[0].problems == ("Who founded Holm Works?",)


async def test_past_runs_are_hints(tmp_path: Path) -> None:
    first = rig_of(tmp_path)
    await first.work()
    rig = rig_of(tmp_path, past=True)
    outcome = await rig.work()
    asked = {task.name() for task in rig.reasoner.asked if getattr(task, "past", ())}
    assert asked == {"plan_research", "hypothesise", "reflect"}
    assert outcome.report is not None
    assert [line for line in outcome.report.limits if first.run.id in line]


# -- cost, replay, length


def test_the_allowance_grows_with_the_turns() -> None:
    small, large = overwatch.allowance(1, 6), overwatch.allowance(10, 6)
    assert large.searches == 10 * small.searches
    assert large.tasks[tasks.Analyse] == 10


async def test_the_allowance_is_never_exceeded(tmp_path: Path) -> None:
    numbers = iter(range(10_000))

    def more(task: Any) -> tuple[tasks.ToolQuery, ...]:
        return tuple(call(f"Holm Works {next(numbers)}") for _ in range(10))

    def rivals(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        made = [
            tasks.Proposed(
                statement=f"Anna Holm owns part {next(numbers)} of Holm Works.",
                supports_if="a",
                refutes_if="b",
            )
            for _ in range(8)
        ]
        return tasks.HypothesisSet(hypotheses=tuple(made))

    faulty = tuple(told(text, "F1") for text in ("Carl Dahl owns Holm Works.", "Someone owns it."))

    def faults(task: tasks.ReportBrief) -> Draft:
        return Draft(faulty, (DraftSection(QUESTION, faulty),))

    reasoner = ScriptedReasoner(
        plan_research=lambda task: tasks.ResearchPlan(
            objectives=("x",), initial_queries=more(task)
        ),
        decompose_task=lambda task: tasks.TaskDecomposition(
            task_complexity="complex",
            sub_tasks=tuple(
                tasks.SubTask(
                    id=f"subtask_{n}", description=f"{task.question} {n}", complexity="complex"
                )
                for n in range(7)
            ),
        ),
        write_queries=lambda task: tasks.Queries(
            queries=tuple(f"Holm Works {next(numbers)}" for _ in range(8))
        ),
        hypothesise=rivals,
        analyse=lambda task: analysis(
            task, follow_up_queries=more(task) if next(numbers) % 2 else ()
        ),
        reflect=lambda task: reflection(queries=tuple(f"Holm {next(numbers)}" for _ in range(6))),
        write_report=faults,
    )
    timed = {
        url: (title, kind, text.replace(".", " on 8 May 2026.", 1))
        for url, (title, kind, text) in CORPUS.items()
    }
    rig = rig_of(tmp_path, reasoner, max_iterations=10, provider=CorpusProvider(timed))
    await rig.work()
    assert rig.reasoner.of(tasks.WriteQueries)
    allowed = overwatch.allowance(10, 6)
    for task in {type(task) for task in rig.reasoner.asked}:
        assert task in allowed.tasks, f"{task.name()} is not allowed for"
        assert len(rig.reasoner.of(task)) <= allowed.tasks[task], task.name()
    assert len(rig.provider.queries) <= allowed.searches
    calm = rig_of(
        tmp_path / "b",
        ScriptedReasoner(write_report=faults),
        provider=CorpusProvider(timed),
    )
    await calm.work()
    both = {type(task) for task in (*rig.reasoner.asked, *calm.reasoner.asked)}
    assert both == used(allowed, rig), "nothing else is allowed for"


class EndlessProvider(CorpusProvider):
    """Finds new notes for every query, and counts the searches that run at the same time."""

    running = most_running = 0

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        self.corpus = {**self.corpus, **{f"doc:{query}/{n}": made(query, n) for n in range(limit)}}
        await super().search(query, limit, gateway)
        return [self._hit(f"doc:{query}/{n}") for n in range(limit)]


def made(query: str, number: int) -> tuple[str, str, str]:
    """Make a note of three sentences of invented words that no other has."""
    told = []
    for part in range(3):
        raw = hashlib.sha256(f"{query}/{number}/{part}".encode()).hexdigest()
        words = " ".join(
            raw[n : n + 6].translate(str.maketrans("0123456789", "ghijklmnop"))
            for n in range(0, 60, 6)
        )
        told.append(f"Those who own the works say {words}.")
    return f"Note {raw[:6]}", "register", " ".join(told)


async def test_a_turn_costs_the_same_however_many_there_were(tmp_path: Path) -> None:
    numbers = iter(range(1_000))

    def follow(task: tasks.Analyse) -> tasks.FindingsAnalysis:
        return analysis(
            task, follow_up_queries=tuple(call(f"works shed {next(numbers):03d}") for _ in range(5))
        )

    def rivals(task: tasks.Hypothesise) -> tasks.HypothesisSet:
        made = tasks.Proposed(
            statement="Those who own the works say so.", supports_if="a", refutes_if="b"
        )
        return tasks.HypothesisSet(hypotheses=(made,) if not task.standing else ())

    def hard(task: tasks.DecomposeTask) -> tasks.TaskDecomposition:
        only = tasks.SubTask(id="subtask_1", description=task.question)
        return tasks.TaskDecomposition(sub_tasks=(only,), task_complexity="complex")

    reasoner = ScriptedReasoner(analyse=follow, hypothesise=rivals, decompose_task=hard)
    provider = EndlessProvider({})
    rig = rig_of(tmp_path, reasoner, provider=provider, max_iterations=11)
    await rig.work()
    sizes = [0]
    for task in reasoner.asked:
        if isinstance(task, tasks.WriteReport):
            break
        prompt = task.prompt()
        sizes[-1] += len(prompt.system) + len(prompt.user)
        if isinstance(task, tasks.Analyse):
            sizes.append(0)
    turns = sizes[2:10]
    assert len(turns) == 8, "turns 3 to 10"
    assert max(turns) <= 1.15 * min(turns), sizes
    assert provider.most_running >= 5, "the calls of a turn are made side by side"


async def test_a_run_replays_to_the_same_report(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    first = await rig.work()
    asked = len(rig.provider.queries)
    again = await rig.work(Mode.REPLAY)
    assert first.report is not None
    assert again.report is not None
    assert again.report.hash == first.report.hash
    assert len(rig.provider.queries) == asked, "a replay asks nobody"


# -- over the sample library, with the embedded reasoner


async def golden(home: Path, name: str) -> tuple[Any, list[Any], sample.Question]:
    question = next(item for item in sample.questions() if item.id == name)
    events: list[Any] = []
    day = question.as_of.isoformat() if question.as_of else "2026-11-15"
    settings = load(
        {"home": home, "strategy": "overwatch", "documents": (sample.LIBRARY,), "as_of": day}
    )
    outcome = await research(question.text, settings, on_event=events.append)
    assert outcome.report is not None
    again = await replay(outcome.run.id, settings)
    assert again.report is not None
    assert again.report.hash == outcome.report.hash
    return outcome, events, question


async def test_the_ages_of_the_children_are_right_and_every_quote_stands(tmp_path: Path) -> None:
    outcome, _, question = await golden(tmp_path, "svedjan-children")
    answer = " ".join(sentence.text for sentence in outcome.report.answer)
    assert outcome.run.status is RunStatus.ANSWERED
    for years in ("15", "12", "8"):
        assert f"is {years} years old on 2026-11-15" in answer
    assert not [wrong for wrong in question.must_not if wrong in answer]
    store = open_sqlite(tmp_path)
    quotes = [
        quote
        for finding in load_ledger(store, outcome.run.id)
        if hasattr(finding, "quotes")
        for quote in finding.quotes
    ]
    assert quotes
    assert all(quote_stands(quote, store.texts.get) for quote in quotes)
    store.close()


async def test_the_planted_correlation_is_found_and_told(tmp_path: Path) -> None:
    outcome, events, _ = await golden(tmp_path, "ejdervik-grid")
    text = (outcome.folder / "report.md").read_text(encoding="utf-8")
    close = text.split("## Close in time")[1].split("\n## ")[0]
    dip, smoke = "A voltage dip of 34 percent began", "Harbour guard reports smoke"
    assert "6 minutes apart, 0.73 km apart" in close
    told = close.split("6 minutes apart, 0.73 km apart")[1]
    assert told.index(dip) < told.index(smoke), "in the order of time"
    evidence = (outcome.folder / "evidence.md").read_text(encoding="utf-8")
    assert "nothing but the order in time speaks for a cause" in text + evidence
    record = json.loads((outcome.folder / "report.json").read_text(encoding="utf-8"))
    kinds = {entry["kind"] for entry in record["ledger"] if entry["record"] == "Correlation"}
    assert kinds >= {"temporal", "geospatial", "causal"}
    assert {entry["record"] for entry in record["ledger"]} >= {
        "Insight",
        "Verdict",
        "Trial",
        "Evidence",
    }
    lines = [
        json.loads(line)
        for line in (outcome.folder / "reasoning.log").read_text(encoding="utf-8").splitlines()
    ]
    steps = [line for line in lines if "thought" in line["details"]]
    assert {line["phase"] for line in steps} == {*overwatch.PHASES}
    begun = [line["action"] for line in lines].index("phase_started")
    assert {line["phase"] for line in lines[begun:]} == {*overwatch.PHASES}, (
        "every line names the phase in one way"
    )
    assert all(line["timestamp"] and line["action"] for line in steps)
    assert any(
        "were compared" in line["details"]["thinking"]
        for line in steps
        if line["phase"] == "analyzing"
    )
    assert len([event for event in events if isinstance(event, Reasoned)]) == len(steps)


async def test_what_the_library_does_not_hold_is_not_answered(tmp_path: Path) -> None:
    outcome, _, _ = await golden(tmp_path, "ejdervik-insurer")
    assert outcome.run.status is RunStatus.NOT_ANSWERED
    assert outcome.report.answer[0].text == UNSURE
    assert any(outcome.run.question in line for line in outcome.report.limits)
    assert not [
        item for item in outcome.report.hypotheses if item.status is HypothesisStatus.SUPPORTED
    ]
