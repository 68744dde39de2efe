"""Gathering in turns: calls of tools side by side, their findings, and the hypotheses they test.

Sub-tasks are looked into in waves: the calls for one that depends on others wait until those for
the others were made, and its own queries are written when it is known what was found. How many it
gets depends on how complex it is.

Hypotheses are tested by the same calls that gather everything else: what would refute one becomes
calls that wait for their turn. A call that was answered is an attempt to refute; without one, no
hypothesis is accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from deepdiver.core.identity import content_id
from deepdiver.core.record import Assessment, HypothesisStatus, Trial
from deepdiver.core.text import within
from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.overwatch.execute import (
    LONGEST,
    ToolExecutor,
    ToolResult,
    ToolStatus,
    drop_repeated_calls,
    list_calls,
    make_calls,
    make_searches,
    tools_of,
    type_finding,
)
from deepdiver.strategies.overwatch.plan import show_context
from deepdiver.strategies.overwatch.scope import narrow_calls, scope_of
from deepdiver.strategies.shared.base import (
    Deps,
    LookResult,
    State,
    Update,
    attempt,
    together,
    unite,
)
from deepdiver.strategies.shared.findings import list_statements
from deepdiver.strategies.shared.hypotheses import (
    conjecture,
    standing_of,
    weigh_all,
    write_refuting_queries,
)
from deepdiver.strategies.shared.plan import drop_same
from deepdiver.strategies.shared.reading import read_together
from deepdiver.strategies.shared.room import room_of
from deepdiver.tasks import Hypothesise, WriteQueries

HYPOTHESES, AT_ONCE = 8, 4
"""The most hypotheses of a run, and those put forward at one time."""
TURN = 5
"""Calls of a turn."""
WANTED = {"simple": 1, "moderate": 2, "complex": 3}
"""Calls for a sub-task, by its complexity, before anything is analysed."""
REFUTE = "would refute a hypothesis"
FOR_PART = "a sub-task needs it"


async def call_up(state: State, deps: Deps) -> tuple[Update, list[dict[str, Any]]]:
    """Choose the calls of the next turn.

    When no call for the sub-tasks so far waits any more, the next wave of sub-tasks begins. If as
    few turns are left as there are waves, all of them begin at once.

    Returns:
        The update with the calls that wait and the sub-tasks that have begun, and the calls of the
        turn.
    """
    waves = {part["description"]: part["wave"] for part in _searched_parts(state)}
    pending, begun = list(state["pending_queries"]), list(state["looked_into"])
    turns_left = state["max_iterations"] - state["iteration"]
    while not any(call["about"] in begun for call in pending):
        due = _next_wave(waves, begun, turns_left)
        if not due:
            break
        written = await together(*(_queries_for(state, deps, text, pending) for text in due))
        pending = drop_repeated_calls(
            [*pending, *(call for calls in written for call in calls)], state["executed_queries"]
        )
        begun += due
    own = [call for call in pending if call["about"] in begun]
    others = [call for call in pending if call["about"] not in waves]
    now = [*own, *others][:TURN]
    rest = [call for call in pending if call not in now]
    return {"pending_queries": rest, "looked_into": begun}, now


def _next_wave(waves: Mapping[str, int], begun: Collection[str], turns_left: int) -> list[str]:
    """Return the sub-tasks that begin next; all of them if as few turns are left as waves."""
    later = {text: wave for text, wave in waves.items() if text not in begun}
    hurry = len(set(later.values())) >= turns_left
    return [text for text, wave in later.items() if hurry or wave == min(later.values())]


def waits(state: State) -> bool:
    """Return whether there is more to gather: calls, or sub-tasks whose turn has not come."""
    begun = state["looked_into"]
    return bool(state["pending_queries"]) or any(
        part["description"] not in begun for part in _searched_parts(state)
    )


def _searched_parts(state: State) -> list[Mapping[str, Any]]:
    return [part for part in state["sub_tasks"] if part["description"] in state["problems"]]


async def _queries_for(
    state: State, deps: Deps, text: str, pending: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return further searches for a sub-task, as many as its complexity wants."""
    executor = ToolExecutor(deps, state["task"])
    made = [
        call
        for call in (*pending, *state["executed_queries"])
        if call["about"] == text and not executor.refusal(call["tool"], call["args"])
    ]
    part = next(part for part in state["sub_tasks"] if part["description"] == text)
    missing = WANTED[part["complexity"]] - len(made)
    if missing <= 0:
        return []
    struck, made_before = (
        state["struck_queries"],
        list_calls((*state["executed_queries"], *pending)),
    )
    task = WriteQueries(
        question=state["task"],
        problem=text,
        known=tuple(list_statements(deps, (item["id"] for item in state["findings"]))),
        tried=within((*struck, *reversed(made_before)), room_of(deps).known),
        past=show_past_runs(state["past_runs"]),
        limit=missing,
    )
    answer = await attempt(deps, task)
    queries = [query[:LONGEST] for query in answer.queries[:missing]] if answer else []
    # A sub-task is looked for in its own words if the reasoner has none.
    own = drop_same(queries, struck) or ([] if made else drop_same([text[:LONGEST]], struck))
    calls = make_searches(own, text, FOR_PART)
    scope = scope_of(state["research_plan"], deps.as_of)
    return narrow_calls(calls, scope, executor.definitions, executor.refusal)


