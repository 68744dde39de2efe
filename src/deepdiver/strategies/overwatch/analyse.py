"""Analysing what was gathered, and reflecting on the analysis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from deepdiver.core.events import Decided, FindingDropped
from deepdiver.core.identity import content_id
from deepdiver.core.record import Assessment, HypothesisStatus, Insight
from deepdiver.core.text import in_brief, within
from deepdiver.memory.recall import show_past_runs
from deepdiver.strategies.overwatch.carriers import find_carriers
from deepdiver.strategies.overwatch.correlate import accept_named, keep_surest, show_typed
from deepdiver.strategies.overwatch.execute import (
    ToolExecutor,
    drop_repeated_calls,
    list_calls,
    make_calls,
    make_searches_for,
)
from deepdiver.strategies.overwatch.labels import spell_labels, with_spelled_labels
from deepdiver.strategies.overwatch.scope import narrow_calls, scope_of
from deepdiver.strategies.shared import summary
from deepdiver.strategies.shared.base import (
    Deps,
    State,
    Update,
    attempt,
    attempt_to_decide,
    unite,
)
from deepdiver.strategies.shared.findings import resolve_labels
from deepdiver.strategies.shared.hypotheses import stand, standing_of
from deepdiver.strategies.shared.room import BRIEF, room_of
from deepdiver.strategies.shared.statements import repeats
from deepdiver.strategies.shared.summary import Line
from deepdiver.tasks import (
    Analyse,
    FindingsAnalysis,
    Implication,
    KeyInsight,
    Reflect,
    Reflection,
    ShownFinding,
    SummaryLine,
)

FOLLOW_UPS = {"simple": 3, "moderate": 4, "complex": 5}
"""The most calls that an analysis or a reflection may ask for, by the complexity of the task."""
REPORTS, TRIED, NOTES = 10, 12, 5
"""The failed calls, the calls and the critical remarks that the reasoner is shown. Code compares
new calls with all that were made."""
LIMITS_BYTES = 2_000
"""Bytes of limits shown to the reflection."""
NO_REFLECTION = "no reflection could be had, so that nothing more is gathered"
UNCARRIED = "no finding carries this insight"
DISAGREES = "The analysis takes the findings to speak {} this, but the evidence weighs {} it: {}"


async def analyse(state: State, deps: Deps) -> tuple[Update, str]:
    """Return the update with what the new findings show, and the reasoner's thoughts."""
    lines, made = summary.lines_of(state["insights"]), state["executed_queries"]
    new, executor = state["findings"][state["analysed"] :], ToolExecutor(deps, state["task"])
    labels, seen = show_typed(deps, new)
    # A run begun before there was this way has told no analysis what it has told the others.
    notes, reports = state["reflection_notes"][state.get("met", 0) :], made[state.get("told", 0) :]
    critical = [note["text"] for note in notes if note["critical"]]
    most = FOLLOW_UPS[state["task_complexity"]]
    task = Analyse(
        question=state["task"],
        as_of=deps.as_of,
        problems=tuple(state["problems"]),
        standing=stand(standing_of(state), labels),
        insights=tuple(SummaryLine(id=f"S{n}", text=line.text) for n, line in enumerate(lines, 1)),
        findings=seen,
        reports=_latest(query["told"] for query in reports[-REPORTS:] if query["message"]),
        notes=tuple(in_brief(text, BRIEF) for text in critical[-NOTES:]),
        uncertainties=within(state["uncertainties"], LIMITS_BYTES),
        tools=executor.definitions,
        tried=_latest(list_calls(made)[-TRIED:]),
        guidance=deps.settings.system_prompt,
        limit=most,
    )
    answer = await attempt(deps, task) or _analyse_plainly(seen)
    given, untaken = await _with_carriers(deps, answer.key_insights, labels, lines)
    lines, crowded = merge_insights(
        deps, lines, given, labels, " ".join((state["task"], *state["problems"]))
    )
    implications = _implications(answer.hypothesis_implications, standing_of(state))
    parts = state["problems"] or [state["task"]]
    follow = [
        *make_calls(answer.follow_up_queries, parts, executor.names),
        *make_searches_for(answer.searches, parts),
    ][:most]
    scope = scope_of(state["research_plan"], deps.as_of)
    narrowed = narrow_calls(follow, scope, executor.definitions, executor.refusal)
    named = with_spelled_labels(answer.correlations, labels)
    return {
        "insights": [line.model_dump(mode="json") for line in lines],
        "key_insights": [line.text for line in lines],
        "untaken_insights": unite(state["untaken_insights"], untaken),
        "crowded_out": unite(state["crowded_out"], crowded),
        "correlations": keep_surest(
            [*state["correlations"], *accept_named(deps, named, labels, new)]
        ),
        "uncertainties": unite(
            (in_brief(text, BRIEF) for text in answer.uncertainties), _disagreements(implications)
        ),
        "hypothesis_implications": implications,
        "pending_queries": _askable(deps, drop_repeated_calls(narrowed, made), executor),
        "analysed": len(state["findings"]),
        "again": not new,
        "met": len(state["reflection_notes"]),
        "told": len(made),
    }, _tell_thoughts(answer, implications)


