from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from deepdiver import tasks
from deepdiver.core.events import Decided, FindingDropped, PlanProposed, Recalled
from deepdiver.core.record import RunStatus
from deepdiver.gateway import Gateway, Mode
from deepdiver.reason.parse import read_answer
from deepdiver.report.markdown import render_markdown
from deepdiver.strategies.orchestrated import graph as orchestrated
from deepdiver.strategies.orchestrated.context import ResearchContext
from deepdiver.strategies.shared import room
from deepdiver.strategies.table import TABLE
from deepdiver.tasks import SearchIntent, SearchPlan, SearchPlans
from deepdiver.tools.hit import Hit
from tests.patience import PATIENCE
from tests.strategies.drafts import Draft, DraftSection, told
from tests.strategies.rig import (
    CORPUS,
    QUESTION,
    CorpusProvider,
    Rig,
    ScriptedReasoner,
    answers_the_seeds_question,
    ends_at_a_refused_key,
    fail,
    goes_on_without,
    refuse,
    refuses_an_empty_question,
    used,
)

pytestmark = pytest.mark.usefixtures("read_once")

BEGIN = ["initialize", "plan_searches", "approve_plan"]
EXPLORE, DIVE, CHECK = (
    SearchIntent.INITIAL_EXPLORATION,
    SearchIntent.DEEP_DIVE,
    SearchIntent.FACT_CHECKING,
)
RELATED, SYNTHESIS = SearchIntent.RELATED_TOPICS, SearchIntent.SYNTHESIS
MINE: list[type[tasks.Task[Any]]] = [
    *(tasks.Decompose, tasks.PlanSearches, tasks.ExtractFindings, tasks.Judge),
    tasks.WriteReport,
    *(tasks.CheckSupport, tasks.RepairSentences),
]


def rig_of(
    home: Path, reasoner: ScriptedReasoner | None = None, provider: Any = None, **more: Any
) -> Rig:
    return Rig(home, reasoner, provider, strategy="orchestrated", **more)


def plan(intent: SearchIntent, query: str, reasoning: str = "why not") -> SearchPlan:
    return SearchPlan(intent=intent, query=query, reasoning=reasoning)


def planning(
    *rounds: tuple[SearchPlan, ...], then: str = ""
) -> Callable[[tasks.PlanSearches], SearchPlans]:
    """Return a planner that plans this, round by round, and then nothing, for that reason."""

    def rule(task: tasks.PlanSearches) -> SearchPlans:
        listed = rounds[task.iteration] if task.iteration < len(rounds) else ()
        return SearchPlans(plans=listed, reason="" if listed else then)

    return rule


def path_of(rounds: int) -> list[str]:
    later = ["plan_searches", "execute_search"] * (rounds - 1)
    return [*BEGIN, "execute_search", *later, "synthesize_research"]


async def state_of(rig: Rig) -> dict[str, Any]:
    return dict((await rig.work()).state)


# -- what goes wrong


async def test_a_run_without_a_question_is_refused(tmp_path: Path) -> None:
    await refuses_an_empty_question(rig_of(tmp_path))


@pytest.mark.parametrize("task", [task.name() for task in MINE])
async def test_no_single_task_is_indispensable(tmp_path: Path, task: str) -> None:
    await goes_on_without(task, rig_of(tmp_path, ScriptedReasoner(**{task: fail})))


async def test_a_run_in_which_every_task_fails_ends_with_a_report_that_says_so(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(**{task.name(): fail for task in tasks.TASKS}))
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.MODEL_FAILED
    assert outcome.report is not None
    assert outcome.report.confidence == 0.0
    assert any("decompose failed" in line for line in outcome.report.limits)


async def test_a_refused_key_ends_the_run_at_once(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=refuse))
    await ends_at_a_refused_key(rig)
    assert rig.path == BEGIN[:2]


async def test_a_search_that_is_down_stands_in_the_limits_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: "register" in query
    rig = rig_of(tmp_path, provider=provider)
    outcome = await rig.work()
    assert outcome.report is not None
    assert outcome.report.citations
    assert any("corpus could not search" in line for line in outcome.report.limits)


async def test_where_nothing_can_be_searched_it_could_not_search(
    tmp_path: Path,
) -> None:
    provider = CorpusProvider()
    provider.down = lambda query: True
    rig = rig_of(tmp_path, provider=provider)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.COULD_NOT_SEARCH
    assert rig.path == path_of(5), "no findings, so only the number of rounds ends it"


