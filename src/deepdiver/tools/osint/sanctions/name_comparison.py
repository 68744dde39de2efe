"""How alike two names are, from 0 to 1, and why.

Words are paired, whatever their order. A word that only one name has costs a little (a patronymic
that a list leaves out); a word of each name without a partner costs all its weight (two different
surnames). The result is the same whichever name comes first.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA

from deepdiver.tools.osint.sanctions.names import PARTICLES, Name, fold, skeleton, weight
from deepdiver.tools.osint.sanctions.transliterate import LATIN

FOLDED = 0.97
"""Likeness of two spellings of one word that differ as transliterations do."""
INITIAL = 0.6
"""Likeness of an initial and a word that begins with it."""
SHORTEST, LONG, LONG_BUT_FOR_VOWELS = 4, 8, 6
"""Letters that a word must have to be misspelt at all (Ali is not Eli), to have two slips, and to
have two slips in its vowels: Hussein, Hossain."""
CONSONANTS, TWO_VOWELS = 0.8, 0.86
"""The highest likeness of words whose consonants differ, and of words with two other vowels."""
ONE_SIDED = 0.35
"""The part of its weight that a word costs if only one of the names has it."""
ONE_WORD = 0.8
"""The highest score of a person's name that agrees in one word: many people have that word."""
ONLY_ASKED, ONLY_LISTED = "only in the name asked", "only on the list"


@dataclass(frozen=True, slots=True)
class NameComparison:
    """Two names whose words are paired."""

    one: Name
    """The first name."""
    other: Name
    """The second name."""
    mine: tuple[str, ...]
    """Words of the first name, joined where the second has them joined."""
    theirs: tuple[str, ...]
    """Words of the second name, joined where the first has them joined."""
    pairs: tuple[tuple[int, int, float], ...]
    """Indices of the words that belong together, and how alike they are."""
    score: float = field(init=False)
    """How alike the names are, from 0 to 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", self._score())

    @property
    def alone(self) -> tuple[list[str], list[str]]:
        """The words of each name that have no partner."""
        left, right = {i for i, _, _ in self.pairs}, {j for _, j, _ in self.pairs}
        return (
            [word for i, word in enumerate(self.mine) if i not in left],
            [word for j, word in enumerate(self.theirs) if j not in right],
        )

    @property
    def rests_on_one_word(self) -> bool:
        """Whether it is a person's name that agrees in one word only."""
        return self.one.person and sum(self.mine[i] not in PARTICLES for i, _, _ in self.pairs) < 2

    def _score(self) -> float:
        person = self.one.person
        lacking, beside = (sum(weight(word, person) for word in words) for words in self.alone)
        shared = whole = 0.0
        for i, j, likeness in self.pairs:
            part = (weight(self.mine[i], person) + weight(self.theirs[j], person)) / 2
            shared, whole = shared + part * likeness, whole + part
        whole += min(lacking, beside) + ONE_SIDED * abs(lacking - beside)
        return min(shared / whole, ONE_WORD if self.rests_on_one_word else 1.0) if whole else 0.0

    def reasons(self) -> tuple[str, ...]:
        """Return what differs, in words; that the names are the same if nothing does."""
        reasons = _script_reasons(self.one, self.other)
        if (self.mine, self.theirs) != (self.one.words, self.other.words):
            reasons.append("words joined or parted")
        places = [j for _, j, _ in sorted(self.pairs)]
        if places != sorted(places):
            reasons.append("word order")
        reasons += self._spelling_reasons()
        for words, where in zip(self.alone, (ONLY_ASKED, ONLY_LISTED), strict=True):
            if words:
                reasons.append(f"{' '.join(words)} stands {where}")
        if self.rests_on_one_word:
            reasons.append("one word alone")
        return tuple(reasons or ["the same name"])

    def _spelling_reasons(self) -> list[str]:
        """Return what differs within the words that belong together."""
        pairs = [(self.mine[i], self.theirs[j], likeness) for i, j, likeness in self.pairs]
        reasons: list[str] = []
        if any(likeness == INITIAL for _, _, likeness in pairs):
            reasons.append("an initial stands for a word")
        if any(likeness == FOLDED for _, _, likeness in pairs):
            reasons.append("spelling variant")
        different = [
            (one, two) for one, two, likeness in pairs if likeness not in (1.0, FOLDED, INITIAL)
        ]
        if different and self.one.vowelless != self.other.vowelless:
            return [*reasons, "compared by consonants"]
        letters = sum(
            min(OSA.distance(one, two), OSA.distance(fold(one), fold(two)))
            for one, two in different
        )
        if letters:
            reasons.append("one letter differs" if letters == 1 else f"{letters} letters differ")
        return reasons


