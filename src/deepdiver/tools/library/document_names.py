"""From a passage to what it names.

Documents are linked by their titles standing in other documents' texts.
"""

from __future__ import annotations

import functools
import re
import unicodedata

LONGEST = 8
"""Words of a title that can be named. A longer one is a sentence, and nobody repeats it word for
word."""
SHARED = 8
"""Documents that go by one name; more of them, and it is a word such as Introduction, not a name.
"""
SHORTEST = 3
"""Letters of a name."""

_WORD = re.compile(r"\w+")
_KIND = re.compile(r"(?<=\S)\s*\([^()]*\)\s*$")
"""What is added to tell two of one name apart: Mercury (planet)."""
_MARKS = re.compile("[\u0300-\u036f]+")


def _words(text: str) -> list[str]:
    bare = text if text.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return _WORD.findall(bare)


def name_of_title(title: str) -> str:
    """Return by what a document is named in others; empty if its title is no name."""
    words = _words(_KIND.sub("", title))
    name = " ".join(words).lower()
    return name if 0 < len(words) <= LONGEST and len(name) >= SHORTEST else ""


@functools.lru_cache(maxsize=1_024)
def names_in(text: str) -> frozenset[str]:
    """Return everything in a text that may be the name of something.

    Runs of words from capital to capital.

    Figures count as capitals, and so does a script that has none.
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
