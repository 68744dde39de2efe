"""Rules come before the reasoner, the reasoner before the ways out.

And it is shown enough, and no more each time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepdiver import tasks
from deepdiver.core.events import Decided
from deepdiver.errors import ReasonError
from deepdiver.strategies.navigator import decide, loops
from deepdiver.strategies.navigator.decide import ENOUGH, HISTORY, LEADS, TRIED
from deepdiver.strategies.navigator.tools import make_address
from tests.strategies.navigator.test_analyser import PARTS, fact, state
from tests.strategies.navigator.test_disputes import ANNA
from tests.strategies.rig import QUESTION, Rig, ScriptedReasoner

REPORT = {
    "extracted_info": [],
    "assessment": "x",
    "confidence_score": 0.9,
    "suggestions_for_next_step": [],
    "new_potential_urls": [],
    "inconsistencies_found": None,
}


def held(**more: Any) -> dict[str, Any]:
    empty = {"analyzer_report": {}, "confidence_score": 0.0, "objection": "", "past": []}
    return state(**{**empty, "chosen": [], "struck": [], **more})


def step(what: str, found: int = 1, **more: Any) -> dict[str, Any]:
    told = {
        "action": "search_corpus",
        "query_or_url": what,
        "key": loops.key_of("search_corpus", what),
        "pass": 1,
    }
    bare = {"about": QUESTION, "confidence": 0.5, "way": "", "narrowed": ""}
    return {**told, **bare, "found": found, **more}


def rig_of(home: Path, **rules: Any) -> Rig:
    return Rig(home, ScriptedReasoner(**rules), strategy="navigator")


async def decided(rig: Rig, **more: Any) -> dict[str, Any]:
    return await decide.decide_next(rig.session().deps, held(**more))


async def test_a_reasoner_that_fails_gives_way_to_the_words_of_the_question(tmp_path: Path) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("not in the mood")

    rig = rig_of(tmp_path, decide_action=fail)
    made = await decided(rig)
    assert (made["next_action"], made["query_or_url"], made["by"]) == (
        "search_corpus",
        "owns holm works",
        "rule",
    )
    assert made["why"] == "no decision could be had"


async def test_what_a_person_has_chosen_comes_before_everything_but_the_hard_stop(
    tmp_path: Path,
) -> None:
    rig, wanted = rig_of(tmp_path), ["Holm ledger", "Holm archive"]
    sure = {"confidence_score": 0.99, "analyzer_report": REPORT, "iteration": 1}
    history = [step("ledger Holm")]
    made = await decided(rig, chosen=wanted, research_history=history, **sure)
    assert (made["next_action"], made["query_or_url"]) == ("search_corpus", "Holm archive")
    assert not rig.reasoner.asked
    session = rig.session()
    late = held(chosen=wanted, research_history=history, iteration=20)
    made = await decide.decide_next(session.deps, late)
    assert made["next_action"] == loops.HAND_OVER
    assert session.deps.notes == {
        "a search of the plan was not made, for want of a step: Holm archive"
    }


async def test_what_a_person_has_struck_is_shown_as_tried_and_not_taken(tmp_path: Path) -> None:
    rig = rig_of(
        tmp_path,
        decide_action=lambda task: tasks.NextAction(
            next_action="search_corpus", query_or_url="Holm owner", reasoning="x"
        ),
    )
    made = await decided(rig, struck=["owner Holm"])
    (task,) = rig.reasoner.of(tasks.DecideAction)
    assert task.tried == ("owner Holm",)
    assert (made["by"], made["why"]) == ("rule", "a step that was taken before was asked for again")


async def test_the_hard_stop_asks_nobody(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    made = await decided(rig, iteration=20)
    assert (made["next_action"], made["query_or_url"], made["by"]) == ("send_to_hitl", None, "rule")
    assert not rig.reasoner.asked


@pytest.mark.parametrize(
    ("sure", "missing", "report", "step", "over"),
    [
        (ENOUGH, [], True, 1, True),
        (ENOUGH, ["Query appears answered based on multiple sources"], True, 1, True),
        (ENOUGH, ["Query seems answered", "Maybe confirm the date"], True, 1, True),
        (ENOUGH - 0.01, ["Query seems answered"], True, 1, False),
        (ENOUGH, ["Query is not answered"], True, 1, False),
        (ENOUGH - 0.01, [], True, 1, False),
        (ENOUGH, ["the age of Siri"], True, 1, False),
        (ENOUGH, [], False, 1, False),
        (ENOUGH, [], True, 0, False),
    ],
)
def test_an_answer_is_handed_over_unasked_if_it_is_sure_and_nothing_is_missed(
    tmp_path: Path, sure: float, missing: list[str], report: bool, step: int, over: bool
) -> None:
    deps = rig_of(tmp_path).session().deps
    told = {**REPORT, "suggestions_for_next_step": missing} if report else {}
    choice = decide.decide_by_rule(
        deps, held(confidence_score=sure, analyzer_report=told, iteration=step), None
    )
    assert (choice is not None and choice.action == loops.HAND_OVER) is over


def test_the_last_rung_of_the_ladder_asks_nobody(tmp_path: Path) -> None:
    deps = rig_of(tmp_path).session().deps
    choice = decide.decide_by_rule(
        deps, held(iteration=7), loops.Impasse("stuck", (loops.Way.HUMAN,))
    )
    assert choice is not None
    assert choice.reasoning == "stuck, and every way out was tried"
    assert (
        decide.decide_by_rule(deps, held(iteration=7), loops.Impasse("stuck", loops.LADDER)) is None
    )


async def test_a_circle_is_shown_and_told_and_the_reasoners_new_words_are_taken(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path)
    history = [step(f"Holm {n}", 0) for n in range(loops.BARREN)]
    made = await decided(rig, research_history=history, iteration=3)
    assert [event.decision for event in rig.of(Decided)] == ["reframe", "search_corpus"]
    assert (made["by"], made["way"]) == ("reasoner", "reframe")
    assert rig.reasoner.of(tasks.DecideAction)[0].detected.startswith(
        "the last 3 steps brought nothing new; reframe"
    )


async def test_a_way_out_that_the_reasoner_does_not_take_is_chosen_for_it(tmp_path: Path) -> None:
    again = tasks.NextAction(next_action="search_corpus", query_or_url="Holm 1", reasoning="again")
    rig = rig_of(tmp_path, decide_action=lambda task: again)
    history = [step(f"Holm {n}", 0) for n in range(loops.BARREN)]
    made = await decided(rig, research_history=history, iteration=3)
    assert (made["by"], made["way"], made["query_or_url"]) == ("rule", "reframe", "owns holm works")
    handed = tasks.NextAction(next_action="send_to_hitl", reasoning="enough")
    rig = rig_of(tmp_path, decide_action=lambda task: handed)
    searched = [
        {**line, "about": part} for line, part in zip(history, [*PARTS, QUESTION], strict=True)
    ]
    made = await decided(rig, research_history=searched, iteration=3)
    assert (made["next_action"], made["way"]) == ("send_to_hitl", ""), (
        "to hand over is no way to go on"
    )


def test_only_the_steps_of_this_pass_count_for_circles(tmp_path: Path) -> None:
    history = [step("a", 0), step("b", 0), {**step("c", 0), "pass": 2}]
    made = decide.steps_of_pass(held(research_history=history, feedback=["no"]))
    assert [item.key for item in made] == ["search_corpus c"]


def test_the_situation_knows_what_is_open_and_what_was_never_searched(tmp_path: Path) -> None:
    deps = rig_of(tmp_path).session().deps
    known = [fact(deps, ANNA, "a", QUESTION)]
    at = decide.situation_of(
        deps, held(shared_memory=known, research_history=[step("Holm")], iteration=1)
    )
    assert at.open == at.unsearched == (PARTS[1],)
    assert at.searches == ("search_corpus",)
    assert at.keys == {"search_corpus holm"}
    assert at.begun
    there = decide.situation_of(deps, held(research_history=[step("x", about=PARTS[1])]))
    assert there.unsearched == (QUESTION,)


async def test_the_decision_is_shown_a_bounded_part_of_everything(tmp_path: Path) -> None:
    rig = rig_of(tmp_path)
    deps = rig.session().deps
    many = held(
        research_history=[step(f"query {n} {'abcdefghijklmnop'[n % 16]}") for n in range(16)],
        leads=[{"kind": "query", "text": f"lead {'abcdefghijklmnop'[n]}"} for n in range(16)],
        addresses=[make_address(f"https://a.example/{n}", "link") for n in range(50)],
        shared_memory=[fact(deps, f"{ANNA} {n}", f"p{n}") for n in range(40)],
        analyzer_report={**REPORT, "suggestions_for_next_step": ["more"]},
        iteration=16,
        feedback=["be quick"],
    )
    await decide.decide_next(replace(deps), many)
    task = rig.reasoner.of(tasks.DecideAction)[0]
    assert len(task.research_history) == HISTORY
    assert len(task.tried) == TRIED
    assert len(task.leads) == LEADS
    assert (len(task.urls), len(task.shared_memory)) == (8, 12)
    assert task.research_history[-1].query_or_url == many["research_history"][-1]["query_or_url"]
    assert task.analyzer_report.suggestions_for_next_step == ("more",)
    assert task.feedback == ("be quick",)


# What the record says


async def test_another_tool_than_the_one_asked_for_is_on_record(tmp_path: Path) -> None:
    google = tasks.NextAction(next_action="search_google", query_or_url="Holm", reasoning="broad")
    rig = rig_of(tmp_path, decide_action=lambda task: google)
    made = await decided(rig)
    assert (made["next_action"], made["by"]) == ("search_corpus", "reasoner")
    assert made["note"] == (
        "search_google is not among the tools that are set up; search_corpus was taken instead"
    )
    (event,) = rig.of(Decided)
    assert event.reason == f"“Holm”: broad ({made['note']})"


async def test_a_reasoner_whose_decision_cannot_be_read_is_not_said_to_have_decided(
    tmp_path: Path,
) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("twice no JSON")

    rig = rig_of(tmp_path, decide_action=fail)
    await decided(rig)
    assert [
        (event.by, "no decision could be had" in event.reason) for event in rig.of(Decided)
    ] == [("rule", True)]


async def test_what_the_person_restricts_is_on_record_and_opens_old_queries_again(
    tmp_path: Path,
) -> None:
    rig = rig_of(tmp_path)
    history = [step(QUESTION), step("https://a.example/x", action=loops.CRAWL)]
    made = await decided(
        rig,
        research_history=history,
        feedback=["Only before 2022"],
        iteration=0,
        problems=[QUESTION],
    )
    (asked,) = rig.reasoner.of(tasks.DecideAction)
    assert asked.tried == ("https://a.example/x",), "the query was made without the restriction"
    assert made["query_or_url"].startswith(QUESTION)
    (event,) = rig.of(Decided)
    assert event.reason.endswith("(only published on 2021-12-31 or earlier)")


def test_a_suggested_page_is_one_that_may_be_read(tmp_path: Path) -> None:
    deps = rig_of(tmp_path).session().deps
    told = ["Crawl URL: http://www.a.example/x/", "Crawl https://evil.example", "Need the age"]
    at = decide.situation_of(
        deps,
        held(
            addresses=[make_address("https://a.example/x", "search")],
            analyzer_report={**REPORT, "suggestions_for_next_step": told},
        ),
    )
    assert at.suggested == ("https://a.example/x",)


async def test_without_a_decision_the_page_that_the_analyzer_suggests_is_read(
    tmp_path: Path,
) -> None:
    def fail(task: Any) -> Any:
        raise ReasonError("not in the mood")

    rig = rig_of(tmp_path, decide_action=fail)
    told = {**REPORT, "suggestions_for_next_step": ["Crawl URL: https://a.example/x."]}
    made = await decided(
        rig,
        addresses=[make_address("https://a.example/x", "search")],
        analyzer_report=told,
        iteration=1,
        research_history=[step("Holm")],
    )
    assert (made["next_action"], made["query_or_url"], made["by"]) == (
        "crawl_url",
        "https://a.example/x",
        "rule",
    )
