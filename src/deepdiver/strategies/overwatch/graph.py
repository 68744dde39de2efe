"""`overwatch`: nine phases of an intelligence analyst, after the algorithm of its design document.

    START → PLANNING → DECOMPOSING → HYPOTHESIZING → GATHERING ⟷ ANALYZING → REFLECTING
          → CORRELATING → VERIFYING → SYNTHESIZING → END

    Back: ANALYZING → GATHERING, REFLECTING → GATHERING, VERIFYING → REFLECTING

Each node writes the next phase into `current_phase`, and `route_next_step` obeys unless the last
turn was made or there was an error. Every loop costs a turn, so that `max_iterations` bounds all
three. Each phase has a module beside this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_type_hints

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

# Not that of typing: pydantic, and so LangGraph Studio, needs this one before Python 3.12.
from typing_extensions import TypedDict

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.report.markdown import answer_text, render_markdown
from deepdiver.strategies.overwatch import (
    analyse,
    correlate,
    gather,
    plan,
    synthesise,
    verify,
)
from deepdiver.strategies.overwatch.trace import add_step
from deepdiver.strategies.shared.base import (
    Allowance,
    Deps,
    LookResult,
    Provide,
    State,
    Update,
    add_nodes,
)
from deepdiver.strategies.shared.heed import HeedByLooking
from deepdiver.strategies.shared.hypotheses import assess_all, standing_of
from deepdiver.strategies.shared.plan import (
    PROBLEMS,
    ask_approval,
    question_of,
    recall_past,
)
from deepdiver.strategies.shared.reading import most_readings_of
from deepdiver.strategies.shared.summary import without_ignored
from deepdiver.strategies.shared.write_report import CALLS

RETURNS = 2
"""The most returns from reflection to gathering, and from verification to reflection."""
PHASES = {
    "planning": "plan_research",
    "decomposing": "decompose_task",
    "hypothesizing": "generate_hypotheses",
    "gathering": "gather_intelligence",
    "analyzing": "analyze_findings",
    "reflecting": "reflect_on_analysis",
    "correlating": "correlate_findings",
    "verifying": "verify_conclusions",
    "synthesizing": "synthesize_report",
}
"""The node of each phase."""
LOGGED = {
    "initialize": "planning",
    **{node: phase for phase, node in PHASES.items()},
    "approve_plan": "decomposing",
}
"""The phase under which the log has each node."""
WAYS = {
    "approve_plan": ["plan_research", "generate_hypotheses"],
    "generate_hypotheses": ["gather_intelligence"],
    "gather_intelligence": ["gather_intelligence", "analyze_findings"],
    "analyze_findings": ["gather_intelligence", "reflect_on_analysis"],
    "reflect_on_analysis": ["gather_intelligence", "analyze_findings", "correlate_findings"],
    "correlate_findings": ["verify_conclusions"],
    "verify_conclusions": ["reflect_on_analysis"],
}
"""The nodes that may follow each node; synthesis may follow them all."""


class AgentState(TypedDict, total=False):
    """The state of the graph: the fields of the design document, then those that its nodes add."""

    messages: Annotated[list[AnyMessage], add_messages]
    task: str
    context: dict[str, Any]
    current_phase: str
    iteration: int
    max_iterations: int
    research_plan: dict[str, Any]
    sub_tasks: list[dict[str, Any]]
    task_complexity: str
    pending_queries: list[dict[str, Any]]
    executed_queries: list[dict[str, Any]]
    unmade_queries: list[dict[str, Any]]
    struck_queries: list[str]
    hypotheses: list[dict[str, Any]]
    findings: list[dict[str, Any]]
    key_insights: list[str]
    correlations: list[dict[str, Any]]
    uncertainties: list[str]
    reasoning_trace: list[dict[str, Any]]
    chain_of_thought: list[str]
    reasoning_depth: int
    reflection_notes: list[dict[str, Any]]
    needs_more_reflection: bool
    reflection_iterations: int
    verification_results: list[dict[str, Any]]
    verified_insights: list[str]
    verified_correlations: list[dict[str, Any]]
    executive_summary: str
    detailed_report: str
    recommendations: list[str]
    confidence_assessment: str
    methodology_note: str
    error: str
    run: str
    past_runs: list[dict[str, Any]]
    objection: str
    problems: list[str]
    looked_into: list[str]
    insights: list[dict[str, Any]]
    untaken_insights: list[str]
    crowded_out: list[str]
    hypothesis_implications: list[dict[str, Any]]
    contradictions: list[dict[str, Any]]
    analysed: int
    met: int
    told: int
    conjectured: int
    asked_in_vain: int
    weighed: int
    again: bool
    rechecks: int
    missing: list[str]
    trials: list[str]
    evidence: list[str]
    readings: dict[str, list[list[int]]]


def allowance(max_iterations: int, results: int) -> Allowance:
    """Return how often a run may do each thing, if a person rejects no plan."""
    most, per_turn = (
        gather.HYPOTHESES,
        (tasks.Analyse, tasks.Reflect, tasks.Correlate, tasks.VerifyConclusions),
    )
    counts: dict[type[tasks.Task[Any]], int] = {
        tasks.PlanResearch: 1,
        tasks.DecomposeTask: 1,
        **CALLS,
        **dict.fromkeys(per_turn, max_iterations),
        tasks.WriteQueries: PROBLEMS,
        tasks.Hypothesise: 1 + max_iterations,
        tasks.RefuteQueries: most,
        tasks.ExtractFindings: most_readings_of(results) * gather.TURN * max_iterations,
        tasks.Judge: 2 * max_iterations,
    }
    return Allowance(counts, gather.TURN * max_iterations)


def build(provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(AgentState, context_schema=Deps)
    add_nodes(
        graph,
        provide,
        initialize,
        plan_research,
        decompose_task,
        approve_plan,
        generate_hypotheses,
        gather_intelligence,
        analyze_findings,
        reflect_on_analysis,
        correlate_findings,
        verify_conclusions,
        synthesize_report,
        logged=LOGGED,
        heed=HEED,
    )
    graph.add_edge(START, "initialize")
    graph.add_edge("initialize", "plan_research")
    graph.add_edge("plan_research", "decompose_task")
    graph.add_edge("decompose_task", "approve_plan")
    for node, ways in WAYS.items():
        graph.add_conditional_edges(node, route_next_step, [*ways, "synthesize_report"])
    graph.add_edge("synthesize_report", END)
    return graph


def route_next_step(state: AgentState) -> str:
    """Return the node of the current phase; after the last turn or an error, synthesis."""
    if state["iteration"] >= state["max_iterations"] or state["error"]:
        return "synthesize_report"
    return PHASES[state["current_phase"]]


async def initialize(state: AgentState, deps: Deps) -> Update:
    """Take the task and its context, recall past runs if asked to, and clear the rest.

    The task is `task`, or the last question in the messages; the context is `context`, or that of
    the run.
    """
    task = question_of(state)
    kinds: dict[str, Any] = {"list": [], "dict": {}, "str": "", "int": 0, "bool": False}
    fields = {name: kind for name, kind in get_type_hints(AgentState).items() if name != "messages"}
    asked = [message.text for message in state.get("messages", ()) if message.type == "human"]
    return {
        **{name: kinds[kind.__name__] for name, kind in fields.items()},
        "messages": [] if task in asked[-1:] else [HumanMessage(task)],
        "task": task,
        "context": dict(state.get("context") or deps.run.context),
        "past_runs": await recall_past(deps, task),
        "current_phase": "planning",
        "max_iterations": deps.max_iterations,
        "run": deps.run.id,
    }


async def plan_research(state: AgentState, deps: Deps) -> Update:
    """Plan the objectives, the area, the period and the first calls."""
    update, thoughts = await plan.plan(state, deps)
    update["current_phase"] = "decomposing"
    told = (
        f"{len(update['research_plan']['objectives'])} objectives, "
        f"{len(update['pending_queries'])} queries"
    )
    return add_step(
        state,
        deps,
        "What is to be found out, and whom to ask first",
        "Planned the research",
        told,
        update,
        thoughts,
    )


async def decompose_task(state: AgentState, deps: Deps) -> Update:
    """Split the task into sub-tasks with their dependencies."""
    made, reasoning = await plan.decompose(state, deps)
    parts = "; ".join(
        f"{item['id']}, {item['focus_area']}, {item['complexity']}: {item['description']}"
        for item in made["sub_tasks"]
    )
    told = f"{len(made['sub_tasks'])} sub-tasks, {made['task_complexity']}: {parts}"
    made["current_phase"] = "hypothesizing"
    return add_step(
        state, deps, "Which parts the task has", "Took the task apart", told, made, reasoning
    )


async def approve_plan(state: AgentState, deps: Deps) -> Update:
    """Show objectives, sub-tasks and queries to a person, if one wants to see them.

    After a rejection the research is planned again.
    """
    calls, aims = state["pending_queries"], state["research_plan"]["objectives"]
    queries = [{"query": plan.words_of(call), "about": call["about"]} for call in calls]
    said = ask_approval(deps, state["task"], state["problems"], objectives=aims, queries=queries)
    return {
        **plan.apply_approval(said, calls),
        "current_phase": "planning" if said.objection else "hypothesizing",
    }


async def generate_hypotheses(state: AgentState, deps: Deps) -> Update:
    """Put forward possible answers, with what would refute them, before anything was gathered."""
    made, reasoning = await gather.put_forward(state, deps)
    told = f"{len(made['hypotheses'])} hypotheses, {len(made['pending_queries'])} queries wait"
    update = {**made, "current_phase": "gathering"}
    return add_step(
        state,
        deps,
        "What could be the answer",
        "Put hypotheses forward",
        told,
        update,
        reasoning,
    )


async def gather_intelligence(state: AgentState, deps: Deps) -> Update:
    """Make the next calls; when none waits, weigh the hypotheses, and put forward new ones.

    Each time they are weighed, all of them are shown: between turns that follow each other, nobody
    would look at the result. Nothing is put forward in the last turn, which leaves none to test it.
    """
    update, batch = await gather.call_up(state, deps)
    update |= await gather.take_turn(state, deps, batch)
    new = update["findings"][len(state["findings"]) :]
    reasoning, last = "", update["iteration"] >= state["max_iterations"] or update["error"]
    if last or not gather.waits({**state, **update}):
        update |= await gather.update_hypotheses({**state, **update}, deps)
    if not last and not gather.waits({**state, **update}):
        more, reasoning = await gather.put_forward({**state, **update}, deps)
        update |= more
    update["current_phase"] = "gathering" if gather.waits({**state, **update}) else "analyzing"
    told = "; ".join(
        query["told"] for query in update["executed_queries"][len(state["executed_queries"]) :]
    )
    done = f"Made {len(batch)} calls, which brought {len(new)} new findings"
    return add_step(state, deps, "What the tools have", done, told, update, reasoning)


async def analyze_findings(state: AgentState, deps: Deps) -> Update:
    """Analyse the new findings; if the analysis asks for calls, gather again."""
    made, thinking = await analyse.analyse(state, deps)
    counts = {
        name: len(made[name])
        for name in ("key_insights", "untaken_insights", "uncertainties", "pending_queries")
    }
    told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items())
    update = {**made, "current_phase": "gathering" if made["pending_queries"] else "reflecting"}
    done = f"Analysed {len(state['findings']) - state['analysed']} new findings"
    return add_step(state, deps, "What the findings show", done, told, update, thinking)


async def reflect_on_analysis(state: AgentState, deps: Deps) -> Update:
    """Reflect critically; gather again at most twice, analyse again after a new remark.

    Without anything new to analyse that is done once: a critic can always say something else.
    """
    update, queries, critical, thoughts = await analyse.reflect(state, deps)
    told = f"{len(update['reflection_notes'])} notes, {len(update['missing'])} things missing"
    may_gather = state["reflection_iterations"] < RETURNS
    update["unmade_queries"] = [] if may_gather else queries
    if queries and may_gather:
        update |= {"pending_queries": queries, "current_phase": "gathering"}
    elif critical and not state.get("again") and state["reflection_iterations"] <= RETURNS:
        update |= {"iteration": state["iteration"] + 1, "current_phase": "analyzing"}
    else:
        update["current_phase"] = "correlating"
    return add_step(
        state, deps, "What was overlooked", "Looked back at the analysis", told, update, thoughts
    )


async def correlate_findings(state: AgentState, deps: Deps) -> Update:
    """Find correlations in time, in space, as cause or as pattern, and find contradictions."""
    found = await correlate.correlate(deps, state["task"], state["findings"], state["correlations"])
    against = await correlate.enter_contradictions(deps, standing_of(state))
    listed = found.correlations
    update = {"correlations": listed, "contradictions": against, "current_phase": "verifying"}
    told = f"{len(listed)} correlations, {len(against)} contradictions"
    done = (
        f"Correlated {found.events} findings that have a time"
        if found.events
        else "Correlated nothing: no findings of different origins have a time"
    )
    return add_step(state, deps, "What goes together", done, told, update, found.thoughts)


async def verify_conclusions(state: AgentState, deps: Deps) -> Update:
    """Have every conclusion verified; if they are not ready, reflect again, at most twice."""
    update, ready, told, thoughts = await verify.verify(state, deps)
    if ready or state["rechecks"] >= RETURNS:
        update["current_phase"] = "synthesizing"
    else:
        again = {"rechecks": state["rechecks"] + 1, "iteration": state["iteration"] + 1}
        update |= {**again, "current_phase": "reflecting"}
    done = f"Checked {len(update['verification_results'])} conclusions"
    return add_step(state, deps, "Whether the conclusions hold", done, told, update, thoughts)


async def synthesize_report(state: AgentState, deps: Deps) -> Update:
    """Write the report of what was verified; after an error or the last turn, of what there is."""
    if state["current_phase"] != "synthesizing":
        why = state["error"] or f"turn {state['iteration']} is the last allowed"
        deps.emit(Decided(decision="finish", reason=why, by="rule"))
    report, notes = await synthesise.synthesise(state, deps)
    deps.finish(report)
    text = {
        "executive_summary": answer_text(report),
        "detailed_report": render_markdown(report),
        **notes,
    }
    told = (
        f"{report.status.value}, confidence {report.confidence:.2f}, "
        f"{len(report.citations)} citations, {len(report.cut)} sentences cut"
    )
    update = {**text, "current_phase": "complete", "messages": [AIMessage(text["detailed_report"])]}
    return add_step(
        {**state, "current_phase": "synthesizing"},
        deps,
        "What can be reported",
        "Wrote the report",
        told,
        update,
    )


def _enter_findings(state: State, deps: Deps, found: Sequence[LookResult]) -> Update:
    """Return the update that enters the results of looks that no call has asked for."""
    return {"findings": [*state["findings"], *gather.type_new(state, deps, found)]}


def _leave_out(state: State, deps: Deps) -> Update:
    """Return the update after a source is left out: without what stands on it."""
    findings, seen = state["findings"], ("analysed", "conjectured", "weighed")
    kept = set(deps.without_ignored(item["id"] for item in findings))
    standing = assess_all(deps, standing_of(state), state["evidence"], state["trials"])
    insights = without_ignored(deps, state["insights"])
    said = {line["text"] for line in insights}
    return {
        "findings": [item for item in findings if item["id"] in kept],
        **{
            name: sum(item["id"] in kept for item in findings[: state.get(name, 0)])
            for name in seen
        },
        "hypotheses": [item.model_dump(mode="json") for item in standing],
        "insights": insights,
        "key_insights": [text for text in state["key_insights"] if text in said],
        "correlations": [item for item in state["correlations"] if kept >= {*item["finding_ids"]}],
    }


HEED = HeedByLooking(
    nodes=frozenset({"analyze_findings", "synthesize_report"}),
    question="task",
    problems="problems",
    findings=lambda state: [item["id"] for item in state["findings"]],
    enter=_enter_findings,
    leave_out=_leave_out,
)
