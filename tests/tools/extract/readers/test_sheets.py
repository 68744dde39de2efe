"""Workbooks: sheets, values as a person sees them, and a number with what it counts."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

import pytest

from deepdiver.tools.extract.readers.sheets import shown_value
from tests.tools.extract import making
from tests.tools.extract.reading import read, reason


def build(made: Any) -> None:
    made.properties.creator = "Anna Berg"
    made.properties.title = "Traffic"
    first = made.active
    first.title = "Costs 2025"
    for row in [
        ["Costs by quarter"],
        [],
        ["Quarter", "Costs", "Share", "Paid on"],
        ["Q1", 1200000, 0.155, date(2025, 4, 1)],
        ["Q2", 950000.5, 0.2, None],
    ]:
        first.append(row)
    for cell in first["B"]:
        cell.number_format = '"$"#,##0'
    for cell in first["C"]:
        cell.number_format = "0%"
    second = made.create_sheet("People")
    second.append(["Name", "Role"])
    second.append(["Anna Berg", "Captain"])
    hidden = made.create_sheet("Old")
    hidden.append([1, 2])
    hidden.sheet_state = "hidden"
    made.create_sheet("Empty")


def test_a_workbook() -> None:
    found = read(making.xlsx(build), "a.xlsx")
    assert found.text == (
        "Costs by quarter\n\n"
        "| Quarter | Costs | Share | Paid on\n"
        "| Quarter: Q1 | Costs: $1,200,000 | Share: 15.5% | Paid on: 2025-04-01\n"
        "| Quarter: Q2 | Costs: $950,000.5 | Share: 20%\n\n"
        "| Name | Role\n| Name: Anna Berg | Role: Captain\n\n"
        "| 1 | 2"
    )
    assert found.marked() == [
        ("sheet", "Costs 2025", "Costs by quarter"),
        ("sheet", "People", "| Name | Role"),
        ("sheet", "Old", "| 1 | 2"),
    ]
    assert (found.format, found.title, found.author) == ("xlsx", "Traffic", "Anna Berg")
    assert found.notes == ["the sheet Old is hidden"]


def test_formulas_show_their_result_or_themselves() -> None:
    def formulas(made: Any) -> None:
        made.active.append(["a", "b", "sum"])
        made.active.append([1, 2, "=A2+B2"])

    data = making.xlsx(formulas)
    found = read(data, "a.xlsx")
    assert found.text == "| a | b | sum\n| a: 1 | b: 2 | sum: =A2+B2"
    assert found.notes == [
        "formulas without a stored result, such as C2, are shown as they are written"
    ]
    stored = _with_result(data, "3")
    assert read(stored, "a.xlsx").text == "| a | b | sum\n| a: 1 | b: 2 | sum: 3"
    assert read(stored, "a.xlsx").notes == []


def _with_result(data: bytes, value: str) -> bytes:
    name = "xl/worksheets/sheet1.xml"
    text = zipfile.ZipFile(io.BytesIO(data)).read(name).decode()
    changed = re.sub("<f>A2[+]B2</f><v ?(/>|></v>)", f"<f>A2+B2</f><v>{value}</v>", text)
    assert changed != text
    return making.rezipped(data, {name: changed})


@pytest.mark.parametrize(
    ("value", "style", "expected"),
    [
        (1200000, "General", "1200000"),
        (1200000, "#,##0", "1,200,000"),
        (-1200000.25, "$#,##0.00", "-$1,200,000.25"),
        (0.155, "0%", "15.5%"),
        (0.07, "0.00%", "7%"),
        (-0.5, "0%", "-50%"),
        (0.1 + 0.2, "General", "0.3"),
        (-0.25, "#,##0.00", "-0.25"),
        (3.0, "General", "3"),
        (1e20, "General", "1e+20"),
        (1e-9, "General", "1e-09"),
        (12, "[$€-407] #,##0", "€12"),
        (True, "General", "TRUE"),
        (datetime(2025, 4, 1), "d", "2025-04-01"),  # noqa: DTZ001 - sheets know no time zones
        (datetime(2025, 4, 1, 9, 30), "d", "2025-04-01 09:30:00"),  # noqa: DTZ001
        (date(2025, 4, 1), "d", "2025-04-01"),
        (time(9, 30), "h", "09:30:00"),
        (timedelta(hours=30), "h", "1 day, 6:00:00"),
        (timedelta(hours=30), "[h]:mm:ss.00", "1 day, 6:00:00"),
        # By the letter behind its digits, openpyxl takes such a number for a time.
        (time(14, 24), "$#,##0.00M", "$0.6M"),
        (datetime(1900, 1, 1, 4, 48), "$#,##0.00M", "$1.2M"),  # noqa: DTZ001
        (0.6, '$#,##0.0"M"', "$0.6M"),
        (600000, '$#,##0.0,,"M"', "$600,000"),  # the style divides it, and we do not
        ("text", "@", "text"),
        (float("inf"), "0%", "inf"),
        (None, None, "None"),
    ],
)
def test_values_as_they_are_shown(value: Any, style: str | None, expected: str) -> None:
    assert shown_value(value, style) == expected


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"xl/workbook.xml": "<broken"}, "it is damaged: "),
        ({"[Content_Types].xml": None}, "it is damaged: "),
        ({"docProps/core.xml": "<broken"}, "it is damaged: its XML is not well formed"),
    ],
)
def test_damage_says_so(change: dict[str, str | None], why: str) -> None:
    data = making.rezipped(making.xlsx(build), change)
    try:
        assert reason(data, "a.xlsx").startswith(why)
    except SyntaxError:  # lxml's own, which the child tells as damage
        assert "xl/workbook.xml" in change


def test_an_empty_workbook() -> None:
    assert reason(making.xlsx(lambda made: None), "a.xlsx") == "it is empty"
