"""Choosing what is read of texts that are too long: the passages that bear on what is looked into.

Passages of all texts compete. Each sub-problem has its turn, rare words weigh more than common
ones, a further passage of the same text less than the one before, and what stands under a version
or a date that is asked about comes first.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdiver.core.headings import headings_above, sections_of
from deepdiver.core.text import Span, passages, terms

FURTHER = 0.85
"""The weight of each further passage of a text, relative to the one before it."""
NAMED = 2.0
"""How much more a version or a date weighs than a word that is as rare."""
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d{1,4}(?:\.\d{1,6})+)")
_SERIES = re.compile(r"(?<![\w.])(?:[vV]|[Vv]ersions? )?(\d{1,4}(?:\.\d{1,4})*)\.[xX]\b")
_MAJOR = re.compile(r"(?<![\w.])(?:v|[Vv]ersions? )(\d{1,4})(?![\w.])")
_YEAR = re.compile(r"(?<![\w.])((?:19|20)\d\d)(?!\w|\.\d)")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage that could be read."""

    text: int
    """The number of its text."""
    span: Span
    """Where it stands."""
    words: frozenset[str]
    """Its terms, with those of the headings above it."""
    named: frozenset[str]
    """Versions and years that it, or a heading above it, names."""


def choose_passages(
    texts: Sequence[tuple[str, Sequence[Span]]], wanted: Sequence[str], most: int
) -> list[list[Span]]:
    """Return the passages of each text that are worth reading, in its order.

    Args:
        texts: Texts, each with the parts of it that may be read.
        wanted: What is looked into, each sub-problem by itself.
        most: The most characters in all.
    """
    held = [
        item
        for number, (text, parts) in enumerate(texts)
        for item in _candidates(number, text, parts)
    ]
    scores = _score(held, wanted)
    chosen = _take(held, scores, most) or _first(held, most)
    return [
        sorted(item.span for item in chosen if item.text == number) for number in range(len(texts))
    ]


def _candidates(number: int, text: str, parts: Sequence[Span]) -> Iterable[_Candidate]:
    for span, words, named in _cut(text):
        if any(part.start <= span.start and span.end <= part.end for part in parts):
            yield _Candidate(number, span, words, named)


@functools.lru_cache(maxsize=32)
def _cut(text: str) -> tuple[tuple[Span, frozenset[str], frozenset[str]], ...]:
    """Return the passages of a text, each with its terms and with the versions and years it names.

    It is kept, because a page of 47,000 characters takes a tenth of a second and an audit asks for
    each sentence that cites it.
    """
    found = []
    for section in sections_of(text):
        for cut in passages(section.of(text)):
            span = Span(section.start + cut.start, section.start + cut.end)
            above = (item.span.of(text) for item in headings_above(text, span.start + 1))
            said = " ".join((*above, span.of(text)))
            found.append((span, frozenset(terms(said)), _named_in(said)))
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
                sum(map(weight, sorted(asked & item.words)))
                + NAMED * sum(map(weight, sorted(named & item.named)))
                for item in held
            ]
        )
    return scores


def _take(
    held: Sequence[_Candidate], scores: Sequence[Sequence[float]], most: int
) -> list[_Candidate]:
    """Return the best passages of all sub-problems in turn, as many as fit."""
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
            size += span.end - span.start
            if size > most and taken:
                return taken
            left.discard(best)
            taken.append(held[best])
            many[held[best].text] += 1
        if len(taken) == before:
            break
    return taken


def _first(held: Sequence[_Candidate], most: int) -> list[_Candidate]:
    """Return the first passages, where none has a word of what is wanted."""
    taken: list[_Candidate] = []
    size = 0
    for item in held:
        size += item.span.end - item.span.start
        if size > most and taken:
            break
        taken.append(item)
    return taken
