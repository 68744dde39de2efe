"""The page: its evidence is inside, and nothing of it is shown, run or fetched."""

from __future__ import annotations

import re
from html import unescape

import pytest
from lxml import html  # type: ignore[import-untyped]

from deepdiver.errors import UnreadableError
from deepdiver.report.exports.package import is_sealed, pack, to_archive
from deepdiver.report.exports.page import evidence_in_page, render_page
from tests.report.exports.making import PAYLOADS, hostile, saved

CITED = saved().cited_alone()
PAGE = render_page(CITED)
ACTIVE = {"script", "iframe", "object", "embed", "form", "link", "base", "img", "video", "audio"}


@pytest.mark.parametrize("page", [b"", b"<!doctype html><p>x", PAGE.replace(b"evidence", b"other")])
def test_a_page_without_evidence_says_so(page: bytes) -> None:
    with pytest.raises(UnreadableError, match="carries no evidence"):
        evidence_in_page(page)


def test_evidence_that_is_no_archive_is_named() -> None:
    start = PAGE.index(b'<template id="evidence">') + 30
    with pytest.raises(UnreadableError, match="evidence of this page was altered"):
        evidence_in_page(PAGE[:start] + b"*" + PAGE[start + 1 :])


def test_the_evidence_comes_back_and_the_page_is_the_same_each_time() -> None:
    assert evidence_in_page(PAGE) == pack(CITED)
    assert render_page(saved().cited_alone()) == PAGE
    assert is_sealed(PAGE)


def test_an_archive_of_another_machine_is_kept() -> None:
    """Two machines may compress the same files in two ways."""
    other = render_page(CITED, archive_of=PAGE)
    assert other == PAGE
    assert to_archive(pack(CITED))[:2] == b"PK"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_is_active(payload: str) -> None:
    made = hostile(payload).cited_alone()
    page = render_page(made)
    tree = html.fromstring(page.decode())
    assert not {element.tag for element in tree.iter() if isinstance(element.tag, str)} & ACTIVE
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "style", "background", "action")
            if name == "href":
                assert value.startswith(("#", "https://evil.example/"))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page.decode())
    assert unescape(policy).startswith("default-src 'none'; style-src 'sha256-")
    assert evidence_in_page(page) == pack(made)
    assert is_sealed(page)
