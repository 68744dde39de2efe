"""The navigator walks every edge of its graph.

One decision, one tool, one analysis at a time, and then the person.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deepdiver import tasks
from deepdiver.core.events import Decided, FindingDropped, PersonAsked, PlanProposed, Recalled
from deepdiver.core.record import Contradiction, RunStatus, SentenceKind, SourceKind
from deepdiver.core.settings import Filters, load
from deepdiver.errors import UsageError
from deepdiver.gateway import Gateway, Mode, Reply, Request
from deepdiver.reason.parse import read_answer
from deepdiver.report.markdown import answer_text, render_markdown
from deepdiver.run import replay, research, resume
from deepdiver.run.answers import answer_person
from deepdiver.sample import LIBRARY
from deepdiver.store.sqlite import open_sqlite
from deepdiver.strategies.navigator import analyser, disputes, loops
from deepdiver.strategies.navigator import graph as navigator
from deepdiver.strategies.navigator.decide import ENOUGH
from deepdiver.strategies.table import TABLE
from deepdiver.tools.hit import Hit
from tests.servers.scripted import Document, ScriptedServer
from tests.strategies.rig import (
    CORPUS,
    QUESTION,
    CorpusProvider,
    Rig,
    ScriptedReasoner,
    ends_at_a_refused_key,
    fail,
    goes_on_without,
    refuse,
    refuses_an_empty_question,
)
from tests.warm import Warm

pytestmark = pytest.mark.usefixtures("read_once")

SEED = "What is the age of the children for the parents which run the company Svedjan Ost AB."
BEGIN = ["initialize", "decision_node", "approve_plan"]
STEP = ["search", "analyzer_node", "decision_node"]
END = ["hitl_output", "human_feedback"]
ASKED = [*END, "human_feedback"]
"""With somebody who answers: a node that was interrupted is entered again."""

Rule = Callable[[Any], Any]


def rig_of(
    home: Path, reasoner: ScriptedReasoner | None = None, provider: Any = None, **more: Any
) -> Rig:
    return Rig(home, reasoner, provider, strategy="navigator", **{"read_pages": True, **more})


def act(action: str, what: str | None = None) -> tasks.NextAction:
    return tasks.NextAction(next_action=action, query_or_url=what, reasoning="so it shall be")


def in_turn(*actions: tasks.NextAction) -> Rule:
    """Decide one after the other; the last again and again."""
    left = list(actions)
    return lambda task: left.pop(0) if len(left) > 1 else left[0]


def reading(**changes: Any) -> Rule:
    """Analyse as usual, with something else besides."""
    return lambda task: ScriptedReasoner()._analyse_output(task).model_copy(update=changes)


def searching(first: str = "Holm") -> Rule:
    """Search in new words each time."""
    letters = iter("abcdefghijklmnopqrstuvw")
    return lambda task: act("search_corpus", f"{first} {next(letters)}")


def nothing(task: tasks.AnalyseOutput) -> tasks.Analysis:
    return tasks.Analysis(
        assessment="nothing to the point", confidence_score=0.9, suggestions_for_next_step=("more",)
    )


def person(*answers: dict[str, Any]) -> Any:
    """Someone who answers one after the other, and whom nobody may ask more often."""
    left, asked = list(answers), list[dict[str, Any]]()

    async def ask(shown: dict[str, Any]) -> dict[str, Any]:
        asked.append(shown)
        return left.pop(0)

    ask.asked = asked  # type: ignore[attr-defined]
    return ask


ACCEPT = {"action": "accept"}


# What goes wrong


async def test_a_run_without_a_question_is_refused(tmp_path: Path) -> None:
    await refuses_an_empty_question(rig_of(tmp_path))


@pytest.mark.parametrize("task", [task.name() for task in tasks.TASKS])
async def test_no_single_task_is_indispensable(tmp_path: Path, task: str) -> None:
    await goes_on_without(
        task, rig_of(tmp_path, ScriptedReasoner(**{task: fail}), max_iterations=4)
    )


async def test_a_run_in_which_every_task_fails_ends_with_a_report_that_says_so(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(**{task.name(): fail for task in tasks.TASKS}))
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.MODEL_FAILED
    assert outcome.report is not None
    assert outcome.report.confidence == 0.0
    assert {event.by for event in rig.of(Decided)} == {"rule"}
    assert any("decide action failed" in line for line in outcome.report.limits)
    assert "decide action failed: the model is not in the mood." in answer_text(outcome.report)


async def test_a_refused_key_ends_the_run_at_once(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=refuse))
    await ends_at_a_refused_key(rig)


async def test_a_search_that_fails_is_a_step_that_brought_nothing(tmp_path: Path) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    rig = rig_of(tmp_path, provider=provider)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.COULD_NOT_SEARCH
    assert outcome.report is not None
    assert any("corpus could not search" in line for line in outcome.report.limits)
    assert "corpus could not search: corpus is down." in answer_text(outcome.report)
    assert any("it could not be used" in line for line in told(outcome, "Research Journey"))
    assert not rig.reasoner.of(tasks.AnalyseOutput), "there was nothing to analyse"


def told(outcome: Any, heading: str) -> list[str]:
    return [
        line.text
        for part in outcome.report.sections
        if part.heading == heading
        for line in part.all_sentences()
    ]


# The path


async def test_the_path_is_that_of_the_seed(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, *STEP, *END]
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert "Anna Holm" in outcome.report.answer[0].text
    assert [event.decision for event in rig.of(Decided)] == ["search_corpus", "send_to_hitl"]


async def test_the_loop_goes_on_until_the_hand_over(tmp_path: Path) -> None:
    decide = in_turn(
        act("search_corpus", "Holm"), act("search_corpus", "Anna"), act("send_to_hitl")
    )
    analyse = reading(suggestions_for_next_step=("more",))
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=decide, analyse_output=analyse))
    await rig.work()
    assert rig.path == [*BEGIN, *STEP, *STEP, *END]
    assert rig.provider.queries == ["Holm", "Anna"], "one tool, one query at a time"


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("duckduckgo", "duckduckgo_search"),
        ("google", "google_search"),
        ("serper", "google_search"),
        ("serpapi", "google_search"),
        ("library", "search"),
        ("brave", "search"),
    ],
)
async def test_each_tool_has_its_node(tmp_path: Path, name: str, node: str) -> None:
    provider = CorpusProvider()
    provider.name = name
    rig = rig_of(tmp_path, provider=provider, prices={name: {}})
    outcome = await rig.work()
    assert rig.path == [*BEGIN, node, "analyzer_node", "decision_node", *END]
    assert rig.reasoner.of(tasks.DecideAction)[0].tools[0].name == f"search_{name}"
    assert outcome.run.status is RunStatus.ANSWERED


@pytest.mark.parametrize("most", [1, 2, 4])
async def test_max_iterations_bounds_the_steps_of_a_pass(tmp_path: Path, most: int) -> None:
    found = iter(range(100))

    def analyse(task: tasks.AnalyseOutput) -> tasks.Analysis:
        quote = task.texts[0].text.split(".")[0]
        info = tasks.Info(statement=f"{quote} {next(found)}", source="T1", quote=quote)
        return tasks.Analysis(
            extracted_info=(info,),
            assessment="x",
            confidence_score=1.0,
            suggestions_for_next_step=("m",),
        )

    rig = rig_of(
        tmp_path,
        ScriptedReasoner(decide_action=searching(), analyse_output=analyse),
        max_iterations=most,
    )
    await rig.work()
    assert rig.path == [*BEGIN, *(STEP * most), *END]
    last = rig.of(Decided)[-1]
    assert (last.decision, last.by, last.reason) == (
        "send_to_hitl",
        "rule",
        f"step {most} is the last of a pass",
    )
    allowed = navigator.allowance(most, 6)
    for kind, count in allowed.tasks.items():
        assert len(rig.reasoner.of(kind)) <= count
    assert len(rig.provider.queries) <= allowed.searches


async def test_the_hand_over_by_confidence_goes_by_the_evidence_and_not_by_the_opinion(
    tmp_path: Path,
) -> None:
    boast: Rule = lambda task: tasks.Analysis(assessment="done", confidence_score=1.0)  # noqa: E731
    decide = in_turn(
        act("search_corpus", "Holm"), act("search_corpus", "Anna"), act("send_to_hitl")
    )
    rig = rig_of(tmp_path / "boast", ScriptedReasoner(decide_action=decide, analyse_output=boast))
    await rig.work()
    assert rig.path.count("search") == 2, "an opinion of 1.0 without evidence ends nothing"
    second = rig.reasoner.of(tasks.DecideAction)[1]
    assert second.confidence == 0.0
    assert second.analyzer_report.confidence_score == 1.0, "it is told beside"
    sure = rig_of(
        tmp_path / "sure", ScriptedReasoner(decide_action=in_turn(act("search_corpus", "Holm")))
    )
    await sure.work()
    last = sure.of(Decided)[-1]
    assert (last.by, sure.path.count("search")) == ("rule", 1)
    assert re.fullmatch(r"the confidence is 0\.\d\d, and the analyzer misses nothing", last.reason)
    assert float(last.reason.split()[3].rstrip(",")) >= ENOUGH


async def test_no_handing_over_before_anything_was_looked_at(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=in_turn(act("send_to_hitl"))))
    outcome = await rig.work()
    first = rig.of(Decided)[0]
    assert (first.decision, first.by) == ("search_corpus", "rule")
    assert rig.path == [*BEGIN, *STEP, *END]
    assert outcome.run.status is RunStatus.ANSWERED


async def test_no_handing_over_before_each_part_was_searched_for(tmp_path: Path) -> None:
    parts = ("Who owns Holm Works?", "How many people does Holm Works employ?")
    split: Rule = lambda task: tasks.Decomposition(  # noqa: E731
        problems=tuple(tasks.Problem(question=p) for p in parts)
    )
    decide = in_turn(act("search_corpus", "owns Holm"), act("send_to_hitl"))
    rig = rig_of(tmp_path, ScriptedReasoner(decompose=split, decide_action=decide))
    await rig.work()
    assert rig.path == [*BEGIN, *STEP, *STEP, *END]
    assert "employ" in rig.provider.queries[1]
    assert "nobody has searched for an answer to: How many" in rig.of(Decided)[1].reason


# Circles


async def test_a_reasoner_that_repeats_itself_is_told_and_then_overridden_way_by_way(
    tmp_path: Path,
) -> None:
    stubborn = in_turn(act("search_corpus", "Holm Works"))
    aside: Rule = lambda task: tasks.Analysis(  # noqa: E731
        assessment="beside", confidence_score=0.1, suggestions_for_next_step=("boats of Bertil",)
    )
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=stubborn, analyse_output=aside))
    outcome = await rig.work()
    choices = [(event.decision, event.by) for event in rig.of(Decided)]
    assert choices == [
        ("search_corpus", "reasoner"),
        *[("search_corpus", "rule")] * 2,
        ("send_to_hitl", "rule"),
    ]
    assert rig.provider.queries == ["Holm Works", "owns holm works", "boats of Bertil"], (
        "other words, then a lead"
    )
    again = "Because a step that was taken before was asked for again, "
    assert sum(line.startswith(again) for line in told(outcome, "Research Journey")) == 2


async def test_barren_steps_go_up_the_ladder_and_end_with_the_person_and_what_is_missing(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=searching(), analyse_output=nothing))
    ask = person(ACCEPT)
    await rig.work(ask=ask)
    ways = [event.decision for event in rig.of(Decided) if event.decision in set(loops.LADDER)]
    assert ways == ["reframe", "narrow", "lead"]
    told_of = [task.detected for task in rig.reasoner.of(tasks.DecideAction)]
    assert told_of[: loops.BARREN] == [""] * loops.BARREN
    assert [line.partition("; ")[2].split()[0] for line in told_of[loops.BARREN :]] == [
        "reframe",
        "narrow",
        "try",
    ]
    assert rig.path.count("search") == loops.BARREN + 3
    (shown,) = ask.asked
    assert shown["missing"] == [
        QUESTION,
        "the last 6 steps brought nothing new, and every way out was tried",
    ]
    assert shown["confidence"] == 0.0


# Addresses


class Web(CorpusProvider):
    """A search over pages of a local server, of which the result list shows little."""

    name = "duckduckgo"

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    def _hit(self, url: str) -> Hit:
        title, _, text = self.corpus[url]
        shown = text.split(".")[0] + "."
        return Hit(
            url=f"{self.url}/page/{url[4:]}",
            title=title,
            text=shown,
            provider=self.name,
            kind=SourceKind.PAGE,
        )


PAGES = {
    "register": "Holm Works is owned by Anna Holm. The register was founded in 1998 and is kept in "
    "two volumes.",
    "secret": "Nobody should ever read this page, because nobody was pointed at it.",
    "linked": "Anna Holm lives in Lund, as the linked page says at some length, and owns a boat "
    "there too.",
}


@pytest.fixture
def web() -> Iterator[ScriptedServer]:
    def page(name: str) -> Document:
        text = PAGES.get(name, PAGES["secret"])
        return Document(f"/page/{name}", name.title(), text)

    with ScriptedServer(page=page) as server:
        yield server


def web_rig(home: Path, server: ScriptedServer, decide: Rule, **more: Any) -> Rig:
    settings = {
        "allow_hosts": [f"127.0.0.1:{server.port}"],
        "prices": {"duckduckgo": {}},
        "contact": "",
        **more,
    }
    urls = ("U1", "https://evil.example/", "U77")
    missing = reading(suggestions_for_next_step=("more",), new_potential_urls=urls)
    return rig_of(
        home,
        ScriptedReasoner(decide_action=decide, analyse_output=missing),
        Web(server.url),
        **settings,
    )


def read_of(server: ScriptedServer) -> list[str]:
    return [entry.path for entry in server.log if entry.path.startswith("/page/")]


async def test_a_page_is_read_when_it_is_asked_for_and_not_before(
    tmp_path: Path, web: ScriptedServer
) -> None:
    def decide(task: tasks.DecideAction) -> tasks.NextAction:
        if not task.urls:
            return act("search_duckduckgo", "Holm Works")
        assert read_of(web) == [], "the result list is not the page"
        found = next(address for address in task.urls if address.url.endswith("register"))
        return act("crawl_url", found.id)

    rig = web_rig(tmp_path, web, decide, max_iterations=2)
    outcome = await rig.work()
    assert rig.path == [*BEGIN, "duckduckgo_search", *STEP[1:], "crawl", *STEP[1:], *END]
    assert read_of(web) == ["/page/register"]
    analysed = rig.reasoner.of(tasks.AnalyseOutput)[1]
    assert "kept in two volumes" in analysed.texts[0].text
    assert any(
        line.startswith("crawl_url http://127.0.0.1") for line in told(outcome, "Research Journey")
    )
    assert outcome.report is not None
    assert analyser.FOREIGN in outcome.report.limits


@pytest.mark.parametrize(
    "foreign",
    ["{0}/page/secret", "https://evil.example/", "U99", "file:///etc/passwd", "doc:register"],
)
async def test_a_hostile_model_reads_no_page_that_it_names_itself(
    tmp_path: Path, web: ScriptedServer, foreign: str
) -> None:
    decide = in_turn(
        act("search_duckduckgo", "Holm Works"), act("crawl_url", foreign.format(web.url))
    )
    rig = web_rig(tmp_path, web, decide, max_iterations=6)
    outcome = await rig.work()
    assert "/page/secret" not in read_of(web)
    assert not [
        row
        for row in rig.store.journal.rows(rig.run.id)
        if row.kind == "fetch" and "evil" in row.what
    ]
    refused = [event for event in rig.of(Decided) if "stands in no search result" in event.reason]
    assert refused
    assert {event.by for event in refused} == {"rule"}
    assert "evil.example" not in render_markdown(outcome.report)  # type: ignore[arg-type]


async def test_an_address_of_the_person_may_be_read(tmp_path: Path, web: ScriptedServer) -> None:
    def decide(task: tasks.DecideAction) -> tasks.NextAction:
        own = [address for address in task.urls if address.found == "person"]
        return act("crawl_url", own[0].id) if own else act("search_duckduckgo", "Holm Works")

    question = f"Who owns Holm Works? See {web.url}/page/linked."
    rig = web_rig(tmp_path, web, decide, question=question, max_iterations=1)
    await rig.work()
    assert rig.path == [*BEGIN, "crawl", *STEP[1:], *END]
    assert read_of(web) == ["/page/linked"]


async def test_pages_are_not_offered_where_reading_them_is_switched_off(
    tmp_path: Path, web: ScriptedServer
) -> None:
    decide = in_turn(act("search_duckduckgo", "Holm Works"), act("crawl_url", "U1"))
    rig = web_rig(tmp_path, web, decide, read_pages=False, max_iterations=3)
    await rig.work()
    assert read_of(web) == []
    assert all(task.urls == () for task in rig.reasoner.of(tasks.DecideAction))
    assert "crawl_url" not in {tool.name for tool in rig.reasoner.of(tasks.DecideAction)[0].tools}


async def test_a_page_that_cannot_be_read_is_a_step_and_a_limit(
    tmp_path: Path, web: ScriptedServer
) -> None:
    question = "Who owns Holm Works? See http://127.0.0.1:9/nothing"
    decide = in_turn(
        act("crawl_url", "U1"), act("search_duckduckgo", "Holm Works"), act("send_to_hitl")
    )
    rig = web_rig(tmp_path, web, decide, question=question)
    outcome = await rig.work()
    assert outcome.report is not None
    assert any("http://127.0.0.1:9/nothing was not read" in line for line in outcome.report.limits)
    assert outcome.run.status is RunStatus.ANSWERED


# Shared memory


async def test_a_quote_that_is_not_in_the_source_enters_nothing(tmp_path: Path) -> None:
    def invent(task: tasks.AnalyseOutput) -> tasks.Analysis:
        made_up = tasks.Info(
            statement="Carl owns it.",
            source="T1",
            quote="Holm Works belongs to Carl.",
            answers="P1",
        )
        nowhere = tasks.Info(
            statement="Dora owns it.", source="T99", quote="Holm Works", answers="P1"
        )
        return tasks.Analysis(
            extracted_info=(made_up, nowhere), assessment="sure", confidence_score=1.0
        )

    rig = rig_of(tmp_path, ScriptedReasoner(analyse_output=invent), max_iterations=2)
    outcome = await rig.work()
    assert {event.statement for event in rig.of(FindingDropped)} == {
        "Carl owns it.",
        "Dora owns it.",
    }
    assert outcome.run.status is RunStatus.NOT_ANSWERED
    assert outcome.report is not None
    assert "Carl" not in outcome.report.model_dump_json()


async def test_state_and_result_have_the_fields_of_the_seed(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    graph = TABLE[rig.run.strategy].build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    result = await graph.ainvoke(
        {"messages": [HumanMessage(QUESTION)]}, config, context=rig.session().deps
    )
    assert set(result["decision"]) >= {"next_action", "query_or_url", "reasoning"}
    assert result["decision"]["query_or_url"] is None
    assert list(result["analyzer_report"]) == list(tasks.Analysis.model_fields)
    step = result["research_history"][0]
    assert (step["action"], step["query_or_url"], step["found"]) == ("search_corpus", QUESTION, 3)
    assert (step["confidence_score"], step["confidence"]) == (0.5, pytest.approx(0.98, abs=0.03))
    assert {fact["answers"] for fact in result["shared_memory"]} == {QUESTION}
    assert result["initial_query"] == QUESTION
    json.dumps(
        {key: value for key, value in result.items() if key not in {"messages", "__interrupt__"}}
    )
    (asked,) = result["__interrupt__"]
    assert set(asked.value) == {
        "ask",
        "question",
        "answer",
        "journey",
        "key_sources",
        "missing",
        "confidence",
    }
    assert asked.value["ask"] == "review_answer"
    message = result["messages"][-1]
    assert isinstance(message, AIMessage)
    assert re.match(
        r"Answer:\n.+\nCertainty: answered, confidence 0\.\d\d\.\nMissing: nothing that was asked "
        r"for\.\n\nResearch Journey:\n- .+\n\nKey Sources:\n- .+",
        message.text,
        re.DOTALL,
    )


async def test_a_name_beside_the_matter_is_a_lead_and_is_tried_when_stuck(tmp_path: Path) -> None:
    def analyse(task: tasks.AnalyseOutput) -> tasks.Analysis:
        boats = [t for t in task.texts if "Bertil Ask" in t.text]
        quote = "Holm Works is owned by Bertil Ask, a trader."
        info = tuple(tasks.Info(statement=quote, source=t.id, quote=quote) for t in boats)
        return tasks.Analysis(
            extracted_info=info,
            assessment="x",
            confidence_score=0.2,
            suggestions_for_next_step=("m m",),
        )

    decide = searching()
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=decide, analyse_output=analyse))
    await rig.work()
    offered = [task.leads for task in rig.reasoner.of(tasks.DecideAction)]
    assert "Bertil Ask" in offered[1]


# Conflicting information


def disagree(task: tasks.AnalyseOutput) -> tasks.Analysis:
    """Take the first sentence of each text, and tell which of them name the same owner."""
    quotes = [text.plain.split(".")[0] + "." for text in task.texts]
    info = []
    for number, (text, quote) in enumerate(zip(task.texts, quotes, strict=True)):
        before = {f"E{n}": other for n, other in enumerate(quotes[:number], 1)}
        before |= {item.id: item.statement for item in task.shared_memory}
        same = tuple(
            label for label, other in before.items() if ("Anna" in other) == ("Anna" in quote)
        )
        apart = tuple(label for label in before if label not in same)
        info.append(
            tasks.Info(
                statement=quote,
                source=text.id,
                quote=quote,
                answers="P1",
                confirms=same,
                contradicts=apart,
            )
        )
    return tasks.Analysis(
        extracted_info=tuple(info),
        assessment="they disagree",
        confidence_score=0.4,
        inconsistencies_found="two owners",
        suggestions_for_next_step=("more",),
    )


def conflict_rig(home: Path, *kept: str, **more: Any) -> Rig:
    corpus = {url: CORPUS[url] for url in kept}
    decide = in_turn(act("search_corpus", "Holm Works"), act("send_to_hitl"))
    reasoner = ScriptedReasoner(decide_action=decide, analyse_output=disagree)
    return rig_of(home, reasoner, CorpusProvider(corpus), **more)


async def test_what_is_in_dispute_stays_out_of_the_answer_and_is_shown_with_both_sides(
    tmp_path: Path,
) -> None:
    rig = conflict_rig(tmp_path, "doc:register", "doc:gazette")
    ask = person(ACCEPT)
    outcome = await rig.work(ask=ask)
    assert outcome.report is not None
    assert outcome.report.answer == ()
    assert outcome.run.status is RunStatus.UNDECIDED
    lines = told(outcome, disputes.HEADING)
    assert lines[0] == disputes.OPEN
    assert sorted(line.split(" by ")[1] for line in lines[1:]) == [
        "Anna Holm.",
        "Bertil Ask, a trader.",
    ]
    assert all(
        s.citations
        for part in outcome.report.sections
        for s in part.all_sentences()
        if s.kind is SentenceKind.FACT
    )
    (shown,) = ask.asked
    assert any(
        line.startswith("Not settled: ") and "Anna" in line and "Bertil" in line
        for line in shown["missing"]
    )
    message = outcome.state["messages"][-1].text
    assert "\nCertainty: undecided.\nMissing or uncertain:\n- Who owns Holm Works?\n" in message
    assert "\n- Not settled: " in message
    kinds = [kind for kind, _, _ in rig.store.records.ledger(rig.run.id)]
    assert kinds.count(Contradiction.__name__.lower()) == 1
    assert rig.reasoner.of(tasks.DecideAction)[-1].unanswered == (QUESTION,)


async def test_a_further_independent_source_settles_it(tmp_path: Path) -> None:
    rig = conflict_rig(tmp_path, "doc:register", "doc:gazette", "doc:notice")
    outcome = await rig.work()
    assert outcome.report is not None
    assert outcome.run.status is RunStatus.ANSWERED
    assert "Anna Holm" in outcome.report.answer[0].text
    assert not any("Bertil" in sentence.text for sentence in outcome.report.answer)
    lines = told(outcome, disputes.HEADING)
    assert lines[0] == disputes.SETTLED
    assert "Anna" in lines[1]
    assert "Bertil" in lines[2]


# The person


async def test_nobody_to_ask_the_run_ends_at_the_first_hand_over(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.ANSWERED
    assert rig.store.runs.get(rig.run.id).status is RunStatus.ANSWERED
    assert rig.path.count("human_feedback") == 1
    assert not rig.of(PersonAsked)
    again = await rig.session(Mode.REPLAY).work(None, resumed=True)
    assert again.error is None
    assert again.report is not None
    assert outcome.report is not None
    assert again.report.hash == outcome.report.hash


async def test_who_wants_to_approve_is_waited_for(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, approve=True)

    async def plan_only(shown: dict[str, Any]) -> dict[str, Any]:
        if shown["ask"] == "review_answer":
            raise RuntimeError("the power went")
        return ACCEPT

    with pytest.raises(RuntimeError, match="the power went"):
        await rig.work(ask=plan_only)
    outcome = await rig.session().work(None, resumed=True)
    assert outcome.run.status is RunStatus.WAITING
    assert rig.store.runs.get(rig.run.id).status is RunStatus.WAITING
    assert outcome.report is not None, "what there is can be read meanwhile"
    done = await rig.session().work(person(ACCEPT), resumed=True)
    assert done.run.status is RunStatus.ANSWERED


async def test_acceptance_ends_it(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    ask = person(ACCEPT)
    outcome = await rig.work(ask=ask)
    assert outcome.run.status is RunStatus.ANSWERED
    (shown,) = ask.asked
    assert "Anna Holm" in shown["answer"]
    assert shown["journey"] == [
        "search_corpus for “Who owns Holm Works?”: 3 sources, 3 new findings; confidence 0.99."
    ]
    assert shown["key_sources"]
    assert shown["missing"] == []
    assert shown["confidence"] == outcome.report.confidence  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "said",
    [
        {"action": "reject", "reason": "Ask about Bertil"},
        {"action": "add", "constraints": "Ask about Bertil"},
    ],
)
async def test_a_person_who_is_not_content_starts_the_loop_again(
    tmp_path: Path, said: dict[str, Any]
) -> None:
    def decide(task: tasks.DecideAction) -> tasks.NextAction:
        if task.feedback and not task.iteration:
            return act("search_corpus", "Bertil boats")
        return ScriptedReasoner()._decide_action(task)

    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=decide))
    ask = person(said, ACCEPT)
    outcome = await rig.work(ask=ask)
    assert rig.path == [*BEGIN, *STEP, *ASKED, "decision_node", *STEP, *ASKED]
    fed = [task.feedback for task in rig.reasoner.of(tasks.DecideAction)]
    assert fed[0] == ()
    assert set(fed[1:]) == {("Ask about Bertil",)}
    assert rig.reasoner.of(tasks.AnalyseOutput)[-1].feedback == ("Ask about Bertil",)
    assert "Ask about Bertil" in rig.reasoner.of(tasks.WriteReport)[-1].guidance
    assert rig.provider.queries[-1] == "Bertil boats"
    assert len(ask.asked) == 2
    assert any("said: “Ask about Bertil”" in line for line in ask.asked[1]["journey"])
    assert outcome.run.status is RunStatus.ANSWERED
    again = await rig.session(Mode.REPLAY).work(None, resumed=True)
    assert again.error is None
    assert again.report.hash == outcome.report.hash  # type: ignore[union-attr]


async def test_a_rejection_without_a_reason_is_one_all_the_same(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    await rig.work(ask=person({"action": "reject"}, ACCEPT))
    assert rig.reasoner.of(tasks.DecideAction)[-1].feedback == (
        "the person rejected the answer and did not say why",
    )
    assert rig.path.count("hitl_output") == 2


@pytest.mark.parametrize("said", [{"action": "shrug"}, {"action": "add"}, {"reason": "x"}])
async def test_what_is_no_answer_is_refused(tmp_path: Path, said: dict[str, Any]) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work(ask=person(said))
    assert isinstance(outcome.error, UsageError)
    assert outcome.run.status is RunStatus.FAILED


async def test_an_address_in_what_the_person_said_may_be_read(
    tmp_path: Path, web: ScriptedServer
) -> None:
    def decide(task: tasks.DecideAction) -> tasks.NextAction:
        own = [address.id for address in task.urls if address.found == "person"]
        if own:
            return act("crawl_url", own[0])
        return act("search_duckduckgo", "Holm Works") if not task.iteration else act("send_to_hitl")

    rig = web_rig(tmp_path, web, decide)
    await rig.work(
        ask=person({"action": "reject", "reason": f"Look at {web.url}/page/linked!"}, ACCEPT)
    )
    assert read_of(web) == ["/page/linked"]


async def test_each_pass_has_its_own_steps_and_patience(tmp_path: Path) -> None:
    decide = searching()
    rig = rig_of(
        tmp_path, ScriptedReasoner(decide_action=decide, analyse_output=nothing), max_iterations=2
    )
    await rig.work(ask=person({"action": "reject", "reason": "try harder"}, ACCEPT))
    assert rig.path == [*BEGIN, *STEP, *STEP, *ASKED, "decision_node", *STEP, *STEP, *ASKED]


def test_the_same_run_resumes_in_another_process_days_later(tmp_path: Path, warm: Warm) -> None:
    begin = f"""
