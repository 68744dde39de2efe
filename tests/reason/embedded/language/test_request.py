"""The question is found in a message, whatever stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.reason.embedded.language.request import LONGEST, find_request


@pytest.mark.parametrize("message", ["", "   ", "?", "Thanks!", "Hello", "...", "\n\n", "🙂"])
def test_a_message_without_a_question_is_no_error(message: str) -> None:
    found = find_request(message)
    assert found.background == ""
    assert not found.indirect


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("Who owns the mill?", "Who owns the mill?"),
        ("Hi there, who owns the mill? Thanks!", "who owns the mill?"),
        ("Good morning! Could you please tell me who owns the mill?", "who owns the mill?"),
        ("can you list all mills", "list all mills"),
        ("I have a question: which mills burned down?", "which mills burned down?"),
        ("I'd like to know when the mill burned down.", "when the mill burned down."),
        ("do you happen to know where the miller lives", "where the miller lives"),
        ("Sorry to bother you, but what is a mill race?", "what is a mill race?"),
        ("Quick one for my slides: how old is the mill?", "how old is the mill?"),
        ("Please summarise the mill's history, thanks in advance", "summarise the mill's history"),
        ("okay so why did it burn", "why did it burn"),
        ("compare mill and forge pls", "compare mill and forge"),
        ("any idea in which year it burned?", "in which year it burned?"),
        ("tell me about the mill", "tell me about the mill"),
        ("mill fire 1904", "mill fire 1904"),
    ],
)
def test_courtesies_go(message: str, question: str) -> None:
    assert find_request(message).text == question


def test_what_is_said_of_the_subject_stays() -> None:
    assert find_request("In the 1904 ledger, who owns the mill?").text == (
        "In the 1904 ledger, who owns the mill?"
    )
    found = find_request("The two ledgers name different owners. Who owned the mill?")
    assert found.text == "Who owned the mill?"
    assert found.background == "The two ledgers name different owners."
    assert found.matter == f"{found.text} {found.background}"


@pytest.mark.parametrize(
    ("message", "matter"),
    [
        (
            "The two ledgers name different owners. Who are they?",
            "Who are they? The two ledgers name different owners.",
        ),
        (
            "Hi! I committed to the wrong branch. How do I undo that? Thanks",
            "How do I undo that? I committed to the wrong branch.",
        ),
        ("I lost my key and want another one, how?", "I lost my key and want another one, how?"),
        ("I am new here. Who?", "Who? I am new here."),
        ("The mill was closed. When?", "When? The mill was closed."),
    ],
)
def test_a_question_that_only_points_keeps_what_it_points_at(message: str, matter: str) -> None:
    assert find_request(message).matter == matter


def test_talk_is_no_part_of_what_is_looked_for() -> None:
    assert find_request("I am new here. Who owns the mill?").matter == "Who owns the mill?"
    assert find_request("").matter == ""


def test_talk_about_oneself_is_no_background() -> None:
    found = find_request("I am new in the village. My uncle told me to ask. Who owns the mill?")
    assert (found.text, found.background) == ("Who owns the mill?", "")


def test_two_questions_stay_together() -> None:
    assert find_request("How many burned? Do the papers agree?").text == (
        "How many burned? Do the papers agree?"
    )


@pytest.mark.parametrize(
    "message",
    [
        "I wonder whether the mill was insured",
        "Could you check if the mill was insured?",
        "Please tell me if the mill was insured.",
        "do you know if the mill was insured?",
    ],
)
def test_an_indirect_question_is_a_statement_to_test(message: str) -> None:
    found = find_request(message)
    assert found.indirect
    assert found.text.rstrip("?.") == "the mill was insured"


def test_of_an_endless_message_the_end_with_the_question_counts() -> None:
    material = "The mill stood by the river. " * 500
    assert find_request(f"{material} Who owned the mill?").text.endswith("Who owned the mill?")
    assert len(find_request("word " * 5_000).text) <= LONGEST


def test_an_order_before_the_material_is_found() -> None:
    found = find_request("Summarise the fire. The mill burned in 1904. Nobody was hurt.")
    assert found.text == "Summarise the fire."
    assert found.background == "The mill burned in 1904. Nobody was hurt."


def test_curly_apostrophes_are_plain() -> None:
    assert find_request("I’d like to know who’s the miller").text == "who's the miller"


@given(st.text(max_size=400))
def test_whatever_is_typed_has_a_request(message: str) -> None:
    found = find_request(message)
    assert len(found.text) <= max(LONGEST, len(message)) + 1
    assert "\n" not in found.text


@given(
    st.sampled_from(["", "Hi, ", "Hello! ", "Please ", "So, ", "Good evening, "]),
    st.sampled_from(
        ["who owns the mill?", "is the mill open?", "list all mills", "mill fire 1904"]
    ),
    st.sampled_from(["", " Thanks!", " Cheers", " Thank you very much."]),
)
def test_every_mix_of_courtesies_leaves_the_same_question(
    before: str, question: str, after: str
) -> None:
    assert find_request(before + question + after).text == question
