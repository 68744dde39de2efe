"""A plan that is edited on its page keeps what is in it, and says what was changed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from deepdiver.errors import UsageError
from deepdiver.service.plan_draft import (
    Draft,
    PlanPart,
    answer_of,
    draft_from,
    draft_of,
    edited,
)

SHOWN = {
    "problems": ["Who?", "When?"],
    "queries": ["owner", "founded", "owner 2026"],
    "about": {"owner": "Who?", "founded": "When?", "owner 2026": "Who?"},
}
PLAN = (PlanPart("Who?", ("owner", "owner 2026")), PlanPart("When?", ("founded",)))
DRAFTS = st.lists(
    st.builds(PlanPart, st.text(max_size=4), st.lists(st.text(max_size=4), max_size=4).map(tuple)),
    max_size=5,
).map(tuple)


def all_of(draft: Draft) -> list[str]:
    return sorted([*(part.problem for part in draft), *(q for part in draft for q in part.queries)])


@given(DRAFTS, st.integers(-2, 6), st.integers(-2, 6))
def test_nothing_is_lost_whatever_is_moved(draft: Draft, at: int, place: int) -> None:
    for what in ("up", "down", "jump", ""):
        for act in (what, f"{what}-{at}", f"{what}-{at}-{place}", f"{what}-1-2-3", f"{what}-x"):
            assert all_of(edited(draft, act)) == all_of(draft)
    assert edited(draft, "add") == (*draft, PlanPart(""))
    there = 1 <= at <= len(draft)
    assert len(edited(draft, f"strike-{at}")) == len(draft) - there
    many = len(draft[at - 1].queries) if there else 0
    struck = edited(draft, f"strike-{at}-{place}")
    assert len(all_of(struck)) == len(all_of(draft)) - (1 <= place <= many)
    assert len(all_of(edited(draft, f"add-{at}"))) == len(all_of(draft)) + there


@pytest.mark.parametrize(
    ("act", "after"),
    [("up-2", "bac"), ("down-2", "acb"), ("up-1", "abc"), ("down-3", "abc"), ("strike-1", "bc")],
)
def test_one_is_moved_by_one(act: str, after: str) -> None:
    draft = tuple(PlanPart(letter, ("q",)) for letter in "abc")
    assert edited(draft, act) == tuple(PlanPart(letter, ("q",)) for letter in after)
    own, other = PlanPart("Who?", tuple("abc")), PlanPart("When?", tuple("xyz"))
    what, at = act.split("-")
    assert edited((other, own), f"{what}-2-{at}") == (other, PlanPart("Who?", tuple(after)))


def test_a_sub_question_takes_its_searches_with_it() -> None:
    assert edited(PLAN, "up-2") == PLAN[::-1]
    assert edited(PLAN, "strike-1") == PLAN[1:]


def test_the_searches_of_a_plan_stand_under_what_they_are_about() -> None:
    assert draft_of(SHOWN) == PLAN
    assert draft_of({"problems": ["Who?"]}) == (PlanPart("Who?"),)
    old = {"problems": ["Who?", "When?"], "queries": ["search_corpus: owner"]}
    assert draft_of(old)[0].queries == ("search_corpus: owner",)


def test_a_form_carries_the_whole_plan() -> None:
    fields: list[tuple[str, str | UploadFile]] = [
        ("problem", "Who?"),
        ("query-1", "owner"),
        ("query-1", "owner\r\n2026 "),
        ("problem", " When?\n"),
        ("query-2", "founded"),
        ("query-9", "of none"),
    ]
    assert draft_from(FormData(fields)) == PLAN


def test_who_changes_nothing_accepts() -> None:
    assert answer_of(PLAN, SHOWN).action == "accept"
    untidy = (PlanPart(" Who? ", ("owner", "", "owner 2026 ")), PLAN[1], PlanPart(" "))
    assert answer_of(untidy, SHOWN).action == "accept"


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (
            (PlanPart("Who?", ("owner 2026",)), PLAN[1]),
            {
                "problems": ["Who?", "When?"],
                "queries": ["owner 2026", "founded"],
                "about": {"owner 2026": "Who?", "founded": "When?"},
            },
        ),
        (
            (PlanPart("Who?"), PlanPart("When?")),
            {"problems": ["Who?", "When?"], "queries": []},
        ),
        (
            (PlanPart("When?", ("owner",)), PlanPart("", ("founded",))),
            {"problems": ["When?"], "queries": ["owner", "founded"], "about": {"owner": "When?"}},
        ),
    ],
)
def test_what_a_person_makes_of_it_is_said(draft: Draft, said: dict[str, Any]) -> None:
    made = answer_of(draft, SHOWN).model_dump(mode="json", exclude_defaults=True)
    assert made == {"action": "edit", **said}


def test_a_plan_without_searches_leaves_them_to_the_strategy() -> None:
    made = answer_of((PlanPart("Where?"),), {"problems": ["Who?"]})
    assert (made.problems, made.queries) == (("Where?",), None)


def test_a_plan_needs_a_sub_question() -> None:
    for draft in ((), (PlanPart("  "),), (PlanPart("", ("owner",)),)):
        with pytest.raises(UsageError, match="at least one sub-question"):
            answer_of(draft, SHOWN)


def test_what_is_too_long_or_too_much_is_refused() -> None:
    with pytest.raises(ValidationError):
        answer_of((PlanPart("x" * 1_001),), SHOWN)
    with pytest.raises(ValidationError):
        answer_of((PlanPart("Who?", tuple(map(str, range(50)))),), SHOWN)
