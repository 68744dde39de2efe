"""Copies of one story count once: near-identical texts are found by a sketch of their runs of five words.

A sketch holds the smallest hashes of a text's shingles (bottom-k). Two sketches estimate how much the texts share.
Clusters are a function of the set of sources alone, so the order in which they were read does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from deepdiver.core.record import Source
from deepdiver.core.text import shingles

SKETCH = 64
"""Hashes kept: the share of two texts is estimated to about ± 0.06."""
ONE_STORY = 0.5
"""Texts that share this part of their shingles are one story: edited wire copy does, a shared quote does not."""


def sketch(text: str) -> tuple[int, ...]:
    """Return the sketch of a text."""
    hashes = (hashlib.blake2b(item.encode("utf-8", "replace"), digest_size=6).digest() for item in shingles(text))
    return tuple(sorted(int.from_bytes(item, "big") for item in hashes)[:SKETCH])


def shared(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimate which part of their shingles two texts share, 0..1."""
    if not one or not other:
        return 0.0
    union = sorted({*one, *other})
    if max(len(one), len(other)) >= SKETCH:  # a sketch that is not full is the whole text: nothing need be estimated
        union = union[:SKETCH]
    both = set(one) & set(other)
    return sum(item in both for item in union) / len(union)


def origins(sources: Iterable[Source]) -> dict[str, str]:
    """Return for each source the id of its origin: the first, by id, of all near-identical ones."""
    held = {source.id: source for source in sources}
    leader = {key: key for key in held}
    bearers: dict[int, list[str]] = {}

    def find(key: str) -> str:
        while leader[key] != key:
            key = leader[key]
        return key

    for key, source in sorted(held.items()):
        for other in sorted({bearer for item in source.sketch for bearer in bearers.get(item, ())}):
            if find(key) != find(other) and shared(source.sketch, held[other].sketch) >= ONE_STORY:
                first, second = sorted((find(key), find(other)))
                leader[second] = first
        for item in source.sketch:
            bearers.setdefault(item, []).append(key)
    return {key: find(key) for key in sorted(held)}
