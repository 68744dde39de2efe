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
        ("2.5.0 (2025-06-18)\n==================\n\nFixed.\n", "CHANGES.md", "CHANGES"),
        ("1. What changed\n===============\n\nFixed.\n", "CHANGES.md", "1. What changed"),
        ("# 漢字\n\ntext", "a-file.md", "漢字"),
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
    assert found.notes[0].startswith("no encoding is named; it was taken for cp125")


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


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Title\n=====\n\ntext\n\nPart\n----\n", ["Title", "Part"]),
        ("=====\n Top \n=====\n\nx", ["Top"]),
        ("Longer than its line\n---\n", []),  # a rule below a paragraph
        ("a paragraph\nthat ends\n---------\n", []),
        ("==== ====\nYear Cost\n==== ====\n", []),
        ("+----+\n|cell|\n+----+\n", []),
        ("------\n------\n", []),
        ("```\nName\n----\n```\n\nAfter\n-----", ["After"]),
        ("Häfen\n=====", ["Häfen"]),
        ("Spaces  \n======  \n", ["Spaces"]),
    ],
)
def test_underlined_headings(text: str, labels: list[str]) -> None:
    assert [label for _, label in find_headings(text)] == labels


def test_restructured_text() -> None:
    text = (
        "=========\nThe ferry\n=========\n\n:Author: Anna Berg\n:Date:   2025-03-04\n"
        ":Organization: Harbour\n\nCosts\n~~~~~\n\n# no heading\n\n.. code:: python\n\n   x = 1\n"
    )
    found = read(text, "a.rst")
    assert found.text == text
    assert [label for _, label, _ in found.marked()] == ["The ferry", "Costs"]
    assert (found.format, found.title, found.author, found.publisher, found.published) == (
        "rst",
        "The ferry",
        "Anna Berg",
        "Harbour",
        "2025-03-04",
    )
    assert read(":Date: yesterday\n\nx", "a.rst").published == ""


@pytest.mark.parametrize("name", ["README", "LICENSE", "CHANGELOG", "a.adoc", "INSTALL.old"])
def test_a_text_without_an_ending_or_with_any(name: str) -> None:
    found = read("Install\n=======\n\nRun it.\n", name)
    assert (found.format, found.title, found.text) == (
        "text",
        "Install",
        "Install\n=======\n\nRun it.\n",
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("retry.py", "# Copyright\nimport os\n\n\ndef f():\n    return 1\n"),
        ("app.toml", "# settings\n[tool]\nx = 1\n"),
        ("run", "#!/bin/sh\n# does it\n"),
        ("Makefile", "# all\nall:\n\techo\n"),
        ("data.yaml", "---\ntitle: x\n---\nbody: 1\n"),
        ("index.js", "{ let a }\n"),
    ],
)
def test_source_code_is_kept_to_the_letter_and_comments_are_no_headings(
    name: str, text: str
) -> None:
    found = read(text, name)
    assert (found.format, found.text, found.marks, found.title) == ("code", text, [], name)
    assert read(text.replace("\n", "\r\n"), name).text == text


def test_source_code_in_another_encoding_and_without_any_text() -> None:
    found = read("# größe: Straße, Köln, fünf, Häuser\n".encode("cp1252"), "a.py")
    assert found.text == "# größe: Straße, Köln, fünf, Häuser\n"
    assert found.notes[0].startswith("no encoding is named; it was taken for cp125")
    assert reason(" \n", "a.py") == "it is empty"
    assert reason("a\0b", "a.py") == "it is not text"
