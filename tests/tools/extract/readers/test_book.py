"""Books.

Chapters in order, headings marked, and names from the contents where a chapter has none.
"""

from __future__ import annotations

import pytest

from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

CHAPTERS = {
    "one.xhtml": '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE '
    "html><html><head><title>no</title></head><body>"
    "<h1>The ice</h1><p>It came in <i>March</i>.</p><p>It stayed.</p></body></html>",
    "part two.xhtml": "<html><body><p>No heading here: "
    "“Vantskär”.</p><ul><li>one</li><li>two</li></ul></body></html>",
    "empty.xhtml": "<html><body></body></html>",
}
BOOK = making.epub(
    {name.replace(" ", "%20"): text for name, text in CHAPTERS.items() if " " not in name}
    | {"part-two.xhtml": CHAPTERS["part two.xhtml"]},
    {"one.xhtml": "Chapter I", "part-two.xhtml": "The thaw"},
)


def test_a_book() -> None:
    found = read(BOOK, "a.epub")
    assert found.text == (
        "The ice\n\nIt came in March.\n\nIt stayed.\n\nNo heading here: “Vantskär”.\n\n- one\n- two"
    )
    assert found.marked() == [
        ("heading", "The ice", "The ice"),
        ("heading", "The thaw", "No heading here: “Vantskär”."),
    ]
    assert (found.format, found.title, found.author) == ("epub", "The Frozen Harbour", "Anna Berg")
    assert (found.publisher, found.published, found.language) == ("Holm Press", "2021-05-06", "en")


def test_contents_of_the_new_kind() -> None:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="a" href="text/a.html"/><item id="nav" href="nav.html" '
        'properties="nav"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="absent"/></spine></package>'
    )
    data = making.zipped(
        {
            "META-INF/container.xml": making.CONTAINER,
            "OEBPS/book.opf": package,
            "OEBPS/nav.html": '<html><body><nav><a href="text/a.html#x">The  '
            "<b>ice</b></a></nav></body></html>",
            "OEBPS/text/a.html": "<html><body><p>It came.</p></body></html>",
        }
    )
    assert read(data, "a.epub").marked() == [("heading", "The ice", "It came.")]


def test_a_chapter_that_is_missing_is_said() -> None:
    data = making.rezipped(BOOK, {"OEBPS/one.xhtml": None})
    found = read(data, "a.epub")
    assert found.text.startswith("No heading here")
    assert found.notes == ["the chapter Chapter I is missing"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"OEBPS/book.opf": None}, "it is damaged: there is no list of its chapters"),
        ({"META-INF/container.xml": "<x/>"}, "it is damaged: there is no list of its chapters"),
        ({"META-INF/rights.xml": "<x/>"}, "it is locked by its seller (DRM)"),
        ({"OEBPS/one.xhtml": "", "OEBPS/part-two.xhtml": "<p></p>"}, "it is empty"),
    ],
)
def test_what_cannot_be_read(change: dict[str, str | None], why: str) -> None:
    assert reason(making.rezipped(BOOK, change), "a.epub") == why
