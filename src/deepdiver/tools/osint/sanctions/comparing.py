"""How alike two names are, from 0 to 1, and why.

Words are laid side by side, whatever their order. A word on one side alone costs a little (a
patronymic that a list leaves out), a word on each side that has no partner costs all its weight
(two different surnames). The result is the same whichever name comes first.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA

from deepdiver.tools.osint.sanctions.names import PARTICLES, Name, fold, skeleton, weight
from deepdiver.tools.osint.sanctions.transliterate import LATIN

FOLDED = 0.97
"""Two spellings of one word that differ as transliterations do."""
INITIAL = 0.6
"""An initial and a word that begins with it."""
SHORTEST, LONG, LONG_BUT_FOR_VOWELS = 4, 8, 6
"""Letters of a word that may be misspelt at all (Ali is not Eli), and of one with two slips; vowels
differ sooner: Hussein, Hossain."""
CONSONANTS, TWO_VOWELS = 0.8, 0.86
"""The most that words can come to whose consonants differ, and whose vowels do twice."""
ONE_SIDED = 0.35
"""Part of its weight that a word costs which only one of the names has."""
ONE_WORD = 0.8
"""The most that a person's name of one word can come to: many people have it."""
HERE, THERE = "only in the name asked", "only on the list"


@dataclass(frozen=True, slots=True)
class Laid:
    """Two names laid side by side."""

    one: Name
    """A name."""
    other: Name
    """Another."""
    mine: tuple[str, ...]
    """Words of the one, joined where the other has them joined."""
    theirs: tuple[str, ...]
    """Words of the other, likewise."""
    pairs: tuple[tuple[int, int, float], ...]
    """Which word of the one belongs to which of the other, and how alike they are."""
    score: float = field(init=False)
    """How alike the names are, from 0 to 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", self._score())

    @property
    def alone(self) -> tuple[list[str], list[str]]:
        """The words without a partner, on either side."""
        left, right = {i for i, _, _ in self.pairs}, {j for _, j, _ in self.pairs}
        return (
            [word for i, word in enumerate(self.mine) if i not in left],
            [word for j, word in enumerate(self.theirs) if j not in right],
        )

    @property
    def few(self) -> bool:
        """Whether it is a person's name and the likeness rests on one word."""
        return self.one.person and sum(self.mine[i] not in PARTICLES for i, _, _ in self.pairs) < 2

    def _score(self) -> float:
        person = self.one.person
        lacking, beside = (sum(weight(word, person) for word in words) for words in self.alone)
        shared = whole = 0.0
        for i, j, likeness in self.pairs:
            part = (weight(self.mine[i], person) + weight(self.theirs[j], person)) / 2
            shared, whole = shared + part * likeness, whole + part
        whole += min(lacking, beside) + ONE_SIDED * abs(lacking - beside)
        return min(shared / whole, ONE_WORD if self.few else 1.0) if whole else 0.0

    def reasons(self) -> tuple[str, ...]:
        """Say what is the same and what differs."""
        places = [j for _, j, _ in sorted(self.pairs)]
        told = [
            *_scripts(self.one, self.other),
            *(
                ["words joined or parted"]
                if (self.mine, self.theirs) != (self.one.words, self.other.words)
                else []
            ),
            *(["word order"] if places != sorted(places) else []),
            *self._letters(),
            *(
                f"{' '.join(words)} stands {where}"
                for words, where in zip(self.alone, (HERE, THERE), strict=True)
                if words
            ),
            *(["one word alone"] if self.few else []),
        ]
        return tuple(told or ["the same name"])

    def _letters(self) -> list[str]:
        """Say what differs within the words that belong together."""
        pairs = [(self.mine[i], self.theirs[j], likeness) for i, j, likeness in self.pairs]
        told: list[str] = []
        if any(likeness == INITIAL for _, _, likeness in pairs):
            told.append("an initial stands for a word")
        if any(likeness == FOLDED for _, _, likeness in pairs):
            told.append("spelling variant")
        different = [
            (one, two) for one, two, likeness in pairs if likeness not in (1.0, FOLDED, INITIAL)
        ]
        if different and self.one.vowelless != self.other.vowelless:
            return [*told, "compared by consonants"]
        if letters := sum(
            min(OSA.distance(one, two), OSA.distance(fold(one), fold(two)))
            for one, two in different
        ):
            told.append("one letter differs" if letters == 1 else f"{letters} letters differ")
        return told


