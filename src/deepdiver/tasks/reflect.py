"""Looking back at what was found: what is missing, what was overlooked, whether it is enough."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from deepdiver.tasks.query import Query, ToolQuery, calls_besides
from deepdiver.tasks.record_views import HypothesisStanding, RecalledRun, ShownTool
from deepdiver.tasks.task import Answer, Prompt, Role, Task
from deepdiver.tasks.tolerance import REASON, Also, Opposite


class Note(Answer):
    """One critical remark."""

    category: Literal["bias", "gap", "alternative", "calibration", "consistency"]
    """bias: evidence was favoured, or first or striking findings weigh too much; gap: something was
    not looked for; alternative: another explanation was not considered; calibration: confidence is
    too high or too low; consistency: two conclusions contradict each other."""
    text: Annotated[
        str,
        Also(
            "note",
            "remark",
            "observation",
            "description",
            "issue",
            "finding",
            "content",
            "reflection",
        ),
    ]
    """What is wrong, in one sentence."""
    critical: Annotated[
        bool, Also("critical_action_required", "is_critical", "action_required", "severity")
    ] = False
    """Whether the analysis must be done again because of it."""


class Reflection(Answer):
    """What looking back brought."""

    notes: Annotated[
        tuple[Note, ...], Field(max_length=10), Also("reflection_notes", "reflections")
    ] = ()
    """Critical remarks."""
    missing: Annotated[
        tuple[Annotated[str, Also("question", "gap", "missing")], ...],
        Field(max_length=6),
        Also("knowledge_gap", "knowledge_gaps", "gap", "gaps", "missing_information"),
    ] = ()
    """What the question asks and what is known does not answer, each as a question that a search
    could answer."""
    queries: Annotated[
        tuple[Query, ...],
        Field(max_length=6),
        Also("query", "follow_up_query", "follow_up_queries", "next_query", "search_queries"),
    ] = ()
    """Searches that would bring what is missing, in the same order; none that was made before."""
    investigation_queries: Annotated[tuple[ToolQuery, ...], Field(max_length=6)] = ()
    """Where tools are shown: calls of them that would bring what is missing."""
    sufficient: Annotated[
        bool,
        Also("is_sufficient", "enough", "complete", "is_complete"),
        Opposite("needs_investigation", "needs_more_reflection", "needs_more_investigation"),
    ]
    """Whether what is known answers every part of the question, from sources that can be relied on.
    """
    reason: Annotated[str, REASON] = ""
    """Why, in one sentence."""


class Reflect(Task[Reflection]):
    """Look back critically.

    Bias, gaps, alternatives, calibration, consistency; and what to look for next.
    """

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    problems: tuple[str, ...] = ()
    """The parts of the question."""
    known: tuple[str, ...] = ()
    """What is known so far: the running summary, or the insights."""
    standing: tuple[HypothesisStanding, ...] = ()
    """Hypotheses and where they stand, if there are any."""
    uncertainties: tuple[str, ...] = ()
    """What is known to be uncertain, such as what rests on one weak source."""
    correlations: tuple[str, ...] = ()
    """What was found to go together in time and space, as cause or as pattern, if it was looked
    for."""
    tools: tuple[ShownTool, ...] = ()
    """What may be asked besides searches, where the strategy has tools."""
    tried: tuple[str, ...] = ()
    """Searches that were made; do not repeat them."""
    iteration: int
    """The round that has just ended."""
    minimum: int = 1
    """Rounds that are made whatever this says."""
    max_iterations: int
    """The hard stop."""
    limits: tuple[str, ...] = ()
    """What could not be searched or read."""
    guidance: str = ""
    """The person's own instructions."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question: hints, never evidence."""
    limit: int = 3
    """The most queries wanted."""

    def prompt(self) -> Prompt:
        """Return the prompt, in which what is known and uncertain is said once, as uncertain.

        Of the hypotheses it has the claims and where they stand: no finding is shown.
        """
        sure = tuple(text for text in self.known if text not in self.uncertainties)
        shown = {
            "known": sure,
            "standing": tuple(item.briefly() for item in self.standing),
            "tools": calls_besides(self.tools),
        }
        return super(Reflect, self.model_copy(update=shown)).prompt()

    def unasked(self) -> frozenset[str]:
        """Return the calls of tools, if there are none, and remarks that nobody would act on.

        A running summary is searched for contradictions in the rounds that are made in any case.
        """
        tools = set() if self.tools else {"Reflection.investigation_queries"}
        return frozenset(
            tools | ({"Reflection.notes"} if 1 < self.minimum <= self.iteration else set())
        )