# -- exits


async def test_planning_that_fails_at_once_is_the_models_failure_and_not_a_lack_of_evidence(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=fail))
    outcome = await rig.work()
    assert rig.path == ["initialize", "plan_searches", "synthesize_research"]
    assert outcome.run.status is RunStatus.MODEL_FAILED
    assert rig.store.runs.get(rig.run.id).status is RunStatus.MODEL_FAILED
    assert outcome.report is not None
    assert "Planning ended the search before round 1: no plan could be had" in outcome.report.limits
    assert "plan searches failed: the model is not in the mood" in outcome.report.limits
    text = outcome.state["final_report"]
    said = "Planning failed before round 1, so nothing was searched. The limits say why."
    lead = "**The model failed.** There is no answer because the model failed."
    why = "plan searches failed: the model is not in the mood."
    assert f"## Bottom line\n\n{lead}\n\n- {said}\n- {why}\n" in text
    assert "## Evidence view\n\n**The model failed.**" in text
    assert "No evidence" not in text
    assert [(event.decision, event.by) for event in rig.of(Decided)] == [("finish", "rule")]
    again = await rig.work(Mode.REPLAY)
    assert again.report is not None
    assert again.report.hash == outcome.report.hash


async def test_planning_that_fails_after_rounds_without_evidence_says_both(tmp_path: Path) -> None:
    def once(task: tasks.PlanSearches) -> SearchPlans:
        return fail(task) if task.iteration else SearchPlans(plans=(plan(EXPLORE, QUESTION),))

    barren = ScriptedReasoner(
        plan_searches=once, extract_findings=lambda task: tasks.Extraction(findings=())
    )
    outcome = await rig_of(tmp_path, barren).work()
    assert outcome.run.status is RunStatus.MODEL_FAILED
    assert outcome.report is not None
    assert outcome.report.answer[0].text.startswith(
        "Planning failed before round 2, so what was searched before brought no evidence."
    )


async def test_a_plan_that_is_empty_from_the_start_is_replaced_by_a_first_look(
    tmp_path: Path,
) -> None:
    rig = rig_of(
        tmp_path, ScriptedReasoner(plan_searches=planning((), then="there is nothing to plan"))
    )
    outcome = await rig.work()
    assert rig.provider.queries == [QUESTION]
    assert outcome.report is not None
    assert outcome.report.citations
    assert "Planning ended the search before round 2: there is nothing to plan" in (
        outcome.report.limits
    )


async def test_nothing_found_where_planning_worked_is_no_failure_of_the_model(
    tmp_path: Path,
) -> None:
    nothing = ScriptedReasoner(extract_findings=lambda task: tasks.Extraction(findings=()))
    outcome = await rig_of(tmp_path, nothing).work()
    assert outcome.run.status is RunStatus.NOT_ANSWERED


async def test_planning_that_fails_later_ends_in_a_report_of_what_there_is(tmp_path: Path) -> None:
    def once(task: tasks.PlanSearches) -> SearchPlans:
        return fail(task) if task.iteration else SearchPlans(plans=(plan(EXPLORE, QUESTION),))

    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=once))
    outcome = await rig.work()
    assert rig.path == [*BEGIN, "execute_search", "plan_searches", "synthesize_research"]
    assert outcome.report is not None
    assert outcome.report.citations, "what was found is told"
    assert "Planning ended the search before round 2: no plan could be had" in outcome.report.limits
    assert [(event.decision, event.by) for event in rig.of(Decided)] == [
        ("continue", "rule"),
        ("finish", "rule"),
    ]


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        ((), "nothing is left"),
        ((plan(DIVE, f"  {QUESTION.upper()} "),), "every search of the plan was made before"),
        ((plan(DIVE, "   "),), "it has no search"),
    ],
)
async def test_a_plan_without_a_search_that_was_not_made_counts_as_failed(
    tmp_path: Path, later: tuple[SearchPlan, ...], reason: str
) -> None:
    rule = planning((plan(EXPLORE, QUESTION),), later, then="nothing is left")
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=rule))
    outcome = await rig.work()
    assert rig.path == [*BEGIN, "execute_search", "plan_searches", "synthesize_research"]
    assert outcome.report is not None
    assert f"Planning ended the search before round 2: {reason}" in outcome.report.limits


