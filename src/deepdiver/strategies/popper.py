r"""`popper`: conjecture and refutation, after the Deep Diver design document.

    Start → Initialize → Formulate Problem → Gather Information → Generate Hypothesis
                                                                        ↓
                                                                Verify Hypothesis
                                                                        ↓
                                                              [LLM Decision Point]
                                                               /              \
                                        CONTINUE (iterate again)              FINISH
                                               ↓                                ↓
                                        Generate Hypothesis              Final Answer → End

The reasoner decides, never a threshold. Code keeps two rules: `max_iterations` is the hard stop,
and there is no finishing before every open hypothesis has met one attempt to refute it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import (
    TypedDict,
)  # pydantic, and so LangGraph Studio, needs this one before 3.12

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.core.record import Assessment, HypothesisStatus
from deepdiver.core.text import within
from deepdiver.errors import UsageError
from deepdiver.memory.past import consulted, shown
from deepdiver.report.render import answer_text
from deepdiver.strategies.shared.base import (
    Allowance,
    Deps,
    LookResult,
    Provide,
    Update,
    add_nodes,
    attempt,
    together,
)
from deepdiver.strategies.shared.findings import KNOWN_BYTES, enter_findings, list_statements
from deepdiver.strategies.shared.hypotheses import (
    build_experience_pool,
    conjecture,
    stand,
    try_all,
)
from deepdiver.strategies.shared.look import LEADS, look_into, most_readings_of
from deepdiver.strategies.shared.plan import PROBLEMS, approve_plan, order_into_waves, recall_past
from deepdiver.strategies.shared.write_report import write_report

QUERIES, HOPS, HYPOTHESES, GAPS = 3, 2, 4, 3
"""The most queries for a sub-problem, hops from lead to lead, hypotheses a round, gaps searched a
round."""
MOST_QUERIES = QUERIES + tasks.REMEMBERED  # with those that were fruitful in past runs


class DeepDiverState(TypedDict, total=False):
    """What the graph carries: the seed's fields, then what its nodes need to find their way."""

    messages: Annotated[list[AnyMessage], add_messages]
    original_question: str
    decomposed_problems: list[str]
    gathered_information: list[dict[str, Any]]
    hypotheses: list[dict[str, Any]]
    experience_pool: list[dict[str, Any]]
    final_answer: str
    confidence_score: float
    current_iteration: int
    run: str
    past: list[dict[str, Any]]
    waves: list[list[int]]
    objection: str
    tried: list[str]
    trials: list[str]
    evidence: list[str]
    new_findings: int
    gaps: list[str]
    limits: list[str]
    decision: str


def allowance(max_iterations: int, results: int) -> Allowance:
    """Return how often a run may do each thing at most."""
    readings = PROBLEMS * (1 + HOPS) + max_iterations * (HYPOTHESES + GAPS)
    searches = PROBLEMS * (MOST_QUERIES + HOPS * LEADS) + max_iterations * (2 * HYPOTHESES + GAPS)
    counts: dict[type[tasks.Task[Any]], int] = {
        tasks.Decompose: 1,
        tasks.WriteQueries: PROBLEMS,
        tasks.ExtractFindings: most_readings_of(results) * readings,
        tasks.Hypothesise: max_iterations,
        tasks.RefuteQueries: HYPOTHESES * max_iterations,
        tasks.Judge: HYPOTHESES * max_iterations,
        tasks.Decide: max_iterations,
        tasks.WriteReport: 1,
        tasks.CheckSupport: 2,
        tasks.RepairSentences: 1,
    }
    return Allowance(counts, searches)


