"""The reasoning trace: thought, action, observation, conclusion and confidence of each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepdiver.core import belief
from deepdiver.core.events import Reasoned
from deepdiver.core.record import Assessment, HypothesisStatus
from deepdiver.strategies.shared.base import Deps, State, Update
from deepdiver.strategies.shared.hypotheses import standing_of

THINKING = 2_000
"""Characters of a thought that the state keeps; the events have all of it."""


def confidence_of(standing: Sequence[Assessment]) -> float:
    """Return the belief in the answer so far, computed from the evidence."""
    by_status = {
        status: [a.posterior for a in standing if a.status is status] for status in HypothesisStatus
    }
    undecided = [*by_status[HypothesisStatus.UNDECIDED], *by_status[HypothesisStatus.OPEN]]
    return round(belief.confidence(by_status[HypothesisStatus.SUPPORTED], undecided), 4)


def _conclude(phase: str) -> str:
    return "the research is complete" if phase == "complete" else f"on to {phase}"


def add_step(
    state: State,
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
        thought: What the step was to find out.
        action: What it did.
        observation: What it found.
        update: The node's changes to the state; its phase is the conclusion.
        thinking: The reasoner's own thoughts.
    """
    entry: dict[str, Any] = {
        "step_number": len(state["reasoning_trace"]) + 1,
        "phase": state["current_phase"],
        "thought": thought,
        "action": action,
        "observation": observation,
        "conclusion": _conclude(update["current_phase"]),
        "confidence": confidence_of(standing_of({**state, **update})),
    }
    deps.emit(Reasoned(**entry, thinking=thinking))
    thoughts = (
        [*state["chain_of_thought"], thinking[:THINKING]] if thinking else state["chain_of_thought"]
    )
    # The time is the run's, so that a replay has the same states. The events have the real time.
    trace = [*state["reasoning_trace"], {**entry, "timestamp": deps.run.created}]
    return {
        **update,
        "reasoning_trace": trace,
        "reasoning_depth": len(trace),
        "chain_of_thought": thoughts,
    }
