"""The pictures of a run: what can be drawn is drawn, and what cannot is said."""

from __future__ import annotations

import pytest

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Contradiction, Finding
from deepdiver.report.compose import compose
from deepdiver.report.figures.pictures import Pictures, draw_pictures
from deepdiver.report.history import Belief, History, PhaseCost
from deepdiver.report.words import table, words_in
from tests.report.figures import week
from tests.report.figures.drawing import root, texts, titles
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


def every_picture(language: str) -> Pictures:
    """Draw everything that can be drawn, in a language."""
    report, held = week.report().model_copy(update={"language": language}), week.ledger()
    first, *others = list(held.of(Finding).values())
    other = next(item for item in others if item.quotes[0].source != first.quotes[0].source)
    pair = (first.id, other.id)
    records = [
        Contradiction(id="x_1", findings=pair, kind="contradicts", description="So."),
        Contradiction(id="x_2", findings=pair, kind="qualifies", description="So."),
    ]
    hypothesis = report.hypotheses[0].hypothesis.id
    history = History(
        beliefs=tuple(Belief(hypothesis=hypothesis, round=n, belief=0.5) for n in range(3)),
        costs=(
            PhaseCost(phase="gather", calls=1, tokens=2, usd="0.1"),
            PhaseCost(phase="hypothesise", calls=3, tokens=0, usd="0"),
        ),
    )
    ledger = Ledger([*held, *records])
    return draw_pictures(report, ledger, READ, scene=True, history=history)


@pytest.mark.parametrize("code", sorted(table()))
def test_a_report_in_another_language_has_no_english_words_in_its_pictures(code: str) -> None:
    say, made, english = words_in(code), every_picture(code), every_picture("en")
    assert {picture.name for picture in made.all} == {
        *("timeline", "map", "matrix", "beliefs", "conflicts", "costs")
    }
    for picture, plain in zip(made.all, english.all, strict=True):
        assert picture.title == say(plain.title)
        assert picture.text != plain.text
        drawn, known = texts(root(picture)), texts(root(plain))
        assert len(drawn) == len(known)
        assert drawn != known
        stay = [text for text in drawn if say(text) != text]
        assert stay == []


def test_what_is_missing_is_said_in_the_language_of_the_report() -> None:
    empty = compose("Q", (), (), (), Ledger(), limits=(), made_by="")
    german = empty.model_copy(update={"language": "de"})
    assert draw_pictures(german, Ledger(), READ, scene=True).missing == (
        "Kein Befund hat eine Zeit, daher gibt es keine Zeitachse.",
        "Kein Befund hat einen Ort, daher gibt es keine Karte.",
    )


def test_the_words_of_a_chart_in_german() -> None:
    drawn = {picture.name: picture for picture in every_picture("de").all}
    assert drawn["beliefs"].text.startswith("H1: 0.50 vor jeder Prüfung, 0.50 nach Runde 1")
    assert "1 Aufruf, 2 Token, $0.1" in drawn["costs"].text
    assert "widerspricht" in drawn["conflicts"].text
    assert drawn["matrix"].text.startswith("3 Hypothesen gegenüber 25 Befunde")
    assert "stützt, Stärke 0.93, Glaubwürdigkeit 0.70. as judged" in titles(root(drawn["matrix"]))
    assert "spricht dagegen" in texts(root(drawn["matrix"]))
    assert {"gestützt", "✗ widerlegt"} <= {*texts(root(drawn["matrix"]))}
