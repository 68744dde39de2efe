"""LaTeX: the text with its headings, lists and tables. Formulas are kept as they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from deepdiver.tools.extract import table
from deepdiver.tools.extract.decode import decode
from deepdiver.tools.extract.document_draft import DocumentDraft
from deepdiver.tools.extract.readers.plain_text import plain_lines

_COMMENT = re.compile(
    r"(?P<kept>\\begin\s*\{(?P<name>verbatim\*?|lstlisting|minted|Verbatim)\}.*?\\end\s*\{(?P=name)\}"
    r"|\\.)|%[^\n]*(?:\n[ \t]*(?=\S))?",
    re.S,
)
"""A comment, or (kept) code and escaped signs, in which there is none."""
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.S)
_BLOCK = re.compile(
    r"\\begin\s*\{(?:(?P<kept>verbatim\*?|lstlisting|minted|Verbatim|Highlighting|alltt)"
    r"|(?P<table>tabular[*x]?|longtable|tabulary)"
    r"|(?P<maths>equation\*?|align\*?|gather\*?|multline\*?|eqnarray\*?|math|displaymath))\}"
    r"|(?P<sign>\$\$|\\[\[(])"
)
"""The beginning of code, a table or a formula, which goes on to its own end."""
_CLOSING: Final = {"$$": r"\$\$", "\\[": r"\\\]", "\\(": r"\\\)"}
_TOKEN = re.compile(
    r"(?P<formula>\$(?:[^$\n]|\n(?!\s*\n))*\$)"
    r"|\\(?P<end>begin|end)\s*\{(?P<name>[^{}\n]{0,60})\}"
    r"|\\verb\*?(?P<quote>[^\w\s])(?P<verb>[^\n]*?)(?P=quote)"
    r"|\\(?P<accent>[\"'`^~=.])[ ]?(?:\{(?P<base>\\?[A-Za-z])\}|(?P<bare>\\[ij]\b|[A-Za-z]))"
    r"|\\(?P<below>[cvuHkbdr])(?:\{(?P<above>\\?[A-Za-z])\}|[ ](?P<next>[A-Za-z]))"
    r"|\\(?P<command>[A-Za-z@]+)\*?[ \t]*|\\(?P<sign>.)"
    r"|(?P<gap>[ \t]*\n[ \t]*(?:\n\s*)+)|(?P<plain>[^\\${}~`'\n-]+|.)",
    re.S,
)
_HEADINGS = frozenset(
    "part chapter section subsection subsubsection paragraph subparagraph".split()
)
_LISTS = frozenset({"itemize", "enumerate", "description", "compactitem", "compactenum"})
_SIZED = frozenset({"minipage", "thebibliography", "multicols", "adjustbox"})
"""Environments whose first argument is a size."""
_COLOURED = frozenset({"Highlighting", "alltt"})
"""Environments of code in which commands are not part of it."""
_DROPPED: Final = {
    "label": 1, "vspace": 1, "hspace": 1, "includegraphics": 1, "bibliographystyle": 1,
    "setlength": 2, "setcounter": 2, "addtocounter": 2, "newcommand": 2, "renewcommand": 2,
    "providecommand": 2, "newenvironment": 3, "usepackage": 1, "documentclass": 1, "pagestyle": 1,
    "thispagestyle": 1, "index": 1, "color": 1, "textcolor": 1, "fontsize": 2, "rule": 2,
    "definecolor": 3, "newtheorem": 2, "hypersetup": 1, "geometry": 1, "title": 1, "author": 1,
    "date": 1, "thanks": 1, "bibliography": 1, "addbibresource": 1, "href": 1, "input": 1,
    "include": 1, "def": 2, "let": 2, "hypertarget": 1, "hyperlink": 1,
    "graphicspath": 1, "cline": 1, "multicolumn": 2,
}  # fmt: skip
"""Commands that write nothing, with the number of arguments that go with them."""
_NAMED = frozenset({"cite", "citep", "citet", "autocite", "parencite", "textcite"})
_SIGNS: Final = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "i", "j": "j", "ldots": "…", "dots": "…", "textellipsis": "…",
    "textendash": "–", "textemdash": "—", "textquoteleft": "‘", "textquoteright": "’",
    "textquotedblleft": "“", "textquotedblright": "”", "textbackslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textbar": "|", "textless": "<", "textgreater": ">",
    "textunderscore": "_",
    "textdollar": "$", "texteuro": "€", "euro": "€", "pounds": "£", "S": "§", "P": "¶",
    "copyright": "©", "textcopyright": "©", "texttrademark": "™", "textregistered": "®",
    "textdegree": "°", "textbullet": "•", "quad": " ", "qquad": " ", "LaTeX": "LaTeX", "TeX": "TeX",
    "newline": "\n", "linebreak": "\n",
}  # fmt: skip
_ACCENTS: Final = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "k": "\u0328",
    "b": "\u0331", "d": "\u0323", "r": "\u030a",
}  # fmt: skip
_ESCAPED = frozenset("%&_#${} ")
_DASHES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"))
_YEAR_FIRST = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?!\d)")
_ROW_END = re.compile(r"(?<!\\)\\\\(?:\[[^\]\n]*\])?|\\tabularnewline\b")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot)\b|\\c(?:mid)?(?:rule|line)\S*"
)


def read_tex(
    data: bytes, *, format: str, mime: str = "", name: str = "", url: str = ""
) -> DocumentDraft:
    """Read LaTeX."""
    text, note = decode(data, mime)
    draft = DocumentDraft(format)
    draft.note(note)
    text = _COMMENT.sub(lambda match: match["kept"] or "", plain_lines(text))
    draft.title = " ".join(_declared(text, "title").split())
    draft.author = " ".join(_declared(text, "author").replace("\n", ", ").split())
    day = _YEAR_FIRST.search(_declared(text, "date"))
    draft.published = day[0] if day else ""
    if re.search(r"\\(?:input|include)\s*\{", text):
        draft.note("the files that it includes were not read with it")
    body = _BODY.search(text)
    _Reader(draft).read(body[1] if body else text)
    return draft


def _declared(text: str, command: str) -> str:
    found = re.search(rf"\\{command}\s*(?:\[[^\]]*\]\s*)?(?=\{{)", text)
    return words_of(argument_at(text, found.end())[0]) if found else ""


def argument_at(text: str, at: int) -> tuple[str, int]:
    """Return the argument in braces that begins at an offset, and the offset after it.

    Without a closing brace, it ends with its paragraph.
    """
    depth = 0
    for brace in re.compile(r"\\.|[{}]|\n[ \t]*\n", re.S).finditer(text, at):
        if brace[0] == "{":
            depth += 1
        elif brace[0] == "}":
            depth -= 1
        if depth <= 0 or brace[0].startswith("\n"):
            return text[at + 1 : brace.start()], brace.end()
    return text[at + 1 :], len(text)


def words_of(markup: str) -> str:
    """Return the text of a piece of LaTeX that is part of a line."""
    draft = DocumentDraft("tex")
    _Reader(draft).read(markup)
    return draft.text


class _Reader:
    """Goes through the commands and the words of a text."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._words: list[str] = []
        self._item = False
        self._listed = False
        self._lists = 0

    def read(self, text: str) -> None:
        at = 0
        endless: set[str] = set()
        while at < len(text):
            block = _BLOCK.match(text, at)
            end = _end_of(block, endless) if block else None
            if block and end:
                self._take_block(block, text[block.end() : end.start()], text[at : end.end()])
                at = end.end()
            elif token := _TOKEN.match(text, at):
                at = self._take(token, text)
        self._flush()

    def _take_block(self, block: re.Match[str], inner: str, whole: str) -> None:
        if block["kept"]:
            self._flush()
            self._draft.put(_code(block["kept"], inner))
        elif block["table"]:
            self._flush()
            table.add_table(self._draft, rows_of(inner))
        else:
            self._words.append(" ".join(whole.split()))

    def _take(self, token: re.Match[str], text: str) -> int:
        """Take one token, and return the offset at which to go on."""
        at = token.end()
        if token["plain"]:
            self._words.append({"{": "", "}": "", "~": " ", "\n": " "}.get(token[0], token[0]))
        elif token["command"]:
            return self._command(token["command"], text, at)
        elif token["gap"]:
            self._flush()
        elif token["end"]:
            return self._environment(token["end"] == "begin", token["name"], text, at)
        else:
            self._words.append(_sign(token))
        return at

    def _command(self, name: str, text: str, at: int) -> int:
        if name in _HEADINGS and (found := _optional(text, at)) < len(text):
            label, at = argument_at(text, found)
            self._flush()
            self._draft.add_heading(" ".join(words_of(label).split()))
        elif name == "item":
            self._flush()
            self._item = True
            end = _optional(text, at)
            if end > at:  # the term of a description
                self._words.append(words_of(text[at:end].strip()[1:-1]) + ": ")
            at = end
        elif name in _NAMED or name in ("ref", "eqref", "autoref", "cref", "pageref"):
            key, at = argument_at(text, _optional(text, at))
            self._words.append(f"[{key}]")
        elif name == "footnote":
            said, at = argument_at(text, _optional(text, at))
            self._words.append(f" ({words_of(said).strip()})")
        elif name == "caption":
            self._flush()
            at = _optional(text, at)
        elif name == "par":
            self._flush()
        elif name in _DROPPED:
            at = _after(text, at, _DROPPED[name])
        else:
            self._words.append(_SIGNS.get(name, ""))
        return at

    def _environment(self, begins: bool, name: str, text: str, at: int) -> int:
        self._flush()
        if name in _LISTS:
            self._lists += 1 if begins else -1
            self._listed = self._listed and self._lists > 0
            return _optional(text, at) if begins else at
        if begins:
            at = _optional(text, at)
        if begins and name == "abstract":
            self._draft.add_heading("Abstract")
        return _after(text, at, 1) if begins and name in _SIZED else at

    def _flush(self) -> None:
        """End the paragraph, or the item."""
        text = "".join(self._words)
        for written, sign in _DASHES:
            text = text.replace(written, sign)
        text = re.sub(r"[ \t]+", " ", re.sub(r" *\n *", "\n", text)).strip()
        self._words = []
        if not text:
            return
        if self._item:
            self._draft.add(f"- {text}", "\n" if self._listed else "\n\n")
        else:
            self._draft.add(text)
        self._listed, self._item = self._item, False


