"""Manual pages (roff, with the macros `man` or `mdoc`), as running text with headings.

Only what writes text is understood. A page that programs itself (conditions, loops, registers)
loses that and keeps its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from deepdiver.errors import UnreadableError
from deepdiver.tools.extract import table
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers.plain_text import plain_lines

_ARGUMENT = re.compile(r'"((?:[^"]|"")*+)"?|(\S(?:[^\s\\]|\\.)*+)')
_ESCAPE = re.compile(
    r"\\(?:"
    r'(?P<comment>["#].*)'
    r"|(?P<code>\((?P<two>..)|\[(?P<long>[^\]\n]*)\])"
    r"|(?P<string>\*(?:\((?P<string_two>..)|\[(?P<string_long>[^\]\n]*)\]|(?P<string_one>.)))"
    r"|[fFgkmMnVY](?:\(..|\[[^\]\n]*\]|[+-]?.)"
    r"|s(?:\([+-]?..|[+-]?\[[^\]\n]*\]|[+-]?\d|[+-]?'[^'\n]*')"
    r"|[AbBCDhHlLNoRSvwXxZ](?:'[^'\n]*'|\"[^\"\n]*\")"
    r"|(?P<one>.))",
)
_SIGNS: Final = {
    "aq": "'", "at": "@", "bq": "‚", "bu": "•", "co": "©", "cq": "’", "dg": "†", "dq": '"',
    "em": "—", "en": "–", "Eu": "€", "eu": "€", "fc": "›", "Fc": "»", "fo": "‹", "Fo": "«",
    "ga": "`", "ha": "^", "hy": "-", "la": "<", "lq": "“", "lB": "[", "lC": "{", "mu": "×",
    "oq": "‘", "Po": "£", "ra": ">", "rB": "]", "rC": "}", "rg": "®", "rq": "”", "rs": "\\",
    "sc": "§", "sh": "#", "ss": "ß", "ti": "~", "tm": "™", "ul": "_", "->": "→", "<-": "←",
    ">=": "≥", "<=": "≤", "!=": "≠", "+-": "±", "12": "½", "14": "¼", "ba": "|", "br": "|",
    "or": "|",
    "mi": "-", "pl": "+", "eq": "=", "sl": "/", "Do": "$", "de": "°", "'a": "á", "'e": "é",
    "'i": "í", "'o": "ó", "'u": "ú", "`a": "à", "`e": "è", ":a": "ä", ":e": "ë", ":i": "ï",
    ":o": "ö", ":u": "ü", ":A": "Ä", ":O": "Ö", ":U": "Ü", "^a": "â", "^e": "ê", "^o": "ô",
    "~n": "ñ", ",c": "ç", "/o": "ø", "oa": "å", "ae": "æ", "AE": "Æ", "Tm": "™", "R": "®",
    "C`": '"', "C'": '"', "Aq": "'", "L\"": "“", "R\"": "”", "--": "—",
}  # fmt: skip
"""Characters with a name, and the strings that pod2man and most pages use."""
_ONE: Final = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "t": "\t",
    "'": "'",
    "`": "`",
}
"""Escapes of one character that stand for another; all others stand for nothing."""
_UNICODE = re.compile(r"u([0-9A-Fa-f]{4,6})")
_FONTS = frozenset("B I R SM SB CW".split())
_MIXED = frozenset("BR RB BI IB IR RI".split())
_PARAGRAPHS = frozenset("PP LP P HP Pp Lp sp".split())
_KEPT_BEGIN = frozenset({"nf", "EX", "Bd"})
_KEPT_END = frozenset({"fi", "EE", "Ed"})
_ENCLOSING: Final = {
    "Op": ("[", "]"), "Bq": ("[", "]"), "Oo": ("[", ""), "Oc": ("]", ""), "Pq": ("(", ")"),
    "Dq": ("“", "”"), "Qq": ('"', '"'), "Sq": ("‘", "’"), "Aq": ("<", ">"), "Brq": ("{", "}"),
    "Dl": ("", ""), "D1": ("", ""), "Ql": ("‘", "’"), "Fn": ("", ""), "Ft": ("", ""),
}  # fmt: skip
_PLAIN_MDOC = frozenset(
    "Ad An Ar At Bx Cd Cm Dv Em Er Ev Fa Fd Fx Ic In Li Lk Ms Mt Nx Ox Pa St Sx Sy Tn Ux Va Vt No "
    "Ns Nm Fl Xr Pf Ap Nd Xo Xc".split()
)
_MDOC = _PLAIN_MDOC | _ENCLOSING.keys()
"""Macros of mdoc that may be in the middle of a line."""
_BULLET = re.compile(r"[^\w-]{1,2}|[-*o]|\(?\w{1,2}[.)]")
"""A tag that only counts, and is not what the text is about."""
_UNNUMBERED = frozenset({"-bullet", "-dash", "-hyphen", "-item"})
_NO_SPACE_BEFORE = frozenset(".,:;)]?!")
_YEAR_FIRST = re.compile(r"\d{4}-\d\d(?:-\d\d)?")


def read_man_page(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read a manual page."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    _Reader(draft).read(plain_lines(text))
    return draft


def plain_text_of(text: str) -> str:
    """Return a text of roff with its escapes replaced."""
    return _ESCAPE.sub(_replacement, text) if "\\" in text else text


def _replacement(match: re.Match[str]) -> str:
    if match["code"] or match["string"]:
        named = match["two"] or match["long"] or match["string_two"] or match["string_long"]
        named = named or match["string_one"] or ""
        if code := _UNICODE.fullmatch(named):
            return chr(int(code[1], 16)) if int(code[1], 16) < 0x110000 else ""
        return _SIGNS.get(named, "")
    return _ONE.get(match["one"] or "", "")


def arguments_of(line: str) -> list[str]:
    """Return the arguments of a macro: words, or texts in quotation marks."""
    line = re.sub(r'\\".*', "", line)
    return [
        plain_text_of(quoted.replace('""', '"') if match[0].startswith('"') else bare)
        for match in _ARGUMENT.finditer(line)
        for quoted, bare in [match.groups(default="")]
    ]


@dataclass
class _List:
    """A list of mdoc."""

    kind: str
    """How it is set, as `-tag` or `-column`."""
    items: int = 0
    """Items so far."""
    rows: list[list[str]] = field(default_factory=list)
    """The rows of a table."""
    headed: bool = False
    """Whether the first row is set in bold, as a header."""

    def item(self, given: list[str], page: str) -> list[str]:
        """Take an item, and return the words that its paragraph begins with."""
        self.items += 1
        if self.kind == "-column":
            self.headed = self.headed or (self.items == 1 and given[:1] == ["Sy"])
            cells = [[*cell] for told, cell in groupby(given, "Ta".__eq__) if not told]
            self.rows.append([_mdoc_line(cell, page) for cell in cells])
            return []
        if self.kind == "-enum":
            return [f"{self.items}."]
        if self.kind in _UNNUMBERED:
            return ["-"]
        # A tag of several lines is closed by a macro of its own.
        tag = _mdoc_line(given, page)
        return [tag] if given[:1] == ["Xo"] else [tag, "\n"] if tag else []


class _Reader:
    """Goes through the lines of a page."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._words: list[str] = []
        self._kept = False
        self._name = ""
        self._heads = False
        """Whether the next line is a heading."""
        self._tag = False
        """Whether the next line is a tag, with a paragraph about it below."""
        self._lists: list[_List] = []
        """The lists of mdoc that are open."""

    def read(self, text: str) -> None:
        lines = iter(text.split("\n"))
        for line in lines:
            if line.startswith((".", "'")) and not line.startswith("'''"):
                self._macro(line[1:].lstrip(" \t"), lines)
            else:
                self._line(plain_text_of(line))
        self._flush()

    def _line(self, text: str) -> None:
        """Take a line of text."""
        if self._heads and text.strip():
            self._heading(text)
        elif self._kept:
            self._words.append(text)
        elif not text.strip():
            self._flush()
        else:
            # An indented line is shown on a line of its own.
            self._words.append(f"\n{text.rstrip()}" if text[0] in " \t" else text.strip())
            if self._tag:
                self._tag = False
                self._words.append("\n")

    def _flush(self) -> None:
        """End the paragraph."""
        if self._kept:
            self._draft.put("\n".join(self._words).strip("\n"))
        else:
            joined = re.sub(r" ?\n ?(?! )", "\n", " ".join(self._words))
            self._draft.add(joined)
        self._words = []

    def _heading(self, text: str) -> None:
        self._flush()
        self._heads = False
        self._draft.add_heading(" ".join(text.split()))

    def _macro(self, line: str, lines: Iterator[str]) -> None:
        name, _, rest = line.replace("\t", " ").partition(" ")
        if name in ("if", "ie"):  # on a terminal (n) as opposed to paper (t)
            condition, _, shown = rest.strip().partition(" ")
            if condition == "n" and shown.startswith("."):
                self._macro(shown[1:].lstrip(), lines)
        elif name in ("de", "de1", "am", "am1", "ig"):
            _skip(lines, arguments_of(rest)[1:2] if name != "ig" else arguments_of(rest)[:1])
        elif name == "TS":
            self._table(lines)
        elif name in ("TH", "Dt", "Dd"):
            self._title(name, arguments_of(rest))
        elif name == "so":
            raise UnreadableError(f"it only refers to another page: {rest.strip()[:200]}")
        elif name in ("SH", "SS", "Sh", "Ss"):
            self._flush()
            self._kept = False
            text = " ".join(arguments_of(rest))
            self._heads = not text
            self._draft.add_heading(text)
        else:
            self._lay_out(name, rest)

    def _lay_out(self, name: str, rest: str) -> None:
        if name in _KEPT_BEGIN or name in _KEPT_END:
            self._flush()
            self._kept = name in _KEPT_BEGIN
        elif name in _PARAGRAPHS:
            self._flush()
        elif name in ("RS", "TP", "TQ", "IP"):
            self._set_in(name, arguments_of(rest))
        elif name in ("Bl", "El", "It", "Xc"):
            self._list(name, arguments_of(rest))
        elif name == "br":
            self._words.append("\n")
        else:
            self._say(name, rest)

    def _set_in(self, name: str, given: list[str]) -> None:
        """Take a macro of a term and what is said of it."""
        if name == "RS":  # what stands above it is the term
            self._words += ["\n"] if self._words and self._words[-1] != "\n" else []
            return
        self._flush()
        self._tag = name != "IP"
        tag = "" if self._tag else "".join(given[:1])
        self._words = [tag] if _BULLET.fullmatch(tag) else [tag, "\n"] if tag else []

    def _list(self, name: str, given: list[str]) -> None:
        """Take a macro of a list of mdoc: its beginning, an item, the end of a tag, the end."""
        if name == "Xc":
            self._words.append("\n")
            return
        self._flush()
        if name == "Bl":
            self._lists.append(_List("".join(given[:1])))
        elif name == "El":
            ended = self._lists.pop() if self._lists else _List("")
            table.add_table(self._draft, ended.rows, head=ended.headed)
        else:
            self._words = self._lists[-1].item(given, self._name) if self._lists else []

    def _say(self, name: str, rest: str) -> None:
        """Take a macro that writes a line."""
        given = arguments_of(rest)
        if name in _FONTS:
            self._line(" ".join(given))
        elif name in _MIXED:
            self._line("".join(given))
        elif name in ("UR", "MT"):
            self._line("".join(given[:1]))
        elif name in ("URL", "MTO"):  # address, text, what follows
            address, text, after = [*given, "", "", ""][:3]
            self._line(f"{text} <{address}>{after}".lstrip())
        elif name in ("OP", "SY"):
            self._line(f"[{' '.join(given)}]" if name == "OP" else " ".join(given))
        elif name == "Nm":
            self._name = self._name or "".join(given[:1])
            self._line(_mdoc_line(["Nm", *given], self._name))
        elif name in _MDOC:
            self._line(_mdoc_line([name, *given], self._name))

    def _title(self, name: str, given: list[str]) -> None:
        if name == "Dd":
            self._date(" ".join(given))
            return
        section = given[1] if len(given) > 1 else ""
        if given and not self._draft.title:
            self._draft.title = f"{given[0].lower()}({section})" if section else given[0].lower()
        if name == "TH" and len(given) > 2:
            self._date(given[2])

    def _date(self, said: str) -> None:
        if day := _YEAR_FIRST.match(said.strip()):
            self._draft.published = day[0]

    def _table(self, lines: Iterator[str]) -> None:
        """Take a table of tbl: its options, its format up to a full stop, its rows."""
        self._flush()
        mark = "\t"
        rows: list[list[str]] = []
        began = False
        for line in lines:
            if line.startswith(".TE"):
                break
            if line.startswith(".T&"):  # other columns from here on
                began = False
            elif not began:
                told = re.search(r"tab\s*\((.)\)", line)
                mark = told[1] if told else mark
                began = line.rstrip().endswith(".")
            elif not line.startswith(".") and line.strip("_= "):
                rows.append([plain_text_of(cell) for cell in line.split(mark)])
        table.add_table(self._draft, _joined_blocks(rows))