import asyncio, os
from pathlib import Path
from deepdiver.core.settings import Filters, load
from deepdiver.run import research
async def ask(shown):
    os._exit(9)
documents = [Path({str(LIBRARY)!r})]
flags = {{"home": Path({str(tmp_path)!r}), "documents": documents}}
given = {{**flags, "strategy": "navigator", "as_of": "2026-11-15"}}
asyncio.run(research({SEED!r}, load(given), ask=ask))
"""
    assert subprocess.run([*warm.python, "-c", begin], check=False).returncode == 9
    settings = load({"home": tmp_path})
    store = open_sqlite(tmp_path)
    (run,) = store.runs.list_all()
    assert run.status is RunStatus.WAITING
    before = {row.key for row in store.journal.rows(run.id) if row.state == "settled"}
    assert before
    code = f"""
import asyncio, json
from pathlib import Path
from deepdiver.core.settings import Filters, load
from deepdiver.run import resume
asked = []
async def ask(shown):
    asked.append(shown)
    return {{"action": "accept"}}
settings = load({{"home": Path({str(tmp_path)!r})}})
out = asyncio.run(resume({run.id!r}, settings, ask=ask))
first = asked[0]
told = [out.run.status.value, out.report.hash, len(asked), first["ask"], first["answer"]]
print(json.dumps(told))
"""
    done = subprocess.run([*warm.python, "-c", code], capture_output=True, text=True, check=True)
    status, _, times, what, answer = json.loads(done.stdout.splitlines()[-1])
    assert (status, times, what) == ("answered", 1, "review_answer")
    assert "15 years" in answer
    rows = store.journal.rows(run.id)
    assert all(row.sends <= 1 for row in rows if row.key in before), "nothing is done twice"
    assert asyncio.run(replay(run.id, settings)).run.status is RunStatus.ANSWERED
    assert asyncio.run(resume(run.id, settings)).run.status is RunStatus.ANSWERED


# In the words of the design document


def in_words(*answers: dict[str, Any] | str) -> Rule:
    """Answer with texts, as a model does; the last again and again."""
    left = [said if isinstance(said, str) else json.dumps(said) for said in answers]
    return lambda task: read_answer(left.pop(0) if len(left) > 1 else left[0], task.answer())


def decision(action: str, what: str | None = None, why: str = "as the report suggests") -> Any:
    return {"next_action": action, "query_or_url": what, "reasoning": why}


def analysis(info: Any, *suggested: str, **more: Any) -> Any:
    return {
        "extracted_info": info,
        "assessment": "The register names the owner of the company.",
        "confidence_score": 0.9,
        "suggestions_for_next_step": list(suggested),
        "new_potential_urls": [],
        "inconsistencies_found": None,
        **more,
    }


ANSWERED = "Query appears answered based on multiple consistent sources"
OWNERS = [
    "Holm Works is owned by Anna Holm. The authority confirms that Anna Holm owns Holm Works.",
    {"company": {"owner": "Anna Holm"}, "confirmed": "Anna Holm owns Holm Works."},
    ["Anna Holm owns Holm Works.", {"fact": "Holm Works is owned by Anna Holm."}],
]


def settled_corpus() -> CorpusProvider:
    return CorpusProvider({url: CORPUS[url] for url in ("doc:register", "doc:notice")})


@pytest.mark.parametrize("info", OWNERS)
async def test_a_hunt_in_these_words_is_answered_and_ends_with_the_person(
    tmp_path: Path, info: Any
) -> None:
    reasoner = ScriptedReasoner(
        decide_action=in_words(
            f"```json\n{json.dumps(decision('search_google', 'Holm Works owner'))}\n```",
            decision("send_to_hitl"),
        ),
        analyse_output=in_words(analysis(info, ANSWERED)),
    )
    rig = rig_of(tmp_path, reasoner, settled_corpus())
    ask = person(ACCEPT)
    outcome = await rig.work(ask=ask)
    assert outcome.run.status is RunStatus.ANSWERED
    assert outcome.report is not None
    assert "Anna Holm" in outcome.report.answer[0].text
    assert outcome.report.citations
    first, last = rig.of(Decided)
    assert "search_google is not among the tools that are set up" in first.reason
    assert (last.decision, last.by) == ("send_to_hitl", "rule")
    assert last.reason.endswith("and the analyzer says that the question is answered")
    (shown,) = ask.asked
    assert shown["confidence"] >= ENOUGH
    assert any("search_corpus was taken instead" in line for line in shown["journey"])


async def test_in_these_words_too_nothing_is_believed_that_no_source_says(tmp_path: Path) -> None:
    reasoner = ScriptedReasoner(
        decide_action=in_words(
            decision("search_duckduckgo", "Holm Works"), decision("send_to_hitl")
        ),
        analyse_output=in_words(
            analysis({"owner": "Carl Dahl", "note": "Everybody should sell at once."}, ANSWERED)
        ),
    )
    rig = rig_of(tmp_path, reasoner)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.NOT_ANSWERED
    assert outcome.report is not None
    assert "Carl" not in outcome.report.model_dump_json()
    assert {event.statement for event in rig.of(FindingDropped)} == {
        "owner: Carl Dahl",
        "Everybody should sell at once.",
    }
    assert any("2 statements were refused" in line for line in outcome.report.limits)


async def test_a_suggested_page_is_read_although_the_decision_cannot_be_read(
    tmp_path: Path, web: ScriptedServer
) -> None:
    page = f"{web.url}/page/register"

    def once(task: tasks.DecideAction) -> Any:
        if task.iteration == 1:
            return fail(task)
        return in_words(decision("search_duckduckgo", "Holm Works"))(task)

    rig = web_rig(tmp_path, web, once, max_iterations=2)
    suggested = (f"Crawl URL: {page}", f"Crawl URL: {web.url}/page/secret")
    rig.reasoner.rules["analyse_output"] = in_words(analysis("", *suggested))
    outcome = await rig.work()
    assert read_of(web) == ["/page/register"], "and no page that stands nowhere"
    second = rig.of(Decided)[1]
    assert (second.decision, second.by) == ("crawl_url", "rule")
    assert "no decision could be had: read the page that the analyzer suggests" in second.reason
    assert outcome.report is not None
    assert analyser.FOREIGN in outcome.report.limits


async def test_a_page_that_the_analyzer_suggests_is_offered_first(
    tmp_path: Path, web: ScriptedServer
) -> None:
    page = f"{web.url}/page/notice"

    def decide(task: tasks.DecideAction) -> Any:
        if not task.urls:
            return in_words(decision("search_duckduckgo", "Holm Works"))(task)
        assert task.urls[0].url == page
        return in_words(decision("crawl", page))(task)

    rig = web_rig(tmp_path, web, decide, max_iterations=2)
    rig.reasoner.rules["analyse_output"] = in_words(analysis("", f"Crawl URL: {page}"))
    await rig.work()
    assert read_of(web) == ["/page/notice"]
    assert "crawl is not among the tools" in rig.of(Decided)[1].reason


async def test_sides_that_an_inconsistency_in_words_names_stay_out_of_the_answer(
    tmp_path: Path,
) -> None:
    said = analysis(
        "Holm Works is owned by Anna Holm. Holm Works is owned by Bertil Ask, a trader.",
        ANSWERED,
        inconsistencies_found="The register names Anna Holm and the gazette Bertil Ask.",
    )
    reasoner = ScriptedReasoner(
        decide_action=in_words(decision("search_web", "Holm Works"), decision("send_to_hitl")),
        analyse_output=in_words(said),
    )
    corpus = {url: CORPUS[url] for url in ("doc:register", "doc:gazette")}
    outcome = await rig_of(tmp_path, reasoner, CorpusProvider(corpus)).work()
    assert outcome.report is not None
    assert outcome.report.answer == ()
    assert told(outcome, disputes.HEADING)[0] == disputes.OPEN


# What the person restricts


class Dated(CorpusProvider):
    """Documents of different years; remembers the filters of each search."""

    years: Mapping[str, str] = {"doc:register": "2019-05-01", "doc:notice": "2026-02-01"}

    def __init__(self) -> None:
        super().__init__({url: CORPUS[url] for url in self.years})
        self.filters: list[Filters] = []

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        self.filters.append(gateway.settings.filters)
        return await super().search(query, limit, gateway)

    def _hit(self, url: str) -> Hit:
        return super()._hit(url).model_copy(update={"published": self.years[url]})


async def test_what_the_person_says_narrows_the_next_searches_and_is_on_record(
    tmp_path: Path,
) -> None:
    provider = Dated()
    rig = rig_of(tmp_path, provider=provider)
    ask = person({"action": "add", "constraints": "Only before 2022, please."}, ACCEPT)
    outcome = await rig.work(ask=ask)
    assert [item.until for item in provider.filters] == [None, date(2021, 12, 31)]
    assert provider.queries[0] == QUESTION
    first, second = rig.reasoner.of(tasks.AnalyseOutput)
    assert {text.title for text in first.texts} == {"Register", "Notice"}
    assert {text.title for text in second.texts} == {"Register"}
    assert outcome.report is not None
    assert {citation.title for citation in outcome.report.citations} == {"Register"}, (
        "what was found before in later sources is not used any more"
    )
    narrowed = "published on 2021-12-31 or earlier"
    left_out = f"1 finding from other sources than “{narrowed}” was left out."
    assert ask.asked[1]["journey"][-1] == left_out
    assert any(f"({narrowed})" in line for line in ask.asked[1]["journey"])
    assert any(event.reason.endswith(f"(only {narrowed})") for event in rig.of(Decided))
    again = await rig.session(Mode.REPLAY).work(None, resumed=True)
    assert again.error is None
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


async def test_the_same_query_is_made_again_when_it_is_narrowed(tmp_path: Path) -> None:
    decide = in_turn(
        act("search_corpus", "Holm"),
        act("send_to_hitl"),
        act("search_corpus", "Holm"),
        act("send_to_hitl"),
    )
    provider = Dated()
    analyse = reading(suggestions_for_next_step=("more",))
    rig = rig_of(tmp_path, ScriptedReasoner(decide_action=decide, analyse_output=analyse), provider)
    await rig.work(ask=person({"action": "reject", "reason": "Only before 2022"}, ACCEPT))
    assert [item.until for item in provider.filters] == [None, date(2021, 12, 31)]
    assert {event.by for event in rig.of(Decided) if event.decision == "search_corpus"} == {
        "reasoner"
    }


async def test_a_restriction_in_the_question_holds_from_the_first_search(tmp_path: Path) -> None:
    provider = Dated()
    rig = rig_of(
        tmp_path,
        provider=provider,
        question="Who owns Holm Works? Use only sources since 2020.",
        filters={"results": 4},
    )
    await rig.work()
    assert {(item.since, item.results) for item in provider.filters} == {(date(2020, 1, 1), 4)}
    for task in rig.reasoner.of(tasks.AnalyseOutput):
        assert {text.title for text in task.texts} <= {"Notice"}


async def test_a_run_does_not_wait_before_its_question_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else somebody who is quick would answer the question before, and be asked again."""
    rig = rig_of(tmp_path, approve=True)
    told: list[str] = []
    set_status = rig.store.runs.set_status

    def note(run: str, status: RunStatus, events: Sequence[str] = ()) -> None:
        asked = [text for _, text in rig.store.records.events(run) if '"person_asked"' in text]
        told.append(f"{status.value} after {len(asked)} questions")
        set_status(run, status, events)

    monkeypatch.setattr(rig.store.runs, "set_status", note)
    for number, said in enumerate((ACCEPT, {"action": "reject", "reason": "look again"}, ACCEPT)):
        outcome = await rig.session().work(None, resumed=number > 0)
        assert outcome.run.status is RunStatus.WAITING
        answer_person(rig.run.id, said, rig.store)
    outcome = await rig.session().work(None, resumed=True)
    assert outcome.run.status is RunStatus.ANSWERED
    waits = [line for line in told if line.startswith("waiting")]
    assert waits == [f"waiting after {number} questions" for number in (1, 2, 3)]


