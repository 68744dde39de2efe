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
    "odt": (".odt", ".ott", ".fodt"),
    "odp": (".odp", ".otp", ".fodp"),
    "ods": (".ods", ".ots", ".fods"),
    "rtf": (".rtf",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "markdown": (".md", ".markdown"),
    "rst": (".rst", ".rest"),
    "tex": (".tex", ".ltx"),
    "man": (".man", ".mdoc", ".roff"),
    "text": (".txt", ".text", ".log"),
    "code": tuple(
        ".asm .awk .bash .bat .bib .c .cc .cfg .clj .cmake .conf .cpp .cs .css .cxx .dart .diff "
        ".el .erl .ex .f90 .fish .go .gradle .graphql .h .hpp .hs .ini .java .jl .js .jsx .kt "
        ".less .lisp .lua .m .mjs .mk .ml .patch .php .pl .pm .properties .proto .ps1 .py .pyi .r "
        ".rb .rs .sass .scala .scss .sh .sql .swift .tcl .tf .toml .ts .tsx .vb .vim .vue .yaml "
        ".yml .zig .zsh".split()
    ),
    "subtitles": (".srt", ".vtt"),
    "epub": (".epub",),
    "email": (".eml",),
    "mailbox": (".mbox",),
    "messages": (".jsonl", ".ndjson"),
    "notebook": (".ipynb",),
    "json": (".json",),
    "xml": (".xml", ".svg", ".rss", ".atom"),
    "packed": (".gz", ".bz2", ".xz", ".zst"),
}
"""The formats that can be read, with their usual suffixes. A text with another one is read too."""

_SUFFIXES = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}
_NAMES: Final[dict[str, str]] = dict.fromkeys(
    ("makefile", "gnumakefile", "dockerfile", "jenkinsfile", "vagrantfile", "cmakelists.txt"),
    "code",
)
"""Files that have a format by their name, in lower case."""
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_MIMES: Final[dict[str, str]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    f"{_OFFICE}.presentationml.presentation": "pptx",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    f"{_OPEN}.text": "odt",
    f"{_OPEN}.presentation": "odp",
    f"{_OPEN}.spreadsheet": "ods",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/x-rst": "rst",
    "text/x-tex": "tex",
    "application/x-tex": "tex",
    "text/vtt": "subtitles",
    "application/epub+zip": "epub",
    "message/rfc822": "email",
    "application/mbox": "mailbox",
    "application/x-ipynb+json": "notebook",
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
_OPEN_KIND = re.compile(
    rb"mimetype.{0,60}?" + re.escape(_OPEN).encode() + rb"\.(text|presentation|spreadsheet)", re.S
)
"""How an OpenDocument file says what it is: in its first member, which is not compressed, or, if it
is a single file of XML, in an attribute."""
_OPEN_KINDS: Final = {b"text": "odt", b"presentation": "odp", b"spreadsheet": "ods"}
_PACKED = re.compile(rb"\x1f\x8b|BZh[1-9]1AY&SY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd")
"""The first bytes of gzip, bzip2, xz and zstd."""
_BINARY = frozenset({"pdf", "docx", "pptx", "xlsx", "odt", "odp", "ods", "epub", "packed"})
"""Formats that are not text."""
_FOREIGN: Final[tuple[tuple[bytes, str], ...]] = (
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old or password-protected Office file; save it as docx, pptx or xlsx",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (b"\x89PNG\r\n\x1a\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"II*\x00", "an image"),
    (b"MM\x00*", "an image"),
    (b"RIFF", "an image, a sound or a film"),
    (b"OggS", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"\x00asm", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"SQLite format 3\x00", "a database"),
)
"""The first bytes of files that cannot be read, and what they are."""

_SURE = frozenset(magic for magic, _ in _FOREIGN if not magic.isalnum())
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
_LOOKS: Final[dict[str, re.Pattern[bytes]]] = {
    "mailbox": re.compile(rb"From \S+ [^\n]*\d{4}\r?\n[A-Za-z-]+:[ \t]"),
    "man": re.compile(rb"(?=[.'])(?:[^\n]*+\n)*?\.(?:TH|Dd|SH|Sh|so)[ \t]"),
    "tex": re.compile(rb"(?:[ \t]*+(?:%[^\n]*+)?\r?\n)*+\s*\\document(?:class|style)\b"),
    "subtitles": re.compile(rb"WEBVTT\b|\s*\d+\r?\n\d+:\d\d:\d\d,\d{3} -->"),
    "code": re.compile(rb"#!"),
}
"""How some formats begin."""
_CONTROL = re.compile(rb"[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]")
"""Characters that a text hardly contains. Backspace, which prints bold, and escape are others."""
MOST_CONTROL = 0.02
"""The highest share of them in a text. Of random bytes they are a tenth."""


