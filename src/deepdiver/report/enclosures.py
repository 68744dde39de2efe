"""Where a citation stands beside what encloses its words: quotation marks and short brackets.

A quotation is what somebody else has said, to which a number does not belong: “85%” [1], and not
“85% [1]”. A bracket that holds a clause keeps what is cited for this clause alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deepdiver.core.text import STOPWORDS, count_words

_QUOTATION = re.compile(
    r"""(?<!\w)"(?=\S)[^"]+" | “[^“”]+” | „[^„“”]+[“”] | «[^«»]+» | »(?=\S)[^«»]+«
    | 「[^「」]+」""",
    re.VERBOSE,
)
_WITHIN_QUOTATION = re.compile(
    r"""(?<!\w)'(?=\S)[^']+'(?!\w) | ‘[^‘]+?’(?!\w) | ‚[^‚‘]+‘ | ‹[^‹›]+›""", re.VERBOSE
)
"""Quotation marks that are apostrophes elsewhere: what seems to be between them may not be."""
_BRACKET = re.compile(r"\([^()]+\)|\[[^\[\]]+\]|（[^（）]+）")
_COUNTED = re.compile(r"[ \u00a0\u202f]([a-z]?[A-Z]{1,3}[a-z]?|[^\W\d_]{2,}s|[%‰°])(?![\w-])|%")
"""A unit, or a noun in the plural, behind a figure."""
_STOPS = " \u00a0\u202f.,;:!?…"
"""What may stand between a word and the sign that closes what it is enclosed by."""
CLAUSE_WORDS = 4
"""The fewest words in brackets that may be a clause, with a citation of its own."""


def behind_enclosing(text: str, place: int) -> int:
    """Return a place of a text, or the one behind the quotation or bracket that it is within."""
    ends = [end for start, end in _enclosing(text, place) if start < place < end]
    return behind_enclosing(text, max(ends)) if ends else place


def behind_counted(text: str, place: int) -> int:
    """Return the place behind what a figure counts, if a place is behind the figure: 10 seconds."""
    counted = _COUNTED.match(text, place) if text[:place][-1:].isdigit() else None
    return counted.end() if counted and (counted[1] or "").lower() not in STOPWORDS else place


def _enclosing(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield what a citation in a place must not be within."""
    for found in _QUOTATION.finditer(text):
        # A message that is quoted as a whole has its citations where its writer put them.
        if found.start() > 0 or _closes(text, place, found):
            yield found.span()
    for found in _WITHIN_QUOTATION.finditer(text):
        if _closes(text, place, found):
            yield found.span()
    for found in _BRACKET.finditer(text):
        if _closes(text, place, found) and count_words(found[0]) < CLAUSE_WORDS:
            yield found.span()


def _closes(text: str, place: int, found: re.Match[str]) -> bool:
    """Whether nothing but the closing sign, and a stop before it, stands behind a place."""
    return found.start() < place and not text[place : found.end() - 1].strip(_STOPS)