@pytest.mark.parametrize("rounds", [1, 2, 7])
async def test_max_iterations_is_the_hard_stop(tmp_path: Path, rounds: int) -> None:
    rig = rig_of(tmp_path, max_iterations=rounds)
    outcome = await rig.work()
    assert rig.path == path_of(rounds)
    assert outcome.report is not None
    assert [event.by for event in rig.of(Decided)] == ["rule"] * rounds
    assert rig.of(Decided)[-1].reason.startswith(f"round {rounds} is the last allowed; ")


async def test_five_rounds_are_the_strategys_own_hard_stop(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work()
    assert rig.path == path_of(5)
    assert len(outcome.state["key_findings"]) == 3, (
        "fewer than five key findings: nothing else ended it"
    )
    assert outcome.state["search_iterations"] == 5


def every_sentence(task: tasks.ExtractFindings) -> tasks.Extraction:
    found = [
        tasks.Extracted(statement=f"{part.strip()}.", source=text.id, quote=f"{part.strip()}.")
        for text in task.texts
        for part in text.plain.rstrip(".").split(". ")
    ]
    return tasks.Extraction(findings=tuple(found))


async def test_answered_questions_are_enough_after_five_findings_and_three_rounds_not_before(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path, ScriptedReasoner(extract_findings=every_sentence), max_iterations=9)
    outcome = await rig.work()
    assert rig.path == path_of(3)
    assert len(outcome.state["key_findings"]) == 6, "all of them after the first round"
    assert [(event.decision, event.reason) for event in rig.of(Decided)] == [
        ("continue", "key findings: 6, rounds: 1, open questions: 0"),
        ("continue", "key findings: 6, rounds: 2, open questions: 0"),
        ("finish", "key findings: 6, rounds: 3, open questions: 0"),
    ]


@pytest.mark.parametrize(("answered_in", "rounds"), [(4, 4), (9, 6)])
async def test_with_open_questions_the_search_goes_on_until_they_are_answered_or_the_rounds_used(
    tmp_path: Path, answered_in: int, rounds: int
) -> None:
    """Five findings are one page for a strong model, and say nothing of what is still open."""
    readings = iter(range(1, 100))

    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        open_still = next(readings) < answered_in
        made = every_sentence(task)
        return made.model_copy(update={"questions": task.unanswered if open_still else ()})

    rig = rig_of(
        tmp_path,
        ScriptedReasoner(extract_findings=extract),
        max_iterations=6,
    )
    rig.reasoner.rules["plan_searches"] = lambda task: SearchPlans(
        plans=(plan(EXPLORE, f"Holm {'abcdefghi'[task.iteration]}"),)
    )
    outcome = await rig.work()
    assert rig.path == path_of(rounds)
    assert len(outcome.state["key_findings"]) == 6
    last = rig.of(Decided)[-1]
    assert last.by == "rule"
    assert last.reason.endswith(f"open questions: {0 if rounds == answered_in else 1}")


async def test_four_key_findings_are_not_enough(tmp_path: Path) -> None:
    corpus = {
        **CORPUS,
        "doc:memo": ("Memo", "blog", "Nobody can own Holm Works twice, says the clerk."),
    }
    rig = rig_of(tmp_path, provider=CorpusProvider(corpus))
    outcome = await rig.work()
    assert len(outcome.state["key_findings"]) == 4
    assert rig.path == path_of(5)


async def test_synthesis_searches_nothing_and_ends_the_loop(tmp_path: Path) -> None:
    rule = planning((plan(EXPLORE, QUESTION),), (plan(SYNTHESIS, "anything", "enough is known"),))
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=rule))
    outcome = await rig.work()
    assert rig.path == [*BEGIN, "execute_search", "plan_searches", "synthesize_research"]
    assert rig.provider.queries == [QUESTION], "and nothing for the synthesis"
    assert (rig.of(Decided)[-1].decision, rig.of(Decided)[-1].by) == ("finish", "reasoner")
    assert outcome.report is not None
    assert not [line for line in outcome.report.limits if "Planning" in line], "that is no failure"


async def test_what_is_planned_before_the_synthesis_is_searched_and_nothing_after_it(
    tmp_path: Path,
) -> None:
    listed = (plan(EXPLORE, "Holm register"), plan(SYNTHESIS, ""), plan(DIVE, "Holm boats"))
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=planning(listed)))
    await rig.work()
    assert rig.path == path_of(1)
    assert rig.of(Decided)[-1].by == "reasoner"
    assert "Holm register" in rig.provider.queries
    assert "Holm boats" not in rig.provider.queries


