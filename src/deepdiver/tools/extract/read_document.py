"""Reading a document of any format: one table says which function reads which format.

Formats with parsers are read only in a worker process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract.document_draft import DocumentDraft, DraftFullError
from deepdiver.tools.extract.formats import format_of, unreadable_kind

Reader = Callable[..., DocumentDraft]
"""Takes the bytes of a file, its format, and by keyword its MIME type, name and URL."""

READERS: Final[dict[str, str]] = {
    "html": "html:read_html",
    "pdf": "pdf:read_pdf",
    "docx": "word:read_word",
    "pptx": "slides:read_slides",
    "xlsx": "sheets:read_sheets",
    "odt": "open_document:read_open_document",
    "odp": "open_document:read_open_document",
    "ods": "open_document:read_open_document",
    "rtf": "rich_text:read_rich_text",
    "csv": "separated_values:read_separated_values",
    "tsv": "separated_values:read_separated_values",
    "markdown": "plain_text:read_plain_text",
    "rst": "plain_text:read_plain_text",
    "text": "plain_text:read_plain_text",
    "code": "plain_text:read_code",
    "tex": "tex:read_tex",
    "man": "man_page:read_man_page",
    "subtitles": "subtitles:read_subtitles",
    "epub": "book:read_book",
    "email": "mail:read_mail",
    "mailbox": "mail:read_mailbox",
    "messages": "json_xml:read_json",
    "notebook": "notebook:read_notebook",
    "json": "json_xml:read_json",
    "xml": "json_xml:read_xml",
    "packed": "packed:read_packed",
}
"""The function that reads each format, as `module:function` in the package `readers`. A module is
imported when the first file of its format arrives."""
WEB_PAGE = "web_page:read_web_page"
"""Reads a page that came from the web, which is mostly menus and advertisements."""
LINKED: Final[dict[str, str]] = {
    "html": "html:read_linked_html",
    "pdf": "pdf:read_linked_pdf",
    "docx": "word:read_linked_word",
}
"""The function that reads a format with its links and notes in their places, as Markdown has them.
The others keep them or have none."""

MISSING = "{name} is not installed: pip install 'deepdiver-research{extra}'"
LEAD = 500
"""Characters at the beginning of a plain text in which a heading is taken for its title."""


def load_reader(format: str, url: str = "", *, links: bool = False) -> Reader:
    """Import the function that reads a format, and the packages that it needs.

    Args:
        format: One of `FORMATS`.
        url: The address that the file came from; empty if it is a file of the user's.
        links: Whether links and notes are kept in their places.

    Raises:
        UnreadableError: If one of them is not installed; the message says what to do.
    """
    named = WEB_PAGE if format == "html" and url else READERS[format]
    named = LINKED.get(format, named) if links else named
    module, _, function = named.partition(":")
    try:
        reader: Reader = getattr(
            import_module(f"deepdiver.tools.extract.readers.{module}"), function
        )
    except ModuleNotFoundError as error:
        raise _missing(error, named) from None
    return reader


def _missing(error: ModuleNotFoundError, reader: str) -> UnreadableError:
    """Return the error for a package that is not installed, which says how to install it."""
    return UnreadableError(
        MISSING.format(name=error.name, extra="[search]" if reader == WEB_PAGE else "")
    )


def detect_format(data: bytes, mime: str, name: str, url: str) -> str:
    """Return the format of a file.

    Raises:
        UnreadableError: If the format cannot be read; the message says what it is.
    """
    if not data.strip(b" \t\r\n\x00\xef\xbb\xbf\xfe\xff"):
        raise UnreadableError("it is empty")
    if format := format_of(mime, name or file_name_of(url), data):
        return format
    raise UnreadableError(f"it is {unreadable_kind(data) or 'of no format that can be read'}")


def file_name_of(url: str) -> str:
    """Return the file name in an address: the last part of its path."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:
        return ""


def read_document(
    data: bytes, *, mime: str = "", name: str = "", url: str = "", links: bool = False
) -> DocumentDraft:
    """Read a document of any format.

    Args:
        data: The bytes of the file.
        mime: Its MIME type.
        name: Its name.
        url: The address that it came from.
        links: Whether links and notes are kept in their places, as Markdown has them.

    Raises:
        UnreadableError: If it has no text that can be read; the message says why.
    """
    format = detect_format(data, mime, name, url)
    reader = load_reader(format, url, links=links)
    try:
        draft = reader(data, format=format, mime=mime, name=name, url=url)
    except DraftFullError as full:
        (draft,) = full.args
    except ModuleNotFoundError as error:
        raise _missing(error, READERS[format]) from None
    except RecursionError:
        raise UnreadableError("it is nested too deep") from None
    if draft.empty:
        notes = draft.metadata()["notes"]
        raise UnreadableError(f"it holds no text: {'; '.join(notes)}" if notes else "it is empty")
    stem = PurePosixPath(name or file_name_of(url)).stem
    heading = draft.heading_within(LEAD if draft.format == "text" else draft.length)
    # The first release of a change log is not its title: 2.5.0 (2025-06-18).
    named = heading if re.search(r"[^\W\d_]{2}", heading) else ""
    draft.title = draft.title or named or stem.replace("-", " ")
    return draft
