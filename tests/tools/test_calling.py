"""What tools can be asked, and what their answers say.

Those of the caller, and those of strangers.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from deepdiver.core.record import SourceKind
from deepdiver.tools.calling import Teller, hits_of, plain, query_argument, shown, takes_text

OWN = Teller("lookup", "tool:lookup", owned=True)
STRANGE = Teller("x.lookup", "mcp:x/lookup", owned=False)
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


# -- which argument holds the query


@pytest.mark.parametrize(
    "fields", [{}, {"n": NUMBER}, {"mode": {"enum": ["a"]}}, {"mode": {"const": "a"}}, {"x": False}]
)
def test_no_room_for_a_query(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tool t takes no text that could hold a query"):
        query_argument("t", fields, set())


def test_more_than_a_query_is_demanded() -> None:
    with pytest.raises(
        ValueError, match="tool t demands site, year besides query: give them defaults"
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


# -- what an answer says


def test_a_page_of_the_callers_own_tool_is_taken_at_its_word() -> None:
    (hit,) = hits_of({"url": "https://example.org/a", "text": "T."}, OWN)
    assert (hit.url, hit.kind, hit.complete, hit.title) == (
        *("https://example.org/a", SourceKind.PAGE),
        *(True, "https://example.org/a"),
    )


def test_a_page_that_a_stranger_names_is_still_to_be_read() -> None:
    (hit,) = hits_of({"url": "https://example.org/a", "text": "T."}, STRANGE)
    assert (hit.url, hit.kind, hit.complete) == ("https://example.org/a", SourceKind.PAGE, False)


@pytest.mark.parametrize(
    "claimed", ["/etc/passwd", "file:///x", "tool:other", "ftp://example.org/"]
)
def test_another_address_is_believed_of_the_callers_own_tool_alone(claimed: str) -> None:
    (own,) = hits_of({"path": claimed, "text": "T."}, OWN)
    (strange,) = hits_of({"path": claimed, "text": "T."}, STRANGE)
    assert (own.url, own.title, own.kind) == (claimed, claimed, SourceKind.TOOL)
    assert (strange.url, strange.title, strange.kind) == ("mcp:x/lookup", claimed, SourceKind.TOOL)
    assert own.complete
    assert strange.complete


@pytest.mark.parametrize("teller", [OWN, STRANGE])
def test_words_without_an_address_are_the_tools_own(teller: Teller) -> None:
    (hit,) = hits_of("Just words.", teller)
    assert (hit.url, hit.title, hit.text, hit.provider) == (
        teller.url,
        teller.name,
        "Just words.",
        teller.name,
    )


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (None, []),
        ("", []),
        ("  ", []),
        ({}, []),
        ([], []),
        ([None], []),
        (7, ["7"]),
        ('["a", "b"]', ["a", "b"]),
        ("[not JSON", ["[not JSON"]),
        ('"a"', ['"a"']),
        ({"results": [{"text": "a"}, {"snippet": "b"}, "c", 0.5]}, ["a", "b", "c"]),
        ({"items": [[{"content": "a"}]]}, ["a"]),
        ({"metadata": {"text": "deep"}}, ["deep"]),
        ([1, 2], ["[\n 1,\n 2\n]"]),
    ],
)
def test_texts_of_an_answer(value: Any, texts: list[str]) -> None:
    assert [hit.text for hit in hits_of(value, STRANGE)] == texts


def test_what_is_known_of_a_result() -> None:
    row = {
        "text": "T",
        "name": "N",
        "date": "2026-11-01",
        "site": "S",
        "author": "A",
        "link": "https://example.org/",
    }
    (hit,) = hits_of(json.dumps([row]), STRANGE)
    assert (hit.title, hit.published, hit.publisher, hit.author) == ("N", "2026-11-01", "S", "A")


class Model(BaseModel):
    a: int


class Message:
    content = ["words"]  # noqa: RUF012 - as messages have it


class Document:
    page_content, metadata = "page", {"source": "s"}


@pytest.mark.parametrize(
    ("value", "out"),
    [
        (b"\xff", "\ufffd"),
        ("\ud83d", "?"),
        ({1: (2, "\ud83d")}, {"1": [2, "?"]}),
        (Model(a=1), {"a": 1}),
        (Message(), ["words"]),
        (Document(), {"page_content": "page", "metadata": {"source": "s"}}),
        (Ellipsis, "Ellipsis"),
    ],
)
def test_an_answer_as_json(value: Any, out: Any) -> None:
    assert plain(value) == out


def test_a_value_is_shown_whole() -> None:
    assert shown({"a": "ü\ud83d"}) == '{\n "a": "ü?"\n}'


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=True)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["url", "text", "title", "results", "metadata", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from([OWN, STRANGE]))
def test_any_json_is_read_without_an_error(value: Any, teller: Teller) -> None:
    hits = list(hits_of(value, teller))
    assert hits == list(hits_of(value, teller))
    for found in hits:
        assert found.url
        assert found.text.strip()
        assert found.provider == teller.name
        assert (
            teller.owned or found.url == teller.url or found.url.startswith(("http://", "https://"))
        )