async def test_there_is_nothing_to_synthesise_before_the_first_search(tmp_path: Path) -> None:
    rule = planning((plan(SYNTHESIS, ""),), (plan(SYNTHESIS, ""),))
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=rule))
    outcome = await rig.work()
    assert rig.path == [*BEGIN, "execute_search", "plan_searches", "synthesize_research"]
    assert rig.provider.queries == [QUESTION]
    assert {item["search_intent"] for item in outcome.state["search_history"]} == {
        "initial_exploration"
    }


# -- the plan


async def test_the_first_plan_is_shown_with_objectives_parts_queries_and_ceiling(
    tmp_path: Path,
) -> None:
    shown: list[dict[str, Any]] = []

    async def ask(asked: dict[str, Any]) -> dict[str, Any]:
        shown.append(asked)
        return {"action": "accept"}

    rig = rig_of(tmp_path, approve=True)
    await rig.work(ask=ask)
    assert len(shown) == 1, "only the first plan is asked about"
    assert shown[0]["objectives"] == ["initial_exploration: to find out"]
    assert (shown[0]["problems"], shown[0]["queries"]) == ([QUESTION], [QUESTION])
    assert "ceiling" in shown[0]
    assert rig.path == [*BEGIN, *path_of(5)[2:]], "the node that asks is entered again"


async def test_an_edited_plan_is_obeyed(tmp_path: Path) -> None:
    async def ask(asked: dict[str, Any]) -> dict[str, Any]:
        return {"action": "edit", "problems": ["When was Holm Works founded?"]}

    rig = rig_of(tmp_path, approve=True)
    outcome = await rig.work(ask=ask)
    assert rig.path[:5] == [*BEGIN, "approve_plan", "plan_searches"], (
        "the node that asks is entered again"
    )
    first, second = rig.reasoner.of(tasks.PlanSearches)[:2]
    assert first.problems == (QUESTION,)
    assert second.problems == second.unanswered == ("When was Holm Works founded?",)
    assert "When was Holm Works founded?" in rig.provider.queries
    assert outcome.state["problems"] == ["When was Holm Works founded?"]


async def test_a_rejected_plan_is_made_anew_with_the_reason(tmp_path: Path) -> None:
    answers = [{"action": "reject", "reason": "too broad"}, {"action": "accept"}]

    async def ask(asked: dict[str, Any]) -> dict[str, Any]:
        return answers.pop(0)

    rig = rig_of(tmp_path, approve=True)
    await rig.work(ask=ask)
    assert [task.objection for task in rig.reasoner.of(tasks.Decompose)] == ["", "too broad"]
    planned = rig.reasoner.of(tasks.PlanSearches)
    assert [task.objection for task in planned] == ["", "too broad", "", "", "", ""], (
        "once accepted it is settled"
    )
    assert not answers


