"""The terms that texts and queries are indexed and searched by, in any script.

Words of Latin, Greek, Cyrillic and similar scripts are split at non-letters and lose their case,
their accents and their English endings. Scripts without spaces between words are indexed by pairs
of neighbouring characters.
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
"""The version of this module's output. Raise it when a text gives other terms than before: an index
of another version is rebuilt."""

TITLE_WEIGHT = 2
"""How many times a word of the title counts in each passage: a passage rarely repeats the topic of
its document."""

MOST_TERMS = 128
"""The most different terms of a query that are searched for: a page pasted as a query must not take
seconds."""

_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Runs of Thai, Lao, Burmese, Khmer, Chinese, Japanese and Korean. Korean has spaces, but joins
particles to words."""
_VOICING = frozenset((0x3099, 0x309A))
"""Japanese voicing marks, which make a different letter rather than an accented one."""


@functools.cache
def _marks() -> re.Pattern[str]:
    """Return the pattern of marks that combine with a letter: accents, vowel points, viramas."""
    ranges = (*range(0x300, 0x3100), *range(0xA600, 0xAC00), 0xFB1E, *range(0xFE20, 0xFE30))
    held = [
        chr(code) for code in ranges if unicodedata.combining(chr(code)) and code not in _VOICING
    ]
    return re.compile(f"[{''.join(held)}]+")


def normalise(text: str) -> str:
    """Return a text without accents, and with spaces where its script has none."""
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
    """Return the tantivy analyzer that splits a normalised text into terms."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    # An apostrophe leaves "s" and "t" behind.
    little = sorted({normalise(word) for word in STOPWORDS} | {"s", "t"})
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
    """Return the terms of a text, in order."""
    return list(analyzer().analyze(normalise(text)))