def compared(one: Name, other: Name) -> Laid:
    """Lay two names side by side.

    Which of them comes first makes no difference to how alike they are.
    """
    loose = one.vowelless != other.vowelless
    mine, theirs = _joined(one.words, other.words, loose), _joined(other.words, one.words, loose)
    return Laid(one, other, mine, theirs, tuple(_aligned(mine, theirs, loose)))


def _joined(words: Sequence[str], others: Sequence[str], loose: bool) -> tuple[str, ...]:
    """Join neighbours that the other name writes as one word.

    Abd al rahman, abdulrahman; de hua, dehua.
    """
    sounds = [_sound(word, loose) for word in words]
    whole = {_bones(word, loose) for word in others if _sound(word, loose) not in sounds}
    first = {bones[0] for bones in whole}
    joined: list[str] = []
    at = 0
    while at < len(words):
        folded = fold(words[at])
        likely = folded[0] in first or skeleton(folded)[0] in first
        runs = (
            [words[at : at + size] for size in (3, 2) if at + size <= len(words)] if likely else []
        )
        run = next(
            (run for run in runs if _bones("".join(run), loose) in whole), words[at : at + 1]
        )
        joined.append("".join(run))
        at += len(run)
    return tuple(joined)


def _bones(word: str, loose: bool) -> str:
    """Return the consonants of a word, if there are enough of them to know it by."""
    bones = skeleton(fold(word))
    return _sound(word, loose) if loose or len(bones) < 3 else bones


def _sound(word: str, loose: bool) -> str:
    """Return what of a word is compared.

    Where one name lacks its vowels, also without w, which may be one of them.
    """
    return (skeleton(fold(word)).replace("v", "") or word) if loose else fold(word)


def _aligned(
    mine: Sequence[str], theirs: Sequence[str], loose: bool
) -> list[tuple[int, int, float]]:
    """Give each word its likest partner, the likest pairs first; (place, place, likeness)."""
    alike = [
        (-likeness, abs(i - j), i + j, i, j)
        for i, word in enumerate(mine)
        for j, other in enumerate(theirs)
        if (likeness := likeness_of(word, other, loose)) >= INITIAL
    ]
    pairs: list[tuple[int, int, float]] = []
    used: set[tuple[str, int]] = set()
    for minus, _, _, i, j in sorted(alike):
        if not used & {("mine", i), ("theirs", j)}:
            used |= {("mine", i), ("theirs", j)}
            pairs.append((i, j, -minus))
    return pairs


@functools.lru_cache(maxsize=65_536)
def likeness_of(word: str, other: str, loose: bool = False) -> float:
    """Return how alike two words are; 0: they are different words.

    Half of it is the letters, half of it the consonants: vowels are what spellings of one name
    differ in.

    Args:
        word: A word.
        other: Another.
        loose: Whether one of them came without its vowels, so that only the consonants can be
            compared.
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
    return max(
        _alike(one, two), _alike(word, other)
    )  # a slip may make a sound of two letters, or break one


def _by_consonants(one: str, two: str) -> float:
    if one == two:
        return {1: 0.7, 2: 0.9}.get(len(one), 0.95)
    return (
        0.75
        if min(len(one), len(two)) >= 4 and OSA.normalized_similarity(one, two) >= 0.75
        else 0.0
    )


def _alike(one: str, two: str) -> float:
    """Return the part that needs no correcting, of letters and of consonants.

    Two that changed places are one slip.
    """
    longest = max(len(one), len(two))
    slips = OSA.distance(one, two, score_cutoff=2)
    if longest < SHORTEST or slips > 2:
        return 0.0
    bones = OSA.normalized_similarity(skeleton(one), skeleton(two))
    if slips == 2 and longest < (LONG_BUT_FOR_VOWELS if bones == 1.0 else LONG):
        return 0.0
    likeness = (1 - slips / longest + bones) / 2
    return min(likeness, CONSONANTS if bones < 1.0 else TWO_VOWELS if slips == 2 else 1.0)


def _scripts(one: Name, other: Name) -> list[str]:
    if one.script == other.script:
        return []
    return [f"transliterated from {one.script if one.script != LATIN else other.script}"]
