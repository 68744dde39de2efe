"""Words of sentences and quotes in their places, so that one can be compared with the other."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from deepdiver.core.text import STOPWORDS, blocks, fold, sentences, stem, words

_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)*(?![^\W\d_])|[^\W_]+(?:'[^\W_]+)*|[%$€£¥]|[,;:()|/-]", re.UNICODE
)
_DASH = re.compile(r"\s-+\s|--+")
"""A dash between clauses; one inside a word is a hyphen."""
_JOINTS = frozenset(("and", "but", "while", "whereas", "which", "although", "though", "because"))
"""Words that begin another clause."""
_SAME = 4
"""Letters from which on a common beginning makes two words akin: deliver and deliveries."""
_ENDING = 2
"""Letters of the shorter word that may differ at its end."""
_STOPS = frozenset(",;:()|")
_OTHER = frozenset(
    "der die das und ist den dem ein eine nicht mit von zu im auf le la les et des une est dans "
    "pour que qui au du el los las y una en por con para del il gli e di che per non os em com um "
    "uma não het een van och det att är som på av för med de te zijn es se su al como sich "
    "auch".split()
)
"""Function words of German, French, Spanish, Italian, Portuguese, Dutch and Swedish."""
_GERMAN = frozenset(
    "der die das den dem des ein eine einen einem einer und oder ist sind wird werden nicht kein "
    "keine mit von zu zum zur im auf für bei nach aus wie sich auch als wir unser sie es "
    "soll".split()
)
"""Function words of German."""
NEGATORS = frozenset(
    ("not", "no", "never", "neither", "nor", "cannot", "without", "none", "nobody", "nothing")
)


_NEGATIVE = frozenset(
    map(
        stem,
        words(
            "not no never neither nor cannot without none nobody nothing few fewer little less "
            "lack fail failure refuse reject deny denied unable except exclude avoid prevent stop "
            "end cease absent absence missing only rather instead zero impossible inability "
            "insufficient hardly barely scarcely prohibit forbid exempt omit ignore regardless "
            "outside beyond yet before against free unlike false"
        ),
    )
)
"""Words that may carry a negation."""
_TURNED = re.compile(r"(?:un(?!i|der|til)|non)\w{5}|\w+less$")
"""Words that a prefix or an ending makes negative: unavailable, but not unit or understand."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a mark."""

    word: str
    """In lower case."""
    stem: str
    """Without its ending."""
    counts: bool
    """Whether it says what a text is about."""
    raw: str
    """As it is written."""

    @property
    def is_number(self) -> bool:
        """Whether it is written in figures."""
        return self.word[0].isdigit() and self.word[-1].isdigit()

    @property
    def is_word(self) -> bool:
        """Whether it has letters."""
        return self.word[0].isalpha() or self.word[-1].isalpha()

    @property
    def negates(self) -> bool:
        """Whether it turns round what follows."""
        return self.word in NEGATORS or self.word.endswith("n't")

    @property
    def may_negate(self) -> bool:
        """Whether it may carry a negation."""
        return self.negates or self.stem in _NEGATIVE or _TURNED.match(self.word) is not None

    @property
    def breaks(self) -> bool:
        """Whether it is a mark between clauses."""
        return self.word in _STOPS


Unit = tuple[Token, ...]
"""A sentence, a heading or a row of a table."""


@functools.lru_cache(maxsize=512)
def read_unit(text: str) -> Unit:
    """Return the words of one sentence."""
    plain = _DASH.sub("; ", fold(text)[0])
    return tuple(_token(match.group()) for match in _TOKEN.finditer(plain))


def _token(raw: str) -> Token:
    word = raw.lower()
    counts = word[0].isdigit() or (
        word[0].isalpha()
        and len(word) > 1
        and word not in STOPWORDS
        and word not in NEGATORS
        and not word.endswith("n't")
    )
    return Token(word.removesuffix("'s"), stem(word), counts, raw)


@functools.lru_cache(maxsize=128)
def read_units(text: str) -> tuple[Unit, ...]:
    """Return the words of a text by sentences, headings and rows."""
    spans = sorted([*sentences(text), *(span for span, heading in blocks(text) if heading)])
    return tuple(unit for span in spans if (unit := read_unit(span.of(text))))


def is_english(text: str) -> bool:
    """Return whether a text has at least as many function words of English as of its neighbours."""
    said = words(text)
    return sum(word in STOPWORDS for word in said) >= sum(word in _OTHER for word in said)


def is_german(text: str) -> bool:
    """Return whether a text has more function words of German than of English."""
    said = words(text)
    return sum(word in _GERMAN for word in said) > sum(word in STOPWORDS for word in said)


@functools.lru_cache(maxsize=1 << 16)
def akin(one: str, other: str) -> bool:
    """Return whether two stems are of the same family: deliver and deliveri, fail and failur."""
    if one == other:
        return True
    same = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        same += 1
    return same >= _SAME and same >= min(len(one), len(other)) - _ENDING


class Vocabulary:
    """The stems of some texts, to ask whether a word or one of its family is there."""

    def __init__(self, units: Iterable[Unit]) -> None:
        """Take the words of units."""
        self.words = {token.word for unit in units for token in unit}
        self._stems: dict[str, set[str]] = {}
        for word in self.words:
            self._stems.setdefault(stem(word)[:_SAME], set()).add(stem(word))

    def knows(self, token: Token) -> bool:
        """Return whether the word or one of its family is there."""
        near = self._stems.get(token.stem[:_SAME], ())
        return any(akin(token.stem, other) for other in near)


@functools.lru_cache(maxsize=1 << 14)
def around(unit: Unit, at: int, reach: int = 3) -> frozenset[str]:
    """Return the stems of the nearest words that count, `reach` on each side."""
    before = [token.stem for token in unit[:at] if token.counts]
    behind = [token.stem for token in unit[at + 1 :] if token.counts]
    return frozenset((*before[max(0, len(before) - reach) :], *behind[:reach]))


def shared(mine: Iterable[str], theirs: Iterable[str]) -> int:
    """Return how many stems have one of their family among others."""
    others = list(theirs)
    return sum(any(akin(one, other) for other in others) for one in mine)


def clauses(unit: Unit) -> list[list[int]]:
    """Return the places of the words of each clause: between commas, and at words that join."""
    found: list[list[int]] = [[]]
    for place, token in enumerate(unit):
        if token.word in {",", ";", ":"} or token.word in _JOINTS:
            found.append([])
        else:
            found[-1].append(place)
    return [clause for clause in found if clause]
