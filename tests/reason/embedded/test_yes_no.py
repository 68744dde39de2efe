"""Yes or no: only where the findings take one side."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from deepdiver.encoders.reader import Verdict
from deepdiver.reason.embedded import yes_no
from deepdiver.reason.embedded.yes_no import LIKELY, decide_yes_no, judge_statement
from tests.reason.embedded.raters import rate_by_words
from tests.reason.embedded.shown import findings

QUESTION = "Did Velitas challenge the award?"


def judge_by(
    patch: pytest.MonkeyPatch, said: Mapping[str, Verdict], both_ways: Verdict | None = None
) -> None:
    """Have texts judged by the first of some words that they have."""

    def judged(text: str, statement: str) -> Verdict:
        assert statement.endswith("elitas challenged the award.")
        found = next((v for words, v in said.items() if words in text), Verdict(0.0, 0.0, 1.0))
        if not statement.startswith("It is not true that"):
            return found
        return both_ways or Verdict(found.refutes, found.supports, found.neutral)

    patch.setattr(yes_no, "judge_statement", judged)
    rate_by_words(patch)


YES, NO = Verdict(0.9, 0.0, 0.1), Verdict(0.0, 0.9, 0.1)


def test_nothing_decides_without_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, {})
    assert decide_yes_no(QUESTION, ()) is None


def test_a_question_that_is_no_statement_is_not_decided() -> None:
    assert decide_yes_no("Who challenged the award?", findings("Nobody did.")) is None


def test_a_doubtful_verdict_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, {"sue": Verdict(0.7, 0.1, 0.2)})
    assert decide_yes_no(QUESTION, findings("They may sue.")) is None


def test_a_sentence_that_affirms_the_opposite_too_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge_by(monkeypatch, {"sued": YES}, both_ways=YES)
    assert decide_yes_no(QUESTION, findings("Velitas sued.")) is None


def test_two_sides_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, {"Neither": NO, "sued": YES})
    told = findings("Neither bidder challenged it.", "Velitas sued.")
    assert decide_yes_no(QUESTION, told) is None


def test_the_side_of_the_clearest_sentence_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, {"Neither": NO})
    told = findings("The award was made.", "It rained. Neither bidder challenged the award.")
    side = decide_yes_no(QUESTION, told)
    assert side is not None
    assert (side.answer, side.findings, side.likelihood) == ("no", (1,), LIKELY)
    assert side.sentence == "Neither bidder challenged the award."


def test_the_reader_reads_both_ways() -> None:
    said = "Neither Velitas nor any other bidder has challenged the award."
    assert judge_statement(said, "Velitas challenged the award.").stance == "refutes"
    assert judge_statement(said, "No bidder has challenged the award.").stance == "supports"
