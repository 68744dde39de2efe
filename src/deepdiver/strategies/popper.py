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
and a run does not finish before there was one attempt to refute each open hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

# Not that of typing: pydantic, and so LangGraph Studio, needs this one before Python 3.12.
from typing_extensions import TypedDict

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.core.record import HypothesisStatus
from deepdiver.core.text import in_brief, within
from deepdiver.memory.recall import past_runs_note, show_past_runs
from deepdiver.report.markdown import answer_text
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
from deepdiver.strategies.shared.findings import digest_finding, list_statements
from deepdiver.strategies.shared.heed import HeedByLooking
from deepdiver.strategies.shared.hypotheses import (
    assess_all,
    build_experience_pool,
    conjecture,
    stand,
    standing_of,
    try_all,
)
from deepdiver.strategies.shared.look import LEADS, look_into
from deepdiver.strategies.shared.plan import (
    PROBLEMS,
    ask_approval,
    drop_same,
    order_into_waves,
    queries_about,
    question_of,
    recall_past,
    settle_needs,
    take_apart,
)
from deepdiver.strategies.shared.reading import is_read_whole, most_readings_of, read_together
from deepdiver.strategies.shared.room import BRIEF, room_of
from deepdiver.strategies.shared.write_report import CALLS, write_report

QUERIES, HOPS, HYPOTHESES, GAPS = 3, 2, 4, 3
"""The most queries for a sub-problem, hops from lead to lead, hypotheses a round, gaps searched a
round."""
MOST_QUERIES = QUERIES + tasks.REMEMBERED
"""With the queries that were fruitful in past runs."""


class DeepDiverState(TypedDict, total=False):
    """The state of the graph: the fields of the design document, then those that its nodes add."""

    messages: Annotated[list[AnyMessage], add_messages]
    original_question: str
    decomposed_problems: list[str]
    gathered_information: list[dict[str, Any]]
    hypotheses: list[dict[str, Any]]
    experience_pool: list[dict[str, Any]]
    final_answer: str
    confidence_score: float
    current_iteration: int
    max_iterations: int
    run: str
    past: list[dict[str, Any]]
    needs: dict[str, list[str]]
    objection: str
    queries: list[dict[str, str]]
    struck: list[str]
    tried: list[str]
    refuting: dict[str, list[str]]
    trials: list[str]
    evidence: list[str]
    new_findings: int
    weighed: int
    gaps: list[str]
    limits: list[str]
    decision: str
    readings: dict[str, list[list[int]]]


def allowance(max_iterations: int, results: int) -> Allowance:
    """Return how often a run may do each thing, if a person edits its plan once at most."""
    readings = PROBLEMS * (1 + HOPS) + max_iterations * (HYPOTHESES + GAPS)
    searches = PROBLEMS * (MOST_QUERIES + HOPS * LEADS) + max_iterations * (2 * HYPOTHESES + GAPS)
    counts: dict[type[tasks.Task[Any]], int] = {
        tasks.Decompose: 1,
        tasks.WriteQueries: 2 * PROBLEMS,
        tasks.ExtractFindings: most_readings_of(results) * readings,
        tasks.Hypothesise: max_iterations,
        tasks.RefuteQueries: HYPOTHESES * max_iterations,
        tasks.Judge: max_iterations,
        tasks.Decide: max_iterations,
        **CALLS,
    }
    return Allowance(counts, searches)


