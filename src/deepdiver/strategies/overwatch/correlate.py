"""Correlating findings: arithmetic proposes, the reasoner explains, and code checks the result.

The kind, the findings and the confidence of a proposal are computed; the reasoner gives the words.
It may leave out a proposal as chance, and may add a cause or a pattern among findings of at least
two origins. It cannot add a closeness in time or space that was not measured. Where no two findings
of different origins have a time, there is nothing to correlate, and nobody is asked.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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
from deepdiver.encoders.reader import load_reader
from deepdiver.errors import StoreError
from deepdiver.report.audit import find_faults
from deepdiver.strategies.overwatch.labels import with_spelled_labels
from deepdiver.strategies.shared.base import Deps, attempt, unite
from deepdiver.strategies.shared.findings import resolve_labels, show_findings, source_of
from deepdiver.strategies.shared.statements import can_contradict
from deepdiver.tasks import (
    Correlate,
    Correlated,
    Correlations,
    Pairing,
    ShownFinding,
    TypedFindings,
)

_DENIED = re.compile(
    r"(?:No|None|Nobody|Nothing|Neither)\b.*\b(?:before|until|between|within|during|since|after)\b",
    re.DOTALL,
)
UNMEASURED = 0.5
"""Strength of a cause or pattern that the reasoner adds and nothing measures."""
MOST = 12
"""The most correlations that a run keeps, the surest first."""
CONTRADICTIONS = 3
"""The most contradictions that are entered, one for each of the most disputed hypotheses."""
OPPOSED = 4
"""Findings for and against a hypothesis that are compared, the most credible ones."""
CONTRARY = 0.6
"""The probability from which on the reader takes two quotes to contradict each other: the mean of
both directions, because a contradiction has none."""
_ADDED = {CorrelationKind.CAUSAL, CorrelationKind.PATTERN}


class Found(NamedTuple):
    """What correlating brought."""

    correlations: list[dict[str, Any]]
    """The correlations as the state carries them, together with those held before."""
    events: int = 0
    """How many findings were compared; 0: none that have a time came from different origins."""
    thoughts: str = ""
    """What the reasoner thought."""


def events_of(deps: Deps, findings: Iterable[Mapping[str, Any]]) -> list[ObservedEvent]:
    """Return the findings that have a time, as events.

    What has a place and no time is not an event: most sentences of a letter name a place. Nor is
    what did not happen over a time: "No other feeder was disturbed before 04:41".
    """
    timed = [
        item
        for item in findings
        if item["moment"] and not _DENIED.match(deps.ledger.get(Finding, item["id"]).statement)
    ]
    one_story = origins(deps.ledger.get(Source, item["source_id"]) for item in timed)
    return [
        ObservedEvent(
            key=item["id"],
            origin=one_story[item["source_id"]],
            moment=Moment(*item["moment"]),
            position=_position_of(spot := item["location"]),
            places=frozenset(name.lower() for name in spot.get("places", ())),
        )
        for item in timed
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
) -> Found:
    """Correlate findings, if there are events of at least two origins to correlate."""
    events = events_of(deps, findings)
    if len({event.origin for event in events}) < 2:
        return Found(list(held))
    proposals = propose_correlations(events)
    labels, shown = show_typed(deps, _put_first(findings, proposals))
    label = {key: name for name, key in labels.items()}
    known = [proposal for proposal in proposals if label.keys() >= set(proposal.keys)]
    asked = {f"P{number}": proposal for number, proposal in enumerate(known, 1)}
    task = Correlate(
        question=question,
        by_type=_group_by_type(shown),
        proposals=tuple(_pairing(name, item, label) for name, item in asked.items()),
        guidance=deps.settings.system_prompt,
    )
    answer = await attempt(deps, task)
    # If the reasoner fails, the measurements stand for themselves.
    measured = [_leave_unexplained(name, item) for name, item in asked.items()]
    given = with_spelled_labels(answer.correlations if answer else measured, labels)
    meant = [(item, asked.get(item.proposal.strip())) for item in given]
    explained = [_explain(deps, item, proposal) for item, proposal in meant if proposal]
    own = [item for item, proposal in meant if not proposal]
    added = accept_named(deps, own, labels, findings)
    listed = keep_surest([*held, *explained, *added])
    return Found(listed, len(events), _tell_thoughts(answer, listed))


def _put_first(
    findings: Iterable[Mapping[str, Any]], proposals: Iterable[ProposedCorrelation]
) -> list[Mapping[str, Any]]:
    """Return findings, those first that may be correlated: not all may fit."""
    by_id = {item["id"]: item for item in findings}
    first = itertools.chain.from_iterable(item.keys for item in proposals)
    return [by_id[key] for key in dict.fromkeys((*first, *by_id))]


def _pairing(name: str, item: ProposedCorrelation, label: Mapping[str, str]) -> Pairing:
    """Return a proposal as the reasoner is asked about it."""
    return Pairing(
        id=name,
        correlation_type=item.kind,
        finding_ids=tuple(label[key] for key in item.keys),
        measured=describe_closeness(item),
    )


def _tell_thoughts(answer: Correlations | None, listed: Iterable[Mapping[str, Any]]) -> str:
    """Return what the reasoner thought, and what it says would follow, for the log."""
    implied = (
        f"{item['description'] or item['measured']}: {text}"
        for item in listed
        for text in item["implications"]
    )
    return "\n".join(filter(None, (answer.thought if answer else "", *implied)))


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


def accept_named(
    deps: Deps,
    given: Iterable[Correlated],
    labels: Mapping[str, str],
    findings: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Enter the correlations that the reasoner names by itself, as far as they can be accepted.

    A cause or a pattern needs findings of at least two origins. Closeness in time or space is
    entered as it is measured between these findings, and not at all if they are not close.
    """
    by_id = {item["id"]: item for item in findings}
    made = []
    for said in given:
        keys = tuple(unite(resolve_labels(said.finding_ids, labels)))
        if said.correlation_type not in _ADDED:
            measured = propose_correlations(events_of(deps, [by_id[key] for key in keys]))
            made += [
                _explain(deps, said, item)
                for item in measured
                if item.kind is said.correlation_type
            ]
        elif len(set(origins(source_of(deps, key) for key in keys).values())) > 1:
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


