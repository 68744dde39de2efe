"""Deciding whether another round is worth it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from deepdiver.tasks.record_views import HypothesisStanding
from deepdiver.tasks.task import Answer, Prompt, Role, Task
from deepdiver.tasks.tolerance import REASON, Also, Means


class Decision(Answer):
    """How to go on."""

    decision: Annotated[
        Literal["continue", "finish"],
        Also("action", "next_action", "next_step", "choice"),
        Means(
            **{"continue": ("iterate", "go on", "keep going", "proceed")},
            finish=("stop", "end", "done", "conclude", "complete"),
        ),
    ]
    """Another round, or the answer."""
    reason: Annotated[str, REASON] = ""
    """Why."""
    gaps: Annotated[
        tuple[Annotated[str, Also("gap", "question")], ...],
        Also("knowledge_gaps", "remaining_gaps", "missing", "missing_information"),
    ] = ()
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

    def prompt(self) -> Prompt:
        """Return the prompt; of the hypotheses it has the claims and where they stand."""
        told = tuple(item.briefly() for item in self.standing)
        return super(Decide, self.model_copy(update={"standing": told})).prompt()
