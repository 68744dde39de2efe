"""Telling formats apart: what the bytes show counts before what is said of them."""

from __future__ import annotations

import bz2
import codecs
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdiver.tools.extract.formats import (
    FORMATS,
    format_of,
    looks_like_text,
    suffix_of,
    unreadable_kind,
)
from tests.tools.extract import making

PDF = making.pdf([[(700, "x")]])
DOCX = making.docx(lambda made: None)
PPTX = making.pptx(lambda made: None)
XLSX = making.xlsx(lambda made: None)
EPUB = making.epub({"a.html": "<p>x</p>"})
MAIL = making.mail().as_bytes()
HTML = b"<!doctype html><p>x"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.mark.parametrize(
    ("mime", "name", "data", "expected"),
    [
        # the bytes, whatever is said
        ("text/html", "a.txt", PDF, "pdf"),
        ("", "", b"\n\n  %PDF-1.4 \n", "pdf"),
        ("", "", codecs.BOM_UTF8 + b"%PDF-1.4", "pdf"),
        ("text/plain", "", bytes(range(1, 128)) + bytes(2) + b"%PDF-1.7\n", "pdf"),
        ("", "", PDF.partition(b"\n")[2], "pdf"),
        ("text/plain", "a.csv", DOCX, "docx"),
        ("application/zip", "a.zip", PPTX, "pptx"),
        ("application/octet-stream", "", XLSX, "xlsx"),
        ("", "a.docx", EPUB, "epub"),
        ("text/plain", "a.docx", HTML, "html"),
        ("", "", b"\xef\xbb\xbf <!-- saved --> <HTML><p>x", "html"),
        ("application/xml", "", b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">', "html"),
        ("", "", "<!DOCTYPE html><p>x".encode("utf-16"), "html"),
        ("", "", making.zipped({"inner.xlsx": XLSX, "word/document.xml": b"<x/>"}), "docx"),
        ("", "", DOCX[:9_000], "docx"),
        ("", "a.html", b"\x1f\x8b\x08\x00", "packed"),
        ("", "a", bz2.compress(b"x"), "packed"),
        ("", "a.txt", lzma.compress(b"x"), "packed"),
        ("", "", b"\x28\xb5\x2f\xfd\x00", "packed"),
        ("", "a.doc", b"{\\rtf1 x}", "rtf"),
        ("", "a.zip", making.open_document("text"), "odt"),
        ("", "a.odt", making.open_document("spreadsheet"), "ods"),
        ("", "", making.open_document("presentation"), "odp"),
        ("", "a.xml", making.flat_open_document("text"), "xml"),
        # what the server says
        ("text/csv; charset=utf-8", "a.txt", b"a,b", "csv"),
        ("TEXT/HTML", "", b"hello", "html"),
        ("application/json", "", b"hello", "json"),
        ("message/rfc822", "", b"hello", "email"),
        (
            "message/rfc822",
            "",
            b"Subject: PDF\n\nIt begins with %PDF-1.7 and ends with startxref.",
            "email",
        ),
        ("text/plain", "", b"startxref", "text"),
        ("application/rss+xml", "feed", b"<rss/>", "xml"),
        # the name, where the server says nothing
        ("text/plain", "a.md", b"hello", "markdown"),
        ("application/octet-stream", "A.CSV", b"a,b", "csv"),
        ("", "a.jsonl", b"{}", "messages"),
        ("", "notes/a.tsv", b"a\tb", "tsv"),
        ("", "a.txt", b"[1] Smith", "text"),
        ("", "a.eml", b"hello", "email"),
        ("", "a.mbox", b"hello", "mailbox"),
        ("", "src/retry.PY", b"# x", "code"),
        ("", "app.toml", b"[a]", "code"),
        ("", "Makefile", b"all:", "code"),
        ("", "CMakeLists.txt", b"# x", "code"),
        ("", "a.rst", b"x", "rst"),
        ("", "a.tex", b"x", "tex"),
        ("", "a.ipynb", b"{}", "notebook"),
        ("", "a.vtt", b"x", "subtitles"),
        ("", "a.odt", b"a text", "text"),
        # what the text looks like
        ("", "", b' {"a": 1}', "json"),
        ("", "", b'<?xml version="1.0"?><x/>', "xml"),
        ("", "", MAIL, "email"),
        ("", "a.fodt", making.flat_open_document("text"), "odt"),
        ("", "curl.1", b'.\\" a comment\n.TH curl 1\n', "man"),
        ("", "", b"'\\\" t\n.Dd May 1\n", "man"),
        ("", "", b".so man1/curl.1\n", "man"),
        ("", "notes.1", b"...and so on\nSHOUT", "text"),
        ("", "", b"% a comment\n\n\\documentclass{article}", "tex"),
        ("", "", b"About \\documentclass", "text"),
        ("", "", b"WEBVTT\n\n00:01.000 --> 00:02.000\nx", "subtitles"),
        ("", "", b"1\r\n00:00:01,000 --> 00:00:02,000\r\nx", "subtitles"),
        ("", "run", b"#!/bin/sh\n# x", "code"),
        ("", "", b"From a@b.c Mon Mar  3 09:00:00 2025\nSubject: x\n\ny", "mailbox"),
        ("", "", b"From here to 2025\nall is well", "text"),
        ("", "README", b"Harbour\n=======\n", "text"),
        ("", "README.Debian", b"Harbour", "text"),
        ("", "", "Häfen".encode("cp1252"), "text"),
        ("", "", b"Note: this\nSee also: that\n\nText", "text"),
        ("", "", b"ID3 is a tag", "text"),
        ("", "", b"RIFF raff", "text"),
        ("application/pdf", "a.pdf", b"Not found", "text"),
        ("", "a.xlsx", b"a text", "text"),
        # nothing that is read
        ("text/html", "a.html", PNG, ""),
        ("application/pdf", "a.pdf", PNG, ""),
        ("", "a.docx", making.zipped({"a": b"b"}), ""),
        ("", "a.md", b"a\0b", ""),
        ("", "a.dat", bytes(range(1, 256)), ""),
        ("", "a", b"\x01\x02 some words", ""),
    ],
)
def test_a_format(mime: str, name: str, data: bytes, expected: str) -> None:
    assert format_of(mime, name, data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (PNG, "an image"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
            "an old or password-protected Office file; save it as docx, pptx or xlsx",
        ),
        (b"a.txt" + bytes(252) + b"ustar\x0000", "a tar archive; unpack it first"),
        (bytes(range(1, 256)), "not text"),
        (b"\x1f\x8b\x08", ""),
        (making.zipped({"a": b"b"}), "a zip archive; unpack it first"),
        (making.zipped({"a": b"b"})[:20], "damaged: a zip archive without its end"),
        (b"a\0b", "not text"),
        (b"RIFF\0\0", "an image, a sound or a film"),
        (b"hello", ""),
        (PDF, ""),
        (DOCX, ""),
    ],
    ids=range(12),  # a zip archive holds the time at which it was made
)
def test_what_is_not_read_is_called_by_its_name(data: bytes, expected: str) -> None:
    assert unreadable_kind(data) == expected


