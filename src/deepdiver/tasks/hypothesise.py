"""Proposing rival hypotheses, each of which could turn out to be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from deepdiver.core.record import HypothesisStatus
from deepdiver.tasks.query import Query, ToolQuery, calls_besides
from deepdiver.tasks.record_views import HypothesisStanding, RecalledRun, ShownFinding, ShownTool
from deepdiver.tasks.task import Answer, Prompt, Role, Task, View
from deepdiver.tasks.tolerance import Also, Label


class Proposed(Answer):
    """A hypothesis as the reasoner puts it forward."""

    statement: Annotated[str, Also("hypothesis", "claim", "text", "description")]
    """What it claims, in one sentence that could be false."""
    answer: Annotated[str, Also("short_answer")] = ""
    """The short answer to the question if it is true."""
    supports_if: Annotated[
        str,
        Also("supporting_evidence_criteria", "supporting_evidence", "supported_if", "support"),
        Also("verification_criteria", "confirmation_criteria", "confirmed_if", "expected_if_true"),
    ]
    """What one would see if it were true."""
    refutes_if: Annotated[
        str,
        Also("refuting_evidence_criteria", "refuting_evidence", "refuted_if", "refutation"),
        Also("falsification_criteria", "falsified_if", "falsifiable_by", "expected_if_false"),
    ]
    """What one would see if it were false; never empty."""
    prior: Annotated[
        float, Field(ge=0.05, le=0.95), Also("initial_confidence", "prior_confidence", "confidence")
    ] = 0.5
    """Belief before any test."""
    findings: Annotated[
        tuple[Label, ...], Also("finding_ids", "based_on", "evidence", "supporting_findings")
    ] = ()
    """Labels of the findings it is made from."""
    revises: Annotated[tuple[Label, ...], Also("refines", "corrects", "replaces")] = ()
    """Labels of the hypotheses in `standing` that it corrects or narrows; empty where it is a new
    one."""
    searches: Annotated[
        tuple[Query, ...], Field(max_length=4), Also("refuting_queries", "refute_queries")
    ] = ()
    """Two search queries that would bring up what shows it to be false, if there is any."""
    test_queries: Annotated[
        SkipJsonSchema[tuple[ToolQuery, ...]], Field(max_length=4), Also("tests", "queries")
    ] = ()
    """What to ask the tools to test it alone. Models are asked once for all hypotheses."""


class TestCall(ToolQuery):
    """A call of a tool that tests hypotheses."""

    __test__ = False  # pytest would take it for a test

    hypotheses: Annotated[tuple[int, ...], Also("hypothesis", "tests")] = ()
    """Numbers of those that it tests, 1 for the first; empty: all of them."""


class HypothesisSet(Answer):
    """Hypotheses that compete."""

    hypotheses: Annotated[
        tuple[Proposed, ...],
        Field(max_length=8),
        Also("hypothesis", "rivals", "rival_hypotheses", "competing_hypotheses"),
    ]
    """The rivals, the likeliest first. Empty where the findings allow none."""
    test_calls: Annotated[tuple[TestCall, ...], Field(max_length=12), Also("test_queries")] = ()
    """What to ask the tools that are shown: first what would tell the rivals apart."""
    reasoning_chain: Annotated[
        tuple[Annotated[str, Also("step", "thought", "text")], ...],
        Field(max_length=12),
        Also("reasoning", "chain_of_thought"),
    ] = ()
    """The way to them, a sentence for each step."""


class Lesson(View):
    """What the experience pool holds of a hypothesis that was settled."""

    hypothesis: str
    """Its label among those that stand."""
    statement: str = ""
    """What it claimed."""
    answer: str = ""
    """The short answer that it gave."""
    status: HypothesisStatus
    """Whether it was supported or refuted."""
    because: tuple[str, ...] = ()
    """The findings that decided it, the weightiest first."""

    def briefly(self, labels: Mapping[str, str]) -> Self:
        """Return it without what stands beside it: the hypothesis, and findings that are shown.

        Args:
            labels: The labels of these, by what they say.
        """
        named = tuple(labels.get(text, text) for text in self.because)
        return self.model_copy(update={"statement": "", "answer": "", "because": named})


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
    experience: tuple[Lesson, ...] = ()
    """What earlier rounds validated and refuted, with the evidence: build on it."""
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
    early: bool = Field(False, exclude=True)
    """Whether they may be put forward before anything was found, and say how they came about."""
    searched: bool = Field(False, exclude=True)
    """Whether somebody searches for what would refute them."""

    def prompt(self) -> Prompt:
        """Return the prompt, in which nothing is said twice.

        Lessons name what stands beside them by its label, and of earlier hypotheses it has what
        they claim and stand on.
        """
        labels = {finding.statement: finding.id for finding in self.findings}
        held = {item.id for item in self.standing}
        shown = {
            "experience": tuple(
                lesson.briefly(labels) if lesson.hypothesis in held else lesson
                for lesson in self.experience
            ),
            "standing": tuple(item.claimed() for item in self.standing),
            "tools": calls_besides(self.tools),
        }
        return super(Hypothesise, self.model_copy(update=shown)).prompt()

    def unasked(self) -> frozenset[str]:
        """Return what would revise, cite, search or call, if there is nothing to do that with."""
        asked = {
            "HypothesisSet.test_calls": calls_besides(self.tools),
            "HypothesisSet.reasoning_chain": self.early,
            "Proposed.findings": self.findings,
            "Proposed.revises": self.standing,
            "Proposed.searches": self.searched,
        }
        return frozenset(name for name, wanted in asked.items() if not wanted)
