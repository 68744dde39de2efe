"""What a question asks for is read once."""

from __future__ import annotations

from deepdiver.reason.embedded.asked import ACCOUNTS, understand
from deepdiver.reason.embedded.language.form import Form


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
