"""Searches are planned in order: explore, fill gaps, check single sources, follow names, write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.query import keywords
from deepdiver.reason.embedded.reflect import ENOUGH, IN_VAIN
from deepdiver.reason.embedded.search_plan import MOST_PLANS, WORDS, plan_searches
from deepdiver.tasks import KeyFinding, PlanSearches, SearchIntent, SearchPlans

QUESTION = "How old are the children of the parents who run Acme Ltd?"
PARENTS, CHILDREN, AGES = (
    "Which parents run Acme Ltd?",
    "Who are the children of the parents?",
    "How old are the children?",
)
RUN = "Ada and Bo Berg run the company Acme Ltd together."
CHILD = "Ada and Bo Berg have a daughter, Eve Berg."
BORN = "Eve Berg, born on 14 March 2011, won the race."
EXPLORE, DIVE, CHECK = (
    SearchIntent.INITIAL_EXPLORATION,
    SearchIntent.DEEP_DIVE,
    SearchIntent.FACT_CHECKING,
)


def planned(
    *findings: str | KeyFinding,
    question: str = QUESTION,
    problems: tuple[str, ...] = (PARENTS, CHILDREN, AGES),
    tried: tuple[str, ...] = (),
    leads: tuple[str, ...] = (),
    iteration: int = 1,
    limit: int = 3,
) -> SearchPlans:
    shown = tuple(
        item if isinstance(item, KeyFinding) else KeyFinding(statement=item, sources=2)
        for item in findings
    )
    return plan_searches(
        PlanSearches(
            question=question,
            as_of="2026-11-15",
            problems=problems,
            findings=shown,
            tried=tried,
            leads=leads,
            iteration=iteration,
            max_iterations=5,
            limit=limit,
        )
    )


def alone(statement: str, checked: bool = False) -> KeyFinding:
    return KeyFinding(statement=statement, sources=1, checked=checked)


def intents(plans: SearchPlans) -> list[SearchIntent]:
    return [plan.intent for plan in plans.plans]


# -- the first round


def test_the_first_round_explores_the_question_and_its_parts() -> None:
    plans = planned(iteration=0)
    assert intents(plans) == [EXPLORE] * 3
    assert plans.plans[0].query == " ".join(keywords(QUESTION))
    assert PARENTS in plans.plans[1].reasoning
    assert len({plan.query for plan in plans.plans}) == 3


def test_a_plain_question_is_explored_once_in_the_same_words() -> None:
    plans = planned(question="Who runs Acme Ltd?", problems=("Who runs Acme Ltd?",), iteration=0)
    assert [plan.query for plan in plans.plans] == ["runs Acme Ltd"]


def test_without_parts_the_question_is_its_own() -> None:
    assert intents(planned(iteration=0, problems=())) == [EXPLORE]


@pytest.mark.parametrize("question", ["", "?", "the of and"])
def test_a_question_without_words_is_searched_as_it_stands(question: str) -> None:
    plans = planned(question=question, problems=(question,), iteration=0)
    assert [plan.query for plan in plans.plans] == [question]


# -- later rounds


def test_an_open_part_is_dived_into_with_the_names_that_are_known() -> None:
    plans = planned(RUN, CHILD)
    assert plans.plans[0].intent is DIVE
    assert "Eve Berg" in plans.plans[0].query
    assert AGES in plans.plans[0].reasoning


def test_a_part_that_waits_for_another_comes_behind_the_checks() -> None:
    plans = planned(alone(RUN))
    assert intents(plans) == [DIVE, CHECK, DIVE]
    assert CHILDREN in plans.plans[0].reasoning
    assert AGES in plans.plans[2].reasoning, "nobody knows yet whose age is asked"


def test_nothing_known_leaves_the_first_part_first() -> None:
    plans = planned()
    assert intents(plans) == [DIVE] * 3
    assert PARENTS in plans.plans[0].reasoning


def test_what_rests_on_one_source_is_checked_the_answer_first() -> None:
    plans = planned(alone(RUN), CHILD, alone(BORN))
    assert intents(plans) == [CHECK, CHECK]
    assert BORN in plans.plans[0].reasoning
    assert RUN in plans.plans[1].reasoning
    assert CHILD not in str(plans), "two sources carry it"


def test_a_check_does_not_search_for_the_value_that_is_claimed() -> None:
    (first, *_) = planned(RUN, CHILD, alone(BORN)).plans
    assert "Eve Berg" in first.query
    assert not any(mark.isdigit() for mark in first.query)
    assert len(first.query.split()) <= WORDS


def test_what_answers_no_part_is_not_checked() -> None:
    plans = planned(RUN, CHILD, BORN, alone("The cellar smells of stone."))
    assert intents(plans) == [SearchIntent.SYNTHESIS]


def test_a_check_is_made_once() -> None:
    assert intents(planned(alone(RUN, True), CHILD, alone(BORN, True))) == [SearchIntent.SYNTHESIS]
    (check, *_) = planned(RUN, CHILD, alone(BORN)).plans
    assert intents(planned(RUN, CHILD, alone(BORN), tried=(check.query.upper(),))) == [
        SearchIntent.SYNTHESIS
    ]


def test_when_every_part_is_answered_and_checked_it_is_time_to_write() -> None:
    (plan,) = planned(RUN, CHILD, BORN).plans
    assert (plan.intent, plan.reasoning) == (SearchIntent.SYNTHESIS, ENOUGH)


# -- stuck


def exhausted(*findings: str | KeyFinding, leads: tuple[str, ...] = ()) -> SearchPlans:
    """Plan until no dive is left."""
    tried: tuple[str, ...] = ()
    for _ in range(20):
        plans = planned(*findings, tried=tried, leads=leads)
        made = tuple(plan.query for plan in plans.plans if plan.intent in {DIVE, CHECK})
        if not made:
            return plans
        tried += made
    raise AssertionError("dives without end")


def test_when_the_open_parts_were_searched_in_vain_names_lead_beside() -> None:
    plans = exhausted(RUN, CHILD, leads=("Cy Lund",))
    assert plans.plans[0].intent is SearchIntent.RELATED_TOPICS
    assert plans.plans[0].query == "Cy Lund"


def test_a_name_that_was_searched_does_not_lead_beside_again() -> None:
    plans = exhausted(RUN, CHILD)
    assert all("Eve" not in plan.query for plan in plans.plans)


def test_when_nothing_leads_on_there_is_no_plan_and_a_reason() -> None:
    assert exhausted() == SearchPlans(plans=(), reason=IN_VAIN)


# -- bounds


@pytest.mark.parametrize(("limit", "most"), [(1, 1), (2, 2), (0, 1), (-4, 1), (99, MOST_PLANS)])
def test_the_limit_is_kept(limit: int, most: int) -> None:
    assert 1 <= len(planned(alone(RUN), alone(CHILD), limit=limit).plans) <= most
    assert 1 <= len(planned(iteration=0, limit=limit).plans) <= most


def test_two_findings_that_say_the_same_are_searched_for_once() -> None:
    plans = planned(alone("B"), alone("B"), question="B", problems=("B",), tried=(), iteration=1)
    assert [plan.query for plan in plans.plans] == ["B"]


@given(
    st.text(max_size=80),
    st.lists(st.text(max_size=60), max_size=4),
    st.lists(st.text(max_size=40), max_size=3),
    st.integers(0, 2),
)
def test_any_text_has_a_plan_or_a_reason_and_no_query_is_made_twice(
    question: str, known: list[str], tried: list[str], iteration: int
) -> None:
    plans = planned(
        *(alone(text) for text in known),
        question=question,
        problems=(question,),
        tried=tuple(tried),
        iteration=iteration,
    )
    assert plans == planned(
        *(alone(text) for text in known),
        question=question,
        problems=(question,),
        tried=tuple(tried),
        iteration=iteration,
    )
    assert bool(plans.plans) != bool(plans.reason)
    queries = [plan.query for plan in plans.plans]
    assert len(set(queries)) == len(queries)
