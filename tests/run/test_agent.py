from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import closing
from typing import Any, Literal

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from deepdiver import EmbeddedReasoner, create_deepdiver_agent, tasks
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import load
from deepdiver.errors import NoEvidenceError, UnknownNameError, UsageError
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.table import TABLE
from deepdiver.tasks import PlanResearch
from tests.servers.brain import popper_brain
from tests.strategies.rig import CORPUS, ScriptedReasoner

ASKED = {"messages": [{"role": "user", "content": "Who owns Holm Works?"}]}


class Brain(BaseChatModel):
    """A chat model of the caller's own.

    It knows no schema, no tools and no JSON mode, only text.
    """

    calls: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "brain"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        roles = {"human": "user", "ai": "assistant"}
        body = {
            "messages": [{"role": roles.get(m.type, m.type), "content": m.text} for m in messages]
        }
        self.calls.append(json.dumps(body))
        said = popper_brain()(body, len(self.calls))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said.text))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.sleep(0)
        return self._generate(messages, stop, None, **kwargs)


@tool
def archive(query: str) -> list[dict[str, str]]:
    """Search the archive."""
    return [
        {"url": f"https://archive.example/{key[4:]}", "title": t, "content": x}
        for key, (t, _, x) in CORPUS.items()
    ]


@tool
def memo(query: str) -> str:
    """Read the memo."""
    return "Holm Works is owned by Anna Holm, says the memo of the clerk."


def check(result: dict[str, Any]) -> None:
    assert result["original_question"] == "Who owns Holm Works?"
    assert result["final_answer"]
    assert 0 < result["confidence_score"] < 1
    assert result["messages"][-1].text == result["final_answer"]
    assert {
        item["url"].split("/")[2] for item in result["gathered_information"] if "//" in item["url"]
    } == {"archive.example"}


def test_an_empty_question_is_refused() -> None:
    agent = create_deepdiver_agent(ScriptedReasoner(), [archive])
    with pytest.raises(UsageError, match="the question is empty"):
        agent.invoke({"messages": []})


@pytest.mark.parametrize("rounds", [0, -1, -100, 101])
@pytest.mark.parametrize("strategy", TABLE)
def test_a_number_of_rounds_that_is_none_is_refused(strategy: str, rounds: int) -> None:
    with pytest.raises(UsageError, match=f"max_iterations is {rounds}; it must be 1 to 100"):
        create_deepdiver_agent(
            ScriptedReasoner(), [archive], max_iterations=rounds, strategy=strategy
        )


def test_a_strategy_that_is_none_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean popper"):
        create_deepdiver_agent(ScriptedReasoner(), [archive], strategy="poper")
    with pytest.raises(UsageError, match="auto depends on the question: name one of popper"):
        create_deepdiver_agent(ScriptedReasoner(), [archive], strategy="auto")


@tool
def dice(sides: int) -> int:
    """Throw dice."""
    return sides


@tool
def distance(start: str, end: str, unit: Literal["km", "miles"] = "km") -> str:
    """Measure how far it is from one place to another."""
    return f"From {start} to {end} it is 42 {unit}, in our own count."


ONLY_SEARCH = [name for name, entry in TABLE.items() if not entry.calls_tools]


@pytest.mark.parametrize("strategy", ONLY_SEARCH)
def test_a_strategy_that_only_searches_refuses_a_tool_with_other_arguments(strategy: str) -> None:
    told = f"the strategy {strategy} gives a tool a query and nothing else. Use overwatch"
    with pytest.raises(UsageError, match=f"tool dice takes no text that .*; {told}"):
        create_deepdiver_agent(ScriptedReasoner(), [archive, dice], strategy=strategy)
    with pytest.raises(UsageError, match=f"tool distance requires end besides start.*; {told}"):
        create_deepdiver_agent(ScriptedReasoner(), [distance], strategy=strategy)


