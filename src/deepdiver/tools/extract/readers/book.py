"""Books (EPUB): the chapters in reading order, named as in the table of contents if need be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import html_tree
from deepdiver.tools.extract.archive import Archive, elements, local_name, member_at
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
    items = {item.get("id"): item for item in elements(root, "item")}
    names = _contents(archive, package, items)
    spine = [item.get("idref") for item in elements(root, "itemref")]
    for key in spine[:MOST_CHAPTERS]:
        if key in items:
            member = member_at(package, items[key].get("href") or "")
            _chapter(draft, archive, member, names.get(member, ""))
    if len(spine) > MOST_CHAPTERS:
        draft.note(f"of {len(spine):,} chapters the first {MOST_CHAPTERS:,} were read")
    return draft


def _package(archive: Archive) -> tuple[str, Any]:
    """Return the name and the root of the member that lists the parts of the book."""
    container = archive.xml(_CONTAINER)
    named = [item.get("full-path") or "" for item in elements(container, "rootfile")]
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
    """Return the names of chapters in the table of contents, old style (ncx) or new (nav)."""
    found: dict[str, str] = {}
    for item in items.values():
        member = member_at(package, item.get("href") or "")
        old_style = item.get("media-type") == "application/x-dtbncx+xml"
        entries = _ncx_entries if old_style else _nav_entries
        if old_style or "nav" in (item.get("properties") or "").split():
            for target, label in entries(archive, member):
                found.setdefault(member_at(member, target), label)
    return found


def _ncx_entries(archive: Archive, member: str) -> Iterator[tuple[str, str]]:
    for point in elements(archive.xml(member), "navPoint"):
        label = next(elements(point, "text"), None)
        content = next(elements(point, "content"), None)
        target = "" if content is None else content.get("src") or ""
        yield target, "" if label is None else (label.text or "").strip()


def _nav_entries(archive: Archive, member: str) -> Iterator[tuple[str, str]]:
    if member in archive.names:
        tree = html_tree.parse_html(decode(archive.read(member))[0])
        for link in () if tree is None else tree.iter("a"):
            yield link.get("href") or "", " ".join("".join(link.itertext()).split())


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