def compare_names(one: Name, other: Name) -> NameComparison:
    """Compare two names; their order makes no difference to the score."""
    loose = one.vowelless != other.vowelless
    mine, theirs = _joined(one.words, other.words, loose), _joined(other.words, one.words, loose)
    return NameComparison(one, other, mine, theirs, tuple(_pairs(mine, theirs, loose)))


def _joined(words: Sequence[str], others: Sequence[str], loose: bool) -> tuple[str, ...]:
    """Join neighbours that the other name writes as one word (abd al rahman; de hua)."""
    sounds = [_sound(word, loose) for word in words]
    whole = {_bones(word, loose) for word in others if _sound(word, loose) not in sounds}
    initials = {bones[0] for bones in whole}
    joined: list[str] = []
    at = 0
    while at < len(words):
        run = words[at : at + 1]
        folded = fold(run[0])
        if folded[0] in initials or skeleton(folded)[0] in initials:  # else none can begin here
            run = _longest_run(words[at:], whole, loose)
        joined.append("".join(run))
        at += len(run)
    return tuple(joined)


def _longest_run(words: Sequence[str], whole: Set[str], loose: bool) -> Sequence[str]:
    """Return the first three or two words if they make one of the whole words, else the first."""
    for size in (3, 2):
        if len(words) >= size and _bones("".join(words[:size]), loose) in whole:
            return words[:size]
    return words[:1]


def _bones(word: str, loose: bool) -> str:
    """Return the consonants of a word if there are enough to recognise it, otherwise its sound."""
    bones = skeleton(fold(word))
    return _sound(word, loose) if loose or len(bones) < 3 else bones


def _sound(word: str, loose: bool) -> str:
    """Return the sound of a word, for comparing.

    If one of the names lacks its vowels, that is the consonants, without w, which may be a vowel.
    """
    return (skeleton(fold(word)).replace("v", "") or word) if loose else fold(word)


def _pairs(mine: Sequence[str], theirs: Sequence[str], loose: bool) -> list[tuple[int, int, float]]:
    """Pair each word with the most similar one, the most similar pairs first."""
    alike = [
        (-likeness, abs(i - j), i + j, i, j)
        for i, word in enumerate(mine)
        for j, other in enumerate(theirs)
        if (likeness := word_likeness(word, other, loose)) >= INITIAL
    ]
    pairs: list[tuple[int, int, float]] = []
    used: set[tuple[str, int]] = set()
    for minus, _, _, i, j in sorted(alike):
        if not used & {("mine", i), ("theirs", j)}:
            used |= {("mine", i), ("theirs", j)}
            pairs.append((i, j, -minus))
    return pairs


@functools.lru_cache(maxsize=65_536)
def word_likeness(word: str, other: str, loose: bool = False) -> float:
    """Return how alike two words are; 0 if they are different words.

    Letters and consonants count half each, because spellings of one name differ in their vowels.

    Args:
        word: A word.
        other: Another word.
        loose: Whether one of them came without its vowels, so that only consonants are compared.
    """
    if word == other:
        return 1.0
    if 1 in (len(word), len(other)):
        return INITIAL if word[0] == other[0] and len(word) != len(other) else 0.0
    if word.isdigit() or other.isdigit():
        return 0.0  # the 5th and the 6th are not alike
    one, two = fold(word), fold(other)
    if one == two:
        return FOLDED
    if loose:
        return _by_consonants(_sound(word, loose), _sound(other, loose))
    # A slip may turn two letters into one sound, or break one: compare both ways.
    return max(_edit_likeness(one, two), _edit_likeness(word, other))


def _by_consonants(one: str, two: str) -> float:
    if one == two:
        return {1: 0.7, 2: 0.9}.get(len(one), 0.95)
    long = min(len(one), len(two)) >= 4
    return 0.75 if long and OSA.normalized_similarity(one, two) >= 0.75 else 0.0


def _edit_likeness(one: str, two: str) -> float:
    """Return the mean of the parts of letters and of consonants that need no correction.

    Two letters that changed places are one slip.
    """
    longest = max(len(one), len(two))
    slips = OSA.distance(one, two, score_cutoff=2)
    if longest < SHORTEST or slips > 2:
        return 0.0
    bones = OSA.normalized_similarity(skeleton(one), skeleton(two))
    if slips == 2 and longest < (LONG_BUT_FOR_VOWELS if bones == 1.0 else LONG):
        return 0.0
    likeness = (1 - slips / longest + bones) / 2
    if bones < 1.0:
        return min(likeness, CONSONANTS)
    return min(likeness, TWO_VOWELS if slips == 2 else 1.0)


def _script_reasons(one: Name, other: Name) -> list[str]:
    if one.script == other.script:
        return []
    return [f"transliterated from {one.script if one.script != LATIN else other.script}"]
