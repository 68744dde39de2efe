"""Slides: the text of each, its tables, charts and diagrams, and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import office, table
from deepdiver.tools.extract.archive import Archive, local
from deepdiver.tools.extract.draft import Draft

_MAIN = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
MOST_SLIDES = 5_000


def read(data: bytes, *, format: str, mime: str = "", name: str = "", url: str = "") -> Draft:
    """Read a presentation."""
    archive = Archive(data)
    root = archive.xml(_MAIN)
    if root is None:
        raise UnreadableError(f"it is damaged: there is no {_MAIN} in it")
    draft = Draft(format)
    office.properties(draft, archive)
    related = archive.related(_MAIN)
    ids = [office.relation(item) for item in root.iter() if local(item.tag) == "sldId"]
    members = [related[key][1] for key in ids if key in related]
    if len(members) > MOST_SLIDES:
        draft.note(f"of {len(members):,} slides the first {MOST_SLIDES:,} were read")
    for number, member in enumerate(members[:MOST_SLIDES], start=1):
        draft.mark("slide", str(number))
        try:
            _slide(draft, archive, member)
        except UnreadableError as error:
            draft.note(f"slide {number} could not be read: {error}")
    return draft


def _slide(draft: Draft, archive: Archive, member: str) -> None:
    root = archive.xml(member)
    if root is None:
        raise UnreadableError("it is missing")
    related = archive.related(member)
    for shape in _shapes(root):
        if local(shape.tag) == "graphicFrame":
            _frame(draft, archive, shape, related)
        else:
            _said(draft, shape)
    for kind, notes in related.values():
        if kind == "notesSlide" and (page := archive.xml(notes)) is not None:
            lines = [
                line
                for shape in _shapes(page)
                if _place(shape) not in _FURNITURE
                for line in office.paragraphs(shape)
            ]
            if lines:
                draft.add("Notes: " + "\n".join(lines))


def _shapes(root: Any) -> Iterator[Any]:
    """Give the shapes of a slide in their order, those in groups among them."""
    left = [root]
    while left:
        item = left.pop()
        name = local(item.tag)
        if name in ("sp", "graphicFrame"):
            yield item
        elif name != "Fallback":
            left.extend(reversed(list(item)))


def _place(shape: Any) -> str:
    """Return what a shape is on its slide.

    Title, body, number and so on; empty if it just stands there.
    """
    found = next((item for item in shape.iter() if local(item.tag) == "ph"), None)
    return "" if found is None else str(found.get("type") or "body")


def _said(draft: Draft, shape: Any) -> None:
    lines = office.paragraphs(shape)
    place = _place(shape)
    if not lines or place in _FURNITURE:
        return
    if place in _TITLES:
        draft.heads(" ".join(" ".join(lines).split()))
    elif len(lines) == 1:
        draft.add(lines[0])
    else:
        for at, line in enumerate(lines):
            draft.add(f"- {line}", "\n" if at else "\n\n")


def _frame(draft: Draft, archive: Archive, frame: Any, related: dict[str, tuple[str, str]]) -> None:
    rows = []
    for row in (item for item in frame.iter() if local(item.tag) == "tr"):
        rows.append([" ".join(office.paragraphs(cell)) for cell in row if local(cell.tag) == "tc"])
    if rows:
        table.fill(draft, rows)
        return
    lines, rows = office.drawn(archive, frame, related)
    for line in lines:
        draft.add(line)
    table.fill(draft, rows, head=True)
