"""Exchange names and figures between places: errors that nothing but a comparison shows.

From a sentence and the text that carries it, three items can be made by exchanging two names (or
two figures of a kind) everywhere in one of them or in both. With the exchange in one of them, the
sentence is wrong; with the exchange in both, it is right again. So no name and no figure is a sign
of an error by itself.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

NAME = re.compile(r"\b[A-Z][\w&+-]*(?:\.\d+)*(?: (?:of |de |van )?[A-Z\d][\w&+-]*(?:\.\d+)*)*")
FIGURE = re.compile(r"(?<![\w.,])[$€£]?\d[\d,]*(?:\.\d+)?%?(?![\w%]|[.,]\d)")
WORD = re.compile(r"[A-Za-z]{4,}")
YEAR = re.compile(r"(?:19|20)\d\d")
LISTED = re.compile(r"\s*(?:,|,? ?and|,? ?or|&|/|versus|vs\.?|–|-|with)\s*")
"""What may stand between two members of a list, which may change places."""
PLAIN = frozenset(
    "a an the in on at by of for from to with and or but if as it its this that these those he she "
    "they we you i who what when where which while whereas although since because after before "
    "both all no not only there here one two three four first second third each every most some "
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday".split()
)
"""Words that begin sentences, and months and days: none of these is a name here."""


class Spots(NamedTuple):
    """What can be exchanged."""

    one: str
    other: str


def names_in(text: str) -> list[str]:
    """Return the names in a text, once each; months and words that open sentences are none."""
    found = dict.fromkeys(match[0] for match in NAME.finditer(text))
    return [name for name in found if name.lower() not in PLAIN and len(name) > 1]


def figures_in(text: str) -> list[str]:
    """Return the figures in a text, once each."""
    return list(dict.fromkeys(match[0] for match in FIGURE.finditer(text)))


def kind_of(figure: str) -> str:
    """Return what kind a figure is of: figures of two kinds never change places."""
    if YEAR.fullmatch(figure):
        return "year"
    return "".join(sign for sign in figure if sign in "$€£%")


def _spot(words: str) -> str:
    return rf"(?<![\w.,$€£]){re.escape(words)}(?![\w%]|[.,]\d)"


def count(words: str, text: str) -> int:
    """Return how often words stand in a text, not as a part of others."""
    return len(re.findall(_spot(words), text))


def replace(text: str, old: str, new: str) -> str:
    """Return a text with other words in the place of some."""
    return re.sub(_spot(old), lambda _: new, text)


def exchange(text: str, spots: Spots) -> str:
    """Return a text in which two names or figures have changed places everywhere."""
    both = "|".join(sorted(map(_spot, spots), key=len, reverse=True))
    return re.sub(both, lambda found: spots.other if found[0] == spots.one else spots.one, text)


def exchangeable(sentence: str, evidence: str) -> list[Spots]:
    """Return what can be exchanged in a sentence: each once in it, and in its evidence too."""
    made = []
    for found, alike in ((names_in(sentence), False), (figures_in(sentence), True)):
        held = [each for each in found if count(each, sentence) == 1 and count(each, evidence)]
        for one, other in itertools.combinations(held, 2):
            if alike and kind_of(one) != kind_of(other):
                continue
            if one in other or other in one or _are_listed(sentence, one, other):
                continue
            made.append(Spots(one, other))
    return made


def _are_listed(sentence: str, one: str, other: str) -> bool:
    first, last = sorted((sentence.index(one), sentence.index(other)))
    words = one if sentence.startswith(one, first) else other
    return bool(LISTED.fullmatch(sentence[first + len(words) : last]))


def foreign(sentence: str, evidence: str) -> list[Spots]:
    """Return what of a sentence can be replaced by something else of its evidence, of its kind."""
    made = []
    for own, others, alike in (
        (names_in(sentence), names_in(evidence), False),
        (figures_in(sentence), figures_in(evidence), True),
    ):
        held = [each for each in own if count(each, sentence) == 1 and count(each, evidence)]
        strange = [each for each in others if each.lower() not in sentence.lower()]
        made += [
            Spots(one, other)
            for one in held
            for other in strange
            if not (alike and kind_of(one) != kind_of(other)) and one not in other
        ]
    return made


def exchanged(
    sentence: str, evidence: str, most: int, chance: random.Random
) -> Iterator[tuple[str, str, bool]]:
    """Yield evidence and sentence with two spots exchanged, and whether the one carries the other.

    Args:
        sentence: What the evidence carries.
        evidence: The evidence.
        most: How many pairs of spots are taken, of those that there are.
        chance: Chooses among them.
    """
    found = exchangeable(sentence, evidence)
    for spots in chance.sample(found, min(most, len(found))):
        turned, other = exchange(sentence, spots), exchange(evidence, spots)
        if other != evidence and turned != sentence:
            yield evidence, turned, False
            yield other, sentence, False
            yield other, turned, True


def rare_names(texts: Iterable[str]) -> list[str]:
    """Return the words that are only names: always with a capital in all of these texts."""
    words = set(itertools.chain.from_iterable(WORD.findall(text) for text in texts))
    return sorted(
        word
        for word in words
        if word.istitle() and word.lower() not in words and word.lower() not in PLAIN
    )


def renamed(
    evidence: str, sentences: Sequence[str], names: Sequence[str], chance: random.Random
) -> tuple[str, list[str]]:
    """Return evidence and sentences with other names in the place of those that they share.

    Whether the one carries the others stays the same, so a reader cannot learn it from the names.
    All of the sentences get the same names: right and wrong ones can still be compared.

    Args:
        evidence: The evidence.
        sentences: Sentences about it.
        names: What counts as a name, and may stand in the place of another.
        chance: Chooses.
    """
    told = set(WORD.findall(evidence))
    held = told & set(itertools.chain.from_iterable(map(WORD.findall, sentences))) & set(names)
    others = chance.sample([name for name in names if name not in told], len(held))
    turned = dict(zip(sorted(held), others, strict=True))

    def with_others(text: str) -> str:
        return WORD.sub(lambda found: turned.get(found[0], found[0]), text)

    return with_others(evidence), [with_others(sentence) for sentence in sentences]


def misnamed(sentence: str, evidence: str, most: int, chance: random.Random) -> Iterator[str]:
    """Yield a sentence with something else of its evidence in the place of a name or a figure."""
    found = foreign(sentence, evidence)
    for spots in chance.sample(found, min(most, len(found))):
        yield replace(sentence, spots.one, spots.other)