# Approval


async def test_the_first_decision_is_shown_as_a_plan(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, approve=True)
    ask = person(ACCEPT, ACCEPT)
    outcome = await rig.work(ask=ask)
    plan, answer = ask.asked
    assert plan["ask"] == "approve_plan"
    assert plan["queries"] == ["Who owns Holm Works?"]
    assert answer["ask"] == "review_answer"
    assert rig.path == [*BEGIN[:2], "approve_plan", "approve_plan", *STEP, *ASKED]
    assert outcome.run.status is RunStatus.ANSWERED


async def test_an_edited_plan_is_decided_upon_anew(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, approve=True)
    await rig.work(ask=person({"action": "edit", "problems": ["Who founded Holm Works?"]}, ACCEPT))
    asked = rig.reasoner.of(tasks.DecideAction)
    assert [task.problems for task in asked[:2]] == [(QUESTION,), ("Who founded Holm Works?",)]
    assert rig.path.count("approve_plan") == 2, "once, and again when it has its answer"


async def test_a_rejected_plan_is_made_anew_with_the_reason(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, approve=True)
    await rig.work(ask=person({"action": "reject", "reason": "too broad"}, ACCEPT, ACCEPT))
    assert [task.objection for task in rig.reasoner.of(tasks.Decompose)] == ["", "too broad"]
    assert rig.reasoner.of(tasks.DecideAction)[1].objection == "too broad"
    assert len(rig.of(PlanProposed)) >= 2


