"""Questions within a question: "the composer of Aschenbrodel" is asked first, then replaced.

"Who ruled the country where the composer of Aschenbrodel was a citizen?" contains two questions.
The innermost is asked first; with its answer in its place the next can be asked, until only the
question itself is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from deepdiver.reason.embedded.word_lists import (
    AUXILIARIES,
    PREPOSITIONS,
    ROLES,
)

NOUN_WORDS = 3
"""The most words of a noun: the main international airport."""
WITHIN = 6
"""Words at the beginning of a question that include its question word: At the 2011 census, what was
..."""
REST = 2
"""Words, besides the small ones, that must remain around a phrase: the rest must still ask
something."""

_WORD = re.compile(r"\"[^\"]+\"|“[^”]+”|[\w&][\w'’.&-]*|[,;?]")
_QUESTION = frozenset("who whom whose what which when where how".split())
_SEVERAL = re.compile(r"[.!?]\s+[A-Z][a-z]+ [a-z]")
_RELATIVE = frozenset("who whom whose that which where when".split())
_JOINING = frozenset("of the and und de la du von van in on with for to at a by".split())
"""Small words within names."""
_SOUGHT = ROLES | frozenset(
    "performer performers artist birthplace place country state city capital continent region "
    "county river mouth sea company creator creation developer publisher screenwriter star network "
    "school team leader party".split()
)
"""Nouns that, followed by "of" and a name, ask for something other than the name: the mouth of the
Tarn, but not the era of Bo."""
_APPOSED = frozenset(
    "village city town state county island province district republic university kingdom river "
    "municipality region battle treaty company band city-state".split()
)
"""Nouns before a name, with or without "of", that ask nothing: the village of Clonbrook."""
_PLACES = frozenset("country state city town county village region district".split())
_CLOSING = frozenset(
    "located born found held fought formed set based situated from buried died founded built made "
    "published released citizen licensed".split()
)
"""Words that end a clause about where or whose something is: ... is located, ... was born."""
_BEFORE_NOUNS = frozenset(
    "main birth alma former current late home native founding lead original".split()
)
"""Words after an owner that come before the noun: Big Eye's main director."""
_PEOPLE = re.compile(r"(?:ish|an|ese|ch|ic)$")
_COPULA = re.compile(r"(?:who|what|which)\b[^,;?]*?\b(?:is|was|are|were)", re.IGNORECASE)
_AFTER_CLOSING = re.compile(r"\s+(?:in|of|by|at|from|to broadcast)(?=\s+[a-z]|\s*[,;?]|\s*$)")


