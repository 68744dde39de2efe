"""Reading documents from disk: Markdown and plain text, with front matter where there is some.

A file that cannot be read is listed with the reason, never skipped silently; hidden files are the exception.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from deepdiver import sample
from deepdiver.errors import UsageError

SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text"})
LARGEST = 10_000_000
"""Bytes of one file; more is a data dump rather than a document."""
_FRONT = re.compile(r"---[ \t]*\n(?P<fields>(?:(?!---[ \t]*$)[^\n]*\n)*+)---[ \t]*(?:\n+|\Z)", re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t](.*))?")
_MORE = re.compile(r"[ \t]|#|-[ \t]|$")
"""How a line goes on with the field above it: indented, a comment, an item of a list, nothing."""
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)


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
    """Read every document under the paths, each once, in the order of their names.

    Raises:
        UsageError: If a path does not exist or cannot be opened.
    """
    documents: list[Document] = []
    unread: list[Unread] = []
    known: set[Path] = set()
    for root in paths:
        files, closed = _files(root)
        unread += closed
        for path in sorted(map(Path, files)):
            if path in known:
                continue
            known.add(path)
            match read_one(path, _url(root, path)):
                case Document() as document:
                    documents.append(document)
                case Unread() as missed:
                    unread.append(missed)
    return documents, unread


def stamp(paths: tuple[Path, ...]) -> tuple[tuple[str, int, int], ...]:
    """Return what changes whenever a document under the paths does: names, times and sizes of the files.

    Asked for before every search, so it must be quick: 5,000 files take 30 ms.

    Raises:
        UsageError: As `read_all`.
    """
    found = []
    for path in (path for root in paths for path in sorted(_files(root)[0])):
        try:
            status = os.stat(path)
        except OSError:  # gone, or a link to nothing: reading will say so
            found.append((path, 0, 0))
        else:
            found.append((path, status.st_mtime_ns, status.st_size))
    return tuple(found)


def _files(root: Path) -> tuple[list[str], list[Unread]]:
    """Return the files under a path, and the folders that are not entered."""
    try:
        mode = root.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a name that no file can have
        raise UsageError(f"{root} does not exist. Give a folder or file of documents with --in.") from None
    except OSError as error:
        raise _unreadable(root, error) from None
    return _walk(root) if stat.S_ISDIR(mode) else ([str(root)], [])


def _walk(root: Path) -> tuple[list[str], list[Unread]]:
    files: list[str] = []
    closed: list[Unread] = []

    def refused(error: OSError) -> None:
        folder = Path(error.filename)
        if folder == root:
            raise _unreadable(root, error) from None
        closed.append(Unread(_url(root, folder), f"the folder cannot be opened: {error.strerror}"))

    for at, folders, names in os.walk(root, onerror=refused):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        files += [os.path.join(at, file) for file in names if not file.startswith(".")]
        links = [path for folder in folders if (path := Path(at, folder)).is_symlink()]
        told = "a link to a folder is not followed; give the folder itself with --in"
        closed += [Unread(_url(root, link), told) for link in links]
    return files, sorted(closed, key=lambda item: item.url)


def _unreadable(root: Path, error: OSError) -> UsageError:
    return UsageError(f"{root} cannot be read: {error.strerror}. Give a folder or file that you may read.")


def _url(root: Path, path: Path) -> str:
    if root == sample.LIBRARY:
        return f"sample:{path.relative_to(root).as_posix()}"
    return path.as_posix()


def read_one(path: Path, url: str) -> Document | Unread:
    """Read one file."""
    if path.suffix.lower() not in SUFFIXES:
        return Unread(url, f"{path.suffix or 'a file without suffix'} is not a format that can be read yet")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would keep its reader waiting
            return Unread(url, "it is not a plain file")
        if status.st_size > LARGEST:
            return Unread(url, f"{status.st_size:,} bytes are more than {LARGEST:,}")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return Unread(url, str(error.strerror))
    except UnicodeDecodeError:
        return Unread(url, "it is not UTF-8 text")
    if "\0" in text:
        return Unread(url, "it is not text")
    meta, body = front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not body.strip():
        return Unread(url, "it is empty")
    heading = _HEADING.search(body)
    title = meta.get("title") or (heading[1].strip() if heading else path.stem.replace("-", " "))
    return Document(url, title, body, meta)


def front_matter(text: str) -> tuple[dict[str, str], str]:
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