async def test_without_approval_the_plan_is_shown_and_followed(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    await rig.work()
    (proposed,) = rig.of(PlanProposed)
    assert (proposed.problems, proposed.queries) == ((QUESTION,), (QUESTION,))


async def test_a_plan_that_nobody_answers_waits(tmp_path: Path) -> None:
    rig = rig_of(tmp_path, approve=True)
    outcome = await rig.work()
    assert outcome.run.status is RunStatus.WAITING
    assert not rig.provider.queries


# -- in the words of the design document


def in_words(*answers: Any) -> Callable[[tasks.Task[Any]], Any]:
    """Answer with texts, as a model does; the last again and again."""
    left = [json.dumps(said) for said in answers]
    return lambda task: read_answer(left.pop(0) if len(left) > 1 else left[0], task.answer())


async def test_agents_that_answer_in_these_words_are_understood(tmp_path: Path) -> None:
    first = [
        {"intent": "INITIAL_EXPLORATION", "query": QUESTION, "reasoning": "a broad look"},
        {"intent": "RELATED_TOPICS", "query": "Holm register", "reasoning": "beside it"},
    ]
    later = {"search_plans": [{"intent": "FACT_CHECKING", "query": "Anna Holm owns Holm Works"}]}
    found = {
        "key_findings": [
            "Anna Holm is the owner of Holm Works.",
            "Holm Works was founded in 1998.",
            "Carl Dahl is its director.",
        ],
        "unanswered_questions": ["Where does Anna Holm live?"],
    }
    reasoner = ScriptedReasoner(
        plan_searches=in_words(first, later, [{"intent": "SYNTHESIS", "query": ""}]),
        extract_findings=in_words(found),
    )
    rig = rig_of(tmp_path, reasoner)
    outcome = await rig.work()
    assert rig.path == [*path_of(2)[:-1], "plan_searches", "synthesize_research"]
    assert {item["search_intent"] for item in outcome.state["search_history"]} == {
        "initial_exploration",
        "related_topics",
        "fact_checking",
    }
    context = ResearchContext.model_validate(outcome.state["research_context"])
    assert set(context.key_findings) == {
        "Anna Holm is the owner of Holm Works.",
        "Holm Works was founded in 1998.",
    }, "and what no source says is not taken"
    assert "Carl Dahl is its director." in {event.statement for event in rig.of(FindingDropped)}
    assert context.unanswered_questions == ("Where does Anna Holm live?",)
    assert outcome.report is not None
    quotes = {citation.quote for citation in outcome.report.citations}
    assert quotes <= {text[: text.index(".") + 1] for _, _, text in CORPUS.values()}


# -- planning and execution


async def test_planning_is_shown_the_last_five_results_the_findings_and_what_is_open(
    tmp_path: Path,
) -> None:
    corpus = {
        f"doc:{n}": (
            f"Paper {n}",
            "newspaper",
            f"Holm Works paper {n}: a trader may own {n} boats. " + "Long. " * 600,
        )
        for n in range(8)
    }
    rig = rig_of(tmp_path, provider=CorpusProvider(corpus))
    await rig.work()
    first, second, third = rig.reasoner.of(tasks.PlanSearches)[:3]
    assert (first.results, first.findings, first.tried) == ((), (), ())
    assert first.unanswered == (QUESTION,)
    assert len(second.results) == 5
    assert all(len(result.content) <= 2_000 for result in second.results)
    assert [r.relevance for r in second.results] == sorted(r.relevance for r in second.results), (
        "the best comes last"
    )
    assert {result.intent for result in second.results} == {EXPLORE}
    assert {result.intent for result in third.results} == {DIVE}
    assert second.findings
    assert all(item.sources == 1 and not item.checked for item in second.findings)
    assert QUESTION in second.tried
    assert [task.iteration for task in rig.reasoner.of(tasks.PlanSearches)] == [0, 1, 2]


class PatientProvider(CorpusProvider):
    """Answers none of some queries before all of them were made."""

    def __init__(self, together: set[str]) -> None:
        super().__init__()
        self.waiting, self.all_there = set(together), asyncio.Event()

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        if query in self.waiting:
            self.waiting.discard(query)
            if not self.waiting:
                self.all_there.set()
            await asyncio.wait_for(self.all_there.wait(), PATIENCE)
        return await super().search(query, limit, gateway)


async def test_two_of_three_plans_are_carried_out_side_by_side(tmp_path: Path) -> None:
    listed = (
        plan(EXPLORE, "Holm register"),
        plan(EXPLORE, "Holm gazette"),
        plan(EXPLORE, "Holm notice"),
    )
    rule = planning(listed, (*listed[2:], plan(SYNTHESIS, "")))
    rig = rig_of(
        tmp_path,
        ScriptedReasoner(plan_searches=rule),
        PatientProvider({"Holm register", "Holm gazette"}),
    )
    await rig.work()
    first = rig.reasoner.of(tasks.PlanSearches)[1].tried
    assert "Holm register" in first
    assert "Holm gazette" in first
    assert "Holm notice" not in first, "the third is left to the next round"
    assert "Holm notice" in rig.provider.queries


async def test_more_than_three_plans_are_not_taken(tmp_path: Path) -> None:
    listed = tuple(plan(EXPLORE, f"Holm search {n}") for n in range(6))
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=planning(listed)), max_iterations=1)
    await rig.work()
    (proposed,) = rig.of(PlanProposed)
    assert proposed.queries == ("Holm search 0", "Holm search 1", "Holm search 2")


