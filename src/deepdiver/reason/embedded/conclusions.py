"""Verifies conclusions by rules: by their quotes, by their times and places, and by denials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from deepdiver.core.belief import SUPPORTED_AT
from deepdiver.core.record import VerdictKind
from deepdiver.reason.embedded.hypothesise import read_finding
from deepdiver.reason.embedded.reading import Reading, read_sentence
from deepdiver.reason.embedded.stance import likeness, opposed
from deepdiver.reason.embedded.verify import support_of
from deepdiver.tasks import Conclusion, ShownFinding, Verification, Verifications, VerifyConclusions

CONTESTED = 0.9
"""The highest confidence that is left if a source speaks against a conclusion."""
DENIES = 0.5
"""From this likeness on, a sentence that denies something is about the same thing."""
NOTHING = "no finding that is shown carries it"
PARTLY = "its findings carry a part of it"
WEAK = "it rests on a source that cannot be relied on alone"
OTHERWISE = "another finding denies it"
AGAINST = "a source speaks against it"
WHEN = "it is not known of all of them when they were"
WHERE = "it is not known of all of them where they were"
BACKWARDS = "what is said to come first came later"
ORDER_ONLY = "nothing but the order in time speaks for a cause"
TOO_FEW = "fewer than three events are no pattern"
HOLDS = "the findings carry it"
ALL_REJECTED = "no conclusion holds"

Outcome = tuple[VerdictKind, str]
PASSED: Outcome = (VerdictKind.PASS, HOLDS)


def verify_conclusions(task: VerifyConclusions) -> Verifications:
    """Give each conclusion a verdict; the report is ready unless none of them holds."""
    shown = {finding.id: finding for finding in task.findings}
    readings = {finding.id: read_finding(finding) for finding in task.findings}
    given = tuple(_verified(item, shown, readings) for item in task.conclusions)
    ready = not given or any(item.verdict is not VerdictKind.REJECT for item in given)
    return Verifications(
        verifications=given, ready_for_synthesis=ready, reason="" if ready else ALL_REJECTED
    )


def _verified(
    item: Conclusion, shown: Mapping[str, ShownFinding], readings: Mapping[str, Reading]
) -> Verification:
    held = [shown[label] for label in item.finding_ids if label in shown]
    if not held:
        outcome: Outcome = (VerdictKind.REJECT, NOTHING)
    elif item.kind in {"insight", "hypothesis"}:
        outcome = _stated(item, held, readings)
    else:
        outcome = _connected(item, held)
    lower = CONTESTED if outcome[0] is VerdictKind.ADJUST else None
    return Verification(
        id=item.id, verdict=outcome[0], reason=outcome[1], adjusted_confidence=lower
    )


def _stated(
    item: Conclusion, held: Sequence[ShownFinding], readings: Mapping[str, Reading]
) -> Outcome:
    """Check a statement by its quotes, by denials, and by the reliability of its sources."""
    support, _ = support_of(item.text, [finding.quote for finding in held])
    if support == "none" and item.kind == "insight":
        return VerdictKind.REJECT, NOTHING
    own, others = (
        read_sentence(item.text),
        [r for label, r in readings.items() if label not in item.finding_ids],
    )
    if item.kind == "insight" and any(
        likeness(own, r) >= DENIES and opposed(own, r) for r in others
    ):
        return VerdictKind.FLAG, OTHERWISE
    if item.against and item.confidence > CONTESTED:
        return VerdictKind.ADJUST, AGAINST
    if support != "full" and item.kind == "insight":
        return VerdictKind.FLAG, PARTLY
    return (VerdictKind.FLAG, WEAK) if item.confidence < SUPPORTED_AT else PASSED


def _connected(item: Conclusion, held: Sequence[ShownFinding]) -> Outcome:
    """Check a correlation by the known times and places of its findings."""
    if item.kind == "geospatial":
        return PASSED if all(finding.where for finding in held) else (VerdictKind.FLAG, WHERE)
    if not all(finding.when for finding in held):
        return VerdictKind.FLAG, WHEN
    if item.kind == "pattern":
        return PASSED if len(held) > 2 else (VerdictKind.FLAG, TOO_FEW)
    if item.kind == "temporal":
        return PASSED
    if any(one.when > other.when for one, other in pairwise(held)):
        return VerdictKind.REJECT, BACKWARDS
    said = any(
        "caus" in reading.roots or "due" in reading.roots for reading in map(read_finding, held)
    )
    return PASSED if said else (VerdictKind.FLAG, ORDER_ONLY)
