"""Choosing what is read of texts that are too long: the passages that bear on what is looked into.

Passages that the search itself has found come first, the best of every query before the second of
any, and with each the rest of a short section. Then passages of all texts compete. Each sub-problem
has its turn, rare words weigh more than common ones, a further passage of the same text less than
the one before, and what stands under a version or a date that is asked about comes first.

Where the budget is also for what is asked later (`sparing`), it is a limit and no measure: how much
is read depends on what bears on the problems. A word that ten passages have said is worth
nothing more, what has less than a third of the best one's worth is left for later, and copies are
read once.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deepdiver.core.headings import Heading, headings_above, sections_of
from deepdiver.core.text import Span, passages, shingles, terms

SECTION_CHARS = 3_000
"""The most characters of a section that is read whole if a passage of it was found: a rule is not
understood without its exception, which stands below it."""
FURTHER = 0.85
"""The weight of each further passage of a text, relative to the one before it."""
NAMED = 2.0
"""How much more a version or a date weighs than a word that is as rare."""
FURTHER_SPARING = 0.95
"""The weight of each further passage of a text where words are worth nothing once they were said
often: that alone leads to other texts."""
ENOUGH = 10
"""Chosen passages that have a word, after which the word is worth nothing more."""
WORTH_IT = 0.3
"""What a passage must be worth for a problem, of the worth of its best one, to be read now."""
OFTEN, LONG = 1.2, 0.75
"""BM25: how soon further mentions of a word in a passage count for less, and how much a longer
passage needs."""
COPIED = 0.8
"""The part of a passage's runs of words that stands in chosen ones if it is a copy."""
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d{1,4}(?:\.\d{1,6})+)")
_SERIES = re.compile(r"(?<![\w.])(?:[vV]|[Vv]ersions? )?(\d{1,4}(?:\.\d{1,4})*)\.[xX]\b")
_MAJOR = re.compile(r"(?<![\w.])(?:v|[Vv]ersions? )(\d{1,4})(?![\w.])")
_YEAR = re.compile(r"(?<![\w.])((?:19|20)\d\d)(?!\w|\.\d)")


class Unread(NamedTuple):
    """A text of which something can be read."""

    text: str
    """All of it."""
    parts: Sequence[Span]
    """The parts that may be read."""
    found: Sequence[tuple[Span, int]] = ()
    """The passages of it that searches have found, each with its best rank."""
    headings: tuple[Heading, ...] = ()
    """Its headings, if the text shows none."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A passage that could be read."""

    text: int
    """The number of its text."""
    section: Span
    """The section that it stands in."""
    span: Span
    """Where it stands."""
    words: Mapping[str, int]
    """How often it has each term, with those of the headings above it."""
    named: frozenset[str]
    """Versions and years that it, or a heading above it, names."""


def choose_passages(
    texts: Sequence[Unread], wanted: Sequence[str], most: int, *, sparing: bool = False
) -> list[list[Span]]:
    """Return the passages of each text that are worth reading, in its order.

    Args:
        texts: The texts.
        wanted: What is looked into, each sub-problem by itself.
        most: The most characters in all.
        sparing: Whether what has little to add is left out, though it would fit.
    """
    held = [item for number, unread in enumerate(texts) for item in _candidates(number, unread)]
    chosen = _first(_found(held, texts), most)
    left = most - sum(_length(item.span) for item in chosen)
    if left > 0:
        taken = set(chosen)
        others = [item for item in held if item not in taken]
        if sparing:
            adding = _worth_reading(texts, others, chosen, wanted)
            chosen += _fitting(adding, left, least=0 if chosen else 1)
        else:
            chosen += _take(others, _score(others, wanted), left, least=0 if chosen else 1)
    chosen = chosen or _first(held, most)
    return _by_text(chosen, len(texts))


