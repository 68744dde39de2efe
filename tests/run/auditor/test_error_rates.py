"""The figures that every audit prints about itself."""

from __future__ import annotations

from deepdiver.run.auditor import error_rates
from deepdiver.run.auditor.error_rates import tell_error_rates


def test_every_figure_was_measured() -> None:
    pairs = (
        (error_rates.CARRIED_ALARMS, error_rates.CARRIED),
        (error_rates.CHANGED_MISSED, error_rates.CHANGED),
        (error_rates.COMPLETE_ALARMS, error_rates.COMPLETE),
        (error_rates.INCOMPLETE_MISSED, error_rates.INCOMPLETE),
    )
    for part, whole in pairs:
        assert 0 <= part <= whole
        assert whole > 50


def test_they_are_told_with_counts_and_shares() -> None:
    told = tell_error_rates("the reader")
    assert f"of {error_rates.CARRIED} sentences" in told
    assert "%" in told
    assert "not measured" not in told


def test_with_a_model_it_says_whose_figures_they_are() -> None:
    assert tell_error_rates("openai:x").endswith(
        "openai:x decided about the sense here; the figures are those without it."
    )
