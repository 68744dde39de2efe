"""Which module reads what, what a document is called, and the reasons that are the same for all."""

from __future__ import annotations

import sys

import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import read_document
from deepdiver.tools.extract.formats import FORMATS
from tests.tools.extract import making
from tests.tools.extract.reading import read, reason


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_a_reader(format: str) -> None:
    assert callable(read_document.load_reader(format))


@pytest.mark.parametrize(
    ("format", "package"), [("html", "lxml"), ("pdf", "pypdf"), ("xlsx", "openpyxl")]
)
def test_a_package_that_is_missing_is_named_with_the_cure(
    format: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = read_document.load_reader(format).__module__
    monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnreadableError) as error:
        read_document.load_reader(format)
    assert str(error.value) == f"{package} is not installed: pip install 'deepdiver-research'"


def test_pages_from_the_web_need_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "deepdiver.tools.extract.readers.web_page", raising=False)
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(UnreadableError) as error:
        read_document.load_reader("html", "https://a.example/")
    assert (
        str(error.value) == "trafilatura is not installed: pip install 'deepdiver-research[search]'"
    )
    assert read("<html><body><p>Read all the same.</p>", "a.html").text == "Read all the same."


def test_a_package_that_a_reader_asks_for_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "defusedxml", None)
    data = making.docx(lambda made: made.add_paragraph("x"))
    assert reason(data, "a.docx") == "defusedxml is not installed: pip install 'deepdiver-research'"


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b"", "a.pdf", "it is empty"),
        (b" \r\n\0", "a.txt", "it is empty"),
        (b"\x89PNG\r\n\x1a\n\0", "a.png", "it is an image"),
        (making.zipped({"a": b"b"}), "a.docx", "it is a zip archive; unpack it first"),
        (b"\0\1\2", "a", "it is not text"),
    ],
)
def test_what_is_no_document(data: bytes, name: str, why: str) -> None:
    assert reason(data, name) == why


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.example/b/c%20d.pdf?x=1#y", "c d.pdf"),
        ("https://a.example/", ""),
        ("", ""),
        ("http://[broken", ""),
    ],
)
def test_names_in_addresses(url: str, name: str) -> None:
    assert read_document.file_name_of(url) == name


def test_the_address_tells_the_format_and_the_title() -> None:
    found = read("a,b\n1,2", url="https://a.example/costs-2025.csv")
    assert (found.format, found.title) == ("csv", "costs 2025")


def test_a_text_that_is_cut_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepdiver.tools.extract.document_draft.LARGEST_TEXT", 1_000)
    found = read("name,count\n" + "Berg,1\n" * 500, "a.csv")
    assert 900 < len(found.text) <= 1_000
    assert found.notes == ["the text is longer than 1,000 bytes; the rest was left out"]


def test_a_heading_far_down_does_not_name_a_plain_text() -> None:
    text = "The ferry sails at noon. " * 40 + "\n\n# Older entries were removed\n"
    assert read(text, "change-log").title == "change log"
    assert read(text, "changelog.md").title == "Older entries were removed"
    assert read("# Ferries\n\n" + text, "changelog").title == "Ferries"
