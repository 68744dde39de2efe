"""How a library ranks its passages, whatever keeps them: by words, by sense, by being what good ones name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

from deepdiver.core.text import Span
from deepdiver.tools.library import fusion, links
from deepdiver.tools.library.base import Match

LEAST = 0.2
"""How near in sense a passage must be that has none of the query's words: what is about something else lies below."""
REACH = 50
"""Passages of a named document that are looked at; the first ones of a book say what it is about."""

FURTHER = 0.5
"""What each further passage of one document counts of what the one before it does."""

Place = tuple[int, int, int]
"""A document: its id, the number of its first passage, and how many passages it has."""


class Measures(Protocol):
    """What a library can tell of its passages in view of one query. A passage goes by its number."""

    def by_words(self, k: int) -> dict[int, float]:
        """Return the best passages by their words."""

    def words_of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return how well some fit by their words; one without a word of the query is left out."""

    def by_sense(self, k: int) -> dict[int, float] | None:
        """Return the nearest passages in sense; None if no passage has a vector."""

    def sense_of(self, numbers: Collection[int]) -> dict[int, float]:
        """Return how near some are in sense, of those that have a vector."""

    def named(self, numbers: Sequence[int]) -> dict[int, list[list[int]]]:
        """Return, for some passages, the passages behind each name in them; see `linked`."""


def ranked(measures: Measures, k: int, hops: int) -> dict[int, float]:
    """Return the scores of all passages that come into question.

    Args:
        measures: What is known of them.
        k: How many are asked for.
        hops: How often to go on from good passages to the documents that they name.
    """
    deep = max(fusion.DEEP, 2 * k)
    words, nearest = measures.by_words(deep), measures.by_sense(deep)
    near = nearest or {}
    words |= measures.words_of(near.keys() - words.keys())
    sense = {number: score for number, score in near.items() if score >= LEAST or number in words}
    if nearest is not None:
        sense |= measures.sense_of(words.keys() - sense.keys())
    base = scores = fusion.fuse(words, sense)
    reached: set[int] = set()
    for _ in range(hops):
        named = measures.named(fusion.seeds(scores))
        new = {number for groups in named.values() for group in groups for number in group} - base.keys()
        reached |= new
        words |= measures.words_of(new)
        if nearest is not None:
            sense |= {**dict.fromkeys(new, 0.0), **measures.sense_of(new)}
        base = fusion.fuse({**dict.fromkeys(reached, 0.0), **words}, sense)
        best = {
            seed: [max(group, key=lambda number: (base[number], -number)) for group in groups]
            for seed, groups in named.items()
        }
        scores = fusion.follow(base, scores, best)
    return scores


def linked(
    said: Mapping[int, tuple[int, Set[str]]], known: Mapping[str, Sequence[Place]], only: Collection[int] | None
) -> dict[int, list[list[int]]]:
    """Return, for some passages, the passages of the documents behind each name in them; the best of each gains.

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
            if len(known[name]) <= links.SHARED
            if (group := _passages([place for place in known[name] if place[0] != id_], only))
        ]
        for number, (id_, names) in said.items()
    }


def _passages(places: Iterable[Place], only: Collection[int] | None) -> list[int]:
    """Return the passages of some documents that are looked at, of those that may be."""
    return [
        number
        for document, first, size in places
        if only is None or document in only
        for number in range(first, first + min(size, REACH))
    ]


def foremost(scores: Mapping[int, float], k: int) -> list[int]:
    """Return the numbers of the passages to look up: four times as many as asked for, best first.

    So many because some may be gone, and others are further passages of documents that are there already.
    """
    return sorted(scores, key=lambda number: (-scores[number], number))[: 4 * k]


def in_order(found: Iterable[Match], k: int) -> list[Match]:
    """Return the k best; equal ones in the order of their urls.

    A further passage of a document tells less that is new than the first one of another, so it counts for less.
    """
    told: dict[int, int] = {}
    weighed = []
    for match in sorted(found, key=_order):
        further = told[match.entry.id] = told.get(match.entry.id, -1) + 1
        weighed.append(replace(match, score=match.score * FURTHER**further) if match.score > 0 else match)
    return sorted(weighed, key=_order)[:k]


def _order(match: Match) -> tuple[float, str, Span]:
    return (-match.score, match.entry.url, match.span)
