"""Deciding whether another round is worth it."""

from __future__ import annotations

from typing import ClassVar, Literal

from deepdiver.tasks.record_views import HypothesisStanding
from deepdiver.tasks.task import Answer, Role, Task


class Decision(Answer):
    """How to go on."""

    decision: Literal["continue", "finish"]
    """Another round, or the answer."""
    reason: str = ""
    """Why."""
    gaps: tuple[str, ...] = ()
    """What is still missing, each as a question that a search could answer."""


class Decide(Task[Decision]):
    """Weigh quality, gaps and diminishing returns, and decide."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    problems: tuple[str, ...]
    """The sub-problems."""
    standing: tuple[HypothesisStanding, ...]
    """The hypotheses and where they stand."""
    findings: int
    """How many findings there are."""
    new_findings: int
    """How many of them the last round brought."""
    iteration: int
    """The round that has just ended."""
    max_iterations: int
    """The hard stop."""
    limits: tuple[str, ...] = ()
    """What could not be searched or read."""
    guidance: str = ""
    """The person's own instructions."""
