"""`orchestrated`: three agents over one research context, after its design document.

    User Query → Research Context → Planning Agent → Search Plans → Execution Agent → Search Results
                                          ↑                                                ↓
                                          └────── No ── {Sufficient Info?} ←── Update Context
                                                               ↓ Yes
                                                        Synthesis Agent → Final Report

Every plan has an intent, which decides how it is carried out (see `intents`). Searching ends after
`max_iterations` rounds, or when no question is open any more, or when the planning agent asks for
synthesis, or when planning fails. In each case the report is written from what there is. The
`ENOUGH` key findings and `DEPTH` rounds of the design document are a minimum here: without them, it
is too early to say that no question is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

# Not that of typing: pydantic, and so LangGraph Studio, needs this one before Python 3.12.
from typing_extensions import TypedDict

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.core.record import Finding, Report, RunStatus, Sentence, SentenceKind
from deepdiver.core.text import within
from deepdiver.memory.recall import past_runs_note, show_past_runs
from deepdiver.report.markdown import render_markdown
from deepdiver.strategies.orchestrated import intents
from deepdiver.strategies.orchestrated.context import ResearchContext
from deepdiver.strategies.shared import summary
from deepdiver.strategies.shared import write_report as writing
from deepdiver.strategies.shared.base import (
    Allowance,
    Deps,
    LookResult,
    Provide,
    State,
    Update,
    add_nodes,
    attempt_to_decide,
    unite,
)
from deepdiver.strategies.shared.heed import HeedByLooking
from deepdiver.strategies.shared.plan import ask_approval, question_of, recall_past, split_question
from deepdiver.strategies.shared.reading import (
    find_nearest,
    lay_out_library,
    list_unanswered,
    most_readings_of,
    read_together,
)
from deepdiver.strategies.shared.room import room_of
from deepdiver.tasks import SearchIntent, SearchPlan

PLANS, EXECUTED = 3, 2
"""Searches planned and searches made a round; the others are planned again, with more known."""
ENOUGH, DEPTH = 5, 3
"""The fewest key findings and rounds after which answered questions end the search. A model reads
five findings from one page, so that their number alone says nothing."""
FAILED = "Planning failed before round {}, so {}. The limits say why."
RECENT, OPEN, TRIED, LEADS = 5, 8, 24, 12
"""The most that planning is shown of each: last results, open questions, searches made, names not
looked up."""
LIMITS_BYTES = 2_000
"""The most bytes of limits that a task is shown."""


class OrchestratedState(TypedDict, total=False):
    """The research context as plain JSON, without the texts, then the fields that the nodes add."""

    messages: Annotated[list[AnyMessage], add_messages]
    query: str
    search_history: list[dict[str, Any]]
    key_findings: list[dict[str, Any]]
    unanswered_questions: list[str]
    search_iterations: int
    final_report: str
    research_context: dict[str, Any]
    run: str
    past: list[dict[str, Any]]
    problems: list[str]
    objection: str
    approved: bool
    plans: list[dict[str, str]]
    chosen: bool
    struck: list[str]
    ending: bool
    findings: list[str]
    checked: list[str]
    tried: list[str]
    leads: list[str]
    limits: list[str]
    decision: str
    failure: str
    whole: bool
    readings: dict[str, list[list[int]]]


def allowance(max_iterations: int, results: int) -> Allowance:
    """Return how often a run may do each thing, if a person edits its plan once at most."""
    plans = EXECUTED * max_iterations
    counts: dict[type[tasks.Task[Any]], int] = {
        tasks.Decompose: 1,
        tasks.PlanSearches: max_iterations + 1,
        tasks.ExtractFindings: most_readings_of(results) * intents.READINGS * plans,
        tasks.Judge: plans + 1,
        **writing.CALLS,
        **writing.MARKED,
    }
    return Allowance(counts, intents.QUERIES * plans)


def build(provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(OrchestratedState, context_schema=Deps)
    add_nodes(
        graph,
        provide,
        initialize,
        plan_searches,
        approve_plan,
        execute_search,
        synthesize_research,
        heed=HEED,
    )
    graph.add_edge(START, "initialize")
    graph.add_edge("initialize", "plan_searches")
    graph.add_conditional_edges(
        "plan_searches", _after_planning, ["approve_plan", "execute_search", "synthesize_research"]
    )
    graph.add_conditional_edges(
        "approve_plan", _after_approval, ["plan_searches", "execute_search"]
    )
    graph.add_conditional_edges(
        "execute_search", _after_execution, ["plan_searches", "synthesize_research"]
    )
    graph.add_edge("synthesize_research", END)
    return graph


def _after_planning(state: OrchestratedState) -> str:
    if not state["plans"]:
        return "synthesize_research"
    return "execute_search" if state["approved"] else "approve_plan"


def _after_approval(state: OrchestratedState) -> str:
    return "execute_search" if state["approved"] and state["plans"] else "plan_searches"


def _after_execution(state: OrchestratedState) -> str:
    return "plan_searches" if state["decision"] == "continue" else "synthesize_research"


async def initialize(state: OrchestratedState, deps: Deps) -> Update:
    """Make a research context for the question, and recall past runs if asked to."""
    query = question_of(state)
    lists = (
        "search_history key_findings unanswered_questions problems plans findings checked tried "
        "leads limits struck"
    )
    return {
        **{name: [] for name in lists.split()},
        **dict.fromkeys(("final_report", "objection", "failure"), ""),
        **dict.fromkeys(("approved", "ending", "chosen", "whole"), False),
        "query": query,
        "past": await recall_past(deps, query),
        "research_context": {},
        "search_iterations": 0,
        "decision": "continue",
        "run": deps.run.id,
    }


async def plan_searches(state: OrchestratedState, deps: Deps) -> Update:
    """Planning agent: plan the next searches from the last results and the open questions.

    As long as searches that a person has chosen are left, these are next.
    """
    if state["chosen"] and state["plans"]:
        return {}
    past, rounds = show_past_runs(state["past"]), state["search_iterations"]
    problems = state["problems"] or await split_question(
        deps, state["query"], state["objection"], past
    )
    # A person who approves plans wants to see the searches, and may choose others.
    if not rounds and not deps.approve and await lay_out_library(deps, state["query"], problems):
        return {"problems": problems, "plans": [], "whole": True}
    unanswered = state["unanswered_questions"] if rounds else problems
    lines = _most_telling(deps, state, summary.lines_of(state["key_findings"]))
    recent = state["search_history"][-RECENT:]
    task = tasks.PlanSearches(
        question=state["query"],
        as_of=deps.as_of,
        problems=tuple(problems),
        results=intents.show_results(deps, state["query"], recent, lines),
        findings=intents.show_known(deps, lines, state["checked"]),
        unanswered=tuple(unanswered),
        leads=tuple(state["leads"]),
        tried=tuple([*state["struck"], *state["tried"]][-TRIED:]),
        iteration=rounds,
        max_iterations=deps.max_iterations,
        limits=within(state["limits"], LIMITS_BYTES),
        guidance=deps.settings.system_prompt,
        objection=state["objection"],
        past=past,
        limit=PLANS,
    )
    answer, why = await attempt_to_decide(deps, task)
    plans, ending, failure = intents.choose_plans(
        answer, state["query"], [*state["struck"], *state["tried"]], PLANS, first=not rounds
    )
    if failure:
        deps.note_limit(f"Planning ended the search before round {rounds + 1}: {failure}")
    if not plans:
        reason, by = (
            (failure, "rule") if failure else ("the plan is to write the report", "reasoner")
        )
        told = ": ".join(filter(None, (reason, why)))
        deps.emit(Decided(decision="finish", reason=told, by=by))
    planned = [plan.model_dump(mode="json") for plan in plans]
    return {
        "problems": problems,
        "unanswered_questions": unanswered,
        "plans": planned,
        "chosen": False,
        "ending": ending,
        "failure": failure if answer is None else "",
    }


async def approve_plan(state: OrchestratedState, deps: Deps) -> Update:
    """Show the first plan to a person, if one wants to see it.

    A rejection replans, and so does an edit without searches. The searches that a person has chosen
    are all made, as many in a round as of any plan, before anything else is planned.
    """
    objectives = [
        f"{plan['intent']}: {plan['reasoning'] or plan['query']}" for plan in state["plans"]
    ]
    listed = [
        {"query": plan["query"], "about": find_nearest(plan["query"], state["problems"])}
        for plan in state["plans"]
    ]
    said = ask_approval(
        deps, state["query"], state["problems"], objectives=objectives, queries=listed
    )
    if said.objection:
        return {"objection": said.objection, "problems": [], "plans": []}
    update: Update = {"approved": True, "objection": "", "problems": said.problems}
    if said.edited:
        update |= {"plans": [], "unanswered_questions": said.problems}
    if said.queries is not None:
        planned = {plan["query"]: plan for plan in state["plans"]}
        plans = [planned.get(item["query"]) or _plan_of(item) for item in said.queries]
        update |= {"plans": plans, "chosen": True, "struck": said.struck}
    return update


def _plan_of(item: Mapping[str, str]) -> dict[str, Any]:
    """Return the plan for a search in a person's own words: a close look at its sub-question."""
    why = f"a person wants it, for: {item['about']}"
    plan = SearchPlan(intent=SearchIntent.DEEP_DIVE, query=item["query"], reasoning=why)
    return plan.model_dump(mode="json")


