"""Presentations: the text, tables, charts, diagrams and speaker's notes of each slide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import office_xml, table
from deepdiver.tools.extract.archive import Archive, elements, local_name
from deepdiver.tools.extract.document_draft import DocumentDraft

_MAIN = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
MOST_SLIDES = 5_000


def read_slides(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a presentation."""
    archive = Archive(data)
    root = archive.xml(_MAIN)
    if root is None:
        raise UnreadableError(f"it is damaged: there is no {_MAIN} in it")
    draft = DocumentDraft(format)
    office_xml.add_properties(draft, archive)
    related = archive.related(_MAIN)
    ids = [office_xml.relation_id(item) for item in elements(root, "sldId")]
    members = [related[key][1] for key in ids if key in related]
    if len(members) > MOST_SLIDES:
        draft.note(f"of {len(members):,} slides the first {MOST_SLIDES:,} were read")
    for number, member in enumerate(members[:MOST_SLIDES], start=1):
        draft.mark_next("slide", str(number))
        try:
            _slide(draft, archive, member)
        except UnreadableError as error:
            draft.note(f"slide {number} could not be read: {error}")
    return draft


def _slide(draft: DocumentDraft, archive: Archive, member: str) -> None:
    root = archive.xml(member)
    if root is None:
        raise UnreadableError("it is missing")
    related = archive.related(member)
    for shape in _shapes(root):
        if local_name(shape.tag) == "graphicFrame":
            _frame(draft, archive, shape, related)
        else:
            _said(draft, shape)
    for kind, notes in related.values():
        if kind == "notesSlide" and (page := archive.xml(notes)) is not None:
            _add_notes(draft, page)


def _add_notes(draft: DocumentDraft, page: Any) -> None:
    lines = [
        line
        for shape in _shapes(page)
        if _place(shape) not in _FURNITURE
        for line in office_xml.drawing_paragraphs(shape)
    ]
    if lines:
        draft.add("Notes: " + "\n".join(lines))


def _shapes(root: Any) -> Iterator[Any]:
    """Yield the shapes of a slide in order, including those in groups."""
    left = [root]
    while left:
        item = left.pop()
        name = local_name(item.tag)
        if name in ("sp", "graphicFrame"):
            yield item
        elif name != "Fallback":
            left.extend(reversed(list(item)))


def _place(shape: Any) -> str:
    """Return the kind of placeholder of a shape: title, body, sldNum and so on; empty if none."""
    found = next(elements(shape, "ph"), None)
    return "" if found is None else str(found.get("type") or "body")


def _said(draft: DocumentDraft, shape: Any) -> None:
    lines = office_xml.drawing_paragraphs(shape)
    place = _place(shape)
    if not lines or place in _FURNITURE:
        return
    if place in _TITLES:
        draft.add_heading(" ".join(" ".join(lines).split()))
    elif len(lines) == 1:
        draft.add(lines[0])
    else:
        for at, line in enumerate(lines):
            draft.add(f"- {line}", "\n" if at else "\n\n")


def _frame(
    draft: DocumentDraft, archive: Archive, frame: Any, related: dict[str, tuple[str, str]]
) -> None:
    rows = [
        [
            " ".join(office_xml.drawing_paragraphs(cell))
            for cell in row
            if local_name(cell.tag) == "tc"
        ]
        for row in elements(frame, "tr")
    ]
    if rows:
        table.add_table(draft, rows)
        return
    lines, rows = office_xml.drawing_content(archive, frame, related)
    for line in lines:
        draft.add(line)
    table.add_table(draft, rows, head=True)