# Across runs


async def test_leads_of_a_past_run_are_recalled_where_that_is_wanted(tmp_path: Path) -> None:
    def analyse(task: tasks.AnalyseOutput) -> tasks.Analysis:
        base = ScriptedReasoner()._analyse_output(task)
        return base.model_copy(update={"suggestions_for_next_step": ("the cellar books of Lund",)})

    decide = in_turn(act("search_corpus", "Holm Works"), act("send_to_hitl"))
    await rig_of(tmp_path, ScriptedReasoner(decide_action=decide, analyse_output=analyse)).work()
    unasked = rig_of(tmp_path, question="Does Holm Works own boats?")
    await unasked.work()
    assert all("cellar" not in task.model_dump_json() for task in unasked.reasoner.asked)
    rig = rig_of(tmp_path, past=True)
    outcome = await rig.work()
    assert rig.of(Recalled)
    first = rig.reasoner.of(tasks.DecideAction)[0]
    assert "the cellar books of Lund" in first.leads
    assert ("the cellar books of Lund",) in [past.leads for past in first.past]
    assert outcome.report is not None
    assert any("Not independent of past runs" in line for line in outcome.report.limits)


# From Python


async def test_a_graph_of_the_callers_stops_for_the_person_and_goes_on_with_a_command(
    tmp_path: Path,
) -> None:
    from langchain_core.tools import tool

    from deepdiver import create_deepdiver_agent

    @tool
    def archive(query: str) -> list[dict[str, str]]:
        """Search the archive."""
        return [
            {"url": f"memo:{key}", "title": t, "content": x} for key, (t, _, x) in CORPUS.items()
        ]

    settings, saver = load({"home": tmp_path}), InMemorySaver()
    more: dict[str, Any] = {
        "settings": settings,
        "strategy": "navigator",
        "max_iterations": 5,
    }
    agent = create_deepdiver_agent(ScriptedReasoner(), [archive], checkpointer=saver, **more)
    config: Any = {"configurable": {"thread_id": "one"}}
    result = await agent.ainvoke({"messages": [HumanMessage(QUESTION)]}, config)
    assert result["__interrupt__"][0].value["ask"] == "review_answer"
    store = open_sqlite(tmp_path)
    assert store.runs.get(result["run"]).status is RunStatus.WAITING
    # As in another process.
    fresh = create_deepdiver_agent(ScriptedReasoner(), [archive], checkpointer=saver, **more)
    again = await fresh.ainvoke(
        Command(resume={"action": "reject", "reason": "And Bertil?"}), config
    )
    assert again["feedback"] == ["And Bertil?"]
    assert again["__interrupt__"]
    done = await fresh.ainvoke(Command(resume=ACCEPT), config)
    assert done["accepted"]
    assert "__interrupt__" not in done
    assert store.runs.get(result["run"]).status is RunStatus.ANSWERED


