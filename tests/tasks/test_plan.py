"""Formulating the problem."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from deepdiver.core.record import RunStatus
from deepdiver.tasks.plan import (
    Decompose,
    DecomposeTask,
    Decomposition,
    PlanResearch,
    Problem,
    ResearchPlan,
    TaskDecomposition,
)
from deepdiver.tasks.record_views import RecalledRun, ShownTool
from deepdiver.tasks.task import load_prompt, schema
from deepdiver.tasks.tolerance import TOLERANT

PROBLEM = Problem(question="Who runs Svedjan Ost AB?")
TASK = Decompose(question="Who runs it?", as_of="2026-11-15")
PAST = RecalledRun(
    id="P1",
    question="Who ran it?",
    date="2026-03-01",
    days=30,
    status=RunStatus.ANSWERED,
    answer="Karin",
)


def test_a_plan_of_nothing_is_no_plan() -> None:
    with pytest.raises(ValidationError, match="problems"):
        Decomposition(problems=())


def test_a_plan_has_at_most_seven_parts() -> None:
    assert len(Decomposition(problems=(PROBLEM,) * 7).problems) == 7
    with pytest.raises(ValidationError, match="problems"):
        Decomposition(problems=(PROBLEM,) * 8)


def test_a_part_may_need_earlier_ones() -> None:
    made = Decomposition.model_validate(
        {
            "problems": [
                {"question": "Who runs it?", "needs": []},
                {"question": "How old are their children?", "needs": ["Who runs it?"]},
            ],
            "sought": "an age",
        }
    )
    assert made.problems[1].needs == (made.problems[0].question,)


def test_the_answer_asks_for_parts_and_their_needs_and_reads_what_is_sought() -> None:
    made = schema(Decompose.answer())
    assert made["required"] == ["problems"], "nobody asks what is sought, because nobody reads it"
    assert made["$defs"]["Problem"]["required"] == ["question", "needs"]
    said = {"problems": [{"question": "Who?"}], "sought": "a person"}
    assert Decomposition.model_validate(said).sought == "a person"


def test_needs_are_asked_for_only_where_somebody_waits_for_them() -> None:
    def told(task: Decompose) -> tuple[str, list[str]]:
        fields = schema(Decomposition, task.unasked())["$defs"]["Problem"]["required"]
        return task.prompt().system, fields

    system, fields = told(TASK.model_copy(update={"ordered": False}))
    assert fields == ["question"]
    assert "`needs`" not in system
    assert "list them in that order" in system, "a report goes from the first part to the last"
    system, fields = told(TASK)
    assert fields == ["question", "needs"]
    assert "`needs`" in system
    assert "ordered" not in TASK.prompt().user


def test_an_objection_is_shown_only_where_there_is_one() -> None:
    first = Decompose(question="Who?", as_of="2026-11-15")
    again = Decompose(
        question="Who?", as_of="2026-11-15", objection="Leave out the cheese.", guidance="Be brief."
    )
    assert "objection" not in first.prompt().user
    assert "<<<objection>>>\nLeave out the cheese.\n<<<end objection>>>" in again.prompt().user
    assert "<<<guidance>>>\nBe brief.\n<<<end guidance>>>" in again.prompt().user
    assert "<<<as_of>>>\n2026-11-15\n<<<end as_of>>>" in first.prompt().user
    assert Decompose.role == "smart"


def test_past_runs_are_shown_only_where_there_are_any_and_as_hints() -> None:
    assert "past" not in TASK.prompt().user
    shown = TASK.model_copy(update={"past": (PAST,)}).prompt()
    assert '"answer": "Karin"' in shown.user.split("<<<past>>>")[1].split("<<<end past>>>")[0]
    assert '"days": 30' in shown.user
    assert "`past`" in shown.system
    assert "no evidence" in shown.system


# -- the plan of an investigation


TOOLS = (ShownTool(name="search", about="everything", arguments=("query: words",)),)
FEED = ShownTool(name="search_fires", about="fires from space", arguments=("latitude: degrees",))


@pytest.mark.parametrize(
    "area",
    [
        {"lat": 91, "lon": 0, "radius_km": 1},
        {"lat": 0, "lon": 181, "radius_km": 1},
        {"lat": 0, "lon": 0, "radius_km": -1},
    ],
)
def test_a_plan_for_no_place_on_earth_is_refused(area: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        ResearchPlan.model_validate({"objectives": ["x"], "coordinates": [area]})


def test_a_plan_has_the_fields_of_the_seed() -> None:
    assert schema(PlanResearch.answer())["required"] == [
        "objectives",
        "regions_of_interest",
        "keywords",
        "coordinates",
        "time_range",
        "priority_sources",
        "initial_queries",
        "searches",
    ]
    assert schema(DecomposeTask.answer())["required"] == [
        "task_complexity",
        "decomposition_reasoning",
        "sub_tasks",
    ]
    parts = schema(DecomposeTask.answer())["$defs"]["SubTask"]["required"]
    assert parts == ["description", "focus_area", "dependencies", "complexity"]


def test_a_sub_task_is_told_by_its_place_and_its_own_label_is_read() -> None:
    told = load_prompt("decompose_task")[1]
    assert "`dependencies` (1 for the first of the list)" in told
    assert "subtask_1" not in told
    said = {"sub_tasks": [{"id": "a", "description": "Who?", "dependencies": [1, "b"]}]}
    read = TaskDecomposition.model_validate(said, context=TOLERANT)
    assert (read.sub_tasks[0].id, read.sub_tasks[0].dependencies) == ("a", ("1", "b"))


def test_without_tools_nothing_is_asked_that_only_tools_are_told() -> None:
    def fields(task: PlanResearch) -> list[str]:
        return list(schema(ResearchPlan, task.unasked())["properties"])

    task = PlanResearch(question="Who?", as_of="2026-11-15", tools=TOOLS)
    assert fields(task) == ["objectives", "regions_of_interest", "time_range", "searches"]
    shown = task.prompt()
    assert "tools" not in shown.user
    for word in ("`tools`", "`coordinates`", "`keywords`", "`priority_sources`", "`initial_"):
        assert word not in shown.system
    more = task.model_copy(update={"tools": (*TOOLS, FEED)})
    assert {"coordinates", "keywords", "priority_sources", "initial_queries"} < {*fields(more)}
    assert "`coordinates`" in more.prompt().system


def test_a_plan_is_made_of_the_tools_that_are_shown_and_searches_are_plain_texts() -> None:
    task = PlanResearch(question="Who?", as_of="2026-11-15", tools=(*TOOLS, FEED))
    assert '"name": "search_fires"' in task.prompt().user
    assert '"name": "search"' not in task.prompt().user
    assert "does not exist" in task.prompt().system
    assert "Write into `searches` what to search for" in task.prompt().system
    again = task.model_copy(update={"objection": "Too broad."}).prompt()
    assert "Too broad." in again.user
    assert "`objection`" in again.system


def test_a_task_without_parts_is_not_taken_apart() -> None:
    with pytest.raises(ValidationError):
        TaskDecomposition.model_validate({"sub_tasks": []})
    said = TaskDecomposition.model_validate(
        {"sub_tasks": [{"id": "subtask_1", "description": "Who?"}]}
    )
    assert (said.task_complexity, said.sub_tasks[0].complexity, said.sub_tasks[0].dependencies) == (
        "moderate",
        "simple",
        (),
    )
    with pytest.raises(ValidationError):
        TaskDecomposition.model_validate(
            {"sub_tasks": [{"id": "a", "description": "b", "focus_area": "culinary"}]}
        )


def test_a_plan_and_its_parts_are_read_in_other_words() -> None:
    said = {
        "objectives": ["Track damage"],
        "regions": "Kharkiv Oblast",
        "coordinates": {"latitude": 49.99, "longitude": "36.23"},
        "initial_queries": [
            "strikes in Kharkiv",
            {"tool": "search_news", "args": {"keywords": "x"}},
        ],
    }
    plan = ResearchPlan.model_validate(said, context=TOLERANT)
    assert plan.regions_of_interest == ("Kharkiv Oblast",)
    assert [(area.lat, area.lon, area.radius_km) for area in plan.coordinates] == [
        (49.99, 36.23, 50.0)
    ]
    assert [query.tool for query in plan.initial_queries] == ["strikes in Kharkiv", "search_news"]
    parts = TaskDecomposition.model_validate(
        {
            "overall_complexity": "COMPLEX",
            "subtasks": [
                {"id": "a", "task": "Who?", "depends_on": [], "focus_area": "Actor/Entity"},
                {"description": "When?", "needs": "a", "estimated_complexity": "Moderate"},
            ],
        },
        context=TOLERANT,
    )
    assert parts.task_complexity == "complex"
    assert [(item.description, item.dependencies) for item in parts.sub_tasks] == [
        ("Who?", ()),
        ("When?", ("a",)),
    ]
    assert parts.sub_tasks[1].complexity == "moderate"
    assert parts.sub_tasks[0].focus_area == "actor"


def test_the_context_is_shown_only_where_there_is_one() -> None:
    plan = PlanResearch(question="Who?", as_of="2026-11-15", tools=TOOLS, context='{"a": 1}')
    parts = DecomposeTask(question="Who?", as_of="2026-11-15", context='{"a": 1}')
    for task in (plan, parts):
        assert '<<<context>>>\n{"a": 1}\n<<<end context>>>' in task.prompt().user
        assert "`context`" in task.prompt().system
        assert "context" not in task.model_copy(update={"context": ""}).prompt().user


def test_what_a_part_needs_is_asked_for_by_number_and_read_in_words_too() -> None:
    assert "give the numbers" in load_prompt("decompose")[1]
    said = {"problems": [{"question": "Who?"}, {"question": "Since when?", "needs": [1, "Who?"]}]}
    read = Decomposition.model_validate(said, context=TOLERANT)
    assert read.problems[1].needs == ("1", "Who?")