def _latest(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the last texts, in their order, as many as fit into `LIMITS_BYTES`."""
    return within(list(texts)[::-1], LIMITS_BYTES)[::-1]


def _askable(
    deps: Deps, calls: list[dict[str, Any]], executor: ToolExecutor
) -> list[dict[str, Any]]:
    """Return calls to go back for: none if no tool takes any of them, which the report says."""
    refused = [why for call in calls if (why := executor.refusal(call["tool"], call["args"]))]
    if not refused or len(refused) < len(calls):
        return calls
    told = "A call" if len(refused) == 1 else f"{len(refused)} calls"
    deps.note_limit(f"{told} that the analysis asked for could not be made: {refused[0]}.")
    return []


async def _with_carriers(
    deps: Deps, given: Sequence[KeyInsight], labels: Mapping[str, str], lines: Sequence[Line]
) -> tuple[list[KeyInsight], list[str]]:
    """Find the findings of insights for which the reasoner names none.

    One that only repeats an insight so far adds nothing, and is not missed.

    Returns:
        The insights that findings carry, and the ids of the others, which are announced.
    """
    label = {key: name for name, key in labels.items()}
    taken, untaken = [], []
    for item in with_spelled_labels(given, labels):
        if not item.finding_ids:
            keys = await find_carriers(deps, item.statement, labels.values())
            item = item.model_copy(update={"finding_ids": tuple(label[key] for key in keys)})
        if item.finding_ids:
            taken.append(item)
        elif not any(repeats(line.text, item.statement) for line in lines):
            untaken.append(content_id("i", item.statement))
            deps.emit(FindingDropped(statement=item.statement, reason=UNCARRIED))
    return taken, untaken


def _implications(
    given: Iterable[Implication], standing: Sequence[Assessment]
) -> list[dict[str, Any]]:
    """Return what the analysis says of the hypotheses, each with its id, statement and standing."""
    shown = {f"H{number}": item for number, item in enumerate(standing, 1)}
    listed = list(given)
    named = spell_labels(([item.hypothesis_id] for item in listed), shown)
    return [
        {
            "hypothesis_id": shown[label].hypothesis.id,
            "statement": shown[label].hypothesis.statement,
            "evidence_type": item.evidence_type,
            "explanation": item.explanation,
            "status": shown[label].status.value,
        }
        for item, labels in zip(listed, named, strict=True)
        for label in labels
    ]


def _disagreements(implications: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the uncertainties where the analysis and the evidence point in opposite directions.

    Belief is computed from the evidence alone, so that this is what an analyst's opposite view
    changes: the reflection and the reader of the report are told.
    """
    ways = {
        ("supporting", HypothesisStatus.REFUTED.value): ("for", "against"),
        ("refuting", HypothesisStatus.SUPPORTED.value): ("against", "for"),
    }
    return [
        DISAGREES.format(*way, item["statement"])
        for item in implications
        if (way := ways.get((item["evidence_type"], item["status"])))
    ]


def _tell_thoughts(answer: FindingsAnalysis, implications: Iterable[Mapping[str, Any]]) -> str:
    """Return the reasoner's thoughts, and what it says of the hypotheses, for the log."""
    told = [
        f"{item['evidence_type']} “{item['statement']}”: {item['explanation']}"
        for item in implications
    ]
    thoughts = dict.fromkeys(filter(None, (answer.thinking, answer.thought)))
    return "\n".join((*thoughts, *told))


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
) -> tuple[list[Line], list[str]]:
    """Merge new insights into those so far, and enter them into the ledger.

    The rules of a running summary hold: each insight stands on findings that hold its values, none
    is said twice, and they do not grow with the turns.

    Returns:
        The insights, and the ids of those for which there was no room.
    """
    new = ((item.statement, unite(resolve_labels(item.finding_ids, labels))) for item in given)
    merged = summary.take_statements(deps, lines, new)
    room = room_of(deps)
    made = summary.shorten(merged, wanted, room.most_lines, room.summary)
    deps.add(
        *(
            Insight(id=insight_id_of(line), statement=line.text, findings=line.findings)
            for line in merged
        )
    )
    kept = {insight_id_of(line) for line in made}
    return made, [key for line in merged if (key := insight_id_of(line)) not in kept]


