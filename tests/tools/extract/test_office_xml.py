"""What Office files have in common: properties that are worth telling, charts and diagrams."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import office_xml
from deepdiver.tools.extract.archive import Archive, parse_xml
from deepdiver.tools.extract.document_draft import DocumentDraft
from tests.tools.extract import making

CORE = (
    '<cp:coreProperties xmlns:cp="http://c" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://t">'
    "<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator><dcterms:created>{made}</dcterms:created>"
    "<dc:language>{language}</dc:language></cp:coreProperties>"
)


def told(
    title: str = "", author: str = "", made: str = "", language: str = ""
) -> tuple[str, str, str, str]:
    core = CORE.format(title=title, author=author, made=made, language=language)
    draft = DocumentDraft("docx")
    office_xml.add_properties(draft, Archive(making.zipped({"docProps/core.xml": core})))
    return draft.title, draft.author, draft.published, draft.language


def test_properties() -> None:
    expected = ("Report", "Anna Berg", "", "sv")
    assert told(" Report ", "Anna Berg", "2026-03-04T10:00:00Z", "sv-SE") == expected


@pytest.mark.parametrize("author", ["python-docx", "openpyxl", "Steve Canny", "User", ""])
def test_authors_that_are_programs(author: str) -> None:
    assert told(author=author)[1] == ""


@pytest.mark.parametrize("title", ["PowerPoint Presentation", "untitled", "Document"])
def test_titles_that_say_nothing(title: str) -> None:
    assert told(title=title)[0] == ""


@pytest.mark.parametrize("made", ["2026-03-04T10:00:00Z", "2013-01-27T09:14:16Z", ""])
def test_the_day_on_which_a_file_was_begun_is_not_the_day_of_publication(made: str) -> None:
    assert told(made=made)[2] == ""


def test_without_properties() -> None:
    draft = DocumentDraft("docx")
    office_xml.add_properties(draft, Archive(making.zipped({"a": b""})))
    assert (draft.title, draft.author, draft.published, draft.language) == ("", "", "", "")


def test_broken_properties_are_damage() -> None:
    with pytest.raises(UnreadableError, match="not well formed"):
        office_xml.add_properties(
            DocumentDraft("docx"), Archive(making.zipped({"docProps/core.xml": "<x"}))
        )


CHART = """<c:chartSpace xmlns:c="http://c" xmlns:a="http://a"><c:chart>
<c:title><c:tx><c:rich><a:p><a:r><a:t>Traffic</a:t></a:r></a:p></c:rich></c:tx></c:title>
<c:plotArea><c:barChart>
<c:ser><c:tx><c:strRef><c:strCache>\
<c:pt idx="0"><c:v>Ferries</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strRef><c:strCache>\
<c:pt idx="0"><c:v>Spring</c:v></c:pt><c:pt idx="1"><c:v>Autumn</c:v></c:pt></c:strCache>
</c:strRef></c:cat>
<c:val><c:numRef><c:numCache>\
<c:pt idx="0"><c:v>3</c:v></c:pt><c:pt idx="999999999"><c:v>5</c:v></c:pt></c:numCache>
</c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"""


def test_a_chart() -> None:
    title, rows = office_xml.chart_content(parse_xml(CHART.encode()))
    assert title == ["Traffic"]
    assert rows == [["", "Ferries"], ["Spring", "3"], ["Autumn", ""], ["", "5"]]


def test_a_chart_without_values() -> None:
    assert office_xml.chart_content(None) == ([], [])
    assert office_xml.chart_content(ElementTree.Element("chart")) == ([], [])


def test_a_diagram() -> None:
    space = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    graphic = parse_xml(f'<g {space}><relIds r:dm="r7"/></g>'.encode())
    data = '<d xmlns:a="http://a"><a:p><a:t>Plan</a:t></a:p><a:p><a:t>Do</a:t><a:br/><a:t>it</a:t></a:p><a:p/></d>'
    archive = Archive(making.zipped({"ppt/diagrams/data1.xml": data}))
    assert office_xml.drawing_content(
        archive, graphic, {"r7": ("diagramData", "ppt/diagrams/data1.xml")}
    ) == (
        ["Plan", "Do\nit"],
        [],
    )
    assert office_xml.drawing_content(archive, graphic, {}) == ([], [])
    assert office_xml.drawing_content(archive, graphic, {"r7": ("diagramData", "absent")}) == (
        [],
        [],
    )


def test_a_chart_in_a_document() -> None:
    space = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    graphic = parse_xml(f'<g {space}><chart r:id="r1"/></g>'.encode())
    archive = Archive(making.zipped({"word/charts/c.xml": CHART}))
    assert office_xml.drawing_content(archive, graphic, {"r1": ("chart", "word/charts/c.xml")})[
        0
    ] == ["Traffic"]