def _by_text(chosen: Iterable[_Candidate], texts: int) -> list[list[Span]]:
    """Return where passages stand, those of each text in its order."""
    spans: list[list[Span]] = [[] for _ in range(texts)]
    for item in chosen:
        spans[item.text].append(item.span)
    return [sorted(own) for own in spans]


def _candidates(number: int, unread: Unread) -> Iterable[_Candidate]:
    for section, span, words, named in _cut(unread.text, unread.headings):
        if any(part.start <= span.start and span.end <= part.end for part in unread.parts):
            yield _Candidate(number, section, span, words, named)


def _found(held: Sequence[_Candidate], texts: Sequence[Unread]) -> list[_Candidate]:
    """Return the passages that searches have found, the best first, with their short sections."""
    places = sorted(
        (rank, number, span) for number, unread in enumerate(texts) for span, rank in unread.found
    )
    chosen: dict[_Candidate, None] = {}
    for _, number, span in places:
        own = [item for item in held if item.text == number and _overlap(item.span, span)]
        whole = {item.section for item in own if _length(item.section) <= SECTION_CHARS}
        around = (item for item in held if item.text == number and item.section in whole)
        chosen |= dict.fromkeys((*own, *around))
    return list(chosen)


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _length(span: Span) -> int:
    return span.end - span.start


@functools.lru_cache(maxsize=32)
def _cut(
    text: str, told: tuple[Heading, ...]
) -> tuple[tuple[Span, Span, Mapping[str, int], frozenset[str]], ...]:
    """Return the passages of a text: section, span, terms, and the versions and years it names.

    It is kept, because a page of 47,000 characters takes a tenth of a second and an audit asks for
    each sentence that cites it.
    """
    found = []
    for section in sections_of(text, told):
        for cut in passages(section.of(text)):
            span = Span(section.start + cut.start, section.start + cut.end)
            above = (item.span.of(text) for item in headings_above(text, span.start + 1, told))
            said = " ".join((*above, span.of(text)))
            found.append((section, span, Counter(terms(said)), _named_in(said)))
    return tuple(found)


def _named_in(said: str) -> frozenset[str]:
    """Return the versions and years that a text names, a version also by each series it is of."""
    found = set(_YEAR.findall(said))
    for version in _VERSION.findall(said):
        parts = version.split(".")
        found |= {f"v{'.'.join(parts[:many])}" for many in range(1, len(parts) + 1)}
    return frozenset(found)


def _asked_by_name(said: str) -> frozenset[str]:
    """Return the versions, series and years that somebody asks about, as they are named."""
    series = {f"v{found}" for pattern in (_SERIES, _MAJOR) for found in pattern.findall(said)}
    exact = {f"v{version}" for version in _VERSION.findall(said)}
    return frozenset({*_YEAR.findall(said), *series, *exact})


def _score(held: Sequence[_Candidate], wanted: Sequence[str]) -> list[list[float]]:
    """Return how much each passage bears on each thing that is wanted."""
    common = Counter(word for item in held for word in item.words)
    common.update(name for item in held for name in item.named)

    def weight(word: str) -> float:
        return math.log(1.0 + len(held) / common[word])

    scores: list[list[float]] = []
    for said in wanted:
        asked, named = frozenset(terms(said)), _asked_by_name(said)
        scores.append(
            [
                sum(map(weight, sorted(asked & item.words.keys())))
                + NAMED * sum(map(weight, sorted(named & item.named)))
                for item in held
            ]
        )
    return scores


def _take(
    held: Sequence[_Candidate], scores: Sequence[Sequence[float]], most: int, least: int
) -> list[_Candidate]:
    """Return the best passages of all sub-problems in turn, as many as fit, and at least a few."""
    left = set(range(len(held)))
    taken: list[_Candidate] = []
    many: Counter[int] = Counter()
    size = 0
    while left and scores:
        before = len(taken)
        for own in scores:
            best = max(
                left, key=lambda at: (own[at] * FURTHER ** many[held[at].text], -at), default=None
            )
            if best is None or not own[best]:
                continue
            span = held[best].span
            size += _length(span)
            if size > most and len(taken) >= least:
                return taken
            left.discard(best)
            taken.append(held[best])
            many[held[best].text] += 1
        if len(taken) == before:
            break
    return taken


