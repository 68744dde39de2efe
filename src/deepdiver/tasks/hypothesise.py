"""Proposing rival hypotheses, each of which could turn out to be wrong."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from deepdiver.tasks.query import ToolQuery
from deepdiver.tasks.record_views import HypothesisStanding, RecalledRun, ShownFinding, ShownTool
from deepdiver.tasks.task import Answer, Role, Task
from deepdiver.tasks.tolerance import Also


class Proposed(Answer):
    """A hypothesis as the reasoner puts it forward."""

    statement: str
    """What it claims, in one sentence that could be false."""
    answer: str = ""
    """The short answer to the question if it is true."""
    supports_if: Annotated[str, Also("supporting_evidence_criteria", "supporting_evidence")]
    """What one would see if it were true."""
    refutes_if: Annotated[str, Also("refuting_evidence_criteria", "refuting_evidence")]
    """What one would see if it were false; never empty."""
    prior: Annotated[
        float, Field(ge=0.05, le=0.95), Also("initial_confidence", "prior_confidence", "confidence")
    ] = 0.5
    """Belief before any test."""
    findings: tuple[str, ...] = ()
    """Labels of the findings it is made from."""
    test_queries: Annotated[tuple[ToolQuery, ...], Field(max_length=4)] = ()
    """What to ask the tools that are shown, to test it; empty where none are."""


class HypothesisSet(Answer):
    """Hypotheses that compete."""

    hypotheses: Annotated[tuple[Proposed, ...], Field(max_length=8)]
    """The rivals, the likeliest first. Empty where the findings allow none."""
    reasoning_chain: Annotated[tuple[str, ...], Field(max_length=12)] = ()
    """The way to them, a sentence for each step."""


class Hypothesise(Task[HypothesisSet]):
    """Put forward rival answers, each with what would refute it."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    context: str = ""
    """What the person says about the task besides, as JSON."""
    problems: tuple[str, ...]
    """The sub-problems."""
    findings: tuple[ShownFinding, ...]
    """What has been found."""
    standing: tuple[HypothesisStanding, ...] = ()
    """Hypotheses of earlier rounds and where they stand: do not repeat them; learn from those that
    were refuted."""
    gaps: tuple[str, ...] = ()
    """What was missing at the end of the last round."""
    guidance: str = ""
    """The person's own instructions."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question: hints to be tested anew, never evidence."""
    tools: tuple[ShownTool, ...] = ()
    """What can be asked to test a hypothesis, where the strategy has tools."""
    limit: int = 4
    """The most hypotheses wanted."""
