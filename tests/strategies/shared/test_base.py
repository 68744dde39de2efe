from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from deepdiver import tasks
from deepdiver.core.events import Limited, PhaseStarted, SourceRead
from deepdiver.core.record import Credibility, RunStatus, Source, SourceKind
from deepdiver.errors import (
    BudgetError,
    CallError,
    CallFault,
    NotJournalledError,
    PromptTooLongError,
    ReasonError,
    UsageError,
)
from deepdiver.strategies.shared import base
from deepdiver.strategies.shared.base import (
    _BACKGROUND,
    ROUNDS,
    Allowance,
    Deps,
    Update,
    add_nodes,
    attempt,
    attempt_to_decide,
    run_from_sync,
    unite,
)
from tests.patience import PATIENCE
from tests.strategies.rig import Rig, ScriptedReasoner


class Small(TypedDict, total=False):
    value: int
    current_iteration: int


async def double(state: Small, deps: Deps) -> Update:
    await asyncio.sleep(0)
    return {"value": state["value"] * 2}


def graph_of(function: Any, provide: Any = None) -> Any:
    graph = StateGraph(Small, context_schema=Deps)
    add_nodes(graph, provide, function)
    graph.add_edge(START, function.__name__)
    graph.add_edge(function.__name__, END)
    return graph


def test_lists_are_united_in_order_and_without_repeats() -> None:
    assert unite() == unite([], ()) == []
    assert unite(["b", "a", "b"], ("a", "c"), (text for text in "db")) == ["b", "a", "c", "d"]


def test_a_graph_without_dependencies_says_what_is_missing() -> None:
    with pytest.raises(TypeError, match="pass context=Deps"):
        graph_of(double).compile().invoke({"value": 1})


