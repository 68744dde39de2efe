"""The pictures of a run: what can be drawn is drawn, and what cannot is said."""

from __future__ import annotations

from deepdiver.core.ledger import Ledger
from deepdiver.report.compose import compose
from deepdiver.report.figures.pictures import Pictures, draw_pictures
from tests.report.figures import week
from tests.report.making import finding, quote, source

READ = week.texts().__getitem__


def test_nothing_to_draw_is_said_and_nothing_empty_is_drawn() -> None:
    made = draw_pictures(
        compose("Q", (), (), (), Ledger(), limits=(), made_by=""),
        Ledger(),
        READ,
        scene=True,
    )
    assert made.pictures == ()
    assert made.missing == (
        "No finding has a time, so there is no timeline.",
        "No finding has a place, so there is no map.",
    )


def test_what_there_is_is_drawn() -> None:
    made = draw_pictures(week.report(), week.ledger(), READ, scene=True)
    assert [picture.name for picture in made.pictures] == ["timeline", "map"]
    assert [picture.name for picture in made.evidence] == ["matrix"]
    assert made.missing == ()


def test_one_may_be_missing() -> None:
    ledger = Ledger([source(), finding("f_1", quote("On 2026-11-11 at 14:05 UTC."))])
    report = compose("Q", (), (), (), ledger, limits=(), made_by="")
    made = draw_pictures(report, ledger, lambda key: "On 2026-11-11 at 14:05 UTC.", scene=True)
    assert [picture.name for picture in made.pictures] == ["timeline"]
    assert len(made.missing) == 1


def test_without_a_scene_there_is_the_matrix_alone_and_nothing_is_read() -> None:
    def refuse(key: str) -> str:
        raise AssertionError(key)

    made = draw_pictures(week.report(), week.ledger(), refuse, scene=False)
    assert not made.pictures
    assert not made.missing
    assert [picture.name for picture in made.evidence] == ["matrix"]
    empty = compose("Q", (), (), (), Ledger(), limits=(), made_by="")
    assert draw_pictures(empty, Ledger(), refuse, scene=False) == Pictures()


def test_links_lead_within_the_page_and_from_a_file_to_it() -> None:
    for picture in draw_pictures(week.report(), week.ledger(), READ, scene=True).all:
        assert 'href="#c' in picture.inline()
        assert 'href="#c' not in picture.file("report.html")
        assert 'href="report.html#c' in picture.file("report.html")
