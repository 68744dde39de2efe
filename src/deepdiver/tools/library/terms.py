"""Finding passages by their words: BM25 in a tantivy index, whatever the script.

Words of Latin, Greek, Cyrillic and the like are told apart by what is no letter, lose their case
and accents, and their English endings. Scripts that put no spaces between words are indexed by
pairs of neighbouring characters.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING

from deepdiver.core.text import STOPWORDS

if TYPE_CHECKING:
    import tantivy

VERSION = 1
"""Raised whenever a text would give other words than before: an index of another version is made
anew."""

TITLE_WEIGHT = 2
"""A word of the title counts as so many words of each passage: a passage rarely repeats what its
text is about."""

MOST_TERMS = 128
"""Different words of a query that are looked for: a page pasted as a query must not take seconds.
"""

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Runs of Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean, which has spaces but joins
particles to words."""
_VOICING = frozenset((0x3099, 0x309A))
"""Japanese marks that make another letter, not an accented one."""


@functools.cache
def _marks() -> re.Pattern[str]:
    """Return what finds the marks that combine with a letter: accents, vowel points, viramas."""
    ranges = (*range(0x300, 0x3100), *range(0xA600, 0xAC00), 0xFB1E, *range(0xFE20, 0xFE30))
    held = [
        chr(code) for code in ranges if unicodedata.combining(chr(code)) and code not in _VOICING
    ]
    return re.compile(f"[{''.join(held)}]+")


def normalise(text: str) -> str:
    """Return a text as the index takes it.

    Without accents, and with spaces where its script has none.
    """
    if text.isascii():
        return text
    bare = unicodedata.normalize("NFC", _marks().sub("", unicodedata.normalize("NFKD", text)))
    return _SPACELESS.sub(_pairs, bare.encode("utf-8", "replace").decode("utf-8"))


def _pairs(run: re.Match[str]) -> str:
    chars = run.group()
    pairs = (chars[at : at + 2] for at in range(max(1, len(chars) - 1)))
    return f" {' '.join(pairs)} "


@functools.cache
def analyzer() -> tantivy.TextAnalyzer:
    """Return the analyzer that turns a normalised text into terms."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    little = sorted(
        {normalise(word) for word in STOPWORDS} | {"s", "t"}
    )  # what an apostrophe leaves behind
    made = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (
        Filter.remove_long(80),
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.custom_stopword(little),
        Filter.stemmer("english"),
    ):
        made = made.filter(step)
    return made.build()


def terms_of(text: str) -> list[str]:
    """Return the words of a text that the index knows it by, in their order."""
    return list(analyzer().analyze(normalise(text)))
