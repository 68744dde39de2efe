"""Analysing what was gathered: what the findings show, and how they fit in time and space."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from deepdiver.core.record import CorrelationKind
from deepdiver.tasks.query import Query, ToolQuery, calls_besides
from deepdiver.tasks.record_views import HypothesisStanding, ShownFinding, ShownTool
from deepdiver.tasks.task import Answer, Prompt, Role, Task, View
from deepdiver.tasks.tolerance import Also, Label


class SummaryLine(View):
    """A line of a summary: a statement, or an insight."""

    id: str
    """Label to refer to it by."""
    text: str
    """What it says."""


class KeyInsight(Answer):
    """What findings show, together or alone."""

    statement: Annotated[str, Also("insight", "text", "description")]
    """What they show, in one sentence that can be understood alone."""
    finding_ids: Annotated[
        tuple[Label, ...], Also("findings", "supporting_findings", "evidence")
    ] = ()
    """Labels of the findings that carry it; an insight that no finding carries is not taken."""


class Implication(Answer):
    """What the findings mean for a hypothesis."""

    hypothesis_id: Annotated[str, Also("hypothesis", "id")]
    """Label of the hypothesis."""
    evidence_type: Annotated[
        Literal["supporting", "refuting", "neutral"], Also("type", "stance", "direction")
    ]
    """Which way they point. Where that is the contrary of where the hypothesis stands, it counts as
    an uncertainty."""
    explanation: Annotated[SkipJsonSchema[str], Also("reason", "reasoning")] = ""
    """Why, from a reasoner that says so. Nobody is asked for it: judging says why for each finding.
    """


class Correlated(Answer):
    """Findings that go together."""

    finding_ids: Annotated[tuple[Label, ...], Also("findings")]
    """Labels of the findings."""
    correlation_type: Annotated[CorrelationKind, Also("type", "kind")]
    """temporal: close in time; geospatial: close in space; causal: one may have brought about the
    other; pattern: the same shape in different data."""
    description: str
    """What connects them, in one sentence that says no more than the findings do."""
    confidence: Literal["high", "medium", "low"] = "medium"
    """How sure you are. It is kept beside what is computed from the sources."""
    implications: tuple[str, ...] = ()
    """What follows if it is so."""
    proposal: str = ""
    """Label of the measured proposal that this explains; empty where it is your own."""


class FindingsAnalysis(Answer):
    """What the findings show."""

    thinking: Annotated[str, Also("reasoning", "chain_of_thought")] = ""
    """The way from the findings to the insights, step by step."""
    key_insights: Annotated[tuple[KeyInsight, ...], Field(max_length=40), Also("insights")]
    """The most important first; empty where the findings show nothing."""
    hypothesis_implications: Annotated[tuple[Implication, ...], Field(max_length=20)] = ()
    """How the findings bear on the hypotheses."""
    correlations: Annotated[tuple[Correlated, ...], Field(max_length=20)] = ()
    """Causal ones and patterns that are seen already, from a reasoner that tells them unasked."""
    uncertainties: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    """What rests on one source, what sources contradict each other in, what could not be found out:
    the reader of the report is told."""
    follow_up_queries: Annotated[tuple[ToolQuery, ...], Field(max_length=10), Also("queries")] = ()
    """What to ask the tools next; empty where nothing would help."""
    searches: Annotated[tuple[Query, ...], Field(max_length=10), Also("search_queries")] = ()
    """What to search for next: short lines of content words and names; empty where nothing would
    help."""


class Analyse(Task[FindingsAnalysis]):
    """Say what the findings show, what is uncertain, and what to ask next."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...] = ()
    """The sub-tasks."""
    standing: tuple[HypothesisStanding, ...] = ()
    """The hypotheses and where they stand."""
    insights: tuple[SummaryLine, ...] = ()
    """The insights so far; do not repeat them."""
    findings: tuple[ShownFinding, ...] = ()
    """What was gathered since the last analysis."""
    reports: tuple[str, ...] = ()
    """Tools that failed, and tools that had no data."""
    notes: tuple[str, ...] = ()
    """Critical remarks on the last analysis, to be met by this one."""
    uncertainties: tuple[str, ...] = ()
    """What was uncertain so far; say again what still is."""
    tools: tuple[ShownTool, ...] = ()
    """What may be asked for in a follow-up query; nothing else may."""
    tried: tuple[str, ...] = ()
    """What was asked before; do not repeat it."""
    guidance: str = ""
    """The person's own instructions."""
    limit: int = 5
    """The most follow-up queries wanted."""

    def prompt(self) -> Prompt:
        """Return the prompt, with the tools that are called by name.

        Of the hypotheses it has the claims and where they stand: what would refute them was asked
        when they were put forward.
        """
        shown = {
            "standing": tuple(item.briefly() for item in self.standing),
            "tools": calls_besides(self.tools),
        }
        return super(Analyse, self.model_copy(update=shown)).prompt()

    def unasked(self) -> frozenset[str]:
        """Return what nobody waits for: correlations have a task of their own (`Correlate`)."""
        asked = {
            "correlations": False,
            "hypothesis_implications": self.standing,
            "follow_up_queries": calls_besides(self.tools),
        }
        return frozenset(f"FindingsAnalysis.{name}" for name, wanted in asked.items() if not wanted)


class TypedFindings(View):
    """Findings of one type of source."""

    type: str
    """Which type."""
    findings: tuple[ShownFinding, ...]
    """What was found there."""


class Pairing(View):
    """Findings that arithmetic has found to be close."""

    id: str
    """Label to refer to it by."""
    correlation_type: CorrelationKind
    """In what way."""
    finding_ids: tuple[str, ...]
    """Labels of the findings; of a causal one and of a pattern in the order of time."""
    measured: str
    """How close they are."""


class Correlations(Answer):
    """What goes together."""

    correlations: Annotated[tuple[Correlated, ...], Field(max_length=20)]
    """One for each proposal that holds, and causal ones or patterns of your own."""


class Correlate(Task[Correlations]):
    """Explain what goes together in time, in space, as cause or as pattern."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    by_type: tuple[TypedFindings, ...]
    """The findings, by type of source."""
    proposals: tuple[Pairing, ...] = ()
    """What was measured to be close: explain it, or leave it out where it is chance."""
    guidance: str = ""
    """The person's own instructions."""
