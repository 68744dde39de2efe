from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool

from deepdiver import (
    EmbeddedReasoner,
    ResearchContext,
    SearchIntent,
    SearchResult,
    Settings,
    get_search_results,
    run_deep_research_agent,
)
from deepdiver.core.events import Event
from deepdiver.core.outcomes import OUTCOMES
from deepdiver.core.record import RunStatus
from deepdiver.core.settings import load
from deepdiver.errors import CallError, CallFault, NoEvidenceError, UsageError
from deepdiver.sample import LIBRARY
from deepdiver.store import open_store
from deepdiver.store.sqlite import open_sqlite
from tests.patience import PATIENCE
from tests.run.test_agent import Brain, archive, memo
from tests.strategies.rig import ScriptedReasoner

pytestmark = pytest.mark.usefixtures("read_once")

QUESTION = "Who owns Holm Works?"


def sample(**more: Any) -> Settings:
    return load(
        {"documents": (LIBRARY,), "search": ["library"], "as_of": date(2026, 11, 15), **more}
    )


def check(result: dict[str, Any], rounds: int = 5) -> ResearchContext:
    assert list(result) == [
        "final_report",
        "research_context",
        "iterations",
        "status",
        "outcome",
        "limits",
    ]
    assert result["outcome"] == OUTCOMES[RunStatus(result["status"])].headline
    assert result["limits"]
    assert all(isinstance(line, str) for line in result["limits"])
    assert result["final_report"].startswith("# ")
    title, _, rest = result["final_report"].removeprefix("# ").partition("\n")
    assert title == QUESTION or f"\n*Question: {QUESTION}*\n" in rest
    context = result["research_context"]
    assert isinstance(context, ResearchContext)
    assert context.query == QUESTION
    assert result["iterations"] == context.search_iterations == rounds
    return context


# -- what goes wrong


@pytest.mark.parametrize("query", ["", "  \n "])
def test_an_empty_question_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        run_deep_research_agent(query, llm=ScriptedReasoner(), tools=[archive])
    assert not open_sqlite(load().home).runs.list_all()


@pytest.mark.parametrize("rounds", [0, -1, 101])
def test_a_number_of_rounds_that_is_none_is_refused(rounds: int) -> None:
    with pytest.raises(UsageError, match=f"max_iterations is {rounds}"):
        run_deep_research_agent(QUESTION, rounds)


def test_where_there_is_nothing_to_search_it_says_so() -> None:
    with pytest.raises(NoEvidenceError, match="nothing to search"):
        run_deep_research_agent(QUESTION, llm=ScriptedReasoner(), tools=[])


def test_a_tool_that_takes_no_text_is_refused() -> None:
    @tool
    def dice(sides: int) -> int:
        """Throw dice."""
        return sides

    with pytest.raises(UsageError, match=r"takes no text .* orchestrated gives a tool a query"):
        run_deep_research_agent(QUESTION, tools=[dice])


def test_what_ends_a_run_is_raised_and_the_run_can_be_resumed() -> None:
    def refuse(task: Any) -> Any:
        raise CallError("the key was refused", CallFault.AUTH)

    with pytest.raises(CallError, match="the key was refused"):
        run_deep_research_agent(
            QUESTION, llm=ScriptedReasoner(plan_searches=refuse), tools=[archive]
        )
    (run,) = open_sqlite(load().home).runs.list_all()
    assert run.status is RunStatus.FAILED


def test_a_run_that_waits_for_a_person_says_how_to_go_on() -> None:
    settings = load({"approve": True})
    with pytest.raises(UsageError, match="waits for a person: go on with deepdiver resume"):
        run_deep_research_agent(
            QUESTION, settings=settings, llm=ScriptedReasoner(), tools=[archive]
        )
    (run,) = open_store(settings).runs.list_all()
    assert run.status is RunStatus.WAITING


# -- from everywhere


