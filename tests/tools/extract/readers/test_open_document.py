"""OpenDocument: texts, presentations and sheets."""

from __future__ import annotations

import pytest

from tests.tools.extract import making
from tests.tools.extract.reading import read, reason


def element(name: str, *inner: str, **attributes: str) -> str:
    """Return an element; an attribute `table_name` is table:name."""
    said = "".join(
        f' {key.replace("_", ":", 1).replace("_", "-")}="{value}"'
        for key, value in attributes.items()
    )
    return f"<{name}{said}>{''.join(inner)}</{name}>"


def paragraph(*inner: str) -> str:
    return element("text:p", *inner)


def items(*inner: str) -> str:
    return element("text:list", *(element("text:list-item", item) for item in inner))


def table(*rows: str, **attributes: str) -> str:
    return element("table:table", *rows, **attributes)


def row(*cells: str, **attributes: str) -> str:
    made = (element("table:table-cell", paragraph(cell)) for cell in cells)
    return element("table:table-row", *made, **attributes)


def test_a_locked_file_says_so() -> None:
    manifest = '<m xmlns="x"><file-entry><encryption-data/></file-entry></m>'
    data = making.open_document("text", **{"META-INF/manifest.xml": manifest})
    assert reason(data, "a.odt") == "it is locked with a password"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "it is damaged: there is no content.xml in it"),
        ("<x>", "it is damaged: its XML is not well formed"),
        ("<x/>", "it is damaged: there is no text in it"),
        (making.open_content(""), "it is empty"),
        (
            '<!DOCTYPE x [<!ENTITY e "ha">]>' + making.open_content(paragraph("&e;"))[38:],
            "it declares XML entities, which a document has no need of",
        ),
    ],
    ids=["missing", "torn", "another", "empty", "entities"],
)
def test_a_damaged_file(content: str | None, why: str) -> None:
    data = making.rezipped(making.open_document("text"), {"content.xml": content})
    assert reason(data, "a.odt").startswith(why)


def test_a_text() -> None:
    note = element(
        "text:note",
        element("text:note-citation", "1"),
        element("text:note-body", paragraph("The board met.")),
    )
    body = (
        element("text:tracked-changes", paragraph("Deleted")),
        element("text:h", "A", element("text:s", text_c="2"), "heading"),
        paragraph(
            f"The <text:span>harbour</text:span> froze.{note} Ice<text:line-break/>for<text:tab/>",
            f"days<office:annotation>{paragraph('Sure?')}</office:annotation>.",
        ),
        items(paragraph("One") + items(paragraph("Inner")), paragraph("Two")),
        element("text:section", paragraph("In a section.")),
    )
    meta = (
        "<dc:title>On ice</dc:title><meta:initial-creator>Anna Berg</meta:initial-creator>"
        "<dc:creator>Bo</dc:creator><dc:language>sv-SE</dc:language>"
        "<meta:creation-date>2020-01-01</meta:creation-date>"
    )
    found = read(making.open_document("text", "".join(body), meta), "a.odt")
    assert found.text == (
        "A heading\n\nThe harbour froze. Ice\nfor\tdays.\n\nFootnote 1: The board met.\n\n"
        "- One\n  - Inner\n- Two\n\nIn a section."
    )
    assert found.marked() == [("heading", "A heading", "A heading")]
    assert (found.title, found.author, found.language, found.published) == (
        "On ice",
        "Anna Berg",
        "sv",
        "",
    )
    assert found.notes == [
        "deleted text that it keeps was left out",
        "its comments were left out",
    ]


def test_tables_in_a_text() -> None:
    head = element("table:table-header-rows", row("Year", "Count"))
    nested = element("table:table-cell", paragraph("x"), table(row("in")))
    body = table(head, row("2024", "7"), element("table:table-row", nested))
    assert read(making.open_document("text", body), "a.odt").text == (
        "| Year | Count\n| Year: 2024 | Count: 7\n| Year: x in"
    )


def test_sheets() -> None:
    empty = element(
        "table:table-row",
        element("table:table-cell", table_number_columns_repeated="16384"),
        table_number_rows_repeated="1048570",
    )
    body = table(
        row("Region", "Sales"),
        row("North", "1,200"),
        row("South", "900", table_number_rows_repeated="2"),
        empty,
        table_name="Sales",
    )
    body += table(row("Only a note"), table_name="Notes")
    found = read(making.open_document("spreadsheet", body), "a.ods")
    south = "| Region: South | Sales: 900\n"
    assert found.text == (
        f"| Region | Sales\n| Region: North | Sales: 1,200\n{south}{south}\nOnly a note"
    )
    assert [(kind, label) for kind, label, _ in found.marked()] == [
        ("sheet", "Sales"),
        ("sheet", "Notes"),
    ]


@pytest.mark.parametrize("said", ["999999999", "99999999999999999999", "-1", "x", "٣"])
def test_repetitions_are_bounded(said: str) -> None:
    cell = element("table:table-cell", paragraph("7"), table_number_columns_repeated=said)
    body = table(element("table:table-row", cell, table_number_rows_repeated=said))
    found = read(making.open_document("spreadsheet", body), "a.ods")
    assert 1 <= found.text.count("7") <= 64 * 64


def test_a_presentation() -> None:
    def frame(text: str, role: str) -> str:
        return element("draw:frame", element("draw:text-box", text), presentation_class=role)

    body = element(
        "draw:page",
        frame(paragraph("Ferries"), "title"),
        frame(items(paragraph("Two sail")), "outline"),
        element("presentation:notes", frame(paragraph("Say why."), "notes")),
    )
    body += element("draw:page", element("draw:frame", "<draw:object/>"), paragraph("Last"))
    found = read(making.open_document("presentation", body), "a.odp")
    assert found.text == "Ferries\n\n- Two sail\n\nNotes:\n\nSay why.\n\nLast"
    assert found.marked() == [
        ("slide", "1", "Ferries"),
        ("heading", "Ferries", "Ferries"),
        ("slide", "2", "Last"),
    ]
    assert (found.title, found.notes) == ("Ferries", ["its charts and formulas were left out"])


def test_a_single_file_of_xml() -> None:
    data = making.flat_open_document("text", element("text:h", "Name") + paragraph("Words."))
    found = read(data, "a.fodt")
    assert (found.format, found.text, found.title) == ("odt", "Name\n\nWords.", "Name")
    assert reason(data[:-40], "a.fodt").startswith("it is damaged: its XML is not well formed")


def test_depth_is_no_harm() -> None:
    body = "<text:section>" * 5_000 + paragraph("deep") + "</text:section>" * 5_000
    assert read(making.open_document("text", body), "a.odt").text == "deep"
