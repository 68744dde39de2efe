"""Correlating findings: arithmetic proposes, the reasoner explains, and code checks the result.

The kind, the findings and the confidence of a proposal are computed; the reasoner gives the words.
It may leave out a proposal as chance, and may add a cause or a pattern among findings of at least
two origins. It cannot add a closeness in time or space that was not measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdiver.core import belief
from deepdiver.core.correlation import (
    ObservedEvent,
    ProposedCorrelation,
    describe_closeness,
    propose_correlations,
)
from deepdiver.core.identity import content_id
from deepdiver.core.origins import origins
from deepdiver.core.record import (
    Assessment,
    Contradiction,
    Correlation,
    CorrelationKind,
    Finding,
    Sentence,
    Source,
    Stance,
)
from deepdiver.core.time_and_place import Moment, Position
from deepdiver.report.audit import find_faults
from deepdiver.strategies.shared.base import Deps, attempt, unite
from deepdiver.strategies.shared.findings import resolve_labels, show_findings, source_of
from deepdiver.tasks import Correlate, Correlated, Pairing, ShownFinding, TypedFindings

UNMEASURED = 0.5
"""Strength of a cause or pattern that the reasoner adds and nothing measures."""
MOST = 12
"""The most correlations that a run keeps, the surest first."""
CONTRADICTIONS = 3
"""The most contradictions that are entered, one for each of the most disputed hypotheses."""
_ADDED = {CorrelationKind.CAUSAL, CorrelationKind.PATTERN}


def events_of(deps: Deps, findings: Iterable[Mapping[str, Any]]) -> list[ObservedEvent]:
    """Return the findings that have a time or a place, as events."""
    placed = [
        item
        for item in findings
        if item["moment"] or item["location"].get("places") or "lat" in item["location"]
    ]
    one_story = origins(deps.ledger.get(Source, item["source"]) for item in placed)
    return [
        ObservedEvent(
            key=item["id"],
            origin=one_story[item["source"]],
            moment=Moment(*item["moment"]) if item["moment"] else None,
            position=_position_of(spot := item["location"]),
            places=frozenset(name.lower() for name in spot.get("places", ())),
        )
        for item in placed
    ]


def _position_of(spot: Mapping[str, Any]) -> Position | None:
    return Position(spot["lat"], spot["lon"], spot.get("within_km", 0.0)) if "lat" in spot else None


def show_typed(
    deps: Deps, findings: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, str], tuple[ShownFinding, ...]]:
    """Return findings as a task sees them, with type, time and place, and the ids of the labels."""
    by_id = {item["id"]: item for item in findings}
    labels, shown = show_findings(deps, by_id)
    return labels, tuple(
        item.model_copy(update=_details_of(by_id[labels[item.id]])) for item in shown
    )


def _details_of(finding: Mapping[str, Any]) -> dict[str, str]:
    spot = finding["location"]
    where = [f"{spot['lat']}, {spot['lon']}"] if "lat" in spot else []
    return {
        "type": finding["source_type"],
        "when": finding["timestamp"] if finding["moment"] else "",
        "where": "; ".join((*where, *spot.get("places", ()))),
    }


async def correlate(
    deps: Deps, question: str, findings: Sequence[Mapping[str, Any]], held: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the correlations as the state carries them, together with those held before."""
    proposals = propose_correlations(events_of(deps, findings))
    first = dict.fromkeys(key for proposal in proposals for key in proposal.keys)
    by_id = {item["id"]: item for item in findings}
    labels, shown = show_typed(deps, [by_id[key] for key in dict.fromkeys((*first, *by_id))])
    if len(shown) < 2:
        return list(held)
    label = {key: name for name, key in labels.items()}
    asked = {
        f"P{n}": p for n, p in enumerate((p for p in proposals if set(p.keys) <= label.keys()), 1)
    }
    task = Correlate(
        question=question,
        by_type=_group_by_type(shown),
        proposals=tuple(
            Pairing(
                id=name,
                correlation_type=item.kind,
                finding_ids=tuple(label[key] for key in item.keys),
                measured=describe_closeness(item),
            )
            for name, item in asked.items()
        ),
        guidance=deps.settings.system_prompt,
    )
    answer = await attempt(deps, task)
    # If the reasoner fails, the measurements stand for themselves.
    given = (
        answer.correlations
        if answer
        else tuple(_leave_unexplained(name, item) for name, item in asked.items())
    )
    explained = [
        _explain(deps, item, asked[name])
        for item in given
        if (name := item.proposal.strip()) in asked
    ]
    return keep_surest([*held, *explained, *accept_added(deps, given, labels)])


