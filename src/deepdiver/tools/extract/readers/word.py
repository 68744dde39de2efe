"""Word documents: paragraphs, headings, lists, tables and footnotes in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
    """Read a Word document."""
    return _read(data, format, links=False)


def read_linked_word(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a Word document with its links and notes in their places, as Markdown has them."""
    return _read(data, format, links=True)


def _read(data: bytes, format: str, *, links: bool) -> DocumentDraft:
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
    _Reader(draft, archive, links).read(body)
    if any(name.startswith(("word/header", "word/footer")) for name in archive.names):
        draft.note("headers and footers of its pages were left out")
    if "word/comments.xml" in archive.names:
        draft.note("its comments were left out")
    return draft


class _Reader:
    """Walks through the body of a document."""

    def __init__(self, draft: DocumentDraft, archive: Archive, links: bool) -> None:
        self._draft = draft
        self._links = archive.linked(_MAIN) if links else None
        self._archive = archive
        self._related = archive.related(_MAIN)
        self._headings = _heading_styles(archive.xml("word/styles.xml"))
        self._footnotes = {
            **_footnotes(archive, "footnote", links),
            **_footnotes(archive, "endnote", links),
        }
        self._listed = False
        self._noted = 0

    def read(self, body: Any) -> None:
        for element in _blocks(body, "p", "tbl"):
            if local_name(element.tag) == "p":
                self._paragraph(element)
            else:
                self._listed = False
                table.add_table(self._draft, _rows(element, self._links))
            self._below(element)

    def _paragraph(self, element: Any) -> None:
        text = _text(element, self._links).strip()
        style = _value(element, "pStyle")
        if not text:
            return
        if style in self._headings or _child(element, "outlineLvl") is not None:
            self._draft.add_heading(text if self._links is None else f"# {text}")
            self._listed = False
        elif _child(element, "numPr") is not None or style.startswith("List"):
            self._draft.add(f"- {text}", "\n" if self._listed else "\n\n")
            self._listed = True
        else:
            self._draft.add(text)
            self._listed = False

    def _below(self, element: Any) -> None:
        """Add the footnotes, charts and diagrams that an element refers to."""
        for item in _visible(element):
            name = local_name(item.tag)
            if name in ("footnoteReference", "endnoteReference"):
                note = self._footnotes.get((name.removesuffix("Reference"), item.get(_W + "id")))
                if note:
                    self._noted += 1
                    label = f"Footnote {self._noted}:"
                    if self._links is not None:
                        label = f"[^{_note_label(item)}]:"
                    self._draft.add(f"{label} {note}")
                    self._listed = False
            elif name == "graphicData":
                lines, rows = office_xml.drawing_content(self._archive, item, self._related)
                for line in lines:
                    self._draft.add(line)
                table.add_table(self._draft, rows, head=True)
                self._listed = self._listed and not lines and not rows


def _blocks(body: Any, *kinds: str) -> Iterator[Any]:
    """Yield the children of some kinds, also those within content controls and insertions."""
    left = list(reversed(list(body)))
    while left:
        element = left.pop()
        name = local_name(element.tag)
        if name in kinds:
            yield element
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            left.extend(reversed(list(element)))


def _visible(element: Any) -> Iterator[Any]:
    """Yield an element and all within it, except deletions and fallbacks for older programs."""
    left = [element]
    while left:
        item = left.pop()
        if local_name(item.tag) not in ("del", "moveFrom", "Fallback"):
            yield item
            left.extend(reversed(list(item)))


def _note_label(reference: Any) -> str:
    kind = local_name(reference.tag).removesuffix("Reference")
    return f"{kind}{reference.get(_W + 'id')}"


def _linked_text(link: Any, links: Mapping[str, str]) -> str:
    """Return a link as Markdown has it, or its text if it leads nowhere outside."""
    said = _text(link)
    url = links.get(office_xml.relation_id(link), "")
    return f"[{said}]({url})" if url and said.strip() else said


def _text(element: Any, links: Mapping[str, str] | None = None) -> str:
    """Return the text of an element; with `links`, with its links and notes in their places."""
    said: list[str] = []
    inside: set[Any] = set()
    for item in _visible(element):
        name = local_name(item.tag)
        if item in inside:
            continue
        if links is not None and name == "hyperlink" and item is not element:
            said.append(_linked_text(item, links))
            inside.update(item.iter())
        elif links is not None and name in ("footnoteReference", "endnoteReference"):
            said.append(f"[^{_note_label(item)}]")
        elif name == "t" and item.tag.startswith(_W):
            said.append(item.text or "")
        elif name == "p" and item is not element:  # a text box
            said.append("\n")
        elif item.tag == _W + name:
            said.append(_SAID.get(name, ""))
    return "".join(said)


def _rows(element: Any, links: Mapping[str, str] | None) -> Iterator[list[str]]:
    for row in _blocks(element, "tr"):
        cells = []
        for cell in _blocks(row, "tc"):
            cells.append(_text(cell, links))
            span = _value(cell, "gridSpan")
            cells += [""] * (min(int(span), 64) - 1 if span.isdigit() else 0)
        yield cells


def _child(paragraph: Any, name: str) -> Any:
    """Return a property of a paragraph or a cell; None if it is not set."""
    for outer in paragraph:
        if local_name(outer.tag) in ("pPr", "tcPr"):
            return next((item for item in outer if local_name(item.tag) == name), None)
    return None


def _value(paragraph: Any, name: str) -> str:
    found = _child(paragraph, name)
    return "" if found is None else str(found.get(_W + "val") or "")


def _heading_styles(root: Any) -> frozenset[str]:
    """Return the ids of styles that are headings by name, by level, or by the style they extend."""
    based: dict[str, str] = {}
    found: set[str] = set()
    for style in () if root is None else root:
        key = str(style.get(_W + "styleId") or "")
        values = {local_name(item.tag): str(item.get(_W + "val") or "") for item in style}
        if "basedOn" in values:
            based[key] = values["basedOn"]
        if _HEADING.fullmatch(values.get("name", "")) or _child(style, "outlineLvl") is not None:
            found.add(key)
    found |= {key for key in based if not found.isdisjoint(_ancestors(key, based))}
    return frozenset(found)


def _ancestors(style: str, based: Mapping[str, str]) -> set[str]:
    """Return the styles that a style extends, directly or not."""
    found: set[str] = set()
    while (style := based.get(style, "")) and style not in found:
        found.add(style)
    return found


def _footnotes(archive: Archive, kind: str, links: bool) -> dict[tuple[str, str], str]:
    part = f"word/{kind}s.xml"
    root, held = archive.xml(part), archive.linked(part) if links else None
    found = {}
    for note in () if root is None else root:
        if not note.get(_W + "type"):  # the others are separator lines
            found[kind, str(note.get(_W + "id"))] = _text(note, held).strip()
    return found
