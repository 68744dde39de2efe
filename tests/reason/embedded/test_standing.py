"""The answers of a strategy without hypotheses are weighed as hypotheses would be."""

from __future__ import annotations

import pytest

from deepdiver.core.record import HypothesisStatus
from deepdiver.reason.embedded.draft import Brief
from deepdiver.reason.embedded.standing import standing_of, weigh_hypotheses
from deepdiver.tasks import ShownFinding
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

WHO = "Who chairs the harbour board?"
CHAIR = "Ada Holm chairs the harbour board."


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)


def brief(question: str, *found: ShownFinding) -> Brief:
    return Brief(question, AS_OF, (question,), None, found, ())


def test_without_findings_nothing_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {})
    assert weigh_hypotheses(brief(WHO)) == ()


def test_hypotheses_that_were_tested_stand_as_they_are() -> None:
    held = (standing(CHAIR),)
    assert standing_of(Brief(WHO, AS_OF, (WHO,), held, findings(CHAIR), ())) == held
    assert standing_of(Brief(WHO, AS_OF, (WHO,), (), findings(CHAIR), ())) == ()


def test_a_likely_answer_is_supported_and_was_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Ada Holm": 0.95})
    (only,) = standing_of(brief(WHO, finding(CHAIR, credibility=0.9)))
    assert (only.answer, only.status, only.trials) == ("Ada Holm", HypothesisStatus.SUPPORTED, 0)
    assert only.supporting == ("F1",)


def test_an_unlikely_answer_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Ada Holm": 0.1})
    (only,) = standing_of(brief(WHO, finding(CHAIR)))
    assert only.status is HypothesisStatus.UNDECIDED