async def take_turn(state: State, deps: Deps, batch: Sequence[Mapping[str, Any]]) -> Update:
    """Make calls side by side, and return the update with their findings and outcomes.

    Calls that would refute a hypothesis are not narrowed to the period of the plan: what speaks
    against an increase may be older.
    """
    scope = scope_of(state["research_plan"], deps.as_of)
    wide = ToolExecutor(deps, state["task"], state["key_insights"])
    narrow = ToolExecutor(
        deps, state["task"], state["key_insights"], tools_of(deps, scope.published_since)
    )
    results = await read_together(
        deps,
        *(
            (wide if q["tests"] else narrow).execute(q["tool"], q["args"], q["about"])
            for q in batch
        ),
    )
    trials = [
        _trial_of(hypothesis, result, state["iteration"] + 1)
        for query, result in zip(batch, results, strict=True)
        for hypothesis in query["tests"]
        if result.status is not ToolStatus.REFUSED
    ]
    deps.add(*trials)
    failed = [result for result in results if result.status is ToolStatus.FAILED]
    hopeless = failed and len(failed) == len(results) and not state["findings"]
    return {
        "executed_queries": [*state["executed_queries"], *map(_executed_query_of, batch, results)],
        "findings": [*state["findings"], *type_new(state, deps, results)],
        "trials": unite(state["trials"], (trial.id for trial in trials)),
        "iteration": state["iteration"] + 1,
        "error": f"no tool gave an answer: {failed[0].message}" if hopeless else "",
    }


def type_new(
    state: State, deps: Deps, results: Sequence[ToolResult | LookResult]
) -> list[dict[str, Any]]:
    """Return the new findings of calls as the state carries them, each with its first rank."""
    held = {item["id"] for item in state["findings"]}
    found: dict[str, dict[str, Any]] = {}
    for result in results:
        for rank, key in enumerate(result.findings, 1):
            if key not in held and key not in found:
                found[key] = type_finding(deps, key, state["task"], rank, result.sure.get(key, ""))
    return list(found.values())


def _executed_query_of(query: Mapping[str, Any], result: ToolResult) -> dict[str, Any]:
    told = {
        "status": result.status.value,
        "findings": len(result.findings),
        "message": result.message,
    }
    return {**query, **told, "told": result.summary}


