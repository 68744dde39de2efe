"""`iterative`: query, search, summarise, reflect, after the pattern of its design document.

    Query → [Generate Query → Search → Summarize → Reflect]* → Write Report

Each search builds on what is known: the first round asks about every part of the question side by
side, each later round about what the reflection named as missing, and the second also about what
it named as inconsistent. Code keeps three rules: a run does not stop before `MINIMUM` rounds unless
it has read everything that can be searched, `max_iterations` is the hard stop, and no search is
made twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

# Not that of typing: pydantic, and so LangGraph Studio, needs this one before Python 3.12.
from typing_extensions import TypedDict

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.core.record import Finding
from deepdiver.core.text import in_brief, within
from deepdiver.memory.recall import past_runs_note, show_past_runs
from deepdiver.report.markdown import render_markdown
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
    attempt,
    attempt_to_decide,
    together,
    unite,
)
from deepdiver.strategies.shared.findings import add_sources
from deepdiver.strategies.shared.heed import HeedByLooking
from deepdiver.strategies.shared.look import drop_tried, look_into
from deepdiver.strategies.shared.plan import (
    PROBLEMS,
    ask_approval,
    question_of,
    recall_past,
    split_question,
)
from deepdiver.strategies.shared.reading import (
    find_nearest,
    is_read_whole,
    lay_out_library,
    most_readings_of,
    read_together,
)
from deepdiver.strategies.shared.room import BRIEF, room_of
from deepdiver.strategies.shared.summary import lines_of

MINIMUM = 2
"""Rounds before the reflection may stop: after one, it has seen only what the question's own words
find."""
FIRST, LATER = 2, 4
"""Queries for each part of the question in the first round, and for everything that is missing in
each later round."""
GAPS, TRIED = 3, 40
"""The most missing things looked into a round, and past queries that a task is shown. Code compares
new queries with all of them."""
LIMITS_BYTES = 2_000
"""The most bytes of limits that the reflection is shown."""
UNSEARCHED = (
    "the searches of the plan were not made: everything that could be searched is read whole"
)


class ResearchState(TypedDict, total=False):
    """The state of the graph: the fields of the design document, then those that its nodes add."""

    messages: Annotated[list[AnyMessage], add_messages]
    topic: str
    running_summary: str
    sources: list[dict[str, Any]]
    sources_gathered: list[str]
    search_results: list[dict[str, Any]]
    current_query: str
    iteration: int
    max_iterations: int
    run: str
    past: list[dict[str, Any]]
    problems: list[str]
    objection: str
    approved: bool
    queries: list[dict[str, str]]
    chosen: list[dict[str, str]]
    struck: list[str]
    tried: list[str]
    summary: list[dict[str, Any]]
    findings: list[str]
    new_findings: list[str]
    missing: list[str]
    disputed: list[str]
    proposed: list[str]
    limits: list[str]
    decision: str
    whole: bool
    readings: dict[str, list[list[int]]]


def allowance(max_iterations: int, results: int) -> Allowance:
    """Return how often a run may do each thing, if a person edits its plan once at most."""
    later = max_iterations - 1
    counts: dict[type[tasks.Task[Any]], int] = {
        tasks.Decompose: 1,
        tasks.WriteQueries: 2 * PROBLEMS + LATER * later,
        tasks.ExtractFindings: most_readings_of(results) * (PROBLEMS + LATER * later),
        tasks.Reflect: later,
        tasks.Judge: 1,
        **writing.CALLS,
        **writing.MARKED,
    }
    return Allowance(counts, PROBLEMS * (FIRST + tasks.REMEMBERED) + LATER * later)


def build(provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(ResearchState, context_schema=Deps)
    add_nodes(
        graph,
        provide,
        initialize,
        generate_query,
        approve_plan,
        web_search,
        summarize,
        reflect,
        write_report,
        heed=HEED,
    )
    graph.add_edge(START, "initialize")
    graph.add_edge("initialize", "generate_query")
    graph.add_conditional_edges(
        "generate_query", _after_query, ["approve_plan", "web_search", "write_report"]
    )
    graph.add_conditional_edges(
        "approve_plan", _after_plan, ["generate_query", "web_search", "write_report"]
    )
    graph.add_edge("web_search", "summarize")
    graph.add_edge("summarize", "reflect")
    graph.add_conditional_edges("reflect", _after_reflection, ["generate_query", "write_report"])
    graph.add_edge("write_report", END)
    return graph


def _after_query(state: ResearchState) -> str:
    ready = "web_search" if state["queries"] else "write_report"
    return ready if state["approved"] else "approve_plan"


def _after_plan(state: ResearchState) -> str:
    if state["approved"] and state["whole"]:
        return "write_report"
    return "web_search" if state["approved"] and state["queries"] else "generate_query"


def _after_reflection(state: ResearchState) -> str:
    return "generate_query" if state["decision"] == "continue" else "write_report"


async def initialize(state: ResearchState, deps: Deps) -> Update:
    """Take the question from the messages, recall past runs if asked to, and clear the rest."""
    topic = question_of(state)
    lists = (
        "sources sources_gathered search_results problems queries chosen struck tried summary "
        "findings new_findings missing disputed proposed limits"
    )
    return {
        **{name: [] for name in lists.split()},
        **dict.fromkeys(("running_summary", "current_query", "objection"), ""),
        "topic": topic,
        "past": await recall_past(deps, topic),
        "iteration": 0,
        "max_iterations": deps.max_iterations,
        "approved": False,
        "whole": False,
        "decision": "continue",
        "run": deps.run.id,
    }


async def generate_query(state: ResearchState, deps: Deps) -> Update:
    """Write the next queries: first for every part of the question, later for what is missing."""
    first, past = state["iteration"] == 0, show_past_runs(state["past"])
    problems = state["problems"] or await split_question(
        deps, state["topic"], state["objection"], past
    )
    if first and (laid_out := await lay_out_library(deps, state["topic"], problems)):
        return {"problems": problems, "queries": [], **_read_in_writing(deps, laid_out)}
    gaps = [*(state["missing"][:GAPS] or problems[-GAPS:]), *state["disputed"]]
    wanted = problems if first else list(dict.fromkeys(gaps))[:LATER]
    proposed = _pair(state["proposed"], state["missing"], wanted)
    # Nothing was tried before the first round, which begins with what a person has chosen.
    made = [*state["tried"], *state["struck"]]
    queries = drop_tried([*(state["chosen"] if first else ()), *proposed], made)
    uncovered = [part for part in wanted if part not in {query["about"] for query in queries}]

    written = [
        query
        for listed in await together(*(_queries_for(part, state, deps) for part in uncovered))
        for query in listed
    ]
    queries = drop_tried([*queries, *written], made)[: None if first else LATER]
    if not queries:
        deps.emit(
            Decided(decision="finish", reason="no search is left that was not made", by="rule")
        )
    told = "; ".join(query["query"] for query in queries)
    return {"problems": problems, "queries": queries, "proposed": [], "current_query": told}


def _pair(
    proposed: Sequence[str], missing: Sequence[str], wanted: Sequence[str]
) -> list[dict[str, str]]:
    """Return proposed queries with what each is about.

    They come in the order of what is missing. If some of that has none, the words tell what the
    others are about.
    """
    in_order = missing if len(proposed) >= len(missing[:GAPS]) else ()
    rest = (find_nearest(query, wanted) for query in proposed[len(in_order) :])
    abouts = (*in_order[: len(proposed)], *rest)
    return [{"query": query, "about": about} for query, about in zip(proposed, abouts, strict=True)]


def _read_in_writing(deps: Deps, laid_out: Sequence[str]) -> Update:
    """Return the state of a run whose writer reads what is laid out."""
    sources = add_sources(deps, [], laid_out, [])
    return {
        "whole": True,
        "sources": sources,
        "sources_gathered": [f"{item['title']} : {item['url']}" for item in sources],
    }


async def _queries_for(part: str, state: ResearchState, deps: Deps) -> list[dict[str, str]]:
    """Return queries for a part of the question, or for something that is missing."""
    first = state["iteration"] == 0
    if (not first and state["missing"]) or await is_read_whole(deps):
        # What is missing was said as a question that a search could answer.
        return [{"query": part, "about": part}]
    task = tasks.WriteQueries(
        question=state["topic"],
        problem=part,
        known=tuple(line.text for line in lines_of(state["summary"])),
        tried=tuple([*state["struck"], *state["tried"]][-TRIED:]),
        past=show_past_runs(state["past"]) if first else (),
        limit=FIRST if first else 1,
    )
    answer = await attempt(deps, task)
    most = task.limit + (tasks.REMEMBERED if task.past else 0)
    queries = (answer.queries[:most] if answer else ()) or (part,)
    return [{"query": query, "about": part} for query in queries]


async def approve_plan(state: ResearchState, deps: Deps) -> Update:
    """Show the sub-questions and the first queries to a person, if one wants to see them.

    Edited sub-questions need new queries, unless the person has some for them; after a rejection
    the question is split again.
    """
    said = ask_approval(deps, state["topic"], state["problems"], queries=state["queries"])
    if said.objection:
        return {"objection": said.objection, "problems": [], "queries": []}
    if said.queries and state["whole"]:
        deps.note_limit(UNSEARCHED)
    again: Update = {} if said.queries is None and not said.edited else {"queries": []}
    chosen = {"chosen": said.queries or [], "struck": said.struck}
    return {"approved": True, "problems": said.problems, **chosen, **again}


async def web_search(state: ResearchState, deps: Deps) -> Update:
    """Make the queries side by side; keep every source, and of the findings those that are new."""
    lines, by_part = lines_of(state["summary"]), dict[str, list[str]]()
    for query in state["queries"]:
        by_part.setdefault(query["about"], []).append(query["query"])
    known = [line.text for line in lines]
    also = (*state["problems"], *state["missing"])
    looks = (
        look_into(deps, state["topic"], about, listed, known, leads=False, also=also)
        for about, listed in by_part.items()
    )
    found = await read_together(deps, *looks)
    update = _enter_findings({**state, "new_findings": []}, deps, found)
    return {**update, "iteration": state["iteration"] + 1, "queries": []}


def _enter_findings(state: State, deps: Deps, found: Sequence[LookResult]) -> Update:
    """Return the update that enters the results of looks into the state."""
    keys = unite(*(looked.findings for looked in found))
    new = [key for key in keys if key not in state["findings"]]
    findings = [*state["findings"], *new]
    read = unite(*(looked.sources for looked in found))
    sources = add_sources(deps, state["sources"], read, findings)
    unsaid = summary.drop_repeated(deps, new, lines_of(state["summary"]))
    return {
        "search_results": [item for item in sources if item["id"] in read],
        "sources": sources,
        "sources_gathered": [f"{item['title']} : {item['url']}" for item in sources],
        "findings": findings,
        "new_findings": [*state["new_findings"], *unsaid],
        "tried": unite(state["tried"], *(looked.queries for looked in found)),
        "limits": unite(state["limits"], *(looked.limits for looked in found)),
    }


def _leave_out(state: State, deps: Deps) -> Update:
    """Return the update after a source is left out: without its findings and what they say."""
    return {
        "findings": deps.without_ignored(state["findings"]),
        "new_findings": deps.without_ignored(state["new_findings"]),
        "summary": summary.without_ignored(deps, state["summary"]),
        "sources": [item for item in state["sources"] if not deps.is_ignored(item["url"])],
    }


HEED = HeedByLooking(
    nodes=frozenset({"summarize", "write_report"}),
    question="topic",
    problems="problems",
    findings=lambda state: state["findings"],
    enter=_enter_findings,
    leave_out=_leave_out,
)


async def summarize(state: ResearchState, deps: Deps) -> Update:
    """Merge the results of the last search into the running summary.

    Whoever read them has put each finding into a sentence that can be understood alone: code
    merges these, and nobody is paid for saying them again.
    """
    lines, problems = lines_of(state["summary"]), state["problems"]
    told = ((deps.ledger.get(Finding, key).statement, [key]) for key in state["new_findings"])
    lines = summary.take_statements(deps, lines, told)
    asked = " ".join((state["topic"], *problems, *state["missing"]))
    room = room_of(deps)
    lines = summary.shorten(lines, asked, room.most_lines, room.summary)
    return {
        "summary": [line.model_dump(mode="json") for line in lines],
        "running_summary": summary.text_of(lines),
    }


async def reflect(state: ResearchState, deps: Deps) -> Update:
    """Ask what is missing. Code keeps the minimum depth and the hard stop."""
    iteration, most, lines = state["iteration"], state["max_iterations"], lines_of(state["summary"])
    decision, by, answer, failure = "finish", "rule", None, ""
    if iteration >= most:
        reason = f"round {iteration} is the last allowed"
    elif await is_read_whole(deps):
        reason = "everything that can be searched was read"
    else:
        task = tasks.Reflect(
            question=state["topic"],
            as_of=deps.as_of,
            problems=tuple(state["problems"]),
            known=tuple(line.text for line in lines),
            uncertainties=tuple(line.text for line in lines if line.weak),
            tried=tuple(state["tried"][-TRIED:]),
            iteration=iteration,
            minimum=MINIMUM,
            max_iterations=most,
            limits=within(state["limits"], LIMITS_BYTES),
            guidance=deps.settings.system_prompt,
            past=show_past_runs(state["past"]),
            limit=LATER,
        )
        answer, failure = await attempt_to_decide(deps, task)
        if iteration < MINIMUM and (answer is None or answer.sufficient):
            decision, reason = "continue", f"there is no stopping before round {MINIMUM}"
        elif answer is None:
            reason = "no reflection could be had"
        else:
            decision = "finish" if answer.sufficient else "continue"
            by, reason = "reasoner", answer.reason
    deps.emit(Decided(decision=decision, reason=": ".join(filter(None, (reason, failure))), by=by))
    # Only in the round that is made anyway: sources that differ go on differing, and a reflection
    # can always say so.
    apart = summary.list_disputed(lines, answer.notes) if answer and iteration < MINIMUM else []
    return {"decision": decision, **_wishes_of(answer), "disputed": apart}


def _wishes_of(answer: tasks.Reflection | None) -> Update:
    """Return what a reflection misses, with the searches that would bring it."""
    if answer is None:
        return {}
    missing = [in_brief(said, BRIEF) for said in answer.missing]
    return {"missing": missing, "proposed": list(answer.queries)}


async def write_report(state: ResearchState, deps: Deps) -> Update:
    """Write the report from the findings of the summary and as many others as there is room for."""
    told = (line.findings for line in lines_of(state["summary"]))
    most = room_of(deps).most_findings
    keys = unite(*told, state["findings"])[:most]
    topic, problems = state["topic"], state["problems"]
    limits = [*state["limits"], *past_runs_note(state["past"])]
    report = await writing.write_report(
        deps,
        topic,
        problems,
        None,
        keys,
        unite(state["missing"]),
        limits,
        most=most,
        laid_out=state["whole"],
    )
    deps.finish(report)
    return {"limits": list(report.limits), "messages": [AIMessage(render_markdown(report))]}
