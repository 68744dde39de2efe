"""PDF: pages, headings, paragraphs; what is locked, scanned or broken says so."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfReader, PdfWriter

from deepdiver.core.text import locate
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers import pdf
from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

PAGES: list[list[making.Line]] = [
    [
        (780, "Harbour report", 24),
        (740, "Introduction", 18),
        (710, "The harbour of Vantsk\xe4r froze on 3 March, and inter-"),
        (696, "national traffic stopped. Nobody was hurt."),
        (660, "The ferry stayed in port."),
    ],
    [(780, "Costs", 18), (750, "Clearing the ice cost $3.5 million (net).")],
    [],
    [(780, "The end.")],
]
INFO = (
    b"/Title (Microsoft Word - Report.docx) /Author (Anna Berg) /CreationDate "
    b"(D:20260304101500+01'00')"
)
DATA = making.pdf(PAGES, INFO)
TEXT = (
    "Harbour report\n\nIntroduction\n\n"
    "The harbour of Vantskär froze on 3 March, and inter-\nnational traffic stopped. Nobody was "
    "hurt.\n\n"
    "The ferry stayed in port.\n\n"
    "Costs\n\nClearing the ice cost $3.5 million (net).\n\n"
    "The end."
)


def locked(user: str, algorithm: str | None = None) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(DATA)))
    writer.encrypt(user, "owner", algorithm=algorithm)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_pages_headings_and_paragraphs() -> None:
    found = read(DATA, "a.pdf")
    assert found.text == TEXT
    assert found.marked("page") == [
        ("page", "1", "Harbour report"),
        ("page", "2", "Costs"),
        ("page", "3", "The end."),
        ("page", "4", "The end."),
    ]
    assert found.marked("heading") == [
        ("heading", "Harbour report", "Harbour report"),
        ("heading", "Introduction", "Introduction"),
        ("heading", "Costs", "Costs"),
    ]
    assert (found.format, found.title, found.author, found.published) == (
        "pdf",
        "Report",
        "Anna Berg",
        "",
    )


def test_a_quote_over_a_hyphen_at_the_end_of_a_line_is_found() -> None:
    text = read(DATA, "a.pdf").text
    span = locate("froze on 3 March, and international traffic stopped", text)
    assert span is not None
    assert span.of(text) == "froze on 3 March, and inter-\nnational traffic stopped"


def test_an_outline_gives_the_headings() -> None:
    data = making.pdf(PAGES, outline=[("Introduction", 0), ("Not on the page", 1), ("End", 3)])
    assert read(data, "a.pdf").marked("heading") == [
        ("heading", "Introduction", "Introduction"),
        ("heading", "Not on the page", "Costs"),
        ("heading", "End", "The end."),
    ]


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_lock_without_a_password_is_open(algorithm: str) -> None:
    assert read(locked("", algorithm), "a.pdf").text == TEXT


def test_a_locked_one_says_so() -> None:
    assert reason(locked("secret", "RC4-128"), "a.pdf") == "it is locked with a password"


def test_a_scan_says_so() -> None:
    assert reason(making.pdf([[], []]), "a.pdf") == pdf.SCANNED


def test_letters_that_a_font_joins_are_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "efficient flow".translate(pdf._LIGATURES) == "efficient flow"
    assert (
        "e\ufb03cient \ufb02ow \ufb01nd o\ufb00".translate(pdf._LIGATURES)
        == "efficient flow find off"
    )


@pytest.mark.parametrize("title", [b"untitled", b"(anonymous)", b"Untitled"])
def test_titles_that_programs_fill_in(title: bytes) -> None:
    data = making.pdf([[(700, "Text only.")]], b"/Title <" + title.hex().encode() + b">")
    assert read(data, "annual-report.pdf").title == "annual report"


@pytest.mark.parametrize("made", [b"D:20260304101500Z", b"D:2026", b"2026-03", b"yesterday"])
def test_the_day_on_which_a_file_was_made_is_not_the_day_of_publication(made: bytes) -> None:
    data = making.pdf([[(700, "Text.")]], b"/CreationDate <" + made.hex().encode() + b">")
    assert read(data, "a.pdf").published == ""


def test_a_broken_page_costs_a_page() -> None:
    data = making.pdf(PAGES)
    objects = PdfReader(io.BytesIO(data))
    assert len(objects.pages) == 4
    broken = data.replace(b"/Contents 13 0 R", b"/Contents (x)   ")
    found = read(broken, "a.pdf")
    assert "The end." in found.text
    assert "Costs" not in found.text


def test_a_page_that_is_packed_in_an_unknown_way_costs_a_page() -> None:
    data = making.pdf([[(700, "Costs")], [(700, "The end.")]])
    found = read(data.replace(b"/FlateDecode", b"/FlateDeCode", 1), "a.pdf")
    assert "The end." in found.text
    assert "Costs" not in found.text


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\nnothing else here\n%%EOF"])
def test_damage_says_so(data: bytes) -> None:
    assert reason(data, "a.pdf").startswith("it is damaged: ")


def test_more_pages_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_PAGES", 2)
    found = read(DATA, "a.pdf")
    assert found.notes == ["of 4 pages the first 2 were read"]
    assert "The end." not in found.text


def test_a_pdf_that_takes_too_long_keeps_the_pages_that_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = iter([4.0, 3.0, 0.5])
    monkeypatch.setattr(DocumentDraft, "seconds_left", lambda self: next(left, 0.4))
    found = read(making.pdf([[(700, f"Page {number}")] for number in range(1, 6)]), "a.pdf")
    assert found.text == "Page 1\n\nPage 2"
    assert found.notes == ["of 5 pages the first 2 were read: they take too long"]