def test_from_a_script_and_without_a_checkpointer_the_first_hand_over_is_the_result(
    tmp_path: Path,
) -> None:
    from langchain_core.tools import tool

    from deepdiver import create_deepdiver_agent

    @tool
    def memo(query: str) -> str:
        """Read the memo."""
        return "Holm Works is owned by Anna Holm, says the memo of the clerk."

    agent = create_deepdiver_agent(
        ScriptedReasoner(),
        [memo],
        settings=load({"home": tmp_path}),
        strategy="navigator",
        max_iterations=2,
    )
    result = agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})
    assert "Anna Holm" in result["answer"]
    assert result["messages"][-1].text.startswith("Answer:\n")
    assert result["key_sources"] == ["memo, tool:memo"]


# Cost


async def test_a_step_late_in_a_hunt_costs_no_more_than_an_early_one(tmp_path: Path) -> None:
    """Every step brings six new findings, so that whatever grows with what is known would show."""
    words = [
        "ash",
        "birch",
        "cedar",
        "elm",
        "fir",
        "larch",
        "maple",
        "oak",
        "pine",
        "spruce",
        "willow",
        "yew",
    ]

    class Endless(CorpusProvider):
        async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
            async def do() -> Reply:
                return Reply(query.split()[-1])

            word = (
                await gateway.call(
                    Request("search", self.name, query, {"query": query}, fresh=True), do
                )
            ).value
            lines = [
                f"The {word} of Holm Works was counted {words.index(word) + 1}{n} times by owner "
                f"{n}."
                for n in range(6)
            ]
            return [
                Hit(
                    url=f"doc:{word}",
                    title=word,
                    text=" ".join(lines),
                    kind=SourceKind.DOCUMENT,
                    provider=self.name,
                )
            ]

    left = iter(words)
    decide: Rule = lambda task: act("search_corpus", f"Holm Works {next(left)}")  # noqa: E731
    analyse = reading(suggestions_for_next_step=("more of the same",))
    rig = rig_of(
        tmp_path,
        ScriptedReasoner(decide_action=decide, analyse_output=analyse),
        Endless(),
        max_iterations=11,
    )
    await rig.work()
    sizes = [
        sum(len(task.prompt().user) + len(task.prompt().system) for task in pair)
        for pair in zip(
            rig.reasoner.of(tasks.DecideAction), rig.reasoner.of(tasks.AnalyseOutput), strict=False
        )
    ]
    assert len(sizes) >= 10
    assert max(sizes[2:10]) <= 1.15 * min(sizes[2:10]), sizes


