"""Slides: text, tables, charts and notes, each on its slide."""

from __future__ import annotations

import copy
import io
import zipfile
from typing import Any

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

PLACE = (Inches(1), Inches(1), Inches(4), Inches(3))


def build(made: Any) -> None:
    made.core_properties.author = "Anna Berg"
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text = "The harbour"
    first.placeholders[1].text = "A report"
    second = made.slides.add_slide(made.slide_layouts[1])
    second.shapes.title.text = "What\nhappened"
    second.placeholders[1].text = "It froze on 3 March.\nNobody was hurt."
    second.notes_slide.notes_text_frame.text = "Say this slowly.\nThen wait."
    third = made.slides.add_slide(made.slide_layouts[6])
    table = third.shapes.add_table(2, 2, *PLACE).table
    for row, cells in enumerate([("Year", "Passengers"), ("2025", "1,350")]):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    fourth = made.slides.add_slide(made.slide_layouts[6])
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Spring", "Autumn"]
    data.add_series("Ferries", (3, 4.5))
    data.add_series("Barges", (7, None))
    fourth.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *PLACE, data)


def test_a_presentation() -> None:
    found = read(making.pptx(build), "a.pptx")
    assert found.text == (
        "The harbour\n\nA report\n\n"
        "What happened\n\n- It froze on 3 March.\n- Nobody was hurt.\n\nNotes: Say this "
        "slowly.\nThen wait.\n\n"
        "| Year | Passengers\n| Year: 2025 | Passengers: 1,350\n\n"
        "| Ferries | Barges\n| Spring | Ferries: 3 | Barges: 7\n| Autumn | Ferries: 4.5"
    )
    assert found.marked() == [
        ("slide", "1", "The harbour"),
        ("heading", "The harbour", "The harbour"),
        ("slide", "2", "What happened"),
        ("heading", "What happened", "What happened"),
        ("slide", "3", "| Year | Passengers"),
        ("slide", "4", "| Ferries | Barges"),
    ]
    assert (found.format, found.title, found.author, found.published) == (
        "pptx",
        "The harbour",
        "Anna Berg",
        "",
    )


def test_shapes_in_groups_are_read() -> None:
    def grouped(made: Any) -> None:
        slide = made.slides.add_slide(made.slide_layouts[6])
        group = slide.shapes.add_group_shape().shapes.add_group_shape()
        group.shapes.add_textbox(*PLACE).text_frame.text = "in the group"

    assert read(making.pptx(grouped), "a.pptx").text == "in the group"


def test_a_slide_that_is_broken_costs_a_slide() -> None:
    data = making.rezipped(
        making.pptx(build), {"ppt/slides/slide1.xml": "<broken", "ppt/slides/slide3.xml": None}
    )
    found = read(data, "a.pptx")
    assert [label for _, label, _ in found.marked("slide")] == ["1", "2", "3", "4"]
    assert found.text.startswith("What happened")
    assert [note.partition(":")[0] for note in found.notes] == [
        "slide 1 could not be read",
        "slide 3 could not be read",
    ]


def test_a_chart_that_is_broken_costs_a_chart() -> None:
    def renamed(name: str) -> bytes:
        return making.rezipped(making.pptx(build), {name: "<broken"})

    chart = next(
        name
        for name in zipfile.ZipFile(io.BytesIO(making.pptx(build))).namelist()
        if name.startswith("ppt/charts/chart")
    )
    assert read(renamed(chart), "a.pptx").text.endswith("| Year: 2025 | Passengers: 1,350")


def test_numbers_dates_and_footers_of_slides_are_furniture() -> None:
    def furnished(made: Any) -> None:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = "T"
        for place in made.slide_layouts[1].placeholders:
            if place.placeholder_format.idx in (10, 11, 12):
                slide.shapes._spTree.append(copy.deepcopy(place._element))
        for shape in slide.shapes:
            if shape.has_text_frame and shape.name.startswith(("Date", "Footer", "Slide Number")):
                shape.text_frame.text = "furniture"

    assert read(making.pptx(furnished), "a.pptx").text == "T"


def test_what_cannot_be_read() -> None:
    assert reason(making.pptx(lambda made: None), "a.pptx") == "it is empty"
    empty = making.rezipped(
        making.pptx(build), {"ppt/slides/slide1.xml": None, "ppt/presentation.xml": "<x>"}
    )
    assert reason(empty, "a.pptx").startswith("it is damaged: its XML is not well formed")
    broken = {f"ppt/slides/slide{number}.xml": None for number in range(1, 5)}
    assert reason(making.rezipped(making.pptx(build), broken), "a.pptx").startswith(
        "it holds no text: slide 1 could not be read: it is missing; slide 2"
    )