async def test_open_questions_are_kept_until_a_reading_no_longer_names_them(tmp_path: Path) -> None:
    whose, when, why = "Whose is it?", "Since when?", "Why does he own boats?"

    def split(task: tasks.Decompose) -> tasks.Decomposition:
        return tasks.Decomposition(
            problems=(tasks.Problem(question=whose), tasks.Problem(question=when))
        )

    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        made = ScriptedReasoner()._extract_findings(task)
        return made.model_copy(
            update={"questions": (*(q for q in task.unanswered if q != whose), why)}
        )

    rig = rig_of(tmp_path, ScriptedReasoner(decompose=split, extract_findings=extract))
    outcome = await rig.work()
    planned = rig.reasoner.of(tasks.PlanSearches)
    assert planned[0].unanswered == (whose, when)
    assert planned[1].unanswered == (when, why)
    assert outcome.state["unanswered_questions"] == [when, why]
    assert outcome.report is not None
    assert f"Still open: {why}" in outcome.report.limits
    (written,) = rig.reasoner.of(tasks.WriteReport)
    assert written.gaps == (when,), "a part of the question that is open is a gap of the report"


async def test_a_reading_that_finds_nothing_answers_nothing(tmp_path: Path) -> None:
    rig = rig_of(
        tmp_path, ScriptedReasoner(extract_findings=lambda task: tasks.Extraction(findings=()))
    )
    outcome = await rig.work()
    assert outcome.state["unanswered_questions"] == [QUESTION]


async def test_open_questions_never_grow_without_end(tmp_path: Path) -> None:
    counted = iter(range(10_000))

    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        made = ScriptedReasoner()._extract_findings(task)
        new = tuple(f"And what of {next(counted)}?" for _ in range(4))
        return made.model_copy(update={"questions": (*task.unanswered, *new)})

    rig = rig_of(tmp_path, ScriptedReasoner(extract_findings=extract))
    outcome = await rig.work()
    assert len(outcome.state["unanswered_questions"]) == orchestrated.OPEN
    assert outcome.state["unanswered_questions"][0] == QUESTION, (
        "what was asked first is not pushed out"
    )


async def test_a_model_can_walk_every_intent(tmp_path: Path) -> None:
    corpus = {
        **CORPUS,
        "doc:wiki": ("Wiki", "blog", "Bertil Ask is a trader in Lund who says he will own a boat."),
    }
    rule = planning(
        (plan(EXPLORE, QUESTION),),
        (plan(DIVE, "Holm Works founded"), plan(CHECK, "Holm Works is owned by Bertil Ask")),
        (plan(RELATED, "traders in Lund"), plan(SYNTHESIS, "")),
    )
    rig = rig_of(tmp_path, ScriptedReasoner(plan_searches=rule), CorpusProvider(corpus))
    outcome = await rig.work()
    assert rig.path == path_of(3)
    assert {item["search_intent"] for item in outcome.state["search_history"]} == {
        intent.value for intent in SearchIntent if intent is not SYNTHESIS
    }
    assert outcome.state["checked"], "the finding that was checked is known as such"
    assert any(item.checked for item in rig.reasoner.of(tasks.PlanSearches)[2].findings)


# -- state and result


async def test_the_state_is_plain_and_small_and_holds_no_text_of_a_source(tmp_path: Path) -> None:
    long = "Holm Works is owned by Anna Holm. " + "Nothing else is said here at all. " * 400
    held: list[dict[str, Any]] = []
    rig = rig_of(
        tmp_path,
        provider=CorpusProvider({"doc:long": ("Long", "newspaper", long)}),
        max_iterations=2,
    )
    graph = TABLE[rig.run.strategy].build().compile()
    async for update in graph.astream(
        {"messages": [HumanMessage(QUESTION)]}, context=rig.session().deps, stream_mode="updates"
    ):
        held.append(update)
    for update in held[:-1]:
        assert len(repr(update)) < 3_000, "a checkpoint does not grow with what was read"
    (last,) = held[-1].values()
    (result,) = ResearchContext.model_validate(last["research_context"]).search_history[:1]
    assert 0 < len(result.content) <= 2_000
    assert result.content[:100] in long


async def test_the_context_is_complete_and_the_report_is_the_last_message(tmp_path: Path) -> None:
    outcome = await rig_of(tmp_path).work()
    state = outcome.state
    context = ResearchContext.model_validate(state["research_context"])
    assert context.query == QUESTION
    assert context.search_iterations == state["search_iterations"] == 5
    assert context.key_findings == tuple(line["text"] for line in state["key_findings"])
    assert {result.url for result in context.search_history} == set(CORPUS)
    assert all(0.0 <= result.relevance_score <= 1.0 for result in context.search_history)
    assert {result.timestamp.isoformat() for result in context.search_history} == {
        outcome.run.created
    }
    assert outcome.report is not None
    assert state["final_report"] == render_markdown(outcome.report)
    lead = outcome.report.answer[0].text.removesuffix(".")
    assert f"\n## Bottom line\n\n{lead}" in state["final_report"]
    assert "\n## Evidence view\n\n**Answered, confidence" in state["final_report"]
    messages = state["messages"]
    assert [type(message) for message in messages] == [HumanMessage, AIMessage]
    assert messages[-1].text == state["final_report"]


