"""Reading a document of any format: one table says which function reads which format.

Formats with parsers are read only in a worker process.
"""

from __future__ import annotations

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
    "csv": "separated_values:read_separated_values",
    "tsv": "separated_values:read_separated_values",
    "markdown": "plain_text:read_plain_text",
    "text": "plain_text:read_plain_text",
    "epub": "book:read_book",
    "email": "mail:read_mail",
    "messages": "json_xml:read_json",
    "json": "json_xml:read_json",
    "xml": "json_xml:read_xml",
}
"""The function that reads each format, as `module:function` in the package `readers`. A module is
imported when the first file of its format arrives."""

MISSING = "{name} is not installed: pip install 'deepdiver-research[search]'"


def load_reader(format: str) -> Reader:
    """Import the function that reads a format, and the packages that it needs.

    Raises:
        UnreadableError: If one of them is not installed; the message says what to do.
    """
    module, _, function = READERS[format].partition(":")
    try:
        reader: Reader = getattr(
            import_module(f"deepdiver.tools.extract.readers.{module}"), function
        )
    except ModuleNotFoundError as error:
        raise UnreadableError(MISSING.format(name=error.name)) from None
    return reader


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


def read_document(data: bytes, *, mime: str = "", name: str = "", url: str = "") -> DocumentDraft:
    """Read a document of any format.

    Raises:
        UnreadableError: If it has no text that can be read; the message says why.
    """
    format = detect_format(data, mime, name, url)
    reader = load_reader(format)
    try:
        draft = reader(data, format=format, mime=mime, name=name, url=url)
    except DraftFullError as full:
        (draft,) = full.args
    except ModuleNotFoundError as error:
        raise UnreadableError(MISSING.format(name=error.name)) from None
    except RecursionError:
        raise UnreadableError("it is nested too deep") from None
    if draft.empty:
        notes = draft.metadata()["notes"]
        raise UnreadableError(f"it holds no text: {'; '.join(notes)}" if notes else "it is empty")
    stem = PurePosixPath(name or file_name_of(url)).stem
    draft.title = draft.title or draft.heading or stem.replace("-", " ")
    return draft
