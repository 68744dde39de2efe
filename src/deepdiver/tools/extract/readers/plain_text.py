"""Markdown and plain text, kept as it was written, and its front matter."""

from __future__ import annotations

import re

from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import LARGEST_TEXT, MOST_MARKS, DocumentDraft

_FRONT = re.compile(
    r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$)[^\n]*\n)*+)---[ \t]*(?:\n+|\Z)", re.MULTILINE
)
_FIELD = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t](.*))?")
_MORE = re.compile(r"[ \t]|#|-[ \t]|$")
"""The beginning of a line that continues the field above: indented, a comment, an item, empty."""
_HEADING = re.compile(
    r"^(?:[ ]{0,3}(?P<fence>```+|~~~+)|#{1,6}[ \t]+(?P<label>[^\n]+))", re.MULTILINE
)


def read_plain_text(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read Markdown or plain text."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    return add_plain_text(draft, text)


def add_plain_text(draft: DocumentDraft, text: str) -> DocumentDraft:
    """Add a whole text to a draft, with its headings marked and its front matter as metadata."""
    if len(text) > LARGEST_TEXT + 1:  # the rest will be left out and need not be copied
        text = text[: LARGEST_TEXT + 1]
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    meta, body = split_front_matter(whole)
    draft.title = meta.get("title", "")
    draft.author = meta.get("author", "")
    draft.publisher = meta.get("publisher", "")
    draft.publisher_kind = meta.get("kind", "")
    draft.published = meta.get("published", "")
    draft.language = meta.get("language", "")
    if not body.strip():
        return draft
    for start, label in find_headings(body):
        draft.mark_at(start, "heading", label)
    draft.put(body)
    return draft


def find_headings(text: str) -> list[tuple[int, str]]:
    """Return the offsets and labels of the Markdown headings of a text, except in code fences."""
    found: list[tuple[int, str]] = []
    fence = ""
    for match in _HEADING.finditer(text):
        opening = match["fence"]
        if opening and fence:
            fence = "" if opening.startswith(fence) else fence
        elif opening:
            fence = opening
        elif not fence:
            label = match["label"].rstrip()
            found.append((match.start(), label.rstrip("#").rstrip() or label))
            if len(found) > MOST_MARKS:  # one more than are kept, so that a note is added
                break
    return found


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