def _group_by_type(shown: Iterable[ShownFinding]) -> tuple[TypedFindings, ...]:
    groups: dict[str, list[ShownFinding]] = {}
    for item in shown:
        groups.setdefault(item.type, []).append(item)
    return tuple(
        TypedFindings(type=name, findings=tuple(listed)) for name, listed in sorted(groups.items())
    )


def _leave_unexplained(name: str, item: ProposedCorrelation) -> Correlated:
    return Correlated(finding_ids=(), correlation_type=item.kind, description="", proposal=name)


def _explain(deps: Deps, said: Correlated, item: ProposedCorrelation) -> dict[str, Any]:
    return _enter_correlation(
        deps, item.kind, item.keys, said, item.closeness, describe_closeness(item)
    )


def accept_added(
    deps: Deps, given: Iterable[Correlated], labels: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Enter the causes and patterns that the reasoner adds, if they are of at least two origins."""
    made = []
    for said in given:
        keys = tuple(unite(resolve_labels(said.finding_ids, labels)))
        sources = [source_of(deps, key) for key in keys]
        if (
            said.proposal.strip()
            or said.correlation_type not in _ADDED
            or len(set(origins(sources).values())) < 2
        ):
            continue
        made.append(_enter_correlation(deps, said.correlation_type, keys, said, UNMEASURED, ""))
    return made


def _enter_correlation(
    deps: Deps,
    kind: CorrelationKind,
    keys: tuple[str, ...],
    said: Correlated,
    strength: float,
    measured: str,
) -> dict[str, Any]:
    """Enter a correlation into the ledger and return it as the state carries it."""
    description = " ".join(said.description.split())
    held = [deps.ledger.get(Finding, key) for key in keys]
    if find_faults(
        Sentence(text=description, findings=keys), held, deps.store.texts.get, deps.as_of
    ):
        # It has a value that its findings do not hold.
        description = ""
    record = Correlation(
        id=content_id("c", kind, keys),
        kind=kind,
        findings=keys,
        description=description or measured or kind.value,
        confidence=compute_confidence(deps, keys, strength),
    )
    deps.add(record)
    return {
        "id": record.id,
        "finding_ids": list(keys),
        "correlation_type": kind.value,
        "description": description,
        "measured": measured,
        "confidence": record.confidence,
        "reasoner_confidence": said.confidence,
        "implications": list(said.implications),
    }


def compute_confidence(deps: Deps, keys: Iterable[str], strength: float) -> float:
    """Return how far a correlation is believed: as far as its least credible finding."""
    scores = [source_of(deps, key).credibility.score for key in keys]
    weighed = [belief.WeighedEvidence(Stance.SUPPORTS, strength, score, "") for score in scores]
    return round(min((belief.posterior(0.5, [item]) for item in weighed), default=0.5), 4)


def keep_surest(listed: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the surest correlations, each once."""
    once = {item["id"]: item for item in listed}
    return sorted(once.values(), key=lambda item: (-item["confidence"], item["id"]))[:MOST]


def enter_contradictions(deps: Deps, standing: Iterable[Assessment]) -> list[dict[str, Any]]:
    """Enter contradictions: the best findings for and against the most disputed hypotheses."""

    def credible(key: str) -> tuple[float, str]:
        return -source_of(deps, key).credibility.score, key

    disputed = [item for item in standing if item.supporting and item.refuting]
    made: dict[str, Contradiction] = {}
    for item in sorted(disputed, key=lambda item: (abs(item.posterior - 0.5), item.hypothesis.id)):
        keys = (min(item.supporting, key=credible), min(item.refuting, key=credible))
        told = f"One speaks for and one against: {item.hypothesis.statement}"
        record = Contradiction(
            id=content_id("x", sorted(keys)), findings=keys, kind="contradicts", description=told
        )
        # What contradicts one rival often supports the other.
        made.setdefault(record.id, record)
    listed = list(made.values())[:CONTRADICTIONS]
    deps.add(*listed)
    return [record.model_dump(mode="json") for record in listed]
