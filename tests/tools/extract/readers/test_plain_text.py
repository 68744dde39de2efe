"""Markdown and text.

Kept as they were written, with the front matter apart and the headings marked.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.readers.plain_text import find_headings, split_front_matter
from tests.tools.extract.reading import read, reason

FRONT = """---
title: "The register of owners"
publisher: Companies Registry
kind: registry
author: Anna Berg
published: 2026-03-04
language: en
tags:
  - boats
---

# Owners

Holm Works belongs to Lars Holm.

## Since when

Since 1998.
"""


def test_markdown_with_front_matter() -> None:
    found = read(FRONT, "owners.md")
    assert found.text == FRONT.partition("---\n\n")[2]
    assert (found.format, found.title, found.author) == (
        "markdown",
        "The register of owners",
        "Anna Berg",
    )
    assert (found.publisher, found.publisher_kind) == ("Companies Registry", "registry")
    assert (found.published, found.language, found.notes) == ("2026-03-04", "en", [])
    assert found.marked() == [
        ("heading", "Owners", "# Owners"),
        ("heading", "Since when", "## Since when"),
    ]


def test_text_is_kept_to_the_letter() -> None:
    text = "  Indented.\n\n\tTab — dash “quotes” e\u0301 漢字\n\n\n# not lost\n"
    assert read(text, "a.txt").text == text
    assert read(text.replace("\n", "\r\n"), "a.txt").text == text
    assert read(b"\xef\xbb\xbf" + text.encode(), "a.txt").text == text
    assert read(text.encode("utf-16"), "a.txt").text == text


@pytest.mark.parametrize(
    ("text", "name", "title"),
    [
        ("# First\n\ntext", "a-file.md", "First"),
        ("text\n\n## Second ##\n", "a-file.md", "Second"),
        ("text", "a-long-name.txt", "a long name"),
        ("---\ntitle: Given\n---\n# First", "a.md", "Given"),
    ],
)
def test_titles(text: str, name: str, title: str) -> None:
    assert read(text, name).title == title


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n\t\n", "it is empty"),
        (b"\xef\xbb\xbf", "it is empty"),
        (b"---\ntitle: Nothing else\n---\n", "it is empty"),
        (b"---\ntitle: Nothing else\n---", "it is empty"),
        (b"text \0 text", "it is not text"),
    ],
)
def test_what_cannot_be_read(data: bytes, why: str) -> None:
    assert reason(data, "a.md") == why


def test_other_encodings_are_read_and_said() -> None:
    found = read(
        "Färjan låg kvar i hamnen över natten på grund av isen. ".encode("cp1252") * 5, "a.txt"
    )
    assert found.text.startswith("Färjan låg kvar")
    assert found.notes == ["no encoding is named; it was taken for cp1252"]


def test_a_fence_holds_no_headings() -> None:
    text = "# One\n```sh\n# comment\n~~~\n# comment\n```\n# Two\n~~~~\n# x\n~~~\n# x\n~~~~\n"
    text += "  ## not one\n#### Three\n#none\n"
    assert [label for _, label in find_headings(text)] == ["One", "Two", "Three"]
    assert all(text[start] == "#" for start, _ in find_headings(text))


def test_more_headings_than_are_kept() -> None:
    found = read("# a\n" * 30_000, "a.md")
    assert len(found.text) == 120_000
    assert len(found.marks) == 20_000
    assert found.notes == ["more than 20,000 parts are marked in it; the first 20,000 were kept"]


class TestFrontMatter:
    @pytest.mark.parametrize(
        ("text", "fields", "body"),
        [
            ("---\na: b\n---\ntext", {"a": "b"}, "text"),
            ("---  \nA: 'b'\n---\t\n\n\ntext", {"a": "b"}, "text"),
            ('---\na: "b: c"\nd:\n---\n', {"a": "b: c", "d": ""}, ""),
            ("---\na:\n  - x\n  - y\n# comment\n---\ntext", {"a": ""}, "text"),
            ("---\n---\ntext", {}, "text"),
            ("text\n---\na: b\n---\n", {}, "text\n---\na: b\n---\n"),
            ("---\nSome prose here.\n---\ntext", {}, "---\nSome prose here.\n---\ntext"),
            ("---\na: b\nnever closed", {}, "---\na: b\nnever closed"),
            ("----\na: b\n----\ntext", {}, "----\na: b\n----\ntext"),
            ("---\nhttp://x\n---\n", {}, "---\nhttp://x\n---\n"),
        ],
    )
    def test_is_parted_from_the_text(self, text: str, fields: dict[str, str], body: str) -> None:
        assert split_front_matter(text) == (fields, body)

    @given(st.text(st.sampled_from("-a: \n#'\""), max_size=40))
    def test_nothing_of_a_text_is_lost(self, text: str) -> None:
        fields, body = split_front_matter(text)
        assert text.endswith(body)
        if body == text:
            assert fields == {}
        else:
            assert text.startswith("---")

    def test_a_long_one_without_end_takes_no_time(self) -> None:
        text = "---\n" + "a: b\n" * 200_000
        assert split_front_matter(text) == ({}, text)
