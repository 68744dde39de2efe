"""Detecting the format of a file: by its first bytes, then its MIME type, then its name.

Nothing is parsed here, only searched for bytes, so this is safe outside a worker.
"""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Final

FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "html": (".html", ".htm", ".xhtml"),
    "pdf": (".pdf",),
    "docx": (".docx", ".docm"),
    "pptx": (".pptx", ".pptm", ".ppsx"),
    "xlsx": (".xlsx", ".xlsm"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "markdown": (".md", ".markdown"),
    "text": (".txt", ".text", ".log", ".rst"),
    "epub": (".epub",),
    "email": (".eml",),
    "messages": (".jsonl", ".ndjson"),
    "json": (".json",),
    "xml": (".xml", ".svg", ".rss", ".atom"),
}
"""The formats that can be read, with their usual suffixes."""

_SUFFIXES = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_MIMES: Final[dict[str, str]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    f"{_OFFICE}.presentationml.presentation": "pptx",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/epub+zip": "epub",
    "message/rfc822": "email",
    "application/x-ndjson": "messages",
    "application/jsonl": "messages",
    "application/json": "json",
    "text/json": "json",
    "application/ld+json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/rss+xml": "xml",
    "application/atom+xml": "xml",
    "image/svg+xml": "xml",
}
"""text/plain and application/octet-stream are missing: servers use them for anything, and the name
says more."""

_MEMBERS: Final[dict[bytes, str]] = {
    b"word/document.xml": "docx",
    b"ppt/presentation.xml": "pptx",
    b"xl/workbook.xml": "xlsx",
    b"META-INF/container.xml": "epub",
}
"""The member that identifies each zip-based format."""
_BINARY = frozenset({"pdf", "docx", "pptx", "xlsx", "epub"})
"""Formats that are not text."""
_FOREIGN: Final[tuple[tuple[bytes, str], ...]] = (
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old or password-protected Office file; save it as docx, pptx or xlsx",
    ),
    (b"{\\rtf", "a rich text file; save it as docx"),
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"BZh91AY&SY", "a bzip2 archive; unpack it first"),
    (b"\xfd7zXZ\x00", "an xz archive; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image, a sound or a film"),
    (b"OggS", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"SQLite format 3\x00", "a database"),
)
"""The first bytes of files that cannot be read, and what they are."""

_SURE = frozenset(magic for magic, _ in _FOREIGN if magic == b"{\\rtf" or not magic.isalnum())
"""Those of them that no text begins with. The others could be words, and count only if the file is
not text."""
_LOOK = 1_024
"""Bytes at the beginning that are examined."""
_BOMS = (
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
)
_PDF = re.compile(rb"(?:^|[\0-\x08\x0e-\x1f\x7f-\xff])[ \t]*%PDF-\d", re.M)
"""PDF readers allow lines or noise before it. A text that mentions it does so within a line."""
_PDF_END = re.compile(rb"\bstartxref\s+\d+\s+%%EOF")
_HTML = re.compile(
    rb"\s*+(?:<!--.{0,400}?-->\s*+)?(?:<\?xml[^>]*+>\s*+)?<(?:!doctype\s++html|html|head"
    rb"|body)[\s>]",
    re.I | re.S,
)
_XML = re.compile(rb"\s*+<(?:\?xml[\s>]|svg[\s>]|rss[\s>]|!DOCTYPE[\s\[])")
_MAIL = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*+:[ \t][^\r\n]*+(?:\r?\n[ \t][^\r\n]*+)*+\r?\n){2}")
_MAIL_FIELDS = re.compile(
    rb"^(?:from|date|subject|received|message-id|mime-version):[ \t]", re.I | re.M
)
_MAIL_ENOUGH = 3
"""How many header fields among the first lines make a mail. Two occur in ordinary notes."""


def suffix_of(name: str) -> str:
    """Return the suffix of a file name, in lower case."""
    return PurePosixPath(name).suffix.lower()


def unreadable_kind(data: bytes) -> str:
    """Return what an unreadable file is, by its first bytes; empty if it may be readable."""
    for magic, what in _FOREIGN:
        if data.startswith(magic) and (magic in _SURE or not looks_like_text(data)):
            return what
    if data.startswith(b"PK\x03\x04") and not _zipped(data):
        return (
            "a zip archive; unpack it first"
            if b"PK\x05\x06" in data
            else "damaged: a zip archive without its end"
        )
    return "" if looks_like_text(data) or _magic(data) else "not text"


def looks_like_text(data: bytes) -> bool:
    """Whether bytes may be text in some encoding."""
    return data.startswith(_BOMS) or b"\0" not in data[: 8 * _LOOK]


def format_of(mime: str, name: str, data: bytes) -> str:
    """Return the format of a file, one of `FORMATS`; empty if it is none of them.

    Unmistakable bytes decide first (a PDF is one whatever its name), then the MIME type, then the
    suffix, then the look of the bytes.
    """
    if sure := _magic(data):
        return sure
    textual = not unreadable_kind(data)
    for said in (
        _MIMES.get(mime.partition(";")[0].strip().lower(), ""),
        _SUFFIXES.get(suffix_of(name), ""),
    ):
        if said in _BINARY and textual:
            return _looks(data)
        if said and textual:
            return said
    return _looks(data) if textual else ""


def _magic(data: bytes) -> str:
    """Return the format that the bytes prove; empty if they prove none."""
    start = data[:_LOOK]
    if _PDF.search(start) or _PDF_END.search(data, max(0, len(data) - 2 * _LOOK)):
        return "pdf"
    if start.startswith(b"PK\x03\x04"):
        return _zipped(data)
    return "html" if _HTML.match(_plain(start)) else ""


def _zipped(data: bytes) -> str:
    """Return the format of a zip file by the names in its directory, or anywhere if it is torn."""
    end = data.rfind(b"PK\x05\x06")
    at = int.from_bytes(data[end + 16 : end + 20], "little") if end >= 0 else 0
    directory = data[at:end] if 0 < at < end else data
    found = {name: directory.find(member) for member, name in _MEMBERS.items()}
    there = [name for name, where in found.items() if where >= 0]
    return min(there, key=found.__getitem__) if there else ""


def _looks(data: bytes) -> str:
    """Return the format that a text looks like: JSON, XML, a mail, or else plain text."""
    start = _plain(data[: 8 * _LOOK])
    if start.lstrip()[:1] in (b"{", b"["):
        return "json"
    if _XML.match(start):
        return "xml"
    head = re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0]
    if _MAIL.match(start) and len(_MAIL_FIELDS.findall(head)) >= _MAIL_ENOUGH:
        return "email"
    return "text"


def _plain(start: bytes) -> bytes:
    """Return the beginning of a text without its byte order mark, and UTF-16 as ASCII."""
    if start.startswith(codecs.BOM_UTF8):
        return start[len(codecs.BOM_UTF8) :]
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start.decode("utf-16", "replace").encode("ascii", "replace")
    return start
