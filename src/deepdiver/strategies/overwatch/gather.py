"""Gathering in turns: calls of tools side by side, their findings, and the hypotheses they test.

Hypotheses are tested by the same calls that gather everything else: what would refute one becomes
calls that wait for their turn. A call that was answered is an attempt to refute; without one, no
hypothesis is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deepdiver.core.identity import content_id
from deepdiver.core.record import Assessment, Trial
from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.overwatch.execute import (
    ToolExecutor,
    ToolResult,
    ToolStatus,
    drop_repeated_calls,
    list_calls,
    make_calls,
    make_searches,
    type_finding,
)
from deepdiver.strategies.shared.base import Deps, State, Update, together, unite
from deepdiver.strategies.shared.hypotheses import (
    conjecture,
    standing_of,
    weigh_all,
    write_refuting_queries,
)

HYPOTHESES, AT_ONCE = 8, 4
"""The most hypotheses of a run, and those put forward at one time."""
REFUTE = "would refute a hypothesis"


async def take_turn(state: State, deps: Deps, batch: Sequence[Mapping[str, Any]]) -> Update:
    """Make calls side by side, and return the update with their findings and outcomes."""
    executor = ToolExecutor(deps, state["task"], state["key_insights"])
    results = await together(*(executor.execute(q["tool"], q["args"], q["about"]) for q in batch))
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
        "findings": [*state["findings"], *_type_new(state, deps, results)],
        "trials": unite(state["trials"], (trial.id for trial in trials)),
        "iteration": state["iteration"] + 1,
        "error": f"no tool gave an answer: {failed[0].message}" if hopeless else "",
    }


def _type_new(state: State, deps: Deps, results: Sequence[ToolResult]) -> list[dict[str, Any]]:
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


async def update_hypotheses(state: State, deps: Deps, new: Sequence[str]) -> Update:
    """Weigh new findings for and against every hypothesis, and return the update."""
    standing = standing_of(state)
    trials, evidence = state["trials"], state["evidence"]
    standing, evidence = await weigh_all(
        deps, state["task"], standing, new, trials=trials, evidence=evidence
    )
    return {"hypotheses": [item.model_dump(mode="json") for item in standing], "evidence": evidence}


async def put_forward(state: State, deps: Deps) -> tuple[Update, tuple[str, ...]]:
    """Put hypotheses forward, with the calls that test them.

    Returns:
        The update, and how the reasoner arrived at the hypotheses.
    """
    task, problems = state["task"], state["problems"]
    standing = standing_of(state)
    room = min(AT_ONCE, HYPOTHESES - len(standing))
    if room <= 0:
        return {}, ()
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
        past=show_past_runs(state["context"]["past"]),
        tools=ToolExecutor(deps, task).definitions,
    )
    everyone = [*standing, *made.new]
    calls = list_calls(state["executed_queries"])

    async def tests(item: Assessment) -> list[dict[str, Any]]:
        own, rivals = item.hypothesis, [o.hypothesis.statement for o in everyone if o is not item]
        against = await write_refuting_queries(deps, task, own, rivals, calls)
        return [
            *make_searches(against, own.statement, REFUTE, [own.id]),
            *make_calls(made.queries.get(own.id, ()), [own.statement]),
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
        # An attempt to refute is owed even if the same call was made before for another reason.
        "pending_queries": drop_repeated_calls([*state["pending_queries"], *queries], ()),
    }, made.reasoning
