"""What a person is asked, and what may be answered."""

from __future__ import annotations

from typing import Any

import pytest

from deepdiver.cli.dialogue import (
    PersonLeftError,
    ask_person,
    complete_question,
    is_somebody_there,
)
from deepdiver.errors import (
    UsageError,
)
from tests.terminal import Stream

ANSWER = {
    "ask": "review_answer",
    "question": "Who?",
    "answer": "Anna, [1]\nsay all.",
    "journey": ["search_library for “x”: 1 source"],
    "key_sources": ["Register, /a/b.md"],
    "missing": ["Since when?"],
    "confidence": 0.718,
}
PLAN = {
    "ask": "approve_plan",
    "question": "Who?",
    "problems": ["Who runs it?", "Since when?"],
    "ceiling": "$0.4200",
}


# Asking back


@pytest.mark.parametrize(("sees", "types"), [(True, False), (False, True), (False, False)])
def test_nobody_is_there_who_cannot_see_and_type(
    monkeypatch: pytest.MonkeyPatch, sees: bool, types: bool
) -> None:
    monkeypatch.setattr("sys.stdin", Stream(types))
    monkeypatch.setattr("sys.stderr", Stream(sees))
    assert not is_somebody_there()


def test_a_program_without_standard_input_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert not is_somebody_there()


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("", "Cheese"), ("  ", "Cheese"), ("How is it made? ", "Cheese: How is it made?")],
)
async def test_a_vague_question_is_completed_or_left_as_it_is(typed: str, asked: str) -> None:
    person = Person(typed)
    assert await complete_question("Cheese", person.say, person.read_line) == asked
    assert person.shown[0] == "What would you like to know about “Cheese”?"


async def test_what_is_asked_back_is_one_plain_line() -> None:
    person = Person("")
    await complete_question("x\x1b[2J\ny", person.say, person.read_line)
    assert not any(sign in line for line in person.shown for sign in "\x1b\n")


async def test_a_clear_question_is_not_asked_back_about() -> None:
    person = Person()
    question = "Who runs Svedjan Ost AB?"
    assert await complete_question(question, person.say, person.read_line) == question
    assert person.shown == []


async def test_a_person_who_goes_away_when_asked_back() -> None:
    person = Person(None)
    with pytest.raises(PersonLeftError):
        await complete_question("it", person.say, person.read_line)


# Asking a person


class Person:
    """Types what a test says."""

    def __init__(self, *types: str | None) -> None:
        self._types = list(types)
        self.shown: list[str] = []

    def say(self, text: str) -> None:
        self.shown.append(text)

    async def read_line(self, prompt: str) -> str | None:
        self.shown.append(prompt)
        return self._types.pop(0)

    async def about(self, shown: dict[str, Any]) -> dict[str, Any]:
        reply = await ask_person(shown, self.say, self.read_line)
        assert not self._types, "more was typed than read"
        return reply


@pytest.mark.parametrize(
    "types", [(None,), ("e", None), ("r", None), ("e", "", "", None), ("what?", None)]
)
async def test_a_person_who_goes_away(types: tuple[str | None, ...]) -> None:
    with pytest.raises(PersonLeftError):
        await Person(*types).about(PLAN)


@pytest.mark.parametrize(
    "types", [(None,), ("r", None), ("c", None), ("c", "", None), ("what?", None)]
)
async def test_a_person_who_goes_away_from_an_answer(types: tuple[str | None, ...]) -> None:
    with pytest.raises(PersonLeftError):
        await Person(*types).about(ANSWER)


async def test_only_plans_and_answers_are_asked_about() -> None:
    with pytest.raises(UsageError, match="cannot ask about favourite_colour"):
        await Person().about({"ask": "favourite_colour"})
    with pytest.raises(UsageError, match="cannot ask about None"):
        await Person().about({})


@pytest.mark.parametrize(
    ("types", "reply"),
    [
        (("a",), {"action": "accept"}),
        (("", "x", " Accept "), {"action": "accept"}),
        (("r", "wrong child"), {"action": "reject", "reason": "wrong child"}),
        (("r", ""), {"action": "reject", "reason": ""}),
        (("c", "only from 2026"), {"action": "add", "constraints": "only from 2026"}),
        (("c", "", "a"), {"action": "accept"}),
    ],
)
async def test_what_a_person_may_say_to_an_answer(
    types: tuple[str, ...], reply: dict[str, Any]
) -> None:
    assert await Person(*types).about(ANSWER) == reply


async def test_an_answer_is_shown_with_its_journey_its_sources_and_what_is_missing() -> None:
    person = Person("a")
    await person.about(ANSWER)
    assert person.shown == [
        "",
        "Answer to: Who? (confidence 0.72)",
        "  Anna, [1] say all.",
        "Research Journey:",
        "  - search_library for “x”: 1 source",
        "Key Sources:",
        "  - Register, /a/b.md",
        "Missing:",
        "  - Since when?",
        "[a]ccept, [r]eject or add a [c]onstraint? ",
    ]
    bare = Person("a")
    await bare.about(
        {"ask": "review_answer", "question": "Who?", "answer": "x\x1b[2J" + "y" * 9_000}
    )
    assert len(bare.shown) == 4
    assert "\x1b" not in bare.shown[2]
    assert len(bare.shown[2]) < 5_000


