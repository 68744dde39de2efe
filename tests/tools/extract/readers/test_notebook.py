"""Notebooks: cells in order, with what they printed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.extract.reading import Read, read, reason


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": list(cells)})


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source.splitlines(True), "outputs": list(outputs)}


def shown(*outputs: dict[str, Any]) -> Read:
    return read(notebook(code("x", *outputs)), "a.ipynb")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is damaged: Expecting property name"),
        ("[]", "it is damaged: there are no cells in it"),
        ('{"cells": 5}', "it is damaged: there are no cells in it"),
        ('{"cells": [5, {}, {"cell_type": "code", "outputs": [7]}]}', "it is empty"),
        ("[" * 100_000, "it is nested too deep"),
    ],
)
def test_a_damaged_notebook(text: str, why: str) -> None:
    assert reason(text, "a.ipynb").startswith(why)


def test_cells_in_order() -> None:
    found = read(
        notebook(
            {"cell_type": "markdown", "source": ["# Fares\n", "\n", "By zone."]},
            code("def fare(zone):\n    # doubled\n    return 2 * zone\n"),
            {"cell_type": "markdown", "source": "Text\n\n## Results"},
            code(
                "print(fare(3))",
                {"output_type": "stream", "name": "stdout", "text": ["6\n", "7\n"]},
            ),
            {"cell_type": "raw", "source": "raw"},
            authors=[{"name": "Anna Berg"}, "Bo"],
        ),
        "a.ipynb",
    )
    assert found.text == (
        "# Fares\n\nBy zone.\n\ndef fare(zone):\n    # doubled\n    return 2 * zone\n\n"
        "Text\n\n## Results\n\nprint(fare(3))\n\n6\n7\n\nraw"
    )
    assert found.marked() == [
        ("heading", "Fares", "# Fares"),
        ("heading", "Results", "## Results"),
    ]
    assert (found.format, found.title, found.author) == ("notebook", "Fares", "Anna Berg, Bo")
    assert read(notebook(code("x"), title="Named"), "a.ipynb").title == "Named"


def test_tables_are_read_as_tables() -> None:
    page = "<table><tr><th>Year</th><th>Count</th></tr><tr><td>2024</td><td>7</td></tr></table>"
    data = {"text/html": [page], "text/plain": ["   Year  Count\n0  2024  7"]}
    found = shown({"output_type": "execute_result", "data": data})
    assert found.text == "x\n\n| Year | Count\n| Year: 2024 | Count: 7"


def test_values_errors_and_pictures() -> None:
    found = shown(
        {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}},
        {"output_type": "error", "ename": "KeyError", "evalue": "'a'", "traceback": ["long"]},
        {"output_type": "stream", "text": "\x1b[31mred\x1b[0m\n"},
        {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
        {"output_type": "display_data", "data": "broken"},
    )
    assert found.text == "x\n\n42\n\nKeyError: 'a'\n\nred"
    assert found.notes == ["its pictures were left out"]


def test_an_old_notebook() -> None:
    cells = [
        {"cell_type": "heading", "source": "Old", "level": 1},
        {
            "cell_type": "code",
            "input": ["1 + 1"],
            "outputs": [{"output_type": "pyout", "text": "2"}],
        },
    ]
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}, 5], "metadata": None})
    found = read(text, "a.ipynb")
    assert (found.text, found.title) == ("# Old\n\n1 + 1\n\n2", "Old")
