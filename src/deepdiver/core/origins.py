"""Copies of one story count once: near-identical texts are found by a sketch of their runs of five words.

A sketch holds the smallest hashes of a text's shingles (bottom-k). Two sketches estimate how much the texts share. Clusters
are a function of the set of sources alone, so the order in which they were read does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from deepdiver.core.record import Source
from deepdiver.core.text import shingles

SKETCH = 64
"""Hashes kept: the share of two texts is estimated to about ± 0.06."""
ONE_STORY = 0.5
"""Texts that share at least this part of their shingles are one story. Edited wire copy lies above, a shared quote below."""


def sketch(text: str) -> tuple[int, ...]:
    """Return the sketch of a text."""
    hashes = (hashlib.blake2b(item.encode("utf-8", "replace"), digest_size=6).digest() for item in shingles(text))
    return tuple(sorted(int.from_bytes(item, "big") for item in hashes)[:SKETCH])


def shared(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimate which part of their shingles two texts share, 0..1."""
    if not one or not other:
        return 0.0
    union = sorted({*one, *other})[: min(SKETCH, max(len(one), len(other)))]
    both = set(one) & set(other)
    return sum(item in both for item in union) / len(union)


def origins(sources: Iterable[Source]) -> dict[str, str]:
    """Return for each source the id of its origin: the first, by id, of all near-identical ones."""
    listed = sorted(sources, key=lambda source: source.id)
    leader = {source.id: source.id for source in listed}

    def find(key: str) -> str:
        while leader[key] != key:
            key = leader[key]
        return key

    for i, one in enumerate(listed):
        for other in listed[:i]:
            if find(one.id) != find(other.id) and shared(one.sketch, other.sketch) >= ONE_STORY:
                first, second = sorted((find(one.id), find(other.id)))
                leader[second] = first
    return {source.id: find(source.id) for source in listed}
