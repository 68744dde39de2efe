"""From findings to conclusions, from conclusions to what may be reported.

And what code says about it.

A conclusion is a hypothesis that stands, an insight or a correlation. The reasoner gives each a
verdict; what follows from it is code's: REJECT never reaches the report, FLAG is printed behind the
sentence, ADJUST lowers the stated confidence and can never raise it above what the sources allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core import belief
from deepdiver.core.identity import content_id
from deepdiver.core.record import (
    Assessment,
    CorrelationKind,
    Finding,
    HypothesisStatus,
    Report,
    RunStatus,
    Section,
    Sentence,
    SentenceKind,
    Verdict,
    VerdictKind,
)
from deepdiver.memory.past import consulted
from deepdiver.strategies.overwatch.analyse import insight_id_of
from deepdiver.strategies.overwatch.correlate import show_typed
from deepdiver.strategies.overwatch.execute import NO_DATA, ToolStatus
from deepdiver.strategies.overwatch.trace import standing_of
from deepdiver.strategies.shared.base import Deps, Update, attempt
from deepdiver.strategies.shared.hypotheses import UNSETTLED
from deepdiver.strategies.shared.summary import Line, lines_of
from deepdiver.strategies.shared.write_report import write_report
from deepdiver.tasks import Conclusion, Verification, VerifyConclusions

INSIGHTS, QUOTES, EMPTY = 8, 3, 5
"""Insights told in a section of their own, findings quoted for one correlation, and calls without
data named."""
HEADINGS = {
    CorrelationKind.TEMPORAL: "Close in time",
    CorrelationKind.GEOSPATIAL: "Close in space",
    CorrelationKind.CAUSAL: "Possible causes",
    CorrelationKind.PATTERN: "Patterns",
}
NOT_VERIFIED = "not verified"
SILENT = "the verification says nothing about it"
OPEN = "Look further into this: {}"
AGAIN = "Ask {} again: it gave no answer."
NOTHING_OPEN = "Nothing that was asked is left open."
UNANSWERED = "Not answered: "
"""How the report's limits begin that name a part of the question without an answer."""


# -- verifying


async def verify(state: Mapping[str, Any], deps: Deps) -> tuple[Update, bool, str]:
    """Have every conclusion checked; what the verifier leaves out is flagged.

    Returns:
        What was verified, whether the report can be written, and what came of it in words.
    """
    lines, standing, correlations = (
        lines_of(state["insights"]),
        standing_of(state),
        state["correlations"],
    )
    carrying = [key for line in lines for key in line.findings]
    carrying += [key for item in standing for key in (*item.supporting, *item.refuting)]
    carrying += [key for item in correlations for key in item["finding_ids"]]
    by_id = {item["id"]: item for item in state["findings"]}
    labels, shown = show_typed(
        deps, [by_id[key] for key in dict.fromkeys((*carrying, *by_id)) if key in by_id]
    )
    label = {key: name for name, key in labels.items()}
    asked = [
        *_from_hypotheses(standing, label),
        *_from_insights(lines, label),
        *_from_correlations(correlations, label),
    ]
    answer = None
    if asked:
        conclusions = tuple(item for _, item in asked)
        guidance = deps.settings.system_prompt
        answer = await attempt(
            deps,
            VerifyConclusions(
                question=state["task"], findings=shown, conclusions=conclusions, guidance=guidance
            ),
        )
    said = {item.id.strip(): item for item in answer.verifications} if answer else {}
    results = [_result_of(key, item, said.get(item.id)) for key, item in asked] if answer else []
    deps.add(*map(_verdict_of, results))
    update = {
        "verification_results": results,
        "verified_insights": [
            line.text for line in lines if results and may_report(results, insight_id_of(line))
        ],
        "verified_correlations": [
            item for item in correlations if results and may_report(results, item["id"])
        ],
    }
    ready = answer is None or answer.ready_for_synthesis
    return (
        update,
        ready,
        count_verdicts(results)
        + ("" if ready or answer is None else f"; not ready: {answer.reason}"),
    )


def _result_of(key: str, item: Conclusion, given: Verification | None) -> dict[str, Any]:
    """Return the outcome for one conclusion, as a state carries it."""
    kind = given.verdict if given else VerdictKind.FLAG
    lower = given.adjusted_confidence if given and kind is VerdictKind.ADJUST else None
    return {
        "conclusion": key,
        "kind": item.kind,
        "text": item.text,
        "verdict": kind.value,
        "reason": (given.reason if given else SILENT) or "no reason was given",
        "confidence": item.confidence,
        "stated_confidence": item.confidence if lower is None else min(item.confidence, lower),
        "reasoner_confidence": lower,
    }


def count_verdicts(results: Iterable[Mapping[str, Any]]) -> str:
    """Return how many conclusions had which outcome."""
    checks = Counter(item["verdict"] for item in results)
    return ", ".join(
        f"{checks[kind.value]} {kind.value}" for kind in VerdictKind if checks[kind.value]
    )


def _verdict_of(item: Mapping[str, Any]) -> Verdict:
    kind, key = VerdictKind(item["verdict"]), item["conclusion"]
    return Verdict(
        id=content_id("v", key, kind, item["reason"]),
        conclusion=key,
        kind=kind,
        reason=item["reason"],
    )


