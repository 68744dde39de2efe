"""The language of a text, judged by its letters and most common words.

That is enough to notice that a question and the documents are in different languages.
"""

from __future__ import annotations

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


def language_of(text: str) -> str:
    """Return the language of a text, or else its script; empty if unknown."""
    text = text[:LETTERS]
    names = Counter(
        unicodedata.name(letter, "").split(" ", 1)[0].split("-", 1)[0]
        for letter in text
        if letter.isalpha()
    )
    if not names:
        return ""
    if names["HIRAGANA"] or names["KATAKANA"]:  # Japanese has Chinese characters too
        names["HIRAGANA"] += names.pop("KATAKANA", 0) + names.pop("CJK", 0)
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
