"""Verifying conclusions, and what a verdict means for the report.

A conclusion is a hypothesis that stands, an insight or a correlation. The reasoner gives each a
verdict, and code draws the consequences: REJECT never reaches the report, FLAG is printed after the
sentence, and ADJUST lowers the stated confidence and can never raise it above what the sources
allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from deepdiver.core import belief
from deepdiver.core.events import Decided
from deepdiver.core.identity import content_id
from deepdiver.core.record import (
    Assessment,
    HypothesisStatus,
    Verdict,
    VerdictKind,
)
from deepdiver.strategies.overwatch.analyse import insight_id_of
from deepdiver.strategies.overwatch.correlate import show_typed
from deepdiver.strategies.overwatch.labels import conclusion_meant
from deepdiver.strategies.shared.base import (
    Deps,
    State,
    Update,
    attempt_to_decide,
    unite,
)
from deepdiver.strategies.shared.hypotheses import standing_of
from deepdiver.strategies.shared.summary import Line, lines_of
from deepdiver.tasks import Conclusion, ShownFinding, Verification, Verifications, VerifyConclusions

NOT_VERIFIED = "not verified"
NO_VERIFICATION = "no verification could be had, so that what is reported is marked as not verified"
SILENT = "the verification says nothing about it"


class Verified(NamedTuple):
    """What verifying brought."""

    update: Update
    """The changes to the state."""
    ready: bool
    """Whether the report can be written."""
    told: str
    """The outcome in words."""
    thoughts: str = ""
    """What the reasoner thought."""


async def verify(state: State, deps: Deps) -> Verified:
    """Have every conclusion verified; one that the verifier leaves out is flagged."""
    lines, correlations = lines_of(state["insights"]), state["correlations"]
    shown, conclusions = _show_conclusions(deps, state)
    answer = None
    if conclusions:
        task = VerifyConclusions(
            question=state["task"],
            findings=shown,
            conclusions=tuple(conclusions.values()),
            guidance=deps.settings.system_prompt,
        )
        answer, failure = await attempt_to_decide(deps, task)
        if answer is None:
            reason = f"{NO_VERIFICATION}: {failure}"
            deps.emit(Decided(decision="synthesizing", reason=reason, by="rule"))
    results = _results_of(conclusions, answer) if answer else []
    deps.add(*map(_verdict_of, results))
    verified = {item["conclusion"] for item in results if item["verdict"] != VerdictKind.REJECT}
    update = {
        "verification_results": results,
        "verified_insights": [line.text for line in lines if insight_id_of(line) in verified],
        "verified_correlations": [item for item in correlations if item["id"] in verified],
    }
    outcome = count_verdicts(results)
    if answer is not None and not answer.ready_for_synthesis:
        why = answer.reason or "the verification does not say why"
        return Verified(update, False, f"{outcome}; not ready: {why}", answer.thought)
    return Verified(update, True, outcome, answer.thought if answer else "")


def _show_conclusions(
    deps: Deps, state: State
) -> tuple[tuple[ShownFinding, ...], dict[str, Conclusion]]:
    """Return the findings as the verifier sees them, and the conclusions by their ids.

    The findings that carry a conclusion come first: not all of them may fit.
    """
    lines, standing = lines_of(state["insights"]), standing_of(state)
    correlations = state["correlations"]
    by_id = {item["id"]: item for item in state["findings"]}
    carrying = unite(
        *(line.findings for line in lines),
        *((*item.supporting, *item.refuting) for item in standing),
        *(item["finding_ids"] for item in correlations),
        by_id,
    )
    labels, shown = show_typed(deps, [by_id[key] for key in carrying if key in by_id])
    label = {key: name for name, key in labels.items()}
    conclusions = (
        *_from_hypotheses(standing, label),
        *_from_insights(lines, label),
        *_from_correlations(correlations, label),
    )
    return shown, dict(conclusions)


def _results_of(
    conclusions: Mapping[str, Conclusion], answer: Verifications
) -> list[dict[str, Any]]:
    """Return the outcome for each conclusion; of two verdicts on one, the sterner counts."""
    stern = list(VerdictKind)
    given: dict[str, Verification] = {}
    for item in sorted(answer.verifications, key=lambda item: stern.index(item.verdict)):
        given[conclusion_meant(item.id, conclusions.values())] = item
    return [_result_of(key, item, given.get(item.id)) for key, item in conclusions.items()]


def _result_of(key: str, item: Conclusion, given: Verification | None) -> dict[str, Any]:
    """Return the outcome for one conclusion as the state carries it."""
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
    """Return how many conclusions had each verdict, in words."""
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


KeyedConclusions = Iterator[tuple[str, Conclusion]]
"""Conclusions with their ids."""


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


def may_report(results: Iterable[Mapping[str, Any]], key: str) -> bool:
    """Return whether a conclusion may be reported, which is so unless it was rejected."""
    return all(
        item["verdict"] != VerdictKind.REJECT for item in results if item["conclusion"] == key
    )


def mark_of(results: Iterable[Mapping[str, Any]], key: str) -> str:
    """Return the caution that is printed after a conclusion; empty if it passed."""
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
    """Return the hypotheses without the rejected ones, with the confidence of the adjusted ones.

    A verdict can take acceptance away, but it cannot accept or refute: only evidence can.
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