def insight_id_of(line: Line) -> str:
    """Return the id of an insight."""
    return content_id("i", line.text, line.findings)


class Looked(NamedTuple):
    """What looking back brought."""

    update: Update
    """The changes to the state."""
    queries: list[dict[str, Any]]
    """The calls that would bring what is missing."""
    critical: bool
    """Whether there is a new critical remark: the same one again gives no new perspective."""
    thoughts: str
    """What the reasoner thought, and why it came to this result."""


def _describe_correlation(item: Mapping[str, Any]) -> str:
    """Return the type, the measure, the description and the implications of a correlation.

    A critic must see what is about to be concluded from it.
    """
    told = [item["correlation_type"], item["measured"], item["description"]]
    line = ": ".join(part for part in told if part)
    implied = "; ".join(item["implications"])
    return f"{line} (it would follow: {implied})" if implied else line


async def reflect(state: State, deps: Deps) -> Looked:
    """Reflect critically on the analysis."""
    lines, made = summary.lines_of(state["insights"]), state["executed_queries"]
    executor = ToolExecutor(deps, state["task"])
    most = FOLLOW_UPS[state["task_complexity"]]
    task = Reflect(
        question=state["task"],
        as_of=deps.as_of,
        problems=tuple(state["problems"]),
        known=tuple(line.text for line in lines),
        standing=stand(standing_of(state), {}),
        uncertainties=(*(line.text for line in lines if line.weak), *state["uncertainties"]),
        correlations=within(map(_describe_correlation, state["correlations"]), LIMITS_BYTES),
        tools=tuple(tool.shown for tool in deps.tools),
        tried=_latest(list_calls(made)[-TRIED:]),
        iteration=state["iteration"],
        max_iterations=state["max_iterations"],
        limits=within(sorted(deps.notes), LIMITS_BYTES),
        guidance=deps.settings.system_prompt,
        past=show_past_runs(state["past_runs"]),
        limit=most,
    )
    answer, failure = await attempt_to_decide(deps, task)
    if answer is None:
        reason = f"{NO_REFLECTION}: {failure}"
        deps.emit(Decided(decision="correlating", reason=reason, by="rule"))
        answer = Reflection(sufficient=True, reason=reason)
    parts = [*state["problems"], state["task"]]
    held = {note["text"] for note in state["reflection_notes"]}
    queries = [
        *make_calls(answer.investigation_queries, parts, executor.names),
        *make_searches_for(answer.queries, parts, answer.reason),
    ]
    scope = scope_of(state["research_plan"], deps.as_of)
    queries = narrow_calls(queries, scope, executor.definitions, executor.refusal)
    # What no tool takes is on record, and keeps nothing else from being asked.
    queries.sort(key=lambda call: bool(executor.refusal(call["tool"], call["args"])))
    new = [note for note in answer.notes if note.text not in held]
    update = {
        "reflection_notes": [
            *state["reflection_notes"],
            *(note.model_dump(mode="json") for note in new),
        ],
        "reflection_iterations": state["reflection_iterations"] + 1,
        "needs_more_reflection": not answer.sufficient,
        "missing": [in_brief(text, BRIEF) for text in answer.missing],
    }
    wanted = [] if answer.sufficient else drop_repeated_calls(queries, made)[:most]
    thoughts = dict.fromkeys(filter(None, (answer.thought, answer.reason)))
    return Looked(update, wanted, any(note.critical for note in new), "\n".join(thoughts))