async def enter_contradictions(deps: Deps, standing: Iterable[Assessment]) -> list[dict[str, Any]]:
    """Enter contradictions: findings for and against one of the most disputed hypotheses.

    That one speaks for it and the other against it is not enough, because a judge may err about
    either. The two must share a subject and differ in a value or a denial, and the reader must take
    each to say the contrary of the other.
    """
    disputed = [item for item in standing if item.supporting and item.refuting]
    made: dict[str, Contradiction] = {}
    for item in sorted(disputed, key=lambda item: (abs(item.posterior - 0.5), item.hypothesis.id)):
        if len(made) == CONTRADICTIONS:
            break
        keys = await asyncio.to_thread(_opposed_pair, deps, item)
        if keys:
            told = f"One speaks for and one against: {item.hypothesis.statement}"
            record = Contradiction(
                id=content_id("x", sorted(keys)),
                findings=keys,
                kind="contradicts",
                description=told,
            )
            # What contradicts one rival often supports the other.
            made.setdefault(record.id, record)
    deps.add(*made.values())
    return [record.model_dump(mode="json") for record in made.values()]


def _opposed_pair(deps: Deps, item: Assessment) -> tuple[str, str] | None:
    """Return the most credible finding for and the most credible against that contradict."""

    def credible(key: str) -> tuple[float, str]:
        return -source_of(deps, key).credibility.score, key

    pairs = [
        (one, other)
        for one in sorted(item.supporting, key=credible)[:OPPOSED]
        for other in sorted(item.refuting, key=credible)[:OPPOSED]
    ]
    texts = [tuple(deps.ledger.get(Finding, key).quotes[0].text for key in pair) for pair in pairs]
    left = [
        (pair, (one, other))
        for pair, (one, other) in zip(pairs, texts, strict=True)
        if can_contradict(one, other)
    ]
    if not left:
        return None
    try:
        verdicts = load_reader().verify(
            [way for _, (one, other) in left for way in ((one, other), (other, one))]
        )
    except (StoreError, ImportError):
        return None
    for (pair, _), both in zip(left, zip(verdicts[::2], verdicts[1::2], strict=True), strict=True):
        if sum(verdict.refutes for verdict in both) / 2 >= CONTRARY:
            return pair
    return None
