"""A report as a Word document: real headings, lists, tables, footnotes and pictures; no macros.

python-docx makes all of it but the footnotes, which it cannot write; their part is made here.
"""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from deepdiver.core.shown_text import one_line
from deepdiver.errors import UsageError
from deepdiver.report.exports.layout import Element, Layout, Line, Piece, lay_out
from deepdiver.report.exports.package import Saved, zipped
from deepdiver.report.exports.pdf import column_widths, is_right_to_left
from deepdiver.report.exports.raster import WIDTH_CM, draw_png
from deepdiver.report.figures.pictures import Pictures, draw_pictures
from deepdiver.report.figures.svg import Picture
from deepdiver.report.sources import QUOTE_CHARS, CitedSource, marks_in

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
_NOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
ACCENT = "0B5A8A"
"""Colour of headings of parts, and of marks."""


MARGIN_CM = 2.5
"""Beside the text of a page of A4."""


def render_word(saved: Saved) -> bytes:
    """Return a report as a Word document, the same bytes each time.

    Raises:
        UsageError: If python-docx is not installed.
    """
    try:
        import docx
    except ImportError:
        raise UsageError(
            "a Word document needs python-docx, which is not installed: "
            "pip install 'deepdiver-research[exports]'"
        ) from None
    document = docx.Document()
    layout = lay_out(saved.report)
    _set_properties(document, saved, layout)
    _set_styles(document)
    drawn = draw_pictures(
        saved.report, saved.ledger, saved.text, scene=saved.scene, history=saved.history
    )
    _Writer(document, layout, drawn).write()
    made = io.BytesIO()
    document.save(made)
    with zipfile.ZipFile(made) as archive:  # without the time of day
        return zipped({name: archive.read(name) for name in archive.namelist()})


def _set_properties(document: Any, saved: Saved, layout: Layout) -> None:
    properties = document.core_properties
    properties.title, properties.subject = layout.title[:255], layout.question[:255]
    properties.author = properties.last_modified_by = "deepdiver"
    properties.comments, properties.keywords = "", f"report {saved.report.hash}"
    made = datetime.fromisoformat(saved.run.created).replace(tzinfo=None)
    properties.created = properties.modified = made


def _set_styles(document: Any) -> None:
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import Cm, Pt, RGBColor

    page = document.sections[0]
    page.page_width, page.page_height = Cm(WIDTH_CM + 2 * MARGIN_CM), Cm(29.7)
    page.left_margin = page.right_margin = Cm(MARGIN_CM)
    styles = document.styles
    body = styles["Normal"]
    body.font.name, body.font.size = "Georgia", Pt(10.5)
    body.paragraph_format.space_after = Pt(6)
    ink = {"Title": "1B1F24", "Heading 1": "1B1F24", "Heading 2": ACCENT}
    for (name, colour), size in zip(ink.items(), (22, 15, 12), strict=True):
        styles[name].font.name, styles[name].font.size = "Georgia", Pt(size)
        styles[name].font.color.rgb, styles[name].font.bold = RGBColor.from_string(colour), True
        fonts = styles[name].element.rPr.rFonts
        for theme in [key for key in fonts.attrib if key.endswith("Theme")]:
            del fonts.attrib[theme]
    note = styles.add_style("Footnote Text", WD_STYLE_TYPE.PARAGRAPH)
    note.base_style, note.font.size = body, Pt(8.5)
    reference = styles.add_style("Footnote Reference", WD_STYLE_TYPE.CHARACTER)
    reference.font.superscript = True
    caption = styles["Caption"]
    caption.font.size, caption.font.bold = Pt(9), False
    caption.font.color.rgb = RGBColor.from_string("5C6570")
    code = styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
    code.base_style, code.font.name, code.font.size = body, "Consolas", Pt(9)


