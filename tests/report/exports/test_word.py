"""The Word document: real headings, tables and footnotes, and nothing that does anything."""

from __future__ import annotations

import builtins
import io
import re
import zipfile
from dataclasses import replace
from typing import Any

import docx
import pytest
from lxml import etree  # type: ignore[import-untyped]

from deepdiver.core.ledger import Ledger
from deepdiver.errors import UsageError
from deepdiver.report.exports import word
from deepdiver.report.exports.package import Saved
from deepdiver.report.exports.word import render_word
from deepdiver.report.history import History
from tests.report.exports.making import (
    PAYLOADS,
    hostile,
    hostile_pictures,
    many_payloads,
    report,
    saved,
    with_points_apart,
)
from tests.report.figures import week
from tests.report.figures.tables import EVENTS, PEOPLE, YEARS, report_of
from tests.report.making import RUN

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
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
        "What follows",
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


def test_points_of_a_message_are_quoted() -> None:
    document = docx.Document(io.BytesIO(render_word(saved(with_points_apart()))))
    quoted = [
        item.text for item in document.paragraphs if item.style and item.style.name == "Quote"
    ]
    assert [text.partition("\u2002")[0] for text in quoted[:3]] == ["•", "•", "1."]


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
        " [1] Register of companies, Company Register, 2026-01-12: "
        "“Anna Holm owns Holm Works AB.” (page 1)"
    )
    assert texts["3"] != texts["2"]
    again = [text for text in texts.values() if "as in note" in text]
    assert " [2] as in note 2" in again
    assert b"footnotes+xml" in files["[Content_Types].xml"]
    assert b"footnotes.xml" in files["word/_rels/document.xml.rels"]


def test_each_of_the_numbers_in_a_row_has_its_footnote() -> None:
    made = report()
    three = [item.number for item in made.citations if item.mark in {"1", "2", "3"}]
    said = made.answer[0].model_copy(update={"citations": tuple(three), "places": ()})
    held = made.model_copy(update={"answer": (said,), "points": ()})
    notes = etree.fromstring(parts(render_word(saved(held)))["word/footnotes.xml"])
    texts = ["".join(note.itertext()) for note in notes if not note.get(f"{W}type")]
    assert [text.split()[0] for text in texts[:3]] == ["[1]", "[2]", "[3]"]
    assert all("“" in text for text in texts[:3])


def test_a_word_stands_before_the_footnotes_of_what_a_figure_was_worked_out_from() -> None:
    shown = "".join(etree.fromstring(parts(MADE)["word/document.xml"]).itertext())
    assert "Holm Works AB has 30 people morefrom , than in 2024." not in shown
    assert "Holm Works AB has 30 people more than in 2024from ,." in shown


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


@pytest.mark.parametrize("payload", PAYLOADS[:6])
def test_no_word_of_a_stranger_in_a_picture_is_more_than_a_word(payload: str) -> None:
    files = parts(render_word(hostile_pictures(payload)))
    pictures = [data for name, data in files.items() if name.startswith("word/media/")]
    assert len(pictures) == 4  # a chart, belief by round, who contradicts whom, cost by phase
    assert all(data.startswith(b"\x89PNG") for data in pictures)
    assert not any(b'TargetMode="External"' in files[name] for name in files if "rels" in name)
    assert "hyperlink" not in {
        item.tag.removeprefix(W) for item in etree.fromstring(files["word/document.xml"]).iter()
    }


@pytest.mark.proof
def test_500_attacks_come_to_nothing() -> None:
    for payload in many_payloads():
        test_no_text_of_a_stranger_is_a_field_a_macro_or_a_link(payload)
        test_no_word_of_a_stranger_in_a_picture_is_more_than_a_word(payload)


def charted(**changes: Any) -> bytes:
    made = report_of(PEOPLE, YEARS, EVENTS).model_copy(update=changes)
    return render_word(replace(saved(made), ledger=Ledger(), history=History()))


def test_charts_are_images_below_their_tables_with_their_words() -> None:
    files = parts(charted())
    assert sum(name.startswith("word/media/") for name in files) == 3
    assert all(data.startswith(b"\x89PNG") for name, data in files.items() if "word/media/" in name)
    tree = etree.fromstring(files["word/document.xml"])
    told = [shape.get("descr") for shape in tree.iter(f"{WP}docPr")]
    assert "Ard: 120 [1]" in told[0]
    assert "1911-05-03: founded [1]" in told[2]
    body = [
        "table" if item.tag == f"{W}tbl" else "picture"
        for item in tree.find(f"{W}body")
        if item.tag == f"{W}tbl" or next(item.iter(f"{WP}docPr"), None) is not None
    ]
    assert body == ["table", "picture"] * 3


def test_a_picture_is_as_wide_as_the_text() -> None:
    document = docx.Document(io.BytesIO(charted()))
    page = document.sections[0]
    text = page.page_width - page.left_margin - page.right_margin  # type: ignore[operator]
    assert {abs(shape.width - text) < 3_600 for shape in document.inline_shapes} == {True}


def test_a_report_in_charts_has_the_same_bytes_each_time() -> None:
    assert charted() == charted()


def test_without_typst_a_document_has_its_tables_and_no_charts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word, "draw_png", lambda _: None)
    files = parts(charted())
    assert not any(name.startswith("word/media/") for name in files)
    assert len(docx.Document(io.BytesIO(charted())).tables) == 3


def test_its_note_and_the_pictures_of_the_findings_are_in_it() -> None:
    made = Saved(RUN, week.report(), week.ledger(), week.texts(), "", 0, scene=True)
    noted = made.report.model_copy(update={"note": "What follows are quotes."})
    files = parts(render_word(replace(made, report=noted)))
    shown = etree.fromstring(files["word/document.xml"])
    assert "What follows are quotes." in "".join(shown.itertext())
    told = [shape.get("descr") for shape in shown.iter(f"{WP}docPr")]
    for title in ("Timeline of the findings", "Map of the findings"):
        assert any(text.startswith(title) for text in told)


def test_the_fixed_words_are_those_of_the_report() -> None:
    document = docx.Document(io.BytesIO(render_word(saved(report(language="de")))))
    headed = [
        item.text
        for item in document.paragraphs
        if item.style and item.style.name.startswith("Heading")
    ]
    assert headed[0] == "Ergebnis"
    assert headed[-6:] == [
        "Quellen",
        "Belege",
        "Geprüfte Hypothesen",
        "Berechnungen",
        "Wie weit den Quellen zu trauen ist",
        "Grenzen",
    ]
    notes = parts(render_word(saved(report(language="de"))))["word/footnotes.xml"].decode()
    assert "wie in Anmerkung 1" in notes
    assert "as in note" not in notes


def test_no_row_of_a_table_is_broken_between_pages() -> None:
    tree = etree.fromstring(parts(MADE)["word/document.xml"])
    rows = list(tree.iter(f"{W}tr"))
    assert rows
    assert all(next(row.iter(f"{W}cantSplit"), None) is not None for row in rows)