def build(provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(DeepDiverState, context_schema=Deps)
    add_nodes(graph, provide, initialize, formulate_problem, approve_plan, gather_information)
    add_nodes(graph, provide, generate_hypothesis, verify_hypothesis, decide, final_answer)
    graph.add_edge(START, "initialize")
    graph.add_edge("initialize", "formulate_problem")
    graph.add_edge("formulate_problem", "approve_plan")
    graph.add_conditional_edges(
        "approve_plan", _after_plan, ["formulate_problem", "gather_information"]
    )
    graph.add_edge("gather_information", "generate_hypothesis")
    graph.add_edge("generate_hypothesis", "verify_hypothesis")
    graph.add_edge("verify_hypothesis", "decide")
    graph.add_conditional_edges("decide", _after_decision, ["generate_hypothesis", "final_answer"])
    graph.add_edge("final_answer", END)
    return graph


def _after_plan(state: DeepDiverState) -> str:
    return "formulate_problem" if state["objection"] else "gather_information"


def _after_decision(state: DeepDiverState) -> str:
    return "generate_hypothesis" if state["decision"] == "continue" else "final_answer"


async def initialize(state: DeepDiverState, deps: Deps) -> Update:
    """Take the question from the messages, recall past runs if that is wanted, and empty everything else."""
    asked = [
        text
        for m in state.get("messages", [])
        if m.type == "human" and (text := str(m.text).strip())
    ]
    if not asked:
        raise UsageError("the question is empty: ask something in a user message")
    lists = (
        "decomposed_problems gathered_information hypotheses experience_pool waves tried trials "
        "evidence gaps"
    )
    return {
        **{name: [] for name in (*lists.split(), "limits")},
        "original_question": asked[-1],
        "past": await recall_past(deps, asked[-1]),
        "final_answer": "",
        "confidence_score": 0.0,
        "current_iteration": 0,
        "new_findings": 0,
        "objection": "",
        "decision": "continue",
        "run": deps.run.id,
    }


async def formulate_problem(state: DeepDiverState, deps: Deps) -> Update:
    """Break the question into sub-problems that can be tested one by one."""
    question, objection, past = state["original_question"], state["objection"], shown(state["past"])
    guidance = deps.settings.system_prompt
    task = tasks.Decompose(
        question=question, as_of=deps.as_of, guidance=guidance, objection=objection, past=past
    )
    answer = await attempt(deps, task)
    problems = (
        list(dict.fromkeys(p.question for p in answer.problems))[:PROBLEMS]
        if answer
        else [question]
    )
    needs = {p.question: p.needs for p in answer.problems} if answer else {}
    return {"decomposed_problems": problems, "waves": order_into_waves(problems, needs)}


async def gather_information(state: DeepDiverState, deps: Deps) -> Update:
    """Look into the sub-problems, side by side where none needs another's answer first."""
    question, problems, past = (
        state["original_question"],
        state["decomposed_problems"],
        shown(state["past"]),
    )
    found: list[LookResult] = []

    async def gather(problem: str, known: Sequence[str]) -> LookResult:
        task = tasks.WriteQueries(
            question=question, problem=problem, known=tuple(known), past=past, limit=QUERIES
        )
        answer = await attempt(deps, task)
        most = MOST_QUERIES if past else QUERIES
        queries = answer.queries[:most] if answer and answer.queries else (problem,)
        return await look_into(deps, question, problem, queries, known, HOPS)

    for wave in state["waves"]:
        known = list_statements(deps, (key for looked in found for key in looked.findings))
        found += await together(*(gather(problems[number], known) for number in wave))
    return enter_findings(state, deps, found)


async def generate_hypothesis(state: DeepDiverState, deps: Deps) -> Update:
    """Put forward rival answers; from the second round on, look into what was missing first."""
    question, gaps, update = state["original_question"], state["gaps"], Update()
    if gaps:
        known = list_statements(deps, _ids(state))
        found = await together(*(look_into(deps, question, gap, [gap], known) for gap in gaps))
        update = enter_findings(state, deps, found)
    standing, iteration = _standing(state), state["current_iteration"] + 1
    conjectures = await conjecture(
        deps,
        question,
        state["decomposed_problems"],
        _ids(update or state),
        standing,
        gaps=gaps,
        iteration=iteration,
        limit=HYPOTHESES,
        past=shown(state["past"]),
    )
    return {
        **update,
        "hypotheses": [item.model_dump(mode="json") for item in (*standing, *conjectures.new)],
        "current_iteration": iteration,
    }


async def verify_hypothesis(state: DeepDiverState, deps: Deps) -> Update:
    """Try to refute every hypothesis that is not settled.

    Success and failure both enter the experience pool.
    """
    tested = await try_all(
        deps,
        state["original_question"],
        _standing(state),
        _ids(state),
        tried=state["tried"],
        iteration=state["current_iteration"],
        trials=state["trials"],
        evidence=state["evidence"],
    )
    return {
        **enter_findings(state, deps, tested.found),
        "hypotheses": [item.model_dump(mode="json") for item in tested.standing],
        "experience_pool": build_experience_pool(deps, tested.standing, tested.evidence),
        "trials": tested.trials,
        "evidence": tested.evidence,
    }


async def decide(state: DeepDiverState, deps: Deps) -> Update:
    """Let the reasoner decide; code keeps the hard stop and the duty to test."""
    standing, iteration = _standing(state), state["current_iteration"]
    untested = [item for item in standing if item.status is HypothesisStatus.OPEN]
    if iteration >= deps.max_iterations:
        decision, by = (
            tasks.Decision(decision="finish", reason=f"round {iteration} is the last allowed"),
            "rule",
        )
    else:
        task = tasks.Decide(
            question=state["original_question"],
            problems=tuple(state["decomposed_problems"]),
            standing=stand(standing, {}),
            findings=len(state["gathered_information"]),
            new_findings=state["new_findings"],
            iteration=iteration,
            max_iterations=deps.max_iterations,
            limits=within(state["limits"], KNOWN_BYTES),
            guidance=deps.settings.system_prompt,
        )
        answer = await attempt(deps, task)
        decision, by = (
            answer or tasks.Decision(decision="finish", reason="no decision could be had"),
            "reasoner",
        )
        if decision.decision == "finish" and untested:
            reason = f"{len(untested)} hypotheses have met no attempt to refute them"
            decision, by = tasks.Decision(decision="continue", reason=reason), "rule"
    deps.emit(Decided(decision=decision.decision, reason=decision.reason, by=by))
    return {"decision": decision.decision, "gaps": list(decision.gaps)[:GAPS], "new_findings": 0}


async def final_answer(state: DeepDiverState, deps: Deps) -> Update:
    """Write the answer from what has stood the tests."""
    question, problems = state["original_question"], state["decomposed_problems"]
    limits = [*state["limits"], *consulted(state["past"])]
    report = await write_report(
        deps, question, problems, _standing(state), _ids(state), state["gaps"], limits
    )
    deps.finish(report)
    text = answer_text(report)
    return {
        "final_answer": text,
        "confidence_score": report.confidence,
        "messages": [AIMessage(text)],
    }


def _standing(state: DeepDiverState) -> list[Assessment]:
    return [Assessment.model_validate(item) for item in state["hypotheses"]]


def _ids(state: Mapping[str, Any]) -> list[str]:
    return [item["id"] for item in state["gathered_information"]]
