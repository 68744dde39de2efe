"""Judging: the same answer supports, a denial refutes, and another value is neutral."""

from __future__ import annotations

import pytest

from deepdiver.core import belief
from deepdiver.core.record import Stance
from deepdiver.encoders.reader import Verdict
from deepdiver.reason.embedded import weigh as module
from deepdiver.reason.embedded.weigh import weigh
from deepdiver.reason.embedded.yes_no import Side
from deepdiver.tasks import Judge, Judgement, Rival, ShownFinding
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import AS_OF, finding, findings

QUESTION = "How many people were hurt in the fire?"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)
    monkeypatch.setattr(module, "judge_statement", lambda *_: Verdict(0.0, 0.0, 1.0))


def stances(
    claim: str, answer: str, found: tuple[ShownFinding, ...], question: str = QUESTION
) -> list[Stance]:
    return [item.stance for item in judge(claim, answer, found, question)]


def judge(
    claim: str, answer: str, found: tuple[ShownFinding, ...], question: str = QUESTION
) -> list[Judgement]:
    rival = Rival(id="H1", hypothesis=claim, answer_if_true=answer)
    task = Judge(question=question, as_of=AS_OF, findings=found, rivals=(rival,))
    return list(weigh(task).judgements)


SIX = "Six people were hurt in the fire."


def test_nothing_is_judged_by_nothing() -> None:
    assert stances(SIX, "Six", ()) == []


def test_the_same_answer_supports_and_another_is_neutral(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Six": 0.9, "Nine": 0.4})
    found = findings(SIX, "Nine people were hurt in the fire.")
    assert stances(SIX, "Six", found) == [Stance.SUPPORTS, Stance.NEUTRAL]


def test_the_date_of_another_event_refutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"3 May": 0.9, "7 June": 0.5})
    found = findings("The fire was on 3 May.", "The trial was on 7 June.")
    question = "When was the fire?"
    assert Stance.REFUTES not in stances("The fire was on 3 May.", "3 May", found, question)


@pytest.mark.parametrize(
    "denial",
    [
        "Six people were hurt in the fire, not nine people.",
        "The figure of nine people hurt in the fire was wrong.",
        "Six people instead of nine people were hurt in the fire.",
    ],
)
def test_a_denial_of_the_very_value_refutes(denial: str, monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"nine people": 0.9})
    claim = "In the fire nine people were hurt."
    assert stances(claim, "nine people", findings(claim, denial))[1] is Stance.REFUTES


def test_a_denial_about_something_else_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"nine people": 0.9})
    claim = "In the fire nine people were hurt."
    other = "The choir has eight singers, not nine people."
    assert stances(claim, "nine people", findings(claim, other))[1] is not Stance.REFUTES


def test_support_moves_belief_to_the_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Six": 0.9})
    (only,) = judge(SIX, "Six", (finding(SIX, credibility=0.6),))
    moved = belief.posterior(0.5, [belief.WeighedEvidence(only.stance, only.strength, 0.6, "F1")])
    assert 0.7 < moved < 0.9


def test_a_yes_is_supported_by_those_that_say_it(monkeypatch: pytest.MonkeyPatch) -> None:
    side = Side("yes", "It leaks.", (1,), 0.75)
    monkeypatch.setattr(module, "decide_yes_no", lambda *_: side)
    found = findings("It is old.", "It leaks.")
    question = "Does the dam leak?"
    assert stances("It leaks.", "yes", found, question) == [Stance.NEUTRAL, Stance.SUPPORTS]
    # A sentence that says what the hypothesis quotes does not say that the answer is no.
    assert Stance.SUPPORTS not in stances("It leaks.", "no", found, question)


@pytest.mark.parametrize("confirmed", [True, False])
def test_an_answer_that_the_close_reader_does_not_find_is_not_accepted(
    monkeypatch: pytest.MonkeyPatch, confirmed: bool
) -> None:
    teach(monkeypatch, {"Six": 0.95})
    monkeypatch.setattr(module, "confirms", lambda *_: confirmed)
    (only,) = judge(SIX, "Six", findings(SIX))
    moved = belief.posterior(0.5, [belief.WeighedEvidence(only.stance, only.strength, 0.6, "F1")])
    assert (moved >= belief.SUPPORTED_AT) is confirmed


@pytest.mark.parametrize("relevant", [True, False])
def test_a_row_that_the_close_reader_finds_beside_the_point_is_not_accepted(
    monkeypatch: pytest.MonkeyPatch, relevant: bool
) -> None:
    monkeypatch.setattr(module, "bears", lambda *_: relevant)
    row = "| Farm: North Lea | Owner: A. Bream | Hectares: 4.4"
    cell = finding(row[2:], title="Farms").model_copy(update={"quote": row})
    (only,) = judge("4.4", "4.4", (cell,), "How many hectares has North Lea?")
    moved = belief.posterior(0.5, [belief.WeighedEvidence(only.stance, only.strength, 0.6, "F1")])
    assert (moved >= belief.SUPPORTED_AT) is relevant


def test_the_rows_of_a_table_support_what_they_answer() -> None:
    row = "| Farm: North Lea | Owner: A. Bream | Hectares: 4.4"
    cell = finding(row[2:], title="Farms").model_copy(update={"quote": row})
    question = "Who is the owner of North Lea?"
    assert stances("The owner is A. Bream.", "A. Bream", (cell,), question) == [Stance.SUPPORTS]


def test_a_sentence_is_supported_by_its_words_or_by_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = findings(f"It rained. {SIX}", "Half a dozen were hurt.", "Nobody slept.")
    assert stances(SIX, "", found) == [Stance.SUPPORTS, Stance.NEUTRAL, Stance.NEUTRAL]
    monkeypatch.setattr(module, "judge_statement", lambda *_: Verdict(0.9, 0.0, 0.1))
    assert stances("People were hurt.", "", found[1:2]) == [Stance.SUPPORTS]


def test_the_reader_does_not_overrule_a_missing_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "judge_statement", lambda *_: Verdict(0.9, 0.0, 0.1))
    assert stances("In all, 6 were hurt.", "", findings("Many were hurt.")) == [Stance.NEUTRAL]


def test_only_the_findings_of_a_rival_are_judged() -> None:
    rival = Rival(id="H1", hypothesis=SIX, findings=("F2",))
    task = Judge(question=QUESTION, as_of=AS_OF, findings=findings(SIX, SIX), rivals=(rival,))
    assert [item.finding for item in weigh(task).judgements] == ["F2"]