def _end_of(block: re.Match[str], endless: set[str]) -> re.Match[str] | None:
    """Return the end of code, a table or a formula, if there is one.

    Args:
        block: Its beginning.
        endless: What has no end after some place before; it is not sought again, so that a text of
            many beginnings is read in proportion.
    """
    name = block["kept"] or block["table"] or block["maths"]
    closing = rf"\\end\s*\{{{re.escape(name)}\}}" if name else _CLOSING[block["sign"]]
    if closing in endless:
        return None
    end = re.compile(closing).search(block.string, block.end())
    if not end:
        endless.add(closing)
    return end


def _code(name: str, code: str) -> str:
    """Return code as it is written, without the arguments of its environment."""
    code = re.sub(r"\A(?:\[[^\]\n]*\]|\{[^}\n]*\})*[ \t]*\n", "", code).rstrip()
    if name not in _COLOURED:
        return code
    lines = (line for line in code.split("\n"))
    return "\n".join(line[: len(line) - len(line.lstrip())] + words_of(line) for line in lines)


def _sign(token: re.Match[str]) -> str:
    """Return a formula, a character or an escaped sign."""
    if token["formula"]:
        return " ".join(token["formula"].split())
    if token["quote"]:
        return str(token["verb"])
    if mark := token["accent"] or token["below"]:
        base = token["base"] or token["bare"] or token["above"] or token["next"]
        return unicodedata.normalize("NFC", base.lstrip("\\") + _ACCENTS[mark])
    sign = token["sign"]
    if sign == "\\":
        return "\n"
    return sign if sign in _ESCAPED else " " if sign in ",;:\n" else ""


