"""Books (EPUB).

The chapters in the order of reading, with the table of contents' names where a chapter has none.
"""

from __future__ import annotations

from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import html_tree
from deepdiver.tools.extract.archive import Archive, local_name, member_at
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft

_CONTAINER = "META-INF/container.xml"
MOST_CHAPTERS = 5_000


def read_book(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a book."""
    archive = Archive(data)
    if "META-INF/rights.xml" in archive.names:
        raise UnreadableError("it is locked by its seller (DRM)")
    package, root = _package(archive)
    draft = DocumentDraft(format)
    _properties(draft, root)
    items = {item.get("id"): item for item in root.iter() if local_name(item.tag) == "item"}
    names = _contents(archive, package, items)
    spine = [item.get("idref") for item in root.iter() if local_name(item.tag) == "itemref"]
    for key in spine[:MOST_CHAPTERS]:
        if key in items:
            member = member_at(package, items[key].get("href") or "")
            _chapter(draft, archive, member, names.get(member, ""))
    if len(spine) > MOST_CHAPTERS:
        draft.note(f"of {len(spine):,} chapters the first {MOST_CHAPTERS:,} were read")
    return draft


def _package(archive: Archive) -> tuple[str, Any]:
    """Return the name and the root of the part that says what the book consists of."""
    container = archive.xml(_CONTAINER)
    named = [
        item.get("full-path") or ""
        for item in container.iter()
        if local_name(item.tag) == "rootfile"
    ]
    root = archive.xml(named[0]) if named else None
    if root is None:
        raise UnreadableError("it is damaged: there is no list of its chapters")
    return named[0], root


def _properties(draft: DocumentDraft, root: Any) -> None:
    told: dict[str, str] = {}
    for item in root.iter():
        if isinstance(item.tag, str) and item.tag.startswith("{http://purl.org/dc/"):
            told.setdefault(local_name(item.tag), (item.text or "").strip())
    draft.title = told.get("title", "")
    draft.author = told.get("creator", "")
    draft.publisher = told.get("publisher", "")
    draft.published = told.get("date", "")[:10]
    draft.language = told.get("language", "")[:2].lower()


def _contents(archive: Archive, package: str, items: dict[Any, Any]) -> dict[str, str]:
    """Return what the table of contents calls each chapter, old style (ncx) or new (nav)."""
    found: dict[str, str] = {}
    for item in items.values():
        member = member_at(package, item.get("href") or "")
        if (
            item.get("media-type") == "application/x-dtbncx+xml"
            and (root := archive.xml(member)) is not None
        ):
            for point in (point for point in root.iter() if local_name(point.tag) == "navPoint"):
                label = next(
                    (part.text or "" for part in point.iter() if local_name(part.tag) == "text"), ""
                )
                target = next(
                    (
                        part.get("src") or ""
                        for part in point.iter()
                        if local_name(part.tag) == "content"
                    ),
                    "",
                )
                found.setdefault(member_at(member, target), label.strip())
        elif "nav" in (item.get("properties") or "").split():
            tree = (
                html_tree.parse_html(decode(archive.read(member))[0])
                if member in archive.names
                else None
            )
            for link in () if tree is None else tree.iter("a"):
                found.setdefault(
                    member_at(member, link.get("href") or ""),
                    " ".join("".join(link.itertext()).split()),
                )
    return found


def _chapter(draft: DocumentDraft, archive: Archive, member: str, named: str) -> None:
    if member not in archive.names:
        draft.note(f"the chapter {named or member} is missing")
        return
    tree = html_tree.parse_html(decode(archive.read(member))[0])
    body = None if tree is None else tree.find("body")
    if body is None:
        return
    if named and next(body.iter("h1", "h2", "h3", "h4", "h5", "h6"), None) is None:
        draft.mark_next("heading", named)
    html_tree.add_html(draft, body)