def suffix_of(name: str) -> str:
    """Return the suffix of a file name, in lower case."""
    return PurePosixPath(name).suffix.lower()


def unreadable_kind(data: bytes) -> str:
    """Return what an unreadable file is, by its first bytes; empty if it may be readable."""
    return _foreign_kind(data) or ("not text" if _is_noise(data) and not _magic(data) else "")


def _foreign_kind(data: bytes) -> str:
    """Return what a file is that is unreadable whatever is said of it."""
    for magic, what in _FOREIGN:
        if data.startswith(magic) and (magic in _SURE or not looks_like_text(data)):
            return what
    if data.startswith(b"PK\x03\x04") and not _zipped(data):
        return (
            "a zip archive; unpack it first"
            if b"PK\x05\x06" in data
            else "damaged: a zip archive without its end"
        )
    if data[257:262] == b"ustar":
        return "a tar archive; unpack it first"
    return "" if looks_like_text(data) or _magic(data) else "not text"


def looks_like_text(data: bytes) -> bool:
    """Whether bytes may be text in some encoding."""
    return data.startswith(_BOMS) or b"\0" not in data[: 8 * _LOOK]


def _is_noise(data: bytes) -> bool:
    """Whether bytes that nothing is said of are not text either: too many are no characters."""
    start = b"" if data.startswith(_BOMS) else data[: 8 * _LOOK]
    return len(_CONTROL.findall(start)) > MOST_CONTROL * len(start)


def format_of(mime: str, name: str, data: bytes) -> str:
    """Return the format of a file, one of `FORMATS`; empty if it is none of them.

    Unmistakable bytes decide first (a PDF is one whatever its name), then the MIME type, then the
    name, then the look of the bytes.
    """
    if sure := _magic(data):
        return sure
    if _foreign_kind(data):
        return ""
    for said in (
        _MIMES.get(mime.partition(";")[0].strip().lower(), ""),
        _NAMES.get(PurePosixPath(name).name.lower(), ""),
        _SUFFIXES.get(suffix_of(name), ""),
    ):
        if said:
            return _looks(data) if said in _BINARY else said
    return "" if _is_noise(data) else _looks(data)


def _magic(data: bytes) -> str:
    """Return the format that the bytes prove; empty if they prove none."""
    start = data[:_LOOK]
    if _PDF.search(start) or _PDF_END.search(data, max(0, len(data) - 2 * _LOOK)):
        return "pdf"
    if start.startswith(b"PK\x03\x04"):
        return _zipped(data)
    if start.startswith(b"{\\rtf"):
        return "rtf"
    if _PACKED.match(start):
        return "packed"
    return "html" if _HTML.match(_plain(start)) else ""


def _zipped(data: bytes) -> str:
    """Return the format of a zip file by the names in its directory, or anywhere if it is torn."""
    if kind := _OPEN_KIND.search(data[:_LOOK]):
        return _OPEN_KINDS[kind[1]]
    end = data.rfind(b"PK\x05\x06")
    at = int.from_bytes(data[end + 16 : end + 20], "little") if end >= 0 else 0
    directory = data[at:end] if 0 < at < end else data
    found = {name: directory.find(member) for member, name in _MEMBERS.items()}
    there = [name for name, where in found.items() if where >= 0]
    return min(there, key=found.__getitem__) if there else ""


def _looks(data: bytes) -> str:
    """Return the format that a text looks like; plain text if it looks like no other."""
    start = _plain(data[: 8 * _LOOK])
    if start.lstrip()[:1] in (b"{", b"["):
        return "json"
    if _XML.match(start):
        kind = _OPEN_KIND.search(start)
        return _OPEN_KINDS[kind[1]] if kind else "xml"
    head = re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0]
    if _MAIL.match(start) and len(_MAIL_FIELDS.findall(head)) >= _MAIL_ENOUGH:
        return "email"
    return next((format for format, look in _LOOKS.items() if look.match(start)), "text")


def _plain(start: bytes) -> bytes:
    """Return the beginning of a text without its byte order mark, and UTF-16 as ASCII."""
    if start.startswith(codecs.BOM_UTF8):
        return start[len(codecs.BOM_UTF8) :]
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start.decode("utf-16", "replace").encode("ascii", "replace")
    return start
