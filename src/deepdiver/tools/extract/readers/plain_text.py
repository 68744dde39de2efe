"""Markdown, reStructuredText, source code and plain text, kept to the letter.

Only front matter is taken out. Headings are marked: those of Markdown (`# Name`), and lines that
are underlined, as in reStructuredText and many a README.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import (
    LARGEST_TEXT,
    LONGEST_LABEL,
    MOST_MARKS,
    DocumentDraft,
)

_FRONT = re.compile(
    r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$)[^\n]*\n)*+)---[ \t]*(?:\n+|\Z)", re.MULTILINE
)
_FIELD = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t](.*))?")
_MORE = re.compile(r"[ \t]|#|-[ \t]|$")
"""The beginning of a line that continues the field above: indented, a comment, an item, empty."""
_HEADING = re.compile(
    r"^(?:[ ]{0,3}(?P<fence>```+|~~~+)|#{1,6}[ \t]+(?P<label>[^\n]+)"
    r"|[ ]{0,3}(?P<lined>(?![^\n]*\S {3,}\S)\S[^\n]*)\n"
    r"(?P<line>(?P<mark>[=~^*#+_\"'`:.-])(?P=mark){2,})[ \t]*$)",
    re.MULTILINE,
)
_RULE = re.compile(r"(?P<mark>\W|_)(?P=mark)*[ \t]*")
_DOCUMENT_FIELD = re.compile(r"^:(author|date|organization|title):[ \t]+(.+)$", re.I | re.MULTILINE)
"""What a text of reStructuredText says of itself at its beginning."""
_LOOK = 4_000
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?!\d)")


def read_plain_text(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read Markdown, reStructuredText or plain text."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    return add_plain_text(draft, text)


def read_code(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read source code or settings. A comment is not a heading, and the name is the title."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    draft.title = PurePosixPath(name).name
    text = plain_lines(text)
    if text.strip():
        draft.put(text)
    return draft


def plain_lines(text: str) -> str:
    """Return a text with plain line ends, up to the part that a draft has no room for."""
    if len(text) > LARGEST_TEXT + 1:  # the rest will be left out and need not be copied
        text = text[: LARGEST_TEXT + 1]
    return text.replace("\r\n", "\n").replace("\r", "\n")


def add_plain_text(draft: DocumentDraft, text: str) -> DocumentDraft:
    """Add a whole text to a draft, with its headings marked and its front matter as metadata."""
    meta, body = split_front_matter(plain_lines(text))
    if draft.format == "rst":
        meta = {**_document_fields(body), **meta}
    draft.title = meta.get("title", "")
    draft.author = meta.get("author", "")
    draft.publisher = meta.get("publisher", "")
    draft.publisher_kind = meta.get("kind", "")
    draft.published = meta.get("published", "")
    draft.language = meta.get("language", "")
    if not body.strip():
        return draft
    for start, label in find_headings(body, hashes=draft.format != "rst"):
        draft.mark_at(start, "heading", label)
    draft.put(body)
    return draft


def find_headings(text: str, *, hashes: bool = True) -> list[tuple[int, str]]:
    """Return the offsets and labels of the headings of a text, except in code fences.

    Args:
        text: The text.
        hashes: Whether lines with number signs before them are headings.
    """
    found: list[tuple[int, str]] = []
    fence = ""
    for match in _HEADING.finditer(text):
        opening = match["fence"]
        if opening and fence:
            fence = "" if opening.startswith(fence) else fence
        elif opening:
            fence = opening
        elif not fence and (label := _label(text, match, hashes)):
            found.append((match.start(), label))
            if len(found) > MOST_MARKS:  # one more than are kept, so that a note is added
                break
    return found


def _label(text: str, match: re.Match[str], hashes: bool) -> str:
    """Return the label of a heading; empty if it only looks like one."""
    if match["label"]:
        label: str = match["label"].rstrip()
        return (label.rstrip("#").rstrip() or label) if hashes else ""
    label = match["lined"].rstrip()
    # Other lines of the same kind are borders of tables and the like.
    if len(match["line"]) < len(label) or not any(map(str.isalnum, label)):
        return ""
    before = text[max(0, match.start() - LONGEST_LABEL) : match.start()].removesuffix("\n")
    above = before.rpartition("\n")[2]
    return label if not above.strip() or _RULE.fullmatch(above) else ""


def _document_fields(text: str) -> dict[str, str]:
    told = {name.lower(): value.strip() for name, value in _DOCUMENT_FIELD.findall(text[:_LOOK])}
    day = _DAY.match(told.get("date", ""))
    return {
        "title": told.get("title", ""),
        "author": told.get("author", ""),
        "publisher": told.get("organization", ""),
        "published": day[0] if day else "",
    }


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Split the front matter (`key: value` between two lines of three dashes) from the text.

    Two horizontal rules with prose between them are not front matter: no text is lost.
    """
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    fields: dict[str, str] = {}
    for line in match["fields"].splitlines():
        if field := _FIELD.fullmatch(line):
            fields[field[1].lower()] = _unquoted((field[2] or "").strip())
        elif not (_MORE.match(line) and (fields or not line.strip())):
            return {}, text
    return fields, text[match.end() :]


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
