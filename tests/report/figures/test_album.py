"""The pictures of a run: what can be drawn is drawn, and what cannot is said."""

from __future__ import annotations

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Strategy
from deepdiver.report.compose import compose
from deepdiver.report.figures.album import Album, album
from tests.report.figures import week
from tests.report.making import finding, quote, source

READ = week.texts().__getitem__


def test_nothing_to_draw_is_said_and_nothing_empty_is_drawn() -> None:
    made = album(
        Strategy.OVERWATCH,
        compose("Q", (), (), (), Ledger(), limits=(), made_by=""),
        Ledger(),
        READ,
    )
    assert made.pictures == ()
    assert made.missing == (
        "No finding has a time, so there is no timeline.",
        "No finding has a place, so there is no map.",
        "No finding was judged on a hypothesis, so there is no matrix of them.",
    )


def test_what_there_is_is_drawn() -> None:
    made = album(Strategy.OVERWATCH, week.report(), week.ledger(), READ)
    assert [picture.name for picture in made.pictures] == ["timeline", "map", "matrix"]
    assert made.missing == ()


def test_one_may_be_missing() -> None:
    ledger = Ledger([source(), finding("f_1", quote("On 2026-11-11 at 14:05 UTC."))])
    report = compose("Q", (), (), (), ledger, limits=(), made_by="")
    made = album(Strategy.OVERWATCH, report, ledger, lambda key: "On 2026-11-11 at 14:05 UTC.")
    assert [picture.name for picture in made.pictures] == ["timeline"]
    assert len(made.missing) == 2


@pytest.mark.parametrize("strategy", [item for item in Strategy if item is not Strategy.OVERWATCH])
def test_the_other_strategies_have_the_matrix_alone_and_read_nothing(strategy: Strategy) -> None:
    def refuse(key: str) -> str:
        raise AssertionError(key)

    made = album(strategy, week.report(), week.ledger(), refuse)
    assert [picture.name for picture in made.pictures] == ["matrix"]
    assert made.missing == ()
    empty = compose("Q", (), (), (), Ledger(), limits=(), made_by="")
    assert album(strategy, empty, Ledger(), refuse) == Album()


def test_links_lead_where_they_are_told_to() -> None:
    within = album(Strategy.OVERWATCH, week.report(), week.ledger(), READ)
    beside = album(Strategy.OVERWATCH, week.report(), week.ledger(), READ, page="report.html")
    for one, other in zip(within.pictures, beside.pictures, strict=True):
        assert 'href="#c' in one.body
        assert one.body == other.body.replace('href="report.html#', 'href="#')
