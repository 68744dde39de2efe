"""Sentences of one report that contradict each other.

Only sentences about the same thing can: those that share most of their words. Of these the reader
must be as good as sure, in both directions, that one denies the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass

from deepdiver.core.text import terms
from deepdiver.encoders.reader import SMALL, load_reader
from deepdiver.errors import StoreError

SHARED = 0.6
"""The part of the shorter sentence's words that the other must have."""
FEWEST = 4
"""Words that two sentences must share."""
PAIRS = 400
"""Pairs that the reader is asked about, those that share most: 800 questions, about 20 seconds."""


@dataclass(frozen=True, slots=True)
class InnerConflict:
    """Two sentences that cannot both be true."""

    first: int
    """The place of one of them."""
    second: int
    """The place of the other, which comes later."""


async def find_inner_conflicts(said: Sequence[str]) -> list[InnerConflict]:
    """Return the pairs of sentences that contradict each other, in the order of the report.

    There are none if the reader's files cannot be used.

    Args:
        said: The sentences.
    """
    pairs = _alike(said)
    asked = [(said[one], said[other]) for one, other in pairs]
    asked += [(said[other], said[one]) for one, other in pairs]
    try:
        # In a thread, because other work of this process goes on.
        verdicts = await asyncio.to_thread(load_reader().verify, asked) if asked else []
    except (StoreError, ImportError):
        return []
    many = len(pairs)
    return [
        InnerConflict(*pair)
        for pair, forth, back in zip(pairs, verdicts[:many], verdicts[many:], strict=True)
        if min(forth.refutes, back.refutes) >= SMALL.contradicts
    ]


def share_words(mine: Set[str], theirs: Set[str]) -> float:
    """Return the part of the shorter sentence's words that the other has; 0 if they are too few."""
    shared = len(mine & theirs)
    return shared / min(len(mine), len(theirs)) if shared >= FEWEST else 0.0


def _alike(said: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of sentences that share most of their words, in order."""
    held = [frozenset(terms(text)) for text in said]
    found: list[tuple[float, int, int]] = []
    for one, mine in enumerate(held):
        for other in range(one + 1, len(held)):
            share = share_words(mine, held[other])
            if share >= SHARED and said[one] != said[other]:
                found.append((-share, one, other))
    return sorted((one, other) for _, one, other in sorted(found)[:PAIRS])
