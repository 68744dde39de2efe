"""Writing queries, to find out and to refute."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from deepdiver.core.record import RunStatus
from deepdiver.tasks.query import (
    REMEMBERED,
    SEARCH,
    Queries,
    RefuteQueries,
    ToolQuery,
    WriteQueries,
    calls_besides,
)
from deepdiver.tasks.record_views import RecalledRun, ShownTool
from deepdiver.tasks.task import Task, load_prompt
from deepdiver.tasks.tolerance import TOLERANT

FIND = WriteQueries(question="Who runs it?", problem="Who is on the board?")
REFUTE = RefuteQueries(
    question="Who runs it?", hypothesis="Karin runs it.", refutes_if="The register names another."
)

PAST = RecalledRun(
    id="P1",
    question="Who ran it?",
    date="2026-03-01",
    days=30,
    status=RunStatus.ANSWERED,
    answer="Karin",
)


def test_the_first_query_is_broad_and_later_ones_go_on_from_what_is_known() -> None:
    told = load_prompt("write_queries")[1]
    assert "Where nothing is `known` yet, begin broad" in told
    assert "do not search again for what is known" in told


def test_at_most_eight_queries_are_taken() -> None:
    assert len(Queries(queries=("q",) * 8).queries) == 8
    with pytest.raises(ValidationError, match="queries"):
        Queries(queries=("q",) * 9)


def test_no_query_is_an_answer_too() -> None:
    assert Queries(queries=()).queries == ()


@pytest.mark.parametrize("task", [FIND, REFUTE])
def test_both_are_the_fast_models_work_and_are_answered_alike(task: Task[Any]) -> None:
    assert task.role == "fast"
    assert task.answer() is Queries


@pytest.mark.parametrize(("task", "limit"), [(FIND, 3), (REFUTE, 2)])
def test_the_model_is_told_how_many_and_what_was_tried(task: Task[Any], limit: int) -> None:
    assert f"<<<limit>>>\n{limit}\n<<<end limit>>>" in task.prompt().user
    assert "tried" not in task.prompt().user
    again = task.model_copy(update={"tried": ("svedjan board",)})
    assert "svedjan board" in again.prompt().user


def test_who_refutes_sees_what_would_refute_and_who_finds_out_does_not() -> None:
    assert (
        "<<<refutes_if>>>\nThe register names another.\n<<<end refutes_if>>>"
        in REFUTE.prompt().user
    )
    assert "refutes_if" not in WriteQueries.model_fields
    rivals = REFUTE.model_copy(update={"rivals": ("Anna runs it.",)})
    assert "Anna runs it." in rivals.prompt().user


def test_there_is_no_refuting_without_a_hypothesis_and_its_refutation() -> None:
    for missing in ("hypothesis", "refutes_if"):
        values = {name: value for name, value in REFUTE.model_dump().items() if name != missing}
        with pytest.raises(ValidationError, match=missing):
            RefuteQueries.model_validate(values)


def test_past_runs_are_shown_only_where_there_are_any_and_as_hints() -> None:
    assert "past" not in FIND.prompt().user
    shown = FIND.model_copy(update={"past": (PAST,)}).prompt()
    assert '"answer": "Karin"' in shown.user.split("<<<past>>>")[1].split("<<<end past>>>")[0]
    assert '"days": 30' in shown.user
    assert "`past`" in shown.system
    assert "no evidence" in shown.system


def test_past_queries_fit_into_an_answer_beside_new_ones() -> None:
    most = FIND.limit + REMEMBERED
    assert len(Queries(queries=("q",) * most).queries) == most


def test_who_refutes_is_not_shown_what_was_believed_before() -> None:
    assert "past" not in RefuteQueries.model_fields


@pytest.mark.parametrize(
    "said",
    [
        {"tool": "search_news", "args": {"keywords": "strike", "days": 7}},
        {"tool_name": "search_news", "arguments": {"keywords": "strike", "days": "7"}},
        {
            "tool": "search_news",
            "parameters": [{"name": "keywords", "value": "strike"}, {"name": "days", "value": 7}],
        },
        {"tool": "search_news", "keywords": "strike", "days": 7},
    ],
)
def test_a_call_is_read_however_its_arguments_are_given(said: Any) -> None:
    read = ToolQuery.model_validate(said, context=TOLERANT)
    assert read.tool == "search_news"
    assert {arg.name: arg.value for arg in read.args} == {"keywords": "strike", "days": "7"}


def test_a_text_for_the_arguments_is_the_query_and_a_text_for_the_call_has_none() -> None:
    read = ToolQuery.model_validate({"tool": "search", "args": "Holm Works"}, context=TOLERANT)
    assert [(arg.name, arg.value) for arg in read.args] == [("query", "Holm Works")]
    bare = ToolQuery.model_validate("Holm Works owner", context=TOLERANT)
    assert (bare.tool, bare.args, bare.reason) == ("Holm Works owner", (), "")
    why = ToolQuery.model_validate({"tool": "search", "rationale": "r"}, context=TOLERANT)
    assert (why.args, why.reason) == ((), "r")


def test_code_must_name_arguments_as_the_type_says() -> None:
    with pytest.raises(ValidationError):
        ToolQuery.model_validate({"tool": "search", "args": {"query": "x"}})


# -- tools that are called by name


def test_the_search_of_everything_is_not_called_by_name() -> None:
    search = ShownTool(name=SEARCH, about="everything", arguments=("query: words",))
    one = ShownTool(name="search_papers", about="papers", arguments=("query: words",))
    assert calls_besides(()) == ()
    assert calls_besides((search,)) == ()
    assert calls_besides((search, one)) == (one,)


def test_what_several_tools_take_is_explained_once() -> None:
    since, area = "since (optional): First day.", "latitude: Degrees."
    tools = (
        ShownTool(name="fires", about="fires", arguments=(since, area)),
        ShownTool(name="news", about="news", arguments=(since, "keywords: Words.")),
        ShownTool(name="quakes", about="quakes", arguments=("since (optional): Another.", area)),
    )
    fires, news, quakes = calls_besides(tools)
    assert fires == tools[0]
    assert news.arguments == ("since (optional)", "keywords: Words.")
    assert quakes.arguments == ("since (optional): Another.", "latitude")
    assert tools[1].arguments[0] == since, "whoever is no model sees them as they are"
