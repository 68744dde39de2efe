"""Marks: a colour and a shape for each type, a number where there is one."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from deepdiver.report.figures.findings import TYPES, DrawnFinding
from deepdiver.report.figures.marks import draw_crowd, draw_legend, draw_mark, draw_shape


def seen(kind: str = "news", number: int = 0, says: str = "says") -> DrawnFinding:
    return DrawnFinding(f"f_{kind}_{number}", kind, number, None, None, says)


def test_every_type_has_a_shape_of_its_own() -> None:
    drawn = {name: draw_shape(name, 50, 50, 9).replace(f"p-{name}", "") for name in TYPES}
    assert len(set(drawn.values())) == len(TYPES)
    assert all(f'class="p-{name} p-edge"' in draw_shape(name, 0, 0, 9) for name in TYPES)


def test_a_cited_finding_has_its_number_and_leads_to_it() -> None:
    made = ElementTree.fromstring(draw_mark(seen(number=12), 10, 10))  # noqa: S314
    assert (made.tag, made.attrib["href"]) == ("a", "#c12")
    assert [child.tag for child in made] == ["title", "circle", "text"]
    assert made[2].text == "12"


def test_a_cited_finding_has_the_label_that_the_text_has() -> None:
    item = replace(seen(number=12), label="3b")
    made = ElementTree.fromstring(draw_mark(item, 10, 10))  # noqa: S314
    assert (made.attrib["href"], made[2].text) == ("#c12", "3b")
    assert replace(seen(), label="3b").mark == "", "it is not cited"


def test_one_that_is_not_cited_is_small_and_leads_nowhere() -> None:
    made = ElementTree.fromstring(draw_mark(seen(), 10, 10))  # noqa: S314
    assert made.tag == "g"
    assert [child.tag for child in made] == ["title", "circle"]
    assert float(made[1].attrib["r"]) < 9


def test_a_long_number_is_smaller() -> None:
    assert "p-xs" in draw_mark(seen(number=123), 0, 0)
    assert "p-xs" not in draw_mark(seen(number=99), 0, 0)


@pytest.mark.parametrize("kind", ["connectivity", "sanctions", "news"])
def test_what_is_said_is_escaped(kind: str) -> None:
    assert "<script>" not in draw_mark(seen(kind, 1, "<script>x</script>"), 0, 0)


def test_several_findings_are_one_mark_in_the_colour_of_their_type() -> None:
    same = draw_crowd([seen(number=1, says="one"), seen(number=2, says="two")], 0, 0, "×2")
    mixed = draw_crowd([seen(), seen("cyber")], 0, 0, "×2")
    assert "p-news" in same
    assert "2 findings: one | two" in same
    assert "p-many" in mixed
    assert ">×2<" in mixed


def test_the_legend_names_what_occurs_and_wraps() -> None:
    drawn, last = draw_legend([seen(), seen(), seen("cyber")], 18, 100)
    assert ">news 2<" in drawn
    assert ">cyber 1<" in drawn
    assert "satellite" not in drawn
    assert last == 100
    assert draw_legend([seen(name) for name in TYPES], 18, 100)[1] > 100
