"""Verdicts on conclusions: the verifier sees each of them, and a verdict can only take away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.core.record import HypothesisStatus, Verdict, VerdictKind
from deepdiver.errors import ReasonError
from deepdiver.strategies.overwatch import analyse, correlate
from deepdiver.strategies.overwatch.execute import make_searches
from deepdiver.strategies.overwatch.gather import take_turn
from deepdiver.strategies.overwatch.synthesise import make_sections
from deepdiver.strategies.overwatch.verify import (
    NO_VERIFICATION,
    NOT_VERIFIED,
    SILENT,
    apply_verdicts,
    mark_of,
    may_report,
    verify,
)
from deepdiver.strategies.shared.base import Deps
from deepdiver.strategies.shared.summary import lines_of
from deepdiver.tasks.tolerance import TOLERANT
from tests.strategies.overwatch.test_analyse import STATE as ANALYSED
from tests.strategies.overwatch.test_analyse import assessed
from tests.strategies.overwatch.test_correlate import CORPUS
from tests.strategies.rig import CorpusProvider, Rig, ScriptedReasoner

STATE: dict[str, Any] = {
    **ANALYSED,
    "verification_results": [],
    "contradictions": [],
    "reasoning_trace": [{}] * 7,
    "error": "",
}
PASS, ADJUST, FLAG, REJECT = VerdictKind


def result(
    key: str, verdict: VerdictKind, stated: float = 0.8, kind: str = "insight"
) -> dict[str, Any]:
    told = {
        "conclusion": key,
        "kind": kind,
        "text": f"Text of {key}.",
        "verdict": verdict.value,
        "reason": "why",
    }
    return {**told, "confidence": 0.8, "stated_confidence": stated, "reasoner_confidence": None}


async def concluded(tmp_path: Path, **rules: Any) -> tuple[Rig, Deps, dict[str, Any]]:
    """Gather, analyse and correlate."""
    rig = Rig(tmp_path, ScriptedReasoner(**rules), CorpusProvider(CORPUS))
    deps = rig.session().deps
    state = {
        **STATE,
        **await take_turn(STATE, deps, make_searches(["voltage smoke harbour"], "x", "y")),
    }
    state |= (await analyse.analyse(state, deps))[0]
    state["correlations"] = (
        await correlate.correlate(deps, "Q?", state["findings"], [])
    ).correlations
    return rig, deps, state


# -- verifying


async def test_without_conclusions_nobody_is_asked(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    update, ready, told, _ = await verify(STATE, rig.session().deps)
    assert (ready, told, update["verification_results"]) == (True, "", [])
    assert rig.reasoner.asked == []


async def test_a_verification_that_failed_verifies_nothing_and_lets_it_go_on(
    tmp_path: Path,
) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("no")

    rig, deps, state = await concluded(tmp_path, verify_conclusions=fail)
    update, ready, *_ = await verify(state, deps)
    (decided,) = rig.of(Decided)
    assert decided.by == "rule"
    assert decided.reason.startswith(NO_VERIFICATION)
    assert ready
    assert update == {
        "verification_results": [],
        "verified_insights": [],
        "verified_correlations": [],
    }
    told = make_sections(deps, state)
    assert {line.mark for line in told[0].sentences} == {NOT_VERIFIED}


async def test_every_conclusion_is_shown_with_its_findings_and_what_was_measured(
    tmp_path: Path,
) -> None:
    rig, deps, state = await concluded(tmp_path)
    supported = assessed(HypothesisStatus.SUPPORTED, 0.8)
    others = [
        assessed(HypothesisStatus.REFUTED, 0.1, "h_2"),
        assessed(HypothesisStatus.OPEN, 0.6, "h_3"),
    ]
    state["hypotheses"] = [item.model_dump(mode="json") for item in (supported, *others)]
    update, ready, told, _ = await verify(state, deps)
    (task,) = rig.reasoner.of(tasks.VerifyConclusions)
    kinds = [item.kind for item in task.conclusions]
    assert kinds.count("hypothesis") == 1, "only what is about to be reported as so is a conclusion"
    assert kinds.count("insight") == len(state["key_insights"])
    assert {"temporal", "geospatial", "causal"} <= set(kinds)
    temporal = next(item for item in task.conclusions if item.kind == "temporal")
    assert temporal.measured == "6 minutes apart, 0.73 km apart"
    labels = {item.id for item in task.findings}
    assert all(set(item.finding_ids) <= labels for item in task.conclusions)
    assert ready
    assert told == f"{len(task.conclusions)} PASS"
    assert update["verified_insights"] == state["key_insights"]
    assert all(
        isinstance(deps.ledger.get(Verdict, entry.id), Verdict)
        for entry in deps.ledger.of(Verdict).values()
    )
    assert len(deps.ledger.of(Verdict)) == len(task.conclusions)


async def test_verdicts_decide_what_is_reported_and_what_is_left_out_is_flagged(
    tmp_path: Path,
) -> None:
    def judge(task: tasks.VerifyConclusions) -> tasks.Verifications:
        given = [
            tasks.Verification(id="I1", verdict=REJECT, reason="no"),
            tasks.Verification(id="I2", verdict=ADJUST, reason="less", adjusted_confidence=0.4),
            tasks.Verification(id="Z9", verdict=REJECT, reason="of nothing"),
        ]
        return tasks.Verifications(
            verifications=tuple(given), ready_for_synthesis=False, reason="think again"
        )

    _, deps, state = await concluded(tmp_path, verify_conclusions=judge)
    update, ready, told, _ = await verify(state, deps)
    assert not ready
    assert told.endswith("not ready: think again")
    first, second, third = lines_of(state["insights"])
    assert update["verified_insights"] == [second.text, third.text]
    state |= update
    results = state["verification_results"]
    assert not may_report(results, analyse.insight_id_of(first))
    assert (
        mark_of(results, analyse.insight_id_of(second))
        == "confidence 0.40 after verification: less"
    )
    assert mark_of(results, analyse.insight_id_of(third)) == f"flagged: {SILENT}"
    insights = next(
        section for section in make_sections(deps, state) if section.heading == "Key insights"
    )
    assert [line.text for line in insights.sentences] == [second.text, third.text]


async def test_conclusions_may_be_named_in_their_words_and_the_sterner_verdict_counts(
    tmp_path: Path,
) -> None:
    def judge(task: tasks.VerifyConclusions) -> tasks.Verifications:
        first, second, third = (item for item in task.conclusions if item.kind == "insight")
        said = {
            "verification_results": [
                {"conclusion": first.text, "status": "reject", "issues": ["nobody says so"]},
                {"conclusion_id": "insight 2", "verdict": "pass"},
                {"id": second.id, "verdict": "Flag", "explanation": "one source"},
                {"id": third.id.lower(), "result": "PASS"},
            ],
            "overall": {"ready_for_synthesis": False, "summary": "think again"},
        }
        return tasks.Verifications.model_validate(said, context=TOLERANT).keep_thought("Hm.")

    _, deps, state = await concluded(tmp_path, verify_conclusions=judge)
    update, ready, told, thoughts = await verify(state, deps)
    by_text = {item["text"]: item for item in update["verification_results"]}
    outcomes = [
        (by_text[line.text]["verdict"], by_text[line.text]["reason"])
        for line in lines_of(state["insights"])
    ]
    assert outcomes == [
        ("REJECT", "nobody says so"),
        ("FLAG", "one source"),
        ("PASS", "no reason was given"),
    ]
    assert not ready
    assert told.endswith("not ready: think again")
    assert thoughts == "Hm."


# -- what a verdict makes of a hypothesis


@pytest.mark.parametrize(
    ("verdict", "stated", "left"),
    [
        (PASS, 0.8, (0.8, HypothesisStatus.SUPPORTED)),
        (FLAG, 0.8, (0.8, HypothesisStatus.SUPPORTED)),
        (ADJUST, 0.75, (0.75, HypothesisStatus.SUPPORTED)),
        (ADJUST, 0.4, (0.4, HypothesisStatus.UNDECIDED)),
        (ADJUST, 0.0, (0.0, HypothesisStatus.UNDECIDED)),
        (ADJUST, 0.95, (0.8, HypothesisStatus.SUPPORTED)),
        (REJECT, 0.8, None),
    ],
)
def test_a_verdict_takes_away_and_gives_nothing(
    verdict: VerdictKind, stated: float, left: tuple[float, HypothesisStatus] | None
) -> None:
    kept = apply_verdicts(
        [assessed(HypothesisStatus.SUPPORTED, 0.8)], [result("h_1", verdict, stated, "hypothesis")]
    )
    assert [(item.posterior, item.status) for item in kept] == ([left] if left else [])


def test_what_was_not_verified_stays_as_it_stands() -> None:
    refuted = assessed(HypothesisStatus.REFUTED, 0.1)
    assert apply_verdicts([refuted], []) == [refuted]
    assert mark_of([], "h_1") == NOT_VERIFIED
    assert mark_of([result("h_1", PASS)], "h_1") == ""
