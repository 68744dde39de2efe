"""Arguments are checked before anything is sent, and a hostile schema neither hangs nor fetches."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]
from referencing import Registry
from referencing.exceptions import Unresolvable

from deepdiver.tools.mcp.arguments import LONGEST_MESSAGE, check_arguments
from tests.patience import in_proportion
from tests.tools.conftest import Line

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "place": {"type": "string", "minLength": 2},
        "radius": {"type": "number", "minimum": 0, "maximum": 500},
        "unit": {"enum": ["km", "mi"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["place"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({}, "'place' is a required property"),
        ({"place": 7}, "its argument 'place': 7 is not of type 'string'"),
        ({"place": "x"}, "its argument 'place': 'x' is too short"),
        (
            {"place": "Holm", "radius": -1},
            "its argument 'radius': -1 is less than the minimum of 0",
        ),
        (
            {"place": "Holm", "radius": "far"},
            "its argument 'radius': 'far' is not of type 'number'",
        ),
        (
            {"place": "Holm", "unit": "ft"},
            r"its argument 'unit': 'ft' is not one of \['km', 'mi'\]",
        ),
        ({"place": "Holm", "tags": ["a", 1]}, r"its argument 'tags.1': 1 is not of type 'string'"),
        ({"place": "Holm", "extra": 1}, "Additional properties are not allowed"),
    ],
)
def test_arguments_that_the_schema_forbids_are_refused(given_: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        check_arguments(SCHEMA, given_)


@pytest.mark.parametrize(
    "given_", [{"place": "Holm"}, {"place": "Holm", "radius": 0, "unit": "km", "tags": []}]
)
def test_arguments_that_the_schema_allows_are_taken(given_: dict[str, Any]) -> None:
    check_arguments(SCHEMA, given_)


def test_the_error_is_one_short_line() -> None:
    with pytest.raises(ValueError, match="not of type") as caught:
        check_arguments(
            {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": "x\ny" * 10_000}
        )
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < LONGEST_MESSAGE + 50


@pytest.mark.parametrize(
    "schema", [{"type": "nothing"}, {"type": 3}, {"properties": []}, {"required": "place"}]
)
def test_an_invalid_schema_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the tool's own schema is not valid"):
        check_arguments(schema, {"place": "Holm"})


def test_a_schema_that_leads_in_circles_is_refused() -> None:
    with pytest.raises(ValueError, match="circles"):
        check_arguments({"$ref": "#"}, {"a": 1})
    with pytest.raises(ValueError, match="circles"):
        check_arguments(
            {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
            {},
        )


def test_a_schema_that_takes_a_billion_steps_is_refused() -> None:
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(40)}
    with in_proportion(), pytest.raises(ValueError, match="circles"):
        # Two to the fortieth steps would take years.
        check_arguments({"$ref": "#/$defs/l0", "$defs": {**levels, "l40": {}}}, {})


def test_no_regular_expression_of_a_schema_is_run() -> None:
    slow = "^(a+)+$"
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string", "pattern": slow}},
        "patternProperties": {slow: {"type": "integer"}},
        "additionalProperties": False,
        "propertyNames": {"pattern": slow},
        "unevaluatedProperties": False,
    }
    with in_proportion():
        check_arguments(schema, {"q": "a" * 5_000 + "!", "a" * 5_000 + "!": "x"})


async def test_nothing_is_fetched_to_understand_a_schema(line: Line) -> None:
    with pytest.raises(ValueError, match="refers to something that it does not hold"):
        check_arguments({"properties": {"q": {"$ref": f"{line.url}/schema.json"}}}, {"q": 1})
    assert line.heard == []


def test_references_within_a_schema_are_followed() -> None:
    schema = {"properties": {"at": {"$ref": "#/$defs/at"}}, "$defs": {"at": {"type": "integer"}}}
    check_arguments(schema, {"at": 3})
    with pytest.raises(ValueError, match="its argument 'at'"):
        check_arguments(schema, {"at": "x"})


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYWORDS = [
    "type",
    "properties",
    "required",
    "anyOf",
    "items",
    "enum",
    "$ref",
    "pattern",
    "additionalProperties",
    "not",
]


@given(
    st.dictionaries(st.sampled_from(KEYWORDS), JSON, max_size=4),
    st.dictionaries(st.text(max_size=5), JSON, max_size=3),
)
def test_only_the_schema_refuses_arguments(schema: dict[str, Any], given_: dict[str, Any]) -> None:
    told = ""
    with suppress(ValueError):
        check_arguments(schema, given_)
        told = "taken"
    assert told == "taken" or not _taken(schema, given_)


def _taken(schema: dict[str, Any], given_: dict[str, Any]) -> bool:
    """Ask the library as it is, which may take what we do not judge and refuses what we refuse."""
    try:
        Draft202012Validator.check_schema(schema)
        return bool(Draft202012Validator(schema, registry=Registry()).is_valid(given_))
    except (SchemaError, Unresolvable, RecursionError, re.error):
        return False
