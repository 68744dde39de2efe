"""How every library ranks its passages: by words, by sense, and by whether good passages name them.

In a small library, the sense of every passage is considered. In a larger one, words come first: the
sense is considered only of passages found by their words, and of those that good ones name. The
choice depends only on the number of passages, never on which vectors exist already, so the first
search of a library gives the same answer as the tenth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

from deepdiver.core.text import Span
from deepdiver.tools.library import document_names, score_fusion
from deepdiver.tools.library.interface import Match

LEAST = 0.2
"""How near in sense a passage without any word of the query must be. Passages on other subjects lie
below."""
WHOLE = 300
"""The largest number of passages of a library where the sense of all is considered. Embedding so
many takes up to 19 s of processor time (62 ms for one of 900 characters), as much as a first
question may cost."""
NEAR = 100
"""In a larger library, how many of the best passages by words have their sense considered. On
SciFact and Cranfield this kept nDCG@10 within 0.003 of the result with the sense of all; 50 lost
0.009, and 200 gained 0.002 for twice the work."""
NAMED = 4
"""There, how many of the best passages by words are considered behind one name: a book that is
named has hundreds."""
REACH = 50
"""How many passages of a named document are considered, from its beginning: the first pages of a
book say what it is about."""

FURTHER = 0.5
"""The weight of each further passage of a document, relative to the one before it."""

DocumentRange = tuple[int, int, int]
"""A document: its id, the number of its first passage, and how many passages it has."""


class QueryMeasures(Protocol):
    """The scores of passages for one query. A passage is identified by its number."""

    @property
    def has_vectors(self) -> bool:
        """Whether passages can have vectors at all."""

    def numbers(self) -> Collection[int]:
        """Return all passages that pass the filter of the search."""

    def by_words(self, k: int) -> dict[int, float]:
        """Return the scores of the best passages by words."""

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return the scores of some passages by words, except of those without a word."""

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return how near some passages are in sense. Missing vectors are computed."""

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        """Return the passages behind each name in some passages; see `passages_behind_names`."""


def rank_passages(measures: QueryMeasures, passages: int, k: int, hops: int) -> dict[int, float]:
    """Return the scores of all candidate passages.

    Args:
        measures: The measures that they are ranked by.
        passages: The number of passages of the library, regardless of any filter.
        k: How many passages were asked for.
        hops: How many times to go on from good passages to the documents that they name.
    """
    deep = max(score_fusion.DEEP, 2 * k)
    words = measures.by_words(deep)
    if not measures.has_vectors:
        return _followed(measures, words, None, hops, score_fusion.fuse_scores)
    if passages <= WHOLE:
        known = measures.sense_of(measures.numbers())
        near = _best(known, deep)
        words |= measures.words_of(near.keys() - words.keys())
        sense = {number: score for number, score in near.items() if score >= LEAST}
        sense |= {number: known[number] for number in words if number in known}
        return _followed(measures, words, sense, hops, score_fusion.fuse_scores)
    looked_at = max(NEAR, k)
    sense = measures.sense_of(_best(words, looked_at).keys())
    fuse = functools.partial(_fuse_few, deep=looked_at // 2)
    return _followed(measures, words, sense, hops, fuse, most=NAMED)


def _best(scores: Mapping[int, float], k: int) -> dict[int, float]:
    """Return the k best scores, ties in order of the numbers."""
    return {
        number: scores[number]
        for number in sorted(scores, key=lambda number: (-scores[number], number))[:k]
    }


def _fuse_few(
    words: Mapping[int, float], sense: Mapping[int, float], deep: int
) -> dict[int, float]:
    """Fuse the scores of the few passages whose sense was considered.

    The other scores by words only set the scale. These passages were found by their words, so even
    the last of them are not far in sense: the 0 of the sense lies in their middle.
    """
    fused = score_fusion.fuse_scores(words, sense, deep=deep)
    return {number: fused[number] for number in sense}


def _followed(
    measures: QueryMeasures,
    words: dict[int, float],
    sense: dict[int, float] | None,
    hops: int,
    fuse: Callable[[Mapping[int, float], Mapping[int, float]], dict[int, float]],
    most: int | None = None,
) -> dict[int, float]:
    """Return the scores after some hops.

    Args:
        measures: The measures that passages are ranked by.
        words: The scores by words of the passages found until now.
        sense: Their scores by sense; None if there are no vectors.
        hops: The number of hops.
        fuse: Makes one score from words and sense.
        most: How many passages to consider behind one name, the best by words; None means all.
    """
    base = scores = fuse(words, sense or {})
    reached: set[int] = set()
    for _ in range(hops):
        named = _foremost_named(measures, measures.named(score_fusion.best_passages(scores)), most)
        new = {
            number for groups in named.values() for group in groups for number in group
        } - base.keys()
        reached |= new
        words |= measures.words_of(new)
        if sense is not None:
            sense |= {**dict.fromkeys(new, 0.0), **measures.sense_of(new)}
        base = fuse({**dict.fromkeys(reached, 0.0), **words}, sense or {})
        best = {
            seed: [max(group, key=lambda number: (base[number], -number)) for group in groups]
            for seed, groups in named.items()
        }
        scores = score_fusion.follow_names(base, scores, best)
    return scores


def _foremost_named(
    measures: QueryMeasures, named: dict[int, list[list[int]]], most: int | None
) -> dict[int, list[list[int]]]:
    """Return the passages behind each name, at most the `most` best by words."""
    if most is None:
        return named
    many = {
        number
        for groups in named.values()
        for group in groups
        if len(group) > most
        for number in group
    }
    words = {**dict.fromkeys(many, 0.0), **measures.words_of(many)}
    return {
        seed: [
            group
            if len(group) <= most
            else list(_best({number: words[number] for number in group}, most))
            for group in groups
        ]
        for seed, groups in named.items()
    }


def passages_behind_names(
    said: Mapping[int, tuple[int, Set[str]]],
    known: Mapping[str, Sequence[DocumentRange]],
    only: Collection[int] | None,
) -> dict[int, list[list[int]]]:
    """Return, for some passages, the passages of the documents behind each name in them.

    Several documents may share a name. The one that fits the query best is taken as the one meant,
    so only the best passage of each group gains.

    Args:
        said: For each passage, its document and the names in it.
        known: The documents that have each name.
        only: The documents that pass the filter of the search; None means all.
    """
    return {
        number: [
            group
            for name in sorted(names & known.keys())
            if len(known[name]) <= document_names.SHARED
            if (group := _passages([place for place in known[name] if place[0] != id_], only))
        ]
        for number, (id_, names) in said.items()
    }


def _passages(places: Iterable[DocumentRange], only: Collection[int] | None) -> list[int]:
    """Return the first passages of some documents, of those that pass the filter."""
    return [
        number
        for document, first, size in places
        if only is None or document in only
        for number in range(first, first + min(size, REACH))
    ]


def numbers_to_look_up(scores: Mapping[int, float], k: int) -> list[int]:
    """Return the numbers of the passages to look up, best first: four times as many as asked for.

    Some of them may be gone by now, and others are further passages of documents that are there
    already.
    """
    return sorted(scores, key=lambda number: (-scores[number], number))[: 4 * k]


def order_matches(found: Iterable[Match], k: int) -> list[Match]:
    """Return the k best matches, ties in order of their URLs.

    A further passage of a document has less new to say than the first one of another document, so
    it counts for less.
    """
    told: dict[int, int] = {}
    weighed = []
    for match in sorted(found, key=_order):
        further = told[match.entry.id] = told.get(match.entry.id, -1) + 1
        weighed.append(
            replace(match, score=match.score * FURTHER**further) if match.score > 0 else match
        )
    return sorted(weighed, key=_order)[:k]


def _order(match: Match) -> tuple[float, str, Span]:
    return (-match.score, match.entry.url, match.span)
