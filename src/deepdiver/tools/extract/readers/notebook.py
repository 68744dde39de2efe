"""Jupyter notebooks: text, code and what the code printed, cell by cell."""

from __future__ import annotations

import json
import re
from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import html_tree
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft, clean_text
from deepdiver.tools.extract.readers import plain_text

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_notebook(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a notebook."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    try:
        book = json.loads(text)
    except ValueError as error:
        raise UnreadableError(f"it is damaged: {error}"[:300]) from None
    cells = _cells(book)
    if cells is None:
        raise UnreadableError("it is damaged: there are no cells in it")
    _add_properties(draft, book.get("metadata"))
    for cell in cells:
        if isinstance(cell, dict):
            _add_cell(draft, cell)
    return draft


def _cells(book: Any) -> list[Any] | None:
    """Return the cells; until version 3 of the format, they were in worksheets."""
    if not isinstance(book, dict):
        return None
    sheets = book.get("worksheets")
    if isinstance(sheets, list):
        inner = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        return [cell for cells in inner if isinstance(cells, list) for cell in cells]
    cells = book.get("cells")
    return cells if isinstance(cells, list) else None


def _add_properties(draft: DocumentDraft, metadata: Any) -> None:
    told = metadata if isinstance(metadata, dict) else {}
    draft.title = _text(told.get("title"))
    authors = told.get("authors")
    if isinstance(authors, list):
        named = (item.get("name") if isinstance(item, dict) else item for item in authors)
        draft.author = ", ".join(filter(None, map(_text, named)))


def _add_cell(draft: DocumentDraft, cell: dict[str, Any]) -> None:
    source = clean_text(_text(cell.get("source", cell.get("input")))).strip("\n")
    kind = cell.get("cell_type")
    if kind in ("markdown", "heading") and source:
        if kind == "heading":  # of version 3
            source = f"# {source}"
        start = draft.length + 2 if draft.length else 0
        draft.put(source)
        for at, label in plain_text.find_headings(source):
            draft.mark_at(start + at, "heading", label)
        return
    draft.put(source)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            _add_output(draft, output)


def _add_output(draft: DocumentDraft, output: dict[str, Any]) -> None:
    if output.get("output_type") == "stream":
        draft.put(_printed(output.get("text")))
    elif "ename" in output:
        draft.add(f"{_text(output['ename'])}: {_text(output.get('evalue'))}")
    else:
        data = output.get("data", output)
        _add_shown(draft, data if isinstance(data, dict) else {})


def _add_shown(draft: DocumentDraft, data: dict[str, Any]) -> None:
    """Add a value that a cell shows: its table if it is one, else its text."""
    page = _text(data.get("text/html", data.get("html")))
    if "<table" in page and (tree := html_tree.parse_html(page)) is not None:
        html_tree.add_html(draft, tree)
    elif any(key.startswith("image/") or key in ("png", "jpeg", "svg") for key in data):
        draft.note("its pictures were left out")
    else:
        draft.put(_printed(data.get("text/plain", data.get("text"))))


def _printed(value: Any) -> str:
    return clean_text(_COLOUR.sub("", _text(value))).strip("\n")


def _text(value: Any) -> str:
    """Return a text, which may be a list of its lines."""
    if isinstance(value, list):
        return "".join(item for item in value if isinstance(item, str))
    return value if isinstance(value, str) else ""
