"""`navigator`: one decision, one tool, one analysis at a time (the Dynamic Research Agent Flow).

    Raw Query → Decision Node → Tool Node (DuckDuckGo/Google/Crawl) → Analyzer Node → Decision Node
      (loop continues) → [Loop Exit Condition Met] → HITL Output → Human Feedback
      → [If rejected/new info] → Decision Node

The reasoner decides what to do next; code keeps the rules. `max_iterations` bounds the steps of a
pass. An answer is handed over only after each part of the question was searched for. No step is
taken twice, and `loops` leads a hunt out of its circles. Only addresses from a source or the person
are read (`tools`). Disputed findings stay out of the answer (`disputes`). And the confidence that
ends a pass is computed from the evidence; the analyzer's own is kept beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

# Not that of typing: pydantic, and so LangGraph Studio, needs this one before Python 3.12.
from typing_extensions import TypedDict

from deepdiver import tasks
from deepdiver.core.record import Report, RunStatus
from deepdiver.core.steering import Steering
from deepdiver.errors import UsageError
from deepdiver.memory.recall import past_runs_note, show_past_runs, unfollowed_leads
from deepdiver.report.markdown import JOURNEY, answer_text
from deepdiver.strategies.navigator import analyser, decide, disputes, journey, loops, tools
from deepdiver.strategies.shared import write_report as writing
from deepdiver.strategies.shared.base import (
    Allowance,
    Deps,
    Provide,
    State,
    Update,
    add_nodes,
    attempt,
    unite,
)
from deepdiver.strategies.shared.heed import note_steering
from deepdiver.strategies.shared.plan import (
    ask_approval,
    drop_same,
    question_of,
    recall_past,
    split_question,
)
from deepdiver.strategies.shared.reading import find_nearest


class NavigatorState(TypedDict, total=False):
    """The state of the graph: the fields of the design document, then those that its nodes add."""

    messages: Annotated[list[AnyMessage], add_messages]
    initial_query: str
    decision: dict[str, Any]
    raw_tool_output: dict[str, Any]
    analyzer_report: dict[str, Any]
    research_history: list[dict[str, Any]]
    shared_memory: list[dict[str, Any]]
    leads: list[dict[str, str]]
    addresses: list[dict[str, str]]
    same: list[list[str]]
    conflicts: list[list[str]]
    confidence_score: float
    answer: str
    research_journey: list[str]
    key_sources: list[str]
    missing: list[str]
    feedback: list[str]
    accepted: bool
    iteration: int
    problems: list[str]
    objection: str
    approved: bool
    chosen: list[str]
    struck: list[str]
    past: list[dict[str, Any]]
    run: str
    readings: dict[str, list[list[int]]]


def allowance(max_iterations: int, results: int) -> Allowance:
    """Return how often one pass may do each thing, if a person edits its plan once.

    Further passes begin only when a person asks for one.
    """
    counts: dict[type[tasks.Task[Any]], int] = {
        tasks.Decompose: 1,
        tasks.DecideAction: max_iterations + 1,
        tasks.AnalyseOutput: max_iterations,
        tasks.Judge: 1,
        **writing.CALLS,
    }
    return Allowance(counts, max_iterations)


def build(provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(NavigatorState, context_schema=Deps)
    tool_nodes = (duckduckgo_search, google_search, search, crawl)
    add_nodes(
        graph,
        provide,
        initialize,
        decision_node,
        approve_plan,
        *tool_nodes,
        analyzer_node,
        hitl_output,
        human_feedback,
        heed=HEED,
    )
    named = [node.__name__ for node in tool_nodes]
    graph.add_edge(START, "initialize")
    graph.add_edge("initialize", "decision_node")
    graph.add_conditional_edges(
        "decision_node", _after_decision, ["approve_plan", *named, "hitl_output"]
    )
    graph.add_conditional_edges("approve_plan", _after_plan, ["decision_node", *named])
    for name in named:
        graph.add_edge(name, "analyzer_node")
    graph.add_edge("analyzer_node", "decision_node")
    graph.add_edge("hitl_output", "human_feedback")
    graph.add_conditional_edges("human_feedback", _after_feedback, ["decision_node", END])
    return graph


def _after_decision(state: NavigatorState) -> str:
    # The first decision hands over only if nothing can be done: then there is no plan to approve.
    over = state["decision"]["next_action"] == loops.HAND_OVER
    return _tool_node(state) if state["approved"] or over else "approve_plan"


def _after_plan(state: NavigatorState) -> str:
    return _tool_node(state) if state["approved"] and state["decision"] else "decision_node"


def _tool_node(state: NavigatorState) -> str:
    action = state["decision"]["next_action"]
    kinds = {
        loops.HAND_OVER: "hitl_output",
        loops.CRAWL: "crawl",
        "search_duckduckgo": "duckduckgo_search",
    }
    return kinds.get(action) or ("google_search" if action in loops.GOOGLE else "search")


def _after_feedback(state: NavigatorState) -> str:
    return END if state["accepted"] else "decision_node"


async def initialize(state: NavigatorState, deps: Deps) -> Update:
    """Take the question from the messages, recall past runs if asked to, and clear the rest."""
    query = question_of(state)
    past = await recall_past(deps, query)
    leads = unfollowed_leads(past)
    old = [tools.make_address(lead["text"], "past") for lead in leads if lead["kind"] == "url"]
    lists = (
        "research_history shared_memory same conflicts research_journey key_sources missing "
        "feedback problems chosen struck"
    )
    return {
        **{name: [] for name in lists.split()},
        **{name: {} for name in ("decision", "raw_tool_output", "analyzer_report")},
        **dict.fromkeys(("answer", "objection"), ""),
        **dict.fromkeys(("accepted", "approved"), False),
        "initial_query": query,
        "addresses": tools.add_addresses(old, tools.find_addresses(query)),
        "leads": leads,
        "confidence_score": 0.0,
        "iteration": 0,
        "past": past,
        "run": deps.run.id,
    }


async def decision_node(state: NavigatorState, deps: Deps) -> Update:
    """Let the reasoner choose the one next action, within the rules."""
    query, objection, past = (
        state["initial_query"],
        state["objection"],
        show_past_runs(state["past"]),
    )
    problems = state["problems"] or await split_question(deps, query, objection, past)
    decided = await decide.decide_next(deps, {**state, "problems": problems})
    made = (*decide.queries_made(state), decided["query_or_url"] or "")
    return {
        "problems": problems,
        "decision": decided,
        "chosen": drop_same(state["chosen"], made),
    }


async def approve_plan(state: NavigatorState, deps: Deps) -> Update:
    """Show the parts of the question and the first action to a person, if one wants to see them.

    Edited parts need another first action; after a rejection the question is split again. The
    searches that a person has chosen are the first steps.
    """
    first, parts = str(state["decision"]["query_or_url"]), state["problems"]
    planned = [{"query": first, "about": find_nearest(first, parts)}]
    said = ask_approval(deps, state["initial_query"], parts, queries=planned)
    if said.objection:
        return {"objection": said.objection, "problems": [], "decision": {}}
    update: Update = {"approved": True, "objection": "", "problems": said.problems}
    if said.queries is not None:
        texts = [item["query"] for item in said.queries]
        kept = texts[:1] == [first]
        update |= {"chosen": texts[1:] if kept else texts, "struck": said.struck}
        return update if kept else {**update, "decision": {}}
    return {**update, "decision": {}} if said.edited else update


async def duckduckgo_search(state: NavigatorState, deps: Deps) -> Update:
    """Search DuckDuckGo."""
    return await _use_search(state, deps)


async def google_search(state: NavigatorState, deps: Deps) -> Update:
    """Search Google, itself or through Serper or SerpAPI."""
    return await _use_search(state, deps)


async def search(state: NavigatorState, deps: Deps) -> Update:
    """Search the library or another provider."""
    return await _use_search(state, deps)


async def _use_search(state: NavigatorState, deps: Deps) -> Update:
    action, query = state["decision"]["next_action"], state["decision"]["query_or_url"]
    filters = tools.limits_of(deps, state)
    return tools.enter_output(
        state, await tools.use_search(deps, action, query, state["initial_query"], filters)
    )


async def crawl(state: NavigatorState, deps: Deps) -> Update:
    """Read one page, which the decision has permitted."""
    url = state["decision"]["query_or_url"]
    return tools.enter_output(state, await tools.use_crawl(deps, url, state["initial_query"]))


async def analyzer_node(state: NavigatorState, deps: Deps) -> Update:
    """Have the tool output analysed, enter what code finds in it, and compute the confidence."""
    task, read, known = analyser.make_task(deps, state)
    said = await attempt(deps, task) if task.texts or task.links else None
    return await analyser.enter_analysis(deps, state, said, read, known)


async def hitl_output(state: NavigatorState, deps: Deps) -> Update:
    """Write the report for the person: the answer, the research journey, the key sources."""
    found = disputes.find_disputes(deps, state["conflicts"], state["same"])
    disputed, unwanted = disputes.list_excluded(found), tools.find_unwanted(deps, state)
    excluded = disputed | unwanted
    told = journey.tell_journey(state["research_history"], state["feedback"])
    if unwanted:
        told.append(journey.tell_unwanted(len(unwanted), tools.describe_limits(deps, state)))
    by_part = analyser.group_answers(state, excluded)
    keys = unite(*by_part.values(), (item["id"] for item in state["shared_memory"]))
    gaps = [part for part in state["problems"] if part not in by_part]
    report = await writing.write_report(
        deps,
        state["initial_query"],
        state["problems"],
        None,
        [key for key in keys if key not in excluded],
        gaps,
        past_runs_note(state["past"]),
        besides=writing.Besides(
            guidance="\n".join(state["feedback"]),
            disputed=sorted(disputed - unwanted),
            shown_too=disputes.make_sections(deps, found),
            about_it=lambda answer: journey.make_sections(deps, told, answer),
        ),
    )
    deps.finish(report, waiting=True)
    stuck = [state["decision"]["reasoning"]] if state["decision"]["by"] == "rule" and gaps else []
    missing = [*gaps, *disputes.describe_unsettled(deps, found), *stuck]
    return {
        "answer": answer_text(report),
        "research_journey": journey.lines_under(report, JOURNEY),
        "key_sources": journey.lines_under(report, journey.SOURCES),
        "missing": missing,
        "confidence_score": report.confidence,
        "messages": [AIMessage(journey.hand_over(report, missing))],
    }


async def human_feedback(state: NavigatorState, deps: Deps) -> Update:
    """Wait for the person. Acceptance ends the run; anything else begins a pass that heeds it.

    Raises:
        UsageError: If the answer is not one.
    """
    shown = {
        "answer": "answer",
        "journey": "research_journey",
        "key_sources": "key_sources",
        "missing": "missing",
        "confidence": "confidence_score",
    }
    payload = {name: state.get(key) for name, key in shown.items()}
    reply = interrupt({"ask": "review_answer", "question": state["initial_query"], **payload})
    action = reply.get("action") if isinstance(reply, dict) else None
    said = (
        " ".join(str(reply.get("reason") or reply.get("constraints") or "").split())
        if action
        else ""
    )
    if action == "accept":
        deps.finish(
            deps.report or Report.model_validate_json(deps.store.records.report(deps.run.id) or "")
        )
        return {"accepted": True}
    if action not in {"reject", "add"} or (action == "add" and not said):
        raise UsageError(
            "the answer to a review needs an action: accept, reject (with a reason) or add (with a "
            "reason to heed)"
        )
    deps.store.runs.set_status(deps.run.id, RunStatus.RUNNING)
    told = said or "the person rejected the answer and did not say why"
    addresses = tools.add_addresses(state["addresses"], tools.find_addresses(said))
    return {
        "feedback": [*state["feedback"], told],
        "addresses": addresses,
        "iteration": 0,
        "analyzer_report": {},
    }


@dataclass(frozen=True, slots=True)
class _HeedByDeciding:
    """Heeds a person as a hunt does: what is to be looked at is a part of the question.

    An answer is handed over only after each part was searched for; and a page whose address the
    person names may be read.
    """

    nodes: frozenset[str] = frozenset({"decision_node", "hitl_output"})

    async def __call__(self, state: State, deps: Deps, said: Sequence[Steering]) -> Update:
        wanted = note_steering(deps, said)
        if not wanted:
            return {}
        named = [page for text in wanted for page in tools.find_addresses(text)]
        return {
            # Without a plan, the question is yet to be split.
            "problems": unite(state["problems"] or [state["initial_query"]], wanted),
            "addresses": tools.add_addresses(state["addresses"], named),
            # It took the question for answered before this was a part of it.
            "analyzer_report": {},
        }


HEED = _HeedByDeciding()
