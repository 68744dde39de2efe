"""Hypotheses: rival answers in the words of the findings; none for accounts."""

from __future__ import annotations

import pytest

from deepdiver.core.record import HypothesisStatus, RunStatus
from deepdiver.reason.embedded import propose as module
from deepdiver.reason.embedded.propose import MOST, propose
from deepdiver.reason.embedded.yes_no import Side
from deepdiver.tasks import (
    Hypothesise,
    HypothesisStanding,
    Proposed,
    RecalledRefutation,
    RecalledRun,
    ShownFinding,
)
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.reader import teach
from tests.reason.embedded.shown import AS_OF, finding, findings, standing

WHO = "Who chairs the harbour board?"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_by_words(monkeypatch)


def put(
    question: str,
    found: tuple[ShownFinding, ...],
    told: tuple[HypothesisStanding, ...] = (),
    limit: int = 4,
    past: tuple[RecalledRun, ...] = (),
) -> tuple[Proposed, ...]:
    task = Hypothesise(
        past=past,
        question=question,
        as_of=AS_OF,
        problems=(question,),
        findings=found,
        standing=told,
        limit=limit,
    )
    return propose(task).hypotheses


def test_no_finding_allows_no_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {})
    assert put(WHO, ()) == ()


@pytest.mark.parametrize(
    "question", ["Why did the board resign?", "Give me an overview of the harbour board."]
)
def test_an_account_has_no_rivals(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Ada Holm": 0.9})
    assert put(question, findings("Ada Holm chairs the harbour board.")) == ()


def test_an_answer_is_stated_by_its_sentence_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Ada Holm": 0.9})
    (only,) = put(WHO, findings("It rained. Ada Holm chairs the harbour board. We left."))
    assert (only.statement, only.answer) == ("Ada Holm chairs the harbour board.", "Ada Holm")
    assert only.findings == ("F1",)
    assert only.refutes_if


def test_rivals_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["Ada Holm", "Bo Lind", "Cy Moor", "Di Nord", "Ed Oak"]
    teach(monkeypatch, dict.fromkeys(names, 0.5))
    found = findings(*(f"{name} chairs the harbour board." for name in names))
    assert len(put(WHO, found, limit=8)) == MOST


def test_what_was_put_forward_before_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Ada Holm": 0.9})
    said = "Ada Holm chairs the harbour board."
    held = standing(said, HypothesisStatus.UNDECIDED, answer="Ada Holm")
    assert put(WHO, findings(said), (held,)) == ()


def test_a_side_is_put_forward_in_the_words_that_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    side = Side("no", "No crack was found.", (0,), 0.75)
    monkeypatch.setattr(module, "decide_yes_no", lambda *_: side)
    (only,) = put("Is there a crack in the dam?", findings("It rained. No crack was found."))
    assert (only.statement, only.answer) == ("No crack was found.", "no")


def test_without_a_side_nothing_is_put_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "decide_yes_no", lambda *_: None)
    assert put("Is there a crack in the dam?", findings("It rained.")) == ()


def test_the_rows_of_a_table_answer_first(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"9.9": 0.9})
    row = "| Farm: North Lea | Owner: A. Bream | Hectares: 4.4"
    cell = finding(row[2:], "F1", title="Farms").model_copy(update={"quote": row})
    (only,) = put("Who is the owner of North Lea?", (cell, finding("It has 9.9.", "F2")))
    assert only.answer == "A. Bream"
    assert only.findings == ("F1",)


def test_a_question_with_steps_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {})
    found = findings(
        "Lodby AB installed the plant at berth 4.", "All shares in Lodby AB are held by Grator AB."
    )
    made = put("Which company owns the firm that installed the plant at berth 4?", found)
    assert [item.answer for item in made] == ["Grator AB"]


# -- what past runs settled

RUMOUR = "Bo Lind chairs the harbour board."


def settled(*accepted: str, refuted: tuple[str, ...] = ()) -> RecalledRun:
    return RecalledRun(
        id="P1",
        question=WHO,
        date="2026-03-01",
        days=30,
        status=RunStatus.ANSWERED,
        accepted=accepted,
        refuted=tuple(RecalledRefutation(statement=text) for text in refuted),
    )


@pytest.mark.parametrize("past", [settled(RUMOUR), settled(refuted=(RUMOUR,))])
def test_what_was_settled_before_is_put_forward_again(
    past: RecalledRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(monkeypatch, {"Ada Holm": 0.9, "Bo Lind": 0.01})
    told = findings("Ada Holm chairs the harbour board.", f"It rained. {RUMOUR}")
    *_, last = put(WHO, told, past=(past,))
    assert (last.statement, last.answer, last.findings) == (RUMOUR, "Bo Lind", ("F2",))


def test_it_takes_the_last_place_and_never_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, dict.fromkeys(("Ada Holm", "Cy Dahl", "Di Ek", "Bo Lind"), 0.9))
    told = findings(
        *(f"{name} chairs the harbour board." for name in ("Ada Holm", "Cy Dahl", "Di Ek")),
        RUMOUR,
    )
    put_forward = put(WHO, told, past=(settled(refuted=(RUMOUR,)),))
    assert len(put_forward) <= MOST
    assert len(put(WHO, told, limit=1, past=(settled(refuted=(RUMOUR,)),))) == 1


def test_what_no_finding_says_is_not_put_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    teach(monkeypatch, {"Ada Holm": 0.9})
    told = findings(
        "Ada Holm chairs the harbour board.", "Bo Lind does not chair the harbour board."
    )
    assert [item.answer for item in put(WHO, told, past=(settled(refuted=(RUMOUR,)),))] == [
        "Ada Holm"
    ]
