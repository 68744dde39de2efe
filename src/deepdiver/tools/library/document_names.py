"""The names of documents, by which a passage of one document leads to another.

A document is linked to every passage that contains its title.
"""

from __future__ import annotations

import functools
import re
import unicodedata

LONGEST = 8
"""The most words that a name can have. A longer title is a sentence, and nobody repeats it word
for word."""
SHARED = 8
"""The most documents that can share a name. If more do, it is not a name but a word such as
Introduction."""
SHORTEST = 3
"""The fewest characters that a name can have."""

_WORD = re.compile(r"\w+")
_KIND = re.compile(r"(?<=\S)\s*\([^()]*\)\s*$")
"""A suffix that distinguishes two things of the same name: Mercury (planet)."""
_MARKS = re.compile("[\u0300-\u036f]+")


def _words(text: str) -> list[str]:
    bare = text if text.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return _WORD.findall(bare)


def name_of_title(title: str) -> str:
    """Return the name by which other documents refer to one; empty if its title is not a name."""
    words = _words(_KIND.sub("", title))
    name = " ".join(words).lower()
    return name if 0 < len(words) <= LONGEST and len(name) >= SHORTEST else ""


def names_of_others(text: str, title: str) -> frozenset[str]:
    """Return everything in a text that may be a name, except that of its own document."""
    return names_in(text) - {name_of_title(title)}


@functools.lru_cache(maxsize=1_024)
def names_in(text: str) -> frozenset[str]:
    """Return everything in a text that may be a name: runs of words from capital to capital.

    Digits count as capitals, and so do the letters of scripts without capitals.
    """
    words = _words(text)
    marked = [not word[0].islower() for word in words]
    lower = [word.lower() for word in words]
    found = set()
    for start, begins in enumerate(marked):
        if begins:
            for end in range(start, min(start + LONGEST, len(words))):
                if marked[end]:
                    found.add(" ".join(lower[start : end + 1]))
    return frozenset(name for name in found if len(name) >= SHORTEST)
