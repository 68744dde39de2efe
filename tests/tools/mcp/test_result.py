"""Results of tools, as sources that can be cited."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import CallToolResult

from deepdiver.core.record import SourceKind
from deepdiver.errors import CallError, CallFault
from deepdiver.tools.mcp.result import INLINE, LARGEST, McpResult, read_result, save_long_texts
from tests.servers.mcp_scripted import PIXEL
from tests.tools.conftest import Desk


def told(*parts: Any, **more: Any) -> McpResult:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return read_result(
        CallToolResult.model_validate({"content": content, **more}), "wiki", "search"
    )


def brief(result: McpResult) -> list[tuple[str, str, str]]:
    return [(hit.url, hit.title, hit.text) for hit in result.hits]


@pytest.mark.parametrize(
    "more",
    [
        {"content": [{"type": "text", "text": "x" * (LARGEST + 1)}]},
        {"content": [{"type": "text", "text": "x" * (LARGEST // 2 + 1)}] * 2},
        {"content": [], "structuredContent": {"a": "x" * LARGEST}},
    ],
)
def test_a_result_that_is_too_long_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(
        CallError, match=r"MCP server wiki answered search with 1,0\d\d,\d\d\d characters"
    ) as caught:
        read_result(CallToolResult.model_validate(more), "wiki", "search")
    assert caught.value.fault is CallFault.MALFORMED


def test_pictures_and_the_like_are_left_out_with_a_note() -> None:
    image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    blob = {"type": "resource", "resource": {"uri": "file:///x", "blob": PIXEL}}
    text = {"type": "resource", "resource": {"uri": "file:///y", "text": "A file."}}
    link = {"type": "resource_link", "uri": "file:///z", "name": "z"}
    sound = {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"}
    result = told(image, image, blob, text, link, sound, "And words.")
    assert [hit.text for hit in result.hits] == ["A file.", "And words."]
    assert result.notes == (
        "a picture was left out (2 times)",
        "a file that is no text was left out",
        "a link to something of the server's own was not followed",
        "a sound was left out",
    )


def test_its_own_words_are_of_the_kind_tool() -> None:
    (hit,) = told("Holm is a town.").hits
    assert (hit.url, hit.title, hit.kind, hit.provider) == (
        *("mcp:wiki/search", "wiki.search"),
        *(SourceKind.TOOL, "wiki.search"),
    )
    assert hit.complete


def test_a_page_that_it_names_is_still_to_be_read() -> None:
    rows = '[{"url": "https://example.org/a", "title": "A", "content": "What it says."}]'
    (hit,) = told(rows).hits
    assert (hit.url, hit.kind, hit.complete, hit.text) == (
        *("https://example.org/a", SourceKind.PAGE),
        *(False, "What it says."),
    )


@pytest.mark.parametrize(
    "claimed",
    ["file:///etc/passwd", "/srv/report.pdf", "library:1", "javascript:alert(1)", "mcp:other/x"],
)
def test_other_addresses_are_not_trusted(claimed: str) -> None:
    (hit,) = told(structuredContent={"results": [{"url": claimed, "text": "Text."}]}).hits
    assert (hit.url, hit.kind, hit.title) == ("mcp:wiki/search", SourceKind.TOOL, claimed)


@pytest.mark.parametrize(
    ("structured", "texts"),
    [
        ({"results": [{"text": "one"}, {"text": "two"}]}, ["one", "two"]),
        ({"result": [{"text": "one"}]}, ["one"]),
        ({"result": {"items": [{"text": "one"}]}}, ["one"]),
        ({"result": 42}, ["In words."]),
        ({"result": ["a", "b"]}, ["In words."]),
        ({"town": "Holm", "people": 900}, ["In words."]),
        ({}, ["In words."]),
    ],
)
def test_rows_go_before_words_and_words_before_values(structured: Any, texts: list[str]) -> None:
    result = told("In words.", structuredContent=structured)
    assert [hit.text for hit in result.hits] == texts
    assert result.structured == structured


def test_values_alone_are_shown_as_they_are() -> None:
    assert brief(told(structuredContent={"town": "Holm"})) == [
        ("mcp:wiki/search", "wiki.search", '{\n "town": "Holm"\n}')
    ]


def test_an_empty_answer_has_no_hits() -> None:
    assert told().hits == told("", "  ").hits == told(structuredContent={"results": []}).hits == ()


def test_a_failure_keeps_its_words() -> None:
    result = told("No such town.", isError=True)
    assert result.is_error
    assert [hit.text for hit in result.hits] == ["No such town."]


def test_a_lone_surrogate_is_replaced() -> None:
    result = told("a\ud83d", structuredContent={"k\ud83d": ["\ud83d"]})
    assert result.hits[0].text == "a?"
    assert result.structured == {"k?": ["?"]}


async def test_short_texts_stay_where_they_are(desk: Desk) -> None:
    result = told("x" * INLINE)
    assert await save_long_texts(result, desk.gateway()) == (result, ())


async def test_a_long_text_is_saved_and_named_by_its_hash(desk: Desk) -> None:
    kept, texts = await save_long_texts(told("x" * (INLINE + 1)), desk.gateway())
    (hit,) = kept.hits
    assert (hit.text, texts, hit.url) == ("", (hit.snapshot,), "mcp:wiki/search")
    assert desk.store.texts.get(hit.snapshot) == "x" * (INLINE + 1)


async def test_several_long_texts_are_told_apart(desk: Desk) -> None:
    kept, texts = await save_long_texts(told("x" * 9_000, "y" * 9_000, "short"), desk.gateway())
    assert len(texts) == 2
    urls = [hit.url for hit in kept.hits]
    assert urls == [
        f"mcp:wiki/search#{texts[0][:8]}",
        f"mcp:wiki/search#{texts[1][:8]}",
        "mcp:wiki/search",
    ]


async def test_the_text_of_a_page_stays_with_it(desk: Desk) -> None:
    rows = {"results": [{"url": "https://example.org/", "text": "z" * 9_000}]}
    result = told(structuredContent=rows)
    # With a snapshot it would not be read any more.
    assert await save_long_texts(result, desk.gateway()) == (
        result,
        (),
    )


async def test_a_saved_text_holds_no_key(desk: Desk) -> None:
    key = "sk-0123456789abcdef"
    kept, (text,) = await save_long_texts(
        told(f"{key} " * 1_000), desk.gateway(keys={"openai": key})
    )
    assert key not in desk.store.texts.get(text)
    assert kept.hits[0].snapshot == text


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["url", "text", "title", "results", "result", "metadata"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["result", "results", "text", "url", "x"]), JSON, max_size=3),
    st.lists(st.text(max_size=9)),
)
def test_any_result_comes_back_from_the_journal(
    structured: dict[str, Any], texts: list[str]
) -> None:
    result = told(*texts, structuredContent=structured)
    assert McpResult.model_validate(result.model_dump(mode="json", exclude_defaults=True)) == result
    for hit in result.hits:
        assert hit.text.strip()
        assert hit.provider == "wiki.search"
        assert hit.url == "mcp:wiki/search" or (hit.kind is SourceKind.PAGE and not hit.complete)