def _joined_blocks(rows: list[list[str]]) -> Iterator[list[str]]:
    """Put cells together that are written on several lines, between `T{` and `T}`."""
    held: list[str] = []
    for row in rows:
        if held:
            if row[0].strip().startswith("T}"):
                held += row[1:]
            else:
                held[-1] += " " + " ".join(row)
                continue
        else:
            held = row
        if held[-1].strip() == "T{":
            held[-1] = ""
            continue
        yield held
        held = []
    if held:
        yield held


def _mdoc_line(words: list[str], page: str) -> str:
    """Return the text of a line of mdoc, in which macros may follow one another."""
    line = _MdocLine(page)
    at = 0
    while at < len(words):
        at += line.take(words[at], words[at + 1 : at + 3])
    return line.said + line.closing


class _MdocLine:
    """A line of mdoc while it is put together."""

    def __init__(self, page: str) -> None:
        self.said = self.closing = ""
        self._page = page
        self._glued = False

    def take(self, word: str, after: list[str]) -> int:
        """Take a word, and return how many words were used."""
        if word == "Ns":
            self._glued = True
        elif word in ("Xo", "Xc"):
            pass
        elif word == "Xr" and after:
            self._say(after[0] + "".join(f"({section})" for section in after[1:]))
            return 1 + len(after)
        elif word == "Nm":
            if not after or after[0] in _MDOC or after[0][:1] in _NO_SPACE_BEFORE:
                self._say(self._page)
        elif word == "Fl":
            self._say("-")
            self._glued = True
        elif word in _ENCLOSING:
            opening, end = _ENCLOSING[word]
            self._say(opening)
            self._glued = bool(opening) and word != "Oc"
            self.closing = end + self.closing
        elif word not in _PLAIN_MDOC:
            self._say(word)
        return 1

    def _say(self, word: str) -> None:
        tight = self._glued or not self.said or not word or word[0] in _NO_SPACE_BEFORE
        self.said += word if tight else f" {word}"
        self._glued = False


def _skip(lines: Iterator[str], end: list[str]) -> None:
    """Pass over the definition of a macro."""
    stop = "." + (end[0] if end else ".")
    for line in lines:
        if re.sub(r"^[.'][ \t]*", ".", line).rstrip() == stop:
            return
