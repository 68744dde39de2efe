"""Rich text (RTF): paragraphs, headings, tables and footnotes, without fonts, colours, pictures."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace
from typing import Final

from deepdiver.tools.extract import table
from deepdiver.tools.extract.document_draft import DocumentDraft

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,40})(?P<number>-?\d{1,9})?[ ]?"
    rb"|\\'(?P<byte>[0-9A-Fa-f]{2})|\\(?P<sign>.)|(?P<brace>[{}])|(?P<plain>[^\\{}\r\n]+)",
    re.S,
)
_SILENT = frozenset(
    "colortbl fldinst footer footerf footerl footerr header headerf headerl headerr listtext "
    "nonshppict object pict pntext themedata xe tc".split()
)
"""Groups without text of the document."""
_SIGNS: Final = {b"~": "\u00a0", b"_": "\u2011", b"-": "", b"\n": "\n\n", b"\r": "\n\n"}
_WORDS: Final = {
    "bullet": "•",
    "emdash": "—",
    "endash": "–",
    "ldblquote": "“",
    "rdblquote": "”",
    "lquote": "‘",
    "rquote": "’",
    "line": "\n",
    "tab": "\t",
    "nestcell": " ",
    "emspace": " ",
    "enspace": " ",
}
_CHARSETS: Final = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    134: "gb18030",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
"""The encodings of fonts."""
_ROLES = frozenset({"info", "footnote", "fonttbl", "stylesheet"})
_SPOKEN = frozenset({"text", "title", "author", "footnote", "stylesheet"})
"""The roles of groups whose text is kept."""
_HEADING = re.compile(r"(?:heading[ ]?\d|title|subtitle)\b", re.I)
"""Names of styles."""
_BODY_LEVEL = 9
"""The outline level of a paragraph that is no heading."""


def read_rich_text(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read rich text."""
    draft = DocumentDraft(format)
    _Reader(draft).read(data)
    return draft


@dataclass
class _Group:
    """What holds until the closing brace."""

    role: str = "text"
    """What the group is for: text, silent, or the name of a field such as title."""
    skipped: int = 1
    """Characters after a Unicode character that say the same for older programs."""
    font: int = -1
    out: list[str] = field(default_factory=list)
    """Where its text goes."""


