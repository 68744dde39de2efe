"""Formulating the problem: dividing a question into sub-problems that can be tested one by one."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from deepdiver.tasks.query import Query, ToolQuery, calls_besides
from deepdiver.tasks.record_views import RecalledRun, ShownTool
from deepdiver.tasks.task import Answer, Prompt, Role, Task
from deepdiver.tasks.tolerance import Also


class Problem(Answer):
    """A part of the question that can be answered and tested by itself."""

    question: Annotated[
        str, Also("problem", "sub_problem", "sub_question", "description", "text", "part")
    ]
    """The part, as a question."""
    needs: Annotated[
        tuple[Annotated[str, Also("question", "id")], ...],
        Also("depends_on", "dependencies", "requires", "prerequisites"),
    ] = ()
    """Numbers of the earlier parts that must be answered first; empty where it stands alone."""


class Decomposition(Answer):
    """The question taken apart."""

    problems: Annotated[
        tuple[Problem, ...],
        Field(min_length=1, max_length=7),
        Also("sub_problems", "decomposed_problems", "sub_questions", "questions", "parts"),
    ]
    """The parts, in the order in which they should be looked into."""
    sought: SkipJsonSchema[str] = ""
    """What kind of thing answers it, from a reasoner that says so. Nobody is asked for it."""


class Decompose(Task[Decomposition]):
    """Break a question into sub-problems."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    guidance: str = ""
    """The person's own instructions."""
    audience: str = ""
    """For whom the report is written, which says who "we" are."""
    documents: tuple[str, ...] = ()
    """Titles of all that can be searched, if it is a library of the person's own alone."""
    objection: str = ""
    """Why the person rejected the last plan, if so."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question: hints to be tested anew, never evidence."""
    ordered: bool = Field(True, exclude=True)
    """Whether a part that needs another is looked into after it."""

    def unasked(self) -> frozenset[str]:
        """Return the needs of parts, if nobody waits for what they need."""
        return frozenset() if self.ordered else frozenset({"Problem.needs"})


class Area(Answer):
    """A circle on the map."""

    lat: Annotated[float, Field(ge=-90.0, le=90.0), Also("latitude")]
    """Latitude of its middle, north positive."""
    lon: Annotated[float, Field(ge=-180.0, le=180.0), Also("longitude", "lng", "long")]
    """Longitude of its middle, east positive."""
    radius_km: Annotated[float, Field(ge=0.1, le=20_000.0), Also("radius")] = 50.0
    """Its radius in kilometres."""


class ResearchPlan(Answer):
    """How to go about it."""

    objectives: Annotated[tuple[str, ...], Field(max_length=7)]
    """What is to be found out, one thing each."""
    regions_of_interest: Annotated[tuple[str, ...], Field(max_length=10), Also("regions")] = ()
    """Names of places that matter, the most important first: searches that name none of them are
    narrowed to the first, and feeds to its country."""
    keywords: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    """Words to search news with."""
    coordinates: Annotated[tuple[Area, ...], Field(max_length=10)] = ()
    """Where on the map, as far as the question says so or you know it. Feeds that need a position
    are asked for these."""
    time_range: str = ""
    """Which time matters: 7d for the last seven days, or the first and last day as
    2026-11-05/2026-11-11; empty where the question is silent. Feeds are asked for this time, and
    pages that were published before it are left out."""
    priority_sources: Annotated[tuple[str, ...], Field(max_length=10)] = ()
    """Which tools to ask first, by name or by what they give: news, satellite."""
    initial_queries: Annotated[tuple[ToolQuery, ...], Field(max_length=10)] = ()
    """What to ask the tools first."""
    searches: Annotated[tuple[Query, ...], Field(max_length=10), Also("search_queries")] = ()
    """What to search for first: short lines of content words and names."""


class PlanResearch(Task[ResearchPlan]):
    """Plan an investigation: objectives, where, when, and what to ask first."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    context: str = ""
    """What the person says about the task besides, as JSON."""
    tools: tuple[ShownTool, ...]
    """What may be asked; nothing else may."""
    guidance: str = ""
    """The person's own instructions."""
    objection: str = ""
    """Why the person rejected the last plan, if so."""
    past: tuple[RecalledRun, ...] = ()
    """What past runs found that bear on the question: hints to be tested anew, never evidence."""
    limit: int = 10
    """The most queries wanted."""

    def prompt(self) -> Prompt:
        """Return the prompt, with the tools that are called by name."""
        shown = {"tools": calls_besides(self.tools)}
        return super(PlanResearch, self.model_copy(update=shown)).prompt()

    def unasked(self) -> frozenset[str]:
        """Return what only tools are told, if there is nothing but a search."""
        told = ("keywords", "coordinates", "priority_sources", "initial_queries")
        none = () if calls_besides(self.tools) else told
        return frozenset(f"ResearchPlan.{name}" for name in none)


Complexity = Literal["simple", "moderate", "complex"]


class SubTask(Answer):
    """A part of the task that can be looked into by itself."""

    id: Annotated[SkipJsonSchema[str], Also("subtask_id")] = ""
    """Label to refer to it by, from a reasoner that gives one. Nobody is asked for it: its place
    gives it one, such as subtask_1."""
    description: Annotated[str, Also("task", "question", "title")]
    """What is to be found out, as a question."""
    focus_area: Literal["geographic", "temporal", "actor", "thematic"] = "thematic"
    """What it is mostly about: where, when, who, or what."""
    dependencies: Annotated[tuple[str, ...], Also("depends_on", "needs")] = ()
    """Numbers of the sub-tasks that must be answered first, 1 for the first: it is looked into
    after them."""
    complexity: Annotated[Complexity, Also("estimated_complexity")] = "simple"
    """How hard it is, which decides how many searches are made for it."""


class TaskDecomposition(Answer):
    """The task taken apart."""

    task_complexity: Annotated[Complexity, Also("overall_complexity")] = "moderate"
    """How hard the whole is, which decides how many calls may follow at a time."""
    decomposition_reasoning: Annotated[str, Also("reasoning")] = ""
    """Why it was taken apart like this."""
    sub_tasks: Annotated[
        tuple[SubTask, ...], Field(min_length=1, max_length=7), Also("subtasks", "tasks")
    ]
    """The parts, in the order in which they should be looked into."""


class DecomposeTask(Task[TaskDecomposition]):
    """Take a research task apart into sub-tasks with their dependencies."""

    role: ClassVar[Role] = "smart"

    question: str
    """What the person asked."""
    as_of: str
    """Today's date."""
    context: str = ""
    """What the person says about the task besides, as JSON."""
    objectives: tuple[str, ...] = ()
    """What is to be found out, by the plan."""
    guidance: str = ""
    """The person's own instructions."""
    objection: str = ""
    """Why the person rejected the last plan, if so."""