class _Wanted:
    """One thing that is looked into, and what of it was said often enough."""

    def __init__(self, said: str, held: Sequence[_Candidate], chosen: Sequence[_Candidate]) -> None:
        """Weigh the words of all passages for it, those that are chosen already included."""
        asked, named = frozenset(terms(said)), _asked_by_name(said)
        common = Counter(word for item in held for word in {*item.words, *item.named})
        usual = sum(sum(item.words.values()) for item in held) / max(len(held), 1)
        self._asked, self._named = asked, named
        self._told = Counter(word for item in chosen for word in self._words_of(item))
        self._weights = [
            {word: _weight(item, word, usual, len(held) / common[word]) for word in own}
            for item in held
            for own in [self._words_of(item)]
        ]
        self.best = 0.0

    def _words_of(self, item: _Candidate) -> list[str]:
        return sorted({*(self._asked & item.words.keys()), *(self._named & item.named)})

    def worth(self, at: int) -> float:
        """Return how much a passage adds."""
        told = self._told
        return sum(weight for word, weight in self._weights[at].items() if told[word] < ENOUGH)

    def tell(self, at: int) -> None:
        """Note that a passage is chosen, for whichever problem: it is read for all of them."""
        self._told.update(self._weights[at].keys())


def _weight(item: _Candidate, word: str, usual: float, rare: float) -> float:
    """Return how much a word says of a passage: BM25; of a version or a year, its rarity."""
    weight = math.log(1.0 + rare)
    if word in item.named:
        return NAMED * weight
    often = item.words[word]
    length = sum(item.words.values()) / usual
    return weight * often * (OFTEN + 1) / (often + OFTEN * (1 - LONG + LONG * length))


def _worth_reading(
    texts: Sequence[Unread],
    held: Sequence[_Candidate],
    chosen: Sequence[_Candidate],
    wanted: Sequence[str],
) -> Iterator[_Candidate]:
    """Yield the passages that add something, the best for each sub-problem in turn."""
    open_ = [_Wanted(said, held, chosen) for said in wanted]
    left = set(range(len(held)))
    many: Counter[int] = Counter()
    known: set[str] = set()
    while open_:
        for problem in list(open_):
            at, worth = _best_of(problem, held, left, many)
            problem.best = problem.best or worth
            if worth <= WORTH_IT * problem.best:
                open_.remove(problem)
                continue
            left.discard(at)
            runs = shingles(held[at].span.of(texts[held[at].text].text))
            if len(runs & known) < COPIED * len(runs):
                known |= runs
                many[held[at].text] += 1
                for each in open_:
                    each.tell(at)
                yield held[at]


def _best_of(
    problem: _Wanted, held: Sequence[_Candidate], left: Collection[int], many: Mapping[int, int]
) -> tuple[int, float]:
    """Return the passage that adds most to what is looked into, and how much it adds."""
    worth = {at: problem.worth(at) * FURTHER_SPARING ** many[held[at].text] for at in left}
    best = max(left, key=lambda at: (worth[at], -at), default=0)
    return best, worth.get(best, 0.0)


def _first(held: Iterable[_Candidate], most: int) -> list[_Candidate]:
    """Return the first passages, as many as fit, and one at least."""
    return _fitting(held, most, least=1)


def _fitting(held: Iterable[_Candidate], most: int, least: int) -> list[_Candidate]:
    """Return the first passages, as many as fit, and at least a few."""
    taken: list[_Candidate] = []
    size = 0
    for item in held:
        size += _length(item.span)
        if size > most and len(taken) >= least:
            break
        taken.append(item)
    return taken