async def test_a_finding_that_two_sources_carry_is_one_key_finding_with_two_voices(
    tmp_path: Path,
) -> None:
    corpus = {
        "doc:a": (
            "Register",
            "register",
            "Holm Works is owned by Anna Holm. It was founded in the north.",
        ),
        "doc:b": (
            "Notice",
            "official",
            "Holm Works is owned by Anna Holm. The harbour was dredged last spring.",
        ),
    }
    rig = rig_of(tmp_path, provider=CorpusProvider(corpus), max_iterations=2)
    outcome = await rig.work()
    (line,) = outcome.state["key_findings"]
    assert len(line["findings"]) == 2
    (known,) = rig.reasoner.of(tasks.PlanSearches)[1].findings
    assert known.sources == 2


async def test_confidence_is_computed_from_the_sources(tmp_path: Path) -> None:
    outcome = await rig_of(tmp_path).work()
    assert outcome.report is not None
    assert outcome.report.hypotheses == ()
    assert 0.0 < outcome.report.confidence < 1.0


async def test_past_runs_are_shown_to_those_who_plan(tmp_path: Path) -> None:
    first = rig_of(tmp_path)
    await first.work()
    rig = rig_of(tmp_path, past=True)
    outcome = await rig.work()
    assert len(rig.of(Recalled)) == 1
    assert {task.name() for task in rig.reasoner.asked if getattr(task, "past", ())} == {
        "decompose",
        "plan_searches",
    }
    assert outcome.report is not None
    assert [line for line in outcome.report.limits if first.run.id in line]


async def test_a_replay_gives_the_same_report_and_context(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    outcome = await rig.work()
    again = await rig.work(Mode.REPLAY)
    assert outcome.report is not None
    assert again.report is not None
    assert again.report.hash == outcome.report.hash
    assert again.state["research_context"] == outcome.state["research_context"]


async def test_a_run_that_failed_in_the_middle_goes_on_over_its_journal(tmp_path: Path) -> None:
    whole = await rig_of(tmp_path / "whole").work()
    provider = CorpusProvider()

    async def broken(query: str, limit: int, gateway: Gateway) -> list[Hit]:
        if "gazette" in query:
            raise RuntimeError("the power went")
        return await CorpusProvider.search(provider, query, limit, gateway)

    rig = rig_of(tmp_path / "broken", provider=provider)
    provider.search = broken  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="the power went"):
        await rig.work()
    before = list(provider.queries)
    del provider.search
    outcome = await rig.session().work(None, resumed=True)
    assert outcome.report is not None
    assert whole.report is not None
    assert [s.text for s in outcome.report.answer] == [s.text for s in whole.report.answer]
    assert len(provider.queries) == len(set(provider.queries)), "no search was made twice"
    assert provider.queries[: len(before)] == before


# -- cost


class EndlessProvider(CorpusProvider):
    """Finds new documents of new words for every query."""

    def _hit(self, url: str) -> Hit:
        raw = hashlib.sha256(url.encode()).hexdigest()
        words = raw.translate(str.maketrans("0123456789", "ghijklmnop"))
        lines = [
            " ".join(words[n + k : n + k + 6] for k in range(0, 24, 6)) for n in range(0, 36, 12)
        ]
        text = " ".join(f"Those who own the works say {line}." for line in lines)
        return Hit(
            url=f"doc:{raw[:12]}",
            title=f"Notes {raw[:6]}",
            text=text,
            complete=True,
            provider=self.name,
        )

    async def search(self, query: str, limit: int, gateway: Gateway) -> list[Hit]:
        self.corpus = {f"{query}/{n}": ("", "", query) for n in range(limit)}
        return await super().search(query, limit, gateway)