@dataclass(frozen=True, slots=True)
class NestedQuestion:
    """A phrase of a question that can be asked by itself."""

    question: str
    """The phrase as a question."""
    start: int
    """Where the phrase begins in the outer question."""
    end: int
    """Where it ends."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int

    @property
    def named(self) -> bool:
        return self.text[0] in '"“' or self.text[0].isupper() or self.text[0].isdigit()

    @property
    def low(self) -> str:
        return self.text.lower()


def innermost_question(question: str) -> NestedQuestion | None:
    """Return the phrase that is described by names alone; None if there is none."""
    listed = [_Token(m.group(), m.start(), m.end()) for m in _WORD.finditer(question)]
    if _SEVERAL.search(question) or not any(token.low in _QUESTION for token in listed[:WITHIN]):
        # Statements before the question: too many of their phrases would be taken for questions.
        return None
    found = [*_phrases(question, listed), *_owned(question, listed)]
    kept = [item for item in found if _leaves_enough(question, item)]
    return max(kept, key=lambda item: (item.start, -item.end), default=None)


def _leaves_enough(question: str, item: NestedQuestion) -> bool:
    rest = f"{question[: item.start]} {question[item.end :]}"
    telling = [
        w
        for w in re.findall(r"\w+", rest.lower())
        if w not in AUXILIARIES and w not in PREPOSITIONS
    ]
    return len(telling) >= REST


def _phrases(question: str, listed: list[_Token]) -> Iterator[NestedQuestion]:
    """Yield the phrases after "the": a noun, and the words that say which one."""
    for at, token in enumerate(listed):
        if token.text != "the":
            continue
        noun = _noun(listed, at + 1)
        if not noun:
            continue
        behind = at + 1 + noun
        if behind >= len(listed) or listed[behind].text in ",;?":
            continue
        last = listed[behind - 1].low
        told = listed[behind]
        end = _end(listed, behind, last)
        if end is None or not any(item.named for item in listed[behind : end + 1]):
            continue
        if not _asks(listed[behind + 1 : end + 1]) and not _is_the_answer(
            question, token.start, listed[end].end
        ):
            yield _nested(question, token.start, _stretched(question, listed[end].end, told), last)


def _asks(told: list[_Token]) -> bool:
    """Return whether a phrase contains the question word: headquartered in what city."""
    words = [token.low for token in told]
    return "what" in words or any(
        one in PREPOSITIONS and other in {"which", "whom"} for one, other in pairwise(words[1:])
    )


def _is_the_answer(question: str, start: int, end: int) -> bool:
    """Return whether a phrase is what the question asks for.

    What country is the birthplace of Ada Berg?
    """
    return bool(_COPULA.fullmatch(question[:start].strip())) and not re.search(
        r"\w", question[end:]
    )


def _noun(listed: list[_Token], at: int) -> int:
    """Return the number of words before a relative, a preposition, a name or a participle."""
    count = 0
    while at + count < len(listed) and count < NOUN_WORDS:
        token = listed[at + count]
        if (
            token.named
            or token.low in _RELATIVE
            or token.low in PREPOSITIONS
            or token.low in AUXILIARIES
        ):
            break
        if token.text in {",", ";", "?", "the", "a", "an", "and", "or"} or (
            count and _participle(token.low)
        ):
            break
        count += 1
    return count


def _participle(word: str) -> bool:
    return len(word) > 4 and word.endswith(("ed", "ing"))


def _end(listed: list[_Token], behind: int, noun: str) -> int | None:
    """Return the last word of the description after a noun; None if it describes nothing."""
    told = listed[behind]
    relative = told.low in _RELATIVE or _relative_next(listed, behind)
    if told.low in PREPOSITIONS and not relative:
        return _end_after_preposition(listed, behind, noun)
    if not (told.named or relative or _tells(told.low)):
        return None
    if told.named and _apposed(listed, behind, noun):
        return None  # the live album Maiden Japan
    return _clause_end(listed, behind)


def _end_after_preposition(listed: list[_Token], behind: int, noun: str) -> int | None:
    first = behind + 1
    if first < len(listed) and listed[first].text == "the":
        first += 1
    if first >= len(listed) or not listed[first].named:
        return None
    asks = noun in _SOUGHT and not (noun in _APPOSED and listed[behind].low == "of")
    return _named_end(listed, first) if asks else None


def _relative_next(listed: list[_Token], at: int) -> bool:
    return at + 1 < len(listed) and listed[at + 1].low in _RELATIVE


def _name_end(listed: list[_Token], at: int) -> int:
    """Return the last word of a name, including small words after which the name continues."""
    end = at
    while end + 1 < len(listed):
        ahead = end + 1
        while (
            ahead < len(listed)
            and (listed[ahead].low in _JOINING or listed[ahead].text == ",")
            and ahead - end < 3
        ):
            ahead += 1
        if ahead < len(listed) and listed[ahead].named:
            end = ahead
        else:
            break
    return end


def _named_end(listed: list[_Token], at: int) -> int:
    """Return the last word of a name, or of one that begins with a nationality.

    The Swedish artist Ada Berg.
    """
    end = _name_end(listed, at)
    if end > at or not _PEOPLE.search(listed[at].text):
        return end
    ahead = at + 1
    while (
        ahead < len(listed)
        and not listed[ahead].named
        and _plain(listed[ahead])
        and ahead - at <= NOUN_WORDS
    ):
        ahead += 1
    return (
        _name_end(listed, ahead)
        if ahead < len(listed) and listed[ahead].named and ahead > at + 1
        else end
    )


def _plain(token: _Token) -> bool:
    return (
        token.text not in ",;?" and token.low not in PREPOSITIONS and token.low not in AUXILIARIES
    )


def _tells(word: str) -> bool:
    return word == "the" or _participle(word)


def _apposed(listed: list[_Token], at: int, noun: str) -> bool:
    """Return whether a name stands beside its noun without a description of its own.

    Not so in "the country Dai Jitao is from".
    """
    if listed[at].text[0] in '"“':
        return True
    behind = _name_end(listed, at) + 1
    if behind >= len(listed) or listed[behind].text in ",;?" or listed[behind].low in PREPOSITIONS:
        return True
    return noun not in _SOUGHT or (
        noun in _APPOSED and noun not in _PLACES and listed[behind].low in AUXILIARIES
    )


def _clause_end(listed: list[_Token], at: int) -> int:
    """Return the last word of a clause: before a comma, or the closing word after a name."""
    end, named = at, False
    for number in range(at, len(listed)):
        if listed[number].text in ",;?" and not _within_name(listed, number):
            break
        end, named = number, named or listed[number].named
        if named and listed[number].low in _CLOSING:
            break
    return end


def _within_name(listed: list[_Token], at: int) -> bool:
    return (
        listed[at].text == ","
        and listed[at - 1].named
        and at + 1 < len(listed)
        and listed[at + 1].named
    )


def _stretched(question: str, end: int, told: _Token) -> int:
    """Include the preposition after a closing word: ... is located in."""
    match = _AFTER_CLOSING.match(question, end) if told.named or told.low in _RELATIVE else None
    return match.end() if match else end


def _owned(question: str, listed: list[_Token]) -> Iterator[NestedQuestion]:
    """Yield what belongs to a name: Akinoshu Kenji's birthplace."""
    for at, token in enumerate(listed):
        if not token.named or not re.search(r"['’]s?$", token.text):
            continue
        qualified = at + 1 < len(listed) and listed[at + 1].low in _BEFORE_NOUNS
        count = min(_noun(listed, at + 1), 2 if qualified else 1)
        end = listed[at + count]
        if not count or end.low not in _SOUGHT | {"mater", "hometown", "homeland"}:
            continue
        place = end.end + (len(" of birth") if question.startswith(" of birth", end.end) else 0)
        yield _nested(question, listed[_name_start(listed, at)].start, place, end.low)


def _name_start(listed: list[_Token], at: int) -> int:
    """Return the first word of a name, including small words after which the name continues."""
    while at and (
        listed[at - 1].named or (listed[at - 1].low in _JOINING and at > 1 and listed[at - 2].named)
    ):
        at -= 1
    return at


def _nested(question: str, start: int, end: int, noun: str) -> NestedQuestion:
    who = noun in ROLES or noun in {"performer", "performers", "artist", "individual", "character"}
    return NestedQuestion(f"{'Who' if who else 'What'} is {question[start:end]}?", start, end)
