"""Entries of a manual: an option, a setting or a command, and below it what it does.

    -L, --location
        Follow redirects, even many.

Who asks for one seldom names it, and nobody can use what is said of it without its name: an entry
is read from its beginning.
"""

from __future__ import annotations

import functools
import re

_TERM = (
    r"(?:-{1,2}[\w#?\[][^\n]*|(?:(?=[^\n]*\w)[^\n]{0,59}[^\s.!?:;,|*_]|[^\w\s|-]{1,2})\n"
    r"(?=[ \t]*[^\sa-z|])(?![ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]))"
)
"""The first line of an entry: an option, or a short line of its own, or a sign, that names what the
text below it describes. In running text, lines are longer, or go on in lower case."""
_ENTRY = re.compile(rf"(?:\A|(?<=\S)[ \t]*+\n[ \t]*\n)\s*+(?={_TERM})")
FEWEST = 10
"""The fewest entries of a manual: a letter or a newspaper has a few lines that look like terms, and
what stands below them is understood with its neighbours."""
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_LINE = re.compile(r"^(?=[ \t]*\S)", re.MULTILINE)
"""The beginning of a line that is not empty."""
_ENDS = (".", "!", "?", ":", ".)")
_IDENTIFIER = re.compile(
    r"(?<![\w.-])(?:--?[A-Za-z][\w-]*|\w+(?:[_.:]\w+)+|[A-Z]?[a-z]\w*[A-Z]\w*)(?!\w)"
)
"""`--long`, `-x`, `core.pager`, `busy_timeout`, `WatchdogSec`: no language has them as words."""


@functools.lru_cache(maxsize=64)
def entries_of(text: str) -> frozenset[int]:
    """Return where the entries of a manual begin; none in a text that is not one."""
    starts = (match.end() for match in _ENTRY.finditer(text))
    found = [at for at in starts if text[at] == "-" or (_is_told(text, at) and _set_in(text, at))]
    return frozenset(found if len(found) >= FEWEST else ())


def _is_told(text: str, at: int) -> bool:
    """Return whether something is said of a term: lines of code or of an address say nothing."""
    end = _EMPTY_LINE.search(text, at)
    return text[at : end.start() if end else len(text)].rstrip().endswith(_ENDS)


def _set_in(text: str, at: int) -> bool:
    """Return whether what is said of a term is set in deeper, where a text is set in at all."""
    below = text.index("\n", at) + 1
    own, next_ = (_indent(text, start) for start in (text.rfind("\n", 0, at) + 1, below))
    return not own or next_ > own


def _indent(text: str, at: int) -> int:
    """Return how far a line is set in."""
    end = at
    while text[end] in " \t":
        end += 1
    return len(text[at:end].expandtabs())


def term_of(text: str) -> str:
    """Return what an entry is about, if a text begins with one; else nothing."""
    entry = _ENTRY.match(text)
    if entry is None or not (text[entry.end()] == "-" or _is_told(text, entry.end())):
        return ""
    return text[entry.end() :].partition("\n")[0].rstrip()


def term_above(text: str, at: int) -> str:
    """Return what the entry is about that a place is in; nothing if the place may be beyond it.

    It is in the first paragraph of the entry, or all from its term on is set in deeper than that.
    """
    start = max((one for one in entries_of(text) if one < at), default=None)
    end = -1 if start is None else text.find("\n", start, at)
    if start is None or end < 0:
        return ""
    own = _indent(text, text.rfind("\n", 0, start) + 1)
    below = [match.start() for match in _LINE.finditer(text, end + 1, at + 1)]
    if _EMPTY_LINE.search(text, end, at) and not all(_indent(text, line) > own for line in below):
        return ""
    return text[start:end].strip()


def names_term(question: str, text: str) -> bool:
    """Return whether a question names, as it is written, what the entry is about that a text is."""
    named = _IDENTIFIER.findall(question)
    return bool(named) and not {*named}.isdisjoint(_IDENTIFIER.findall(term_of(text)))
