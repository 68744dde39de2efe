"""What a question asks for is read once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deepdiver.reason.embedded import asked as module
from deepdiver.reason.embedded.asked import (
    ACCOUNTS,
    SURE_OF_FORM,
    is_open,
    understand,
    wants_few_words,
)
from deepdiver.reason.embedded.language.form import Form, read_question


def test_a_question_is_read_once() -> None:
    assert understand("Who founded the club?") is understand("Who founded the club?")


def test_short_answers_are_no_accounts() -> None:
    assert {Form.LOOK_UP, Form.YES_NO, Form.CALCULATION} == set(Form) - ACCOUNTS


def test_politeness_is_no_part_of_the_question() -> None:
    asked = understand("Hi there! Could you tell me who founded the club? Thanks")
    assert asked.text == "who founded the club?"


def test_grammar_decides_on_yes_or_no() -> None:
    assert understand("Did a lorry cause the collapse of the bridge?").form is Form.YES_NO
    assert understand("Why did the bridge collapse?").form is Form.WHY


@pytest.mark.parametrize(
    "question",
    [
        "What language were the letters translated into in the era of Abbot Lund?",
        "Where did the band form that made the live album Low Tide?",
        "When was the construction of the Harbour House started?",
        "In which district is the birthplace of Ada Holm?",
        "What county shares a border with the county of Senn?",
        "What kind of school did the author of The Grey Gull attend?",
        "The Gull, is a film of 2016, and a remake of Tern, released in what year?",
        "The Gull was written by who?",
    ],
)
def test_what_asks_for_one_name_or_value_is_looked_up(question: str) -> None:
    assert understand(question).form is Form.LOOK_UP


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Which farms are on the list of the valley?", Form.LIST),
        ("What was the dam dispute all about?", Form.OVERVIEW),
        ("What happened when in the tender?", Form.TIMELINE),
        ("what was released when in 2024?", Form.TIMELINE),
        ("Who did what, when?", Form.TIMELINE),
        ("What do the sources disagree on about the size of the fleet?", Form.CONFLICT),
        ("Why did the team move?", Form.WHY),
    ],
)
def test_what_asks_for_an_account_gets_one(question: str, form: Form) -> None:
    assert understand(question).form is form


def test_two_things_in_the_same_place_are_no_conflict_of_sources() -> None:
    asked = understand("Are Orrmyra Airport and Lodby Airport both airports in the same state?")
    assert asked.form is Form.YES_NO


def test_which_of_two_wants_a_few_words_and_a_comparison_does_not() -> None:
    assert wants_few_words(understand("Which plant is larger, the Pterocarya or the Cotula?"))
    assert not wants_few_words(understand("Compare the Pterocarya with the Cotula."))
    assert wants_few_words(understand("Who founded the club?"))
    assert not wants_few_words(understand("Why was the club founded?"))


@pytest.mark.parametrize(
    "question",
    [
        "How can we keep our promise of repair through 2035?",
        "How should the mill balance its costs against the dates of the law until 2031?",
    ],
)
def test_a_question_for_a_way_is_no_timeline_and_no_sum(question: str) -> None:
    assert understand(question).form not in {Form.TIMELINE, Form.CALCULATION}
    assert is_open(understand(question))


def test_what_follows_from_something_is_no_name() -> None:
    asked = understand("What is the likely impact of the new toll on the ferry?")
    assert asked.form is Form.OVERVIEW
    assert is_open(asked)


@pytest.mark.parametrize(
    "question",
    ["Who founded the club?", "Give me a timeline of the tender", "Was hat der Rat beschlossen?"],
)
def test_few_words_dates_and_other_languages_make_no_open_question(question: str) -> None:
    assert not is_open(understand(question))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("How can Lee's Market leverage chat ratings to boost loyalty?", Form.OVERVIEW),
        ("How might climate change affect the harvest?", Form.OVERVIEW),
        ("How should the valve be closed?", Form.HOW_TO),
        ("How can I reset the pump?", Form.HOW_TO),
    ],
)
def test_what_somebody_could_do_is_no_look_up_and_no_steps(text: str, form: Form) -> None:
    asked = understand(text)
    assert asked.form is form
    assert is_open(asked) is (form is Form.OVERVIEW), "steps stand together"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("In what ways will the port make up for tolls?", Form.OVERVIEW),
        ("how to make up for tolls", Form.HOW_TO),
        ("And how do we make up for tolls?", Form.HOW_TO),
        ("How do you make up for tolls?", Form.HOW_TO),
    ],
)
def test_only_who_asks_for_steps_gets_them_if_the_model_is_unsure(
    monkeypatch: pytest.MonkeyPatch, text: str, form: Form
) -> None:
    asked = replace(read_question(text), form=Form.HOW_TO, certainty=SURE_OF_FORM - 0.1)
    monkeypatch.setattr(module, "read_question", lambda _: asked)
    assert understand.__wrapped__(text).form is form
    sure = replace(asked, certainty=SURE_OF_FORM)
    monkeypatch.setattr(module, "read_question", lambda _: sure)
    assert understand.__wrapped__(text).form is Form.HOW_TO


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("What does --exclude-from do in rsync?", Form.DEFINITION),
        ("what do the red lamps mean?", Form.DEFINITION),
        ("What does SVP stand for?", Form.DEFINITION),
        ("What happens if the lamp goes out?", Form.OVERVIEW),
        ("What would happen without the dam?", Form.OVERVIEW),
        ("What do I have to do to get a refund?", Form.HOW_TO),
        ("What does the mayor earn?", Form.LOOK_UP),
        ("What does it cost to repair the roof?", Form.LOOK_UP),
    ],
)
def test_what_something_does_takes_sentences(text: str, form: Form) -> None:
    assert understand(text).form is form
