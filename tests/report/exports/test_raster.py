"""Pictures as PNG: the same bytes each time, nothing of them fetched, none without Typst."""

from __future__ import annotations

import builtins
import struct
from typing import Any

import pytest

from deepdiver.report.exports.raster import DOTS_PER_INCH, WIDTH_CM, draw_png, unlinked
from deepdiver.report.figures.charts import draw_charts
from deepdiver.report.figures.svg import Picture, element, label
from tests.report.figures.tables import EVENTS, PEOPLE, YEARS, report_of


def charts() -> list[Picture]:
    drawn = draw_charts(report_of(PEOPLE, YEARS, EVENTS))
    return [picture for of_section in drawn for held in of_section.values() for picture in held]


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    wide, tall = struct.unpack(">II", png[16:24])
    return wide, tall


def test_without_typst_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name == "typst":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert draw_png(charts()[0]) is None


def test_every_chart_is_drawn_as_wide_as_the_text_and_the_same_each_time() -> None:
    for picture in charts():
        png = draw_png(picture)
        assert png is not None
        wide, tall = size(png)
        assert abs(wide - WIDTH_CM / 2.54 * DOTS_PER_INCH) <= 2
        assert abs(tall / wide - picture.height / 800) < 0.01
        assert draw_png(picture) == png


def test_a_picture_in_a_document_has_no_links() -> None:
    shown = unlinked('<a href="#c1"><text>one</text></a><animate/><a  xlink:href="#c2">two</a >')
    assert shown == "<text>one</text><animate/>two"
    for picture in charts():
        assert "<a " in picture.file("")
        assert "<a " not in unlinked(picture.file(""))


@pytest.mark.parametrize("text", ["中文", "\u202eevil", "<script>", "&amp;", "a" * 5_000, "🧀"])
def test_whatever_a_label_says_is_drawn(text: str) -> None:
    body = label(10, 20, text, "p-ink") + element("rect", {"width": 5, "height": 5})
    png = draw_png(Picture("x", "x", "x", 60, body))
    assert png is not None
    assert size(png)[0] > 1_000