class _Reader:
    """Goes through the words and groups of a file, once."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._encoding = "cp1252"
        self._fonts: dict[int, str] = {}
        self._headings: set[int] = set()
        self._group = _Group()
        self._outer: list[_Group] = []
        self._bytes = bytearray()
        self._skip = 0
        self._starred = False
        self._style = self._defined = -1
        self._level = _BODY_LEVEL
        self._in_table = False
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._notes: list[str] = []

    def read(self, data: bytes) -> None:
        at = 0
        while token := _TOKEN.match(data, at) if data[at : at + 1] not in (b"\r", b"\n") else None:
            at = token.end()
            at += self._take(token)
            while data[at : at + 1] in (b"\r", b"\n"):
                at += 1
        self._in_table = False
        self._end_paragraph()
        self._end_table()

    def _take(self, token: re.Match[bytes]) -> int:
        """Take one token, and return how many bytes after it are binary data."""
        if token["byte"] or token["plain"]:
            if self._group.role in _SPOKEN:
                self._say_bytes(token["plain"] or bytes([int(token["byte"], 16)]))
            return 0
        self._flush_bytes()
        if token["brace"] == b"{":
            self._outer.append(self._group)
            self._group = replace(self._group)
        elif token["brace"]:
            self._close()
        elif token["sign"]:
            self._sign(token["sign"])
        else:
            return self._word(
                token["word"].decode("ascii"), int(token["number"]) if token["number"] else None
            )
        return 0

    def _say_bytes(self, data: bytes) -> None:
        """Take characters, except those that only older programs need."""
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._bytes += data[skipped:]

    def _flush_bytes(self) -> None:
        """Decode the bytes until now: characters of two bytes may come in two tokens."""
        if self._bytes:
            encoding = self._fonts.get(self._group.font, self._encoding)
            self._group.out.append(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _say(self, text: str) -> None:
        self._flush_bytes()
        self._group.out.append(text)

    def _close(self) -> None:
        closed = self._group
        self._skip = 0
        if not self._outer:
            return
        self._group = self._outer.pop()
        if closed.role == "stylesheet" and _HEADING.match(_joined(closed.out)):
            self._headings.add(self._defined)
        if closed.role == self._group.role:
            return
        text = _joined(closed.out)
        if closed.role in ("title", "author") and text:
            setattr(self._draft, closed.role, text)
        elif closed.role == "footnote" and text:
            self._notes.append(text)

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self._starred = True
        elif sign in (b"\\", b"{", b"}"):
            self._say_bytes(sign)
        else:
            self._say(_SIGNS.get(sign, ""))

    def _word(self, word: str, number: int | None) -> int:
        starred, self._starred = self._starred, False
        if word in _WORDS:
            self._say(_WORDS[word])
        elif word == "u" and number is not None:
            self._say(_character(number))
            self._skip = self._group.skipped
        elif word == "bin":
            return max(number or 0, 0)
        elif not (self._begin(word, starred) or self._declare(word, number)):
            self._lay_out(word, number)
        return 0

    def _begin(self, word: str, starred: bool) -> bool:
        """Begin a group with a role of its own, if the word does that."""
        role = self._group.role
        if role == "silent":
            return True
        if word in _ROLES or (word in ("title", "author") and role == "info"):
            role = word
        elif word in _SILENT or starred:
            role = "silent"
        else:
            return False
        self._group.role = role
        self._group.out = []
        return True

    def _declare(self, word: str, number: int | None) -> bool:
        """Take a declaration: an encoding, a font, a style."""
        if number is None:
            return False
        if word == "ansicpg":
            self._encoding = _known(f"cp{number}") or self._encoding
        elif word == "uc":
            self._group.skipped = min(max(number, 0), 10)
        elif word == "f":
            self._group.font = number
        elif word == "fcharset":
            self._fonts[self._group.font] = _CHARSETS.get(number, self._encoding)
        elif word in ("s", "outlinelevel"):
            self._set_style(word, number)
        else:
            return False
        return True

    def _set_style(self, word: str, number: int) -> None:
        """Define a style, or choose one for the paragraph."""
        defines = self._group.role == "stylesheet"
        if word == "s" and defines:
            self._defined = number
        elif word == "s":
            self._style = number
        elif not defines:
            self._level = number
        elif number < _BODY_LEVEL:
            self._headings.add(self._defined)

    def _lay_out(self, word: str, number: int | None) -> None:
        """End a paragraph, a cell or a row, or say how the next paragraph looks."""
        if self._group.role != "text":
            if word == "par":
                self._say("\n")
            return
        if word in ("par", "sect", "page"):
            self._end_paragraph()
        elif word == "pard":
            self._style, self._level, self._in_table = -1, _BODY_LEVEL, False
        elif word == "intbl":
            self._in_table = True
        elif word == "cell":
            self._cells.append(self._take_text())
        elif word == "row":
            self._rows.append(self._cells)
            self._cells = []

    def _take_text(self) -> str:
        self._flush_bytes()
        return _joined(self._group.out)

    def _end_paragraph(self) -> None:
        if self._in_table:
            self._say("\n")
            return
        text = self._take_text()
        if text:
            self._end_table()
        if self._level < _BODY_LEVEL or self._style in self._headings:
            self._draft.add_heading(" ".join(text.split()))
        else:
            self._draft.add(text)
        for note in self._notes:
            self._draft.add(f"Footnote: {note}")
        self._notes = []

    def _end_table(self) -> None:
        table.add_table(self._draft, self._rows)
        self._rows = []


def _joined(parts: list[str]) -> str:
    """Empty a list of parts of a text, and return the text, with half characters put together."""
    text = "".join(parts).strip()
    parts.clear()
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(number: int) -> str:
    """Return a character by its number, which is negative beyond 32,767."""
    return chr(number % 0x10000) if abs(number) <= 0x10000 else "\ufffd"


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return ""
