"""Who contradicts whom: sources, joined where the record sets their findings against each other."""

from __future__ import annotations

from typing import Literal

from deepdiver.core.ledger import Ledger
from deepdiver.core.record import Contradiction, Report
from deepdiver.report.compose import compose
from deepdiver.report.figures.conflicts import draw_conflicts
from tests.report.making import finding, quote, sentence, source

SOURCES = [source(f"s_{n}", title=f"Paper {n}") for n in (1, 2, 3)]
FINDINGS = [finding(f"f_{n}", quote(f"It is {n}.", f"s_{n}")) for n in (1, 2, 3)]


def against(
    *findings: str, kind: Literal["contradicts", "qualifies"] = "contradicts"
) -> Contradiction:
    return Contradiction(
        id=f"x_{'_'.join(findings)}", findings=findings, kind=kind, description="one or <two>."
    )


def ledger(*held: Contradiction) -> Ledger:
    return Ledger([*SOURCES, *FINDINGS, *held])


def report(held: Ledger) -> Report:
    return compose("Q", (sentence("It is 2.", "f_2"),), (), (), held, limits=(), made_by="x")


def test_without_a_contradiction_nothing_is_drawn() -> None:
    held = ledger()
    assert draw_conflicts(report(held), held) is None


def test_a_source_does_not_contradict_itself_and_what_is_lost_is_left_out() -> None:
    held = ledger(against("f_1", "f_1"), against("f_1", "f_gone"))
    assert draw_conflicts(report(held), held) is None


def test_both_sides_are_named_the_cited_one_first() -> None:
    held = ledger(against("f_1", "f_2"))
    picture = draw_conflicts(report(held), held)
    assert picture is not None
    assert picture.text == "Paper 1 contradicts Paper 2 [1]: one or <two>."
    assert picture.body.index("Paper 2") < picture.body.index("Paper 1")
    assert 'href="#c1"' in picture.body
    assert "Paper 3" not in picture.body
    assert "one or &lt;two&gt;" in picture.body
    assert picture == draw_conflicts(report(held), held)


def test_what_only_narrows_is_dashed() -> None:
    held = ledger(against("f_1", "f_2"), against("f_2", "f_3", kind="qualifies"))
    picture = draw_conflicts(report(held), held)
    assert picture is not None
    lines, key = picture.body.rsplit("Paper", 1)
    assert lines.count("stroke-dasharray") == 1
    assert "one narrows the other" in key


def test_many_share_a_lane_and_stay_in_the_frame() -> None:
    sources = [source(f"s_{n}") for n in range(30)]
    findings = [finding(f"f_{n}", quote("It is.", f"s_{n}")) for n in range(30)]
    held = Ledger([*sources, *findings, *(against("f_0", f"f_{n}") for n in range(1, 30))])
    made = compose("Q", (), (), (), held, limits=(), made_by="x")
    picture = draw_conflicts(made, held)
    assert picture is not None
    assert picture.height > 30 * 40
    assert "M-" not in picture.body
