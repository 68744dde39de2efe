"""Which argument of a tool takes the query."""

from __future__ import annotations

from typing import Any

import pytest

from deepdiver.tools.tool_argument import query_argument, takes_text

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    "fields", [{}, {"n": NUMBER}, {"mode": {"enum": ["a"]}}, {"mode": {"const": "a"}}, {"x": False}]
)
def test_no_room_for_a_query(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tool t takes no text that could be a query"):
        query_argument("t", fields, set())


def test_more_than_a_query_is_required() -> None:
    with pytest.raises(
        ValueError, match="tool t requires site, year besides query: give them defaults"
    ):
        query_argument(
            "t", {"query": TEXT, "site": TEXT, "year": NUMBER}, {"query", "site", "year"}
        )


@pytest.mark.parametrize(
    ("fields", "required", "argument"),
    [
        ({"topic": TEXT, "query": TEXT}, set(), "query"),
        ({"topic": TEXT, "place": TEXT}, {"place"}, "place"),
        ({"n": NUMBER, "topic": TEXT}, set(), "topic"),
        ({"text": TEXT, "q": TEXT}, set(), "q"),
    ],
)
def test_the_argument_that_is_meant(
    fields: dict[str, Any], required: set[str], argument: str
) -> None:
    assert query_argument("t", fields, required) == argument


@pytest.mark.parametrize(
    ("spec", "takes"),
    [
        (TEXT, True),
        ({}, True),
        (True, True),
        (False, False),
        (None, False),
        ("string", False),
        ({"anyOf": [NUMBER, TEXT]}, True),
        ({"anyOf": [NUMBER, {"type": "null"}]}, False),
        ({"anyOf": "string", "type": "string"}, True),
        ({"type": ["string", "null"]}, True),
        ({"type": ["integer", "null"]}, False),
        ({"$ref": "#/x"}, False),
        ({"type": "string", "enum": ["a"]}, False),
    ],
)
def test_what_takes_any_text(spec: Any, takes: bool) -> None:
    assert takes_text(spec) is takes
