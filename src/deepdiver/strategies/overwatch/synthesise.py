"""Writing the report of an investigation: verified conclusions, and notes on the research."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core.record import (
    CorrelationKind,
    Finding,
    HypothesisStatus,
    Report,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
    VerdictKind,
)
from deepdiver.memory.recall import past_runs_note
from deepdiver.strategies.overwatch.analyse import insight_id_of
from deepdiver.strategies.overwatch.execute import NO_DATA, ToolStatus
from deepdiver.strategies.overwatch.verify import (
    apply_verdicts,
    count_verdicts,
    mark_of,
    may_report,
)
from deepdiver.strategies.shared.base import Deps, State, unite
from deepdiver.strategies.shared.hypotheses import UNSETTLED, standing_of
from deepdiver.strategies.shared.summary import lines_of
from deepdiver.strategies.shared.write_report import write_report

INSIGHTS, QUOTES, EMPTY = 8, 3, 5
"""The most insights in their section, findings quoted for one correlation, and calls without data
that are named."""
HEADINGS = {
    CorrelationKind.TEMPORAL: "Close in time",
    CorrelationKind.GEOSPATIAL: "Close in space",
    CorrelationKind.CAUSAL: "Possible causes",
    CorrelationKind.PATTERN: "Patterns",
}
OPEN = "Look further into this: {}"
AGAIN = "Ask {} again: it gave no answer."
NOTHING_OPEN = "Nothing that was asked is left open."
UNANSWERED = "Not answered: "
"""The beginning of the limits that name a part of the question without an answer."""


async def synthesise(state: State, deps: Deps) -> tuple[Report, dict[str, Any]]:
    """Write the report from what was verified.

    Returns:
        The report, and the notes on the research under their keys of the state.
    """
    told = (line.findings for line in lines_of(state["insights"]))
    report = await write_report(
        deps,
        state["task"],
        state["problems"],
        apply_verdicts(standing_of(state), state["verification_results"]),
        unite(*told, (item["id"] for item in state["findings"])),
        state["missing"],
        [*list_limits(state), *past_runs_note(state["context"]["past"])],
        more=make_sections(deps, state),
    )
    said = {
        "recommendations": recommend(state, report),
        "confidence_assessment": assess_confidence(state, report),
        "methodology_note": describe_method(state),
    }
    return add_notes(report, said), said


def list_limits(state: State) -> list[str]:
    """Return the report's limits: why it ended, flagged or lowered hypotheses, calls without data.

    Rejected conclusions are only counted: the record has them, with the reasons.
    """
    listed = state["verification_results"]
    words = {VerdictKind.FLAG: "flagged", VerdictKind.ADJUST: "lowered"}
    lines = [
        f"Verification {words[VerdictKind(item['verdict'])]} “{item['text']}”: {item['reason']}"
        for item in listed
        if item["kind"] == "hypothesis" and item["verdict"] in words
    ]
    if rejected := sum(item["verdict"] == VerdictKind.REJECT for item in listed):
        lines.append(
            f"Verification rejected {_count(rejected, 'conclusion')}, "
            f"which {_is_or_are(rejected)} not reported."
        )
    empty = [
        query["told"] for query in state["executed_queries"] if query["status"] == ToolStatus.EMPTY
    ]
    lines += empty[:EMPTY]
    if more := len(empty[EMPTY:]):
        lines.append(f"{NO_DATA} for {_count(more, 'more call')}.")
    return [*([f"It ended early: {state['error']}"] if state["error"] else []), *lines]


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def make_sections(deps: Deps, state: State) -> list[Section]:
    """Return the sections of the report that show conclusions.

    Their sentences of fact are audited like all others.
    """
    lines, results = lines_of(state["insights"]), state["verification_results"]
    told = [line for line in lines if may_report(results, insight_id_of(line))][:INSIGHTS]
    insights = tuple(
        Sentence(text=line.text, findings=line.findings, mark=mark_of(results, insight_id_of(line)))
        for line in told
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


def recommend(state: State, report: Report) -> list[str]:
    """Return what to do next: look into open questions, and ask again where there was no answer."""
    told = [line.removeprefix(UNANSWERED) for line in report.limits if line.startswith(UNANSWERED)]
    open_ = [*told, *(state["missing"] if report.status is not RunStatus.ANSWERED else ())]
    open_ += [item.hypothesis.statement for item in report.hypotheses if item.status in UNSETTLED]
    failed = dict.fromkeys(
        q["tool"] for q in state["executed_queries"] if q["status"] == ToolStatus.FAILED
    )
    made = [
        *(OPEN.format(item) for item in dict.fromkeys(open_)),
        *(AGAIN.format(tool) for tool in failed),
    ]
    return made or [NOTHING_OPEN]


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
        len(state["reasoning_trace"]),
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
    more = (
        Section(
            heading="Recommendations", sentences=tuple(map(_make_frame, said["recommendations"]))
        ),
        Section(
            heading="Confidence and method",
            sentences=(
                _make_frame(said["confidence_assessment"]),
                _make_frame(said["methodology_note"]),
            ),
        ),
    )
    return report.model_copy(update={"sections": (*report.sections, *more)})
