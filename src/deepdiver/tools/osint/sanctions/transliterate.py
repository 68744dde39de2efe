"""Names in other scripts, written in Latin letters.

`anyascii` has a table for every script and gives Chinese as pinyin. This module adds what it cannot
know, because it looks at one letter at a time: Greek digraphs, letters of Arabic and Hebrew that
are a consonant at the beginning of a word and a vowel inside it, and the Arabic article. Arabic and
Hebrew are written without most vowels: an a is put after each of their consonants, so that t and s
are not read as ts, and comparisons must look at consonants (see `VOWELLESS`). A Chinese name is
given by its sounds in Mandarin, a Korean or Japanese one as the table has it, which is often not
how its bearer spells it.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter

VOWELLESS = frozenset({"Arabic", "Hebrew"})
"""Scripts that leave most vowels out."""
LATIN = "Latin"
_USUAL_NAMES = {
    "Cjk": "Chinese",
    "Hangul": "Korean",
    "Hiragana": "Japanese",
    "Katakana": "Japanese",
}
"""Scripts whose names in Unicode are not the usual ones."""
SYLLABIC = frozenset({"Chinese", "Korean", "Japanese"})
"""Scripts that write no spaces within a name, and one syllable with each character."""

_REPLACEMENTS = {
    # Without accents: the sounds of two letters together.
    "Greek": (
        (r"\bμπ", "b"),
        (r"\bντ", "d"),
        (r"\bγκ", "g"),
        ("γγ", "ng"),
        ("ου", "ou"),
        ("αυ", "av"),
        ("ευ", "ev"),
    ),
    # The article is a word of its own (not in Allah), the feminine ending is a vowel, and waw is
    # one inside a word.
    "Arabic": (
        (r"\bعبدال(?=\w)", "عبد ال"),
        (r"\bالله\b", "allah"),
        (r"\bال(?=\w{3})", "al "),
        (r"ة\b", "a"),
        (r"(?<=\w)و", "u"),
        (r"\bو(?=\w)", "w"),
    ),
    # At the beginning of a word bet, kaf and pe are hard and vav is a consonant. Kaf and qof are q,
    # so that no kh arises.
    "Hebrew": (
        (r"\bב", "b"),
        (r"\bכ|ק", "q"),
        (r"\bפ", "p"),
        (r"(?<=\w)ו", "u"),
        (r"\bו(?=\w)", "v"),
        (r"(?<=\w)ה\b", "ah"),
        ("ש", "sh"),
    ),
}
"""Patterns and sounds for each script, in the order in which they are applied."""
_RULES = {
    name: [(re.compile(letters), sound) for letters, sound in replacements]
    for name, replacements in _REPLACEMENTS.items()
}


@functools.lru_cache(maxsize=16_384)
def _script_of(letter: str) -> str:
    word = unicodedata.name(letter, "").partition(" ")[0].title()
    return _USUAL_NAMES.get(word, word)


def script(text: str) -> str:
    """Return the script of most letters of a text: Latin, Cyrillic, …; Latin without letters."""
    if text.isascii():
        return LATIN
    counts = Counter(_script_of(letter) for letter in text if letter.isalpha())
    return counts.most_common(1)[0][0] if counts else LATIN


def latin(text: str) -> str:
    """Return a text in ASCII letters, in lower case, with spaces around each syllabic character."""
    if text.isascii():
        return text.lower()
    from anyascii import anyascii

    text = unicodedata.normalize("NFKC", text).lower()
    scripts = {_script_of(letter) for letter in text}
    for name in sorted(scripts & _RULES.keys()):
        text = _apply_rules(name, text)
    return anyascii("".join(map(_prepare, text))).lower()


def _apply_rules(name: str, text: str) -> str:
    """Return a text without accents, with the replacements of a script."""
    marked = unicodedata.normalize("NFD", text)
    text = "".join(char for char in marked if unicodedata.category(char) != "Mn")
    for letters, sound in _RULES[name]:
        text = letters.sub(sound, text)
    return text


def _prepare(letter: str) -> str:
    """Return a letter with spaces around it, with a vowel after it, or as it is, by its script."""
    script = _script_of(letter)
    if script in SYLLABIC:
        return f" {letter} "
    return _with_vowel(letter) if script in VOWELLESS else letter


@functools.lru_cache(maxsize=1_024)
def _with_vowel(letter: str) -> str:
    """Return a consonant in Latin letters with a vowel after it; another letter without one."""
    from anyascii import anyascii

    sound: str = anyascii(letter)
    return f"{sound}a" if sound.isalpha() and not set(sound) & set("aeiou") else sound
