"""How a library ranks its passages, whatever keeps them.

By words, by sense, by being what good ones name.

In a small library the sense of every passage is looked at. In a larger one words come first: the
sense is looked at of the passages that words found, and of those that good ones name. Which of the
two it is goes by the number of passages alone, never by the vectors that are there already, so the
first search of a library answers as the tenth does.
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
"""How near in sense a passage must be that has none of the query's words: what is about something
else lies below."""
WHOLE = 300
"""Passages up to which the sense of all is looked at. To embed so many takes up to 19 s of the
processor (62 ms for one of 900 characters), which is what a first question may cost."""
NEAR = 100
"""In a larger library, the best passages by words whose sense is looked at. On SciFact and
Cranfield that kept nDCG@10 within 0.003 of what the sense of all gives; 50 lost 0.009, and 200
gained 0.002 for twice the work."""
NAMED = 4
"""There, the best passages by words whose sense is looked at behind one name: a book that is named
has hundreds."""
REACH = 50
"""Passages of a named document that are looked at; the first ones of a book say what it is about.
"""

FURTHER = 0.5
"""What each further passage of one document counts of what the one before it does."""

DocumentRange = tuple[int, int, int]
"""A document: its id, the number of its first passage, and how many passages it has."""


class QueryMeasures(Protocol):
    """What a library can tell of its passages in view of one query.

    A passage goes by its number.
    """

    @property
    def sensible(self) -> bool:
        """Whether passages can have vectors at all."""

    def numbers(self) -> Collection[int]:
        """Return all passages that may be looked at."""

    def by_words(self, k: int) -> dict[int, float]:
        """Return the best passages by their words."""

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return how well some fit by their words; one without a word of the query is left out."""

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return how near some are in sense; what has no vector yet is given one."""

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        """Return, for some passages, the passages behind each name in them; see `linked`."""


def rank_passages(measures: QueryMeasures, passages: int, k: int, hops: int) -> dict[int, float]:
    """Return the scores of all passages that come into question.

    Args:
        measures: What is known of them.
        passages: How many the library has, whatever a search is narrowed to.
        k: How many are asked for.
        hops: How often to go on from good passages to the documents that they name.
    """
    deep = max(score_fusion.DEEP, 2 * k)
    words = measures.by_words(deep)
    if not measures.sensible:
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
    """Return the k best, equal ones in their order."""
    return {
        number: scores[number]
        for number in sorted(scores, key=lambda number: (-scores[number], number))[:k]
    }


def _fuse_few(
    words: Mapping[int, float], sense: Mapping[int, float], deep: int
) -> dict[int, float]:
    """Fuse where the sense of few was looked at.

    Only these are found, and the other words give the scale alone.

    Found by their words, even the last of them are not far in sense: its 0 lies in their middle.
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
        measures: What is known of the passages.
        words: How well those that were found fit by their words.
        sense: How near they are; None where there is no sense.
        hops: How often to go on.
        fuse: Makes one score of words and sense.
        most: How many to look at behind one name, the best by words; None is all.
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
    """Return the passages behind each name, of a larger group the best by their words."""
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

    The best of each gains.

    Several documents may go by one name: the one that fits the query best is the one that is meant.

    Args:
        said: Of each passage, the document it stands in and the names in it.
        known: The documents that go by each name.
        only: The documents that may be looked at; None is all.
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
    """Return the passages of some documents that are looked at, of those that may be."""
    return [
        number
        for document, first, size in places
        if only is None or document in only
        for number in range(first, first + min(size, REACH))
    ]


def numbers_to_look_up(scores: Mapping[int, float], k: int) -> list[int]:
    """Return the numbers of the passages to look up: four times as many as asked for, best first.

    So many because some may be gone, and others are further passages of documents that are there
    already.
    """
    return sorted(scores, key=lambda number: (-scores[number], number))[: 4 * k]


def order_matches(found: Iterable[Match], k: int) -> list[Match]:
    """Return the k best; equal ones in the order of their urls.

    A further passage of a document tells less that is new than the first one of another, so it
    counts for less.
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
