"""Corrections say that they are corrections, and drafts that they are drafts."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded.corrections import corrects, is_provisional, takes_back
from tests.reason.embedded.shown import finding


def test_a_plain_statement_corrects_nothing() -> None:
    one = finding("The club was founded in 1990.", title="Annual report")
    assert not corrects(one)
    assert not is_provisional(one)


@pytest.mark.parametrize(
    ("statement", "title"),
    [
        ("About 12,000 fish were counted.", "Corrections"),
        ("It lasted 21 minutes.", "ADDENDUM to report 64"),
        ("The unit starts on 8 April.", "rollout_plan_v2-final"),
        ("The deadline was moved from 12 May to 26 May.", "Questions and answers"),
        ("The figure of nine was wrong.", "News"),
        ("By mistake, the paper gave 1,200.", "News"),
    ],
)
def test_what_corrects_is_told(statement: str, title: str) -> None:
    assert corrects(finding(statement, title=title))


@pytest.mark.parametrize("title", ["council_minutes_DRAFT", "Onboarding 2022 OLD", "plan-v1"])
def test_what_is_provisional_is_told(title: str) -> None:
    assert is_provisional(finding("The unit starts on 4 March.", title=title))


def test_a_correction_takes_back_what_it_says_was_said() -> None:
    quote = "The report said that it lasted 12 minutes. According to the log it was 21 minutes."
    addendum = finding(quote, title="Addendum to report 64")
    assert takes_back(addendum, "12 minutes")
    assert not takes_back(addendum, "21 minutes")


def test_what_corrects_nothing_takes_nothing_back() -> None:
    assert not takes_back(finding("The nurse said that it lasted 12 minutes."), "12 minutes")
