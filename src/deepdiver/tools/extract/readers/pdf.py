"""PDF: the text of each page with its line ends, marked with its number, and the headings."""

from __future__ import annotations

import io
import re
from typing import Any

from pypdf import PdfReader
from pypdf.errors import DependencyError, PyPdfError

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import page_layout, pdf_links
from deepdiver.tools.extract.document_draft import DocumentDraft, clean_text

MOST_PAGES = 5_000
MOST_HEADINGS = 2_000
PUTTING = 1.0
"""Seconds that are kept for putting the pages together once they are read."""
SCANNED = "it holds no text, only pictures of pages (a scan); run it through text recognition first"
_PROGRAM = re.compile(
    r"^Microsoft (?:Word|PowerPoint|Excel) - |\.(?:docx?|pptx?|xlsx?|indd|tex|dvi|pdf)$", re.I
)
_NO_TITLE = frozenset(
    {
        "untitled",
        "document",
        "(anonymous)",
        "anonymous",
        "unspecified",
        "presentation",
        "(unspecified)",
    }
)
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
"""Ligatures, and the letters that people type when they search."""
_BROKEN = (
    *(PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError),
    NotImplementedError,
)
"""Errors of pypdf at a broken object, which costs a page or the properties, not the document."""


def read_pdf(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a PDF."""
    return _read(data, format, links=False)


def read_linked_pdf(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a PDF with its links and raised numbers in their places, as Markdown has them."""
    return _read(data, format, links=True)


def _read(data: bytes, format: str, *, links: bool) -> DocumentDraft:
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("it is locked with a password")
        count = len(reader.pages)
    except DependencyError:
        raise UnreadableError("it is encrypted with AES: pip install 'pypdf[crypto]'") from None
    except PyPdfError as error:
        raise UnreadableError(
            f"it is damaged: {str(error)[:200] or type(error).__name__}"
        ) from None
    draft = DocumentDraft(format)
    _properties(draft, reader)
    if count > MOST_PAGES:
        draft.note(f"of {count:,} pages the first {MOST_PAGES:,} were read")
    pages: list[list[page_layout.Line]] = []
    while len(pages) < min(count, MOST_PAGES) and draft.seconds_left() > PUTTING:
        pages.append(_lines(draft, reader, len(pages), links=links))
    if len(pages) < min(count, MOST_PAGES):
        draft.note(f"of {count:,} pages the first {len(pages):,} were read: they take too long")
    usual = page_layout.usual_look(pages)
    outline = _outline(draft, reader)
    starts = [
        _page(draft, page, number, usual, mark=not outline, links=links)
        for number, page in enumerate(pages, start=1)
    ]
    if draft.empty:
        raise UnreadableError(SCANNED if count else "it holds no pages")
    _mark_outline(draft, outline, starts)
    return draft


def _lines(
    draft: DocumentDraft, reader: PdfReader, number: int, *, links: bool
) -> list[page_layout.Line]:
    """Return the lines of a page with their sizes and positions, or without if they are unclear."""
    pieces: list[tuple[str, float, float, bool]] = []
    starts: list[float] = []

    def visit(text: str, outer: list[float], inner: list[float], font: Any, size: float) -> None:
        scale = abs(inner[3] or inner[1]) * abs(outer[3] or outer[1])
        starts.append(inner[4] * outer[0] + outer[4])
        bold = "bold" in str((font or {}).get("/BaseFont", "")).lower()
        pieces.append(
            (clean_text(text), round(size * scale, 1), inner[5] * outer[3] + outer[5], bold)
        )

    try:
        text = clean_text(reader.pages[number].extract_text(visitor_text=visit))
    except _BROKEN as error:
        draft.note(f"page {number + 1} could not be read: {type(error).__name__}")
        return []
    if text != "".join(piece[0] for piece in pieces):
        pieces = [(text, 0.0, 0.0, False)]
    elif links:
        pieces = pdf_links.write_links(pieces, starts, _targets(reader, number))
    return page_layout.join_lines((piece[0].translate(_LIGATURES), *piece[1:]) for piece in pieces)


def _targets(reader: PdfReader, number: int) -> list[pdf_links.Target]:
    """Return the addresses that a page links to, with the places of the links."""
    found = []
    try:
        for item in reader.pages[number].get("/Annots") or ():
            note = item.get_object()
            address = (note.get("/A") or {}).get("/URI")
            if address and note.get("/Rect"):
                left, bottom, right, top = (float(side) for side in note["/Rect"])
                place = (min(left, right), min(bottom, top), max(left, right), max(bottom, top))
                found.append(pdf_links.Target(str(address), *place))
    except (*_BROKEN, RecursionError):
        return found
    return found


def _page(
    draft: DocumentDraft,
    page: list[page_layout.Line],
    number: int,
    usual: page_layout.UsualLook,
    *,
    mark: bool,
    links: bool,
) -> int:
    """Add one page, and return the offset of its beginning."""
    draft.mark_next("page", str(number))
    start = draft.length + 2 if draft.length else 0
    for text, heads in page_layout.paragraphs_of(page, usual):
        if heads and mark:
            draft.mark_next("heading", text)
        draft.add(f"# {' '.join(text.split())}" if heads and links else text)
    return start


def _properties(draft: DocumentDraft, reader: PdfReader) -> None:
    # The day on which a program made the file is not the day of publication.
    try:
        told: dict[str, Any] = dict(reader.metadata or {})
        title, author = (str(told.get(key) or "") for key in ("/Title", "/Author"))
    except (*_BROKEN, RecursionError):
        draft.note("its properties could not be read")
        return
    title = _PROGRAM.sub("", title.strip())
    draft.title = "" if title.lower() in _NO_TITLE else title
    draft.author = "" if author.strip().lower() in _NO_TITLE else author.strip()


def _outline(draft: DocumentDraft, reader: PdfReader) -> list[tuple[int, str]]:
    """Return the headings of the outline as (page, label), counting pages from 0."""
    found = []
    try:
        for entry in _flat(reader.outline)[:MOST_HEADINGS]:
            page = reader.get_destination_page_number(entry)
            label = " ".join(str(entry.title or "").split())
            if page is not None and page >= 0 and label:
                found.append((page, label))
    except (*_BROKEN, RecursionError):
        draft.note("its outline could not be read")
    return found


def _mark_outline(draft: DocumentDraft, outline: list[tuple[int, str]], starts: list[int]) -> None:
    """Mark the headings of the outline at their place on the page, or where the page begins."""
    text = draft.text
    for page, label in outline:
        if page < len(starts) and starts[page] < len(text):
            end = starts[page + 1] if page + 1 < len(starts) else len(text)
            found = text.find(label, starts[page], end)
            draft.mark_at(found if found >= 0 else starts[page], "heading", label)


def _flat(outline: Any) -> list[Any]:
    found: list[Any] = []
    left = [outline]
    while left:
        entry = left.pop()
        if isinstance(entry, list):
            left.extend(reversed(entry))
        else:
            found.append(entry)
    return found
