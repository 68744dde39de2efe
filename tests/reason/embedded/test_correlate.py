"""Measured relations are reported as measured; coincidences in time are chance."""

from __future__ import annotations

import pytest

from deepdiver.core.record import CorrelationKind
from deepdiver.reason.embedded.correlate import ORDER, STEADY, correlate
from deepdiver.tasks import Correlate, Correlations, Pairing, TypedFindings
from tests.reason.embedded.shown import findings

TEMPORAL, GEOSPATIAL, CAUSAL, PATTERN = CorrelationKind
DIP = "A voltage dip began at the substation Vantskär North."
SMOKE = "Harbour guard reports smoke from the ferry Ejdervik."
FIRE = "The fire on the ferry Ejdervik spread."
NOTHING = "No other feeder was disturbed before 04:41 UTC."


def correlated(kind: CorrelationKind, measured: str, *texts: str) -> Correlations:
    shown = findings(*texts)
    proposal = Pairing(
        id="P1",
        correlation_type=kind,
        finding_ids=tuple(item.id for item in shown),
        measured=measured,
    )
    return correlate(
        Correlate(
            question="Q?",
            by_type=(TypedFindings(type="log", findings=shown),),
            proposals=(proposal,),
        )
    )


def test_without_proposals_there_is_nothing_to_explain_and_nothing_is_added() -> None:
    shown = findings(DIP, SMOKE)
    assert (
        correlate(
            Correlate(question="Q?", by_type=(TypedFindings(type="log", findings=shown),))
        ).correlations
        == ()
    )


def test_close_in_time_alone_is_chance_unless_they_speak_of_the_same() -> None:
    assert correlated(TEMPORAL, "6 minutes apart", DIP, SMOKE).correlations == ()
    (kept,) = correlated(TEMPORAL, "6 minutes apart", FIRE, SMOKE).correlations
    assert kept.implications == ("They are 6 minutes apart.",)


def test_close_in_time_and_space_is_kept_with_what_was_measured() -> None:
    (kept,) = correlated(TEMPORAL, "6 minutes apart, 0.73 km apart", DIP, SMOKE).correlations
    assert kept.proposal == "P1"
    assert kept.finding_ids == ("F1", "F2")
    assert kept.correlation_type is TEMPORAL
    assert kept.implications == ("They are 6 minutes apart, 0.73 km apart.",)
    assert kept.description == "", "what no source says is not said"


def test_an_order_in_time_is_called_no_proof_of_a_cause() -> None:
    (kept,) = correlated(CAUSAL, "6 minutes apart, 0.73 km apart", DIP, SMOKE).correlations
    assert kept.implications == (ORDER.format("6 minutes apart, 0.73 km apart"),)
    assert kept.confidence == "low"


def test_a_pattern_recurs() -> None:
    (kept,) = correlated(PATTERN, "7 days from one to the next", DIP, SMOKE, FIRE).correlations
    assert kept.implications == (STEADY.format("7 days from one to the next"),)


@pytest.mark.parametrize("kind", [TEMPORAL, CAUSAL, PATTERN])
def test_what_did_not_happen_came_before_nothing(kind: CorrelationKind) -> None:
    assert correlated(kind, "6 minutes apart, 0.73 km apart", NOTHING, SMOKE).correlations == ()
    assert correlated(GEOSPATIAL, "0.73 km apart", NOTHING, SMOKE).correlations != ()