def test_a_strategy_that_calls_tools_is_offered_them_and_calls_them_with_arguments() -> None:
    args = {"start": "Holm", "end": "Lund", "unit": "miles"}

    def plan(task: tasks.PlanResearch) -> tasks.ResearchPlan:
        given = tuple(tasks.Argument(name=name, value=value) for name, value in args.items())
        short = tasks.ToolQuery(tool="distance", args=given[:1])
        whole = tasks.ToolQuery(tool="distance", args=given)
        return tasks.ResearchPlan(objectives=(task.question,), initial_queries=(short, whole))

    reasoner = ScriptedReasoner(plan_research=plan)
    agent = create_deepdiver_agent(reasoner, [archive, distance, dice], strategy="overwatch")
    result = agent.invoke(ASKED)
    (shown, *_) = reasoner.of(tasks.PlanResearch)
    offered = {item.name: item for item in shown.tools}
    assert {"search", "distance", "dice"} == offered.keys(), "one provider has one name"
    assert offered["distance"].about == "Measure how far it is from one place to another."
    assert [line.partition(":")[0] for line in offered["distance"].arguments] == [
        "start",
        "end",
        "unit (optional)",
    ]
    made = {query["message"]: query for query in result["executed_queries"]}
    assert "distance was not called: its argument 'end' is missing" in made
    (found,) = [item for item in result["findings"] if item["url"] == "tool:distance"]
    assert found["quote"] == "From Holm to Lund it is 42 miles, in our own count."


def test_tools_with_arguments_alone_are_nothing_to_search() -> None:
    agent = create_deepdiver_agent(ScriptedReasoner(), [distance], strategy="overwatch")
    with pytest.raises(NoEvidenceError, match="distance cannot search: it takes no query alone"):
        agent.invoke(ASKED)


def test_a_tool_cannot_take_the_place_of_the_search() -> None:
    @tool
    def search(site: str, query: str) -> str:
        """Search a site."""
        return site + query

    with pytest.raises(UsageError, match="cannot be called search"):
        create_deepdiver_agent(ScriptedReasoner(), [archive, search], strategy="overwatch")


def test_it_works_from_a_script() -> None:
    model = Brain()
    check(create_deepdiver_agent(llm=model, tools=[archive]).invoke(ASKED))
    assert model.calls


async def test_it_works_from_a_running_event_loop() -> None:
    check(create_deepdiver_agent(llm=Brain(), tools=[archive]).invoke(ASKED))


async def test_it_works_asynchronously() -> None:
    check(await create_deepdiver_agent(llm=Brain(), tools=[archive]).ainvoke(ASKED))


def test_it_streams() -> None:
    agent = create_deepdiver_agent(llm=Brain(), tools=[archive], max_iterations=1)
    steps = [next(iter(update)) for update in agent.stream(ASKED, stream_mode="updates")]
    assert steps[0] == "initialize"
    assert steps[-1] == "final_answer"


async def test_it_streams_asynchronously() -> None:
    agent = create_deepdiver_agent(llm=Brain(), tools=[archive], max_iterations=1)
    steps = [next(iter(update)) async for update in agent.astream(ASKED, stream_mode="updates")]
    assert steps[-1] == "final_answer"


def test_a_task_and_its_context_are_asked_and_kept() -> None:
    reasoner = ScriptedReasoner()
    agent = create_deepdiver_agent(
        reasoner, [archive], strategy="overwatch", checkpointer=InMemorySaver(), max_iterations=3
    )
    thread: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 100}
    given = {"task": "Who owns Holm Works?", "context": {"region": "Oslo"}}
    result = agent.invoke(given, thread)
    assert result["task"] == given["task"]
    assert result["context"] == given["context"]
    assert result["messages"][0].text == given["task"]
    assert result["messages"][-1].text == result["detailed_report"]
    with closing(open_sqlite(load().home)) as store:
        run = store.runs.get(result["run"])
        assert (run.question, run.context) == (given["task"], given["context"])
    later = agent.invoke({"task": "Who founded Holm Works?"}, thread)
    assert later["task"] == "Who founded Holm Works?"
    assert later["run"] != result["run"]
    asked = [task.question for task in reasoner.of(PlanResearch)]
    assert asked == ["Who owns Holm Works?", "Who founded Holm Works?"]


@pytest.mark.parametrize("given", [{"task": " "}, {"context": {"a": 1}}])
def test_without_a_task_it_is_refused(given: dict[str, Any]) -> None:
    agent = create_deepdiver_agent(ScriptedReasoner(), [archive], strategy="overwatch")
    with pytest.raises(UsageError, match="the question is empty"):
        agent.invoke(given)


def test_the_seeds_usage_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    llm, internet_search, research_instructions = Brain(), archive, "Prefer registers."

    # Create agent
    agent = create_deepdiver_agent(
        llm=llm,
        tools=[internet_search],
        system_prompt=research_instructions,
    )

    # Invoke agent
    result = agent.invoke({"messages": [{"role": "user", "content": "What is langgraph?"}]})

    # Access results
    assert result["final_answer"]
    assert isinstance(result["confidence_score"], float)
    assert all("Prefer registers." in call for call in llm.calls), (
        "the system prompt reaches every task"
    )