async def execute_search(state: OrchestratedState, deps: Deps) -> Update:
    """Execution agent: make the searches side by side, each by its intent; enter the results."""
    lines, tried, leads = summary.lines_of(state["key_findings"]), state["tried"], state["leads"]
    told, unanswered = (
        [line.text for line in _most_telling(deps, state, lines)],
        state["unanswered_questions"],
    )
    held = intents.Knowledge(
        state["query"], state["problems"], lines, told, unanswered, tried, leads
    )
    plans = [SearchPlan.model_validate(plan) for plan in state["plans"][:EXECUTED]]
    done = await read_together(deps, *(intents.carry_out(deps, plan, held) for plan in plans))
    looks = [item.looked for item in done]
    found = dict.fromkeys(
        key for look in looks for key in look.findings if key not in state["findings"]
    )
    new = [summary.line_of(deps, deps.ledger.get(Finding, key).statement, [key]) for key in found]
    tried = unite(tried, *((item.plan.query, *item.looked.queries) for item in done))
    notes = [deps.note_limit(note) for item in done for note in item.notes]
    results = intents.results_of(deps, state["query"], done, state["search_history"])
    update: Update = {
        "search_history": [*state["search_history"], *results],
        "key_findings": [line.model_dump(mode="json") for line in summary.merge_lines(lines, new)],
        "unanswered_questions": list(
            list_unanswered(unanswered, [k.questions for k in looks if k.findings])
        )[:OPEN],
        "search_iterations": state["search_iterations"] + 1,
        "findings": [*state["findings"], *found],
        "checked": unite(state["checked"], *(item.checked for item in done)),
        "tried": tried,
        "leads": intents.drop_looked_up(unite(leads, *(look.leads for look in looks)), tried)[
            -LEADS:
        ],
        "limits": unite(state["limits"], notes, *(look.limits for look in looks)),
        "plans": state["plans"][EXECUTED:] if state["chosen"] else [],
    }
    return {
        **update,
        "decision": _decide(deps, update, ending=state["ending"]),
    }