def test_it_works_from_a_script() -> None:
    model = Brain()
    context = check(run_deep_research_agent(QUESTION, llm=model, tools=[archive]), rounds=2)
    assert model.calls
    assert context.key_findings
    assert {result.url.split("/")[2] for result in context.search_history} == {"archive.example"}


async def test_it_works_from_a_running_event_loop() -> None:
    check(run_deep_research_agent(QUESTION, llm=ScriptedReasoner(), tools=[archive]))


async def test_several_can_run_side_by_side() -> None:
    one, other = await asyncio.gather(
        asyncio.to_thread(
            run_deep_research_agent, QUESTION, 2, llm=ScriptedReasoner(), tools=[memo]
        ),
        asyncio.to_thread(
            run_deep_research_agent, QUESTION, 1, llm=ScriptedReasoner(), tools=[archive]
        ),
    )
    assert (one["iterations"], other["iterations"]) == (2, 1)


def test_the_process_ends_when_the_script_does(tmp_path: Path) -> None:
    code = (
        "from deepdiver import EmbeddedReasoner, run_deep_research_agent\n"
        "from langchain_core.tools import tool\n"
        "@tool\n"
        "def memo(query: str) -> str:\n"
        "    'Read the memo.'\n"
        "    return 'Holm Works is owned by Anna Holm, says the memo.'\n"
        f"result = run_deep_research_agent({QUESTION!r}, llm=EmbeddedReasoner(), tools=[memo])\n"
        "print(result['final_report'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert "Anna Holm" in done.stdout


# -- what it does


def test_max_iterations_is_obeyed_and_five_by_default() -> None:
    check(
        run_deep_research_agent(
            QUESTION, max_iterations=2, llm=ScriptedReasoner(), tools=[archive]
        ),
        rounds=2,
    )
    check(run_deep_research_agent(QUESTION, llm=ScriptedReasoner(), tools=[archive]), rounds=5)


def test_whatever_the_settings_say_it_is_orchestrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPDIVER_STRATEGY", "popper")
    check(run_deep_research_agent(QUESTION, llm=ScriptedReasoner(), tools=[archive]))
    (run,) = open_sqlite(load().home).runs.list_all()
    assert run.strategy == "orchestrated"


def test_it_is_a_run_on_record_with_its_files_and_events() -> None:
    told: list[str] = []
    check(
        run_deep_research_agent(
            QUESTION,
            llm=EmbeddedReasoner(),
            tools=[memo],
            on_event=lambda event: told.append(event.type),
        ),
        rounds=2,
    )
    home = load().home
    (run,) = open_sqlite(home).runs.list_all()
    assert run.status in {RunStatus.ANSWERED, RunStatus.PARTIAL}
    assert (home / "runs" / run.id / "report.md").exists()
    assert (told[0], told[-1]) == ("run_started", "run_ended")


def test_without_a_model_and_tools_the_settings_say_who_thinks_and_what_is_searched() -> None:
    question = "Which cheese won gold, and where does its milk come from?"
    result = run_deep_research_agent(question, settings=sample())
    assert "embedded reasoner" in result["final_report"]
    context = result["research_context"]
    assert context.search_history
    assert all(item.url.startswith("sample:") for item in context.search_history)


def test_the_seeds_usage_as_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPDIVER_SEARCH", "library")
    monkeypatch.setenv("DEEPDIVER_DOCUMENTS", str(LIBRARY))
    monkeypatch.setenv("DEEPDIVER_AS_OF", "2026-11-15")
    seed = (
        "from src.agent import run_deep_research_agent\n"
        "\n"
        "result = run_deep_research_agent(\n"
        '    "Your research question here",\n'
        "    max_iterations=5\n"
        ")\n"
        "\n"
        "print(result['final_report'])\n"
    )
    adapted = seed.replace("src.agent", "deepdiver").replace(
        "Your research question here",
        "How old are the children of the parents who run Svedjan Ost AB?",
    )
    held: dict[str, Any] = {}
    exec(adapted, held)  # noqa: S102
    said = capsys.readouterr().out
    assert said == f"{held['result']['final_report']}\n"
    for age in (
        "Alma Kvarnlöf is 15 years old",
        "Hjalmar Kvarnlöf is 12 years old",
        "Siri Kvarnlöf is 8 years old",
    ):
        assert age in said
    assert re.search(
        r"^# .+\n\n\*Found and weighed .+\*\n\n## Bottom line\n\nHjalmar Kvarnlöf is 12",
        said,
        re.MULTILINE,
    ), "the bottom line comes first, with its heading"
    assert re.search(
        r"^## Evidence view\n\n\*\*Answered, confidence 0\.\d\d\.\*\*$", said, re.MULTILINE
    )
    assert "### Limits" in said
    context = held["result"]["research_context"]
    assert held["result"]["iterations"] == 3
    assert {item.search_intent for item in context.search_history} == {
        SearchIntent.INITIAL_EXPLORATION,
        SearchIntent.FACT_CHECKING,
    }
    assert any("born on 14 March 2011" in finding for finding in context.key_findings)
    assert context.unanswered_questions == ()


# -- searching alone


@tool
def broken(query: str) -> str:
    """Search what is down."""
    raise RuntimeError("the service is down")


@pytest.mark.parametrize("query", ["", " \n"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        get_search_results(query, tools=[archive])


@pytest.mark.parametrize("most", [0, -1, 51])
def test_a_number_of_results_that_is_none_is_refused(most: int) -> None:
    with pytest.raises(UsageError, match=f"max_results is {most}; it must be 1 to 50"):
        get_search_results(QUESTION, most, tools=[archive])


def test_a_search_of_nothing_says_so() -> None:
    with pytest.raises(NoEvidenceError, match="nothing to search"):
        get_search_results(QUESTION, tools=[])


def test_a_provider_that_fails_is_left_out_and_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DEEPDIVER_RETRIES", "0")
    events: list[Event] = []
    found = get_search_results(QUESTION, tools=[broken, memo], on_event=events.append)
    assert [result.url for result in found] == ["tool:memo"]
    told = [event.what for event in events if event.type == "limited"]
    assert len(told) == 1
    assert "broken could not search" in told[0]
    assert "the service is down" in told[0]


def test_where_nobody_answers_the_list_is_empty_and_a_warning_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DEEPDIVER_RETRIES", "0")
    with pytest.warns(UserWarning, match="broken could not search"):
        assert get_search_results(QUESTION, tools=[broken]) == []


def test_results_have_title_address_text_and_relevance_the_best_first() -> None:
    found = get_search_results(QUESTION, tools=[archive])
    assert all(isinstance(result, SearchResult) for result in found)
    assert {result.title for result in found} == {"Register", "Gazette", "Notice"}
    assert all(result.url.startswith("https://archive.example/") for result in found)
    assert any("owned by Anna Holm" in result.content for result in found)
    scores = [result.relevance_score for result in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 < score <= 1.0 for score in scores)
    assert {result.search_intent for result in found} == {SearchIntent.INITIAL_EXPLORATION}
    assert not open_sqlite(load().home).runs.list_all(), "a search is no run"


def test_the_text_of_a_result_is_limited_to_its_best_passages() -> None:
    @tool
    def long(query: str) -> str:
        """Read a long text."""
        filler = "Nothing of this is to the point, whatever one may think of it. " * 100
        return f"{filler}\n\nHolm Works is owned by Anna Holm, says the clerk.\n\n{filler}"

    (result,) = get_search_results(QUESTION, tools=[long], intent=SearchIntent.FACT_CHECKING)
    assert len(result.content) <= 2_000
    assert "owned by Anna Holm" in result.content
    assert result.search_intent is SearchIntent.FACT_CHECKING


def test_at_most_as_many_results_as_asked_for() -> None:
    assert len(get_search_results(QUESTION, 2, tools=[archive])) == 2


async def test_it_searches_what_the_settings_name_also_from_a_running_loop() -> None:
    found = get_search_results("Who runs Svedjan Ost AB?", settings=sample())
    assert found
    assert all(result.url.startswith("sample:") for result in found)
