from __future__ import annotations

from pathlib import Path
from typing import Any

from deepdiver.core.record import Assessment, Hypothesis, HypothesisStatus
from deepdiver.strategies.overwatch.trace import THINKING, add_step, confidence_of
from deepdiver.strategies.shared.hypotheses import standing_of
from tests.strategies.rig import Rig

STATE: dict[str, Any] = {
    "reasoning_trace": [],
    "chain_of_thought": [],
    "current_phase": "analyzing",
    "hypotheses": [],
}


def held(status: HypothesisStatus, posterior: float) -> Assessment:
    made = Hypothesis(id=f"h_{posterior}", statement="S.", supports_if="a", refutes_if="b")
    return Assessment(hypothesis=made, posterior=posterior, status=status, trials=1)


def test_without_hypotheses_nothing_is_believed() -> None:
    assert confidence_of([]) == 0.0
    assert standing_of(STATE) == []


def test_confidence_is_that_of_the_accepted_else_of_the_best_undecided() -> None:
    supported, undecided, refuted = (
        held(HypothesisStatus.SUPPORTED, 0.8),
        held(HypothesisStatus.UNDECIDED, 0.6),
        held(HypothesisStatus.REFUTED, 0.1),
    )
    assert confidence_of([supported, undecided, refuted]) == 0.8
    assert confidence_of([undecided, held(HypothesisStatus.OPEN, 0.65), refuted]) == 0.65
    assert confidence_of([refuted]) == 0.0


def test_a_step_is_in_the_state_and_announced(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    better = [held(HypothesisStatus.SUPPORTED, 0.8).model_dump(mode="json")]
    update = add_step(
        STATE,
        deps,
        "why",
        "what",
        "seen",
        {"current_phase": "reflecting", "hypotheses": better},
        "hm",
    )
    (entry,) = update["reasoning_trace"]
    assert entry == {
        "step_number": 1,
        "phase": "analyzing",
        "thought": "why",
        "action": "what",
        "observation": "seen",
        "conclusion": "on to reflecting",
        "confidence": 0.8,
        "timestamp": rig.run.created,
    }
    assert update["chain_of_thought"] == ["hm"]
    assert update["reasoning_depth"] == 1
    (event,) = [event for event in rig.events if event.type == "reasoned"]
    assert (event.step_number, event.thinking, event.confidence) == (1, "hm", 0.8)


def test_steps_are_numbered_and_a_node_without_a_thought_adds_none(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    first = add_step(STATE, deps, "a", "b", "c", {"current_phase": "x"}, "t" * (2 * THINKING))
    second = add_step({**STATE, **first}, deps, "a", "b", "c", {"current_phase": "y"})
    assert [entry["step_number"] for entry in second["reasoning_trace"]] == [1, 2]
    assert [len(text) for text in second["chain_of_thought"]] == [THINKING]
    assert second["reasoning_trace"][1]["phase"] == "x"