def build(provide: Provide | None = None) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph, not yet compiled."""
    graph = StateGraph(DeepDiverState, context_schema=Deps)
    add_nodes(
        graph,
        provide,
        initialize,
        formulate_problem,
        approve_plan,
        gather_information,
        generate_hypothesis,
        verify_hypothesis,
        decide,
        final_answer,
        heed=HEED,
    )
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
    """Take the question from the messages, recall past runs if asked to, and clear the rest."""
    question = question_of(state)
    lists = (
        "decomposed_problems gathered_information hypotheses experience_pool tried trials "
        "evidence gaps queries struck"
    )
    return {
        **{name: [] for name in (*lists.split(), "limits")},
        "original_question": question,
        "needs": {},
        "refuting": {},
        "past": await recall_past(deps, question),
        "final_answer": "",
        "confidence_score": 0.0,
        "current_iteration": 0,
        "max_iterations": deps.max_iterations,
        "new_findings": 0,
        "weighed": 0,
        "objection": "",
        "decision": "continue",
        "run": deps.run.id,
    }


async def formulate_problem(state: DeepDiverState, deps: Deps) -> Update:
    """Break the question into sub-problems that can be tested one by one.

    A person who wants to see the plan sees what is searched for first, too. What is searched for a
    sub-problem that needs others depends on what is found for them.
    """
    parts = await take_apart(
        deps, state["original_question"], state["objection"], show_past_runs(state["past"])
    )
    update: Update = {"decomposed_problems": parts.problems, "needs": parts.needs}
    if not deps.approve or await is_read_whole(deps):
        return update
    first = [problem for problem in parts.problems if problem not in parts.needs]
    written = await together(*(_write_queries(state, deps, problem) for problem in first))
    listed = zip(first, written, strict=True)
    planned = [{"query": text, "about": problem} for problem, own in listed for text in own]
    return {**update, "queries": planned}


async def _write_queries(
    state: DeepDiverState, deps: Deps, problem: str, known: Sequence[str] = ()
) -> Sequence[str]:
    """Return what to search for to find out about a sub-problem."""
    past, struck = show_past_runs(state["past"]), state["struck"]
    task = tasks.WriteQueries(
        question=state["original_question"],
        problem=problem,
        known=tuple(known),
        tried=tuple(struck),
        past=past,
        limit=QUERIES,
    )
    answer = await attempt(deps, task)
    written = answer.queries[: MOST_QUERIES if past else QUERIES] if answer else ()
    return drop_same(written, struck) or drop_same([problem], struck)


async def approve_plan(state: DeepDiverState, deps: Deps) -> Update:
    """Show sub-problems and searches to a person, if one wants to see them and change them."""
    problems, needs, queries = state["decomposed_problems"], state["needs"], state["queries"]
    said = ask_approval(deps, state["original_question"], problems, needs=needs, queries=queries)
    if said.objection:
        return {"objection": said.objection}
    return {
        "objection": "",
        "decomposed_problems": said.problems,
        "needs": settle_needs(said.problems, needs),
        "queries": queries if said.queries is None else said.queries,
        "struck": said.struck,
    }


async def gather_information(state: DeepDiverState, deps: Deps) -> Update:
    """Look into the sub-problems, side by side if none needs the answer of another.

    One that needs another is looked into after it, with what was found for it.
    """
    question, needs = state["original_question"], state["needs"]
    found: dict[str, LookResult] = {}
    whole = await is_read_whole(deps)

    async def gather(problem: str, known: Sequence[str]) -> LookResult:
        planned = queries_about(state["queries"], problem)
        if whole:
            return await look_into(deps, question, problem, (problem, *planned), known, HOPS)
        queries = planned or await _write_queries(state, deps, problem, known)
        return await look_into(deps, question, problem, queries, known, HOPS)

    for wave in order_into_waves(state["decomposed_problems"], needs):
        # What a sub-problem needs comes first: not all that is known may fit.
        known = [_list_known(deps, unite(needs.get(problem, ()), found), found) for problem in wave]
        looked = await read_together(deps, *map(gather, wave, known))
        found |= zip(wave, looked, strict=True)
    return _enter_findings(state, deps, list(found.values()))


def _list_known(deps: Deps, problems: Iterable[str], found: Mapping[str, LookResult]) -> list[str]:
    """Return what was found for problems, in their order."""
    return list_statements(deps, (key for part in problems for key in found[part].findings))


async def generate_hypothesis(state: DeepDiverState, deps: Deps) -> Update:
    """Put forward rival answers; from the second round on, look into the gaps first."""
    question, gaps, update = state["original_question"], state["gaps"], Update()
    if gaps:
        known = list_statements(deps, _gathered(state))
        looks = (look_into(deps, question, gap, [gap], known, leads=False) for gap in gaps)
        found = await read_together(deps, *looks)
        update = _enter_findings(state, deps, found)
    standing, iteration = standing_of(state), state["current_iteration"] + 1
    conjectures = await conjecture(
        deps,
        question,
        state["decomposed_problems"],
        _gathered(update or state),
        standing,
        experience=state["experience_pool"],
        gaps=gaps,
        iteration=iteration,
        limit=HYPOTHESES,
        past=show_past_runs(state["past"]),
        seen=state["weighed"],
    )
    return {
        **update,
        "hypotheses": [item.model_dump(mode="json") for item in (*standing, *conjectures.new)],
        "refuting": {key: list(own) for key, own in conjectures.searches.items()},
        "current_iteration": iteration,
    }


async def verify_hypothesis(state: DeepDiverState, deps: Deps) -> Update:
    """Try to refute every hypothesis that is not settled.

    Both successes and failures enter the experience pool.
    """
    tested = await try_all(
        deps,
        state["original_question"],
        standing_of(state),
        _gathered(state),
        tried=state["tried"],
        iteration=state["current_iteration"],
        trials=state["trials"],
        evidence=state["evidence"],
        weighed=state["weighed"],
        planned=state.get("refuting", {}),  # a run begun before there was this way has none
    )
    return {
        **_enter_findings(state, deps, tested.found),
        "weighed": tested.weighed,
        "hypotheses": [item.model_dump(mode="json") for item in tested.standing],
        "experience_pool": build_experience_pool(deps, tested.standing, tested.evidence),
        "trials": tested.trials,
        "evidence": tested.evidence,
    }


async def decide(state: DeepDiverState, deps: Deps) -> Update:
    """Let the reasoner decide. Code keeps the hard stop and the duty to test."""
    iteration = state["current_iteration"]
    if iteration >= deps.max_iterations:
        reason = f"round {iteration} is the last allowed"
        decision, by = tasks.Decision(decision="finish", reason=reason), "rule"
    else:
        untested = sum(item.status is HypothesisStatus.OPEN for item in standing_of(state))
        if not untested and await is_read_whole(deps):
            reason = "everything that can be searched was read"
            decision, by = tasks.Decision(decision="finish", reason=reason), "rule"
        else:
            decision, by = await _ask_reasoner(state, deps)
        if decision.decision == "finish" and untested:
            reason = f"{untested} hypotheses have met no attempt to refute them"
            decision, by = tasks.Decision(decision="continue", reason=reason), "rule"
    deps.emit(Decided(decision=decision.decision, reason=decision.reason, by=by))
    gaps = [in_brief(gap, BRIEF) for gap in decision.gaps[:GAPS]]
    return {"decision": decision.decision, "gaps": gaps, "new_findings": 0}


async def _ask_reasoner(state: DeepDiverState, deps: Deps) -> tuple[tasks.Decision, str]:
    """Return the decision, and who made it: without an answer, the rule to finish."""
    task = tasks.Decide(
        question=state["original_question"],
        problems=tuple(state["decomposed_problems"]),
        standing=stand(standing_of(state), {}),
        findings=len(state["gathered_information"]),
        new_findings=state["new_findings"],
        iteration=state["current_iteration"],
        max_iterations=deps.max_iterations,
        limits=within(state["limits"], room_of(deps).known),
        guidance=deps.settings.system_prompt,
    )
    answer, failure = await attempt_to_decide(deps, task)
    if answer is not None:
        return answer, "reasoner"
    reason = f"no decision could be had: {failure}"
    return tasks.Decision(decision="finish", reason=reason), "rule"


async def final_answer(state: DeepDiverState, deps: Deps) -> Update:
    """Write the answer from the hypotheses that survived the tests."""
    question, problems = state["original_question"], state["decomposed_problems"]
    limits = [*state["limits"], *past_runs_note(state["past"])]
    report = await write_report(
        deps, question, problems, standing_of(state), _gathered(state), state["gaps"], limits
    )
    deps.finish(report)
    text = answer_text(report)
    return {
        "final_answer": text,
        "confidence_score": report.confidence,
        "limits": list(report.limits),
        "messages": [AIMessage(text)],
    }


def _gathered(state: State) -> list[str]:
    """Return the ids of the findings that the state carries."""
    return [item["id"] for item in state["gathered_information"]]


def _enter_findings(state: State, deps: Deps, found: Sequence[LookResult]) -> Update:
    """Return the update that enters the results of looks into the state."""
    held = set(_gathered(state))
    new = [key for key in unite(*(looked.findings for looked in found)) if key not in held]
    return {
        "gathered_information": state["gathered_information"]
        + [digest_finding(deps, key) for key in new],
        "tried": unite(state["tried"], *(looked.queries for looked in found)),
        "limits": unite(state["limits"], *(looked.limits for looked in found)),
        "new_findings": state["new_findings"] + len(new),
    }


def _leave_out(state: State, deps: Deps) -> Update:
    """Return the update after a source is left out: without its findings, beliefs computed anew."""
    gathered = _gathered(state)
    kept = set(deps.without_ignored(gathered))
    standing = assess_all(deps, standing_of(state), state["evidence"], state["trials"])
    held = [item for item in state["gathered_information"] if item["id"] in kept]
    return {
        "gathered_information": held,
        "weighed": sum(key in kept for key in gathered[: state["weighed"]]),
        "hypotheses": [item.model_dump(mode="json") for item in standing],
    }


HEED = HeedByLooking(
    nodes=frozenset({"generate_hypothesis", "verify_hypothesis", "decide", "final_answer"}),
    question="original_question",
    problems="decomposed_problems",
    findings=_gathered,
    enter=_enter_findings,
    leave_out=_leave_out,
)