KeyedConclusions = Iterable[tuple[str, Conclusion]]


def _from_hypotheses(standing: Sequence[Assessment], label: Mapping[str, str]) -> KeyedConclusions:
    accepted = [item for item in standing if item.status is HypothesisStatus.SUPPORTED]
    for number, item in enumerate(accepted, 1):
        yield (
            item.hypothesis.id,
            Conclusion(
                id=f"H{number}",
                kind="hypothesis",
                text=item.hypothesis.statement,
                confidence=item.posterior,
                finding_ids=tuple(label[key] for key in item.supporting if key in label),
                against=tuple(label[key] for key in item.refuting if key in label),
            ),
        )


def _from_insights(lines: Sequence[Line], label: Mapping[str, str]) -> KeyedConclusions:
    for number, line in enumerate(lines, 1):
        shown = tuple(label[key] for key in line.findings if key in label)
        yield (
            insight_id_of(line),
            Conclusion(
                id=f"I{number}",
                kind="insight",
                text=line.text,
                confidence=line.belief,
                finding_ids=shown,
            ),
        )


def _from_correlations(
    listed: Sequence[Mapping[str, Any]], label: Mapping[str, str]
) -> KeyedConclusions:
    for number, item in enumerate(listed, 1):
        yield (
            item["id"],
            Conclusion(
                id=f"C{number}",
                kind=item["correlation_type"],
                text=item["description"] or item["measured"],
                confidence=item["confidence"],
                finding_ids=tuple(label[key] for key in item["finding_ids"] if key in label),
                measured=item["measured"],
            ),
        )


# -- what may be reported


def may_report(results: Iterable[Mapping[str, Any]], key: str) -> bool:
    """Whether a conclusion may be reported: REJECT never may."""
    return all(
        item["verdict"] != VerdictKind.REJECT for item in results if item["conclusion"] == key
    )


def mark_of(results: Iterable[Mapping[str, Any]], key: str) -> str:
    """Return the caution that is printed behind a conclusion; empty where it passed."""
    for item in results:
        if item["conclusion"] == key:
            if item["verdict"] == VerdictKind.ADJUST:
                return (
                    f"confidence {item['stated_confidence']:.2f} after verification: "
                    f"{item['reason']}"
                )
            return f"flagged: {item['reason']}" if item["verdict"] == VerdictKind.FLAG else ""
    return NOT_VERIFIED


def apply_verdicts(
    standing: Iterable[Assessment], results: Sequence[Mapping[str, Any]]
) -> list[Assessment]:
    """Return the hypotheses without those that were rejected, and with the confidence of those that were adjusted.

    A verdict can take acceptance away; it can accept nothing and refute nothing, for that is left
    to the evidence.
    """
    stated = {item["conclusion"]: item["stated_confidence"] for item in results}
    kept = []
    for item in standing:
        key = item.hypothesis.id
        sure = stated.get(key, item.posterior)
        if may_report(results, key) and sure < item.posterior:
            status = (
                HypothesisStatus.SUPPORTED
                if sure >= belief.SUPPORTED_AT
                else HypothesisStatus.UNDECIDED
            )
            kept.append(item.model_copy(update={"posterior": sure, "status": status}))
        elif may_report(results, key):
            kept.append(item)
    return kept


def list_limits(state: Mapping[str, Any]) -> list[str]:
    """Return the report's limits.

    What ended it, what had no data, which hypotheses were flagged or lowered.

    What was rejected is counted and not told: it stands in the record, with the reason.
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
            f"Verification rejected {_count(rejected, 'conclusion')}, which {_is_or_are(rejected)} not "
            "reported."
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


def make_sections(deps: Deps, state: Mapping[str, Any]) -> list[Section]:
    """Return the sections of the report that are made of conclusions.

    Their sentences of fact are audited like any.
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
    """Return findings with the first of each source before the second of any.

    What copies say alike, once.
    """
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


async def synthesise(state: Mapping[str, Any], deps: Deps) -> tuple[Report, dict[str, Any]]:
    """Write the report from what was verified, and return it with what code says about the research."""
    told = (key for line in lines_of(state["insights"]) for key in line.findings)
    report = await write_report(
        deps,
        state["task"],
        state["problems"],
        apply_verdicts(standing_of(state), state["verification_results"]),
        list(dict.fromkeys((*told, *(item["id"] for item in state["findings"])))),
        state["missing"],
        [*list_limits(state), *consulted(state["context"]["past"])],
        more=make_sections(deps, state),
    )
    said = {
        "recommendations": recommend(state, report),
        "confidence_assessment": assess_confidence(state, report),
        "methodology_note": describe_method(state),
    }
    return add_notes(report, said), said


# -- what code says about the research


def recommend(state: Mapping[str, Any], report: Report) -> list[str]:
    """Return what to do next: what is open, and what did not answer. They state no fact."""
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


def assess_confidence(state: Mapping[str, Any], report: Report) -> str:
    """Return how sure the report is, computed from the record."""
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


def describe_method(state: Mapping[str, Any]) -> str:
    """Return how the result was come by, computed from the record."""
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
    """Return the report with what code says about the research, as sentences that state no fact about the world."""
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