def _optional(text: str, at: int) -> int:
    """Return the offset after arguments in brackets, if there are any."""
    while found := re.compile(r"\s*\[[^\]]*\]").match(text, at):
        at = found.end()
    blank = re.compile(r"[ \t]*\n?[ \t]*").match(text, at)
    return blank.end() if blank and text[blank.end() : blank.end() + 1] == "{" else at


def _after(text: str, at: int, many: int) -> int:
    """Return the offset after some arguments in braces, with those in brackets between them."""
    for _ in range(many):
        at = _optional(text, at)
        if text[at : at + 1] == "\\":  # \newcommand\name{…}
            name = re.compile(r"\\(?:[A-Za-z@]+|.)").match(text, at)
            at = name.end() if name else at
        elif text[at : at + 1] == "{":
            at = argument_at(text, at)[1]
    return _optional(text, at) if many else at


def rows_of(markup: str) -> Iterator[list[str]]:
    """Yield the rows of a table."""
    body = markup.lstrip()
    while body.startswith(("[", "{")):  # its width, its position, its columns
        body = (
            body[_after(body, 0, 1) :].lstrip()
            if body[0] == "{"
            else body[_optional(body, 0) :].lstrip()
        )
    for row in _ROW_END.split(body):
        cells = re.split(r"(?<!\\)&", _RULE.sub("", row))
        yield [" ".join(words_of(cell).split()) for cell in cells]
