"""Formulates the problem: the clauses of a question, in the order in which they can be answered.

The plan of an investigation is the same: its objectives are the clauses, its first queries are for
the clauses that need no other's answer, and place and time are those in the question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Literal

from deepdiver.core.dates import dates
from deepdiver.core.gazetteer import find_place
from deepdiver.core.time_and_place import place_names
from deepdiver.reason.embedded.clause import Kind
from deepdiver.reason.embedded.query import keywords, write_queries
from deepdiver.reason.embedded.question import analyse_question
from deepdiver.reason.embedded.tool_calls import (
    RADIUS_KM,
    days_back,
    details_of,
    propose_tool_calls,
)
from deepdiver.tasks import (
    Area,
    Argument,
    Decompose,
    DecomposeTask,
    Decomposition,
    PlanResearch,
    Problem,
    ResearchPlan,
    ShownTool,
    SubTask,
    TaskDecomposition,
    ToolQuery,
    WriteQueries,
)

MOST_PROBLEMS = 7
FIRST, NEXT = 3, 1
"""Queries for a clause that can be asked at once, and for one that waits for another's answer."""
MOST_WORDS, MOST_AREAS = 20, 10
SEARCH, QUERY = "search", "query"
_FOCUS: Mapping[Kind, Literal["geographic", "temporal", "actor"]] = {
    Kind.PLACE: "geographic",
    Kind.DATE: "temporal",
    Kind.TIME: "temporal",
    Kind.AGE: "temporal",
    Kind.PERSON: "actor",
    Kind.COMPANY: "actor",
}
ONE_PART = "The question has one part."
SEVERAL = "Each part can be answered by itself."
ONE_BY_ONE = "A part needs the answer to the one before it."


def decompose(task: Decompose) -> Decomposition:
    """Return the clauses as sub-problems; after a rejected plan, the question as it stands."""
    analysis = analyse_question(task.question)
    sought = analysis.chains[-1][-1].kind.value
    if task.objection:
        return Decomposition(
            problems=(Problem(question=analysis.question or task.question),), sought=sought
        )
    problems: dict[str, Problem] = {}
    for chain in analysis.chains:
        for before, clause in zip((None, *chain), chain, strict=False):
            needs = (before.text,) if before is not None else ()
            problems.setdefault(clause.text, Problem(question=clause.text, needs=needs))
    return Decomposition(problems=tuple(problems.values())[:MOST_PROBLEMS], sought=sought)


def plan_research(task: PlanResearch) -> ResearchPlan:
    """Return the clauses as objectives, with place and time of the question, and queries."""
    analysis = analyse_question(task.question)
    objectives = [clause.text for clause in analysis.clauses][:MOST_PROBLEMS] or [task.question]
    if task.objection:
        objectives = [analysis.question or task.question]
    needing = {clause.text for chain in analysis.chains for clause in chain[1:]}
    listed = [
        write_queries(
            WriteQueries(
                question=task.question,
                problem=text,
                past=task.past,
                limit=NEXT if text in needing else FIRST,
            )
        ).queries
        for text in objectives
    ]
    turns = [query for row in zip_longest(*listed) for query in row if query]
    said = details_of(task.question, task.as_of)
    regions = (*place_names(task.question), *(p.name for p in said.places), *_places_of(task))
    calls = propose_tool_calls(task.question, task.as_of, task.tools, "to find out")
    return ResearchPlan(
        objectives=tuple(objectives),
        regions_of_interest=tuple(dict.fromkeys(regions))[:MOST_AREAS],
        keywords=tuple(keywords(task.question))[:MOST_WORDS],
        coordinates=tuple(
            Area(lat=lat, lon=lon, radius_km=RADIUS_KM) for lat, lon in said.spots[:MOST_AREAS]
        ),
        time_range=time_range(task.question),
        # At first hand is what the feeds say that suit the question; searches find reports of it.
        priority_sources=tuple(dict.fromkeys(call.tool for call in calls))[:MOST_AREAS],
        initial_queries=(*calls, *as_calls(dict.fromkeys(turns), task.tools, "to find out"))[
            : min(task.limit, 10)
        ],
    )


def _places_of(task: PlanResearch) -> list[str]:
    """Return the places that the context of a task gives as values."""
    try:
        context = json.loads(task.context or "{}")
    except ValueError:
        return []
    values = context.values() if isinstance(context, dict) else ()
    return [value.strip() for value in values if isinstance(value, str) and find_place(value)]


def time_range(question: str) -> str:
    """Return the time that a question is about: the last days, or its first and last day.

    A month or a year is more often compared with, or planned for, than asked about.
    """
    if lately := days_back(question):
        return f"{lately}d"
    days = sorted(day.iso() for day in dates(question) if day.exact())
    return "/".join(dict.fromkeys((days[0], days[-1]))) if days else ""


def as_calls(
    queries: Iterable[str], tools: Sequence[ShownTool], reason: str
) -> tuple[ToolQuery, ...]:
    """Return queries as calls of the tool that searches everything; none if it is missing."""
    if SEARCH not in {tool.name for tool in tools}:
        return ()
    return tuple(
        ToolQuery(tool=SEARCH, args=(Argument(name=QUERY, value=q),), reason=reason)
        for q in queries
    )


def decompose_task(task: DecomposeTask) -> TaskDecomposition:
    """Return the clauses as sub-tasks, each with those that it depends on."""
    asked = Decompose(question=task.question, as_of=task.as_of, objection=task.objection)
    problems = decompose(asked).problems
    labels = {item.question: f"subtask_{number}" for number, item in enumerate(problems, 1)}
    kinds = {clause.text: clause.kind for clause in analyse_question(task.question).clauses}
    made = tuple(
        SubTask(
            id=labels[item.question],
            description=item.question,
            focus_area=_FOCUS.get(kinds.get(item.question, Kind.ACCOUNT), "thematic"),
            dependencies=tuple(labels[text] for text in item.needs if text in labels),
            complexity="moderate" if item.needs else "simple",
        )
        for item in problems
    )
    needing = any(item.needs for item in problems)
    return TaskDecomposition(
        task_complexity="simple" if len(made) == 1 else "complex" if len(made) > 3 else "moderate",
        decomposition_reasoning=ONE_PART if len(made) == 1 else ONE_BY_ONE if needing else SEVERAL,
        sub_tasks=made,
    )