def _trial_of(hypothesis: str, result: ToolResult, iteration: int) -> Trial:
    queries = tuple(map(str, result.args.values()))
    return Trial(
        id=content_id("t", hypothesis, iteration, queries),
        hypothesis=hypothesis,
        iteration=iteration,
        queries=queries,
        searched=result.status in {ToolStatus.ANSWERED, ToolStatus.EMPTY},
        findings=result.findings,
        failures=(result.message,) if result.status is ToolStatus.FAILED else (),
    )


async def update_hypotheses(state: State, deps: Deps) -> Update:
    """Weigh new findings for and against every hypothesis, and return the update."""
    standing, findings = standing_of(state), [item["id"] for item in state["findings"]]
    new = findings[state.get("weighed", 0) :]  # a run begun before there was this way has none
    trials, evidence = state["trials"], state["evidence"]
    standing, evidence = await weigh_all(
        deps, state["task"], standing, new, trials=trials, evidence=evidence
    )
    return {
        "hypotheses": [item.model_dump(mode="json") for item in standing],
        "evidence": evidence,
        "weighed": len(findings),
    }


async def put_forward(state: State, deps: Deps) -> tuple[Update, str]:
    """Put hypotheses forward, with the calls that test them, if anything new was found.

    A reasoner that is paid for and had no further one is asked again when a hypothesis has fallen,
    or a critic has named another explanation: more of the same brings none.

    Returns:
        The update, and how the reasoner arrived at the hypotheses.
    """
    task, problems = state["task"], state["problems"]
    standing = standing_of(state)
    room = min(AT_ONCE, HYPOTHESES - len(standing))
    seen, reasons = state["conjectured"], _reasons_for_more(state)
    # A run begun before there was this way has never asked in vain.
    in_vain = reasons < state.get("asked_in_vain", 0) and not deps.reasoner.is_free(Hypothesise)
    if room <= 0 or in_vain or (state["iteration"] and len(state["findings"]) == seen):
        return {}, ""
    executor = ToolExecutor(deps, task)
    scope = scope_of(state["research_plan"], deps.as_of)
    gathered = [item["id"] for item in state["findings"]]
    made = await conjecture(
        deps,
        task,
        problems,
        gathered,
        standing,
        gaps=state["missing"],
        iteration=state["iteration"],
        limit=room,
        past=show_past_runs(state["past_runs"]),
        tools=executor.definitions,
        context=show_context(state["context"]),
        seen=seen,
        early=True,
    )
    everyone = [*standing, *made.new]
    calls = list_calls(state["executed_queries"])

    async def tests(item: Assessment) -> list[dict[str, Any]]:
        own, rivals = item.hypothesis, [o.hypothesis.statement for o in everyone if o is not item]
        searches = made.searches.get(own.id, ())
        against = await write_refuting_queries(deps, task, own, rivals, calls, searches)
        asked = make_calls(made.queries.get(own.id, ()), [own.statement], executor.names)
        return [
            *make_searches(against, own.statement, REFUTE, [own.id]),
            *narrow_calls(asked, scope, executor.definitions, executor.refusal),
        ]

    queries = [
        query for listed in await together(*(tests(item) for item in made.new)) for query in listed
    ]
    evidence, new = state["evidence"], made.new
    if gathered:
        new, evidence = await weigh_all(
            deps, task, new, gathered, trials=state["trials"], evidence=evidence
        )
    return {
        "hypotheses": [item.model_dump(mode="json") for item in (*standing, *new)],
        "evidence": evidence,
        "conjectured": len(gathered),
        "asked_in_vain": reasons + 1 if gathered and made.answered and not made.new else 0,
        # An attempt to refute is owed even if the same call was made before for another reason.
        "pending_queries": drop_repeated_calls([*state["pending_queries"], *queries], ()),
    }, "\n".join(filter(None, (*made.reasoning, made.thought)))


def _reasons_for_more(state: State) -> int:
    """Return how many hypotheses have fallen, and how many other explanations a critic sees."""
    fallen = sum(item.status is HypothesisStatus.REFUTED for item in standing_of(state))
    categories = [note["category"] for note in state["reflection_notes"]]
    return fallen + categories.count("alternative")
