"""The XML that Word documents, slides and sheets have in common: properties, drawings, charts."""

from __future__ import annotations

from typing import Any

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract.archive import Archive, elements, local_name
from deepdiver.tools.extract.document_draft import DocumentDraft

_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_NOBODY = frozenset(
    {"python-docx", "openpyxl", "steve canny", "unknown", "user", "author", "administrator"}
)
"""Authors that programs fill in."""
_NO_TITLE = frozenset(
    {"powerpoint presentation", "presentation", "word document", "document", "untitled", "slide 1"}
)


def add_properties(draft: DocumentDraft, archive: Archive) -> None:
    """Set title, author and language from the properties, except what programs fill in.

    The day on which a file was begun is not the day of publication.
    """
    root = archive.xml("docProps/core.xml")
    told = (
        {} if root is None else {local_name(item.tag): (item.text or "").strip() for item in root}
    )
    title, author = (told.get(key, "") for key in ("title", "creator"))
    draft.title = "" if title.lower() in _NO_TITLE else title
    draft.author = "" if author.lower() in _NOBODY else author
    draft.language = told.get("language", "")[:2].lower()


def relation_id(element: Any, name: str = "id") -> str:
    """Return the id by which an element points at another part."""
    return str(element.get(_RELATION + name) or "")


def drawing_paragraphs(element: Any) -> list[str]:
    """Return the non-empty paragraphs (`a:p`) of a drawing."""
    found = ["".join(_runs(item)).strip() for item in elements(element, "p")]
    return [text for text in found if text]


def _runs(paragraph: Any) -> list[str]:
    found = []
    for item in paragraph.iter():
        name = local_name(item.tag)
        if name == "t":
            found.append(item.text or "")
        elif name == "br":
            found.append("\n")
        elif name == "tab":
            found.append("\t")
    return found


def drawing_content(
    archive: Archive, graphic: Any, relations: dict[str, tuple[str, str]]
) -> tuple[list[str], list[list[str]]]:
    """Return the lines of a diagram, or the title and the rows of values of a chart."""
    for item in graphic.iter():
        name = local_name(item.tag)
        if name == "chart" and (part := relations.get(relation_id(item))):
            return chart_content(_part(archive, part[1]))
        if name == "relIds" and (part := relations.get(relation_id(item, "dm"))):
            data = _part(archive, part[1])
            return ([] if data is None else drawing_paragraphs(data)), []
    return [], []


def _part(archive: Archive, name: str) -> Any:
    try:
        return archive.xml(name)
    except UnreadableError:  # a broken chart costs only the chart
        return None


def chart_content(root: Any) -> tuple[list[str], list[list[str]]]:
    """Return the title of a chart, and its values as rows below the names of the series."""
    if root is None:
        return [], []
    title = next(map(drawing_paragraphs, elements(root, "title")), [])
    columns: list[tuple[str, dict[int, str]]] = []
    labels: dict[int, str] = {}
    for series in elements(root, "ser"):
        parts = {local_name(part.tag): part for part in series}
        named = " ".join(_points(parts.get("tx")).values())
        labels |= _points(parts.get("cat", parts.get("xVal")))
        columns.append((named, _points(parts.get("val", parts.get("yVal")))))
    if not columns:
        return title, []
    rows = [["", *(named for named, _ in columns)]]
    # The numbers of points come from the file and may be huge: only existing points become rows.
    for at in sorted({*labels, *(at for _, points in columns for at in points)}):
        rows.append([labels.get(at, ""), *(points.get(at, "") for _, points in columns)])
    return title, rows


def _points(part: Any) -> dict[int, str]:
    found: dict[int, str] = {}
    for point in () if part is None else part.iter():
        if local_name(point.tag) == "pt":
            value = next((item.text or "" for item in point if local_name(item.tag) == "v"), "")
            found[int(point.get("idx") or len(found))] = value
        elif local_name(point.tag) == "v" and not found:
            found.setdefault(0, point.text or "")
    return found
