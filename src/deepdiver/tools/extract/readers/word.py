"""Documents of Word.

Paragraphs, headings, lists, tables and footnotes in the order in which they are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import office_xml, table
from deepdiver.tools.extract.archive import Archive, local_name
from deepdiver.tools.extract.document_draft import DocumentDraft

_MAIN = "word/document.xml"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(
    r"(?:heading|titre|überschrift|título|titolo|rubrik|kop) ?\d|title|titel", re.I
)
_SAID = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_word(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a document of Word."""
    archive = Archive(data)
    root = archive.xml(_MAIN)
    body = (
        None
        if root is None
        else next((item for item in root if local_name(item.tag) == "body"), None)
    )
    if body is None:
        raise UnreadableError(f"it is damaged: there is no {_MAIN} in it")
    draft = DocumentDraft(format)
    office_xml.add_properties(draft, archive)
    _Reader(draft, archive).read(body)
    if any(name.startswith(("word/header", "word/footer")) for name in archive.names):
        draft.note("headers and footers of its pages were left out")
    if "word/comments.xml" in archive.names:
        draft.note("its comments were left out")
    return draft


class _Reader:
    """Goes through a document's body."""

    def __init__(self, draft: DocumentDraft, archive: Archive) -> None:
        self._draft = draft
        self._archive = archive
        self._related = archive.related(_MAIN)
        self._headings = _heading_styles(archive.xml("word/styles.xml"))
        self._footnotes = {
            **_footnotes(archive.xml("word/footnotes.xml"), "footnote"),
            **_footnotes(archive.xml("word/endnotes.xml"), "endnote"),
        }
        self._listed = False
        self._noted = 0

    def read(self, body: Any) -> None:
        for element in _blocks(body, "p", "tbl"):
            if local_name(element.tag) == "p":
                self._paragraph(element)
            else:
                self._listed = False
                table.add_table(self._draft, _rows(element))
            self._below(element)

    def _paragraph(self, element: Any) -> None:
        text = _text(element).strip()
        style = _value(element, "pStyle")
        if not text:
            return
        if style in self._headings or _child(element, "outlineLvl") is not None:
            self._draft.add_heading(text)
            self._listed = False
        elif _child(element, "numPr") is not None or style.startswith("List"):
            self._draft.add(f"- {text}", "\n" if self._listed else "\n\n")
            self._listed = True
        else:
            self._draft.add(text)
            self._listed = False

    def _below(self, element: Any) -> None:
        """Add what an element refers to and shows elsewhere: footnotes, charts, diagrams."""
        for item in _visible(element):
            name = local_name(item.tag)
            if name in ("footnoteReference", "endnoteReference"):
                note = self._footnotes.get((name.removesuffix("Reference"), item.get(_W + "id")))
                if note:
                    self._noted += 1
                    self._draft.add(f"Footnote {self._noted}: {note}")
                    self._listed = False
            elif name == "graphicData":
                lines, rows = office_xml.drawing_content(self._archive, item, self._related)
                for line in lines:
                    self._draft.add(line)
                table.add_table(self._draft, rows, head=True)
                self._listed = self._listed and not lines and not rows


def _blocks(body: Any, *kinds: str) -> Iterator[Any]:
    """Give the parts of a body, a table or a row that are of some kinds, also those within frames for content."""
    left = list(reversed(list(body)))
    while left:
        element = left.pop()
        name = local_name(element.tag)
        if name in kinds:
            yield element
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            left.extend(reversed(list(element)))


def _visible(element: Any) -> Iterator[Any]:
    """Give an element and all within it, in order, but what was deleted and what stands there for older programs."""
    left = [element]
    while left:
        item = left.pop()
        if local_name(item.tag) not in ("del", "moveFrom", "Fallback"):
            yield item
            left.extend(reversed(list(item)))


def _text(element: Any) -> str:
    said = []
    for item in _visible(element):
        name = local_name(item.tag)
        if name == "t" and item.tag.startswith(_W):
            said.append(item.text or "")
        elif name == "p" and item is not element:  # a text box
            said.append("\n")
        elif item.tag == _W + name:
            said.append(_SAID.get(name, ""))
    return "".join(said)


def _rows(element: Any) -> Iterator[list[str]]:
    for row in _blocks(element, "tr"):
        cells = []
        for cell in _blocks(row, "tc"):
            cells.append(_text(cell))
            span = _value(cell, "gridSpan")
            cells += [""] * (min(int(span), 64) - 1 if span.isdigit() else 0)
        yield cells


def _child(paragraph: Any, name: str) -> Any:
    """Return a property of a paragraph or a cell."""
    for outer in paragraph:
        if local_name(outer.tag) in ("pPr", "tcPr"):
            return next((item for item in outer if local_name(item.tag) == name), None)
    return None


def _value(paragraph: Any, name: str) -> str:
    found = _child(paragraph, name)
    return "" if found is None else str(found.get(_W + "val") or "")


def _heading_styles(root: Any) -> frozenset[str]:
    """Return the ids of the styles that are headings by name, by level, or by what they are based on."""
    based: dict[str, str] = {}
    found: set[str] = set()
    for style in () if root is None else root:
        key = str(style.get(_W + "styleId") or "")
        parts = {local_name(item.tag): item for item in style}
        named = str(parts["name"].get(_W + "val") or "") if "name" in parts else ""
        if "basedOn" in parts:
            based[key] = str(parts["basedOn"].get(_W + "val") or "")
        if _HEADING.fullmatch(named) or (_child(style, "outlineLvl") is not None):
            found.add(key)
    for key in based:
        at, seen = key, {key}
        while (at := based.get(at, "")) and at not in seen:
            seen.add(at)
            if at in found:
                found.add(key)
                break
    return frozenset(found)


def _footnotes(root: Any, kind: str) -> dict[tuple[str, str], str]:
    found = {}
    for note in () if root is None else root:
        if not note.get(_W + "type"):  # the others are the lines that part notes from the page
            found[kind, str(note.get(_W + "id"))] = _text(note).strip()
    return found
