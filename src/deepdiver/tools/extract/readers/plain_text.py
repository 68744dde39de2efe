"""Markdown and plain text, with front matter where there is some.

The text is kept as it was written.
"""

from __future__ import annotations

import re

from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import LARGEST_TEXT, MOST_MARKS, DocumentDraft

_FRONT = re.compile(
    r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$)[^\n]*\n)*+)---[ \t]*(?:\n+|\Z)", re.MULTILINE
)
_FIELD = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t](.*))?")
_MORE = re.compile(r"[ \t]|#|-[ \t]|$")
"""How a line goes on with the field above it: indented, a comment, an item of a list, nothing."""
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
    """Put a whole text into a draft, its front matter apart and its headings marked."""
    if len(text) > LARGEST_TEXT + 1:  # what will be left out need not be copied about
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
    """Return where the Markdown headings of a text begin, and what they say; a fence holds none."""
    found: list[tuple[int, str]] = []
    fence = ""
    for match in _HEADING.finditer(text):
        if opening := match["fence"]:
            if not fence or opening.startswith(fence):
                fence = "" if fence else opening
        elif not fence:
            label = match["label"].rstrip()
            found.append((match.start(), label.rstrip("#").rstrip() or label))
            if len(found) > MOST_MARKS:  # one more than are kept, so that it is said
                break
    return found


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Part the front matter (`key: value` between two lines of three dashes) from the text.

    Two rules across a page with prose between them are no front matter: nothing of a text is lost.
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
