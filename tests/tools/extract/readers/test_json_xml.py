"""JSON and XML: every value with the names that lead to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers.json_xml import add_records, parse_json_lines
from tests.tools.extract.reading import read, reason

ORDERS = {
    "shop": "Holm",
    "open": True,
    "orders": [
        {
            "number": 17,
            "total": 1200.5,
            "customer": {"name": "Berg", "city": "Vantskär"},
            "tags": ["ice", "fish"],
        },
        {
            "number": 18,
            "total": None,
            "lines": [{"item": "rope"}, {"item": "salt"}],
            "note": "",
            "more": {},
        },
    ],
    "story": "A long text. " * 40,
    "terms": "one\ntwo",
}


def test_json() -> None:
    found = read(json.dumps(ORDERS), "orders.json")
    assert found.text == (
        "| shop: Holm | open: true\n\n"
        "story: " + ("A long text. " * 40).strip() + "\n\nterms: one\ntwo\n\n"
        "| orders[0] | number: 17 | total: 1200.5 | tags: ice, fish\n"
        "| orders[0].customer | name: Berg | city: Vantskär\n"
        "| orders[1] | number: 18\n"
        "| orders[1].lines[0] | item: rope\n"
        "| orders[1].lines[1] | item: salt"
    )
    assert (found.format, found.title) == ("json", "orders")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2, "three"], "| 1 | 2 | three"),
        ([[1, 2], [3]], "| 0: 1, 2 | 1: 3"),
        ("a text", "| a text"),
        (17, "| 17"),
        ({"a": [[1]]}, "| a | 0: 1"),
        ({"a": "x\ud800y"}, "| a: x\ufffdy"),
    ],
)
def test_other_shapes(value: Any, expected: str) -> None:
    assert read(json.dumps(value), "a.json").text == expected


def test_lines_of_records() -> None:
    found = read('{"id": 1, "name": "Berg"}\n\n{"id": 2}\n', "a.jsonl")
    assert (found.text, found.format) == ("| [0] | id: 1 | name: Berg\n| [1] | id: 2", "json")
    assert read('{"id": 1, "name": "Berg"}\n{"id": 2}\n', "a.json").text == found.text
    assert parse_json_lines('1\n{"a"\n[2]') == ([1, [2]], 1)


def test_what_is_no_json_is_text() -> None:
    found = read('{"a": 1', "a.json")
    assert (found.text, found.format) == ('{"a": 1', "text")
    assert read("[1] Smith, J. (2020).\n[2] Berg.", "").format == "text"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000])
def test_what_is_too_deep(text: str) -> None:
    assert reason(text, "a.json") == "it is nested too deep"


@pytest.mark.parametrize("text", ["{}", "[]", "null", '""', '{"a": null}'])
def test_nothing_in_it(text: str) -> None:
    assert reason(text, "a.json") == "it is empty"


def leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [str(value)]


TREES = st.recursive(
    st.integers(10, 99) | st.sampled_from(["alpha", "beta"]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from("xyz"), inner, min_size=1)
    ),
    max_leaves=8,
)


@given(TREES)
def test_no_value_is_lost(value: Any) -> None:
    draft = DocumentDraft("json")
    add_records(draft, value)
    for leaf in leaves(value):
        assert leaf in draft.text


def test_xml() -> None:
    text = (
        '<?xml version="1.0" encoding="utf-8"?><!-- c --><rss '
        'version="2.0"><channel><title>News</title>'
        '<item id="1"><title>Ice</title><description>It <b>froze</b> over.</description></item>'
        "<item><title>Thaw</title></item></channel></rss>"
    )
    found = read(text, "feed.xml")
    assert found.text == (
        "| rss | version: 2.0\n| rss.channel | title: News\n"
        "| rss.channel.item[0] | id: 1 | title: Ice | description: It froze over.\n"
        "| rss.channel.item[1] | title: Thaw"
    )
    assert found.format == "xml"


def test_xml_in_another_encoding() -> None:
    text = '<?xml version="1.0" encoding="windows-1251"?><x><a>Гавань</a></x>'
    assert read(text.encode("cp1251"), "a.xml").text == "| x | a: Гавань"


def test_xml_that_is_broken_or_means_harm() -> None:
    assert reason("<x>", "a.xml").startswith("it is damaged: its XML is not well formed")
    assert reason('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "a.xml").startswith(
        "it declares XML entities"
    )
    assert reason("<a>" * 50_000 + "</a>" * 50_000, "a.xml") == "it is nested too deep"
