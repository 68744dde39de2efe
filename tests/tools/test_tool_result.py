"""Results of tools as hits and as JSON: those of the caller, and those of strangers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from deepdiver.core.record import SourceKind
from deepdiver.tools.tool_result import ToolOrigin, hits_of, json_text, to_json

OWN = ToolOrigin("lookup", "tool:lookup", owned=True)
STRANGE = ToolOrigin("x.lookup", "mcp:x/lookup", owned=False)


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


@pytest.mark.parametrize("origin", [OWN, STRANGE])
def test_words_without_an_address_are_the_tools_own(origin: ToolOrigin) -> None:
    (hit,) = hits_of("Just words.", origin)
    assert (hit.url, hit.title, hit.text, hit.provider) == (
        origin.url,
        origin.name,
        "Just words.",
        origin.name,
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
    assert to_json(value) == out


def test_a_value_is_shown_whole() -> None:
    assert json_text({"a": "ü\ud83d"}) == '{\n "a": "ü?"\n}'


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
def test_any_json_is_read_without_an_error(value: Any, origin: ToolOrigin) -> None:
    hits = list(hits_of(value, origin))
    assert hits == list(hits_of(value, origin))
    for found in hits:
        assert found.url
        assert found.text.strip()
        assert found.provider == origin.name
        assert (
            origin.owned or found.url == origin.url or found.url.startswith(("http://", "https://"))
        )
