"""From bytes to a draft: which module reads which format. Runs in the child alone."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePosixPath
from types import ModuleType
from typing import Final
from urllib.parse import unquote, urlsplit

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract.draft import Draft, FullError
from deepdiver.tools.extract.formats import foreign, format_of

_READERS: Final[dict[str, str]] = {
    "html": "html",
    "pdf": "pdf",
    "docx": "word",
    "pptx": "slides",
    "xlsx": "sheets",
    "csv": "rows",
    "tsv": "rows",
    "markdown": "plain",
    "text": "plain",
    "epub": "book",
    "email": "mail",
    "messages": "tree",
    "json": "tree",
    "xml": "tree",
}
"""The module of this package that reads a format; each is imported when the first file of its kind
comes."""

MISSING = "{name} is not installed: pip install 'deepdiver-research[search]'"


def reader(format: str) -> ModuleType:
    """Return the module that reads a format, with the packages that it needs.

    Raises:
        UnreadableError: If one of them is not installed; the text says what to do.
    """
    try:
        return import_module(f"deepdiver.tools.extract.{_READERS[format]}")
    except ModuleNotFoundError as error:
        raise UnreadableError(MISSING.format(name=error.name)) from None


def kind(data: bytes, mime: str, name: str, url: str) -> str:
    """Return the format of some bytes.

    Raises:
        UnreadableError: If they are none that can be read; the text says what they are.
    """
    if not data.strip(b" \t\r\n\x00\xef\xbb\xbf\xfe\xff"):
        raise UnreadableError("it is empty")
    if format := format_of(mime, name or file_name(url), data):
        return format
    raise UnreadableError(f"it is {foreign(data) or 'of no format that can be read'}")


def file_name(url: str) -> str:
    """Return the last part of an address's path: what a file there would be called."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path)).name
    except ValueError:
        return ""


def read(data: bytes, *, mime: str = "", name: str = "", url: str = "") -> Draft:
    """Read a document of any format.

    Raises:
        UnreadableError: If it gives no text; the text says why.
    """
    format = kind(data, mime, name, url)
    module = reader(format)
    try:
        draft: Draft = module.read(data, format=format, mime=mime, name=name, url=url)
    except FullError as full:
        (draft,) = full.args
    except ModuleNotFoundError as error:
        raise UnreadableError(MISSING.format(name=error.name)) from None
    except RecursionError:
        raise UnreadableError("it is nested too deep") from None
    if draft.empty:
        notes = draft.told()["notes"]
        raise UnreadableError(f"it holds no text: {'; '.join(notes)}" if notes else "it is empty")
    stem = PurePosixPath(name or file_name(url)).stem
    draft.title = draft.title or draft.heading or stem.replace("-", " ")
    return draft
