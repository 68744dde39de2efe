"""Short answers: the likeliest first, and a correction before what it corrects."""

from __future__ import annotations

import pytest

from deepdiver.reason.embedded.answers import find_short_answers
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import finding

QUESTION = "How long did the fire last?"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)


def test_no_finding_gives_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {})
    assert find_short_answers(QUESTION, []) == []
    assert find_short_answers(QUESTION, [finding("It was cold.")]) == []


def test_the_likeliest_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"12 minutes": 0.4, "21 minutes": 0.8})
    told = [
        finding("The fire lasted 12 minutes.", "F1"),
        finding("The fire lasted 21 minutes.", "F2"),
    ]
    assert next(r.answer for r in find_short_answers(QUESTION, told)) == "21 minutes"


def test_a_correction_outranks_what_it_corrects(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"12 minutes": 0.8, "21 minutes": 0.6})
    told = [
        finding("The fire lasted 12 minutes.", "F1", title="Report"),
        finding("The fire lasted 21 minutes.", "F2", title="Addendum to the report"),
    ]
    first, second = find_short_answers(QUESTION, told)
    assert (first.answer, second.answer) == ("21 minutes", "12 minutes")


def test_what_a_correction_says_was_said_is_believed_less(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"12 minutes": 0.8})
    told = [
        finding("The fire lasted 12 minutes.", "F1", title="Report"),
        finding("The report said that the fire lasted 12 minutes.", "F2", title="Addendum"),
    ]
    (alone,), (both,) = (find_short_answers(QUESTION, some) for some in (told[:1], told))
    assert both.likelihood < alone.likelihood


def test_a_correction_that_is_about_something_else_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    teach(monkeypatch, {"12 minutes": 0.8})
    told = [
        finding("The fire lasted 12 minutes.", "F1", title="Report"),
        finding("The name of the mayor was wrong.", "F2", title="Corrections"),
    ]
    alone = find_short_answers(QUESTION, told[:1])[0].likelihood
    assert find_short_answers(QUESTION, told)[0].likelihood == alone


def test_a_draft_counts_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"12 minutes": 0.8})
    plain = find_short_answers(QUESTION, [finding("The fire lasted 12 minutes.", title="Report")])
    draft = find_short_answers(QUESTION, [finding("The fire lasted 12 minutes.", title="Draft")])
    assert draft[0].likelihood < plain[0].likelihood
