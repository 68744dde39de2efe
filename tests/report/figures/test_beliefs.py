"""Belief by round: a line for each hypothesis, which ends where the report says."""

from __future__ import annotations

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import HypothesisStatus, Report
from deepdiver.report.compose import compose
from deepdiver.report.figures import beliefs
from deepdiver.report.figures.beliefs import draw_beliefs
from deepdiver.report.figures.svg import text_width
from deepdiver.report.history import Belief, History
from deepdiver.report.words import table, words_in
from tests.report.making import assessment


def report() -> Report:
    held = (
        assessment(HypothesisStatus.SUPPORTED, 0.9),
        assessment(HypothesisStatus.REFUTED, 0.1, "Bertil <owns> it."),
    )
    return compose("Q", (), (), held, Ledger(), limits=(), made_by="x")


def moved(*told: tuple[str, int, float]) -> History:
    beliefs = (Belief(hypothesis=key, round=at, belief=held) for key, at, held in told)
    return History(beliefs=tuple(beliefs))


MOVED = moved(
    ("h_supported", 0, 0.5), ("h_refuted", 0, 0.4), ("h_supported", 1, 0.7), ("h_supported", 2, 0.8)
)


def test_without_a_history_nothing_is_drawn() -> None:
    assert draw_beliefs(report(), History()) is None


def test_what_was_never_tested_is_not_drawn() -> None:
    assert draw_beliefs(report(), moved(("h_supported", 0, 0.5))) is None
    assert draw_beliefs(report(), moved(("h_other", 3, 0.5))) is None


def test_every_round_is_drawn_and_told() -> None:
    picture = draw_beliefs(report(), MOVED)
    assert picture is not None
    assert picture.text == (
        "H1: 0.50 before any test, 0.70 after round 1, 0.90 after round 2; "
        "H2: 0.10 before any test."
    )
    assert picture.body.count("<circle") == 4
    for told in ("before", "round 1", "round 2", "supported 0.7", "refuted 0.3", "H1", "H2"):
        assert f">{told}<" in picture.body
    assert "Bertil &lt;owns&gt; it." in picture.body
    assert picture == draw_beliefs(report(), MOVED)


def test_names_beside_lines_that_end_together_keep_apart() -> None:
    held = tuple(assessment(HypothesisStatus.SUPPORTED, 0.9) for _ in range(3))
    made = report().model_copy(update={"hypotheses": held})
    picture = draw_beliefs(made, MOVED)
    assert picture is not None
    assert picture.height > 280


@pytest.mark.parametrize("code", ["en", *table()])
def test_the_names_of_the_bounds_fit_beside_the_axis_in_every_language(code: str) -> None:
    say = words_in(code)
    wide = max(text_width(f"{say(name)} {held:.1f}", 12) for held, name in beliefs.BOUNDS)
    assert wide <= beliefs.MARGIN + beliefs.LEFT - 8
