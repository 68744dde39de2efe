"""The Word document: real headings, tables and footnotes, and nothing that does anything."""

from __future__ import annotations

import builtins
import io
import re
import zipfile
from typing import Any

import docx
import pytest
from lxml import etree  # type: ignore[import-untyped]

from deepdiver.errors import UsageError
from deepdiver.report.exports.word import render_word
from tests.report.exports.making import PAYLOADS, hostile, many_payloads, saved

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MADE = render_word(saved())


def parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_without_python_docx_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name == "docx":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(UsageError, match=r"deepdiver-research\[exports\]"):
        render_word(saved())


def test_the_same_run_gives_the_same_bytes() -> None:
    assert render_word(saved()) == MADE


def test_headings_lists_and_tables_are_real() -> None:
    document = docx.Document(io.BytesIO(MADE))
    styles: dict[str, list[str]] = {}
    for paragraph in document.paragraphs:
        styles.setdefault(paragraph.style.name if paragraph.style else "", []).append(
            paragraph.text
        )
    assert styles["Title"] == ["Anna Holm owns Holm Works AB"]
    assert styles["Heading 1"] == [
        "Bottom line",
        "The company",
        "What follows†",
        "Sources",
        "Evidence view",
    ]
    assert styles["Heading 2"][0] == "What is not known"
    assert any("مالكة" in text for text in styles["List Bullet"])
    assert any(text.startswith("1.\u2002Ask for the owner") for text in styles["Normal"])
    assert styles["Code"] == ["$ holm --owner\nAnna Holm"]
    (table,) = document.tables
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["year", "people"],
        ["2024", "300"],
        ["2025", "330"],
    ]
    assert b"<w:tblHeader" in parts(MADE)["word/document.xml"]
    assert b"<w:bidi/>" in parts(MADE)["word/document.xml"]
    assert document.core_properties.author == "deepdiver"


def test_every_citation_is_a_footnote_with_its_quote() -> None:
    files = parts(MADE)
    notes = etree.fromstring(files["word/footnotes.xml"])
    texts = {
        note.get(f"{W}id"): "".join(note.itertext()) for note in notes if not note.get(f"{W}type")
    }
    body = etree.fromstring(files["word/document.xml"])
    referred = [item.get(f"{W}id") for item in body.iter(f"{W}footnoteReference")]
    assert referred == list(texts)
    assert texts["1"] == (
        " [1a] Register of companies, Company Register, 2026-01-12: "
        "“Anna Holm owns Holm Works AB.” (page 1)"
    )
    assert texts["3"] != texts["2"]
    again = [text for text in texts.values() if "as in note" in text]
    assert " [1b] as in note 2" in again
    assert b"footnotes+xml" in files["[Content_Types].xml"]
    assert b"footnotes.xml" in files["word/_rels/document.xml.rels"]


def test_two_footnotes_in_one_place_do_not_read_as_one_number() -> None:
    body = etree.fromstring(parts(MADE)["word/document.xml"])
    for reference in body.iter(f"{W}footnoteReference"):
        following = reference.getparent().getnext()
        assert following is None or following.find(f"{W}footnoteReference") is None


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_stranger_is_a_field_a_macro_or_a_link(payload: str) -> None:
    files = parts(render_word(hostile(payload)))
    for name, data in files.items():
        assert not name.endswith((".bin", ".vbs")), name
        if name.endswith(".rels"):
            assert b'TargetMode="External"' not in data
        if name in ("word/document.xml", "word/footnotes.xml"):
            tree = etree.fromstring(data)
            tags = {element.tag.removeprefix(W) for element in tree.iter()}
            assert not tags & {
                "instrText",
                "fldSimple",
                "fldChar",
                "hyperlink",
                "object",
                "altChunk",
            }
    assert not re.search(rb"macro|vba", files["[Content_Types].xml"], re.IGNORECASE)
    docx.Document(io.BytesIO(render_word(hostile(payload))))


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_is_a_field_a_macro_or_a_link(payload)