def _decide(deps: Deps, update: Update, *, ending: bool) -> str:
    """Return whether to go on searching after a round.

    Args:
        deps: The run's dependencies.
        update: What the round changes.
        ending: Whether it was planned as the last one.
    """
    rounds, findings = update["search_iterations"], len(update["key_findings"])
    left = len(update["unanswered_questions"])
    counts = f"key findings: {findings}, rounds: {rounds}, open questions: {left}"
    decision, reason, by = "finish", counts, "rule"
    if rounds >= deps.max_iterations:
        reason = f"round {rounds} is the last allowed; {counts}"
        for plan in update["plans"]:
            deps.note_limit(
                f"a search of the plan was not made, for want of a round: {plan['query']}"
            )
    elif update["plans"]:
        decision, reason = "continue", "searches that a person has chosen are left"
    elif ending:
        reason, by = "the plan is to write the report next", "reasoner"
    elif left or findings < ENOUGH or rounds < DEPTH:
        decision = "continue"
    deps.emit(Decided(decision=decision, reason=reason, by=by))
    return decision


async def synthesize_research(state: OrchestratedState, deps: Deps) -> Update:
    """Synthesis agent: write the report from the findings, and return the whole context."""
    lines = summary.lines_of(state["key_findings"])
    problems, unanswered = state["problems"], state["unanswered_questions"]
    telling = (line.findings for line in (*_most_telling(deps, state, lines), *lines))
    keys = unite(*telling, state["findings"])
    raised = [f"Still open: {question}" for question in unanswered if question not in problems]
    gaps = [question for question in unanswered if question in problems]
    limits = [*state["limits"], *raised, *past_runs_note(state["past"])]
    written = await writing.write_report(
        deps,
        state["query"],
        problems,
        None,
        keys,
        gaps,
        limits,
        most=room_of(deps).most_findings,
        laid_out=state.get("whole", False),  # a run begun before there was this way has none
    )
    report = _complete(written, state)
    deps.finish(report)
    context = ResearchContext(
        query=state["query"],
        search_history=tuple(
            intents.add_content(deps, item, state["query"]) for item in state["search_history"]
        ),
        key_findings=tuple(line.text for line in lines),
        unanswered_questions=tuple(unanswered),
        search_iterations=state["search_iterations"],
    )
    text = render_markdown(report)
    return {
        "final_report": text,
        "research_context": context.model_dump(mode="json"),
        "limits": list(report.limits),
        "messages": [AIMessage(text)],
    }


