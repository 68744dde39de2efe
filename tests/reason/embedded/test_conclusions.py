"""A conclusion passes if its quotes carry it and its times and places are known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.core.record import VerdictKind
from deepdiver.reason.embedded.conclusions import (
    AGAINST,
    ALL_REJECTED,
    BACKWARDS,
    CONTESTED,
    HOLDS,
    NOTHING,
    ORDER_ONLY,
    OTHERWISE,
    PARTLY,
    TOO_FEW,
    WEAK,
    WHEN,
    WHERE,
    verify_conclusions,
)
from deepdiver.tasks import Conclusion, ShownFinding, Verification, Verifications, VerifyConclusions
from tests.reason.embedded.shown import findings

SMOKE = "Harbour guard reports smoke from the ferry Ejdervik."
NO_SMOKE = "Harbour guard reports no smoke from the ferry Ejdervik."
PASS, ADJUST, FLAG, REJECT = VerdictKind


def verified(shown: tuple[ShownFinding, ...], *conclusions: Conclusion) -> Verifications:
    return verify_conclusions(
        VerifyConclusions(question="Q?", findings=shown, conclusions=conclusions)
    )


def one(shown: tuple[ShownFinding, ...], kind: Any, text: str = SMOKE, **more: Any) -> Verification:
    labels = more.pop("finding_ids", tuple(item.id for item in shown))
    made = Conclusion(
        id="X1", kind=kind, text=text, **{"confidence": 0.8, "finding_ids": labels, **more}
    )
    return verified(shown, made).verifications[0]


def at(
    shown: tuple[ShownFinding, ...], *whens: str, where: str = "63.2, 19.1"
) -> tuple[ShownFinding, ...]:
    return tuple(
        item.model_copy(update={"when": w, "where": where})
        for item, w in zip(shown, whens, strict=True)
    )


def test_nothing_to_verify_is_ready() -> None:
    assert verified(()) == Verifications(verifications=())


@pytest.mark.parametrize("kind", ["insight", "hypothesis", "temporal", "causal"])
def test_what_no_shown_finding_carries_is_rejected(kind: str) -> None:
    said = one(findings(SMOKE), kind, finding_ids=("F9",))
    assert (said.verdict, said.reason) == (REJECT, NOTHING)


def test_an_insight_that_its_quotes_do_not_hold_is_rejected() -> None:
    assert (
        one(findings(SMOKE), "insight", "Nine people were injured on the ferry Ejdervik.").verdict
        is REJECT
    )
    held = one(findings(SMOKE), "insight")
    assert (held.verdict, held.reason) == (PASS, HOLDS)


def test_an_insight_that_goes_further_than_its_quotes_is_flagged() -> None:
    said = one(
        findings(SMOKE), "insight", "Harbour guard reports thick smoke from the ferry Ejdervik."
    )
    assert (said.verdict, said.reason) == (FLAG, PARTLY)


def test_an_insight_that_another_finding_denies_is_flagged() -> None:
    said = one(findings(SMOKE, NO_SMOKE), "insight", finding_ids=("F1",))
    assert (said.verdict, said.reason) == (FLAG, OTHERWISE)


def test_an_insight_of_a_weak_source_is_flagged() -> None:
    said = one(findings(SMOKE), "insight", confidence=0.6)
    assert (said.verdict, said.reason) == (FLAG, WEAK)


def test_what_a_source_speaks_against_is_not_almost_certain() -> None:
    said = one(
        findings(SMOKE, NO_SMOKE),
        "hypothesis",
        finding_ids=("F1",),
        against=("F2",),
        confidence=0.97,
    )
    assert (said.verdict, said.reason, said.adjusted_confidence) == (ADJUST, AGAINST, CONTESTED)
    assert one(findings(SMOKE), "hypothesis", confidence=0.97).verdict is PASS


def test_a_hypothesis_is_not_rejected_for_its_words_alone() -> None:
    assert one(findings(SMOKE), "hypothesis", "Something burnt.").verdict is PASS, (
        "the evidence was weighed elsewhere"
    )


def test_a_correlation_in_time_needs_the_times_of_all() -> None:
    pair = findings(SMOKE, "The lights dim.")
    assert one(at(pair, "2026-02-08T04:41Z", "2026-02-08T04:47Z"), "temporal").verdict is PASS
    said = one(at(pair, "2026-02-08T04:41Z", ""), "temporal")
    assert (said.verdict, said.reason) == (FLAG, WHEN)


def test_a_correlation_in_space_needs_the_places_of_all() -> None:
    pair = findings(SMOKE, "The lights dim.")
    assert one(at(pair, "", ""), "geospatial").verdict is PASS
    said = one(at(pair, "", "", where=""), "geospatial")
    assert (said.verdict, said.reason) == (FLAG, WHERE)


def test_a_cause_comes_first_and_needs_more_than_that() -> None:
    pair = findings("The lights dim.", SMOKE)
    said = one(at(pair, "2026-02-08T04:41Z", "2026-02-08T04:47Z"), "causal")
    assert (said.verdict, said.reason) == (FLAG, ORDER_ONLY)
    said = one(at(pair, "2026-02-08T04:48Z", "2026-02-08T04:47Z"), "causal")
    assert (said.verdict, said.reason) == (REJECT, BACKWARDS)
    told = findings("The lights dim.", "The fire was caused by an overheated connector.")
    assert one(at(told, "2026-02-08T04:41Z", "2026-02-08T04:47Z"), "causal").verdict is PASS


def test_two_events_are_no_pattern() -> None:
    days = ("2026-02-01", "2026-02-08", "2026-02-15")
    three = at(findings("a", "b", "c"), *days)
    assert one(three, "pattern").verdict is PASS
    said = one(three, "pattern", finding_ids=("F1", "F2"))
    assert (said.verdict, said.reason) == (FLAG, TOO_FEW)


def test_it_is_not_ready_only_where_nothing_holds() -> None:
    shown = findings(SMOKE)
    good = Conclusion(id="I1", kind="insight", text=SMOKE, confidence=0.8, finding_ids=("F1",))
    bad = good.model_copy(update={"id": "I2", "finding_ids": ("F9",)})
    assert verified(shown, good, bad).ready_for_synthesis
    said = verified(shown, bad)
    assert not said.ready_for_synthesis
    assert said.reason == ALL_REJECTED


@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=40), st.floats(0, 1))
def test_every_conclusion_has_one_verdict_whatever_it_says(
    texts: list[str], text: str, sure: float
) -> None:
    shown = findings(*texts)
    kinds: tuple[Any, ...] = (
        "insight",
        "hypothesis",
        "temporal",
        "geospatial",
        "causal",
        "pattern",
    )
    made = [
        Conclusion(
            id=f"X{n}",
            kind=kind,
            text=text,
            confidence=sure,
            finding_ids=tuple(item.id for item in shown),
        )
        for n, kind in enumerate(kinds)
    ]
    said = verified(shown, *made)
    assert [item.id for item in said.verifications] == [item.id for item in made]
    assert said == verified(shown, *made)
