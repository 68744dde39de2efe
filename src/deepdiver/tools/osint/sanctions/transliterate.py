"""Names in other scripts, in Latin letters.

`anyascii` has a table for every script and gives Chinese as pinyin. Here stands what it cannot
know, because it looks at one letter at a time: Greek digraphs, letters of Arabic and Hebrew that
are a consonant at the beginning of a word and a vowel inside it, the Arabic article. Arabic and
Hebrew are written without most vowels: an a is put after each of their consonants, so that t and s
are not read as ts, and who compares must look at consonants (see `VOWELLESS`). A Chinese name is
given by its sounds in Mandarin, a Korean or Japanese one as the table has it, which is often not
how its bearer spells it.
"""

from __future__ import annotations

import functools
import re
import unicodedata

VOWELLESS = frozenset({"Arabic", "Hebrew"})
"""Scripts that leave most vowels out."""
LATIN = "Latin"
_CALLED = {"Cjk": "Chinese", "Hangul": "Korean", "Hiragana": "Japanese", "Katakana": "Japanese"}
"""Scripts that Unicode calls otherwise than people do."""
SYLLABIC = frozenset({"Chinese", "Korean", "Japanese"})
"""Scripts that write no spaces within a name, and a syllable with each character."""

# Greek, without accents: what two letters sound like together.
_GREEK = [
    (re.compile(letters), sound)
    for letters, sound in (
        (r"\bμπ", "b"),
        (r"\bντ", "d"),
        (r"\bγκ", "g"),
        ("γγ", "ng"),
        ("ου", "ou"),
        ("αυ", "av"),
        ("ευ", "ev"),
    )
]
# Arabic: the article stands apart (not in Allah), the feminine ending is a vowel, and waw is one
# inside a word.
_ARABIC = [
    (re.compile(letters), sound)
    for letters, sound in (
        (r"\bعبدال(?=\w)", "عبد ال"),
        (r"\bالله\b", "allah"),
        (r"\bال(?=\w{3})", "al "),
        (r"ة\b", "a"),
        (r"(?<=\w)و", "u"),
        (r"\bو(?=\w)", "w"),
    )
]
# Hebrew: at the beginning of a word bet, kaf and pe are hard and vav is a consonant; q, so that
# nobody reads kh.
_HEBREW = [
    (re.compile(letters), sound)
    for letters, sound in (
        (r"\bב", "b"),
        (r"\bכ|ק", "q"),
        (r"\bפ", "p"),
        (r"(?<=\w)ו", "u"),
        (r"\bו(?=\w)", "v"),
        (r"(?<=\w)ה\b", "ah"),
        ("ש", "sh"),
    )
]
_RULES = {"Greek": _GREEK, "Arabic": _ARABIC, "Hebrew": _HEBREW}


@functools.lru_cache(maxsize=16_384)
def _script_of(letter: str) -> str:
    word = unicodedata.name(letter, "").partition(" ")[0].title()
    return _CALLED.get(word, word)


def script(text: str) -> str:
    """Return the script that most letters of a text are in.

    Latin, Cyrillic, Arabic; Latin where there are none.
    """
    if text.isascii():
        return LATIN
    counts: dict[str, int] = {}
    for letter in text:
        if letter.isalpha():
            name = _script_of(letter)
            counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name]) if counts else LATIN


def latin(text: str) -> str:
    """Return a text in ASCII letters, in lower case.

    Characters that are written without spaces stand apart.
    """
    if text.isascii():
        return text.lower()
    from anyascii import anyascii

    text = unicodedata.normalize("NFKC", text).lower()
    scripts = {_script_of(letter) for letter in text}
    for name in sorted(scripts & _RULES.keys()):
        text = "".join(
            c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn"
        )
        for letters, sound in _RULES[name]:
            text = letters.sub(sound, text)
    if scripts & SYLLABIC:
        text = "".join(
            f" {letter} " if _script_of(letter) in SYLLABIC else letter for letter in text
        )
    if scripts & VOWELLESS:
        text = "".join(
            _open(letter) if _script_of(letter) in VOWELLESS else letter for letter in text
        )
    return anyascii(text).lower()


@functools.lru_cache(maxsize=1_024)
def _open(letter: str) -> str:
    """Return a consonant with a vowel after it; what is no consonant as it is."""
    from anyascii import anyascii

    sound: str = anyascii(letter)
    return f"{sound}a" if sound.isalpha() and not set(sound) & set("aeiou") else sound
