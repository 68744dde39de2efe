"""Analysing what was gathered, and reflecting on the analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core.events import Decided
from deepdiver.core.identity import content_id
from deepdiver.core.record import Insight
from deepdiver.core.text import within
from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.overwatch.correlate import accept_added, keep_surest, show_typed
from deepdiver.strategies.overwatch.execute import (
    ToolExecutor,
    drop_repeated_calls,
    list_calls,
    make_calls,
    make_searches,
)
from deepdiver.strategies.shared import summary
from deepdiver.strategies.shared.base import (
    Deps,
    State,
    Update,
    attempt,
    attempt_to_decide,
)
from deepdiver.strategies.shared.hypotheses import stand, standing_of
from deepdiver.strategies.shared.look import find_nearest
from deepdiver.strategies.shared.summary import Line
from deepdiver.tasks import (
    Analyse,
    FindingsAnalysis,
    KeyInsight,
    Reflect,
    Reflection,
    ShownFinding,
    Statement,
    SummaryLine,
)

FOLLOW_UPS, REPORTS, TRIED, NOTES = 5, 10, 12, 5
"""The most calls that an analysis or a reflection may ask for; then the failed calls, the calls and
the critical remarks that it is shown. Code compares new calls with all that were made."""
LIMITS_BYTES = 2_000
"""Bytes of limits shown to the reflection."""


async def analyse(state: State, deps: Deps) -> tuple[Update, str]:
    """Return the update with what the new findings show, and the reasoner's thoughts."""
    lines, made = summary.lines_of(state["insights"]), state["executed_queries"]
    labels, seen = show_typed(deps, state["findings"][state["analysed"] :])
    critical = [note["text"] for note in state["reflection_notes"] if note["critical"]]
    task = Analyse(
        question=state["task"],
        as_of=deps.as_of,
        problems=tuple(state["problems"]),
        standing=stand(standing_of(state), labels),
        insights=tuple(SummaryLine(id=f"S{n}", text=line.text) for n, line in enumerate(lines, 1)),
        findings=seen,
        reports=tuple(query["told"] for query in made[-REPORTS:] if query["message"]),
        notes=tuple(critical[-NOTES:]),
        tools=ToolExecutor(deps, state["task"]).definitions,
        tried=tuple(list_calls(made)[-TRIED:]),
        guidance=deps.settings.system_prompt,
        limit=FOLLOW_UPS,
    )
    answer = await attempt(deps, task) or _analyse_plainly(seen)
    lines = merge_insights(
        deps, lines, answer.key_insights, labels, " ".join((state["task"], *state["problems"]))
    )
    follow = make_calls(answer.follow_up_queries[:FOLLOW_UPS], state["problems"] or [state["task"]])
    return {
        "insights": [line.model_dump(mode="json") for line in lines],
        "key_insights": [line.text for line in lines],
        "correlations": keep_surest(
            [*state["correlations"], *accept_added(deps, answer.correlations, labels)]
        ),
        "uncertainties": list(answer.uncertainties),
        "hypothesis_implications": [
            item.model_dump(mode="json") for item in answer.hypothesis_implications
        ],
        "pending_queries": drop_repeated_calls(follow, made),
        "analysed": len(state["findings"]),
    }, answer.thinking


def _analyse_plainly(seen: Sequence[ShownFinding]) -> FindingsAnalysis:
    """Return each finding as an insight, for when the analysis failed."""
    said = tuple(KeyInsight(statement=item.statement, finding_ids=(item.id,)) for item in seen)
    return FindingsAnalysis(key_insights=said)


def merge_insights(
    deps: Deps,
    lines: Sequence[Line],
    given: Iterable[KeyInsight],
    labels: Mapping[str, str],
    wanted: str,
) -> list[Line]:
    """Return the insights with new ones merged in, and enter them into the ledger.

    The rules of a running summary hold: each insight stands on findings that hold its values, none
    is said twice, and they do not grow with the turns.
    """
    new = (Statement(text=item.statement, findings=item.finding_ids) for item in given)
    made = summary.shorten(summary.take_statements(deps, lines, new, labels), wanted)
    deps.add(
        *(
            Insight(id=insight_id_of(line), statement=line.text, findings=line.findings)
            for line in made
        )
    )
    return made


def insight_id_of(line: Line) -> str:
    """Return the id of an insight."""
    return content_id("i", line.text, line.findings)


def _describe_correlation(item: Mapping[str, Any]) -> str:
    """Return the type, the measure and the description of a correlation in one line."""
    told = [item["correlation_type"], item.get("measured", ""), item["description"]]
    return ": ".join(part for part in told if part)


async def reflect(state: State, deps: Deps) -> tuple[Update, list[dict[str, Any]], bool]:
    """Reflect critically on the analysis.

    Returns:
        The update, the calls that would bring what is missing, and whether there is a new critical
        remark: the same one again gives no new perspective.
    """
    lines, made = summary.lines_of(state["insights"]), state["executed_queries"]
    task = Reflect(
        question=state["task"],
        as_of=deps.as_of,
        problems=tuple(state["problems"]),
        known=tuple(line.text for line in lines),
        standing=stand(standing_of(state), {}),
        uncertainties=(*(line.text for line in lines if line.weak), *state["uncertainties"]),
        correlations=within(map(_describe_correlation, state["correlations"]), LIMITS_BYTES),
        tried=tuple(list_calls(made)[-TRIED:]),
        iteration=state["iteration"],
        max_iterations=state["max_iterations"],
        limits=within(sorted(deps.notes), LIMITS_BYTES),
        guidance=deps.settings.system_prompt,
        past=show_past_runs(state["context"]["past"]),
        limit=FOLLOW_UPS,
    )
    answer, failure = await attempt_to_decide(deps, task)
    if answer is None:
        reason = f"no reflection could be had: {failure}"
        deps.emit(Decided(decision="correlating", reason=reason, by="rule"))
        answer = Reflection(sufficient=True, reason=reason)
    parts = [*state["problems"], state["task"]]
    held = {note["text"] for note in state["reflection_notes"]}
    queries = [
        q
        for text in answer.queries
        for q in make_searches([text], find_nearest(text, parts), answer.reason)
    ]
    new = [note for note in answer.notes if note.text not in held]
    update = {
        "reflection_notes": [
            *state["reflection_notes"],
            *(note.model_dump(mode="json") for note in new),
        ],
        "reflection_iterations": state["reflection_iterations"] + 1,
        "needs_more_reflection": not answer.sufficient,
        "missing": list(answer.missing),
    }
    wanted = [] if answer.sufficient else drop_repeated_calls(queries, made)[:FOLLOW_UPS]
    return update, wanted, any(note.critical for note in new)