def _complete(report: Report, state: OrchestratedState) -> Report:
    """Return the report; one without evidence because planning failed says so."""
    if not state["failure"] or state["findings"]:
        return report
    rounds = state["search_iterations"]
    so = "what was searched before brought no evidence" if rounds else "nothing was searched"
    told = Sentence(text=FAILED.format(rounds + 1, so), kind=SentenceKind.FRAME)
    why = report.answer if report.status is RunStatus.MODEL_FAILED else ()
    return report.model_copy(update={"status": RunStatus.MODEL_FAILED, "answer": (told, *why)})


def _most_telling(
    deps: Deps, state: OrchestratedState, lines: list[summary.Line]
) -> list[summary.Line]:
    """Return the key findings that a task is shown: the best of every part of the question."""
    asked = " ".join((state["query"], *state["problems"], *state["unanswered_questions"]))
    room = room_of(deps)
    return summary.shorten(lines, asked, room.most_lines, room.summary)


def _enter_findings(state: State, deps: Deps, found: Sequence[LookResult]) -> Update:
    """Return the update that enters the results of looks that no plan has asked for."""
    keys = unite(*(looked.findings for looked in found))
    new = [key for key in keys if key not in state["findings"]]
    lines = [summary.line_of(deps, deps.ledger.get(Finding, key).statement, [key]) for key in new]
    merged = summary.merge_lines(summary.lines_of(state["key_findings"]), lines)
    return {
        "key_findings": [line.model_dump(mode="json") for line in merged],
        "findings": [*state["findings"], *new],
        "tried": unite(state["tried"], *(looked.queries for looked in found)),
        "limits": unite(state["limits"], *(looked.limits for looked in found)),
    }


def _leave_out(state: State, deps: Deps) -> Update:
    """Return the update after a source is left out: without its findings and what they say."""
    return {
        "key_findings": summary.without_ignored(deps, state["key_findings"]),
        "findings": deps.without_ignored(state["findings"]),
        "checked": deps.without_ignored(state["checked"]),
    }


HEED = HeedByLooking(
    nodes=frozenset({"execute_search", "synthesize_research"}),
    question="query",
    problems="problems",
    findings=lambda state: state["findings"],
    enter=_enter_findings,
    leave_out=_leave_out,
)
