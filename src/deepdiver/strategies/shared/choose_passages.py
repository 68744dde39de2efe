"""Choosing what is read of texts that are too long: the passages that bear on what is looked into.

Passages that the search itself has found come first, the best of every query before the second of
any, and with each the rest of a short section. Then passages of all texts compete. Each sub-problem
has its turn, rare words weigh more than common ones, a further passage of the same text less than
the one before, and what stands under a version or a date that is asked about comes first.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deepdiver.core.headings import Heading, headings_above, sections_of
from deepdiver.core.text import Span, passages, terms

SECTION_CHARS = 3_000
"""The most characters of a section that is read whole if a passage of it was found: a rule is not
understood without its exception, which stands below it."""
FURTHER = 0.85
"""The weight of each further passage of a text, relative to the one before it."""
NAMED = 2.0
"""How much more a version or a date weighs than a word that is as rare."""
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


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage that could be read."""

    text: int
    """The number of its text."""
    section: Span
    """The section that it stands in."""
    span: Span
    """Where it stands."""
    words: frozenset[str]
    """Its terms, with those of the headings above it."""
    named: frozenset[str]
    """Versions and years that it, or a heading above it, names."""


def choose_passages(texts: Sequence[Unread], wanted: Sequence[str], most: int) -> list[list[Span]]:
    """Return the passages of each text that are worth reading, in its order.

    Args:
        texts: The texts.
        wanted: What is looked into, each sub-problem by itself.
        most: The most characters in all.
    """
    held = [item for number, unread in enumerate(texts) for item in _candidates(number, unread)]
    chosen = _first(_found(held, texts), most)
    left = most - sum(_length(item.span) for item in chosen)
    if left > 0:
        taken = set(chosen)
        others = [item for item in held if item not in taken]
        chosen += _take(others, _score(others, wanted), left, least=0 if chosen else 1)
    chosen = chosen or _first(held, most)
    return [
        sorted(item.span for item in chosen if item.text == number) for number in range(len(texts))
    ]


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
) -> tuple[tuple[Span, Span, frozenset[str], frozenset[str]], ...]:
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
            found.append((section, span, frozenset(terms(said)), _named_in(said)))
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


def _first(held: Sequence[_Candidate], most: int) -> list[_Candidate]:
    """Return the first passages, as many as fit, and one at least."""
    taken: list[_Candidate] = []
    size = 0
    for item in held:
        size += _length(item.span)
        if size > most and taken:
            break
        taken.append(item)
    return taken
