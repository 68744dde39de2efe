"""The table of formats: each makes the same thing twice, and the command line knows them all."""

from __future__ import annotations

import json

import pytest

from deepdiver.cli.commands.export import FORMATS as NAMES
from deepdiver.cli.commands.export import STYLES as STYLE_NAMES
from deepdiver.report.exports.formats import FORMATS
from deepdiver.report.exports.pdf import say_nothing
from deepdiver.report.exports.references import STYLES
from tests.report.exports.making import saved


def test_the_command_line_names_every_format_and_style() -> None:
    assert tuple(FORMATS) == NAMES
    assert tuple(STYLES) == STYLE_NAMES


def test_names_endings_and_descriptions_differ() -> None:
    assert len({item.suffix for item in FORMATS.values()}) == len(FORMATS)
    assert len({item.about for item in FORMATS.values()}) == len(FORMATS)
    assert {name for name, item in FORMATS.items() if item.carries == "evidence"} == {"pdf", "html"}
    assert {name for name, item in FORMATS.items() if item.carries == "run"} == {"bundle"}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_makes_the_same_twice(name: str) -> None:
    made = FORMATS[name].make(saved(), "apa", say_nothing)
    assert made
    assert made == FORMATS[name].make(saved(), "apa", say_nothing)
    assert bool(FORMATS[name].suffix) is isinstance(made, str | bytes)


def test_json_is_the_record() -> None:
    made = FORMATS["json"].make(saved(), "", say_nothing)
    assert isinstance(made, str)
    record = json.loads(made)
    assert record["report_hash"] == saved().report.hash
    assert record["account"]["failed"] == 1
