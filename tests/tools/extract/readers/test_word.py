"""Word: what is read in Word is read here, in its order, also where python-docx would not look."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tools.extract import making
from tests.tools.extract.reading import read, reason

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def build(made: Any) -> None:
    made.core_properties.title = "Harbour report"
    made.core_properties.author = "Anna Berg"
    made.add_heading("Harbour report", 0)
    made.add_heading("What happened", 1)
    made.add_paragraph("The harbour of Vantskär froze on ").add_run("3 March").bold = True
    made.add_paragraph("The ferry stayed.", style="List Bullet")
    made.add_paragraph("Nobody was hurt.", style="List Number")
    made.add_paragraph("")
    table = made.add_table(3, 2)
    for row, cells in enumerate([("Year", "Passengers"), ("2024", "1,200"), ("2025", "1,350")]):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    made.add_paragraph("The end.\tOr not.")


TEXT = (
    "Harbour report\n\nWhat happened\n\nThe harbour of Vantskär froze on 3 March\n\n"
    "- The ferry stayed.\n- Nobody was hurt."
    "\n\n| Year | Passengers\n| Year: 2024 | Passengers: 1,200\n| Year: 2025 | Passengers: "
    "1,350\n\nThe end.\tOr not."
)


def body(content: str, **more: str) -> bytes:
    good = making.docx(lambda made: made.add_paragraph("x"))
    document = f"<w:document {W}><w:body>{content}</w:body></w:document>"
    return making.rezipped(
        good,
        {
            "word/document.xml": document,
            **{f"word/{name}.xml": part for name, part in more.items()},
        },
    )


def p(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_a_document() -> None:
    found = read(making.docx(build), "a.docx")
    assert found.text == TEXT
    assert found.marked() == [
        ("heading", "Harbour report", "Harbour report"),
        ("heading", "What happened", "What happened"),
    ]
    assert (found.format, found.title, found.author) == ("docx", "Harbour report", "Anna Berg")


def test_what_a_program_fills_in_is_not_told() -> None:
    found = read(making.docx(lambda made: made.add_paragraph("Text.")), "the-report.docx")
    assert (found.title, found.author, found.published) == ("the report", "", "")


def test_tracked_changes_links_and_frames() -> None:
    content = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone </w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>added "
        "</w:t></w:r></w:ins><w:hyperlink><w:r><w:t>linked</w:t></w:r></w:hyperlink></w:p>"
        f"<w:sdt><w:sdtContent>{p('in a frame')}</w:sdtContent></w:sdt>"
        "<w:p><w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:noBreakHyphen/><w:t>three</w:t></w:r></w:p>"
    )
    assert read(body(content), "a.docx").text == "kept added linked\n\nin a frame\n\none\ntwo-three"


def test_a_text_box_is_read_once() -> None:
    box = "<w:txbxContent>" + p("in the box") + "</w:txbxContent>"
    space = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    choices = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    twice = f"<mc:AlternateContent {space}>{choices}</mc:AlternateContent>"
    assert (
        read(body(f"<w:p><w:r><w:t>host</w:t>{twice}</w:r></w:p>"), "a.docx").text
        == "host\nin the box"
    )


def test_footnotes_follow_their_paragraph() -> None:
    notes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="0">{p("---")}</w:footnote>'
        f'<w:footnote w:id="2">{p("According to Berg.")}</w:footnote></w:footnotes>'
    )
    content = '<w:p><w:r><w:t>It froze.</w:t><w:footnoteReference w:id="2"/></w:r></w:p>' + p(
        "Then it thawed."
    )
    found = read(body(content, footnotes=notes), "a.docx")
    assert found.text == "It froze.\n\nFootnote 1: According to Berg.\n\nThen it thawed."


def test_headings_by_level_and_by_what_their_style_is_based_on() -> None:
    styles = (
        f'<w:styles {W}><w:style w:styleId="H"><w:name w:val="heading 2"/></w:style>'
        '<w:style w:styleId="Mine"><w:name w:val="My own"/><w:basedOn w:val="H"/></w:style>'
        '<w:style w:styleId="Ring"><w:name w:val="r"/><w:basedOn '
        'w:val="Ring"/></w:style></w:styles>'
    )
    content = (
        p("Mine", '<w:pStyle w:val="Mine"/>')
        + p("Ring", '<w:pStyle w:val="Ring"/>')
        + p("Level", '<w:outlineLvl w:val="1"/>')
        + p("Item", "<w:numPr/>")
    )
    found = read(body(content, styles=styles), "a.docx")
    assert found.text == "Mine\n\nRing\n\nLevel\n\n- Item"
    assert [label for _, label, _ in found.marked()] == ["Mine", "Level"]


def test_a_table_in_a_table_is_read_once() -> None:
    inner = "<w:tbl><w:tr><w:tc>" + p("inner") + "</w:tc></w:tr></w:tbl>"
    content = f"<w:tbl><w:tr><w:tc>{p('a')}{inner}</w:tc><w:tc>{p('b')}</w:tc></w:tr></w:tbl>"
    assert read(body(content), "a.docx").text == "| a inner | b"


def test_wide_cells_keep_their_columns() -> None:
    wide = '<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>' + p("wide") + "</w:tc>"
    cell = "<w:tc>{}</w:tc>"
    rows = [[cell.format(p(name)) for name in ("Name", "Age", "Town")], [wide, cell.format(p("x"))]]
    content = "<w:tbl>" + "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in rows) + "</w:tbl>"
    assert read(body(content), "a.docx").text == "| Name | Age | Town\n| Name: wide | Town: x"


def test_what_is_left_out_is_said() -> None:
    found = read(body(p("text"), header1=f"<w:hdr {W}/>", comments=f"<w:comments {W}/>"), "a.docx")
    assert found.notes == [
        "headers and footers of its pages were left out",
        "its comments were left out",
    ]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"word/document.xml": "<x/>"}, "it is damaged: there is no word/document.xml in it"),
        (
            {"word/document.xml": "<x>"},
            "it is damaged: its XML is not well formed (no element found: line 1, column 3)",
        ),
    ],
)
def test_damage_says_so(change: dict[str, str], why: str) -> None:
    assert reason(making.rezipped(making.docx(build), change), "a.docx") == why


def test_an_empty_document() -> None:
    assert reason(making.docx(lambda made: None), "a.docx") == "it is empty"


def test_links_and_notes_are_kept_in_their_places_where_they_are_asked_for() -> None:
    space = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    link = f'<w:hyperlink {space} r:id="rIdX"><w:r><w:t>froze</w:t></w:r></w:hyperlink>'
    inner = f'<w:hyperlink {space} r:id="gone"><w:r><w:t> here</w:t></w:r></w:hyperlink>'
    content = (
        p("Report", '<w:outlineLvl w:val="0"/>')
        + f"<w:p><w:r><w:t>It </w:t></w:r>{link}{inner}<w:r>"
        '<w:t>.</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    notes = (
        f'<w:footnotes {W}><w:footnote w:id="2"><w:p>{link.replace("froze", "Berg")}</w:p>'
        "</w:footnote></w:footnotes>"
    )
    relation = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rIdX" TargetMode="External" Target="https://e.org/a"/></Relationships>'
    )
    data = making.rezipped(
        body(content, footnotes=notes),
        {
            "word/_rels/document.xml.rels": relation,
            "word/_rels/footnotes.xml.rels": relation,
        },
    )
    assert read(data, "a.docx", links=True).text == (
        "# Report\n\nIt [froze](https://e.org/a) here.[^footnote2]\n\n"
        "[^footnote2]: [Berg](https://e.org/a)"
    )
    assert read(data, "a.docx").text == "Report\n\nIt froze here.\n\nFootnote 1: Berg"
