"""Writing the report of an investigation: verified conclusions, and notes on the research.

What was rejected is not reported. Findings that carry nothing but rejected conclusions are kept
from the writer, a sentence that says what was rejected is cut whoever wrote it, and the limits name
each rejected conclusion with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core.origins import origins
from deepdiver.core.record import (
    CorrelationKind,
    Finding,
    HypothesisStatus,
    Report,
    Section,
    Sentence,
    SentenceKind,
    VerdictKind,
)
from deepdiver.core.text import within, words
from deepdiver.memory.recall import past_runs_note
from deepdiver.strategies.overwatch.analyse import insight_id_of
from deepdiver.strategies.overwatch.execute import NO_DATA, ToolStatus
from deepdiver.strategies.overwatch.scope import scope_of
from deepdiver.strategies.overwatch.verify import (
    apply_verdicts,
    count_verdicts,
    mark_of,
    may_report,
)
from deepdiver.strategies.shared.base import Deps, State, unite
from deepdiver.strategies.shared.findings import source_of
from deepdiver.strategies.shared.hypotheses import standing_of
from deepdiver.strategies.shared.statements import values_of
from deepdiver.strategies.shared.summary import Line, lines_of
from deepdiver.strategies.shared.write_report import Besides, write_report
from deepdiver.tasks import CheckedConclusion, ResearchFrame

QUOTES, EMPTY = 3, 5
"""The most findings quoted for one correlation, and calls without data that are named."""
DOUBTS_BYTES = 4_000
"""Bytes of uncertainties in the report."""
HEADINGS = {
    CorrelationKind.TEMPORAL: "Close in time",
    CorrelationKind.GEOSPATIAL: "Close in space",
    CorrelationKind.CAUSAL: "Possible causes",
    CorrelationKind.PATTERN: "Patterns",
}
INSTRUCTION = (
    "Report what was verified: build the report on `verified_conclusions`, in the most logical "
    "order, what is strongly supported before what is tentative. Where one has a `caution`, say so "
    "beside it. Say what is uncertain, from `uncertainties`, and why that matters. Keep to the "
    "objectives, the places and the time of `research_plan`."
)
"""What the writer is told besides the instructions of its task."""
MORE_TURNS = "Allow more turns: {} {} still waiting when the last one ended."
UNMADE = "Ask {}: that was still to be asked when the last turn ended."
WATCH = "Repeat {} to see how it goes on: the time that was asked about is not over."
NAMED = 3
"""The most calls of each kind that are recommended by name."""
AGAIN = "Ask {} again: it gave no answer."
_ADDRESS = re.compile(r"://|\bwww\.", re.IGNORECASE)


async def synthesise(state: State, deps: Deps) -> tuple[Report, dict[str, Any]]:
    """Write the report from what was verified.

    Returns:
        The report, and the notes on the research under their keys of the state.
    """
    results = state["verification_results"]
    standing = apply_verdicts(standing_of(state), results)
    told = (line.findings for line in lines_of(state["insights"]))
    found = unite(*told, (item["id"] for item in state["findings"]))
    hidden = withheld_findings(state)
    doubts = list_uncertainties(deps, state)
    report = await write_report(
        deps,
        state["task"],
        state["problems"],
        standing,
        [key for key in found if key not in hidden],
        state["missing"],
        [*list_limits(state), *past_runs_note(state["past_runs"])],
        more=[*make_sections(deps, state), *_tell_uncertainties(doubts)],
        besides=Besides(
            guidance=INSTRUCTION,
            plan=_frame_of(state["research_plan"]),
            verified=list_verified(state),
            uncertainties=doubts,
            rejected={
                item["text"]: item["reason"]
                for item in results
                if item["verdict"] == VerdictKind.REJECT
            },
        ),
    )
    said = {
        "recommendations": recommend(deps, state),
        "confidence_assessment": assess_confidence(state, report),
        "methodology_note": describe_method(state),
    }
    return add_notes(report, said), said


def withheld_findings(state: State) -> set[str]:
    """Return the findings that carry rejected conclusions and nothing that is reported.

    What a hypothesis stands on that is reported, for or against it, is never withheld.
    """
    results = state["verification_results"]
    carrying = [
        *((insight_id_of(line), line.findings) for line in lines_of(state["insights"])),
        *((item["id"], item["finding_ids"]) for item in state["correlations"]),
        *(
            (item.hypothesis.id, (*item.supporting, *item.refuting, *item.hypothesis.findings))
            for item in standing_of(state)
        ),
    ]
    reported = unite(*(keys for key, keys in carrying if may_report(results, key)))
    rejected = unite(*(keys for key, keys in carrying if not may_report(results, key)))
    return set(rejected) - set(reported)


def list_verified(state: State) -> list[CheckedConclusion]:
    """Return the insights and correlations that may be reported, as the writer sees them."""
    results = {item["conclusion"]: item for item in state["verification_results"]}
    listed: list[tuple[str, str, str, float, Sequence[str]]] = [
        *(
            (insight_id_of(line), line.text, "insight", line.belief, line.findings)
            for line in lines_of(state["insights"])
        ),
        *(
            (
                item["id"],
                item["description"] or item["measured"],
                item["correlation_type"],
                item["confidence"],
                item["finding_ids"],
            )
            for item in state["correlations"]
        ),
    ]
    return [
        CheckedConclusion(
            text=text,
            kind=kind,
            confidence=round(results[key]["stated_confidence"] if key in results else sure, 3),
            findings=tuple(findings),
            caution=mark_of(results.values(), key),
        )
        for key, text, kind, sure, findings in listed
        if may_report(results.values(), key)
    ]


def _frame_of(plan: Mapping[str, Any]) -> ResearchFrame | None:
    if not plan:
        return None
    return ResearchFrame(
        objectives=tuple(plan["objectives"]),
        regions=tuple(plan["regions_of_interest"]),
        period=plan["time_range"],
    )


def list_uncertainties(deps: Deps, state: State) -> tuple[str, ...]:
    """Return what is uncertain, for the writer and the reader.

    What the reasoner says is taken as far as its numbers, dates and names are in the findings or in
    the question, and without addresses: it is printed without a citation.
    """
    quotes = (deps.ledger.get(Finding, item["id"]).quotes[0].text for item in state["findings"])
    statements = (item.hypothesis.statement for item in standing_of(state))
    known = "\n".join((state["task"], *state["problems"], *statements, *quotes))
    held = values_of(known) | set(words(known))
    said = (" ".join(text.split()) for text in state["uncertainties"])
    sound = [text for text in said if values_of(text) <= held and not _ADDRESS.search(text)]
    return within(unite(_single_sources(deps, state), filter(None, sound)), DOUBTS_BYTES)


def _single_sources(deps: Deps, state: State) -> list[str]:
    """Return the line that counts the insights that rest on one source."""
    told = _reported_insights(state)
    alone = [line for line in told if _count_origins(deps, line) == 1]
    if not alone or len(told) == 1:
        return []
    if len(alone) == len(told):
        return [f"Each of the {len(told)} insights rests on one source."]
    many = "1 rests on one source" if len(alone) == 1 else f"{len(alone)} rest on one source each"
    return [f"Of {len(told)} insights, {many}."]


def _count_origins(deps: Deps, line: Line) -> int:
    return len(set(origins(source_of(deps, key) for key in line.findings).values()))


def _reported_insights(state: State) -> list[Line]:
    results = state["verification_results"]
    return [
        line for line in lines_of(state["insights"]) if may_report(results, insight_id_of(line))
    ]


def _tell_uncertainties(doubts: Sequence[str]) -> list[Section]:
    if not doubts:
        return []
    return [Section(heading="What is uncertain", sentences=tuple(map(_make_frame, doubts)))]


def list_limits(state: State) -> list[str]:
    """Return the report's limits.

    They say why the research ended, what verification rejected, flagged or lowered, which insights
    were not taken, and which calls had no data.
    """
    results = state["verification_results"]
    words_for = {VerdictKind.FLAG: "flagged", VerdictKind.ADJUST: "lowered"}
    lines = [
        f"Verification rejected “{item['text']}”, which is not reported: {item['reason']}"
        for item in results
        if item["verdict"] == VerdictKind.REJECT
    ]
    lines += [
        f"Verification {words_for[VerdictKind(item['verdict'])]} “{item['text']}”: {item['reason']}"
        for item in results
        if item["kind"] == "hypothesis" and item["verdict"] in words_for
    ]
    if untaken := len(state["untaken_insights"]):
        lines.append(
            f"{_count(untaken, 'insight')} of the analysis {_was_or_were(untaken)} not taken, "
            "because no finding carries what was said."
        )
    held = {insight_id_of(line) for line in lines_of(state["insights"])}
    if crowded := len(set(state["crowded_out"]) - held):
        lines.append(
            f"{_count(crowded, 'insight')} {_was_or_were(crowded)} left out, for want of "
            "room; the record has all of them."
        )
    empty = [
        query["told"] for query in state["executed_queries"] if query["status"] == ToolStatus.EMPTY
    ]
    lines += empty[:EMPTY]
    if more := len(empty[EMPTY:]):
        lines.append(f"{NO_DATA} for {_count(more, 'more call')}.")
    return [*([f"It ended early: {state['error']}"] if state["error"] else []), *lines]


def _was_or_were(number: int) -> str:
    return "was" if number == 1 else "were"


def make_sections(deps: Deps, state: State) -> list[Section]:
    """Return the sections of the report that show conclusions.

    Their sentences of fact are audited like all others.
    """
    results = state["verification_results"]
    insights = tuple(
        Sentence(text=line.text, findings=line.findings, mark=mark_of(results, insight_id_of(line)))
        for line in _reported_insights(state)
    )
    kept = [item for item in state["correlations"] if may_report(results, item["id"])]
    opposed = tuple(
        sentence
        for item in state["contradictions"]
        for sentence in (_make_frame("These do not go together:"), *_quote(deps, item["findings"]))
    )
    listed = {"Key insights": insights}
    for kind in CorrelationKind:
        own = [
            line
            for item in kept
            if item["correlation_type"] == kind
            for line in _tell_correlation(deps, item, results)
        ]
        listed[HEADINGS[kind]] = tuple(own)
    listed["Contradictions"] = opposed
    return [
        Section(heading=heading, sentences=sentences)
        for heading, sentences in listed.items()
        if sentences
    ]


def _tell_correlation(
    deps: Deps, item: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> list[Sentence]:
    sure = next(
        (r["stated_confidence"] for r in results if r["conclusion"] == item["id"]),
        item["confidence"],
    )
    told = (
        f"{item['measured']}, confidence {sure:.2f}:"
        if item["measured"]
        else f"confidence {sure:.2f}:"
    )
    lines = [_make_frame(told[0].upper() + told[1:])]
    if item["description"]:
        lines.append(Sentence(text=item["description"], findings=tuple(item["finding_ids"])))
    else:
        lines += _quote(deps, _vary_sources(deps, item["finding_ids"])[:QUOTES])
    return [*lines[:-1], lines[-1].model_copy(update={"mark": mark_of(results, item["id"])})]


def _vary_sources(deps: Deps, keys: Sequence[str]) -> list[str]:
    """Return findings, the first of each source before the second of any; equal quotes once."""
    seen: Counter[str] = Counter()
    turn, told = {}, set[str]()
    for key in keys:
        finding = deps.ledger.get(Finding, key)
        if (said := " ".join(finding.quotes[0].text.lower().split())) in told:
            continue
        told.add(said)
        turn[key] = seen[source := finding.quotes[0].source]
        seen[source] += 1
    return sorted(turn, key=turn.__getitem__)


def _quote(deps: Deps, keys: Iterable[str]) -> list[Sentence]:
    held = [deps.ledger.get(Finding, key) for key in keys]
    return [
        Sentence(text=" ".join(item.quotes[0].text.split()), findings=(item.id,)) for item in held
    ]


def _make_frame(text: str) -> Sentence:
    return Sentence(text=text, kind=SentenceKind.FRAME)


# -- what code says about the research


def recommend(deps: Deps, state: State) -> list[str]:
    """Return what to do next, each something that can be done: none if there is no such thing.

    What is not answered stands under the limits; to look further into it would be no advice.
    """
    failed = dict.fromkeys(
        q["tool"] for q in state["executed_queries"] if q["status"] == ToolStatus.FAILED
    )
    unmade = [*state["pending_queries"], *state["unmade_queries"]]
    made = [
        *(AGAIN.format(tool) for tool in failed),
        *(UNMADE.format(_tell_call(call)) for call in unmade[:NAMED]),
        *_watch(deps, state),
    ]
    if more := len(unmade[NAMED:]):
        made.append(MORE_TURNS.format(_count(more, "more call"), _was_or_were(more)))
    return made


def _tell_call(call: Mapping[str, Any]) -> str:
    asked = ", ".join(f"{name}={value}" for name, value in call["args"].items())
    return f"{call['tool']}({asked})"


def _watch(deps: Deps, state: State) -> list[str]:
    """Return the calls of feeds to repeat, if the period of the plan has not ended."""
    period = scope_of(state["research_plan"], deps.as_of).period
    if period is None or period.until.isoformat() < deps.as_of:
        return []
    feeds = {tool.shown.name for tool in deps.tools}
    calls = dict.fromkeys(
        _tell_call(query)
        for query in state["executed_queries"]
        if query["tool"] in feeds and query["status"] == ToolStatus.ANSWERED
    )
    return [WATCH.format(call) for call in calls][:NAMED]


def assess_confidence(state: State, report: Report) -> str:
    """Return how sure the report is, in words computed from the record."""
    sure = report.confidence
    word = "High" if sure >= 0.8 else "Medium" if sure >= 0.5 else "Low"
    counts = Counter(item.status for item in report.hypotheses)
    parts = [f"{word} confidence ({sure:.2f})."]
    if total := len(report.hypotheses):
        told = [f"{counts[status]} {status.value}" for status in HypothesisStatus if counts[status]]
        parts.append(f"Of {_count(total, 'hypothesis', 'hypotheses')}: {', '.join(told)}.")
    else:
        parts.append("No hypothesis was put forward.")
    made = state["executed_queries"]
    if failed := sum(query["status"] == ToolStatus.FAILED for query in made):
        parts.append(f"Limited by {_count(failed, 'call')} of {len(made)} that failed.")
    if state["error"]:
        parts.append(f"It ended early: {state['error']}.")
    elif state["iteration"] >= state["max_iterations"]:
        parts.append(f"It ended at the last turn allowed ({state['max_iterations']}).")
    return " ".join(parts)


def describe_method(state: State) -> str:
    """Return how the result was found, in words computed from the record."""
    made = Counter(query["status"] for query in state["executed_queries"])
    outcomes = [f"{made[status]} {status.value}" for status in ToolStatus if made[status]]
    results, steps, turns = (
        state["verification_results"],
        len(state["reasoning_trace"]) + 1,  # with this one
        state["iteration"],
    )
    told = _bracket(", ".join(outcomes))
    return (
        f"The analysis took {_count(steps, 'step')}, "
        f"{_count(state['reflection_iterations'], 'reflection')} and "
        f"{_count(len(results), 'verification check')}{_bracket(count_verdicts(results))}, over "
        f"{_count(sum(made.values()), 'call')} of tools{told} in {_count(turns, 'turn')}."
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _bracket(text: str) -> str:
    return f" ({text})" if text else ""


def add_notes(report: Report, said: Mapping[str, Any]) -> Report:
    """Return the report with the notes on the research, as sentences that state no fact."""
    listed = {
        "Recommendations": said["recommendations"],
        "Confidence and method": [said["confidence_assessment"], said["methodology_note"]],
    }
    more = (
        Section(heading=heading, sentences=tuple(map(_make_frame, texts)))
        for heading, texts in listed.items()
        if texts
    )
    return report.model_copy(update={"sections": (*report.sections, *more)})