class _Writer:
    """Writes the parts of one document."""

    def __init__(self, document: Any, layout: Layout, drawn: Pictures) -> None:
        self._document, self._layout, self._drawn = document, layout, drawn
        # Looked up once: python-docx reads all styles for each paragraph.
        self._ids = {style.name: style.style_id for style in document.styles}
        self._notes = etree.Element(f"{{{_W}}}footnotes", nsmap={"w": _W})
        for number, kind in ((-1, "separator"), (0, "continuationSeparator")):
            self._add_separator(number, kind)
        self._count = 0
        self._noted: dict[str, int] = {}  # the first note about each passage
        self._told = {
            passage.mark: (source, passage)
            for source in layout.sources
            for passage in source.passages
        }

    def write(self) -> None:
        layout, document = self._layout, self._document
        document.add_heading(layout.title, 0)
        if layout.question:
            document.add_paragraph(layout.question, "Subtitle")
        if layout.note:
            document.add_paragraph().add_run(layout.note).italic = True
        self._fill(document.add_heading("", 1), layout.lead)
        for item in (*layout.answer, *layout.body):
            self._write_element(item)
        for picture in self._drawn.pictures:
            self._write_picture(picture)
        if layout.sources:
            document.add_heading(layout.say("Sources"), 1)
            for source in layout.sources:
                self._write_source(source)
        document.add_heading(layout.say("Evidence view"), 1)
        for item in layout.evidence:
            self._write_element(item)
        for picture in self._drawn.evidence:
            self._write_picture(picture)
        document.add_paragraph(layout.foot)
        self._attach_notes()

    def _write_element(self, item: Element) -> None:
        if item.kind == "heading":
            self._fill(self._document.add_heading("", item.level), item.lines[0])
        elif item.kind == "table":
            self._write_table(item)
        elif item.kind == "code":
            self._document.add_paragraph(item.code, "Code")
            self._write_lines(item.lines, "Normal")
        elif item.picture:
            self._write_picture(item.picture)
        elif item.kind == "steps" or item.apart:
            self._write_lines(_signed(item), "Quote" if item.apart else "Normal")
        else:
            self._write_lines(item.lines, "List Bullet" if item.kind == "list" else "Normal")

    def _write_lines(self, lines: tuple[Line, ...], style: str) -> None:
        for line in lines:
            paragraph = self._document.add_paragraph()
            if style != "Normal":
                paragraph._p.style = self._ids[style]
            self._fill(paragraph, line)

    def _write_table(self, item: Element) -> None:
        from docx.shared import Emu

        rows = (item.header, *item.rows)
        table = self._document.add_table(len(rows), len(item.header), "Table Grid")
        table.autofit = False
        section = self._document.sections[0]
        whole = section.page_width - section.left_margin - section.right_margin
        widths = column_widths(item)
        for own, cells in zip(table.rows, rows, strict=True):
            for cell, line, width in zip(own.cells, cells, widths, strict=True):
                cell.width = Emu(int(whole * width / sum(widths)))
                self._fill(cell.paragraphs[0], line)
            properties = own._tr.get_or_add_trPr()  # no row is broken between two pages
            properties.append(properties.makeelement(f"{{{_W}}}cantSplit", {}))
        heading = table.rows[0]._tr.get_or_add_trPr()  # repeated on each page
        heading.append(heading.makeelement(f"{{{_W}}}tblHeader", {f"{{{_W}}}val": "true"}))
        self._document.add_paragraph("")

    def _write_picture(self, picture: Picture) -> None:
        """Write a picture with its title below it, and in words for those who cannot see it."""
        from docx.shared import Cm

        data = draw_png(picture)
        if data is None:  # a chart says nothing that the table before it does not say
            return
        paragraph = self._document.add_paragraph()
        paragraph.paragraph_format.keep_with_next = True
        shape = paragraph.add_run().add_picture(io.BytesIO(data), Cm(WIDTH_CM))
        told = shape._inline.docPr
        told.set("name", picture.name)
        told.set("descr", one_line(f"{picture.title}. {picture.text}"))
        self._document.add_paragraph(one_line(picture.title), "Caption")

    def _write_source(self, source: CitedSource) -> None:
        say = self._layout.say
        line = [Piece(one_line(source.title), "bold")]
        told = (
            one_line(source.first.credit),
            one_line(source.place),
            one_line(say.recorded(source.kind)),
        )
        line.append(Piece("".join(f" · {part}" for part in told if part)))
        self._write_lines((tuple(line),), "Normal")
        for passage in source.passages:
            where = f" ({one_line(say.place(passage.where))})" if passage.where else ""
            shown = say.quoted(" / ".join(map(one_line, passage.lines)))
            self._write_lines(((Piece(f"[{passage.mark}] {shown}{where}"),),), "Quote")

    def _fill(self, paragraph: Any, line: Line) -> None:
        if is_right_to_left("".join(piece.text for piece in line)):
            properties = paragraph._p.get_or_add_pPr()
            properties.append(properties.makeelement(f"{{{_W}}}bidi", {}))
        before: Piece | None = None
        for piece in line:
            if piece.cites:
                self._refer(paragraph, piece, follows=before is not None and before.cites > 0)
            else:
                run = paragraph.add_run(piece.text)
                run.bold = True if piece.style == "bold" else None
                run.italic = True if piece.style == "note" else None
                run.font.superscript = True if piece.style == "cite" else None
            before = piece

    def _refer(self, paragraph: Any, piece: Piece, *, follows: bool) -> None:
        """Put a footnote for each passage of a citation behind what a paragraph says so far.

        A word may stand before those that a figure was worked out from.
        """
        lead, space, shown = piece.text.strip("[], ").rpartition(" ")
        for place, mark in enumerate(marks_in(shown)):
            apart = "," if follows or place else ""  # 1 and 2 would read as 12
            if told := apart + (f"{space if apart else ''}{lead}{space}" if not place else ""):
                paragraph.add_run(told).font.superscript = True
            self._refer_to(paragraph, mark)

    def _refer_to(self, paragraph: Any, mark: str) -> None:
        """Put a footnote behind what a paragraph says so far."""
        source, passage = self._told[mark]
        self._count += 1
        run = paragraph.add_run()
        run._r.style = self._ids["Footnote Reference"]
        reference = run._r.makeelement(
            f"{{{_W}}}footnoteReference", {f"{{{_W}}}id": str(self._count)}
        )
        run._r.append(reference)
        if earlier := self._noted.get(passage.mark):
            self._add_note(f" [{passage.mark}] {self._layout.say('as in note {}', earlier)}")
            return
        self._noted[passage.mark] = self._count
        named = ", ".join(filter(None, (source.title or source.place, source.first.credit)))
        quoted = one_line(" / ".join(passage.lines), QUOTE_CHARS)
        say = self._layout.say
        where = f" ({one_line(say.place(passage.where))})" if passage.where else ""
        self._add_note(f" [{passage.mark}] {one_line(named)}: {say.quoted(quoted)}{where}")

    def _add_separator(self, number: int, kind: str) -> None:
        note = self._element(self._notes, "footnote", id=str(number), type=kind)
        run = self._element(self._element(note, "p"), "r")
        self._element(run, kind)

    def _add_note(self, text: str) -> None:
        note = self._element(self._notes, "footnote", id=str(self._count))
        paragraph = self._element(note, "p")
        self._element(self._element(paragraph, "pPr"), "pStyle", val="FootnoteText")
        number = self._element(paragraph, "r")
        self._element(self._element(number, "rPr"), "rStyle", val="FootnoteReference")
        self._element(number, "footnoteRef")
        words = self._element(self._element(paragraph, "r"), "t")
        words.text = text
        words.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")

    @staticmethod
    def _element(parent: Any, name: str, **attributes: str) -> Any:
        told = {f"{{{_W}}}{key}": value for key, value in attributes.items()}
        return etree.SubElement(parent, f"{{{_W}}}{name}", told)

    def _attach_notes(self) -> None:
        from docx.opc.packuri import PackURI
        from docx.opc.part import Part

        blob = etree.tostring(self._notes, xml_declaration=True, encoding="UTF-8", standalone=True)
        own = self._document.part
        part = Part(PackURI("/word/footnotes.xml"), _NOTES_TYPE, blob, own.package)
        own.relate_to(part, _NOTES)


def _signed(item: Element) -> tuple[Line, ...]:
    """Return points with their numbers as text: Word would count on from the list before."""
    return tuple(
        (Piece(f"{number}.\u2002" if item.kind == "steps" else "•\u2002"), *line)
        for number, line in enumerate(item.lines, item.start)
    )
