"""Reading documents from disk: Markdown and plain text, with front matter where there is some.

A file that cannot be read is listed with the reason, never skipped silently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from deepdiver import sample
from deepdiver.errors import UsageError

SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text"})
LARGEST = 10_000_000
"""Bytes of one file; more is a data dump rather than a document."""
_FIELD = re.compile(r"^([a-z_]+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read."""

    url: str
    """Its path as the user gave it, or sample:PATH."""
    title: str
    """From the front matter, the first heading, or the file's name."""
    text: str
    """Its text without the front matter."""
    meta: dict[str, str]
    """The front matter."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not."""

    url: str
    """Its path."""
    reason: str
    """Why not."""


def read_all(paths: tuple[Path, ...]) -> tuple[list[Document], list[Unread]]:
    """Read every document under the paths, in the order of their names.

    Raises:
        UsageError: If a path does not exist or cannot be opened.
    """
    documents: list[Document] = []
    unread: list[Unread] = []
    for root in paths:
        for path in _files(root):
            got = read_one(path, _url(root, path))
            (documents if isinstance(got, Document) else unread).append(got)  # type: ignore[arg-type]
    return documents, unread


def _files(root: Path) -> list[Path]:
    try:
        if root.is_dir():
            return sorted(path for path in root.rglob("*") if path.is_file() and not _hidden(path, root))
        if root.is_file():
            return [root]
    except OSError as error:
        raise UsageError(f"{root} cannot be read: {error.strerror}. Give a folder or file that you may read.") from None
    raise UsageError(f"{root} does not exist. Give a folder or file of documents with --in.")


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _url(root: Path, path: Path) -> str:
    if root == sample.LIBRARY:
        return f"sample:{path.relative_to(root).as_posix()}"
    return path.as_posix()


def read_one(path: Path, url: str) -> Document | Unread:
    """Read one file."""
    if path.suffix.lower() not in SUFFIXES:
        return Unread(url, f"{path.suffix or 'a file without suffix'} is not a format that can be read yet")
    try:
        size = path.stat().st_size
        raw = path.read_bytes() if size <= LARGEST else b""
    except OSError as error:
        return Unread(url, str(error.strerror))
    if size > LARGEST:
        return Unread(url, f"{size:,} bytes are more than {LARGEST:,}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Unread(url, "it is not UTF-8 text")
    meta, body = front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not body.strip():
        return Unread(url, "it is empty")
    heading = re.search(r"^#{1,6}[ \t]+(.+)$", body, re.MULTILINE)
    title = meta.get("title") or (heading[1].strip() if heading else path.stem.replace("-", " "))
    return Document(url, title, body, meta)


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Part the front matter (`key: value` between two lines of three dashes) from the text."""
    if not text.startswith("---\n") or (end := text.find("\n---\n", 3)) < 0:
        return {}, text
    fields = {match[1]: match[2].strip("\"'") for match in _FIELD.finditer(text[4 : end + 1])}
    return fields, text[end + 5 :].lstrip("\n")
