"""A yes-or-no question becomes a statement by re-ordering its words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.language.statement import (
    as_statement,
    base_form,
    is_past,
    opens_yes_no,
    past,
    statement_of,
    third_person,
)


@pytest.mark.parametrize(
    "question",
    ["", "?", "Is", "Did?", "Who owns it?", "mill fire", "Which mill burned?", "List all mills"],
)
def test_what_is_no_yes_no_question_has_no_statement(question: str) -> None:
    assert statement_of(question) == ""


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Did Velby sign the contract?", "Velby signed the contract."),
        ("did the court annul the permit", "The court annulled the permit."),
        ("Did Ada Berg of Morden speak at the march?", "Ada Berg of Morden spoke at the march."),
        ("Did the night shift report the fault?", "The night shift reported the fault."),
        ("Did the match against Velby end early?", "The match against Velby ended early."),
        ("Did the minister mislead the house?", "The minister misled the house."),
        ("Did it burn?", "It burned."),
        ("Does the mill grind rye?", "The mill grinds rye."),
        ("Does the night train still run?", "The night train still runs."),
        ("Does the firm have a permit?", "The firm has a permit."),
        ("Do options vest on leaving?", "Options vest on leaving."),
        ("Do we add salt?", "We add salt."),
        ("Is the pump approved?", "The pump is approved."),
        ("Is the home office deductible?", "The home office is deductible."),
        ("Is there a crack in the wall?", "There is a crack in the wall."),
        ("Are there any rooms left?", "There are rooms left."),
        ("Is Velby the same firm as Velby North?", "Velby is the same firm as Velby North."),
        ("Was the match against Velby abandoned?", "The match against Velby was abandoned."),
        ("Are cats a problem on the island?", "Cats are a problem on the island."),
        ("Is monkshood poisonous to dogs?", "Monkshood is poisonous to dogs."),
        ("Is the hut in the valley?", "The hut is in the valley."),
        ("Has the contract been published?", "The contract has been published."),
        ("Has the data set ever been released?", "The data set has been released."),
        ("Have we signed the lease?", "We have signed the lease."),
        ("Can the landlord enter without notice?", "The landlord can enter without notice."),
        ("Will there be a vote?", "There will be a vote."),
        ("Isn't the pump approved?", "The pump is approved."),
        ("Didn't Velby sign?", "Velby signed."),
        ("Won't the shop close?", "The shop will close."),
        ("Is it true that the mill burned down?", "The mill burned down."),
        ("Am I right that gifts need no receipt?", "Gifts need no receipt."),
        ("The mill burned down, didn't it?", "The mill burned down."),
        ("The shop opens at nine, right?", "The shop opens at nine."),
    ],
)
def test_statements(question: str, statement: str) -> None:
    assert statement_of(question) == statement


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Is it?", True),
        ("didn't he go", True),
        ("It is, isn't it?", True),
        ("Who is it?", False),
        ("island", False),
        ("", False),
    ],
)
def test_how_yes_no_questions_open(text: str, opens: bool) -> None:
    assert opens_yes_no(text) is opens


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("sign", "signed"),
        ("approve", "approved"),
        ("carry", "carried"),
        ("play", "played"),
        ("stop", "stopped"),
        ("visit", "visited"),
        ("give", "gave"),
        ("undertake", "undertook"),
        ("rewrite", "rewrote"),
        ("cut", "cut"),
    ],
)
def test_past_forms(verb: str, form: str) -> None:
    assert past(verb) == form


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("sign", "signs"),
        ("carry", "carries"),
        ("play", "plays"),
        ("pass", "passes"),
        ("reach", "reaches"),
        ("have", "has"),
        ("go", "goes"),
    ],
)
def test_third_persons(verb: str, form: str) -> None:
    assert third_person(verb) == form


def test_past_forms_are_recognised() -> None:
    assert all(map(is_past, ("happened", "became", "written", "signed")))
    assert not any(map(is_past, ("red", "sign", "mill", "need")))


@pytest.mark.parametrize(
    ("word", "base"), [("won", "win"), ("left", "leave"), ("lay", "lay"), ("mill", "mill")]
)
def test_base_forms(word: str, base: str) -> None:
    assert base_form(word) == base


def test_a_statement_is_a_sentence() -> None:
    assert as_statement("the mill burned?") == "The mill burned."
    assert as_statement(" ?") == ""


@given(
    st.sampled_from(["Is", "Was", "Has", "Can", "Did", "Does"]),
    st.sampled_from(["the old mill", "Ada Berg", "it", "the fire of 1904", "every miller"]),
    st.lists(st.sampled_from("burned in the valley approve a new still open".split()), max_size=6),
)
def test_no_word_is_invented_or_lost(helper: str, subject: str, rest: list[str]) -> None:
    question = " ".join([helper, subject, *rest])
    said = statement_of(f"{question}?")
    kept = re.findall(r"\w+", said.lower())
    asked = re.findall(r"\w+", question.lower())
    stems = {word[:3] for word in asked}
    assert all(word[:3] in stems for word in kept)
    assert not said or len(kept) >= len(asked) - 1


@given(st.text(max_size=200))
def test_whatever_is_asked_is_no_error(question: str) -> None:
    said = statement_of(question)
    assert said == "" or said.endswith(".")
