"""OpenDocument (LibreOffice): texts, presentations and sheets, zipped or as one file of XML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import table
from deepdiver.tools.extract.archive import Archive, elements, local_name, parse_xml
from deepdiver.tools.extract.document_draft import DocumentDraft

MOST_REPEATED = 64
"""The most times that a cell or a row is repeated. A sheet repeats the empty ones at its end up to
its largest size, a million rows."""
MOST_SPACES = 100
_SILENT = frozenset(
    "tracked-changes forms sequence-decls annotation annotation-end desc title notes-citation "
    "note-citation ruby-text".split()
)
"""Elements without text of the document: deleted text, comments, numbers of footnotes."""
_SAID = {"tab": "\t", "line-break": "\n"}


def read_open_document(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read an OpenDocument file."""
    draft = DocumentDraft(format)
    content, meta = _parts(data)
    _add_properties(draft, meta)
    body = next(elements(content, "body"), None)
    if body is None:
        raise UnreadableError("it is damaged: there is no text in it")
    _Reader(draft).read(body)
    if next(elements(body, "tracked-changes"), None) is not None:
        draft.note("deleted text that it keeps was left out")
    if next(elements(body, "annotation"), None) is not None:
        draft.note("its comments were left out")
    if next(elements(body, "object"), None) is not None:
        draft.note("its charts and formulas were left out")
    return draft


def _parts(data: bytes) -> tuple[Any, Any]:
    """Return the roots of the content and of the properties."""
    if not data.startswith(b"PK"):
        root = parse_xml(data)
        return root, root
    archive = Archive(data)
    manifest = archive.xml("META-INF/manifest.xml")
    if next(elements(manifest, "encryption-data"), None) is not None:
        raise UnreadableError("it is locked with a password")
    content = archive.xml("content.xml")
    if content is None:
        raise UnreadableError("it is damaged: there is no content.xml in it")
    return content, archive.xml("meta.xml")


def _add_properties(draft: DocumentDraft, root: Any) -> None:
    # The days on which a file was begun and saved are not the day of publication.
    meta = next(elements(root, "meta"), None)
    told = (
        {} if meta is None else {local_name(item.tag): (item.text or "").strip() for item in meta}
    )
    draft.title = told.get("title", "")
    draft.author = told.get("initial-creator", "") or told.get("creator", "")
    draft.language = told.get("language", "")[:2].lower()


class _Reader:
    """Walks through the body of a document."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._slides = 0
        self._listed = False
        self._noted = 0

    def read(self, body: Any) -> None:
        """Add all blocks below an element, without recursion, however deep they are."""
        left: list[tuple[Any, int]] = [(body, 0)]
        while left:
            element, depth = left.pop()
            name = local_name(element.tag)
            if name in ("h", "p"):
                self._paragraph(element, name == "h", depth)
            elif name == "table":
                self._table(element)
            elif name == "frame" and _attribute(element, "class") == "title":
                self._draft.add_heading(
                    " ".join(" ".join(map(_text, elements(element, "p"))).split())
                )
            elif name not in _SILENT:
                self._begin(element, name)
                depth += name == "list"
                left += [(child, depth) for child in reversed(element)]

    def _begin(self, element: Any, name: str) -> None:
        """Mark a slide, and what its speaker says about it."""
        if name == "page":
            self._slides += 1
            self._draft.mark_next("slide", str(self._slides))
        elif name == "notes" and any(map(_text, elements(element, "p"))):
            self._draft.add("Notes:")

    def _paragraph(self, element: Any, heads: bool, depth: int) -> None:
        text = _text(element).strip()
        if text and heads:
            self._draft.add_heading(" ".join(text.split()))
        elif text and depth:
            self._draft.put("  " * (depth - 1) + f"- {text}", "\n" if self._listed else "\n\n")
        else:
            self._draft.add(text)
        self._listed = bool(depth) if text else self._listed
        for note in _footnotes(element):
            self._noted += 1
            self._draft.add(f"Footnote {self._noted}: {note}")
            self._listed = False

    def _table(self, element: Any) -> None:
        self._listed = False
        if self._draft.format == "ods":
            self._draft.mark_next("sheet", _attribute(element, "name"))
        heads = next(elements(element, "table-header-rows"), None) is not None
        table.add_table(self._draft, _rows(element), head=heads)


def _rows(element: Any) -> Iterator[list[str]]:
    """Yield the rows of a table, and not those of tables within its cells."""
    left = list(reversed(element))
    while left:
        item = left.pop()
        name = local_name(item.tag)
        if name == "table-row":
            cells = list(_cells(item))
            for _ in range(_repeated(item, "number-rows-repeated") if any(cells) else 1):
                yield cells
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            left += reversed(item)


def _cells(row: Any) -> Iterator[str]:
    for cell in row:
        if local_name(cell.tag) in ("table-cell", "covered-table-cell"):
            paragraphs = (_text(item).strip() for item in elements(cell, "p", "h"))
            text = " ".join(filter(None, paragraphs))
            for _ in range(_repeated(cell, "number-columns-repeated")):
                yield text


def _repeated(element: Any, name: str) -> int:
    said = _attribute(element, name)
    return min(int(said), MOST_REPEATED) if said.isdecimal() and len(said) < 10 else 1


def _attribute(element: Any, name: str) -> str:
    """Return an attribute by its local name; empty if there is none."""
    return next((value for key, value in element.items() if local_name(key) == name), "")


def _text(paragraph: Any) -> str:
    """Return the text of a paragraph, without its footnotes and comments."""
    said: list[str] = []
    left: list[Any] = [paragraph]
    while left:
        item = left.pop()
        if isinstance(item, str):
            said.append(item)
            continue
        if item is not paragraph:
            left.append(item.tail or "")
        name = local_name(item.tag)
        if name != "note" and name not in _SILENT:
            boxed = name == "p" and item is not paragraph  # a text box
            said.append("\n" if boxed else _character(item, name))
            left += reversed(item)
            left.append(item.text or "")
    return "".join(said)


def _character(element: Any, name: str) -> str:
    """Return what an element stands for: a tab, the end of a line, or spaces."""
    if name != "s":
        return _SAID.get(name, "")
    count = _attribute(element, "c")
    return " " * min(int(count) if count.isdecimal() and len(count) < 4 else 1, MOST_SPACES)


def _footnotes(paragraph: Any) -> Iterator[str]:
    for note in elements(paragraph, "note-body"):
        if text := " ".join(_text(item).strip() for item in elements(note, "p")):
            yield text