@pytest.mark.parametrize(
    ("types", "reply"),
    [
        (("a",), {"action": "accept"}),
        (("Accept",), {"action": "accept"}),
        (("", "x", " a "), {"action": "accept"}),
        (("r", "too broad"), {"action": "reject", "reason": "too broad"}),
        (("r", ""), {"action": "reject", "reason": ""}),
        (("e", "", "", "", "", "a"), {"action": "accept"}),
        (("e", "-", "", "", "", "a"), {"action": "edit", "problems": ["Since when?"]}),
        (
            ("e", "", "<", "", "", "a"),
            {"action": "edit", "problems": ["Since when?", "Who runs it?"]},
        ),
        (("e", "<", "", "", "", "a"), {"action": "accept"}),
        (
            ("e", "Who owns it?", "", "", "", "a"),
            {"action": "edit", "problems": ["Who owns it?", "Since when?"]},
        ),
        (
            ("e", "", "", "Where?", "Why?", "", "", "a"),
            {"action": "edit", "problems": [*PLAN["problems"], "Where?", "Why?"]},
        ),
        (("e", "-", "-", "", "", "How?", "", "", "a"), {"action": "edit", "problems": ["How?"]}),
        (
            ("e", "-", "", "", "", "e", "New?", "", "", "a"),
            {"action": "edit", "problems": ["New?"]},
        ),
        (("e", "-", "", "", "", "r", "no"), {"action": "reject", "reason": "no"}),
        (
            ("e", "", "", "", "owner of Holm", "", "a"),
            {"action": "edit", "problems": PLAN["problems"], "queries": ["owner of Holm"]},
        ),
    ],
)
async def test_what_a_person_may_say(types: tuple[str, ...], reply: dict[str, Any]) -> None:
    assert await Person(*types).about(PLAN) == reply


@pytest.mark.parametrize(
    ("types", "queries"),
    [
        (("-", "-", ""), []),
        (("", "<", ""), ["founder", "owner"]),
        (("owner 2026", "", ""), ["owner 2026", "founder"]),
        (("", "", "seat", "harbour", ""), ["owner", "founder", "seat", "harbour"]),
    ],
)
async def test_what_a_person_may_do_with_searches(
    types: tuple[str, ...], queries: list[str]
) -> None:
    person = Person("e", "", "", "", *types, "a")
    reply = await person.about({**PLAN, "queries": ["owner", "founder"]})
    assert reply == {"action": "edit", "problems": PLAN["problems"], "queries": queries}
    last = person.shown[len(person.shown) - person.shown[::-1].index("Plan for: Who?") :]
    assert [line for line in last if line.startswith("  search: ")] == [
        f"  search: {query}" for query in queries
    ]


async def test_searches_that_a_person_leaves_are_made_for_other_sub_problems_too() -> None:
    person = Person("e", "Who owns it?", "", "", "", "", "a")
    assert await person.about({**PLAN, "queries": ["owner"]}) == {
        "action": "edit",
        "problems": ["Who owns it?", "Since when?"],
        "queries": ["owner"],
    }


async def test_the_plan_is_shown_with_its_cost() -> None:
    person = Person("a")
    await person.about(PLAN)
    assert person.shown == [
        "",
        "Plan for: Who?",
        "  1. Who runs it?",
        "  2. Since when?",
        "Maximum cost: $0.4200",
        "[a]ccept, [e]dit or [r]eject? ",
    ]


async def test_what_is_to_be_found_out_and_searched_is_shown_too() -> None:
    person = Person("a")
    await person.about({**PLAN, "objectives": ["the owner"], "queries": ["owner\x1b[2J of Holm"]})
    assert "  objective: the owner" in person.shown
    assert any(line.startswith("  search: owner") and "\x1b" not in line for line in person.shown)


@pytest.mark.parametrize(
    ("ceiling", "told"),
    [("$0.0000", "nothing"), ("", "not known"), ("not known", "not known"), ("$1.0000", "$1.0000")],
)
async def test_the_ceiling_in_words(ceiling: str, told: str) -> None:
    person = Person("a")
    await person.about({**PLAN, "ceiling": ceiling})
    assert f"Maximum cost: {told}" in person.shown


async def test_an_edited_plan_is_shown_again_and_hostile_text_steers_nothing() -> None:
    person = Person("e", "-", "A new part\x1b[2J", "", "", "a")
    await person.about({**PLAN, "problems": ["x\x1b]0;t\x07", "y"]})
    assert "  1. A new part\\u001b[2J" in person.shown
    assert all(line.isprintable() for line in person.shown)