@given(
    st.sampled_from(["", "text/html", "application/pdf", "?"]),
    st.text(max_size=8),
    st.binary(max_size=200),
)
def test_any_bytes_are_a_known_format_or_none(mime: str, name: str, data: bytes) -> None:
    found = format_of(mime, name, data)
    assert found in FORMATS or found == ""
    if not found:
        assert unreadable_kind(data)


@given(st.binary(max_size=300))
def test_a_torn_archive_breaks_nothing(tail: bytes) -> None:
    assert format_of("", "", b"PK\x03\x04" + tail) in {"", *FORMATS}
    assert format_of("", "", DOCX + b"PK\x05\x06" + tail) in {"", *FORMATS}


def test_every_suffix_is_of_one_format() -> None:
    suffixes = [suffix for suffixes in FORMATS.values() for suffix in suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)
    assert {
        "html",
        "pdf",
        "docx",
        "pptx",
        "xlsx",
        "csv",
        "tsv",
        "markdown",
        "text",
        "epub",
        "email",
        "messages",
        "json",
        "rtf",
    } <= set(FORMATS)


def test_suffixes() -> None:
    assert suffix_of("a/b.tar.GZ") == ".gz"
    assert suffix_of("Makefile") == suffix_of("") == suffix_of(".hidden") == ""


def test_looking_like_text() -> None:
    assert looks_like_text(b"")
    assert looks_like_text("häfen".encode("latin-1"))
    assert looks_like_text("hello".encode("utf-16"))
    assert not looks_like_text(b"PK\x03\x04\x00")
