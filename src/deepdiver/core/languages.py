"""The language of a text, judged by its letters and most common words.

That is enough to notice that a question and its documents are in different languages, and to print
a report in the language of its question.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from deepdiver.core.text import words

SCRIPTS: Mapping[str, str] = {
    "CYRILLIC": "Cyrillic letters",
    "CJK": "Chinese characters",
    "HIRAGANA": "Japanese characters",
    "KATAKANA": "Japanese characters",
    "HANGUL": "Korean letters",
    "ARABIC": "Arabic letters",
    "HEBREW": "Hebrew letters",
    "GREEK": "Greek letters",
    "DEVANAGARI": "Devanagari letters",
    "THAI": "Thai letters",
}
"""The scripts that can be named, by the first word of the Unicode names of their letters. Russian
and Bulgarian are not distinguished."""
COMMON: Mapping[str, frozenset[str]] = {
    "English": frozenset(
        "the of and to was were is are for with that what who when which how did does by "
        "from".split()
    ),
    "German": frozenset(
        "der die das und ist war wurde wurden den dem ein eine nicht mit von zu auf sich "
        "auch im".split()
    ),
    "French": frozenset(
        "le la les et des une est était dans pour que qui sur avec par au aux du ne pas".split()
    ),
    "Spanish": frozenset(
        "el la los las y es fue una que en por con para del se su al como más".split()
    ),
    "Italian": frozenset(
        "il la gli e è una che di per con del della nel sono stato era non dei si".split()
    ),
    "Portuguese": frozenset(
        "o os as e é foi uma que em por com para do da dos das não se ao".split()
    ),
    "Dutch": frozenset(
        "de het een en is was werd van op met voor dat niet aan door te zijn bij ook".split()
    ),
    "Swedish": frozenset(
        "och det att en ett är var som på av för med den till inte har om från".split()
    ),
}
"""The most common words of languages in Latin letters."""
LETTERS = 4_000
"""How many characters of a text are examined."""
EAST_WEIGHT = 2
"""How many letters a character of East Asia counts for: a word has some two of these, and some five
letters elsewhere, and texts on technical matters are full of Latin names."""
CODES: Mapping[str, str] = {
    "English": "en",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Italian": "it",
    "Portuguese": "pt",
    "Dutch": "nl",
    "Swedish": "sv",
    "Chinese characters": "zh",
    "Japanese characters": "ja",
    "Korean letters": "ko",
    "Hebrew letters": "he",
    "Greek letters": "el",
    "Thai letters": "th",
}
"""Codes (ISO 639-1) of what `language_of` tells. Scripts that several languages share have none."""
NAMES: Mapping[str, str] = {name.split()[0].casefold(): code for name, code in CODES.items()} | {
    "deutsch": "de",
    "français": "fr",
    "francais": "fr",
    "español": "es",
    "espanol": "es",
    "castellano": "es",
    "italiano": "it",
    "português": "pt",
    "portugues": "pt",
    "nederlands": "nl",
    "svenska": "sv",
    "mandarin": "zh",
    "中文": "zh",
    "简体中文": "zh",
    "日本語": "ja",
    "한국어": "ko",
}
"""Codes of languages by what people call them: in English, and in the language itself."""
UNSPACED = frozenset({"ja", "zh", "th"})
"""Languages without spaces between words: lengths are told in characters."""
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESSES = re.compile(r"\S+@\S+|\w+://\S+|\bwww\.\S+")
"""Addresses say nothing about the language around them: "com" is a word of Portuguese."""


def language_of(text: str) -> str:
    """Return the language of a text, or else its script; empty if unknown."""
    return _language_of(text[:LETTERS])


@functools.lru_cache(maxsize=1_024)
def _language_of(text: str) -> str:
    # Remembered, since an audit asks about the same quotes for each of its lines.
    if any(sign in text for sign in ("@", "://", "www.")):
        text = _ADDRESSES.sub(" ", text)
    names = _letters_by_script(text)
    if not names:
        return ""
    if names["HIRAGANA"] or names["KATAKANA"]:  # Japanese has Chinese characters too
        names["HIRAGANA"] += names.pop("KATAKANA", 0) + names.pop("CJK", 0)
    for east in ("HIRAGANA", "CJK", "HANGUL"):  # a character says as much as several Latin letters
        names[east] *= EAST_WEIGHT
    script, count = names.most_common(1)[0]
    if script in SCRIPTS and 2 * count > names.total():
        return SCRIPTS[script]
    if script != "LATIN":
        return ""
    said = words(text)
    scores = sorted(
        ((sum(word in common for word in said), name) for name, common in COMMON.items()),
        reverse=True,
    )
    (most, name), (next_most, _) = scores[:2]
    return name if most >= 2 and most > next_most else ""


def _letters_by_script(text: str) -> Counter[str]:
    """Return how many letters of each script a text has."""
    if text.isascii():
        return Counter(LATIN=1) if any(map(str.isalpha, text)) else Counter()
    names = Counter[str]()
    for letter, times in Counter(filter(str.isalpha, text)).items():
        names[_script_of(letter)] += times
    return names


@functools.lru_cache(maxsize=4_096)
def _script_of(letter: str) -> str:
    return unicodedata.name(letter, "").split(" ", 1)[0].split("-", 1)[0]


def code_of(text: str) -> str:
    """Return the code of the language of a text; empty if it is not known."""
    return CODES.get(language_of(text), "")


def code_named(name: str) -> str:
    """Return the code of a language that somebody names, such as `German`, `pt-BR` or `日本語`.

    Empty: it is not known.
    """
    called = [word.casefold() for word in _WORD.findall(name)]
    first = called[0] if called and called[0] in CODES.values() else ""
    return first or next((NAMES[word] for word in called if word in NAMES), "")