def test_what_a_tool_returns_can_be_cited() -> None:
    home = load().home
    result = create_deepdiver_agent(EmbeddedReasoner(), [memo]).invoke(ASKED)
    assert "Anna Holm" in result["final_answer"]
    assert "[1]" in result["final_answer"]
    assert result["gathered_information"][0]["url"] == "tool:memo"
    store = open_sqlite(home)
    (run,) = store.runs.list_all()
    assert run.status is RunStatus.ANSWERED
    report = json.loads(store.records.report(run.id) or "{}")
    passage = report["citations"][0]["passage"]
    quote = store.texts.get(passage["snapshot"])[passage["start"] : passage["end"]]
    assert quote == report["citations"][0]["quote"]


def test_a_reasoner_is_as_good_as_a_model() -> None:
    check(create_deepdiver_agent(ScriptedReasoner(), [archive, memo]).invoke(ASKED))


def test_max_iterations_is_obeyed() -> None:
    reasoner = ScriptedReasoner(
        decide=lambda task: tasks.Decision(decision="continue", reason="more")
    )
    result = create_deepdiver_agent(reasoner, [archive], max_iterations=2).invoke(ASKED)
    assert result["current_iteration"] == 2


def test_a_checkpointer_of_the_callers_works_and_threads_do_not_mix() -> None:
    saver = InMemorySaver()
    agent = create_deepdiver_agent(ScriptedReasoner(), [archive], checkpointer=saver)
    one: Any = {"configurable": {"thread_id": "one"}}
    two: Any = {"configurable": {"thread_id": "two"}}
    first = agent.invoke(ASKED, one)
    second = agent.invoke(ASKED, two)
    assert first["run"] != second["run"]
    assert agent.get_state(one).values["final_answer"] == first["final_answer"]
    again = agent.invoke(ASKED, one)
    assert again["run"] != first["run"], "each invocation is a run of its own"
    assert len(again["messages"]) == 4


def test_a_thread_that_failed_goes_on_where_it_was() -> None:
    class Once(ScriptedReasoner):
        broken = True

        async def perform(self, task: Any) -> Any:
            if task.name() == "write_report" and self.broken:
                self.broken = False
                raise RuntimeError("the power went")
            return await super().perform(task)

    reasoner, saver = Once(), InMemorySaver()
    config: Any = {"configurable": {"thread_id": "one"}}
    with pytest.raises(RuntimeError, match="the power went"):
        create_deepdiver_agent(reasoner, [archive], checkpointer=saver).invoke(ASKED, config)
    before = len(reasoner.asked)
    # As another process would have it.
    fresh = create_deepdiver_agent(reasoner, [archive], checkpointer=saver)
    check(fresh.invoke(None, config))
    later = [task.name() for task in reasoner.asked[before:]]
    assert later == ["write_report"], (
        "nothing before the failure is done again, nor is a quote checked"
    )


def test_every_invocation_is_a_run_on_record() -> None:
    agent = create_deepdiver_agent(ScriptedReasoner(), [archive])
    result = agent.invoke(ASKED)
    run = open_sqlite(load().home).runs.get(result["run"])
    assert run.question == "Who owns Holm Works?"
    assert run.status is RunStatus.ANSWERED


def test_the_public_names_are_lazy_and_pinned() -> None:
    import deepdiver

    assert dir(deepdiver) == [
        "DeepdiverError",
        "EmbeddedReasoner",
        "Outcome",
        "Report",
        "ResearchContext",
        "SearchIntent",
        "SearchPlan",
        "SearchResult",
        "Settings",
        "__version__",
        "create_deepdiver_agent",
        "get_search_results",
        "replay",
        "research",
        "resume",
        "run_deep_research_agent",
    ]
    for name in deepdiver.__all__:
        assert getattr(deepdiver, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'deepdive'"):
        deepdiver.deepdive  # noqa: B018
    code = (
        "import sys, deepdiver; assert not any(m.startswith(('lang', 'pydantic')) for m in "
        "sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_whatever_the_settings_say_the_agent_is_popper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDIVER_STRATEGY", "navigator")
    check(create_deepdiver_agent(ScriptedReasoner(), [archive]).invoke(ASKED))
