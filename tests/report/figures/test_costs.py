"""Cost by phase: dollars where there are any, else calls."""

from __future__ import annotations

import re

import pytest

from deepdiver.report.figures.costs import draw_costs
from deepdiver.report.history import History, PhaseCost


def spent(*told: tuple[str, int, int, str]) -> History:
    costs = (PhaseCost(phase=p, calls=c, tokens=t, usd=u) for p, c, t, u in told)
    return History(costs=tuple(costs))


def bars(history: History) -> list[float]:
    picture = draw_costs(history)
    assert picture is not None
    return [float(wide) for wide in re.findall(r'<rect [^>]*width="([\d.]+)"', picture.body)]


def test_a_run_that_asked_nobody_has_no_picture() -> None:
    assert draw_costs(History()) is None


def test_dollars_decide_the_bars_if_there_are_any() -> None:
    long, short = bars(spent(("plan", 1, 900, "0.02"), ("write_report", 9, 100, "0.01")))
    assert long == pytest.approx(2 * short, rel=0.01)


def test_calls_decide_if_nothing_was_paid() -> None:
    short, long = bars(spent(("plan", 1, 0, "0"), ("gather", 4, 0, "0")))
    assert long == pytest.approx(4 * short, rel=0.01)


def test_everything_is_told_in_words() -> None:
    picture = draw_costs(spent(("plan", 1, 900, "0.02"), ("write_report", 9, 0, "0.01")))
    assert picture is not None
    assert picture.text == (
        "plan: 1 call, 900 tokens, $0.02; write report: 9 calls, $0.01. "
        "Together: 10 calls, 900 tokens, $0.03."
    )
    free = draw_costs(spent(("plan", 2, 0, "0")))
    assert free is not None
    assert free.title == "Calls by phase; they cost nothing"
    assert "$" not in free.text
