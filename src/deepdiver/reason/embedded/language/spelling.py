"""Corrects words of a question that a library does not know by words that it does.

There is no list of mistakes. A word that neither the library nor English has is replaced by the
nearest word of the library. A rare English word, or a name, that the library lacks may be a mistake
or not, so its neighbour is only offered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from deepdiver.core.text import STOPWORDS, stem, words
from deepdiver.reason.embedded.language.request import ASKING, AUXILIARIES, COMMANDS

SHORTEST = 4
"""Letters of the shortest word that is corrected: shorter ones have too many neighbours."""
COMMON = 12_000
"""Rank up to which a word is too common in English to be doubted."""
_ENDINGS = ("'s", "s", "es", "ed", "d", "ing", "ly")
_NO_WORD = 1_000_000
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_GRAMMAR = STOPWORDS | ASKING | AUXILIARIES | COMMANDS
"""Words that every library may be asked with."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A word of a question, and the word of the library that was probably meant."""

    written: str
    """The word as it was written."""
    meant: str
    """The word that the library has."""
    sure: bool
    """Whether it replaces the word. A name or a rare word may be meant as it is written."""


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Return the words of some texts with their numbers: a vocabulary to correct by."""
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(words(text))
    return counted


def correct(
    text: str, vocabulary: Mapping[str, int], rank: Callable[[str], int | None]
) -> tuple[str, tuple[Correction, ...]]:
    """Correct the words of a text that neither a library nor English has.

    Args:
        text: The question.
        vocabulary: The words of the library, in lower case, with their numbers.
        rank: Returns the rank of an English word by its frequency; None if it is no English word.

    Returns:
        The text, put right where it is surely wrong, and all corrections.
    """
    if not vocabulary:
        return text, ()
    stems = {stem(word) for word in vocabulary}
    found: dict[str, Correction] = {}
    for match in _WORD.finditer(text):
        written = match[0]
        if written in found or not _is_doubtful(text, match, vocabulary, stems):
            continue
        place = _rank(written.lower(), rank)
        if place <= COMMON:
            continue
        surely = place == _NO_WORD and (written.islower() or not match.start())
        if meant := _nearest(written.lower(), vocabulary, surely=surely):
            found[written] = Correction(written, meant, surely)
    sure = {one.written: one.meant for one in found.values() if one.sure}
    corrected = _WORD.sub(lambda match: sure.get(match[0], match[0]), text)
    return corrected, tuple(found.values())


def _rank(word: str, rank: Callable[[str], int | None]) -> int:
    """Return the rank of a word, or of the word that it is a form of."""
    forms = [word, *(word.removesuffix(end) for end in _ENDINGS if word.endswith(end))]
    forms += [f"{form}e" for form in forms[1:]]
    return min((found for form in forms if (found := rank(form)) is not None), default=_NO_WORD)


def _is_doubtful(
    text: str, match: re.Match[str], vocabulary: Mapping[str, int], stems: set[str]
) -> bool:
    """Return whether a word is in nobody's vocabulary, and neither a name nor part of a code."""
    word = match[0].lower()
    return (
        len(word) >= SHORTEST
        and not _in_code(text[: match.start()][-1:] + text[match.end() : match.end() + 1])
        and not match[0].isupper()
        and word not in vocabulary
        and word not in _GRAMMAR
        and stem(word) not in stems
    )


def _in_code(beside: str) -> bool:
    """Return whether the characters beside a word make it part of a code name or a path."""
    return any(char.isdigit() or char in "_/@#()" for char in beside)


def _nearest(word: str, vocabulary: Mapping[str, int], *, surely: bool) -> str:
    """Return the most frequent word at a distance of one mistake; empty if there is none.

    Two mistakes, or another first letter, would make "contract" of "contradict", "full" of "gull"
    in a library that has only the one.
    """
    listed = vocabulary.keys() | _GRAMMAR if surely else vocabulary
    ranked = [
        (-vocabulary.get(other, 0), other)
        for other in listed
        if abs(len(other) - len(word)) <= 1
        and len(other) >= SHORTEST - 1
        and (other[0] == word[0] or other[:2] == word[1::-1])
        and other.isalpha()
        and is_one_mistake(word, other)
    ]
    return min(ranked)[-1] if ranked else ""


def is_one_mistake(one: str, other: str) -> bool:
    """Return whether one letter is missing, added, wrong or exchanged with the next."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return True
    return (
        one[at + 1 :] == other[at + 1 :]
        or one[at + 1 :] == other[at:]
        or one[at:] == other[at + 1 :]
        or (one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :])
    )
