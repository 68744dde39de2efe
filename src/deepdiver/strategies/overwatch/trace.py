"""The reasoning trace.

What was thought, done, seen and concluded at each step, and how sure the answer was then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deepdiver.core import belief
from deepdiver.core.events import Reasoned
from deepdiver.core.record import Assessment, HypothesisStatus
from deepdiver.strategies.shared.base import Deps, Update

THINKING = 2_000
"""Characters of a thought that the state keeps; the events have it whole."""


def standing_of(state: Mapping[str, Any]) -> list[Assessment]:
    """Return the hypotheses of a state as they stand."""
    return [Assessment.model_validate(item) for item in state["hypotheses"]]


def confidence_of(standing: Sequence[Assessment]) -> float:
    """Return belief in the answer so far, computed from the evidence."""
    by_status = {
        status: [a.posterior for a in standing if a.status is status] for status in HypothesisStatus
    }
    undecided = [*by_status[HypothesisStatus.UNDECIDED], *by_status[HypothesisStatus.OPEN]]
    return round(belief.confidence(by_status[HypothesisStatus.SUPPORTED], undecided), 4)


def add_step(
    state: Mapping[str, Any],
    deps: Deps,
    thought: str,
    action: str,
    observation: str,
    update: Update,
    thinking: str = "",
) -> Update:
    """Return a node's update with its step of the trace, and announce the step.

    Args:
        state: The state before the node.
        deps: The run's dependencies.
        thought: What was to be found out.
        action: What was done.
        observation: What came of it.
        update: What the node changes; its phase is the conclusion.
        thinking: What the reasoner thought aloud.
    """
    entry: dict[str, Any] = {
        "step_number": len(state["reasoning_trace"]) + 1,
        "phase": state["current_phase"],
        "thought": thought,
        "action": action,
        "observation": observation,
        "conclusion": f"on to {update['current_phase']}",
        "confidence": confidence_of(standing_of({**state, **update})),
    }
    deps.emit(Reasoned(**entry, thinking=thinking))
    thoughts = (
        [*state["chain_of_thought"], thinking[:THINKING]] if thinking else state["chain_of_thought"]
    )
    # The time is the run's: a replay walks the same states. When a step really was made stands in
    # the events.
    trace = [*state["reasoning_trace"], {**entry, "timestamp": deps.run.created}]
    return {
        **update,
        "reasoning_trace": trace,
        "reasoning_depth": len(trace),
        "chain_of_thought": thoughts,
    }