def test_an_async_node_is_callable_from_sync_code(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    assert graph_of(double).compile().invoke({"value": 4}, context=deps)["value"] == 8


async def test_an_async_node_is_callable_from_a_running_loop_both_ways(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    compiled = graph_of(double).compile()
    assert compiled.invoke({"value": 4}, context=deps)["value"] == 8
    assert (await compiled.ainvoke({"value": 5}, context=deps))["value"] == 10


def test_dependencies_are_provided_by_state_and_node(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    asked: list[tuple[Any, str]] = []

    def provide(state: Any, name: str) -> Deps:
        asked.append((state["value"], name))
        return deps

    assert graph_of(double, provide).compile().invoke({"value": 3})["value"] == 6
    assert asked == [(3, "double")]


def test_interrupt_works_through_the_sync_face(tmp_path: Path) -> None:
    async def ask(state: Small, deps: Deps) -> Update:
        return {"value": interrupt({"how much": state["value"]})}

    deps = Rig(tmp_path).session().deps
    compiled = graph_of(ask).compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    waiting = compiled.invoke({"value": 3}, config, context=deps)
    assert waiting["__interrupt__"][0].value == {"how much": 3}
    assert compiled.invoke(Command(resume=7), config, context=deps)["value"] == 7


def test_an_error_in_a_node_reaches_the_sync_caller(tmp_path: Path) -> None:
    async def broken(state: Small, deps: Deps) -> Update:
        raise LookupError("not here")

    with pytest.raises(LookupError, match="not here"):
        graph_of(broken).compile().invoke({"value": 1}, context=Rig(tmp_path).session().deps)


def test_the_background_loop_runs_in_the_callers_context() -> None:
    mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark")
    mark.set("mine")

    async def look() -> tuple[str, str]:
        await asyncio.sleep(0)
        return mark.get(), threading.current_thread().name

    assert _BACKGROUND.run(look) == ("mine", "deepdiver")


def test_who_is_not_async_can_wait_for_what_is() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert run_from_sync(work) == 7


async def test_so_can_who_blocks_a_running_loop() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert run_from_sync(work) == "deepdiver"


def test_an_error_reaches_who_waits() -> None:
    async def work() -> None:
        raise UsageError("no")

    with pytest.raises(UsageError, match="no"):
        run_from_sync(work)


def test_who_interrupts_stops_it_and_waits_until_it_has_left_things_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base, "PARTING_SECONDS", PATIENCE)
    told: list[str] = []
    waiting = threading.main_thread().ident
    assert waiting is not None

    async def work() -> None:
        try:
            await asyncio.sleep(0.05)
            signal.pthread_kill(waiting, signal.SIGINT)
            await asyncio.sleep(PATIENCE)
        finally:
            await asyncio.sleep(0.05)
            told.append("in order")

    # A test process may have it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_from_sync(work)
    finally:
        signal.signal(signal.SIGINT, before)
    assert told == ["in order"]


@pytest.mark.parametrize("name", ROUNDS)
def test_the_round_is_told_whatever_the_design_document_calls_it(tmp_path: Path, name: str) -> None:
    rig = Rig(tmp_path)
    state = TypedDict("state", {"value": int, name: int})  # type: ignore[misc]
    graph: Any = StateGraph(state, context_schema=Deps)
    add_nodes(graph, None, double)
    graph.add_edge(START, "double")
    graph.add_edge("double", END)
    graph.compile().invoke({"value": 1, name: 4}, context=rig.session().deps)
    assert [event.iteration for event in rig.of(PhaseStarted)] == [4]


def test_the_log_may_have_another_name_for_the_phase_of_a_node(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    graph: Any = StateGraph(Small, context_schema=Deps)
    add_nodes(graph, None, double, logged={"double": "doubling"})
    graph.add_edge(START, "double")
    graph.add_edge("double", END)
    graph.compile().invoke({"value": 1}, context=rig.session().deps)
    assert [(event.phase, event.logged) for event in rig.of(PhaseStarted)] == [
        ("double", "doubling")
    ]


def test_what_is_limited_is_told_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    assert deps.note_limit("no search") == "no search"
    deps.note_limit("no search")
    assert [event.what for event in rig.of(Limited)] == ["no search"]


def test_a_record_is_entered_and_announced_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    deps = rig.session().deps
    source = Source(
        id="s_1",
        kind=SourceKind.DOCUMENT,
        url="doc:x",
        title="X",
        snapshot="0" * 64,
        credibility=Credibility(score=0.7),
    )
    deps.add(source, source)
    deps.add(source)
    assert len(rig.of(SourceRead)) == 1
    assert rig.store.records.ledger(rig.run.id) == [("source", "s_1", source.model_dump_json())]


async def test_finishing_keeps_report_and_status(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    outcome = await rig.work()
    assert outcome.report is not None
    assert rig.store.records.report(rig.run.id) == outcome.report.model_dump_json()
    assert rig.store.runs.get(rig.run.id).status is RunStatus.ANSWERED


class Priced(ScriptedReasoner):
    def worst_case(self, task: type[tasks.Task[Any]]) -> Decimal | None:
        return None if task is tasks.Judge else Decimal("0.01")


def test_the_ceiling_is_the_sum_of_all_worst_cases() -> None:
    allowed = Allowance({tasks.Decompose: 2, tasks.OutlineReport: 3}, searches=10)
    assert allowed.ceiling(Priced(), [Decimal("0.005"), Decimal(0)]) == Decimal("0.10")


def test_the_ceiling_is_not_known_where_a_price_is_not() -> None:
    assert Allowance({tasks.Judge: 1}, searches=0).ceiling(Priced(), []) is None
    assert Allowance({tasks.Decide: 1}, searches=1).ceiling(Priced(), [None]) is None


def raising(error: Exception) -> Any:
    def rule(task: Any) -> Any:
        raise error

    return rule


@pytest.mark.parametrize(
    "error", [ReasonError("unreadable"), BudgetError("no money"), CallError("x", CallFault.SERVER)]
)
async def test_a_failed_task_is_announced_and_lived_with(tmp_path: Path, error: Exception) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(decompose=raising(error))).session().deps
    assert await attempt(deps, tasks.Decompose(question="q", as_of="2026-01-01")) is None
    assert deps.notes == {f"decompose failed: {error}"}
    why = await attempt_to_decide(deps, tasks.Decompose(question="q", as_of="2026-01-01"))
    assert why == (None, f"decompose failed: {error}")


async def test_an_answer_has_no_reason_to_fail(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    answer, why = await attempt_to_decide(deps, tasks.Decompose(question="q", as_of="2026-01-01"))
    assert answer is not None
    assert why == ""


@pytest.mark.parametrize(
    "error",
    [
        NotJournalledError("replay"),
        CallError("no key", CallFault.AUTH),
        CallError("gone", CallFault.UNREACHED),
    ],
)
async def test_what_nobody_can_live_with_is_raised(tmp_path: Path, error: Exception) -> None:
    deps = Rig(tmp_path, ScriptedReasoner(decompose=raising(error))).session().deps
    with pytest.raises(type(error)):
        await attempt(deps, tasks.Decompose(question="q", as_of="2026-01-01"))


# Prompts that are too long


class Short:
    """A reasoner with room for so many texts, which it repeats."""

    description = "short"

    def __init__(self, room: int) -> None:
        self.room = room
        self.asked: list[int] = []

    async def perform(self, task: Any) -> Any:
        texts = getattr(task, "texts", None) or task.known
        self.asked.append(len(texts))
        if len(texts) > self.room:
            raise PromptTooLongError(f"{len(texts)} are too many")
        if isinstance(task, tasks.WriteQueries):
            return tasks.Queries(queries=task.known)
        found = (tasks.Extracted(statement=text.id, source=text.id) for text in texts)
        return tasks.Extraction(findings=tuple(found))

    def worst_case(self, task: type[tasks.Task[Any]]) -> Any:
        return None

    def is_free(self, task: type[tasks.Task[Any]]) -> bool:
        return False


def reading(many: int) -> tasks.ExtractFindings:
    texts = (tasks.NumberedText(id=f"T{n}", title="t", text="a") for n in range(many))
    parts = (tasks.QuestionPart(id="P1", question="Who?"),)
    return tasks.ExtractFindings(question="Who?", texts=tuple(texts), problems=parts)


@pytest.mark.parametrize("room", [1, 2, 3, 7])
async def test_a_reading_that_is_too_long_is_split_and_loses_nothing(
    tmp_path: Path, room: int
) -> None:
    deps = Rig(tmp_path).session().deps
    deps.reasoner = Short(room)
    answer = await attempt(deps, reading(7))
    assert answer is not None
    assert [item.statement for item in answer.findings] == [f"T{n}" for n in range(7)]
    assert (deps.notes, deps.task_failures, deps.done) == (set(), {}, {"extract_findings"})


async def test_a_task_that_cannot_be_split_is_asked_with_less_and_the_report_says_so(
    tmp_path: Path,
) -> None:
    deps = Rig(tmp_path).session().deps
    deps.reasoner = Short(2)
    asked = tasks.WriteQueries(question="Who?", problem="p", known=tuple("abcdefgh"))
    answer = await attempt(deps, asked)
    assert answer == tasks.Queries(queries=("a", "b"))
    (note,) = deps.notes
    assert note.startswith("write queries was too long for the model")


async def test_what_cannot_be_made_shorter_is_a_failure_like_any_other(tmp_path: Path) -> None:
    deps = Rig(tmp_path).session().deps
    deps.reasoner = Short(0)
    assert await attempt(deps, reading(2)) is None
    assert deps.notes == {"extract findings failed: 1 are too many"}
