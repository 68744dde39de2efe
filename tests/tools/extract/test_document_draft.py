"""A draft.

Marks point at the first character of their part, whatever is added, and nothing grows without end.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract import document_draft as drafts
from deepdiver.tools.extract.document_draft import (
    DocumentDraft,
    DraftFullError,
    clean_text,
    one_line,
)

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "put", "mark", "heads"]),
        st.text(st.sampled_from("aé漢🚢 \n\t\r\x00\x0c\ud800."), max_size=12),
    ),
    max_size=20,
)


@given(STEPS)
def test_whatever_is_added_marks_lie_in_the_text_in_order(steps: list[tuple[str, str]]) -> None:
    draft = DocumentDraft("text")
    for step, text in steps:
        match step:
            case "add":
                draft.add(text)
            case "put":
                draft.put(text)
            case "mark":
                draft.mark_next("page", text)
            case _:
                draft.add_heading(text)
    told = draft.metadata()
    starts = [start for start, _, _ in told["marks"]]
    assert starts == sorted(starts)
    assert all(0 <= start < len(draft.text) for start in starts)
    assert draft.length == len(draft.text)
    assert draft.empty == (draft.text == "")
    draft.text.encode("utf-8")
    json.dumps(told).encode("utf-8")


@given(st.lists(st.text(st.sampled_from("ab \n"), max_size=8), max_size=8))
def test_headings_stand_where_they_are_marked(headings: list[str]) -> None:
    draft = DocumentDraft("html")
    for heading in headings:
        draft.add("before")
        draft.add_heading(heading)
    for start, kind, label in draft.metadata()["marks"]:
        assert kind == "heading"
        assert " ".join(draft.text[start:].split()).startswith(label)


def test_blocks_stand_apart_and_marks_begin_with_the_next() -> None:
    draft = DocumentDraft("pdf")
    draft.mark_next("page", "1")
    draft.mark_next("page", "2")
    draft.add("  one ")
    draft.mark_next("heading", " a\nb ")
    draft.add("")
    draft.add("two\r\nthree", "\n")
    draft.mark_next("page", "3")
    assert draft.text == "one\ntwo\nthree"
    assert draft.metadata()["marks"] == [(0, "page", "1"), (0, "page", "2"), (4, "heading", "a b")]
    assert draft.heading_within(100) == draft.heading_within(4) == "a b"
    assert draft.heading_within(3) == ""


def test_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "SECONDS", 1_000.0)
    draft = DocumentDraft("text")
    assert 0 < draft.seconds_left() <= 1_000.0
    monkeypatch.setattr(drafts, "SECONDS", -2.0)
    assert DocumentDraft("text").seconds_left() < 0


def test_a_text_is_cut_at_its_largest_size_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "LARGEST_TEXT", 20)
    draft = DocumentDraft("text")
    draft.add("0123456789")
    with pytest.raises(DraftFullError) as full:
        draft.add("ééééééé")
    assert full.value.args == (draft,)
    assert draft.text == "0123456789\n\n" + "é" * 3
    assert len(draft.text.encode()) <= 20
    assert draft.metadata()["notes"] == ["the text is longer than 20 bytes; the rest was left out"]
    with pytest.raises(DraftFullError):
        draft.add("more")
    assert draft.text == "0123456789\n\n" + "é" * 3


def test_a_mark_behind_the_cut_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "LARGEST_TEXT", 4)
    draft = DocumentDraft("markdown")
    draft.mark_at(0, "heading", "a")
    draft.mark_at(9, "heading", "b")
    with pytest.raises(DraftFullError):
        draft.put("# a\n..... # b")
    assert draft.metadata()["marks"] == [(0, "heading", "a")]


def test_reading_that_takes_too_long_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    draft = DocumentDraft("xlsx")
    draft.add("one")
    monkeypatch.setattr("time.process_time", lambda: 1e9)
    with pytest.raises(DraftFullError):
        draft.add("two")
    assert draft.text == "one"
    assert draft.metadata()["notes"] == [
        "it takes more than 5 seconds to read; the rest was left out"
    ]


def test_what_is_told_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_MARKS", 3)
    draft = DocumentDraft("html")
    draft.title = "t" * 10_000
    draft.author = "Anna\n  Berg\x00"
    draft.links = (
        ["https://a.example/"] * 5
        + [f"https://a.example/{n}" for n in range(500)]
        + ["https://" + "x" * 5_000]
    )
    for number in range(100):
        draft.note(f"note {number}")
        draft.note("again")
    for number in range(5):
        draft.mark_next("heading", f"{number} " + "h" * 1_000)
        draft.add("x")
    told = draft.metadata()
    assert len(told["title"]) == drafts.LONGEST_FIELD
    assert told["author"] == "Anna Berg"
    assert len(told["links"]) == len(set(told["links"])) == drafts.MOST_LINKS
    assert max(map(len, told["links"])) < 100
    assert len(told["notes"]) == drafts.MOST_NOTES
    assert [len(label) for _, _, label in told["marks"]] == [drafts.LONGEST_LABEL] * 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\x0cd\u2028e", "a\nb\nc\nd\ne"),
        ("a\x00b\x07c\x9fd\uffffe\tf", "abcde\tf"),
        ("half \ud83d character", "half \ufffd character"),
        ("whole 🚢", "whole 🚢"),
    ],
)
def test_cleaning(text: str, expected: str) -> None:
    assert clean_text(text) == expected


def test_one_line() -> None:
    assert one_line("  a \n\t b\u00a0c ") == "a b c"
    assert one_line("x" * 999, 10) == "x" * 10