# The sample library


async def test_the_seeds_question_over_the_sample_library(tmp_path: Path) -> None:
    settings = load(
        {
            "home": tmp_path,
            "strategy": "navigator",
            "documents": [LIBRARY],
            "as_of": date(2026, 11, 15),
        }
    )
    outcome = await research(SEED, settings)
    report = outcome.report
    assert report is not None
    assert outcome.run.status is RunStatus.ANSWERED
    lead = " ".join(sentence.text for sentence in report.answer)
    for name, age in (("Alma", 15), ("Hjalmar", 12), ("Siri", 8)):
        assert re.search(rf"{name} Kvarnlöf is {age} years old on 2026-11-15", lead), lead
    store = open_sqlite(tmp_path)
    for citation in report.citations:
        text = store.texts.get(citation.passage.snapshot)
        assert text[citation.passage.start : citation.passage.end] == citation.quote
    journey = told(outcome, "Research Journey")
    assert journey[0].startswith(
        "search_library for “age children parents run company Svedjan Ost AB”: "
    )
    sources = " ".join(told(outcome, "Key Sources"))
    for name in ("ski-club-newsletter.md", "school-newsletter.txt", "parish-notice.txt"):
        assert name in sources
    page = render_markdown(report)
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert headings[0] == "Bottom line"
    assert headings.index("Research Journey") + 1 == headings.index("Key Sources")
    assert (await replay(outcome.run.id, settings)).report.hash == report.hash  # type: ignore[union-attr]
