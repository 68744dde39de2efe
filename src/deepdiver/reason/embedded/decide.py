"""Decides on another round by what is open and what the last round found, never by a threshold."""

from __future__ import annotations

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.steps import has_steps
from deepdiver.tasks import Decide, Decision

MOST_GAPS = 3


def decide(task: Decide) -> Decision:
    """Continue while something is open and the last round still found something new."""
    by_status = {
        status: [s for s in task.standing if s.status is status] for status in HypothesisStatus
    }
    supported, undecided = (
        by_status[HypothesisStatus.SUPPORTED],
        by_status[HypothesisStatus.UNDECIDED],
    )
    if task.iteration >= task.max_iterations:
        return Decision(decision="finish", reason="the last allowed round has ended")
    if by_status[HypothesisStatus.OPEN]:
        return Decision(decision="continue", reason="a hypothesis has not been tested yet")
    if task.new_findings == 0:
        return Decision(decision="finish", reason="the last round brought nothing new")
    if task.findings and not has_steps(task.question):
        return Decision(decision="finish", reason="the same words would find the same passages")
    if not task.standing:
        reason = (
            "the findings allow no hypothesis yet"
            if task.findings
            else "nothing has been found yet"
        )
        return Decision(decision="continue", reason=reason, gaps=_gaps(task))
    if not supported and not undecided:
        return Decision(
            decision="continue", reason="every hypothesis has been refuted", gaps=_gaps(task)
        )
    if not supported:
        return Decision(
            decision="continue", reason="no hypothesis is supported yet", gaps=_gaps(task)
        )
    return Decision(
        decision="finish",
        reason="what is asked has a supported answer, and further searches repeat themselves",
    )


def _gaps(task: Decide) -> tuple[str, ...]:
    """Return the last sub-problems, because those before them are answered first."""
    return (task.problems or (task.question,))[-MOST_GAPS:]
