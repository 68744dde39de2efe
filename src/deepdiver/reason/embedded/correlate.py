"""Correlates findings: measured relations are reported as measured, coincidences in time left out.

Two events that are close in time and in space belong together as far as rules can tell. Two that
are close in only one of these must share a name. Rules do not see causes, so none is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from deepdiver.core.record import CorrelationKind
from deepdiver.reason.embedded.hypothesise import read_finding
from deepdiver.reason.embedded.reading import Reading
from deepdiver.reason.embedded.stance import share_name
from deepdiver.tasks import Correlate, Correlated, Correlations, Pairing

MOST = 20
NEAR = "They are {}."
ORDER = "The first came before the second, {}. That is a condition of a cause and no proof of one."
STEADY = "They recur, {}."
_SAID = {CorrelationKind.CAUSAL: ORDER, CorrelationKind.PATTERN: STEADY}


def correlate(task: Correlate) -> Correlations:
    """Explain the proposals that are more than chance, as far as rules can tell."""
    readings = {item.id: read_finding(item) for group in task.by_type for item in group.findings}
    kept = [
        item
        for item in task.proposals
        if _belongs(item, [readings[label] for label in item.finding_ids])
    ]
    return Correlations(
        correlations=tuple(
            Correlated(
                finding_ids=item.finding_ids,
                correlation_type=item.correlation_type,
                description="",
                confidence="medium"
                if item.correlation_type is not CorrelationKind.CAUSAL
                else "low",
                implications=(_SAID.get(item.correlation_type, NEAR).format(item.measured),),
                proposal=item.id,
            )
            for item in kept[:MOST]
        )
    )


def _belongs(item: Pairing, readings: Sequence[Reading]) -> bool:
    if item.correlation_type is not CorrelationKind.GEOSPATIAL and any(
        reading.negated for reading in readings
    ):
        return False  # an event that did not happen has no time
    if item.correlation_type is not CorrelationKind.TEMPORAL or " km" in item.measured:
        return True  # close in space; a cause or a pattern, in time as well
    return any(share_name(one, other) for one, other in combinations(readings, 2))