async def test_a_round_costs_the_same_however_many_there_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 16
    monkeypatch.setattr(room, "FREE", replace(room.FREE, most_lines=most, summary=3_000))
    counted = iter(range(10_000))

    def restless(task: tasks.PlanSearches) -> SearchPlans:
        kinds = (CHECK, DIVE, RELATED) if task.iteration else (EXPLORE, EXPLORE)
        return SearchPlans(
            plans=tuple(plan(kind, f"works {next(counted):04} who say") for kind in kinds)
        )

    def extract(task: tasks.ExtractFindings) -> tasks.Extraction:
        raised, lead = f"What of {next(counted):04}?", f"Lead {next(counted):04}"
        made = ScriptedReasoner()._extract_findings(task)
        return made.model_copy(update={"questions": (*task.unanswered, raised), "leads": (lead,)})

    reasoner = ScriptedReasoner(plan_searches=restless, extract_findings=extract)
    rig = rig_of(tmp_path, reasoner, EndlessProvider(), max_iterations=11)
    await rig.work()
    sizes: list[int] = []
    for task in reasoner.asked:
        if isinstance(task, tasks.WriteReport):
            break
        prompt = task.prompt()
        if isinstance(task, tasks.PlanSearches):
            sizes.append(0)
        if sizes:
            sizes[-1] += len(prompt.system) + len(prompt.user)
    assert len(sizes) == 11
    rounds = sizes[2:10]
    assert max(rounds) <= 1.15 * min(rounds), sizes
    last = reasoner.of(tasks.PlanSearches)[-1]
    assert len(last.findings) == most, "there was more to show than is shown"
    assert len(last.leads) <= orchestrated.LEADS
    assert len(last.tried) == orchestrated.TRIED


def test_the_allowance_grows_with_the_rounds() -> None:
    small, large = orchestrated.allowance(1, 6), orchestrated.allowance(5, 6)
    assert large.searches == 5 * small.searches
    assert (small.tasks[tasks.PlanSearches], large.tasks[tasks.PlanSearches]) == (2, 6)


async def test_the_allowance_is_never_exceeded_and_names_what_is_performed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orchestrated, "ENOUGH", 10_000)
    counted = iter(range(10_000))

    def greedy(task: tasks.PlanSearches) -> SearchPlans:
        kinds = (CHECK, DIVE) if task.iteration % 2 else (DIVE, DIVE)
        return SearchPlans(plans=tuple(plan(kind, f"works {next(counted):04}") for kind in kinds))

    def leading(task: tasks.ExtractFindings) -> tasks.Extraction:
        made = ScriptedReasoner()._extract_findings(task)
        return made.model_copy(update={"leads": tuple(f"Lead{next(counted)}" for _ in range(12))})

    both = (told("Carl Dahl owns Holm Works.", "F1"), told("Those who own it say so.", "F1"))
    reasoner = ScriptedReasoner(
        plan_searches=greedy,
        extract_findings=leading,
        write_report=lambda task: Draft(both, (DraftSection(QUESTION, both),)),
    )

    async def ask(asked: dict[str, Any]) -> dict[str, Any]:
        return {"action": "edit", "problems": [f"Part {n}?" for n in range(5)]}

    rig = rig_of(tmp_path, reasoner, EndlessProvider(), max_iterations=4, approve=True)
    await rig.work(ask=ask)
    allowed = orchestrated.allowance(4, 6)
    assert rig.path.count("execute_search") == 4
    for task in used(allowed, rig):
        many, most = len(rig.reasoner.of(task)), allowed.tasks[task]
        assert 0 < many <= most, (task, many, most)
    assert {type(task) for task in rig.reasoner.asked} == used(allowed, rig)
    assert len(rig.provider.queries) <= allowed.searches
    assert len(rig.provider.queries) > 4 * 2 * 3, "leads were followed"


# -- the seed's question


async def test_the_seeds_question_over_the_sample_library(tmp_path: Path) -> None:
    """The golden run.

    Right ages on the day, from quotes that stand, checked against other sources, and it replays.
    """
    outcome, report, events = await answers_the_seeds_question(tmp_path, "orchestrated")
    assert [event.phase for event in events if event.type == "phase_started"] == path_of(3)
    contested = [line for line in report.limits if line.startswith("Checked against")]
    assert any("Alma Kvarnlöf is 14" in line for line in contested), (
        "the ages that an article gives were checked"
    )
    assert outcome.state["unanswered_questions"] == []
    intents = {item["search_intent"] for item in outcome.state["search_history"]}
    assert intents == {"initial_exploration", "fact_checking"}
